/* tiled: local-memory tiles and register blocks, for GPUs; see cl/tiled.cl. */
#include "base/checked.h"
#include "kernels/split.h"

enum { THREADS_M, THREADS_N, ITEM_M, ITEM_N, TILE_K, LOCAL_X, LOCAL_W, BUFFERS, VECTOR, VECTOR_X, SPLITS, COUNT };

/* Holds the tiles that won on real GPUs with CLBlast's kernels (docs/measurements.md names the source): 64 to 256
 * work-items, 4x4 to 16x8 outputs each, tiles of 32 to 128 by 16 or 32, each operand in local memory or not. */
static const struct parameter parameters[COUNT] = {
    [THREADS_M] = {"threads_m", 5, {1, 4, 8, 16, 32}},
    [THREADS_N] = {"threads_n", 4, {4, 8, 16, 32}},
    [ITEM_M] = {"item_m", 5, {1, 2, 4, 8, 16}},
    [ITEM_N] = {"item_n", 4, {1, 2, 4, 8}},
    [TILE_K] = {"tile_k", 4, {4, 8, 16, 32}},
    [LOCAL_X] = {"local_x", 2, {0, 1}},
    [LOCAL_W] = {"local_w", 2, {0, 1}},
    [BUFFERS] = {"buffers", 2, {1, 2}},
    [VECTOR] = {"vector", 3, {1, 2, 4}},
    [VECTOR_X] = {"vector_x", 2, {1, 4}},
    [SPLITS] = {"splits", 5, {1, 2, 4, 8, 16}},
};

/* Outputs of one work-item that a register file can hold beside everything else. */
#define ITEMS_MAX 128

static size_t local_bytes(const int *value)
{
    const size_t tile_m = (size_t)(value[THREADS_M] * value[ITEM_M]),
                 tile_n = (size_t)(value[THREADS_N] * value[ITEM_N]);
    return sizeof(float) * (size_t)(value[TILE_K] * value[BUFFERS]) *
           ((value[LOCAL_X] ? tile_m + 4 : 0) + (value[LOCAL_W] ? tile_n : 0));
}

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    const int *value = configuration->value;
    const size_t tile_n = (size_t)(value[THREADS_N] * value[ITEM_N]);
    size_t workspace;
    if (!target->context)
        return "it needs an OpenCL device";
    if (call->x_columns || call->y_columns)
        return "it needs x and y as rows";
    if (shape->panel % tile_n != 0 && tile_n % shape->panel != 0)
        return "the tile's columns and the panel of the packed weights do not divide one another";
    if (value[ITEM_N] % value[VECTOR] != 0 || value[TILE_K] % value[VECTOR_X] != 0)
        return "vector does not divide item_n, or vector_x tile_k";
    if (value[ITEM_M] * value[ITEM_N] > ITEMS_MAX)
        return "item_m x item_n is more than registers hold";
    if (!value[LOCAL_X] && !value[LOCAL_W] && value[BUFFERS] > 1)
        return "two buffers need an operand in local memory";
    if ((size_t)(value[THREADS_M] * value[THREADS_N]) > opencl_limit(target->info->max_work_group_size, 1) ||
        (size_t)value[THREADS_N] > opencl_limit(target->info->max_work_item_sizes[0], 1) ||
        (size_t)value[THREADS_M] > opencl_limit(target->info->max_work_item_sizes[1], 1))
        return "the work-group is larger than the device allows";
    if (local_bytes(value) > opencl_limit(target->info->local_memory_bytes, 0))
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
    const bool real_local = target->info->local_memory_is_real != 0;
    value[THREADS_M] = 8;
    value[THREADS_N] = 16;
    value[ITEM_M] = 8;
    value[ITEM_N] = 4;
    value[TILE_K] = 16;
    value[LOCAL_X] = value[LOCAL_W] = real_local;
    value[BUFFERS] = real_local ? 2 : 1;
    value[VECTOR] = 4;
    value[VECTOR_X] = 4;
    value[SPLITS] = 1;
    /* Narrow outputs and small batches waste less with smaller tiles; a GPU wants a few groups for each compute unit.
     */
    while (value[THREADS_N] > 4 && shape->panel % (size_t)(value[THREADS_N] * value[ITEM_N]) != 0)
        value[THREADS_N] /= 2;
    if (value[THREADS_M] * value[THREADS_N] < 64) {
        value[THREADS_M] *= 2;
        value[ITEM_M] /= 2;
    }
    while (value[ITEM_M] > 1 && (size_t)(value[THREADS_M] * value[ITEM_M]) >= 2 * call->batch)
        value[ITEM_M] /= 2;
    const size_t groups = size_ceil_div(call->batch, (size_t)(value[THREADS_M] * value[ITEM_M])) *
                          size_ceil_div(shape->out_features, (size_t)(value[THREADS_N] * value[ITEM_N]));
    const size_t wanted = 2 * opencl_limit(target->info->compute_units, 16);
    while (value[SPLITS] < 16 && groups * (size_t)value[SPLITS] < wanted &&
           shape->in_features / (size_t)(value[SPLITS] * 2) >= 256)
        value[SPLITS] *= 2;
    /* Small devices: fewer buffers, then no local memory, then smaller groups. */
    if (refuses(target, shape, call, configuration))
        value[BUFFERS] = 1;
    if (refuses(target, shape, call, configuration))
        value[LOCAL_X] = value[LOCAL_W] = 0;
    while (value[THREADS_M] > 1 && refuses(target, shape, call, configuration))
        value[THREADS_M] = value[THREADS_M] > 4 ? value[THREADS_M] / 2 : 1;
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
    const size_t tile_m = (size_t)(value[THREADS_M] * value[ITEM_M]),
                 tile_n = (size_t)(value[THREADS_N] * value[ITEM_N]);
    const size_t local[2] = {(size_t)value[THREADS_N], (size_t)value[THREADS_M]};
    const size_t global[2] = {size_ceil_div(shape->out_features, tile_n) * (size_t)value[SPLITS] * local[0],
                              size_ceil_div(call->batch, tile_m) * local[1]};
    return split_launch(context, shape, layer, call, memory, executable, (size_t)value[SPLITS], global, local);
}

static void geometry(const struct configuration *configuration, struct geometry *geometry)
{
    const int *value = configuration->value;
    const size_t rows = (size_t)value[ITEM_M], columns = (size_t)value[ITEM_N];
    *geometry = (struct geometry){(size_t)value[THREADS_M] * rows,
                                  (size_t)value[THREADS_N] * columns,
                                  rows,
                                  columns,
                                  (size_t)value[VECTOR],
                                  local_bytes(value),
                                  (size_t)value[SPLITS],
                                  1};
}

const struct family family_tiled = {"tiled", "tiled", parameters, COUNT, refuses, suggest, prepare, launch, geometry};
