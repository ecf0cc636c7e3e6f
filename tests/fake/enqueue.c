/* All other commands. Each is the same: the hook, the handles unwrapped, the real call, its event wrapped. */
#include "driver.h"

#include <stdlib.h>

#define LIST(...) __VA_ARGS__

/* After the hook. `call` is the real call from the queue to the wait list. */
#define ENQUEUE_BODY(name, call)                                                                                       \
    struct wait_list list;                                                                                             \
    const cl_event *own;                                                                                               \
    cl_event made = NULL;                                                                                              \
    cl_int code = CL_INVALID_EVENT_WAIT_LIST;                                                                          \
    if (wait_list_open(&list, count, waits, &own))                                                                     \
        code = real.name(REAL_QUEUE(queue), call, count, own, event ? &made : NULL);                                   \
    wait_list_close(&list);                                                                                            \
    return enqueue_end(code, queue, made, event, NULL)

#define ENQUEUE(name, parameters, arguments)                                                                           \
    CL_API_ENTRY cl_int CL_API_CALL fake_##name(cl_command_queue queue, parameters, cl_uint count,                     \
                                                const cl_event *waits, cl_event *event)                                \
    {                                                                                                                  \
        ENTER(name, NULL);                                                                                             \
        ENQUEUE_BODY(name, LIST(arguments));                                                                           \
    }                                                                                                                  \
    struct object /* takes the semicolon */

ENQUEUE(clEnqueueReadBuffer, LIST(cl_mem mem, cl_bool blocking, size_t offset, size_t size, void *host),
        LIST(REAL_MEM(mem), blocking, offset, size, host));

ENQUEUE(clEnqueueWriteBuffer, LIST(cl_mem mem, cl_bool blocking, size_t offset, size_t size, const void *host),
        LIST(REAL_MEM(mem), blocking, offset, size, host));

ENQUEUE(clEnqueueReadBufferRect,
        LIST(cl_mem mem, cl_bool blocking, const size_t *origin, const size_t *host_origin, const size_t *region,
             size_t row, size_t slice, size_t host_row, size_t host_slice, void *host),
        LIST(REAL_MEM(mem), blocking, origin, host_origin, region, row, slice, host_row, host_slice, host));

ENQUEUE(clEnqueueWriteBufferRect,
        LIST(cl_mem mem, cl_bool blocking, const size_t *origin, const size_t *host_origin, const size_t *region,
             size_t row, size_t slice, size_t host_row, size_t host_slice, const void *host),
        LIST(REAL_MEM(mem), blocking, origin, host_origin, region, row, slice, host_row, host_slice, host));

ENQUEUE(clEnqueueCopyBuffer, LIST(cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size),
        LIST(REAL_MEM(from), REAL_MEM(to), from_offset, to_offset, size));

ENQUEUE(clEnqueueCopyBufferRect,
        LIST(cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin, const size_t *region,
             size_t from_row, size_t from_slice, size_t to_row, size_t to_slice),
        LIST(REAL_MEM(from), REAL_MEM(to), from_origin, to_origin, region, from_row, from_slice, to_row, to_slice));

ENQUEUE(clEnqueueFillBuffer, LIST(cl_mem mem, const void *pattern, size_t pattern_size, size_t offset, size_t size),
        LIST(REAL_MEM(mem), pattern, pattern_size, offset, size));

ENQUEUE(clEnqueueReadImage,
        LIST(cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region, size_t row, size_t slice,
             void *host),
        LIST(REAL_MEM(image), blocking, origin, region, row, slice, host));

ENQUEUE(clEnqueueWriteImage,
        LIST(cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region, size_t row, size_t slice,
             const void *host),
        LIST(REAL_MEM(image), blocking, origin, region, row, slice, host));

ENQUEUE(clEnqueueCopyImage,
        LIST(cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin, const size_t *region),
        LIST(REAL_MEM(from), REAL_MEM(to), from_origin, to_origin, region));

ENQUEUE(clEnqueueFillImage, LIST(cl_mem image, const void *color, const size_t *origin, const size_t *region),
        LIST(REAL_MEM(image), color, origin, region));

ENQUEUE(clEnqueueCopyImageToBuffer,
        LIST(cl_mem image, cl_mem buffer, const size_t *origin, const size_t *region, size_t offset),
        LIST(REAL_MEM(image), REAL_MEM(buffer), origin, region, offset));

ENQUEUE(clEnqueueCopyBufferToImage,
        LIST(cl_mem buffer, cl_mem image, size_t offset, const size_t *origin, const size_t *region),
        LIST(REAL_MEM(buffer), REAL_MEM(image), offset, origin, region));

ENQUEUE(clEnqueueUnmapMemObject, LIST(cl_mem mem, void *mapped), LIST(REAL_MEM(mem), mapped));

ENQUEUE(clEnqueueSVMMemcpy, LIST(cl_bool blocking, void *to, const void *from, size_t size),
        LIST(blocking, to, from, size));

ENQUEUE(clEnqueueSVMMemFill, LIST(void *to, const void *pattern, size_t pattern_size, size_t size),
        LIST(to, pattern, pattern_size, size));

ENQUEUE(clEnqueueSVMMap, LIST(cl_bool blocking, cl_map_flags flags, void *pointer, size_t size),
        LIST(blocking, flags, pointer, size));

ENQUEUE(clEnqueueSVMUnmap, LIST(void *pointer), LIST(pointer));

ENQUEUE(clEnqueueSVMMigrateMem,
        LIST(cl_uint pointer_count, const void **pointers, const size_t *sizes, cl_mem_migration_flags flags),
        LIST(pointer_count, pointers, sizes, flags));

/* ---- the ones that are not quite the same ---- */

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint mem_count,
                                                                const cl_mem *mems, cl_mem_migration_flags flags,
                                                                cl_uint count, const cl_event *waits, cl_event *event)
{
    ENTER(clEnqueueMigrateMemObjects, NULL);
    cl_mem few[16];
    if (!mems || mem_count > sizeof few / sizeof *few)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < mem_count; i++)
        few[i] = REAL_MEM(mems[i]);
    ENQUEUE_BODY(clEnqueueMigrateMemObjects, LIST(mem_count, few, flags));
}

CL_API_ENTRY void *CL_API_CALL fake_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                       cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                                       const cl_event *waits, cl_event *event, cl_int *errcode_ret)
{
    ENTER_CREATE(clEnqueueMapBuffer, NULL);
    struct wait_list list;
    const cl_event *own;
    cl_event made = NULL;
    void *mapped = NULL;
    code = CL_INVALID_EVENT_WAIT_LIST;
    if (wait_list_open(&list, count, waits, &own))
        mapped = real.clEnqueueMapBuffer(REAL_QUEUE(queue), REAL_MEM(mem), blocking, flags, offset, size, count, own,
                                         event ? &made : NULL, &code);
    wait_list_close(&list);
    enqueue_end(code, queue, made, event, NULL);
    if (errcode_ret)
        *errcode_ret = code;
    return mapped;
}

CL_API_ENTRY void *CL_API_CALL fake_clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                      cl_map_flags flags, const size_t *origin, const size_t *region,
                                                      size_t *row, size_t *slice, cl_uint count, const cl_event *waits,
                                                      cl_event *event, cl_int *errcode_ret)
{
    ENTER_CREATE(clEnqueueMapImage, NULL);
    struct wait_list list;
    const cl_event *own;
    cl_event made = NULL;
    void *mapped = NULL;
    code = CL_INVALID_EVENT_WAIT_LIST;
    if (wait_list_open(&list, count, waits, &own))
        mapped = real.clEnqueueMapImage(REAL_QUEUE(queue), REAL_MEM(image), blocking, flags, origin, region, row, slice,
                                        count, own, event ? &made : NULL, &code);
    wait_list_close(&list);
    enqueue_end(code, queue, made, event, NULL);
    if (errcode_ret)
        *errcode_ret = code;
    return mapped;
}

/* With memory objects its function would get their handles inside a copied block of arguments; clayer never does that. */
CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
                                                           void *arguments, size_t size, cl_uint mem_count,
                                                           const cl_mem *mems, const void **locations, cl_uint count,
                                                           const cl_event *waits, cl_event *event)
{
    (void)mems, (void)locations;
    ENTER(clEnqueueNativeKernel, NULL);
    if (mem_count > 0)
        return CL_INVALID_OPERATION;
    struct wait_list list;
    const cl_event *own;
    cl_event made = NULL;
    cl_int code = CL_INVALID_EVENT_WAIT_LIST;
    if (wait_list_open(&list, count, waits, &own))
        code = real.clEnqueueNativeKernel(REAL_QUEUE(queue), function, arguments, size, 0, NULL, NULL, count, own,
                                          event ? &made : NULL);
    wait_list_close(&list);
    return enqueue_end(code, queue, made, event, NULL);
}

#define ENQUEUE_WAITS(name)                                                                                            \
    CL_API_ENTRY cl_int CL_API_CALL fake_##name(cl_command_queue queue, cl_uint count, const cl_event *waits,          \
                                                cl_event *event)                                                       \
    {                                                                                                                  \
        ENTER(name, NULL);                                                                                             \
        struct wait_list list;                                                                                         \
        const cl_event *own;                                                                                           \
        cl_event made = NULL;                                                                                          \
        cl_int code = CL_INVALID_EVENT_WAIT_LIST;                                                                      \
        if (wait_list_open(&list, count, waits, &own))                                                                 \
            code = real.name(REAL_QUEUE(queue), count, own, event ? &made : NULL);                                     \
        wait_list_close(&list);                                                                                        \
        return enqueue_end(code, queue, made, event, NULL);                                                            \
    }                                                                                                                  \
    struct object /* takes the semicolon */

ENQUEUE_WAITS(clEnqueueMarkerWithWaitList);
ENQUEUE_WAITS(clEnqueueBarrierWithWaitList);

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
    ENTER(clEnqueueMarker, NULL);
    cl_event made = NULL;
    cl_int code = real.clEnqueueMarker(REAL_QUEUE(queue), event ? &made : NULL);
    return enqueue_end(code, queue, made, event, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueBarrier(cl_command_queue queue)
{
    ENTER(clEnqueueBarrier, NULL);
    return real.clEnqueueBarrier(REAL_QUEUE(queue));
}

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
                                                            const cl_event *waits)
{
    ENTER(clEnqueueWaitForEvents, NULL);
    struct wait_list list;
    const cl_event *own;
    cl_int code = CL_INVALID_EVENT;
    if (wait_list_open(&list, count, waits, &own))
        code = real.clEnqueueWaitForEvents(REAL_QUEUE(queue), count, own);
    wait_list_close(&list);
    return code;
}

/* The callback would get the real queue: only the form without one. */
CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueSVMFree(cl_command_queue queue, cl_uint pointer_count, void *pointers[],
                                                      void(CL_CALLBACK *free_function)(cl_command_queue, cl_uint,
                                                                                       void *[], void *),
                                                      void *user_data, cl_uint count, const cl_event *waits,
                                                      cl_event *event)
{
    ENTER(clEnqueueSVMFree, NULL);
    if (free_function)
        return CL_INVALID_OPERATION;
    ENQUEUE_BODY(clEnqueueSVMFree, LIST(pointer_count, pointers, NULL, user_data));
}
