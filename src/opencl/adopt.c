#include "opencl/adopt.h"
#include "base/error.h"
#include "base/text.h"
#include "opencl/capabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list's entry for a device, or for the device that a sub-device is part of. */
static const struct opencl_device *find_listed(const struct opencl_device_list *list, cl_device_id device)
{
    for (size_t i = 0; i < list->count + list->hidden_count; i++)
        if (list->devices[i].device == device) /* the hidden ones follow */
            return &list->devices[i];
    return NULL;
}

/* Describes a device that may be a sub-device, or come from a platform that is not in the list. */
static clayer_status describe_device(const struct opencl_api *api, cl_device_id device, clayer_device_info *info)
{
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    const struct opencl_device *listed = find_listed(list, device);
    if (listed) {
        *info = listed->info;
        return CLAYER_OK;
    }
    struct opencl_device own = {.device = device};
    opencl_capabilities(api, &own);
    *info = own.info;
    info->index = info->platform_index = info->platform_device_index = -1;
    cl_device_id parent = NULL;
    if (api->clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL) == CL_SUCCESS && parent)
        listed = find_listed(list, parent);
    if (listed) {
        snprintf(info->id, sizeof info->id, "%s", listed->info.id);
        snprintf(info->platform, sizeof info->platform, "%s", listed->info.platform);
        info->platform_index = listed->info.platform_index;
    } else {
        cl_platform_id platform = NULL;
        CL_TRY(api->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
        opencl_platform_text(api, platform, CL_PLATFORM_NAME, info->platform, sizeof info->platform);
    }
    if (text_contains(info->platform, "oclgrind"))
        info->type = CLAYER_DEVICE_SIMULATOR;
    return CLAYER_OK;
}

clayer_status opencl_context_adopt(cl_context context, cl_device_id device, cl_command_queue queue,
                                   struct opencl_context **adopted)
{
    clayer_status status = CLAYER_OK;
    const struct opencl_api *api;
    TRY(opencl_load(&api));
    cl_context owner = NULL;
    cl_device_id target = NULL;
    cl_command_queue_properties properties = 0;
    CL_TRY(api->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof owner, &owner, NULL));
    CL_TRY(api->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof target, &target, NULL));
    CL_TRY(api->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    if (context && context != owner)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "the queue belongs to another context");
    if (device && device != target)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "the queue belongs to another device");
    if (properties & CL_QUEUE_ON_DEVICE)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                    "the queue is on the device: host commands cannot be enqueued there");

    struct opencl_context *c = NULL;
    TRY(opencl_context_allocate(api, &c));
    c->device = target;
    c->adopted = true;
    c->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    TRY_GOTO(describe_device(api, target, &c->info));
    /* Contexts and queues should keep a sub-device alive; PoCL's do not. Root devices are not counted. */
    CL_TRY_GOTO(api->clRetainDevice(target));
    c->device_retained = true;
    CL_TRY_GOTO(api->clRetainContext(owner));
    c->context = owner;
    CL_TRY_GOTO(api->clRetainCommandQueue(queue));
    c->queue = queue;
    *adopted = c;
    return CLAYER_OK;
fail:
    opencl_context_destroy(&c);
    return status;
}

clayer_status opencl_memory_check(struct opencl_context *c, const char *what, cl_mem memory, bool write,
                                  struct opencl_memory *checked)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    const struct opencl_api *api = c->api;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    cl_context owner = NULL;
    cl_mem parent = NULL;
    struct opencl_memory m = {.buffer.memory = memory, .root = memory};
    CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL));
    CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof owner, &owner, NULL));
    CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof m.buffer.bytes, &m.buffer.bytes, NULL));
    CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    if (type != CL_MEM_OBJECT_BUFFER)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: the memory object is no buffer (type 0x%x)", what,
                    (unsigned)type);
    if (owner != c->context)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: the buffer belongs to another OpenCL context", what);
    if (flags & (write ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: the buffer is %s for kernels", what,
                    write ? "read-only" : "write-only");
    if (parent) {
        m.root = parent;
        CL_TRY(api->clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof m.origin, &m.origin, NULL));
    }
    *checked = m;
    return CLAYER_OK;
}

clayer_status opencl_waits_check(cl_uint wait_count, const cl_event *wait_list)
{
    if (wait_count && !wait_list)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "a wait list of %u events is NULL", (unsigned)wait_count);
    for (cl_uint i = 0; i < wait_count; i++)
        if (!wait_list[i])
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "event %u of %u in the wait list is NULL", (unsigned)i,
                        (unsigned)wait_count);
    return CLAYER_OK;
}

clayer_status opencl_marker(struct opencl_context *c, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    CL_TRY(c->api->clEnqueueMarkerWithWaitList(c->queue, wait_count, wait_count ? wait_list : NULL, event));
    return CLAYER_OK;
}
