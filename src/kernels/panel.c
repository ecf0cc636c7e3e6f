/* panel: register blocks of rows x vectors over packed panels, for CPU devices; see cl/panel.cl. */
#include "base/checked.h"
#include "base/error.h"
#include "kernels/family.h"

enum { ROWS, VECTORS, WIDTH, ROWS_FIRST, PREFETCH, COUNT };

static const struct parameter parameters[] = {
    [ROWS] = {"rows", 12, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}},
    [VECTORS] = {"vectors", 4, {1, 2, 3, 4}},
    [WIDTH] = {"width", 3, {4, 8, 16}},
    [ROWS_FIRST] = {"rows_first", 2, {0, 1}, true}, /* 1: work-groups run over the batch fastest */
    [PREFETCH] = {"prefetch", 2, {0, 1}},           /* the next panel while this one is used */
};

/* What one core has to itself on current CPUs (1 to 2 MiB); OpenCL tells the size of the farthest cache only. */
#define NEAR_CACHE ((size_t)1 << 20)

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    if (!target->context)
        return "it needs an OpenCL device";
    if (call->x_columns || call->y_columns)
        return "it needs x and y as rows";
    if (shape->panel % (size_t)(configuration->value[VECTORS] * configuration->value[WIDTH]) != 0)
        return "vectors x width does not divide the panel of the packed weights";
    return NULL;
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    int *value = configuration->value;
    const size_t weights = shape->in_features * shape->out_features * sizeof(float);
    value[WIDTH] = target->info->native_vector_width_float >= 16 ? 16 : 8;
    value[VECTORS] = 4;
    while (shape->panel % (size_t)(value[VECTORS] * value[WIDTH]) != 0)
        value[VECTORS]--;
    /* Rows such that the registers hold the block, and such that they divide the batch evenly: a wasted row costs as
     * much as a useful one. */
    const int most = value[WIDTH] == 16 ? 24 / value[VECTORS] : 12 / value[VECTORS];
    int best = 1;
    double best_waste = 1e9;
    for (int i = 0; i < parameters[ROWS].count; i++) {
        const int rows = parameters[ROWS].values[i];
        if (rows > most && rows > 1)
            break;
        const size_t computed = size_ceil_div(call->batch, (size_t)rows) * (size_t)rows;
        const double waste = (double)computed / (double)call->batch + 0.4 / rows;
        if (waste <= best_waste) {
            best_waste = waste;
            best = rows;
        }
    }
    /* Weights that come from far away are better read once, even if a few sums leave the registers. */
    const bool far = weights > NEAR_CACHE / 2;
    value[ROWS] = far && call->batch <= 8 ? (int)call->batch : best;
    /* Weights that fit the near cache stay there while the batch streams past. Otherwise one panel stays there while
     * all rows stream past it: that reads 4 bytes of x for 2 * panel FLOP, which even memory can serve, where the other
     * order would read 4 bytes of W for 2 * rows FLOP. */
    value[ROWS_FIRST] = far;
    /* The next panel has to fit beside this one, and enough tiles have to share the asking (docs/measurements.md). */
    value[PREFETCH] = far && shape->in_features * shape->panel * sizeof(float) <= NEAR_CACHE / 4 &&
                      call->batch >= 4 * (size_t)value[ROWS];
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    const int *value = executable->configuration.value;
    cl_ulong x_offset = call->x_offset, y_offset = call->y_offset, ldx = call->ldx, ldy = call->ldy;
    cl_ulong batch = call->batch, in_features = shape->in_features, out_features = shape->out_features;
    cl_int kind = (cl_int)shape->activation.kind;
    const size_t row_tiles = size_ceil_div(call->batch, (size_t)value[ROWS]);
    const size_t column_tiles = size_ceil_div(shape->out_features, (size_t)(value[VECTORS] * value[WIDTH]));
    cl_int rows_first = value[ROWS_FIRST];
    const struct opencl_argument arguments[] = {ARGUMENT(memory->x),
                                                ARGUMENT(x_offset),
                                                ARGUMENT(ldx),
                                                ARGUMENT(layer->weights.memory),
                                                ARGUMENT(layer->bias.memory),
                                                ARGUMENT(memory->y),
                                                ARGUMENT(y_offset),
                                                ARGUMENT(ldy),
                                                ARGUMENT(batch),
                                                ARGUMENT(in_features),
                                                ARGUMENT(out_features),
                                                ARGUMENT(kind),
                                                ARGUMENT(shape->activation.alpha),
                                                ARGUMENT(shape->activation.beta),
                                                ARGUMENT(rows_first)};
    return opencl_launch(
        context, executable->kernels[0], arguments, sizeof arguments / sizeof *arguments,
        (const size_t[2]){rows_first ? row_tiles : column_tiles, rows_first ? column_tiles : row_tiles},
        (const size_t[2]){1, 1}, memory->wait_count, memory->wait_list, memory->event);
}

static void geometry(const struct configuration *configuration, struct geometry *geometry)
{
    const int *value = configuration->value;
    const size_t rows = (size_t)value[ROWS], columns = (size_t)(value[VECTORS] * value[WIDTH]);
    *geometry = (struct geometry){rows, columns, rows, columns, (size_t)value[WIDTH], 0, 1, 1};
}

const struct family family_panel = {"panel", "panel",      parameters, COUNT,   refuses,
                                    suggest, family_build, launch,     geometry};
