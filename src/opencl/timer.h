/* Device times of kernels, from the events of a queue with profiling. */
#ifndef OPENCL_TIMER_H
#define OPENCL_TIMER_H

#include "opencl/context.h"

/* Collects the events of commands; read later, so that measuring does not wait. All under the context's lock. */
struct opencl_timer {
    cl_event *events;
    size_t count, room;
    double seconds; /* of the events that were read */
};

/* Gives the context a queue with profiling, or finds that an application's has it. On failure the queue stays as it
 * was. */
clayer_status opencl_profile(struct opencl_context *context);

/* Keeps an event for the context's current timer, if it has one. */
void opencl_timer_record(struct opencl_context *context, cl_event event);

/* Waits for the collected commands and adds their times to `seconds`. */
clayer_status opencl_timer_read(struct opencl_context *context, struct opencl_timer *timer);
/* Forgets everything. */
void opencl_timer_clear(struct opencl_context *context, struct opencl_timer *timer);

#endif
