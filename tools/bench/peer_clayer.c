/* clayer through its public headers: device buffers and a wait, enqueued calls, and calls on host memory. A chain of
 * layers is a model, whose forward call takes host memory. */
#include "bench/clock.h"
#include "bench/peer.h"

#include <clayer/linear.h>
#include <clayer/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clayer_context *context;
static const struct problem *current;
static struct set {
    clayer_linear *linear; /* one layer, */
    clayer_model *model;   /* or a chain */
    clayer_buffer *x, *y;
    float *host_y; /* a chain's result */
} * sets;

static bool failed(const char *what, clayer_status status)
{
    return peer_error("%s: %s: %s", what, clayer_status_string(status), clayer_last_error());
}

#define CLAYER(call)                                                                                                   \
    do {                                                                                                               \
        clayer_status status_ = (call);                                                                                \
        if (status_ != CLAYER_OK)                                                                                      \
            return failed(#call, status_);                                                                             \
    } while (0)

static bool clayer_open(const struct setup *setup)
{
    const clayer_context_params params = {.device = setup->device};
    CLAYER(clayer_context_create(&params, &context));
    return true;
}

static size_t x_count(void)
{
    return current->shape.batch * current->shape.width[0];
}

static size_t y_count(void)
{
    return current->shape.batch * current->shape.width[current->shape.layers];
}

static clayer_linear_params layer_params(size_t layer)
{
    clayer_activation activation = shape_activation(&current->shape, layer);
    bool clamp = activation == CLAYER_ACTIVATION_CLAMP;
    return (clayer_linear_params){.in_features = current->shape.width[layer],
                                  .out_features = current->shape.width[layer + 1],
                                  .weight = current->weight[layer],
                                  .bias = current->bias[layer],
                                  .activation = activation,
                                  .activation_alpha = clamp ? CLAMP_LOW : LEAKY_SLOPE,
                                  .activation_beta = clamp ? CLAMP_HIGH : 0};
}

static bool create(struct set *set)
{
    clayer_linear_params params[MAX_LAYERS];
    for (size_t l = 0; l < current->shape.layers; l++)
        params[l] = layer_params(l);
    if (current->shape.layers > 1) {
        set->host_y = malloc(y_count() * sizeof *set->host_y);
        if (!set->host_y)
            return peer_error("out of memory");
        CLAYER(clayer_model_create(context, params, current->shape.layers, &set->model));
        return true;
    }
    CLAYER(clayer_linear_create(context, params, &set->linear));
    CLAYER(clayer_buffer_create(context, x_count(), &set->x));
    CLAYER(clayer_buffer_create(context, y_count(), &set->y));
    CLAYER(clayer_buffer_write(set->x, 0, current->x, x_count()));
    return true;
}

/* Building once more, when the programs are there: packing and upload. */
static bool time_build(double *seconds)
{
    clayer_linear_params params = layer_params(0);
    clayer_linear *again = NULL;
    double start = clock_now();
    CLAYER(clayer_linear_create(context, &params, &again));
    *seconds = clock_now() - start;
    clayer_linear_destroy(&again);
    return true;
}

static void clayer_release(void)
{
    for (size_t i = 0; sets && i < current->copies; i++) {
        clayer_linear_destroy(&sets[i].linear);
        clayer_model_destroy(&sets[i].model);
        clayer_buffer_destroy(&sets[i].x);
        clayer_buffer_destroy(&sets[i].y);
        free(sets[i].host_y);
    }
    free(sets);
    sets = NULL;
}

static bool clayer_prepare(const struct problem *problem, struct peer_info *info)
{
    current = problem;
    sets = calloc(problem->copies, sizeof *sets);
    bool fine = sets != NULL;
    for (size_t i = 0; i < problem->copies && fine; i++)
        fine = create(&sets[i]);
    info->call_only = problem->shape.layers > 1;
    if (fine && !info->call_only) {
        clayer_linear_info layer;
        clayer_linear_get_info(sets[0].linear, &layer);
        info->extra_bytes = (double)(layer.packed_bytes + layer.plain_bytes) - shape_weight_bytes(&problem->shape);
        fine = time_build(&info->build_seconds);
    }
    if (!fine)
        clayer_release();
    return fine;
}

static bool clayer_poison(size_t copy)
{
    float *nan = malloc(y_count() * sizeof *nan);
    if (!nan)
        return peer_error("out of memory");
    for (size_t i = 0; i < y_count(); i++)
        nan[i] = NAN;
    clayer_status status = CLAYER_OK;
    if (sets[copy].y)
        status = clayer_buffer_write(sets[copy].y, 0, nan, y_count());
    else
        for (size_t i = 0; i < y_count(); i++)
            sets[copy].host_y[i] = NAN;
    free(nan);
    return status == CLAYER_OK || failed("clayer_buffer_write", status);
}

static bool clayer_enqueue(size_t copy)
{
    const clayer_matrix x = {.buffer = sets[copy].x}, y = {.buffer = sets[copy].y};
    CLAYER(clayer_linear_forward_matrix(sets[copy].linear, current->shape.batch, &x, &y));
    return true;
}

static bool clayer_wait(void)
{
    CLAYER(clayer_context_finish(context));
    return true;
}

static bool clayer_host_call(size_t copy, const float *x, float *y)
{
    const struct shape *shape = &current->shape;
    size_t ldx = shape->width[0], ldy = shape->width[shape->layers];
    if (sets[copy].model)
        CLAYER(clayer_model_forward(sets[copy].model, shape->batch, x, ldx, y, ldy));
    else
        CLAYER(clayer_linear_forward(sets[copy].linear, shape->batch, x, ldx, y, ldy));
    return true;
}

static bool clayer_call(size_t copy)
{
    if (sets[copy].model)
        return clayer_host_call(copy, current->x, sets[copy].host_y);
    return clayer_enqueue(copy) && clayer_wait();
}

static bool clayer_read(size_t copy, float *y)
{
    if (sets[copy].y)
        CLAYER(clayer_buffer_read(sets[copy].y, 0, y, y_count()));
    else
        for (size_t i = 0; i < y_count(); i++)
            y[i] = sets[copy].host_y[i];
    return true;
}

static bool plan_text(const clayer_linear *linear, char *text, size_t size)
{
    clayer_plan_info plan;
    CLAYER(clayer_linear_last_plan(linear, &plan));
    snprintf(text, size, "%s%s%s (%s)", plan.family, *plan.configuration ? ":" : "", plan.configuration, plan.origin);
    return true;
}

/* The plan of a call on buffers, and that of a call on host memory where it is another. */
static bool clayer_describe(struct peer_info *info)
{
    char host[sizeof info->plan];
    const clayer_linear *linear = sets[0].model ? clayer_model_layer(sets[0].model, 0) : sets[0].linear;
    if (!clayer_call(0) || !plan_text(linear, info->plan, sizeof info->plan))
        return false;
    if (sets[0].model)
        return true;
    float *y = malloc(y_count() * sizeof *y);
    bool fine =
        y ? clayer_host_call(0, current->x, y) && plan_text(linear, host, sizeof host) : peer_error("out of memory");
    free(y);
    size_t length = strlen(info->plan);
    if (fine && strcmp(host, info->plan) != 0)
        snprintf(info->plan + length, sizeof info->plan - length, ", host memory: %s", host);
    return fine;
}

const struct peer peer_clayer = {.name = "clayer",
                                 .open = clayer_open,
                                 .prepare = clayer_prepare,
                                 .poison = clayer_poison,
                                 .call = clayer_call,
                                 .enqueue = clayer_enqueue,
                                 .wait = clayer_wait,
                                 .host_call = clayer_host_call,
                                 .read = clayer_read,
                                 .describe = clayer_describe,
                                 .release = clayer_release};
