/* The driver behind the driver when there is no real one: one platform and one device that can be listed, can have
 * contexts, queues and buffers in host memory, and have no compiler. The wrappers of the other files stand in front of
 * it as they do in front of a real driver, so it keeps to the least: what it lacks is NULL in its table. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static char platform_mark, device_mark;
const cl_platform_id standalone_platform = (cl_platform_id)&platform_mark;

/* Any object; a wrapper's count and this one move together. */
struct thing {
    long references;
    cl_mem_flags flags;
    size_t size;
    cl_command_queue_properties properties;
    unsigned char *bytes; /* a buffer's, or the application's memory */
    bool owned;
};

static void *thing_new(cl_int *code)
{
    struct thing *thing = fake_allocate(sizeof *thing);
    thing->references = 1;
    *code = CL_SUCCESS;
    return thing;
}

static cl_int thing_count(void *handle, int step)
{
    struct thing *thing = handle;
    pthread_mutex_lock(&fake_mutex);
    long left = thing->references += step;
    pthread_mutex_unlock(&fake_mutex);
    if (left == 0) {
        if (thing->owned)
            free(thing->bytes);
        free(thing);
    }
    return CL_SUCCESS;
}

#define THING(Name, type)                                                                                              \
    static cl_int CL_API_CALL retain_##Name(type handle)                                                               \
    {                                                                                                                  \
        return thing_count(handle, 1);                                                                                 \
    }                                                                                                                  \
    static cl_int CL_API_CALL release_##Name(type handle)                                                              \
    {                                                                                                                  \
        return thing_count(handle, -1);                                                                                \
    }                                                                                                                  \
    struct thing /* takes the semicolon */

THING(context, cl_context);
THING(queue, cl_command_queue);
THING(mem, cl_mem);
THING(program, cl_program);

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info query, size_t size, void *value,
                                        size_t *size_ret)
{
    (void)platform;
    return info_standalone(query, size, value, size_ret);
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                                     cl_uint *count)
{
    (void)platform, (void)type;
    if (devices && room)
        devices[0] = (cl_device_id)&device_mark;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info query, size_t size, void *value,
                                      size_t *size_ret)
{
    (void)device;
    return info_standalone(query, size, value, size_ret);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *user_data, cl_int *code)
{
    (void)properties, (void)count, (void)devices, (void)notify, (void)user_data;
    return thing_new(code);
}

static cl_int CL_API_CALL context_info(cl_context context, cl_context_info query, size_t size, void *value,
                                       size_t *size_ret)
{
    (void)context, (void)query, (void)size, (void)value, (void)size_ret;
    return CL_INVALID_VALUE; /* all that there is, the wrapper answers */
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *code)
{
    *code = !context ? CL_INVALID_CONTEXT : !device ? CL_INVALID_DEVICE : CL_SUCCESS;
    if (*code != CL_SUCCESS)
        return NULL;
    struct thing *thing = thing_new(code);
    thing->properties = properties;
    return (cl_command_queue)thing;
}

static cl_int CL_API_CALL queue_info(cl_command_queue queue, cl_command_queue_info query, size_t size, void *value,
                                     size_t *size_ret)
{
    const struct thing *thing = (const struct thing *)queue;
    return query == CL_QUEUE_PROPERTIES ? info_give(&thing->properties, sizeof thing->properties, size, value, size_ret)
                                        : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL drain(cl_command_queue queue)
{
    return queue ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    *code = !context ? CL_INVALID_CONTEXT : !size ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
    if (*code != CL_SUCCESS)
        return NULL;
    struct thing *thing = thing_new(code);
    thing->flags = flags;
    thing->size = size;
    thing->owned = !(flags & CL_MEM_USE_HOST_PTR);
    thing->bytes = thing->owned ? fake_allocate(size) : host;
    if (flags & CL_MEM_COPY_HOST_PTR)
        memcpy(thing->bytes, host, size);
    return (cl_mem)thing;
}

static cl_int CL_API_CALL mem_info(cl_mem mem, cl_mem_info query, size_t size, void *value, size_t *size_ret)
{
    const struct thing *thing = (const struct thing *)mem;
    if (query == CL_MEM_SIZE)
        return info_give(&thing->size, sizeof thing->size, size, value, size_ret);
    if (query == CL_MEM_FLAGS)
        return info_give(&thing->flags, sizeof thing->flags, size, value, size_ret);
    return CL_INVALID_VALUE;
}

/* Without events: the wrapper gives none then, as it may where nothing was asked for. */
static cl_int transfer(cl_command_queue queue, cl_mem mem, size_t offset, size_t size, void *to, const void *from,
                       const cl_event *event)
{
    const struct thing *thing = (const struct thing *)mem;
    if (!queue || !thing)
        return queue ? CL_INVALID_MEM_OBJECT : CL_INVALID_COMMAND_QUEUE;
    if (event)
        return CL_INVALID_OPERATION;
    if (offset > thing->size || size > thing->size - offset)
        return CL_INVALID_VALUE;
    memcpy(to ? to : thing->bytes + offset, from ? from : thing->bytes + offset, size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                      void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    (void)blocking, (void)count, (void)waits;
    return transfer(queue, mem, offset, size, host, NULL, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                       const void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    (void)blocking, (void)count, (void)waits;
    return transfer(queue, mem, offset, size, NULL, host, event);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **strings,
                                             const size_t *lengths, cl_int *code)
{
    (void)count, (void)strings, (void)lengths;
    *code = CL_INVALID_CONTEXT;
    return context ? thing_new(code) : NULL;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices,
                                        const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    (void)program, (void)count, (void)devices, (void)options, (void)notify, (void)data;
    return CL_COMPILER_NOT_AVAILABLE;
}

static cl_int CL_API_CALL build_info(cl_program program, cl_device_id device, cl_program_build_info query, size_t size,
                                     void *value, size_t *size_ret)
{
    (void)program, (void)device;
    const cl_build_status status = CL_BUILD_NONE;
    if (query == CL_PROGRAM_BUILD_STATUS)
        return info_give(&status, sizeof status, size, value, size_ret);
    return query == CL_PROGRAM_BUILD_LOG ? info_give("", 1, size, value, size_ret) : CL_INVALID_VALUE;
}

const cl_icd_dispatch standalone_dispatch = {
    .clGetPlatformIDs = fake_clGetPlatformIDs,
    .clGetPlatformInfo = platform_info,
    .clGetDeviceIDs = device_ids,
    .clGetDeviceInfo = device_info,
    .clCreateContext = create_context,
    .clCreateContextFromType = fake_clCreateContextFromType, /* the wrapper makes it from clCreateContext */
    .clRetainContext = retain_context,
    .clReleaseContext = release_context,
    .clGetContextInfo = context_info,
    .clCreateCommandQueue = create_queue,
    .clRetainCommandQueue = retain_queue,
    .clReleaseCommandQueue = release_queue,
    .clGetCommandQueueInfo = queue_info,
    .clFlush = drain,
    .clFinish = drain,
    .clCreateBuffer = create_buffer,
    .clRetainMemObject = retain_mem,
    .clReleaseMemObject = release_mem,
    .clGetMemObjectInfo = mem_info,
    .clEnqueueReadBuffer = read_buffer,
    .clEnqueueWriteBuffer = write_buffer,
    .clCreateProgramWithSource = create_program,
    .clRetainProgram = retain_program,
    .clReleaseProgram = release_program,
    .clBuildProgram = build_program,
    .clGetProgramBuildInfo = build_info,
};
