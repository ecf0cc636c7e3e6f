/* Order of a call's commands. An in-order queue gives it; in an application's out-of-order queue every command waits
 * for the event of the one before, and calls that share memory (a workspace, a model's buffers between layers) wait for
 * the last that used it. Explicit events and no barriers: a barrier would also wait for whatever else the application
 * has in its queue. The caller holds the context's lock throughout, or, for a chain of whole calls, what else orders the
 * calls that use the guard. */
#ifndef OPENCL_CHAIN_H
#define OPENCL_CHAIN_H

#include "opencl/context.h"

/* The last command that used memory shared between calls; {0} at first. */
struct opencl_guard {
    cl_event last;
};

void opencl_guard_release(struct opencl_context *context, struct opencl_guard *guard);

struct opencl_chain {
    struct opencl_context *context;
    struct opencl_guard *guard;
    cl_event *event;       /* the caller's, or NULL */
    cl_event previous;     /* of the step before */
    cl_event next;         /* receives the current step's */
    bool timed;            /* the context's timer wants every step's event */
    bool started;          /* a step has been enqueued */
    cl_uint wait_count;    /* what the first step waits for: the caller's list and the guard */
    const cl_event *waits; /* the caller's list, or `joined` */
    cl_event *joined;      /* on the heap */
};

/* guard may be NULL; event NULL, or receives one that stands for all steps. */
clayer_status opencl_chain_begin(struct opencl_chain *chain, struct opencl_context *context, struct opencl_guard *guard,
                                 cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/* The same for steps that are calls, each of which takes the context's lock and times its own commands. */
clayer_status opencl_chain_begin_calls(struct opencl_chain *chain, struct opencl_context *context,
                                       struct opencl_guard *guard, cl_uint wait_count, const cl_event *wait_list,
                                       cl_event *event);

/* What the next command is to wait for, and where its event goes (NULL when nobody needs one). */
void opencl_chain_step(struct opencl_chain *chain, bool last, cl_uint *wait_count, const cl_event **wait_list,
                       cl_event **event);

/* The step's command is in the queue. */
void opencl_chain_stepped(struct opencl_chain *chain);

/* Ends the chain, after all steps or with the failure that stopped them, and hands the event to the caller on success.
 * Returns `status`, or why the event can't be had. */
clayer_status opencl_chain_end(struct opencl_chain *chain, clayer_status status);

#endif
