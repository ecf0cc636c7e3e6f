/* skinny: small batches, the weights read once at full bandwidth; see cl/skinny.cl. */
#include "base/checked.h"
#include "kernels/split.h"

enum { ROWS, LANES, K_LANES, SPLITS, COUNT };

static const struct parameter parameters[COUNT] = {
    [ROWS] = {"rows", 5, {1, 2, 4, 8, 16}},
    [LANES] = {"lanes", 4, {2, 4, 8, 16}}, /* work-items side by side, 4 columns each */
    [K_LANES] = {"k_lanes", 7, {1, 2, 4, 8, 16, 32, 64}},
    [SPLITS] = {"splits", 6, {1, 2, 4, 8, 16, 32}},
};

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    const int *value = configuration->value;
    size_t workspace;
    if (!target->context)
        return "it needs an OpenCL device";
    if (call->x_columns || call->y_columns)
        return "it needs x and y as rows";
    if (shape->panel % (size_t)(value[LANES] * 4) != 0)
        return "lanes x 4 does not divide the panel of the packed weights";
    if ((size_t)(value[LANES] * value[K_LANES]) > opencl_limit(target->info->max_work_group_size, 1) ||
        (size_t)value[LANES] > opencl_limit(target->info->max_work_item_sizes[0], 1) ||
        (size_t)value[K_LANES] > opencl_limit(target->info->max_work_item_sizes[1], 1))
        return "the work-group is larger than the device allows";
    const int meeting_rows = value[ROWS] < 4 ? value[ROWS] : 4;
    if (value[K_LANES] > 1 && (size_t)(value[LANES] * value[K_LANES] * meeting_rows) * 4 * sizeof(float) >
                                  opencl_limit(target->info->local_memory_bytes, 0))
        return "it needs more local memory than the device has";
    if (!split_workspace(shape, call, (size_t)value[SPLITS], &workspace) ||
        workspace > opencl_limit(target->info->max_allocation_bytes, SIZE_MAX))
        return "its workspace is larger than the device allocates";
    return NULL;
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    int *value = configuration->value;
    /* 16 rows would take 250 registers a work-item on NVIDIA's GPUs, and more than Intel's have. */
    value[ROWS] = 1;
    while (value[ROWS] < 8 && (size_t)value[ROWS] < call->batch)
        value[ROWS] *= 2;
    /* 256 work-items that read 64 bytes to 256 bytes of each row of W; fewer where in_features is short. */
    value[LANES] = 8;
    while ((size_t)(value[LANES] * 4) > shape->panel || shape->panel % (size_t)(value[LANES] * 4) != 0)
        value[LANES] /= 2;
    value[K_LANES] = 32;
    while (value[K_LANES] > 1 && ((size_t)value[K_LANES] * 4 > shape->in_features))
        value[K_LANES] /= 2;
    value[SPLITS] = 1;
    const size_t groups = size_ceil_div(shape->out_features, (size_t)(value[LANES] * 4)) *
                          size_ceil_div(call->batch, (size_t)value[ROWS]);
    const size_t wanted = 4 * opencl_limit(target->info->compute_units, 16);
    while (value[SPLITS] < 32 && groups * (size_t)value[SPLITS] < wanted &&
           shape->in_features / (size_t)(value[SPLITS] * 2) >= (size_t)(value[K_LANES] * 8))
        value[SPLITS] *= 2;
    while (value[K_LANES] > 1 && refuses(target, shape, call, configuration))
        value[K_LANES] /= 2;
    while (value[LANES] > 2 && refuses(target, shape, call, configuration))
        value[LANES] /= 2;
    if (refuses(target, shape, call, configuration))
        value[SPLITS] = 1;
}

static clayer_status prepare(struct opencl_context *context, const struct layer_shape *shape,
                             struct executable *executable)
{
    return split_prepare(context, shape, (size_t)executable->configuration.value[SPLITS], executable);
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    const int *value = executable->configuration.value;
    const size_t local[2] = {(size_t)value[LANES], (size_t)value[K_LANES]};
    const size_t global[2] = {size_ceil_div(shape->out_features, local[0] * 4) * (size_t)value[SPLITS] * local[0],
                              size_ceil_div(call->batch, (size_t)value[ROWS]) * local[1]};
    return split_launch(context, shape, layer, call, memory, executable, (size_t)value[SPLITS], global, local);
}

static void geometry(const struct configuration *configuration, struct geometry *geometry)
{
    const int *value = configuration->value;
    const size_t rows = (size_t)value[ROWS];
    *geometry = (struct geometry){rows,
                                  (size_t)value[LANES] * 4,
                                  rows,
                                  4,
                                  4,
                                  value[K_LANES] > 1 ? (size_t)(value[LANES] * value[K_LANES]) * rows * 16 : 0,
                                  (size_t)value[SPLITS],
                                  (size_t)value[K_LANES]};
}

const struct family family_skinny = {"skinny", "skinny", parameters, COUNT,   refuses,
                                     suggest,  prepare,  launch,     geometry};
