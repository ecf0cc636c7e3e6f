/* oneDNN in its strongest form: an inner product whose weights lie in the layout that it prefers, with bias and
 * activation fused, called on host memory. A chain is called layer by layer. API of oneDNN 2. */
#include "bench/peer.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static const struct problem *current;

static struct layer {
    dnnl_primitive_t primitive;
    dnnl_memory_t weight, bias;
} * layers; /* layers of copy 0, then of copy 1, ... */
static struct value {
    float *data;
    dnnl_memory_t memory;
} * values; /* x, then what each layer gives, of copy 0, then of copy 1, ... */

#define DNNL(call)                                                                                                     \
    do {                                                                                                               \
        dnnl_status_t status_ = (call);                                                                                \
        if (status_ != dnnl_success)                                                                                   \
            return peer_error("%.*s: oneDNN error %d", (int)strcspn(#call, "("), #call, status_);                      \
    } while (0)

static bool onednn_open(const struct setup *setup)
{
    (void)setup;
    DNNL(dnnl_engine_create(&engine, dnnl_cpu, 0));
    DNNL(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    return true;
}

static bool describe_matrix(dnnl_memory_desc_t *description, size_t rows, size_t columns, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {(dnnl_dim_t)rows, (dnnl_dim_t)columns};
    DNNL(dnnl_memory_desc_init_by_tag(description, 2, dims, dnnl_f32, tag));
    return true;
}

static bool append_activation(dnnl_post_ops_t operations, clayer_activation activation)
{
    static const struct {
        dnnl_alg_kind_t kind;
        float alpha, beta;
    } kinds[] = {
        [CLAYER_ACTIVATION_NONE] = {dnnl_alg_kind_undef, 0, 0},
        [CLAYER_ACTIVATION_RELU] = {dnnl_eltwise_relu, 0, 0},
        [CLAYER_ACTIVATION_LEAKY_RELU] = {dnnl_eltwise_relu, LEAKY_SLOPE, 0},
        [CLAYER_ACTIVATION_RELU6] = {dnnl_eltwise_clip, 0, 6},
        [CLAYER_ACTIVATION_CLAMP] = {dnnl_eltwise_clip, CLAMP_LOW, CLAMP_HIGH},
        [CLAYER_ACTIVATION_SIGMOID] = {dnnl_eltwise_logistic, 0, 0},
        [CLAYER_ACTIVATION_TANH] = {dnnl_eltwise_tanh, 0, 0},
        [CLAYER_ACTIVATION_GELU] = {dnnl_eltwise_gelu_erf, 0, 0},
        [CLAYER_ACTIVATION_GELU_TANH] = {dnnl_eltwise_gelu_tanh, 0, 0},
        [CLAYER_ACTIVATION_SILU] = {dnnl_eltwise_swish, 1, 0},
    };
    if (kinds[activation].kind != dnnl_alg_kind_undef)
        DNNL(dnnl_post_ops_append_eltwise(operations, 1, kinds[activation].kind, kinds[activation].alpha,
                                          kinds[activation].beta));
    return true;
}

static bool create_primitive(size_t index, struct layer *layer, dnnl_memory_desc_t *packed)
{
    size_t in = current->shape.width[index], out = current->shape.width[index + 1], batch = current->shape.batch;
    dnnl_memory_desc_t x, w, b, y;
    dnnl_inner_product_desc_t description;
    dnnl_primitive_desc_t choice;
    dnnl_primitive_attr_t attributes;
    dnnl_post_ops_t operations;
    const dnnl_dims_t bias = {(dnnl_dim_t)out};
    if (!describe_matrix(&x, batch, in, dnnl_ab) || !describe_matrix(&w, out, in, dnnl_format_tag_any) ||
        !describe_matrix(&y, batch, out, dnnl_ab))
        return false;
    DNNL(dnnl_memory_desc_init_by_tag(&b, 1, bias, dnnl_f32, dnnl_a));
    DNNL(dnnl_inner_product_forward_desc_init(&description, dnnl_forward_inference, &x, &w, &b, &y));
    DNNL(dnnl_post_ops_create(&operations));
    bool fine = append_activation(operations, shape_activation(&current->shape, index));
    DNNL(dnnl_primitive_attr_create(&attributes));
    DNNL(dnnl_primitive_attr_set_post_ops(attributes, operations));
    DNNL(dnnl_post_ops_destroy(operations));
    DNNL(dnnl_primitive_desc_create(&choice, &description, attributes, engine, NULL));
    DNNL(dnnl_primitive_attr_destroy(attributes));
    *packed = *dnnl_primitive_desc_query_md(choice, dnnl_query_weights_md, 0);
    DNNL(dnnl_primitive_create(&layer->primitive, choice));
    DNNL(dnnl_primitive_desc_destroy(choice));
    return fine;
}

/* Brings W from PyTorch's layout into the one that the primitive wants, once. */
static bool pack_weight(size_t index, struct layer *layer, const dnnl_memory_desc_t *packed)
{
    dnnl_memory_desc_t plain;
    dnnl_memory_t from;
    dnnl_primitive_desc_t choice;
    dnnl_primitive_t reorder;
    if (!describe_matrix(&plain, current->shape.width[index + 1], current->shape.width[index], dnnl_ab))
        return false;
    DNNL(dnnl_memory_create(&from, &plain, engine, current->weight[index]));
    DNNL(dnnl_memory_create(&layer->weight, packed, engine, DNNL_MEMORY_ALLOCATE));
    DNNL(dnnl_reorder_primitive_desc_create(&choice, &plain, engine, packed, engine, NULL));
    DNNL(dnnl_primitive_create(&reorder, choice));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, layer->weight}};
    DNNL(dnnl_primitive_execute(reorder, stream, 2, arguments));
    DNNL(dnnl_stream_wait(stream));
    DNNL(dnnl_primitive_destroy(reorder));
    DNNL(dnnl_primitive_desc_destroy(choice));
    DNNL(dnnl_memory_destroy(from));
    return true;
}

static bool create_layer(size_t index, struct layer *layer)
{
    dnnl_memory_desc_t packed, bias;
    const dnnl_dims_t dims = {(dnnl_dim_t)current->shape.width[index + 1]};
    if (!create_primitive(index, layer, &packed) || !pack_weight(index, layer, &packed))
        return false;
    DNNL(dnnl_memory_desc_init_by_tag(&bias, 1, dims, dnnl_f32, dnnl_a));
    DNNL(dnnl_memory_create(&layer->bias, &bias, engine, current->bias[index]));
    return true;
}

/* x or a layer's result, on a cache line of its own. */
static bool create_value(size_t level, struct value *value)
{
    dnnl_memory_desc_t description;
    size_t columns = current->shape.width[level], count = current->shape.batch * columns;
    value->data = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    if (!value->data)
        return peer_error("out of memory");
    if (level == 0)
        memcpy(value->data, current->x, count * sizeof(float));
    if (!describe_matrix(&description, current->shape.batch, columns, dnnl_ab))
        return false;
    DNNL(dnnl_memory_create(&value->memory, &description, engine, value->data));
    return true;
}

static void onednn_release(void)
{
    size_t count = current->shape.layers;
    for (size_t i = 0; layers && i < current->copies * count; i++) {
        dnnl_primitive_destroy(layers[i].primitive);
        dnnl_memory_destroy(layers[i].weight);
        dnnl_memory_destroy(layers[i].bias);
    }
    for (size_t i = 0; values && i < current->copies * (count + 1); i++) {
        dnnl_memory_destroy(values[i].memory);
        free(values[i].data);
    }
    free(layers);
    free(values);
    layers = NULL;
    values = NULL;
}

static bool onednn_prepare(const struct problem *problem, struct peer_info *info)
{
    size_t count = problem->shape.layers;
    current = problem;
    layers = calloc(problem->copies * count, sizeof *layers);
    values = calloc(problem->copies * (count + 1), sizeof *values);
    bool fine = layers && values;
    for (size_t i = 0; i < problem->copies * count && fine; i++)
        fine = create_layer(i % count, &layers[i]);
    for (size_t i = 0; i < problem->copies * (count + 1) && fine; i++)
        fine = create_value(i % (count + 1), &values[i]);
    snprintf(info->plan, sizeof info->plan, "inner product, fused, packed weights");
    if (!fine)
        onednn_release();
    return fine;
}

static float *result(size_t copy)
{
    return values[copy * (current->shape.layers + 1) + current->shape.layers].data;
}

static size_t result_count(void)
{
    return current->shape.batch * current->shape.width[current->shape.layers];
}

static bool onednn_poison(size_t copy)
{
    for (size_t i = 0; i < result_count(); i++)
        result(copy)[i] = NAN;
    return true;
}

static bool onednn_call(size_t copy)
{
    size_t count = current->shape.layers;
    const struct value *value = values + copy * (count + 1);
    for (size_t l = 0; l < count; l++) {
        const struct layer *layer = &layers[copy * count + l];
        const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, value[l].memory},
                                             {DNNL_ARG_WEIGHTS, layer->weight},
                                             {DNNL_ARG_BIAS, layer->bias},
                                             {DNNL_ARG_DST, value[l + 1].memory}};
        DNNL(dnnl_primitive_execute(layer->primitive, stream, 4, arguments));
    }
    DNNL(dnnl_stream_wait(stream));
    return true;
}

static bool onednn_read(size_t copy, float *y)
{
    memcpy(y, result(copy), result_count() * sizeof *y);
    return true;
}

static const struct peer peer = {.name = "onednn",
                                 .open = onednn_open,
                                 .prepare = onednn_prepare,
                                 .poison = onednn_poison,
                                 .call = onednn_call,
                                 .read = onednn_read,
                                 .release = onednn_release};

/* clayer-bench-onednn; clayer-bench starts it. */
int main(int argc, char **argv)
{
    struct setup setup;
    if (peer_setup(argc, argv, &setup) && !strcmp(setup.peer, peer.name))
        return peer_serve(&peer, &setup);
    fputs("clayer-bench-onednn is started by clayer-bench\n", stderr);
    return 2;
}
