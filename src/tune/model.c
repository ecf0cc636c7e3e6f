#include "tune/model.h"
#include "base/checked.h"

/* A family without registers blocks loads both operands for each product. */
#define UNBLOCKED 16.0f
/* CPU families measured on a GPU and the other way round: possible, and behind everything else. */
#define MISPLACED 8.0f

static double rounded(size_t value, size_t step)
{
    return (double)(size_ceil_div(value, step) * step) / (double)value;
}

/* A register block of rows x vectors needs its accumulators, one row of W and one broadcast element. */
static double cpu_cost(const struct target *target, const struct call_shape *call, const struct geometry *g)
{
    const bool wide = target->info->native_vector_width_float >= 16;
    const double lanes = wide ? 16 : target->info->native_vector_width_float >= 8 ? 8 : 4;
    const double registers = wide ? 32 : 16;
    const double rows = (double)g->item_rows, vectors = (double)g->item_columns / lanes;
    const double needed = rows * vectors + vectors + 1;
    double cost = 1;
    /* Loads beside multiplications: two of each may start in a cycle. */
    const double loads = (rows + vectors) / (rows * (vectors < 1 ? 1 : vectors));
    cost += loads > 1 ? 0.5 + loads / 2 : loads / 2;
    if (needed > registers)
        cost *= 1 + 2 * (needed - registers) / registers;
    /* A multiplication takes 4 cycles, and two start in each: fewer than 8 in flight wait. */
    if (rows * vectors < 8 && call->batch >= 8)
        cost *= 1 + 0.05 * (8 - rows * vectors);
    if ((double)g->vector < lanes)
        cost *= 1.2;
    if ((double)g->vector > lanes)
        cost *= 1.1;
    return cost;
}

static double gpu_cost(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                       const struct geometry *g)
{
    const double items = (double)(g->tile_rows / g->item_rows * (g->tile_columns / g->item_columns) * g->k_items);
    const double rows = (double)g->item_rows, columns = (double)g->item_columns;
    const double units = target->info->compute_units > 0 ? (double)target->info->compute_units : 16;
    const double groups = (double)(size_ceil_div(call->batch, g->tile_rows) *
                                   size_ceil_div(shape->out_features, g->tile_columns) * g->splits);
    /* Loads per multiplication, from near memory by an item and from far memory by a group. */
    double cost = 1 + 0.5 * (rows + columns) / (rows * columns) +
                  4.0 * (double)(g->tile_rows + g->tile_columns) / (double)(g->tile_rows * g->tile_columns);
    if (rows * columns > 64)
        cost *= 1 + (rows * columns - 64) / 128;
    if (items < 64)
        cost *= 64 / items;
    if (items > 256)
        cost *= 1.1;
    const double local = target->info->local_memory_bytes > 0 ? (double)target->info->local_memory_bytes : 32768;
    if ((double)g->local_bytes * 2 > local) /* one group alone hides no latency */
        cost *= 1.3;
    if (g->local_bytes == 0 && target->info->local_memory_is_real == 1) /* each item loads what its neighbours load */
        cost *= 1.3;
    if (groups < units)
        cost *= units / groups;
    if (g->vector < 4)
        cost *= 1.1;
    return cost * (1 + 0.03 * (double)(g->splits - 1));
}

float model_cost(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                 const struct family *family, const struct configuration *configuration)
{
    const clayer_device_type type = target->info->type;
    const bool cpu = type == CLAYER_DEVICE_CPU || type == CLAYER_DEVICE_SIMULATOR;
    if (family == &family_host && cpu)
        return 1; /* in blocks as good as any */
    if (!family->geometry)
        return UNBLOCKED;
    struct geometry g;
    family->geometry(configuration, &g);
    double cost = rounded(call->batch, g.tile_rows) * rounded(shape->out_features, g.tile_columns);
    cost *= cpu ? cpu_cost(target, call, &g) : gpu_cost(target, shape, call, &g);
    if (cpu != (family == &family_panel))
        cost *= MISPLACED;
    return (float)cost;
}
