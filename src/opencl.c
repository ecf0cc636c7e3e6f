/* Interoperation: contexts on an application's queue, and the layer on its memory objects. */
#include "opencl.h"
#include "base/error.h"

clayer_status clayer_context_create_opencl(const clayer_opencl_context_params *params, clayer_context **context)
{
    REQUIRE(params != NULL && context != NULL);
    REQUIRE(params->queue != NULL);
    clayer_context *c = NULL;
    TRY(context_allocate(params->plan, &c));
    const clayer_status status = opencl_context_adopt(params->context, params->device, params->queue, &c->opencl);
    if (status != CLAYER_OK) {
        context_release(c);
        return status;
    }
    c->info = c->opencl->info;
    context_complete(c, params->profile);
    *context = c;
    return CLAYER_OK;
}

clayer_status clayer_context_get_opencl(const clayer_context *context, cl_context *opencl_context, cl_device_id *device,
                                        cl_command_queue *queue)
{
    REQUIRE(context != NULL);
    if (!context->opencl)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "the host device has no OpenCL objects");
    if (opencl_context)
        *opencl_context = context->opencl->context;
    if (device)
        *device = context->opencl->device;
    if (queue)
        *queue = context->opencl->queue;
    return CLAYER_OK;
}

clayer_status clayer_buffer_get_opencl(const clayer_buffer *buffer, cl_mem *memory)
{
    REQUIRE(buffer != NULL && memory != NULL);
    if (!buffer->context->opencl)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "a buffer of the host device is no OpenCL memory object");
    *memory = buffer->area.memory;
    return CLAYER_OK;
}

static clayer_status resolve(clayer_context *context, const char *what, const clayer_opencl_matrix *matrix,
                             size_t batch, size_t features, bool write, struct opencl_memory *memory,
                             struct operand *operand)
{
    size_t extent;
    TRY(operand_check(what, matrix->layout, matrix->ld, matrix->offset, batch, features, operand, &extent));
    if (!matrix->memory && extent)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: no memory object is given for %zu x %zu elements", what, batch,
                    features);
    if (!matrix->memory)
        return CLAYER_OK;
    TRY(opencl_memory_check(context->opencl, what, matrix->memory, write, memory));
    TRY(operand_fits(what, operand, batch, features, extent, memory->buffer.bytes / sizeof(float)));
    operand->buffer = &memory->buffer;
    return CLAYER_OK;
}

clayer_status interop_check(clayer_context *context, size_t batch, size_t in_features, size_t out_features,
                            const clayer_opencl_matrix *x, const clayer_opencl_matrix *y, cl_uint wait_count,
                            const cl_event *wait_list, struct interop *interop)
{
    *interop = (struct interop){0};
    if (!context->opencl)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "the host device has no OpenCL memory objects");
    TRY(opencl_waits_check(wait_count, wait_list));
    TRY(resolve(context, "x", x, batch, in_features, false, &interop->x_memory, &interop->x));
    TRY(resolve(context, "y", y, batch, out_features, true, &interop->y_memory, &interop->y));
    if (x->memory && y->memory && interop->x_memory.root == interop->y_memory.root)
        TRY(operands_apart(batch, in_features, interop->x_memory.origin / sizeof(float), &interop->x, out_features,
                           interop->y_memory.origin / sizeof(float), &interop->y));
    return CLAYER_OK;
}

clayer_status clayer_linear_forward_opencl(clayer_linear *linear, size_t batch, const clayer_opencl_matrix *x,
                                           const clayer_opencl_matrix *y, cl_uint wait_count, const cl_event *wait_list,
                                           cl_event *event)
{
    if (event)
        *event = NULL;
    REQUIRE(linear != NULL && x != NULL && y != NULL);
    struct interop call;
    const size_t in_features = linear->shape.in_features, out_features = linear->shape.out_features;
    TRY(interop_check(linear->context, batch, in_features, out_features, x, y, wait_count, wait_list, &call));
    if (batch == 0 || out_features == 0)
        return event ? opencl_marker(linear->context->opencl, wait_count, wait_list, event) : CLAYER_OK;
    if (in_features == 0)
        operand_empty_x(linear, batch, &call.x);
    const struct call_memory events = {.wait_count = wait_count, .wait_list = wait_list, .event = event};
    return linear_run(linear, batch, batch, &call.x, &call.y, RUN_ON_DEVICE, &events);
}
