/* What any OpenCL program pays to start: one context, one queue, one trivial kernel from its cached binary, one result.
 * bare_opencl FILE: keeps the binary in FILE. tests/deep/startup compares clayer-run with it. */
#include "opencl/loader.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const source = "__kernel void one(__global float *y) { y[get_global_id(0)] = 1.0f; }";

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cl_int code_ = (call);                                                                                   \
        if (code_ != CL_SUCCESS) {                                                                                     \
            fprintf(stderr, "bare_opencl: %s: %d\n", #call, (int)code_);                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static cl_program load(const struct opencl_api *api, cl_context context, cl_device_id device, const char *path)
{
    static unsigned char binary[1 << 22];
    const unsigned char *data = binary;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(binary, 1, sizeof binary, file) : 0;
    cl_int code, state;
    if (file)
        fclose(file);
    if (size > 0) {
        cl_program program = api->clCreateProgramWithBinary(context, 1, &device, &size, &data, &state, &code);
        CHECK(code);
        CHECK(api->clBuildProgram(program, 1, &device, "", NULL, NULL));
        return program;
    }
    cl_program program = api->clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &code);
    CHECK(code);
    CHECK(api->clBuildProgram(program, 1, &device, "", NULL, NULL));
    CHECK(api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *out = malloc(size);
    CHECK(api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof out, &out, NULL));
    file = fopen(path, "wb");
    if (!file || fwrite(out, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "bare_opencl: cannot write %s\n", path);
        exit(1);
    }
    free(out);
    return program;
}

int main(int argc, char **argv)
{
    const struct opencl_api *api;
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    if (argc != 2 || opencl_load(&api) != CLAYER_OK) {
        fprintf(stderr, "usage: bare_opencl FILE, where OpenCL is\n");
        return 2;
    }
    CHECK(api->clGetPlatformIDs(1, &platform, NULL));
    CHECK(api->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context = api->clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    cl_command_queue queue = api->clCreateCommandQueue(context, device, 0, &code);
    CHECK(code);
    cl_program program = load(api, context, device, argv[1]);
    cl_kernel kernel = api->clCreateKernel(program, "one", &code);
    CHECK(code);
    cl_mem y = api->clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(float), NULL, &code);
    CHECK(code);
    CHECK(api->clSetKernelArg(kernel, 0, sizeof y, &y));
    CHECK(api->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){64}, &(size_t){1}, 0, NULL, NULL));
    float one = 0;
    CHECK(api->clEnqueueReadBuffer(queue, y, CL_TRUE, 0, sizeof one, &one, 0, NULL, NULL));
    api->clReleaseMemObject(y);
    api->clReleaseKernel(kernel);
    api->clReleaseProgram(program);
    api->clReleaseCommandQueue(queue);
    api->clReleaseContext(context);
    return one == 1.0f ? 0 : 1;
}
