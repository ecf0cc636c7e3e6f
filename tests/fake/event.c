/* Events: wait lists, callbacks, profiling, and the clocks that lie. */
#include "driver.h"

#include <stdint.h>
#include <stdlib.h>

bool wait_list_open(struct wait_list *list, cl_uint count, const cl_event *waits, const cl_event **list_out)
{
    list->events = list->few;
    *list_out = waits;
    if (!waits || !count) /* the real driver judges a mismatch */
        return true;
    if (count > sizeof list->few / sizeof *list->few)
        list->events = fake_allocate(sizeof *list->events * count);
    *list_out = list->events;
    bool good = true;
    for (cl_uint i = 0; i < count; i++) {
        list->events[i] = REAL_EVENT(waits[i]);
        good = good && list->events[i];
    }
    return good;
}

void wait_list_close(struct wait_list *list)
{
    if (list->events != list->few)
        free(list->events);
}

cl_int enqueue_end(cl_int code, cl_command_queue queue, cl_event made, cl_event *event, const char *text)
{
    if (code != CL_SUCCESS || !event || !made)
        return code;
    struct object *owner = object_find(KIND_QUEUE, queue);
    struct object *object = object_wrap(KIND_EVENT, made, owner ? owner->context : NULL, owner);
    if (text)
        object_describe(object, text);
    *event = (cl_event)object;
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clWaitForEvents(cl_uint count, const cl_event *events)
{
    ENTER(clWaitForEvents, NULL);
    struct wait_list list;
    const cl_event *own;
    cl_int code = CL_INVALID_EVENT;
    if (wait_list_open(&list, count, events, &own))
        code = real.clWaitForEvents(count, own);
    wait_list_close(&list);
    return code;
}

CL_API_ENTRY cl_event CL_API_CALL fake_clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateUserEvent, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_event, KIND_EVENT, real.clCreateUserEvent(CONTEXT_OF(parent), &code), parent, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetUserEventStatus(cl_event event, cl_int status)
{
    ENTER(clSetUserEventStatus, NULL);
    return real.clSetUserEventStatus(REAL_EVENT(event), status);
}

RETAIN_RELEASE(Event, cl_event, KIND_EVENT, CL_INVALID_EVENT);

CL_API_ENTRY cl_int CL_API_CALL fake_clGetEventInfo(cl_event event, cl_event_info query, size_t size, void *value,
                                                    size_t *size_ret)
{
    ENTER_QUERY(clGetEventInfo, NULL);
    const struct object *object = object_find(KIND_EVENT, event);
    if (!object)
        return CL_INVALID_EVENT;
    cl_int code;
    cl_uint references = object_references(object);
    if (query == CL_EVENT_COMMAND_QUEUE)
        code = info_give(&object->owner, sizeof object->owner, size, value, size_ret);
    else if (query == CL_EVENT_CONTEXT)
        code = info_give(&object->context, sizeof object->context, size, value, size_ret);
    else if (query == CL_EVENT_REFERENCE_COUNT)
        code = info_give(&references, sizeof references, size, value, size_ret);
    else
        code = real.clGetEventInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

/* The application may release the event before the callback comes: the callback holds it. */
static void CL_CALLBACK event_done(cl_event event, cl_int status, void *data)
{
    (void)event;
    const struct callback *callback = data;
    struct object *object = callback->object;
    ((void(CL_CALLBACK *)(cl_event, cl_int, void *))callback->function)((cl_event)object, status, callback->user_data);
    object_drop(object);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetEventCallback(cl_event event, cl_int type,
                                                        void(CL_CALLBACK *notify)(cl_event, cl_int, void *),
                                                        void *user_data)
{
    ENTER(clSetEventCallback, NULL);
    struct object *object = object_find(KIND_EVENT, event);
    if (!object || !notify)
        return object ? CL_INVALID_VALUE : CL_INVALID_EVENT;
    struct callback *callback = callback_new(object, (void (*)(void))notify, user_data);
    object_hold(object);
    cl_int code = real.clSetEventCallback(object->real, type, event_done, callback);
    if (code != CL_SUCCESS)
        object_drop(object);
    return code;
}

/* ---- profiling ---- */

/* A repeatable factor in 1 +- percent/100 for one event. */
static double noise(const struct object *event, double percent)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)event >> 4) * 0x9e3779b97f4a7c15u;
    double unit = (double)(mixed >> 11) / (double)(UINT64_C(1) << 53);
    return 1 + (2 * unit - 1) * percent / 100;
}

/* What the lying clock says in place of `time`. */
static cl_ulong lie(const struct effect *effect, const struct object *event, cl_profiling_info query, cl_ulong time)
{
    cl_ulong start = 0, end = 0;
    if (effect->timer == TIMER_ZERO)
        return 0;
    real.clGetEventProfilingInfo(event->real, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    real.clGetEventProfilingInfo(event->real, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (effect->timer == TIMER_BACKWARDS) /* an end before its start, also where both were equal */
        return query == CL_PROFILING_COMMAND_START ? end + 1 : query == CL_PROFILING_COMMAND_END ? start : time;
    double factor = effect->timer == TIMER_NOISE ? noise(event, effect->factor) : effect->factor;
    return query == CL_PROFILING_COMMAND_END ? start + (cl_ulong)((double)(end - start) * factor) : time;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetEventProfilingInfo(cl_event event, cl_profiling_info query, size_t size,
                                                             void *value, size_t *size_ret)
{
    const struct object *object = object_find(KIND_EVENT, event);
    char *text = object_text(object);
    const struct effect effect = fake_enter(FN_clGetEventProfilingInfo, text);
    free(text);
    if (effect.failed || !object)
        return effect.failed ? effect.code : CL_INVALID_EVENT;
    if (!real.clGetEventProfilingInfo)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    cl_int code = real.clGetEventProfilingInfo(object->real, query, size, value, size_ret);
    if (code == CL_SUCCESS && value && effect.timer)
        *(cl_ulong *)value = lie(&effect, object, query, *(cl_ulong *)value);
    return info_scrub(&effect, code, size, value, size_ret);
}
