/* The soak's actions: what one thread does again and again. */
#include "deep/soak.h"

#include <clayer/cache.h>
#include <clayer/model.h>
#include <clayer/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One action in so many tunes as well. */
#define TUNE_EVERY 50

struct soak soak;

void soak_die(const char *what, const char *detail)
{
    fprintf(stderr, "soak: %s: %s\n", what, detail);
    fflush(stdout);
    _exit(1); /* other threads are in the driver, whose destructors would crash */
}

bool soak_good(clayer_status status, const char *what)
{
    if (status == CLAYER_OK)
        return true;
    if (!atomic_load(&soak.faults_allowed))
        soak_die(what, clayer_last_error());
    if (!*clayer_last_error())
        soak_die(what, "a failure without a detail");
    atomic_fetch_add(&soak.refusals, 1);
    return false;
}

void soak_fill(struct random *random, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_below(random, 7) - 3;
}

static float activate(clayer_activation activation, float v)
{
    return activation == CLAYER_ACTIVATION_RELU && v < 0 ? 0 : v;
}

static void reference(const clayer_linear_params *p, size_t batch, const float *x, size_t ldx, float *y)
{
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < p->out_features; n++) {
            float sum = p->bias ? p->bias[n] : 0;
            for (size_t k = 0; k < p->in_features; k++)
                sum += x[m * ldx + k] * p->weight[n * p->in_features + k];
            y[m * p->out_features + n] = activate(p->activation, sum);
        }
    }
}

static void compare(const char *what, size_t batch, size_t out, const float *y, size_t ldy, const float *expected)
{
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < out; n++) {
            if (!(y[m * ldy + n] == expected[m * out + n])) {
                char text[160];
                snprintf(text, sizeof text, "row %zu of %zu, output %zu of %zu is %g, not %g", m, batch, n, out,
                         (double)y[m * ldy + n], (double)expected[m * out + n]);
                soak_die(what, text);
            }
        }
    }
    atomic_fetch_add(&soak.results, 1);
}

static const char *const plans[] = {"auto", "auto", "auto", "panel", "portable", "host", "skinny", "tiled", "clblast"};

static clayer_linear_params random_layer(struct random *random, size_t in, float *weight, float *bias)
{
    clayer_linear_params p = {.in_features = in,
                              .out_features = 1 + random_below(random, SIZE_MAX_EACH),
                              .weight = weight,
                              .activation = random_below(random, 2) ? CLAYER_ACTIVATION_RELU : CLAYER_ACTIVATION_NONE};
    soak_fill(random, weight, p.out_features * in);
    soak_fill(random, bias, p.out_features);
    if (random_below(random, 3))
        p.bias = bias;
    return p;
}

static void run_layer(struct soak_thread *t, clayer_context *context, bool own)
{
    const size_t in = 1 + random_below(&t->random, SIZE_MAX_EACH), batch = 1 + random_below(&t->random, BATCH_MAX);
    clayer_linear_params p = random_layer(&t->random, in, t->weight[0], t->bias[0]);
    /* CLBlast keeps programs for every context that it has met, so it works on the one that stays. */
    p.plan = plans[random_below(&t->random, sizeof plans / sizeof *plans - own)];
    const size_t ldx = in + random_below(&t->random, 3), ldy = p.out_features + random_below(&t->random, 3);
    soak_fill(&t->random, t->x, batch * ldx);
    memset(t->y, 0xff, sizeof t->y);
    clayer_linear *linear = NULL;
    if (!soak_good(clayer_linear_create(context, &p, &linear), "clayer_linear_create"))
        return;
    for (int call = 0; call < 3; call++) {
        const size_t rows = call ? 1 + random_below(&t->random, batch) : batch;
        if (!soak_good(clayer_linear_forward(linear, rows, t->x, ldx, t->y, ldy), p.plan))
            break;
        reference(&p, rows, t->x, ldx, t->expected[0]);
        compare(p.plan, rows, p.out_features, t->y, ldy, t->expected[0]);
    }
    clayer_linear_destroy(&linear);
}

static void run_model(struct soak_thread *t, clayer_context *context)
{
    const size_t count = 1 + random_below(&t->random, LAYERS_MAX), batch = 1 + random_below(&t->random, 40);
    clayer_linear_params layers[LAYERS_MAX];
    size_t in = 1 + random_below(&t->random, 20);
    const size_t first = in;
    for (size_t i = 0; i < count; i++) {
        layers[i] = random_layer(&t->random, in, t->weight[i], t->bias[i]);
        in = layers[i].out_features = 1 + layers[i].out_features % 20; /* 20 * 3 * 20 * ... stays below 2^24 */
    }
    soak_fill(&t->random, t->x, batch * first);
    clayer_model *model = NULL;
    if (!soak_good(clayer_model_create(context, layers, count, &model), "clayer_model_create"))
        return;
    if (soak_good(clayer_model_forward(model, batch, t->x, first, t->y, in), "clayer_model_forward")) {
        const float *from = t->x;
        for (size_t i = 0; i < count; i++) {
            reference(&layers[i], batch, from, layers[i].in_features, t->expected[i % 2]);
            from = t->expected[i % 2];
        }
        compare("model", batch, in, t->y, in, from);
    }
    clayer_model_destroy(&model);
}

static void run_shared(struct soak_thread *t)
{
    const clayer_linear_params p = {.in_features = SOAK_IN, .out_features = SOAK_OUT, .weight = soak.weight};
    const size_t batch = 1 + random_below(&t->random, BATCH_MAX);
    soak_fill(&t->random, t->x, batch * SOAK_IN);
    if (soak_good(clayer_linear_forward(soak.shared, batch, t->x, SOAK_IN, t->y, SOAK_OUT), "the shared layer")) {
        reference(&p, batch, t->x, SOAK_IN, t->expected[0]);
        compare("the shared layer", batch, SOAK_OUT, t->y, SOAK_OUT, t->expected[0]);
    }
}

/* Stops the tuner after some candidates; none may be wrong, nor fail where nothing is made to. */
static int tuned(void *user, const clayer_tune_progress *progress)
{
    int *left = user;
    if (progress->event != CLAYER_TUNE_CANDIDATE)
        return 0;
    if (progress->verdict == CLAYER_VERDICT_WRONG ||
        (progress->verdict == CLAYER_VERDICT_FAILED && !atomic_load(&soak.faults_allowed)))
        soak_die(progress->candidate, progress->reason);
    atomic_fetch_add(&soak.candidates, 1);
    return --*left == 0;
}

/* Tunes a random layer in this process for one to three candidates. CLBlast would come last and is not reached. */
static void run_tune(struct soak_thread *t)
{
    int left = 1 + (int)random_below(&t->random, 3);
    const clayer_tune_shape shape = {.batch = 1 + random_below(&t->random, BATCH_MAX),
                                     .in_features = 1 + random_below(&t->random, SIZE_MAX_EACH),
                                     .out_features = 1 + random_below(&t->random, SIZE_MAX_EACH),
                                     .activation = CLAYER_ACTIVATION_RELU};
    clayer_tune_result result;
    const clayer_status status = clayer_tune(
        &(clayer_tune_params){.device = "0", .shapes = &shape, .shape_count = 1, .callback = tuned, .user = &left},
        &result);
    if (status != CLAYER_ERROR_CANCELLED)
        soak_good(status, "clayer_tune");
}

void soak_act(struct soak_thread *t)
{
    clayer_context *context = NULL;
    size_t entries;
    uint64_t bytes;
    if (random_below(&t->random, TUNE_EVERY) == 0)
        run_tune(t);
    switch (random_below(&t->random, 10)) {
    case 0: /* a context of its own */
        if (soak_good(clayer_context_create(&(clayer_context_params){.device = "0"}, &context),
                      "clayer_context_create")) {
            run_layer(t, context, true);
            run_model(t, context);
        }
        clayer_context_destroy(&context);
        break;
    case 1:
        if (random_below(&t->random, 5) == 0)
            soak_good(clayer_cache_prune(0, &entries, &bytes), "clayer_cache_prune");
        break;
    case 2:
    case 3:
        run_model(t, soak.common);
        break;
    case 4:
    case 5:
        run_shared(t);
        break;
    default:
        run_layer(t, soak.common, false);
    }
    atomic_fetch_add(&soak.actions, 1);
}
