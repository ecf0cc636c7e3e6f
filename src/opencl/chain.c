#include "opencl/chain.h"
#include "base/error.h"
#include "opencl/error.h"
#include "opencl/kernel.h"

#include <stdlib.h>
#include <string.h>

void opencl_guard_release(struct opencl_context *c, struct opencl_guard *guard)
{
    opencl_event_release(c, guard->last);
    guard->last = NULL;
}

clayer_status opencl_chain_begin_calls(struct opencl_chain *chain, struct opencl_context *c, struct opencl_guard *guard,
                                       cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    *chain = (struct opencl_chain){.context = c,
                                   .guard = c->out_of_order ? guard : NULL,
                                   .event = event,
                                   .wait_count = wait_count,
                                   .waits = wait_count ? wait_list : NULL};
    if (!chain->guard || !chain->guard->last)
        return CLAYER_OK;
    chain->joined = malloc(((size_t)wait_count + 1) * sizeof *chain->joined);
    if (!chain->joined)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a list of %zu events", (size_t)wait_count + 1);
    if (wait_count)
        memcpy(chain->joined, wait_list, wait_count * sizeof *wait_list);
    chain->joined[wait_count] = chain->guard->last;
    chain->waits = chain->joined;
    chain->wait_count++;
    return CLAYER_OK;
}

clayer_status opencl_chain_begin(struct opencl_chain *chain, struct opencl_context *c, struct opencl_guard *guard,
                                 cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    TRY(opencl_chain_begin_calls(chain, c, guard, wait_count, wait_list, event));
    chain->timed = c->timer != NULL;
    return CLAYER_OK;
}

void opencl_chain_step(struct opencl_chain *chain, bool last, cl_uint *wait_count, const cl_event **wait_list,
                       cl_event **event)
{
    const bool ordered = !chain->context->out_of_order;
    if (!chain->started) {
        *wait_count = chain->wait_count;
        *wait_list = chain->waits;
    } else {
        *wait_count = ordered ? 0 : 1;
        *wait_list = ordered ? NULL : &chain->previous;
    }
    *event = !ordered || chain->timed || (last && chain->event) ? &chain->next : NULL;
}

void opencl_chain_stepped(struct opencl_chain *chain)
{
    opencl_event_release(chain->context, chain->previous);
    chain->previous = chain->next;
    chain->next = NULL;
    chain->started = true;
}

clayer_status opencl_chain_end(struct opencl_chain *chain, clayer_status status)
{
    struct opencl_context *c = chain->context;
    free(chain->joined);
    const bool handed_out = status == CLAYER_OK && chain->event;
    if (chain->guard && chain->previous) {
        opencl_event_release(c, chain->guard->last);
        chain->guard->last = chain->previous; /* takes the chain's reference over; the caller gets another */
        if (handed_out)
            CL_TRY(c->api->clRetainEvent(chain->previous));
    } else if (!handed_out) {
        opencl_event_release(c, chain->previous);
    }
    if (handed_out)
        *chain->event = chain->previous;
    return status;
}
