#include "opencl/kernel.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/log.h"
#include "opencl/program.h"
#include "opencl/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clayer_status make_kernel(struct opencl_context *c, const char *source, const char *options,
                                 const char *identity, struct opencl_kernel **kernel)
{
    clayer_status status;
    struct opencl_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for kernel %s", source);
    k->identity = strdup(identity);
    if (!k->identity)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for kernel %s", source);
    TRY_GOTO(opencl_program_build(c, source, options, &k->program));
    cl_int code;
    k->kernel = c->api->clCreateKernel(k->program, source, &code);
    if (code != CL_SUCCESS || !k->kernel) {
        k->kernel = NULL;
        status = CL_FAIL(code, "clCreateKernel", "kernel %s", source);
        goto fail;
    }
    CL_TRY_GOTO(c->api->clGetKernelWorkGroupInfo(k->kernel, c->device, CL_KERNEL_WORK_GROUP_SIZE,
                                                 sizeof k->max_work_group, &k->max_work_group, NULL));
    *kernel = k;
    return CLAYER_OK;
fail:
    if (k->kernel)
        c->api->clReleaseKernel(k->kernel);
    if (k->program)
        c->api->clReleaseProgram(k->program);
    free(k->identity);
    free(k);
    return status;
}

clayer_status opencl_kernel_get(struct opencl_context *c, const char *source, const char *options,
                                struct opencl_kernel **kernel)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    char identity[512];
    const int length = snprintf(identity, sizeof identity, "%s %s", source, options);
    if (length < 0 || (size_t)length >= sizeof identity)
        return FAIL(CLAYER_ERROR_INTERNAL, "build options of %s are too long", source);
    clayer_status status = CLAYER_OK;
    opencl_lock(c);
    struct opencl_kernel *k = c->kernels;
    while (k && strcmp(k->identity, identity) != 0)
        k = k->next;
    if (!k) {
        status = make_kernel(c, source, options, identity, &k);
        if (status == CLAYER_OK) {
            k->next = c->kernels;
            c->kernels = k;
        }
    }
    opencl_unlock(c);
    if (status == CLAYER_OK)
        *kernel = k;
    return status;
}

void opencl_kernels_release(struct opencl_context *c)
{
    const bool forked = opencl_forked();
    while (c->kernels) {
        struct opencl_kernel *k = c->kernels;
        c->kernels = k->next;
        if (!forked) {
            c->api->clReleaseKernel(k->kernel);
            c->api->clReleaseProgram(k->program);
        }
        free(k->identity);
        free(k);
    }
}

clayer_status opencl_launch(struct opencl_context *c, const struct opencl_kernel *k,
                            const struct opencl_argument *arguments, size_t argument_count, const size_t global[2],
                            const size_t local[2], cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    for (size_t i = 0; i < argument_count; i++) {
        const cl_int code = c->api->clSetKernelArg(k->kernel, (cl_uint)i, arguments[i].size, arguments[i].value);
        if (code != CL_SUCCESS)
            return CL_FAIL(code, "clSetKernelArg", "argument %zu of %s", i, k->identity);
    }
    size_t rounded[2];
    for (int d = 0; d < 2; d++)
        if (!size_round_up(global[d], local[d], &rounded[d]))
            return FAIL(CLAYER_ERROR_TOO_LARGE, "a range of %zu work-items overflows", global[d]);
    cl_event own = NULL, *made = event || !c->timer ? event : &own;
    const cl_int code = c->api->clEnqueueNDRangeKernel(c->queue, k->kernel, 2, NULL, rounded, local, wait_count,
                                                       wait_count ? wait_list : NULL, made);
    if (code != CL_SUCCESS)
        return CL_FAIL(code, "clEnqueueNDRangeKernel", "%s over %zux%zu in groups of %zux%zu", k->identity, rounded[0],
                       rounded[1], local[0], local[1]);
    opencl_enqueued(c);
    if (made)
        opencl_timer_record(c, *made);
    opencl_event_release(c, own);
    return CLAYER_OK;
}

clayer_status opencl_barrier(struct opencl_context *c, cl_uint wait_count, const cl_event *wait_list)
{
    CL_TRY(c->api->clEnqueueBarrierWithWaitList(c->queue, wait_count, wait_count ? wait_list : NULL, NULL));
    return CLAYER_OK;
}

void opencl_event_release(struct opencl_context *c, cl_event event)
{
    if (event && !opencl_forked())
        c->api->clReleaseEvent(event);
}
