/* Contexts and command queues. */
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For rules: "device 0 device 1 ...". */
static void describe_devices(cl_uint count, const cl_device_id *devices, char *text, size_t room)
{
    size_t length = 0;
    *text = 0;
    for (cl_uint i = 0; devices && i < count && length + 16 < room; i++) {
        const struct object *device = object_find(KIND_DEVICE, devices[i]);
        length +=
            (size_t)snprintf(text + length, room - length, "%sdevice %d", i ? " " : "", device ? device->index : -1);
    }
}

static cl_uint properties_length(const cl_context_properties *properties)
{
    cl_uint length = 0;
    while (properties && properties[length])
        length += 2;
    return length;
}

/* The common part of both creates: unwraps properties and devices, and remembers what the application named, since
 * CL_CONTEXT_PROPERTIES and CL_CONTEXT_DEVICES give that back. */
static cl_context create(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user_data,
                         cl_int *errcode_ret)
{
    cl_int code = CL_SUCCESS;
    cl_uint length = properties_length(properties);
    cl_context_properties *own = fake_allocate(sizeof *own * (length + 1));
    for (cl_uint i = 0; i < length; i += 2) {
        own[i] = properties[i];
        own[i + 1] = properties[i + 1];
        if (properties[i] == CL_CONTEXT_PLATFORM) {
            own[i + 1] = (cl_context_properties)object_real(KIND_PLATFORM, (const void *)properties[i + 1]);
            if (!own[i + 1])
                code = CL_INVALID_PLATFORM;
        }
    }
    cl_device_id *unwrapped = devices ? fake_allocate(sizeof *unwrapped * count) : NULL;
    for (cl_uint i = 0; devices && i < count; i++) {
        unwrapped[i] = REAL_DEVICE(devices[i]);
        if (!unwrapped[i])
            code = CL_INVALID_DEVICE;
    }
    cl_context context = NULL;
    if (code == CL_SUCCESS)
        context = real.clCreateContext(properties ? own : NULL, count, unwrapped, notify, user_data, &code);
    struct object *object = object_wrap(KIND_CONTEXT, context, NULL, NULL);
    if (object) {
        object->devices = fake_allocate(sizeof *object->devices * count);
        memcpy(object->devices, devices, sizeof *object->devices * count);
        object->device_count = count;
        for (cl_uint i = 0; i < length; i++)
            own[i] = properties[i];
        object->properties = own;
        object->property_count = properties ? length + 1 : 0;
        own = NULL;
    }
    free(own);
    free(unwrapped);
    if (errcode_ret)
        *errcode_ret = code;
    return (cl_context)object;
}

CL_API_ENTRY cl_context CL_API_CALL fake_clCreateContext(
    const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    char text[512];
    describe_devices(num_devices, devices, text, sizeof text);
    ENTER_CREATE(clCreateContext, text);
    (void)code;
    return create(properties, num_devices, devices, notify, user_data, errcode_ret);
}

CL_API_ENTRY cl_context CL_API_CALL fake_clCreateContextFromType(
    const cl_context_properties *properties, cl_device_type type,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    enum { ROOM = 64 };
    ENTER_CREATE(clCreateContextFromType, NULL);
    const struct object *platform = platform_first();
    for (cl_uint i = 0; i < properties_length(properties); i += 2)
        if (properties[i] == CL_CONTEXT_PLATFORM)
            platform = object_find(KIND_PLATFORM, (const void *)properties[i + 1]);
    struct object *devices[ROOM];
    cl_uint count = platform ? platform_devices(platform, type, ROOM, devices) : 0;
    if (!count) {
        code = platform ? CL_DEVICE_NOT_FOUND : CL_INVALID_PLATFORM;
        if (errcode_ret)
            *errcode_ret = code;
        return NULL;
    }
    return create(properties, count, (const cl_device_id *)devices, notify, user_data, errcode_ret);
}

RETAIN_RELEASE(Context, cl_context, KIND_CONTEXT, CL_INVALID_CONTEXT);

CL_API_ENTRY cl_int CL_API_CALL fake_clGetContextInfo(cl_context context, cl_context_info query, size_t size,
                                                      void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetContextInfo, NULL);
    const struct object *object = object_find(KIND_CONTEXT, context);
    if (!object)
        return CL_INVALID_CONTEXT;
    cl_int code;
    cl_uint references = object_references(object);
    switch (query) {
    case CL_CONTEXT_DEVICES:
        code = info_give(object->devices, sizeof *object->devices * object->device_count, size, value, size_ret);
        break;
    case CL_CONTEXT_NUM_DEVICES:
        code = info_give(&object->device_count, sizeof object->device_count, size, value, size_ret);
        break;
    case CL_CONTEXT_PROPERTIES:
        code =
            info_give(object->properties, sizeof *object->properties * object->property_count, size, value, size_ret);
        break;
    case CL_CONTEXT_REFERENCE_COUNT:
        code = info_give(&references, sizeof references, size, value, size_ret);
        break;
    default:
        code = real.clGetContextInfo(object->real, query, size, value, size_ret);
    }
    return info_scrub(&effect, code, size, value, size_ret);
}

static void CL_CALLBACK context_destroyed(cl_context context, void *data)
{
    (void)context;
    struct callback *callback = data;
    ((void(CL_CALLBACK *)(cl_context, void *))callback->function)((cl_context)callback->object, callback->user_data);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetContextDestructorCallback(cl_context context,
                                                                    void(CL_CALLBACK *notify)(cl_context, void *),
                                                                    void *user_data)
{
    ENTER(clSetContextDestructorCallback, NULL);
    struct object *object = object_find(KIND_CONTEXT, context);
    if (!object || !notify)
        return object ? CL_INVALID_VALUE : CL_INVALID_CONTEXT;
    struct callback *callback = callback_new(object, (void (*)(void))notify, user_data);
    return real.clSetContextDestructorCallback(object->real, context_destroyed, callback);
}

/* ---- queues ---- */

static void describe_queue(cl_device_id device, cl_command_queue_properties properties, char *text, size_t room)
{
    describe_devices(1, &device, text, room);
    if (properties & CL_QUEUE_PROFILING_ENABLE)
        strcat(text, " profiling");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        strcat(text, " out-of-order");
}

static cl_command_queue wrap_queue(cl_command_queue queue, struct object *context, struct object *device)
{
    struct object *object = object_wrap(KIND_QUEUE, queue, context, NULL);
    if (object) {
        object->devices = fake_allocate(sizeof *object->devices);
        object->devices[0] = device;
        object->device_count = 1;
    }
    return (cl_command_queue)object;
}

CL_API_ENTRY cl_command_queue CL_API_CALL fake_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                                    cl_command_queue_properties properties,
                                                                    cl_int *errcode_ret)
{
    char text[64];
    describe_queue(device, properties, text, sizeof text);
    ENTER_CREATE(clCreateCommandQueue, text);
    struct object *parent = object_find(KIND_CONTEXT, context), *on = object_find(KIND_DEVICE, device);
    cl_command_queue queue =
        real.clCreateCommandQueue(parent ? parent->real : NULL, on ? on->real : NULL, properties, &code);
    if (errcode_ret)
        *errcode_ret = code;
    return wrap_queue(queue, parent, on);
}

CL_API_ENTRY cl_command_queue CL_API_CALL fake_clCreateCommandQueueWithProperties(cl_context context,
                                                                                  cl_device_id device,
                                                                                  const cl_queue_properties *properties,
                                                                                  cl_int *errcode_ret)
{
    char text[64];
    cl_command_queue_properties bits = 0;
    for (const cl_queue_properties *at = properties; at && *at; at += 2)
        if (at[0] == CL_QUEUE_PROPERTIES)
            bits = at[1];
    describe_queue(device, bits, text, sizeof text);
    ENTER_CREATE(clCreateCommandQueueWithProperties, text);
    struct object *parent = object_find(KIND_CONTEXT, context), *on = object_find(KIND_DEVICE, device);
    cl_command_queue queue =
        real.clCreateCommandQueueWithProperties(parent ? parent->real : NULL, on ? on->real : NULL, properties, &code);
    if (errcode_ret)
        *errcode_ret = code;
    return wrap_queue(queue, parent, on);
}

RETAIN_RELEASE(CommandQueue, cl_command_queue, KIND_QUEUE, CL_INVALID_COMMAND_QUEUE);

CL_API_ENTRY cl_int CL_API_CALL fake_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info query,
                                                           size_t size, void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetCommandQueueInfo, NULL);
    const struct object *object = object_find(KIND_QUEUE, queue);
    if (!object)
        return CL_INVALID_COMMAND_QUEUE;
    cl_int code;
    cl_uint references = object_references(object);
    switch (query) {
    case CL_QUEUE_CONTEXT:
        code = info_give(&object->context, sizeof object->context, size, value, size_ret);
        break;
    case CL_QUEUE_DEVICE:
        code = info_give(object->devices, sizeof *object->devices, size, value, size_ret);
        break;
    case CL_QUEUE_REFERENCE_COUNT:
        code = info_give(&references, sizeof references, size, value, size_ret);
        break;
    case CL_QUEUE_DEVICE_DEFAULT:
        code = CL_INVALID_VALUE;
        break;
    default:
        code = real.clGetCommandQueueInfo(object->real, query, size, value, size_ret);
    }
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetCommandQueueProperty(cl_command_queue queue,
                                                               cl_command_queue_properties properties, cl_bool enable,
                                                               cl_command_queue_properties *old)
{
    ENTER(clSetCommandQueueProperty, NULL);
    return real.clSetCommandQueueProperty(REAL_QUEUE(queue), properties, enable, old);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                                    cl_command_queue queue)
{
    ENTER(clSetDefaultDeviceCommandQueue, NULL);
    return real.clSetDefaultDeviceCommandQueue(REAL_CONTEXT(context), REAL_DEVICE(device), REAL_QUEUE(queue));
}

CL_API_ENTRY cl_int CL_API_CALL fake_clFlush(cl_command_queue queue)
{
    ENTER(clFlush, NULL);
    return real.clFlush(REAL_QUEUE(queue));
}

CL_API_ENTRY cl_int CL_API_CALL fake_clFinish(cl_command_queue queue)
{
    ENTER(clFinish, NULL);
    return real.clFinish(REAL_QUEUE(queue));
}
