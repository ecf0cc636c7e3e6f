/* What stands behind clayer_context. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "plan/plan.h"

#include <clayer/context.h>
#include <stdatomic.h>

struct clayer_context {
    atomic_int references; /* the caller's, and one for each buffer and layer */
    clayer_device_info info;
    struct opencl_context *opencl; /* NULL on the host device */
    struct target target;
    struct plan_request request; /* a plan forced for every layer */
    /* Staging for calls on host memory; grown on demand and used under the OpenCL context's lock. */
    struct opencl_buffer stage_x, stage_y;
};

clayer_context *context_retain(clayer_context *context);
void context_release(clayer_context *context);

/* Makes a staging buffer at least this large. */
clayer_status context_stage(clayer_context *context, struct opencl_buffer *stage, size_t bytes);

#endif
