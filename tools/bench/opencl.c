#include "bench/opencl.h"

#include <stdlib.h>
#include <string.h>

bool opencl_failed(const char *what, cl_int code)
{
    return peer_error("%.*s: OpenCL error %d", (int)strcspn(what, "("), what, code);
}

/* Driver's names may have blanks around them, which clayer's list has not. */
static bool same_name(const char *listed, const char *raw)
{
    while (*raw == ' ')
        raw++;
    size_t length = strlen(raw);
    while (length > 0 && raw[length - 1] == ' ')
        length--;
    return strlen(listed) == length && !memcmp(listed, raw, length);
}

static bool find_device(const struct setup *setup, cl_platform_id *platform, cl_device_id *device)
{
    enum { MOST = 64 };
    cl_platform_id platforms[MOST];
    cl_device_id devices[MOST];
    cl_uint platform_count = 0, device_count = 0;
    OPENCL(clGetPlatformIDs(MOST, platforms, &platform_count));
    for (cl_uint i = 0; i < platform_count && i < MOST; i++) {
        char name[256] = "";
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
            !same_name(setup->platform, name))
            continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST, devices, &device_count) == CL_SUCCESS &&
            setup->platform_device < device_count) {
            *platform = platforms[i];
            *device = devices[setup->platform_device];
            return true;
        }
    }
    return peer_error("platform '%s' shows no device number %zu", setup->platform, setup->platform_device);
}

bool application_open(const struct setup *setup, struct application *application)
{
    cl_platform_id platform = NULL;
    cl_int code;
    *application = (struct application){0};
    if (!setup->platform)
        return peer_error("the host device has no OpenCL");
    if (!find_device(setup, &platform, &application->device))
        return false;
    OPENCL(clGetDeviceInfo(application->device, CL_DEVICE_TYPE, sizeof application->type, &application->type, NULL));
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    application->context = clCreateContext(properties, 1, &application->device, NULL, NULL, &code);
    if (!application->context)
        return opencl_failed("clCreateContext", code);
    application->queue = clCreateCommandQueue(application->context, application->device, 0, &code);
    if (!application->queue)
        return opencl_failed("clCreateCommandQueue", code);
    return true;
}

void application_close(struct application *application)
{
    if (application->queue)
        clReleaseCommandQueue(application->queue);
    if (application->context)
        clReleaseContext(application->context);
    *application = (struct application){0};
}

cl_program application_build(const struct application *application, const char *source, const char *options)
{
    cl_int code;
    cl_program program = clCreateProgramWithSource(application->context, 1, &source, NULL, &code);
    if (!program) {
        opencl_failed("clCreateProgramWithSource", code);
        return NULL;
    }
    code = clBuildProgram(program, 1, &application->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        char log[384] = "";
        clGetProgramBuildInfo(program, application->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        peer_error("clBuildProgram: OpenCL error %d: %s", code, log);
        clReleaseProgram(program);
        return NULL;
    }
    return program;
}

cl_kernel application_kernel(cl_program program, const char *name)
{
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    if (!kernel)
        opencl_failed("clCreateKernel", code);
    return kernel;
}

cl_mem application_buffer(const struct application *application, size_t count, const float *values)
{
    cl_int code;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (values ? CL_MEM_COPY_HOST_PTR : 0);
    cl_mem buffer = clCreateBuffer(application->context, flags, count * sizeof(float), (void *)values, &code);
    if (!buffer)
        opencl_failed("clCreateBuffer", code);
    return buffer;
}
