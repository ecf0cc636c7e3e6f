#include "opencl/timer.h"
#include "base/error.h"
#include "opencl/kernel.h"

#include <stdlib.h>
#include <string.h>

clayer_status opencl_profile(struct opencl_context *c)
{
    cl_command_queue_properties properties = 0;
    CL_TRY(c->api->clGetCommandQueueInfo(c->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    if (!(properties & CL_QUEUE_PROFILING_ENABLE)) {
        if (c->adopted)
            return FAIL(CLAYER_ERROR_UNSUPPORTED, "the application's queue was made without profiling");
        cl_int code;
        cl_command_queue queue = c->api->clCreateCommandQueue(c->context, c->device, CL_QUEUE_PROFILING_ENABLE, &code);
        if (code != CL_SUCCESS || !queue)
            return CL_FAIL(code, "clCreateCommandQueue", "with profiling, device %s", c->info.name);
        c->api->clReleaseCommandQueue(c->queue);
        c->queue = queue;
    }
    c->profiling = true;
    return CLAYER_OK;
}

void opencl_timer_record(struct opencl_context *c, cl_event event)
{
    struct opencl_timer *timer = c->timer;
    if (!timer || !event)
        return;
    if (timer->count == timer->room) {
        const size_t room = timer->room ? 2 * timer->room : 64;
        cl_event *grown = realloc(timer->events, room * sizeof *grown);
        if (!grown)
            return; /* a time is lost, no result */
        timer->events = grown;
        timer->room = room;
    }
    if (c->api->clRetainEvent(event) == CL_SUCCESS)
        timer->events[timer->count++] = event;
}

clayer_status opencl_timer_read(struct opencl_context *c, struct opencl_timer *timer)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    clayer_status status = CLAYER_OK;
    size_t read = 0;
    while (read < timer->count && status == CLAYER_OK) {
        const cl_event event = timer->events[read];
        cl_ulong start = 0, end = 0;
        CL_TRY_GOTO(c->api->clWaitForEvents(1, &event));
        CL_TRY_GOTO(c->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
        CL_TRY_GOTO(c->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        if (end > start)
            timer->seconds += (double)(end - start) * 1e-9;
        c->api->clReleaseEvent(event);
        read++;
    }
fail:
    if (read) /* events may be NULL otherwise */
        memmove(timer->events, timer->events + read, (timer->count - read) * sizeof *timer->events);
    timer->count -= read;
    return status;
}

void opencl_timer_clear(struct opencl_context *c, struct opencl_timer *timer)
{
    for (size_t i = 0; i < timer->count; i++)
        opencl_event_release(c, timer->events[i]);
    free(timer->events);
    *timer = (struct opencl_timer){0};
}
