/* What stands behind clayer_context. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "plan/plan.h"

#include <clayer/context.h>
#include <pthread.h>
#include <stdatomic.h>

struct clayer_context {
    atomic_int references; /* the caller's, and one for each buffer and layer */
    clayer_device_info info;
    struct opencl_context *opencl; /* NULL on the host device */
    struct target target;
    bool profile;                /* calls are counted and measured */
    struct plan_request request; /* a plan forced for every layer */
    pthread_mutex_t store_lock;  /* guards opening it */
    struct store *store;         /* NULL before the first plan */
    /* Staging for calls on host memory; grown on demand and used under the OpenCL context's lock. */
    struct opencl_buffer stage_x, stage_y;
    struct opencl_guard order; /* the last call without events, for those that follow */
};

/* A context without a device yet, with the plan that the caller or CLAYER_PLAN forces; then, once info and opencl are
 * set, what follows from them. */
clayer_status context_allocate(const char *plan, clayer_context **context);
void context_complete(clayer_context *context, bool profile);

clayer_context *context_retain(clayer_context *context);
void context_release(clayer_context *context);

/* The tuning records for this device, read from disk at the first call. NULL on the host device, which has one plan,
 * and where memory is out. */
struct store *context_store(clayer_context *context);

/* Makes a staging buffer at least this large. */
clayer_status context_stage(clayer_context *context, struct opencl_buffer *stage, size_t bytes);

#endif
