/* The roofs of an OpenCL device, measured by kernels that do nothing else. */
#include "bench/clock.h"
#include "bench/opencl.h"
#include "bench/roofline.h"

#include <stdio.h>

/* On a CPU one work-item is a stream of wide vectors and neighbours read different blocks; on a GPU neighbours read
 * neighbouring vectors. Eight independent chains hide the latency of an fma. */
static const char source[] =
    "kernel void multiply(global V *out, uint rounds, float seed)\n"
    "{\n"
    "    V a = (V)(seed), b = (V)(1.0f - seed);\n"
    "    V c0 = a, c1 = a * 2, c2 = a * 3, c3 = a * 4, c4 = a * 5, c5 = a * 6, c6 = a * 7, c7 = a * 8;\n"
    "    V d0 = b, d1 = b * 2, d2 = b * 3, d3 = b * 4;\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        c0 = fma(c0, b, a); c1 = fma(c1, b, a); c2 = fma(c2, b, a); c3 = fma(c3, b, a);\n"
    "        c4 = fma(c4, b, a); c5 = fma(c5, b, a); c6 = fma(c6, b, a); c7 = fma(c7, b, a);\n"
    "        d0 = fma(d0, b, a); d1 = fma(d1, b, a); d2 = fma(d2, b, a); d3 = fma(d3, b, a);\n"
    "    }\n"
    "    out[get_global_id(0)] = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + d0 + d1 + d2 + d3;\n"
    "}\n"
    "kernel void read(global const V *in, global V *out, ulong each, ulong step, uint passes)\n"
    "{\n"
    "    size_t first = step == 1 ? get_global_id(0) * each : get_global_id(0);\n"
    "    V s0 = (V)(0), s1 = s0, s2 = s0, s3 = s0;\n"
    "    for (uint pass = 0; pass < passes; pass++) {\n"
    "        global const V *at = in + first;\n"
    "        for (ulong i = 0; i < each; i += 4, at += 4 * step) {\n"
    "            s0 += at[0]; s1 += at[step]; s2 += at[2 * step]; s3 += at[3 * step];\n"
    "        }\n"
    "    }\n"
    "    out[get_global_id(0)] = s0 + s1 + s2 + s3;\n"
    "}\n"
    "kernel void nothing(global V *out) {}\n";

enum { CHAINS = 12 };
static struct application application;
static cl_kernel multiply_kernel, read_kernel, nothing_kernel;
static cl_mem in, out;
static size_t items, local, vector_floats;

static double run(cl_kernel kernel)
{
    double start = clock_now();
    cl_int code = clEnqueueNDRangeKernel(application.queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(application.queue);
    if (code != CL_SUCCESS) {
        opencl_failed("clEnqueueNDRangeKernel", code);
        return -1;
    }
    return clock_now() - start;
}

static double multiply(size_t rounds, double *flops)
{
    cl_uint count = (cl_uint)rounds;
    float seed = 0.25f;
    clSetKernelArg(multiply_kernel, 0, sizeof out, &out);
    clSetKernelArg(multiply_kernel, 1, sizeof count, &count);
    clSetKernelArg(multiply_kernel, 2, sizeof seed, &seed);
    *flops = 2.0 * CHAINS * (double)rounds * (double)items * (double)vector_floats;
    return run(multiply_kernel);
}

static double read_memory(size_t bytes, size_t passes)
{
    bool gpu = application.type & CL_DEVICE_TYPE_GPU;
    cl_ulong each = bytes / (sizeof(float) * vector_floats * items), step = gpu ? items : 1;
    cl_uint count = (cl_uint)passes;
    each = each / 4 * 4;
    if (each == 0) {
        peer_error("a working set of %zu bytes is too small for %zu work-items", bytes, items);
        return -1;
    }
    clSetKernelArg(read_kernel, 0, sizeof in, &in);
    clSetKernelArg(read_kernel, 1, sizeof out, &out);
    clSetKernelArg(read_kernel, 2, sizeof each, &each);
    clSetKernelArg(read_kernel, 3, sizeof step, &step);
    clSetKernelArg(read_kernel, 4, sizeof count, &count);
    return run(read_kernel);
}

static double launch(void)
{
    enum { LAUNCHES = 200 };
    double times[LAUNCHES];
    clSetKernelArg(nothing_kernel, 0, sizeof out, &out);
    run(nothing_kernel);
    for (int i = 0; i < LAUNCHES; i++)
        times[i] = run(nothing_kernel);
    return median(times, LAUNCHES);
}

static bool open_device(const struct setup *setup, struct roofs *roofs)
{
    cl_uint units = 1;
    cl_ulong largest = 0;
    size_t most_items = 1;
    if (!application_open(setup, &application))
        return false;
    bool gpu = application.type & CL_DEVICE_TYPE_GPU;
    OPENCL(clGetDeviceInfo(application.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    OPENCL(clGetDeviceInfo(application.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL));
    OPENCL(clGetDeviceInfo(application.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most_items, &most_items, NULL));
    vector_floats = gpu ? 4 : 16;
    local = !gpu ? 1 : most_items < 256 ? most_items : 256;
    items = gpu ? local * units * 8 : units * 4;
    cl_program program = application_build(&application, source, gpu ? "-DV=float4" : "-DV=float16");
    multiply_kernel = program ? application_kernel(program, "multiply") : NULL;
    read_kernel = program ? application_kernel(program, "read") : NULL;
    nothing_kernel = program ? application_kernel(program, "nothing") : NULL;
    roofs->most_bytes = largest < (cl_ulong)1 << 30 ? (size_t)largest : (size_t)1 << 30;
    size_t wanted = 2 * setup->cache_bytes < roofs->most_bytes ? 2 * setup->cache_bytes : roofs->most_bytes;
    wanted = wanted < (size_t)1 << 20 ? (size_t)1 << 20 : wanted;
    in = nothing_kernel ? application_buffer(&application, wanted / sizeof(float), NULL) : NULL;
    out = in ? application_buffer(&application, items * vector_floats, NULL) : NULL;
    if (!out)
        return false;
    const float one = 1;
    OPENCL(clEnqueueFillBuffer(application.queue, in, &one, sizeof one, 0, wanted / sizeof one * sizeof one, 0, NULL,
                               NULL));
    OPENCL(clFinish(application.queue));
    return true;
}

int roofline_opencl(const struct setup *setup)
{
    struct roofs roofs = {.multiply = multiply, .read = read_memory, .launch = launch};
    FILE *answer = fdopen(peer_channel(), "w");
    if (!answer)
        return 1;
    if (open_device(setup, &roofs))
        roofs_print(&roofs, setup->cache_bytes, answer);
    else
        fprintf(answer, "error %s\n", peer_last_error());
    return fclose(answer) == 0 ? 0 : 1;
}
