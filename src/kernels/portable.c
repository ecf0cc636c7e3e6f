/* portable: one work-item, one output; see cl/portable.cl. Legal on every OpenCL device and for every layout. */
#include "base/error.h"
#include "kernels/family.h"

static const struct parameter parameters[] = {
    {"local", 9, {1, 2, 4, 8, 16, 32, 64, 128, 256}, true}, /* work-items of a group, side by side along out_features */
};

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    (void)shape;
    (void)call;
    if (!target->context)
        return "it needs an OpenCL device";
    if ((size_t)configuration->value[0] > opencl_limit(target->info->max_work_group_size, 1) ||
        (size_t)configuration->value[0] > opencl_limit(target->info->max_work_item_sizes[0], 1))
        return "the work-group is larger than the device allows";
    return NULL;
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    configuration->value[0] = 64;
    while (configuration->value[0] > 1 &&
           ((size_t)configuration->value[0] >= 2 * shape->out_features || refuses(target, shape, call, configuration)))
        configuration->value[0] /= 2;
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    cl_ulong x_offset = call->x_offset, y_offset = call->y_offset, x_row, x_col, y_row, y_col;
    family_strides(call->x_columns, call->ldx, &x_row, &x_col);
    family_strides(call->y_columns, call->ldy, &y_row, &y_col);
    cl_ulong batch = call->batch, in_features = shape->in_features, out_features = shape->out_features;
    cl_int kind = (cl_int)shape->activation.kind;
    const struct opencl_argument arguments[] = {ARGUMENT(memory->x),
                                                ARGUMENT(x_offset),
                                                ARGUMENT(x_row),
                                                ARGUMENT(x_col),
                                                ARGUMENT(layer->weights.memory),
                                                ARGUMENT(layer->bias.memory),
                                                ARGUMENT(memory->y),
                                                ARGUMENT(y_offset),
                                                ARGUMENT(y_row),
                                                ARGUMENT(y_col),
                                                ARGUMENT(batch),
                                                ARGUMENT(in_features),
                                                ARGUMENT(out_features),
                                                ARGUMENT(kind),
                                                ARGUMENT(shape->activation.alpha),
                                                ARGUMENT(shape->activation.beta)};
    /* A kernel can have a lower limit than its device; portable works with any size. */
    size_t local = (size_t)executable->configuration.value[0];
    while (local > executable->kernels[0]->max_work_group && local > 1)
        local /= 2;
    return opencl_launch(context, executable->kernels[0], arguments, sizeof arguments / sizeof *arguments,
                         (const size_t[2]){shape->out_features, call->batch}, (const size_t[2]){local, 1},
                         memory->wait_count, memory->wait_list, memory->event);
}

const struct family family_portable = {"portable", "portable",   parameters, 1,   refuses,
                                       suggest,    family_build, launch,     NULL};
