#include "linear.h"
#include "base/checked.h"
#include "base/error.h"
#include "host/packed.h"
#include "opencl/team.h"
#include "plan/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clayer_status check_types(const clayer_linear_params *p)
{
    const struct {
        const char *what;
        clayer_dtype type;
    } types[] = {{"x", p->x_type}, {"weight", p->weight_type}, {"y", p->y_type}, {"accumulator", p->accumulator_type}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type != CLAYER_DTYPE_F32)
            return FAIL(CLAYER_ERROR_UNSUPPORTED, "type of %s is %s: only F32 is supported so far", types[i].what,
                        clayer_dtype_name(types[i].type));
    return CLAYER_OK;
}

/* Where element (n, k) of a weight matrix lies: n * *out_stride + k * *in_stride. ld 0 means tight. */
static clayer_status weight_strides(const struct layer_shape *shape, clayer_weight_layout layout, size_t ld,
                                    size_t *out_stride, size_t *in_stride)
{
    if (layout != CLAYER_WEIGHT_OUT_IN && layout != CLAYER_WEIGHT_IN_OUT)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "weight layout %d: 0 (out, in) and 1 (in, out) are accepted",
                    (int)layout);
    const size_t row = layout == CLAYER_WEIGHT_OUT_IN ? shape->in_features : shape->out_features;
    if (ld == 0)
        ld = row;
    if (ld < row)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "ldw is %zu, below the row length %zu", ld, row);
    size_t elements;
    if (!size_matrix(layout == CLAYER_WEIGHT_OUT_IN ? shape->out_features : shape->in_features, row, ld, &elements) ||
        elements > SIZE_MAX / sizeof(float))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "weights of %zu x %zu with ldw %zu overflow", shape->out_features,
                    shape->in_features, ld);
    *out_stride = layout == CLAYER_WEIGHT_OUT_IN ? ld : 1;
    *in_stride = layout == CLAYER_WEIGHT_OUT_IN ? 1 : ld;
    return CLAYER_OK;
}

static struct packed_shape packed_shape_of(const struct layer_shape *shape)
{
    return (struct packed_shape){shape->in_features, shape->out_features, shape->panel};
}

/* Allocates packed weights and bias: shared with the device, on the device, or for the host only. */
static clayer_status allocate(clayer_linear *l, bool keep_host)
{
    struct opencl_context *device = l->context->opencl;
    const struct packed_shape packed = packed_shape_of(&l->shape);
    size_t count, bias;
    if (!packed_elements(&packed, &count) || !packed_bias_elements(&packed, &bias) || count > SIZE_MAX / sizeof(float))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "packed weights of %zu x %zu overflow", l->shape.out_features,
                    l->shape.in_features);
    if (device) {
        TRY(opencl_buffer_create(device, count * sizeof(float), &l->memory.weights));
        TRY(opencl_buffer_create(device, bias * sizeof(float), &l->memory.bias));
        l->memory.host_weights = l->memory.weights.host;
        l->memory.host_bias = l->memory.bias.host;
        if (l->shape.plain)
            TRY(opencl_buffer_create(device, l->shape.out_features * l->shape.in_features * sizeof(float),
                                     &l->memory.plain));
    }
    if (!l->memory.host_weights && (!device || keep_host)) {
        float *weights = NULL, *padded = NULL;
        l->owns_host_weights = true;
        TRY(host_floats(count, &weights));
        l->memory.host_weights = weights;
        TRY(host_floats(bias, &padded));
        l->memory.host_bias = padded;
    }
    l->shape.host = l->memory.host_weights != NULL;
    return CLAYER_OK;
}

/* Writes the plain (out, in) copy, from any layout. */
static clayer_status write_plain(clayer_linear *l, const float *weight, size_t out_stride, size_t in_stride)
{
    const size_t rows = l->shape.out_features, cols = l->shape.in_features;
    if (in_stride == 1)
        return opencl_buffer_write(l->context->opencl, &l->memory.plain, 0, weight, out_stride * sizeof(float),
                                   cols * sizeof(float), rows);
    float *plain = NULL;
    TRY(host_floats(rows * cols, &plain));
    for (size_t n = 0; n < rows; n++)
        for (size_t k = 0; k < cols; k++)
            plain[n * cols + k] = weight[n * out_stride + k * in_stride];
    const clayer_status status = opencl_buffer_write(l->context->opencl, &l->memory.plain, 0, plain,
                                                     cols * sizeof(float), cols * sizeof(float), rows);
    free(plain);
    return status;
}

/* Packing in shares of some panels. */
struct packing {
    struct packed_shape shape;
    const float *weight;
    size_t out_stride, in_stride, panels;
    float *target;
};

/* What one share packs at least (bytes), and from how many shares on helpers are worth waking. */
#define PACKED_SHARE_BYTES ((size_t)256 << 10)
#define PACKED_SHARES 4

static void pack_share(const void *job, size_t share)
{
    const struct packing *p = job;
    packed_pack_panels(&p->shape, p->weight, p->out_stride, p->in_stride, share * p->panels, p->panels, p->target);
}

/* Most of the time goes into the system's first handing out the memory, which several threads also do faster. */
static void pack(clayer_linear *l, struct packing *p)
{
    const size_t panels = size_ceil_div(p->shape.out_features, p->shape.panel);
    const size_t panel_bytes = p->shape.in_features * p->shape.panel * sizeof(float);
    p->panels = PACKED_SHARE_BYTES / (panel_bytes + 1) + 1;
    while (size_ceil_div(panels, p->panels) > OPENCL_TEAM_SHARES_MAX)
        p->panels *= 2;
    const size_t shares = size_ceil_div(panels, p->panels);
    opencl_team_run(l->context->opencl, shares < PACKED_SHARES ? 0 : SIZE_MAX, pack_share, p, shares);
}

/* Packs the weights to where calls read them. Nothing that reads them may be pending. */
static clayer_status write_weights(clayer_linear *l, const float *weight, size_t out_stride, size_t in_stride)
{
    const struct packed_shape packed = packed_shape_of(&l->shape);
    size_t count;
    packed_elements(&packed, &count);
    float *target = (float *)l->memory.host_weights, *temporary = NULL;
    if (!target) {
        TRY(host_floats(count, &temporary));
        target = temporary;
    }
    pack(l, &(struct packing){packed, weight, out_stride, in_stride, 1, target});
    clayer_status status = CLAYER_OK;
    if (l->context->opencl && !l->memory.weights.host)
        status = opencl_buffer_write(l->context->opencl, &l->memory.weights, 0, target, count * sizeof(float),
                                     count * sizeof(float), 1);
    free(temporary);
    if (status == CLAYER_OK && l->shape.plain)
        status = write_plain(l, weight, out_stride, in_stride);
    return status;
}

static clayer_status write_bias(clayer_linear *l, const float *bias)
{
    const struct packed_shape packed = packed_shape_of(&l->shape);
    size_t count;
    packed_bias_elements(&packed, &count);
    float *target = (float *)l->memory.host_bias, *temporary = NULL;
    if (!target) {
        TRY(host_floats(count, &temporary));
        target = temporary;
    }
    packed_pack_bias(&packed, bias, 1, target);
    clayer_status status = CLAYER_OK;
    if (l->context->opencl && !l->memory.bias.host)
        status = opencl_buffer_write(l->context->opencl, &l->memory.bias, 0, target, count * sizeof(float),
                                     count * sizeof(float), 1);
    free(temporary);
    return status;
}

/* Whether a record wants CLBlast for such a layer, which needs the plain copy of W. */
static bool named_clblast(clayer_context *context, const struct layer_shape *shape)
{
    struct store *store = context->target.clblast ? context_store(context) : NULL;
    struct record_layer layer;
    plan_record_layer(shape, &(struct call_shape){.batch = 1}, &layer);
    return store && store_names_family(store, &layer, family_clblast->name);
}

clayer_status clayer_linear_create(clayer_context *context, const clayer_linear_params *params, clayer_linear **linear)
{
    REQUIRE(context != NULL && params != NULL && linear != NULL);
    const bool empty = params->in_features == 0 || params->out_features == 0;
    REQUIRE(params->weight != NULL || empty);
    TRY(check_types(params));
    struct layer_shape shape = {.in_features = params->in_features,
                                .out_features = params->out_features,
                                .panel = packed_panel_width(params->out_features),
                                .has_bias = params->bias != NULL};
    TRY(activation_check(params->activation, params->activation_alpha, params->activation_beta));
    shape.activation = (struct activation){params->activation, params->activation_alpha, params->activation_beta};
    if (params->activation == CLAYER_ACTIVATION_LEAKY_RELU)
        shape.activation.alpha = activation_slope(&shape.activation); /* kernels get the slope itself */
    size_t out_stride = 0, in_stride = 0;
    TRY(weight_strides(&shape, params->weight_layout, params->ldw, &out_stride, &in_stride));
    struct plan_request request;
    TRY(plan_parse(params->plan, &request));
    if (!request.family)
        request = context->request;

    clayer_status status;
    clayer_linear *l = calloc(1, sizeof *l);
    if (!l)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a layer");
    pthread_rwlock_init(&l->weights_lock, NULL);
    pthread_mutex_init(&l->plans_lock, NULL);
    l->context = context_retain(context);
    l->request = request;
    l->shape = shape;
    l->shape.plain = context->opencl && !empty &&
                     (params->keep_weight ||
                      (request.family ? request.family == family_clblast : named_clblast(context, &l->shape)));
    TRY_GOTO(allocate(l, request.family == &family_host));
    if (!empty)
        TRY_GOTO(write_weights(l, params->weight, out_stride, in_stride));
    TRY_GOTO(write_bias(l, params->bias));
    *linear = l;
    return CLAYER_OK;
fail:
    clayer_linear_destroy(&l);
    return status;
}

void clayer_linear_destroy(clayer_linear **linear)
{
    if (!linear || !*linear)
        return;
    clayer_linear *l = *linear;
    *linear = NULL;
    if (l->context->opencl) {
        opencl_buffer_destroy(l->context->opencl, &l->memory.weights);
        opencl_buffer_destroy(l->context->opencl, &l->memory.bias);
        opencl_buffer_destroy(l->context->opencl, &l->memory.plain);
        opencl_timer_clear(l->context->opencl, &l->profile.timer);
        opencl_guard_release(l->context->opencl, &l->memory.workspace_guard);
        opencl_buffer_destroy(l->context->opencl, &l->memory.workspace);
    }
    if (l->owns_host_weights) {
        free((void *)l->memory.host_weights);
        free((void *)l->memory.host_bias);
    }
    pthread_mutex_destroy(&l->plans_lock);
    pthread_rwlock_destroy(&l->weights_lock);
    context_release(l->context);
    free(l);
}

/* Waits for calls in progress and keeps new ones out. */
static clayer_status begin_replacing(clayer_linear *l)
{
    pthread_rwlock_wrlock(&l->weights_lock);
    const clayer_status status = l->context->opencl ? opencl_finish(l->context->opencl) : CLAYER_OK;
    if (status != CLAYER_OK)
        pthread_rwlock_unlock(&l->weights_lock);
    return status;
}

clayer_status clayer_linear_set_weight(clayer_linear *linear, const float *weight, size_t ldw,
                                       clayer_weight_layout layout)
{
    REQUIRE(linear != NULL);
    const bool empty = linear->shape.in_features == 0 || linear->shape.out_features == 0;
    REQUIRE(weight != NULL || empty);
    size_t out_stride = 0, in_stride = 0;
    TRY(weight_strides(&linear->shape, layout, ldw, &out_stride, &in_stride));
    if (empty)
        return CLAYER_OK;
    TRY(begin_replacing(linear));
    const clayer_status status = write_weights(linear, weight, out_stride, in_stride);
    pthread_rwlock_unlock(&linear->weights_lock);
    return status;
}

clayer_status clayer_linear_set_bias(clayer_linear *linear, const float *bias)
{
    REQUIRE(linear != NULL);
    TRY(begin_replacing(linear));
    const clayer_status status = write_bias(linear, bias);
    pthread_mutex_lock(&linear->plans_lock);
    linear->shape.has_bias = bias != NULL;
    pthread_mutex_unlock(&linear->plans_lock);
    pthread_rwlock_unlock(&linear->weights_lock);
    return status;
}

clayer_status clayer_linear_get_info(const clayer_linear *linear, clayer_linear_info *info)
{
    REQUIRE(linear != NULL && info != NULL);
    clayer_linear *l = (clayer_linear *)linear; /* only its lock changes */
    const struct layer_shape *shape = &linear->shape;
    const struct packed_shape packed = packed_shape_of(shape);
    size_t weights, bias;
    pthread_mutex_lock(&l->plans_lock); /* set_bias may be running */
    const bool has_bias = shape->has_bias;
    pthread_mutex_unlock(&l->plans_lock);
    packed_elements(&packed, &weights);
    packed_bias_elements(&packed, &bias);
    *info = (clayer_linear_info){.in_features = shape->in_features,
                                 .out_features = shape->out_features,
                                 .parameters =
                                     shape->in_features * shape->out_features + (has_bias ? shape->out_features : 0),
                                 .packed_bytes = (weights + bias) * sizeof(float),
                                 .plain_bytes = linear->memory.plain.bytes,
                                 .activation = shape->activation.kind,
                                 .has_bias = has_bias};
    return CLAYER_OK;
}

clayer_status clayer_linear_last_plan(const clayer_linear *linear, clayer_plan_info *info)
{
    REQUIRE(linear != NULL && info != NULL);
    clayer_linear *l = (clayer_linear *)linear; /* only its lock changes */
    memset(info, 0, sizeof *info);
    pthread_mutex_lock(&l->plans_lock);
    if (l->plan_count) {
        const struct plan *plan = &l->plans[l->last].plan;
        snprintf(info->family, sizeof info->family, "%s", plan->family->name);
        family_print(plan->family, &plan->configuration, info->configuration, sizeof info->configuration);
        plan_origin_print(plan, info->origin, sizeof info->origin);
        snprintf(info->reason, sizeof info->reason, "%s", plan->reason);
    }
    pthread_mutex_unlock(&l->plans_lock);
    return CLAYER_OK;
}
