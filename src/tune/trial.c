#include "tune/trial.h"
#include "base/checked.h"
#include "base/error.h"
#include "host/linear.h"
#include "linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Multiplications and additions that the reference may take: about a tenth of a second. */
#define REFERENCE_WORK 3e7
#define BASE_ROWS_MIN 3
#define BASE_ROWS_MAX 16
/* The odd batch: two tiles and a tail of every family for CPUs, one and a tail of the largest usual tile on GPUs. */
#define ODD_ROWS_CPU 37
#define ODD_ROWS_GPU 131
/* FLOP that one check may take where the batch itself has less; even one work-item a core does that in seconds. */
#define CHECK_FLOPS 4e9
/* Floats after the last row of y, which no plan may touch. */
#define GUARD 1024
/* Elements that move between host and device at a time. */
#define CHUNK ((size_t)1 << 18)
/* Elements of y that a confirmation looks at. */
#define CONFIRM_ELEMENTS ((size_t)1 << 22)
/* A sample lasts at least this long (s), so that the clock's grain and one interruption do not decide it. */
#define SAMPLE_SECONDS 1.5e-3
/* Checked runs take few rows and may idle most of the device: only this much slower is proof. */
#define PROOF 12.0
/* A first sample this much above the limit needs no second one. */
#define SURE 3.0

/* A NaN that no computation gives. */
static const uint32_t poison_bits = 0x7fedbeef;

struct trial {
    clayer_context *context;
    clayer_linear *linear;
    clayer_buffer *x, *y;
    struct activation activation;
    size_t batch, k, n, odd, bases;
    bool denormals;
    float *base;             /* bases rows of x */
    double *expected, *size; /* the reference of each, and S */
    float *chunk;
};

double trial_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t mix(uint64_t z) /* splitmix64, by Sebastiano Vigna (public domain) */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void fill(float *target, size_t count, uint64_t seed, float scale)
{
    for (size_t i = 0; i < count; i++)
        target[i] = ((float)(mix(seed + i * 0x9e3779b97f4a7c15u) >> 40) * 0x1p-23f - 1.0f) * scale;
}

/* The base row behind a row of x, for a call of `batch` rows. */
static size_t base_of(const struct trial *t, size_t row, size_t batch)
{
    return row + 1 == batch ? t->bases - 1 : (size_t)(mix(row + 1) % (t->bases - 1));
}

static clayer_status write_rows(struct trial *t, size_t first, size_t count, size_t batch)
{
    const size_t per = CHUNK / t->k ? CHUNK / t->k : 1;
    for (size_t row = first; row < first + count;) {
        const size_t rows = first + count - row < per ? first + count - row : per;
        for (size_t r = 0; r < rows; r++)
            memcpy(t->chunk + r * t->k, t->base + base_of(t, row + r, batch) * t->k, t->k * sizeof(float));
        TRY(clayer_buffer_write(t->x, row * t->k, t->chunk, rows * t->k));
        row += rows;
    }
    return CLAYER_OK;
}

static clayer_status make_layer(struct trial *t, const clayer_tune_shape *shape)
{
    clayer_status status;
    float *weight = malloc(t->n * t->k * sizeof(float)), *bias = malloc(t->n * sizeof(float));
    if (!weight || !bias)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for weights of %zu x %zu", t->n, t->k);
    fill(weight, t->n * t->k, 1, 1.0f / sqrtf((float)t->k));
    fill(bias, t->n, 2, 1.0f);
    fill(t->base, t->bases * t->k, 3, 1.0f);
    clayer_linear_params params = {.in_features = t->k,
                                   .out_features = t->n,
                                   .weight = weight,
                                   .bias = shape->no_bias ? NULL : bias,
                                   .activation = t->activation.kind,
                                   .activation_alpha = t->activation.alpha,
                                   .activation_beta = t->activation.beta,
                                   .keep_weight = true};
    TRY_GOTO(clayer_linear_create(t->context, &params, &t->linear));
    host_linear_reference(weight, t->k, 1, params.bias, &t->linear->shape.activation, t->bases, t->n, t->k, t->base,
                          t->k, 1, t->expected, t->size);
fail:
    free(weight);
    free(bias);
    return status;
}

clayer_status trial_create(clayer_context *context, const clayer_tune_shape *shape, struct trial **trial)
{
    clayer_status status;
    struct trial *t = calloc(1, sizeof *t);
    if (!t)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a trial");
    t->context = context;
    t->batch = shape->batch;
    t->k = shape->in_features;
    t->n = shape->out_features;
    t->denormals = context->info.denormals != 0;
    t->activation = (struct activation){shape->activation, shape->activation_alpha, shape->activation_beta};
    if (shape->activation == CLAYER_ACTIVATION_CLAMP && shape->activation_alpha == 0 && shape->activation_beta == 0) {
        t->activation.alpha = -1.0f;
        t->activation.beta = 1.0f;
    }
    const double work = (double)t->k * (double)t->n;
    const double bases = REFERENCE_WORK / work;
    t->bases = bases > BASE_ROWS_MAX ? BASE_ROWS_MAX : bases < BASE_ROWS_MIN ? BASE_ROWS_MIN : (size_t)bases;
    const bool gpu = context->info.type == CLAYER_DEVICE_GPU || context->info.type == CLAYER_DEVICE_ACCELERATOR;
    t->odd = gpu ? ODD_ROWS_GPU : ODD_ROWS_CPU;
    while (t->odd > t->batch && t->odd > 3 && 2.0 * work * (double)t->odd > CHECK_FLOPS)
        t->odd = t->odd / 2 | 1;
    const size_t rows = t->batch > t->odd ? t->batch : t->odd;
    size_t weights, x, y;
    if (!size_mul(t->n, t->k, &weights) || weights > SIZE_MAX / 16 || !size_mul(rows, t->k, &x) ||
        !size_mul(rows, t->n, &y) || x > SIZE_MAX / 16 || y > SIZE_MAX / 16)
        FAIL_GOTO(CLAYER_ERROR_TOO_LARGE, "shape %zux%zux%zu overflows", t->batch, t->k, t->n);
    size_t chunk = CHUNK;
    chunk = chunk < t->k ? t->k : chunk;
    chunk = chunk < t->n ? t->n : chunk;
    t->base = malloc(t->bases * t->k * sizeof(float));
    t->expected = malloc(t->bases * t->n * sizeof(double));
    t->size = malloc(t->bases * t->n * sizeof(double));
    t->chunk = malloc((chunk + GUARD) * sizeof(float));
    if (!t->base || !t->expected || !t->size || !t->chunk)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for shape %zux%zux%zu", t->batch, t->k, t->n);
    TRY_GOTO(make_layer(t, shape));
    TRY_GOTO(clayer_buffer_create(context, x, &t->x));
    TRY_GOTO(clayer_buffer_create(context, y + GUARD, &t->y));
    TRY_GOTO(write_rows(t, 0, rows, t->batch));
    *trial = t;
    return CLAYER_OK;
fail:
    trial_destroy(&t);
    return status;
}

void trial_destroy(struct trial **trial)
{
    struct trial *t = *trial;
    if (!t)
        return;
    clayer_linear_destroy(&t->linear);
    clayer_buffer_destroy(&t->x);
    clayer_buffer_destroy(&t->y);
    free(t->base);
    free(t->expected);
    free(t->size);
    free(t->chunk);
    free(t);
    *trial = NULL;
}

/* Fills the first rows of y and what follows with poison. */
static clayer_status poison(struct trial *t, size_t rows)
{
    const size_t end = rows * t->n + GUARD;
    for (size_t i = 0; i < CHUNK; i++)
        memcpy(t->chunk + i, &poison_bits, sizeof poison_bits);
    for (size_t at = 0; at < end;) {
        const size_t count = end - at < CHUNK ? end - at : CHUNK;
        TRY(clayer_buffer_write(t->y, at, t->chunk, count));
        at += count;
    }
    return CLAYER_OK;
}

static bool is_poison(float value)
{
    return memcmp(&value, &poison_bits, sizeof value) == 0;
}

/* `calls` calls and one wait, or a wait for each. */
static clayer_status run(struct trial *t, size_t batch, size_t calls, bool waited, double *seconds)
{
    const clayer_matrix x = {.buffer = t->x}, y = {.buffer = t->y};
    const double begun = trial_clock();
    for (size_t i = 0; i < calls; i++) {
        TRY(clayer_linear_forward_matrix(t->linear, batch, &x, &y));
        if (waited)
            TRY(clayer_context_finish(t->context));
    }
    TRY(clayer_context_finish(t->context));
    *seconds = (trial_clock() - begun) / (double)calls;
    return CLAYER_OK;
}

static void failed(struct outcome *outcome, clayer_status status)
{
    outcome->verdict = CLAYER_VERDICT_FAILED;
    outcome->status = status;
    outcome->count = 0;
    snprintf(outcome->reason, sizeof outcome->reason, "%.230s", clayer_last_error());
}

/* Whether one row of y is what its base row asks for; says in the outcome what is not. */
static bool row_right(const struct trial *t, size_t row, size_t batch, const float *y, struct outcome *outcome)
{
    const size_t base = base_of(t, row, batch) * t->n;
    for (size_t c = 0; c < t->n; c++) {
        if (host_linear_agrees(y[c], t->expected[base + c], t->size[base + c], t->k, &t->linear->shape.activation,
                               t->denormals))
            continue;
        outcome->verdict = CLAYER_VERDICT_WRONG;
        outcome->count = 0;
        if (is_poison(y[c]))
            snprintf(outcome->reason, sizeof outcome->reason, "row %zu of %zu, column %zu was not written", row, batch,
                     c);
        else
            snprintf(outcome->reason, sizeof outcome->reason, "row %zu of %zu, column %zu is %g instead of %g", row,
                     batch, c, (double)y[c], t->expected[base + c]);
        return false;
    }
    return true;
}

/* Gives the rows of x whose content depends on where a batch ends what a call of `batch` rows has there. */
static clayer_status dress(struct trial *t, size_t other, size_t batch)
{
    if (other == batch)
        return CLAYER_OK;
    TRY(write_rows(t, other - 1, 1, batch));
    return write_rows(t, batch - 1, 1, batch);
}

/* Runs one poisoned call of `batch` rows and checks every step-th row, the last row and the guard. *seconds is the
 * call's time. */
static clayer_status check(struct trial *t, size_t batch, size_t step, double *seconds, struct outcome *outcome)
{
    TRY(poison(t, batch));
    TRY(dress(t, t->batch, batch));
    TRY(run(t, batch, 1, false, seconds));
    TRY(dress(t, batch, t->batch));
    const size_t per = step > 1 ? 1 : CHUNK / t->n ? CHUNK / t->n : 1;
    for (size_t row = 0; row < batch;) {
        const size_t rows = batch - row < per ? batch - row : per;
        TRY(clayer_buffer_read(t->y, row * t->n, t->chunk, rows * t->n));
        for (size_t r = 0; r < rows; r++)
            if (!row_right(t, row + r, batch, t->chunk + r * t->n, outcome))
                return CLAYER_OK;
        row = step > 1 && row < batch - 1 && row + step > batch - 1 ? batch - 1 : row + (step > 1 ? step : rows);
    }
    TRY(clayer_buffer_read(t->y, batch * t->n, t->chunk, GUARD));
    for (size_t i = 0; i < GUARD; i++)
        if (!is_poison(t->chunk[i])) {
            outcome->verdict = CLAYER_VERDICT_WRONG;
            snprintf(outcome->reason, sizeof outcome->reason, "it wrote %zu elements behind the last row", i + 1);
            return CLAYER_OK;
        }
    return CLAYER_OK;
}

/* Appends samples, of as many calls each as fill SAMPLE_SECONDS. */
static clayer_status sample(struct trial *t, bool waited, size_t samples, double stop, struct outcome *outcome)
{
    double seconds;
    TRY(run(t, t->batch, 1, waited, &seconds)); /* not counted: may compile, and warms caches */
    double estimate = seconds;
    size_t slow = 0;
    if (estimate < SAMPLE_SECONDS)
        TRY(run(t, t->batch, 1, waited, &estimate));
    for (size_t i = 0; i < samples && i < OUTCOME_SAMPLES; i++) {
        size_t calls = (size_t)ceil(SAMPLE_SECONDS / (estimate > 1e-8 ? estimate : 1e-8));
        for (;;) { /* an estimate that was disturbed makes the first sample too short */
            TRY(run(t, t->batch, calls, waited, &estimate));
            if (estimate * (double)calls >= SAMPLE_SECONDS / 2 || calls > 1000000)
                break;
            calls *= 4;
        }
        outcome->seconds[outcome->count++] = estimate > 1e-12 ? estimate : 1e-12;
        slow += stop > 0 && estimate > stop;
        if (slow == outcome->count && slow >= (estimate > SURE * stop ? 1 : 2)) { /* one may have been disturbed */
            outcome->verdict = CLAYER_VERDICT_SLOW;
            return CLAYER_OK;
        }
    }
    return CLAYER_OK;
}

static clayer_status try_plan(struct trial *t, const char *plan, size_t samples, double stop, struct outcome *outcome)
{
    double seconds, rows_seconds;
    const double begun = trial_clock();
    TRY(linear_force(t->linear, plan));
    TRY(check(t, t->odd, 1, &seconds, outcome));
    outcome->build_seconds = trial_clock() - begun;
    if (outcome->verdict != CLAYER_VERDICT_RIGHT)
        return CLAYER_OK;
    /* Again: now compiled. Where the trial's own batch is smaller, that one. */
    const size_t batch = t->batch < t->odd ? t->batch : t->odd;
    TRY(check(t, batch, 1, &rows_seconds, outcome));
    if (outcome->verdict != CLAYER_VERDICT_RIGHT)
        return CLAYER_OK;
    const double whole = rows_seconds * (double)t->batch / (double)batch;
    if (stop > 0 && whole > PROOF * stop) {
        outcome->verdict = CLAYER_VERDICT_SLOW;
        outcome->seconds[outcome->count++] = whole;
        return CLAYER_OK;
    }
    return sample(t, false, samples, stop, outcome);
}

void trial_try(struct trial *t, const char *plan, size_t samples, double stop, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    const clayer_status status = try_plan(t, plan, samples, stop, outcome);
    if (status != CLAYER_OK)
        failed(outcome, status);
}

void trial_time(struct trial *t, const char *plan, bool waited, size_t samples, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    clayer_status status = linear_force(t->linear, plan);
    if (status == CLAYER_OK)
        status = sample(t, waited, samples, 0, outcome);
    if (status != CLAYER_OK)
        failed(outcome, status);
}

void trial_confirm(struct trial *t, const char *plan, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    double seconds = 0;
    clayer_status status = linear_force(t->linear, plan);
    if (status == CLAYER_OK)
        status = check(t, t->batch, t->batch * t->n / CONFIRM_ELEMENTS + 1, &seconds, outcome);
    if (status != CLAYER_OK)
        failed(outcome, status);
    else if (outcome->verdict == CLAYER_VERDICT_RIGHT)
        outcome->seconds[outcome->count++] = seconds > 1e-12 ? seconds : 1e-12;
}
