#include "opencl/error.h"
#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *opencl_error_name(cl_int code)
{
#define NAME(symbol)                                                                                                   \
    case symbol:                                                                                                       \
        return #symbol;
    switch (code) {
        NAME(CL_SUCCESS)
        NAME(CL_DEVICE_NOT_FOUND)
        NAME(CL_DEVICE_NOT_AVAILABLE)
        NAME(CL_COMPILER_NOT_AVAILABLE)
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        NAME(CL_OUT_OF_RESOURCES)
        NAME(CL_OUT_OF_HOST_MEMORY)
        NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
        NAME(CL_MEM_COPY_OVERLAP)
        NAME(CL_IMAGE_FORMAT_MISMATCH)
        NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)
        NAME(CL_BUILD_PROGRAM_FAILURE)
        NAME(CL_MAP_FAILURE)
        NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        NAME(CL_COMPILE_PROGRAM_FAILURE)
        NAME(CL_LINKER_NOT_AVAILABLE)
        NAME(CL_LINK_PROGRAM_FAILURE)
        NAME(CL_DEVICE_PARTITION_FAILED)
        NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        NAME(CL_INVALID_VALUE)
        NAME(CL_INVALID_DEVICE_TYPE)
        NAME(CL_INVALID_PLATFORM)
        NAME(CL_INVALID_DEVICE)
        NAME(CL_INVALID_CONTEXT)
        NAME(CL_INVALID_QUEUE_PROPERTIES)
        NAME(CL_INVALID_COMMAND_QUEUE)
        NAME(CL_INVALID_HOST_PTR)
        NAME(CL_INVALID_MEM_OBJECT)
        NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
        NAME(CL_INVALID_IMAGE_SIZE)
        NAME(CL_INVALID_SAMPLER)
        NAME(CL_INVALID_BINARY)
        NAME(CL_INVALID_BUILD_OPTIONS)
        NAME(CL_INVALID_PROGRAM)
        NAME(CL_INVALID_PROGRAM_EXECUTABLE)
        NAME(CL_INVALID_KERNEL_NAME)
        NAME(CL_INVALID_KERNEL_DEFINITION)
        NAME(CL_INVALID_KERNEL)
        NAME(CL_INVALID_ARG_INDEX)
        NAME(CL_INVALID_ARG_VALUE)
        NAME(CL_INVALID_ARG_SIZE)
        NAME(CL_INVALID_KERNEL_ARGS)
        NAME(CL_INVALID_WORK_DIMENSION)
        NAME(CL_INVALID_WORK_GROUP_SIZE)
        NAME(CL_INVALID_WORK_ITEM_SIZE)
        NAME(CL_INVALID_GLOBAL_OFFSET)
        NAME(CL_INVALID_EVENT_WAIT_LIST)
        NAME(CL_INVALID_EVENT)
        NAME(CL_INVALID_OPERATION)
        NAME(CL_INVALID_GL_OBJECT)
        NAME(CL_INVALID_BUFFER_SIZE)
        NAME(CL_INVALID_MIP_LEVEL)
        NAME(CL_INVALID_GLOBAL_WORK_SIZE)
        NAME(CL_INVALID_PROPERTY)
        NAME(CL_INVALID_IMAGE_DESCRIPTOR)
        NAME(CL_INVALID_COMPILER_OPTIONS)
        NAME(CL_INVALID_LINKER_OPTIONS)
        NAME(CL_INVALID_DEVICE_PARTITION_COUNT)
        NAME(CL_INVALID_PIPE_SIZE)
        NAME(CL_INVALID_DEVICE_QUEUE)
        NAME(CL_INVALID_SPEC_ID)
        NAME(CL_MAX_SIZE_RESTRICTION_EXCEEDED)
    case -1001: /* cl_khr_icd, whose header is not always installed */
        return "CL_PLATFORM_NOT_FOUND_KHR";
    case -9999: /* NVIDIA's driver: illegal read or write in a kernel */
        return "illegal access by a kernel";
    }
#undef NAME
    return "unknown code";
}

static clayer_status status_of(cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES: /* the usual answer of GPU drivers at the first launch that touches the memory */
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: /* above CL_DEVICE_MAX_MEM_ALLOC_SIZE; clayer never asks for 0 bytes */
        return CLAYER_ERROR_OUT_OF_MEMORY;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
        return CLAYER_ERROR_BUILD;
    default:
        return CLAYER_ERROR_OPENCL;
    }
}

clayer_status opencl_fail(cl_int code, const char *call, const char *file, int line, const char *format, ...)
{
    char extra[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(extra, sizeof extra, format, arguments);
    va_end(arguments);

    const char *name = strstr(call, "->cl"); /* "api->clFinish(queue)" names clFinish */
    name = name ? name + 2 : call;
    int length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    if (code == CL_SUCCESS)
        return error_set(CLAYER_ERROR_OPENCL, file, line, "%.*s made nothing and gave no error%s%s", length, name,
                         *extra ? ": " : "", extra);
    return error_set(status_of(code), file, line, "%.*s failed with %s (%d)%s%s", length, name, opencl_error_name(code),
                     (int)code, *extra ? ": " : "", extra);
}
