/* host: the calling thread's vector kernel over the same packed weights (src/host), with a team of the device's own
 * threads when that pays (opencl/team.h). Serves the host device, and synchronous calls on CPU devices that are small
 * or whose operands the device would see as copies. A row's bits do not depend on who computes it. */
#include "kernels/host.h"
#include "base/checked.h"
#include "host/linear.h"
#include "opencl/team.h"

enum { TEAM, COUNT };

static const struct parameter parameters[] = {
    [TEAM] = {"team", 2, {0, 1}, true}, /* 1: the device's threads help */
};

/* What one thread of a current CPU does in a second: FLOP with everything near, bytes of weights from the near cache
 * and from beyond it. */
#define THREAD_FLOPS 130e9
#define THREAD_NEAR_BYTES 80e9
#define THREAD_FAR_BYTES 26e9
#define NEAR_BYTES 2e6
/* Floats in the widest vector. */
#define LANES_MOST ((size_t)16)

/* A call that takes the calling thread so long takes what help is awake; for so long, the helper is woken first (s). */
#define SHARED_SECONDS 8e-6
#define WOKEN_SECONDS 30e-6
/* What asking a driver for one helper costs the calling thread (s). */
#define ASKING_SECONDS 10e-6

/* Shares take at least so long, since taking one costs a little, and at most so long, so that threads end nearly
 * together (s of one thread); in between, so many for each thread. */
#define SHARE_SECONDS_LEAST 3e-6
#define SHARE_SECONDS_MOST 200e-6
#define SHARES_EACH 8
#define SHARES_MOST 10000
/* Rows are shared in multiples of the height that most blocks have at full size, and never fewer: each part reads the
 * weights again. */
#define ROWS_STEP ((size_t)6)
#define ROWS_LEAST ((size_t)24)

/* One call in shares of `rows` rows by `columns` columns. */
struct shared_call {
    struct host_linear linear;
    size_t batch, ldx, ldy, rows, columns, row_parts;
    const float *x;
    float *y;
};

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    if (!shape->host)
        return "the packed weights are in the device's own memory";
    if (!call->host)
        return "x or y is in the device's own memory, or the call is asynchronous";
    if (configuration->value[TEAM] && !opencl_team_exists(target->context))
        return "the device's threads cannot help the calling thread";
    return NULL;
}

double host_flops(size_t batch, size_t in_features, size_t out_features)
{
    return 2 * (double)batch * (double)in_features * (double)(size_ceil_div(out_features, LANES_MOST) * LANES_MOST);
}

double host_alone_seconds(double flops, double weight_bytes)
{
    const double arithmetic = flops / THREAD_FLOPS;
    const double reading = weight_bytes / (weight_bytes > NEAR_BYTES ? THREAD_FAR_BYTES : THREAD_NEAR_BYTES);
    return arithmetic > reading ? arithmetic : reading;
}

/* How many helpers are worth waking for a call that takes one thread so long. */
static size_t helpers_for(const struct opencl_context *context, double alone)
{
    const size_t most = opencl_team_helpers(context);
    return alone / WOKEN_SECONDS < (double)most ? (size_t)(alone / WOKEN_SECONDS) : most;
}

double host_seconds(const struct target *target, double flops, double weight_bytes)
{
    const double alone = host_alone_seconds(flops, weight_bytes);
    const size_t helpers = target->context ? helpers_for(target->context, alone) : 0;
    return alone / (double)(1 + helpers) + ASKING_SECONDS * (double)helpers;
}

static double call_seconds(const struct layer_shape *shape, size_t batch)
{
    return host_alone_seconds(host_flops(batch, shape->in_features, shape->out_features),
                              host_flops(1, shape->in_features, shape->out_features) / 2 * sizeof(float));
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    configuration->value[TEAM] = opencl_team_exists(target->context) && !call->x_columns && !call->y_columns &&
                                 call_seconds(shape, call->batch) >= SHARED_SECONDS;
}

static clayer_status prepare(struct opencl_context *context, const struct layer_shape *shape,
                             struct executable *executable)
{
    (void)context;
    (void)shape;
    (void)executable;
    return CLAYER_OK;
}

static void run_share(const void *job, size_t share)
{
    const struct shared_call *c = job;
    const size_t m = share % c->row_parts * c->rows, n = share / c->row_parts * c->columns;
    struct host_linear part = c->linear;
    if (part.weights)
        part.weights += n * part.in_features; /* n starts a panel */
    if (part.bias)
        part.bias += n;
    part.out_features = part.out_features - n < c->columns ? part.out_features - n : c->columns;
    host_linear_forward(&part, c->batch - m < c->rows ? c->batch - m : c->rows, c->x + m * c->ldx, c->ldx,
                        c->y + m * c->ldy + n, c->ldy);
}

/* Divides the call so that each of `threads` gets several shares, by columns first: weights are then read by one thread
 * only. A single row takes two panels at once. */
static size_t divide(struct shared_call *c, double alone, size_t threads)
{
    double wish = SHARES_EACH * (double)threads;
    wish = wish < alone / SHARE_SECONDS_MOST ? alone / SHARE_SECONDS_MOST : wish;
    wish = wish > alone / SHARE_SECONDS_LEAST ? alone / SHARE_SECONDS_LEAST : wish;
    const size_t wanted = wish > SHARES_MOST ? SHARES_MOST : wish < 2 ? 2 : (size_t)wish;
    const size_t step = c->batch == 1 ? 2 * c->linear.panel : c->linear.panel;
    const size_t steps = size_ceil_div(c->linear.out_features, step);
    c->columns = size_ceil_div(steps, steps < wanted ? steps : wanted) * step;
    const size_t column_parts = size_ceil_div(c->linear.out_features, c->columns);
    const size_t most = c->batch / ROWS_LEAST > 1 ? c->batch / ROWS_LEAST : 1;
    const size_t row_parts = size_ceil_div(wanted, column_parts);
    c->rows = size_ceil_div(size_ceil_div(c->batch, row_parts < most ? row_parts : most), ROWS_STEP) * ROWS_STEP;
    c->row_parts = size_ceil_div(c->batch, c->rows);
    return c->row_parts * column_parts;
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    struct shared_call c = {.linear = {.in_features = shape->in_features,
                                       .out_features = shape->out_features,
                                       .panel = shape->panel,
                                       .weights = layer->host_weights,
                                       .bias = layer->host_bias,
                                       .activation = shape->activation},
                            .batch = call->batch,
                            .ldx = call->ldx,
                            .ldy = call->ldy,
                            .x = memory->host_x + call->x_offset,
                            .y = memory->host_y + call->y_offset};
    if (call->x_columns || call->y_columns) {
        host_linear_forward_strided(&c.linear, call->batch, c.x, call->x_columns ? 1 : call->ldx,
                                    call->x_columns ? call->ldx : 1, c.y, call->y_columns ? 1 : call->ldy,
                                    call->y_columns ? call->ldy : 1);
    } else if (executable->configuration.value[TEAM]) {
        const double alone = call_seconds(shape, call->batch);
        const size_t helpers = helpers_for(context, alone);
        opencl_team_run(context, helpers, run_share, &c, divide(&c, alone, helpers + 1));
    } else {
        host_linear_forward(&c.linear, call->batch, c.x, call->ldx, c.y, call->ldy);
    }
    return CLAYER_OK;
}

const struct family family_host = {"host", NULL, parameters, COUNT, refuses, suggest, prepare, launch, NULL};
