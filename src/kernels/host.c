/* host: the calling thread's vector kernel over the same packed weights (src/host). Serves the host device, and small
 * synchronous calls on CPU devices, where waking a worker would cost more than the work. */
#include "host/linear.h"
#include "kernels/family.h"

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    (void)target;
    (void)configuration;
    if (!shape->host)
        return "the packed weights are in the device's own memory";
    if (!call->host)
        return "x or y is in the device's own memory, or the call is asynchronous";
    return NULL;
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    (void)target;
    (void)shape;
    (void)call;
    (void)configuration;
}

static clayer_status prepare(struct opencl_context *context, const struct layer_shape *shape,
                             struct executable *executable)
{
    (void)context;
    (void)shape;
    (void)executable;
    return CLAYER_OK;
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    (void)context;
    (void)executable;
    const struct host_linear linear = {.in_features = shape->in_features,
                                       .out_features = shape->out_features,
                                       .panel = shape->panel,
                                       .weights = layer->host_weights,
                                       .bias = layer->host_bias,
                                       .activation = shape->activation};
    const float *x = memory->host_x + call->x_offset;
    float *y = memory->host_y + call->y_offset;
    if (!call->x_columns && !call->y_columns)
        host_linear_forward(&linear, call->batch, x, call->ldx, y, call->ldy);
    else
        host_linear_forward_strided(&linear, call->batch, x, call->x_columns ? 1 : call->ldx,
                                    call->x_columns ? call->ldx : 1, y, call->y_columns ? 1 : call->ldy,
                                    call->y_columns ? call->ldy : 1);
    return CLAYER_OK;
}

const struct family family_host = {"host", NULL, NULL, 0, refuses, suggest, prepare, launch, NULL};
