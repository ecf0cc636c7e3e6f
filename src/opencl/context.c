#include "opencl/context.h"
#include "base/error.h"
#include "base/log.h"
#include "opencl/buffer.h"
#include "opencl/kernel.h"
#include "opencl/team.h"

#include <stdlib.h>

static bool unmap(struct opencl_context *c, cl_mem buffer, void *mapped)
{
    return c->api->clEnqueueUnmapMemObject(c->queue, buffer, mapped, 0, NULL, NULL) == CL_SUCCESS;
}

/* Whether a CL_MEM_USE_HOST_PTR buffer of this CPU device is the host's memory itself. */
static bool shares_memory(struct opencl_context *c)
{
    if (c->info.type != CLAYER_DEVICE_CPU)
        return false;
    const size_t bytes = 4096;
    void *memory = aligned_alloc(OPENCL_ALIGNMENT, bytes);
    if (!memory)
        return false;
    cl_int code;
    bool same = false, returned = true;
    cl_mem buffer = c->api->clCreateBuffer(c->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code);
    if (code == CL_SUCCESS && buffer) {
        void *mapped =
            c->api->clEnqueueMapBuffer(c->queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &code);
        if (code == CL_SUCCESS) {
            same = mapped == memory;
            /* A buffer that stays mapped keeps the context alive for ever (PoCL: 100 MiB with its compiler) and the
             * memory in use, so a second attempt is due. */
            returned = unmap(c, buffer, mapped) || unmap(c, buffer, mapped);
            returned =
                returned && (c->api->clFinish(c->queue) == CL_SUCCESS || c->api->clFinish(c->queue) == CL_SUCCESS);
        }
        c->api->clReleaseMemObject(buffer);
    }
    if (!returned)
        c->kept = memory;
    else
        free(memory);
    return same && returned;
}

clayer_status opencl_context_allocate(const struct opencl_api *api, struct opencl_context **context)
{
    struct opencl_context *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a context");
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&c->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    c->api = api;
    *context = c;
    return CLAYER_OK;
}

clayer_status opencl_context_create(const struct opencl_device *device, struct opencl_context **context)
{
    struct opencl_context *c = NULL;
    const struct opencl_api *api;
    clayer_status status;
    TRY(opencl_load(&api));
    TRY(opencl_context_allocate(api, &c));
    c->device = device->device;
    c->info = device->info;
    cl_int code;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
    c->context = c->api->clCreateContext(properties, 1, &c->device, NULL, NULL, &code);
    if (code != CL_SUCCESS || !c->context) {
        c->context = NULL;
        status = CL_FAIL(code, "clCreateContext", "device %s", c->info.name);
        goto fail;
    }
    c->queue = c->api->clCreateCommandQueue(c->context, c->device, 0, &code);
    if (code != CL_SUCCESS || !c->queue) {
        c->queue = NULL;
        status = CL_FAIL(code, "clCreateCommandQueue", "device %s", c->info.name);
        goto fail;
    }
    c->shared_memory = shares_memory(c);
    opencl_team_create(c);
    *context = c;
    return CLAYER_OK;
fail:
    opencl_context_destroy(&c);
    return status;
}

void opencl_context_destroy(struct opencl_context **context)
{
    struct opencl_context *c = *context;
    if (!c)
        return;
    *context = NULL;
    /* PoCL compiles at the first launch, on a thread of its own; a process that ends meanwhile may crash in there. An
     * application's queue is the application's to wait for: it may hold work that waits for the application itself. */
    if (!c->adopted && opencl_pending(c) && !opencl_forked())
        c->api->clFinish(c->queue);
    opencl_team_destroy(c);
    opencl_kernels_release(c);
    if (!opencl_forked()) {
        if (c->queue)
            c->api->clReleaseCommandQueue(c->queue);
        if (c->context)
            c->api->clReleaseContext(c->context);
        if (c->device_retained)
            c->api->clReleaseDevice(c->device);
    }
    pthread_mutex_destroy(&c->lock);
    free(c->kept);
    free(c);
}

clayer_status opencl_finish(struct opencl_context *c)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    if (!opencl_pending(c))
        return CLAYER_OK;
    const size_t enqueued = atomic_load(&c->enqueued);
    CL_TRY(c->api->clFinish(c->queue));
    size_t finished = atomic_load(&c->finished);
    while (finished < enqueued && !atomic_compare_exchange_weak(&c->finished, &finished, enqueued))
        ;
    return CLAYER_OK;
}

void opencl_lock(struct opencl_context *c)
{
    pthread_mutex_lock(&c->lock);
}

void opencl_unlock(struct opencl_context *c)
{
    pthread_mutex_unlock(&c->lock);
}
