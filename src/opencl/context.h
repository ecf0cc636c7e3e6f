/* One device in use: its cl_context, its queue, the kernels built so far, and the lock that makes "set arguments and
 * enqueue" one step. */
#ifndef OPENCL_CONTEXT_H
#define OPENCL_CONTEXT_H

#include "opencl/device.h"
#include "opencl/error.h"

#include <pthread.h>
#include <stdatomic.h>

struct opencl_kernel;

struct opencl_context {
    const struct opencl_api *api;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clayer_device_info info;
    bool out_of_order; /* an application's queue: kernels of one call are chained by events */
    /* A CPU device whose buffers with CL_MEM_USE_HOST_PTR are the host's own memory (tested when the context is made):
     * the host may read and write them whenever nothing is pending. */
    bool shared_memory;
    /* Enqueued so far, and how much of it a wait has seen done. Two counts and no flag: a flag cleared before the wait
     * would tell another thread too early that nothing is pending, one cleared after it might hide newer work. */
    atomic_size_t enqueued, finished;
    pthread_mutex_t lock; /* recursive; held while kernel arguments are set and a call's kernels are enqueued */
    struct opencl_kernel *kernels; /* built so far; under the lock */
};

/* Makes a context and an in-order queue on a device. The failure's detail says which call failed. */
clayer_status opencl_context_create(const struct opencl_device *device, struct opencl_context **context);
/* Makes one around an application's objects, which it retains. */
clayer_status opencl_context_adopt(cl_context context, cl_device_id device, cl_command_queue queue,
                                   struct opencl_context **adopted);
void opencl_context_destroy(struct opencl_context **context);

/* Says that something was enqueued; after the call that did it. */
static inline void opencl_enqueued(struct opencl_context *context)
{
    atomic_fetch_add(&context->enqueued, 1);
}

/* Whether something may still run that was enqueued before. */
static inline bool opencl_pending(struct opencl_context *context)
{
    return atomic_load(&context->finished) != atomic_load(&context->enqueued);
}

/* Waits for everything enqueued so far. */
clayer_status opencl_finish(struct opencl_context *context);

void opencl_lock(struct opencl_context *context);
void opencl_unlock(struct opencl_context *context);

#endif
