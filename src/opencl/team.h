/* Work in shares for the calling thread and the device's own threads. A CPU driver keeps threads of its own; where it
 * runs native functions (clEnqueueNativeKernel), they can help with a call that the calling thread has already begun,
 * so that nothing waits for them to wake up. Whoever comes too late finds nothing left and leaves. */
#ifndef OPENCL_TEAM_H
#define OPENCL_TEAM_H

#include "opencl/context.h"

/* Does one share of a job; called once for each, by several threads at once, in the caller's floating-point
 * environment. Must not call OpenCL or wait for anything. */
typedef void opencl_share_function(const void *job, size_t share);

#define OPENCL_TEAM_SHARES_MAX 0xffff

struct opencl_team;

/* Whether the device's threads can help. */
static inline bool opencl_team_exists(const struct opencl_context *context)
{
    return context && context->team;
}

/* How many threads besides the calling one it takes at most. */
size_t opencl_team_helpers(const struct opencl_context *context);

/* Makes context->team, or leaves it NULL where the device runs no native functions. Opens nothing yet. */
void opencl_team_create(struct opencl_context *context);
/* Waits until no helper is left. */
void opencl_team_destroy(struct opencl_context *context);

/* Runs shares 0 .. count - 1 and returns when all are done: on the calling thread, on helpers that are still awake from
 * calls before, and on others that are woken until there are `helpers`; or on the calling thread alone when there is no
 * team, it is busy with another call, or its threads cannot be asked. Never
 * fails. Allocates nothing after the first call. count <= OPENCL_TEAM_SHARES_MAX. */
void opencl_team_run(struct opencl_context *context, size_t helpers, opencl_share_function *function, const void *job,
                     size_t count);

#endif
