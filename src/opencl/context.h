/* One device in use: its cl_context, its queue, the kernels built so far, and the lock that makes "set arguments and
 * enqueue" one step. */
#ifndef OPENCL_CONTEXT_H
#define OPENCL_CONTEXT_H

#include "opencl/device.h"
#include "opencl/error.h"

#include <pthread.h>
#include <stdatomic.h>

struct opencl_kernel;
struct opencl_team;
struct opencl_timer;

struct opencl_context {
    const struct opencl_api *api;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clayer_device_info info;
    bool device_retained;
    bool profiling;             /* the queue measures (opencl/timer.h) */
    struct opencl_timer *timer; /* of the call in progress; under the lock */
    bool adopted;               /* the application's objects: it may enqueue what clayer does not see */
    bool out_of_order;          /* the application's queue: a call's commands are chained by events (opencl/chain.h) */
    /* A CPU device whose buffers with CL_MEM_USE_HOST_PTR are the host's own memory (tested when the context is made):
     * the host may read and write them whenever nothing is pending. Never with an application's objects: buffers are
     * then the driver's own memory, which may be released while commands still use it. */
    bool shared_memory;
    void *kept; /* memory of a buffer that the driver did not give back; as long as the context, or NULL */
    struct opencl_team *team; /* of the device's own threads (opencl/team.h), or NULL */
    /* Enqueued so far, and how much of it a wait has seen done. Two counts and no flag: a flag cleared before the wait
     * would tell another thread too early that nothing is pending, one cleared after it might hide newer work. */
    atomic_size_t enqueued, finished;
    pthread_mutex_t lock; /* recursive; held while kernel arguments are set and a call's kernels are enqueued */
    struct opencl_kernel *kernels; /* built so far; under the lock */
};

/* Makes a context and an in-order queue on a device. The failure's detail says which call failed. */
clayer_status opencl_context_create(const struct opencl_device *device, struct opencl_context **context);
/* An empty one with its lock, for the two ways to fill it (the other is opencl/adopt.h). */
clayer_status opencl_context_allocate(const struct opencl_api *api, struct opencl_context **context);
void opencl_context_destroy(struct opencl_context **context);
/* Whether the driver's compiler builds a small kernel; from the cache of programs where it has done so before. */
clayer_status opencl_context_try(struct opencl_context *context);

/* Says that something was enqueued; after the call that did it. */
static inline void opencl_enqueued(struct opencl_context *context)
{
    atomic_fetch_add(&context->enqueued, 1);
}

/* Whether something may be in the queue that no wait has seen done: clayer's own, or in an application's queue,
 * anyone's.
 */
static inline bool opencl_pending(struct opencl_context *context)
{
    return context->adopted || atomic_load(&context->finished) != atomic_load(&context->enqueued);
}

/* Waits for everything enqueued so far. */
clayer_status opencl_finish(struct opencl_context *context);

void opencl_lock(struct opencl_context *context);
void opencl_unlock(struct opencl_context *context);

#endif
