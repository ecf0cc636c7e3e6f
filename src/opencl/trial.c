/* A device tried out: the whole way of a kernel, with a result that the host knows. */
#include "opencl/device.h"
#include "opencl/context.h"
#include "opencl/error.h"
#include "opencl/program.h"
#include "base/error.h"

#include <string.h>
#include <time.h>

enum {
    ITEMS = 64,
    ROUNDS = 1000, /* a few microseconds on a GPU, so that its timer can show them; under a second on a simulator */
};

static cl_ulong now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cl_ulong)t.tv_sec * 1000000000u + (cl_ulong)t.tv_nsec;
}

/* Event times are believed when they run forwards, are not all the same, and do not exceed the wall clock's. */
static int64_t judge_times(const struct opencl_api *api, cl_event event, cl_ulong wall_ns)
{
    cl_ulong start = 0, end = 0;
    if (api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return 0;
    return start < end && end - start <= wall_ns + wall_ns / 10;
}

static clayer_status check_result(const cl_uint *result, const char *name)
{
    for (cl_uint i = 0; i < ITEMS; i++) {
        cl_uint expected = i;
        for (unsigned j = 0; j < ROUNDS; j++)
            expected = expected * 1664525u + 1013904223u;
        if (result[i] != expected)
            return FAIL(CLAYER_ERROR_DEVICE_UNUSABLE,
                        "device %s computes wrong results: a test kernel wrote %08x, not %08x", name,
                        (unsigned)result[i], (unsigned)expected);
    }
    return CLAYER_OK;
}

/* Runs the kernel twice: the first launch may compile, the second one's times are judged. */
static clayer_status launch(struct opencl_context *c, cl_command_queue queue, bool profiling, cl_kernel kernel,
                            cl_mem buffer, int64_t *timers_plausible)
{
    const struct opencl_api *api = c->api;
    const cl_uint rounds = ROUNDS;
    cl_uint result[ITEMS];
    memset(result, 0xa5, sizeof result);
    CL_TRY(api->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
    CL_TRY(api->clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CL_TRY(api->clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
    const size_t global = ITEMS, local = 1;
    for (int run = 0; run < 2; run++) {
        cl_event event = NULL;
        cl_ulong before = now_ns();
        CL_TRY(api->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
        cl_int code = api->clFinish(queue);
        if (run == 1 && code == CL_SUCCESS && profiling && event)
            *timers_plausible = judge_times(api, event, now_ns() - before);
        if (event)
            api->clReleaseEvent(event);
        if (code != CL_SUCCESS)
            return CL_FAIL(code, "clFinish", "after a test kernel");
    }
    CL_TRY(api->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
    return check_result(result, c->info.name);
}

static clayer_status try_out(struct opencl_context *c, int64_t *timers_plausible)
{
    const struct opencl_api *api = c->api;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem buffer = NULL;
    cl_int code;
    clayer_status status;
    cl_command_queue queue = api->clCreateCommandQueue(c->context, c->device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS)
        queue = NULL; /* no profiling here: the context's plain queue does */
    TRY_GOTO(opencl_program_compile(c, "trial", "", &program));
    kernel = api->clCreateKernel(program, "trial", &code);
    if (code != CL_SUCCESS || !kernel) {
        kernel = NULL;
        status = CL_FAIL(code, "clCreateKernel", "a test kernel");
        goto fail;
    }
    buffer = api->clCreateBuffer(c->context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_uint), NULL, &code);
    if (code != CL_SUCCESS || !buffer) {
        buffer = NULL;
        status = CL_FAIL(code, "clCreateBuffer", "%zu bytes", ITEMS * sizeof(cl_uint));
        goto fail;
    }
    TRY_GOTO(launch(c, queue ? queue : c->queue, queue != NULL, kernel, buffer, timers_plausible));
fail:
    if (buffer)
        api->clReleaseMemObject(buffer);
    if (kernel)
        api->clReleaseKernel(kernel);
    if (program)
        api->clReleaseProgram(program);
    if (queue)
        api->clReleaseCommandQueue(queue);
    return status;
}

clayer_status opencl_context_try(struct opencl_context *c)
{
    cl_program program = NULL;
    TRY(opencl_program_build(c, "trial", "", &program));
    c->api->clReleaseProgram(program);
    return CLAYER_OK;
}

clayer_status opencl_device_try(const struct opencl_device *device, int64_t *timers_plausible)
{
    *timers_plausible = CLAYER_UNKNOWN;
    if (!device->info.usable)
        return FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "%s", device->info.reason);
    struct opencl_context *context = NULL;
    clayer_status status = opencl_context_create(device, &context);
    if (status == CLAYER_OK)
        status = try_out(context, timers_plausible);
    opencl_context_destroy(&context);
    return status == CLAYER_OK ? status : FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "%s", clayer_last_error());
}
