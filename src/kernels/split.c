#include "kernels/split.h"
#include "base/checked.h"
#include "base/error.h"

struct row_arguments split_arguments(const struct layer_shape *shape, const struct call_shape *call)
{
    return (struct row_arguments){.x_offset = call->x_offset,
                                  .ldx = call->ldx,
                                  .y_offset = call->y_offset,
                                  .ldy = call->ldy,
                                  .batch = call->batch,
                                  .in_features = shape->in_features,
                                  .out_features = shape->out_features,
                                  .kind = (cl_int)shape->activation.kind,
                                  .alpha = shape->activation.alpha,
                                  .beta = shape->activation.beta};
}

bool split_workspace(const struct layer_shape *shape, const struct call_shape *call, size_t splits, size_t *bytes)
{
    *bytes = 0;
    return splits < 2 || (size_mul(splits, call->batch, bytes) && size_mul(*bytes, shape->out_features, bytes) &&
                          size_mul(*bytes, sizeof(float), bytes));
}

clayer_status split_prepare(struct opencl_context *context, const struct layer_shape *shape, size_t splits,
                            struct executable *executable)
{
    TRY(family_build(context, shape, executable));
    if (splits < 2)
        return CLAYER_OK;
    char options[FAMILY_OPTIONS_BYTES];
    family_options(NULL, NULL, shape, NULL, options, sizeof options);
    return opencl_kernel_get(context, "reduce", options, &executable->kernels[1]);
}

/* Adds the parts into y. */
static clayer_status reduce(struct opencl_context *context, const struct row_arguments *a, struct layer_memory *layer,
                            const struct call_memory *memory, const struct executable *executable, cl_ulong splits)
{
    const struct opencl_argument arguments[] = {ARGUMENT(layer->workspace.memory),
                                                ARGUMENT(splits),
                                                ARGUMENT(layer->bias.memory),
                                                ARGUMENT(memory->y),
                                                ARGUMENT(a->y_offset),
                                                ARGUMENT(a->ldy),
                                                ARGUMENT(a->batch),
                                                ARGUMENT(a->out_features),
                                                ARGUMENT(a->kind),
                                                ARGUMENT(a->alpha),
                                                ARGUMENT(a->beta)};
    size_t local = 64;
    while (local > 1 && (local > executable->kernels[1]->max_work_group || local >= 2 * a->out_features))
        local /= 2;
    return opencl_launch(context, executable->kernels[1], arguments, sizeof arguments / sizeof *arguments,
                         (const size_t[2]){a->out_features, a->batch}, (const size_t[2]){local, 1}, memory->wait_count,
                         memory->wait_list, memory->event);
}

clayer_status split_launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                           const struct call_shape *call, const struct call_memory *memory,
                           const struct executable *executable, size_t splits, const size_t global[2],
                           const size_t local[2])
{
    const struct row_arguments a = split_arguments(shape, call);
    cl_mem y = memory->y;
    cl_ulong y_offset = a.y_offset, ldy = a.ldy;
    if (splits > 1) {
        size_t bytes;
        if (!split_workspace(shape, call, splits, &bytes))
            return FAIL(CLAYER_ERROR_TOO_LARGE, "a workspace for %zu parts of %zux%zu overflows", splits, call->batch,
                        shape->out_features);
        TRY(family_workspace(context, bytes, layer));
        y = layer->workspace.memory;
        y_offset = 0;
        ldy = a.out_features;
    }
    const struct opencl_argument arguments[] = {ARGUMENT(memory->x),
                                                ARGUMENT(a.x_offset),
                                                ARGUMENT(a.ldx),
                                                ARGUMENT(layer->weights.memory),
                                                ARGUMENT(layer->bias.memory),
                                                ARGUMENT(y),
                                                ARGUMENT(y_offset),
                                                ARGUMENT(ldy),
                                                ARGUMENT(a.batch),
                                                ARGUMENT(a.in_features),
                                                ARGUMENT(a.out_features),
                                                ARGUMENT(a.kind),
                                                ARGUMENT(a.alpha),
                                                ARGUMENT(a.beta)};
    if (splits < 2)
        return opencl_launch(context, executable->kernels[0], arguments, sizeof arguments / sizeof *arguments, global,
                             local, memory->wait_count, memory->wait_list, memory->event);
    struct opencl_chain chain;
    struct call_memory step = *memory;
    TRY(opencl_chain_begin(&chain, context, &layer->workspace_guard, memory->wait_count, memory->wait_list,
                           memory->event));
    opencl_chain_step(&chain, false, &step.wait_count, &step.wait_list, &step.event);
    clayer_status status =
        opencl_launch(context, executable->kernels[0], arguments, sizeof arguments / sizeof *arguments, global, local,
                      step.wait_count, step.wait_list, step.event);
    if (status == CLAYER_OK) {
        opencl_chain_stepped(&chain);
        opencl_chain_step(&chain, true, &step.wait_count, &step.wait_list, &step.event);
        status = reduce(context, &a, layer, &step, executable, splits);
    }
    if (status == CLAYER_OK)
        opencl_chain_stepped(&chain);
    return opencl_chain_end(&chain, status);
}
