#include "support/lives.h"
#include "support/held.h"
#include "tune/trial.h"

#include <clayer/cache.h>
#include <clayer/linear.h>
#include <clayer/model.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One device: the fake driver's, in front of the only real one. */
#define DEVICE "0"

enum { IN = 48, OUT = 40, HIDDEN = 24, BATCH = 5, BATCH_LARGE = 700, OUT_LARGE = 128, GAP = 3 };

static float x[BATCH_LARGE * (IN + GAP)], y[BATCH_LARGE * (OUT_LARGE + GAP)], result[BATCH_LARGE * OUT_LARGE];
static float weight[OUT_LARGE * IN], weight_hidden[HIDDEN * OUT], weight_last[OUT * HIDDEN], bias[OUT_LARGE];

/* Small integers, so that every sum is exact in whichever order it is made. */
void lives_begin(void)
{
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)(i * 7 % 11) - 5;
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
        weight[i] = (float)(i * 5 % 7) - 3;
    for (size_t i = 0; i < HIDDEN * OUT; i++) {
        weight_hidden[i] = (float)(i * 3 % 5) - 2;
        weight_last[i] = (float)(i * 2 % 3) - 1;
    }
    for (size_t i = 0; i < OUT_LARGE; i++)
        bias[i] = (float)(i % 13) - 6;
}

static void poison(void)
{
    memset(y, 0xff, sizeof y); /* NaN */
    memset(result, 0xff, sizeof result);
}

/* relu(x . W^T + b) of some rows, as a float computes it exactly. `scale` multiplies the weights. */
static bool right(const float *found, size_t ld, size_t batch, size_t ldx, size_t out, float scale, bool with_bias)
{
    for (size_t m = 0; m<batch; m += batch> BATCH ? 29 : 1) {
        for (size_t n = 0; n < out; n++) {
            float sum = with_bias ? bias[n] : 0;
            for (size_t k = 0; k < IN; k++)
                sum += x[m * ldx + k] * (weight[n * IN + k] * scale);
            if (!(found[m * ld + n] == (sum < 0 ? 0 : sum)))
                return false;
        }
    }
    return true;
}

#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != CLAYER_OK)                                                                                       \
            goto end;                                                                                                  \
    } while (0)
#define CHECK(condition) STEP((condition) ? CLAYER_OK : LIFE_WRONG)

/* Forward on host memory, with and without gaps between rows. */
static clayer_status forward_host(clayer_linear *linear, size_t batch, size_t out)
{
    clayer_status status;
    poison();
    STEP(clayer_linear_forward(linear, batch, x, IN, y, out));
    CHECK(right(y, out, batch, IN, out, 1, true));
    poison();
    STEP(clayer_linear_forward(linear, batch, x, IN + GAP, y, out + GAP));
    CHECK(right(y, out + GAP, batch, IN + GAP, out, 1, true));
    for (size_t m = 0; m + 1 < batch; m++)
        for (size_t n = out; n < out + GAP; n++)
            CHECK(isnan(y[m * (out + GAP) + n]));
end:
    return status;
}

/* Forward on buffers, at an offset; then other weights, no bias. */
static clayer_status forward_buffers(clayer_context *context, clayer_linear *linear, size_t batch, size_t out)
{
    clayer_status status;
    clayer_buffer *bx = NULL, *by = NULL;
    static float doubled[OUT_LARGE * IN];
    for (size_t i = 0; i < out * IN; i++)
        doubled[i] = 2 * weight[i];
    STEP(clayer_buffer_create(context, 1 + batch * IN, &bx));
    STEP(clayer_buffer_create(context, 2 + batch * out, &by));
    STEP(clayer_buffer_write(bx, 1, x, batch * IN));
    const clayer_matrix in = {.buffer = bx, .offset = 1}, to = {.buffer = by, .offset = 2};
    poison();
    STEP(clayer_linear_forward_matrix(linear, batch, &in, &to));
    STEP(clayer_context_finish(context));
    STEP(clayer_buffer_read(by, 2, result, batch * out));
    CHECK(right(result, out, batch, IN, out, 1, true));
    STEP(clayer_linear_set_weight(linear, doubled, 0, CLAYER_WEIGHT_OUT_IN));
    STEP(clayer_linear_set_bias(linear, NULL));
    STEP(clayer_linear_forward_matrix(linear, batch, &in, &(clayer_matrix){.data = y}));
    CHECK(right(y, out, batch, IN, out, 2, false));
end:
    clayer_buffer_destroy(&bx);
    clayer_buffer_destroy(&by);
    return status;
}

static clayer_status layer_on(clayer_context *context, const char *plan, size_t batch, size_t out)
{
    clayer_status status;
    clayer_linear *linear = NULL;
    clayer_linear_info layer;
    clayer_plan_info ran;
    STEP(clayer_linear_create(context,
                              &(clayer_linear_params){.in_features = IN,
                                                      .out_features = out,
                                                      .weight = weight,
                                                      .bias = bias,
                                                      .activation = CLAYER_ACTIVATION_RELU,
                                                      .plan = plan},
                              &linear));
    STEP(clayer_linear_prepare(linear, batch));
    STEP(forward_host(linear, batch, out));
    STEP(forward_buffers(context, linear, batch, out));
    STEP(clayer_linear_get_info(linear, &layer));
    STEP(clayer_linear_last_plan(linear, &ran));
    CHECK(!plan || strcmp(plan, "auto") == 0 || strncmp(plan, ran.family, strlen(ran.family)) == 0);
end:
    clayer_linear_destroy(&linear);
    return status;
}

static clayer_status one_layer(const char *device, const char *plan, size_t batch, size_t out)
{
    clayer_status status;
    clayer_context *context = NULL;
    size_t count;
    clayer_device_info info;
    STEP(clayer_device_count(&count));
    STEP(clayer_device_get(0, &info));
    STEP(clayer_context_create(&(clayer_context_params){.device = device}, &context));
    STEP(layer_on(context, plan, batch, out));
end:
    clayer_context_destroy(&context);
    return status;
}

static clayer_status panel(void)
{
    return one_layer(DEVICE, "panel", BATCH, OUT);
}

static clayer_status portable(void)
{
    return one_layer(DEVICE, "portable", BATCH, OUT);
}

static clayer_status skinny(void)
{
    return one_layer(DEVICE, "skinny:splits=2", BATCH, OUT);
}

static clayer_status tiled(void)
{
    return one_layer(DEVICE, "tiled:splits=2", BATCH, OUT);
}

static clayer_status clblast(void)
{
    const clayer_status status = one_layer(DEVICE, "clblast", BATCH, OUT);
    held_forget_clblast();
    return status;
}

/* On a context that stays, with what CLBlast has compiled for it: seconds less. */
static clayer_status clblast_again(void)
{
    static clayer_context *context;
    clayer_status status;
    if (!context)
        STEP(clayer_context_create(&(clayer_context_params){.device = DEVICE}, &context));
    STEP(layer_on(context, "clblast", BATCH, OUT));
end:
    return status;
}

static clayer_status host(void)
{
    return one_layer("host", NULL, BATCH, OUT);
}

/* Everything left to clayer, on a call that is worth a device or, on a CPU, the help of its threads. */
static clayer_status automatic(void)
{
    return one_layer(NULL, "auto", BATCH_LARGE, OUT_LARGE);
}

/* A layer whose program is compiled, or found on disk. */
static clayer_status prepared(void)
{
    clayer_status status;
    clayer_context *context = NULL;
    clayer_linear *linear = NULL;
    STEP(clayer_context_create(&(clayer_context_params){.device = DEVICE}, &context));
    STEP(clayer_linear_create(
        context, &(clayer_linear_params){.in_features = IN, .out_features = OUT, .weight = weight, .plan = "portable"},
        &linear));
    STEP(clayer_linear_prepare(linear, BATCH));
end:
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    return status;
}

/* One miss in the cache of programs, one hit. */
static clayer_status miss_and_hit(void)
{
    clayer_status status;
    size_t entries, damaged;
    uint64_t bytes;
    clayer_cache_info info;
    STEP(clayer_cache_prune(0, &entries, &bytes));
    STEP(prepared());
    STEP(prepared());
    STEP(clayer_cache_get_info(&info));
    STEP(clayer_cache_verify(NULL, NULL, &entries, &damaged));
end:
    return status;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

/* From an empty cache of its own: other programs find theirs as they left it. */
static clayer_status cached(void)
{
    char folder[] = "/tmp/clayer-life-XXXXXX";
    static char outer[4096];
    const char *set = getenv("CLAYER_CACHE");
    snprintf(outer, sizeof outer, "%s", set ? set : "");
    if (!mkdtemp(folder))
        return CLAYER_ERROR_IO;
    setenv("CLAYER_CACHE", folder, 1);
    const clayer_status status = miss_and_hit();
    if (set)
        setenv("CLAYER_CACHE", outer, 1);
    else
        unsetenv("CLAYER_CACHE");
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

static clayer_status model(void)
{
    const clayer_linear_params layers[] = {{.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias},
                                           {.in_features = OUT, .out_features = HIDDEN, .weight = weight_hidden},
                                           {.in_features = HIDDEN, .out_features = OUT, .weight = weight_last}};
    clayer_status status;
    clayer_context *context = NULL;
    clayer_model *chain = NULL;
    STEP(clayer_context_create(&(clayer_context_params){.device = DEVICE, .plan = "portable"}, &context));
    STEP(clayer_model_create(context, layers, 3, &chain));
    STEP(clayer_model_prepare(chain, 2));
    for (size_t batch = 2; batch <= BATCH; batch += 3) {
        poison();
        STEP(clayer_model_forward(chain, batch, x, IN, y, OUT));
        for (size_t m = 0; m < batch; m++) {
            float first[OUT], second[HIDDEN];
            for (size_t n = 0; n < OUT; n++) {
                first[n] = bias[n];
                for (size_t k = 0; k < IN; k++)
                    first[n] += x[m * IN + k] * weight[n * IN + k];
            }
            for (size_t n = 0; n < HIDDEN; n++) {
                second[n] = 0;
                for (size_t k = 0; k < OUT; k++)
                    second[n] += first[k] * weight_hidden[n * OUT + k];
            }
            for (size_t n = 0; n < OUT; n++) {
                float sum = 0;
                for (size_t k = 0; k < HIDDEN; k++)
                    sum += second[k] * weight_last[n * HIDDEN + k];
                CHECK(y[m * OUT + n] == sum);
            }
        }
    }
end:
    clayer_model_destroy(&chain);
    clayer_context_destroy(&context);
    return status;
}

/* The tuner tries a candidate in this process and confirms it. It is too slow to be timed, so that the number of calls
 * does not depend on the clock. */
static clayer_status candidate(void)
{
    const clayer_tune_shape shape = {.batch = BATCH, .in_features = IN, .out_features = OUT};
    clayer_status status;
    clayer_context *context = NULL;
    struct trial *tuner = NULL;
    static struct outcome outcome;
    STEP(clayer_context_create(&(clayer_context_params){.device = DEVICE}, &context));
    STEP(trial_create(context, &shape, &tuner));
    trial_try(tuner, "portable", 1, 1e-12, &outcome);
    STEP(outcome.status);
    CHECK(outcome.verdict == CLAYER_VERDICT_SLOW);
    trial_confirm(tuner, "portable", &outcome);
    STEP(outcome.status);
    CHECK(outcome.verdict == CLAYER_VERDICT_RIGHT);
end:
    trial_destroy(&tuner);
    clayer_context_destroy(&context);
    return status;
}

clayer_status life_of_the_best_device(void)
{
    return one_layer(NULL, NULL, BATCH, OUT);
}

static clayer_status trial(void)
{
    return clayer_device_try(0, NULL);
}

const struct life lives[] = {
    {.name = "panel", .run = panel},
    {.name = "portable", .run = portable},
    {.name = "skinny", .run = skinny},
    {.name = "tiled", .run = tiled},
    {.name = "clblast again", .run = clblast_again, .clblast = true},
    {.name = "clblast", .run = clblast, .clblast = true, .deep = true},
    {.name = "host", .run = host},
    {.name = "automatic", .run = automatic, .automatic = true},
    {.name = "cached", .run = cached, .contexts = 2},
    {.name = "model", .run = model},
    {.name = "trial", .run = trial},
    {.name = "candidate", .run = candidate},
};
const size_t life_count = sizeof lives / sizeof *lives;
