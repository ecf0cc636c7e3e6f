/* A layer between two kernels of an application that has its own OpenCL context and queue: prepare -> layer -> sum, on
 * the device all the way, in order by events alone. Only the last event is waited for.
 *
 *     app_interop [--out-of-order] [--runs N] [--device TEXT]
 *
 * Prints how many runs were right. Exit code 0 when all were, 1 when not, 2 for wrong usage, 77 without a device. */
#include <clayer/clayer.h>
#include <clayer/opencl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 6, IN = 40, OUT = 24, X_OFFSET = 5, LDX = 43, LDY = 27, EXIT_NO_DEVICE = 77 };

static const char source[] =
    "__kernel void prepare(__global float *x, uint offset, uint ld, uint run) {\n"
    "    uint k = get_global_id(0), row = get_global_id(1);\n"
    "    x[offset + row * ld + k] = (float)((int)((row * 5 + k * 3 + run) % 7) - 3);\n"
    "}\n"
    "__kernel void sum(__global const float *y, uint ld, uint columns, __global float *sums) {\n"
    "    uint row = get_global_id(0);\n"
    "    float total = 0;\n"
    "    for (uint n = 0; n < columns; n++) total += y[row * ld + n];\n"
    "    sums[row] = total;\n"
    "}\n";

/* Ends the program when an OpenCL call fails; a real application would do better. */
static void check(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "app_interop: %s failed with code %d\n", what, (int)code);
        exit(1);
    }
}

static void check_clayer(clayer_status status, const char *what)
{
    if (status != CLAYER_OK) {
        fprintf(stderr, "app_interop: %s: %s: %s\n", what, clayer_status_string(status), clayer_last_error());
        exit(1);
    }
}

/* The first device of a platform whose name contains `wanted`. */
static cl_device_id find_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device = NULL;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, wanted) && clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    return NULL;
}

static float weight_at(size_t n, size_t k)
{
    return (float)((int)((n * 7 + k) % 5) - 2);
}

/* What `sum` must find for one row: small integers, so every order of summation gives the same. */
static float expected(size_t row, size_t run)
{
    float total = 0;
    for (size_t n = 0; n < OUT; n++) {
        float y = (float)n - 10;
        for (size_t k = 0; k < IN; k++)
            y += (float)((int)((row * 5 + k * 3 + run) % 7) - 3) * weight_at(n, k);
        total += y > 0 ? y : 0;
    }
    return total;
}

struct app {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel prepare, sum;
    cl_mem x, y, sums;
    clayer_linear *linear;
};

/* One run; only its last event is waited for. */
static int run_once(struct app *app, cl_uint run)
{
    const cl_uint x_offset = X_OFFSET, ldx = LDX, ldy = LDY, columns = OUT;
    const size_t x_range[2] = {IN, BATCH}, sum_range = BATCH;
    cl_event prepared = NULL, computed = NULL, summed = NULL;
    float sums[BATCH];

    clSetKernelArg(app->prepare, 0, sizeof app->x, &app->x);
    clSetKernelArg(app->prepare, 1, sizeof x_offset, &x_offset);
    clSetKernelArg(app->prepare, 2, sizeof ldx, &ldx);
    clSetKernelArg(app->prepare, 3, sizeof run, &run);
    /* Left to choose, PoCL 3.1 aborts where the device allows work-groups of 1 only. */
    static const size_t one_by_one[2] = {1, 1};
    check(clEnqueueNDRangeKernel(app->queue, app->prepare, 2, NULL, x_range, one_by_one, 0, NULL, &prepared),
          "prepare");

    const clayer_opencl_matrix x = {.memory = app->x, .offset = X_OFFSET, .ld = LDX};
    const clayer_opencl_matrix y = {.memory = app->y, .ld = LDY};
    check_clayer(clayer_linear_forward_opencl(app->linear, BATCH, &x, &y, 1, &prepared, &computed), "forward");

    clSetKernelArg(app->sum, 0, sizeof app->y, &app->y);
    clSetKernelArg(app->sum, 1, sizeof ldy, &ldy);
    clSetKernelArg(app->sum, 2, sizeof columns, &columns);
    clSetKernelArg(app->sum, 3, sizeof app->sums, &app->sums);
    check(clEnqueueNDRangeKernel(app->queue, app->sum, 1, NULL, &sum_range, one_by_one, 1, &computed, &summed), "sum");

    check(clEnqueueReadBuffer(app->queue, app->sums, CL_TRUE, 0, sizeof sums, sums, 1, &summed, NULL), "read");
    clReleaseEvent(prepared);
    clReleaseEvent(computed);
    clReleaseEvent(summed);
    for (size_t row = 0; row < BATCH; row++)
        if (sums[row] != expected(row, run))
            return 0;
    return 1;
}

static void set_up(struct app *app, cl_device_id device, int out_of_order)
{
    const char *text = source;
    cl_int code;
    app->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    app->queue =
        clCreateCommandQueue(app->context, device, out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &code);
    check(code, "clCreateCommandQueue");
    app->program = clCreateProgramWithSource(app->context, 1, &text, NULL, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(app->program, 1, &device, "", NULL, NULL), "clBuildProgram");
    app->prepare = clCreateKernel(app->program, "prepare", &code);
    check(code, "clCreateKernel");
    app->sum = clCreateKernel(app->program, "sum", &code);
    check(code, "clCreateKernel");
    /* x ends with its last row: no padding is needed after it. */
    app->x = clCreateBuffer(app->context, CL_MEM_READ_WRITE, (X_OFFSET + (BATCH - 1) * LDX + IN) * sizeof(float), NULL,
                            &code);
    check(code, "clCreateBuffer");
    app->y = clCreateBuffer(app->context, CL_MEM_READ_WRITE, ((BATCH - 1) * LDY + OUT) * sizeof(float), NULL, &code);
    check(code, "clCreateBuffer");
    app->sums = clCreateBuffer(app->context, CL_MEM_WRITE_ONLY, BATCH * sizeof(float), NULL, &code);
    check(code, "clCreateBuffer");

    static float weight[OUT][IN], bias[OUT];
    for (size_t n = 0; n < OUT; n++) {
        bias[n] = (float)n - 10;
        for (size_t k = 0; k < IN; k++)
            weight[n][k] = weight_at(n, k);
    }
    clayer_context *context = NULL;
    check_clayer(clayer_context_create_opencl(&(clayer_opencl_context_params){.queue = app->queue}, &context),
                 "context");
    check_clayer(clayer_linear_create(context,
                                      &(clayer_linear_params){.in_features = IN,
                                                              .out_features = OUT,
                                                              .weight = weight[0],
                                                              .bias = bias,
                                                              .activation = CLAYER_ACTIVATION_RELU},
                                      &app->linear),
                 "layer");
    clayer_context_destroy(&context); /* the layer keeps it */
}

int main(int argc, char **argv)
{
    int out_of_order = 0;
    unsigned long runs = 1;
    const char *wanted = "";
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--out-of-order") == 0) {
            out_of_order = 1;
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            runs = strtoul(argv[++i], &end, 10);
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            wanted = argv[++i];
        } else {
            end = argv[i];
        }
        if ((end && *end) || runs == 0 || runs > 1000000) {
            fprintf(stderr, "usage: app_interop [--out-of-order] [--runs 1..1000000] [--device PLATFORM-TEXT]\n");
            return 2;
        }
    }
    const cl_device_id device = find_device(wanted);
    if (!device) {
        fprintf(stderr, "app_interop: there is no OpenCL device on a platform named *%s*\n", wanted);
        return EXIT_NO_DEVICE;
    }
    struct app app;
    set_up(&app, device, out_of_order);
    unsigned long right = 0;
    for (unsigned long run = 0; run < runs; run++)
        right += (unsigned long)run_once(&app, (cl_uint)run);

    clReleaseMemObject(app.x);
    clReleaseMemObject(app.y);
    clReleaseMemObject(app.sums);
    clReleaseKernel(app.prepare);
    clReleaseKernel(app.sum);
    clReleaseProgram(app.program);
    clReleaseCommandQueue(app.queue);
    clReleaseContext(app.context);
    clayer_linear_destroy(&app.linear); /* in any order */
    printf("%lu of %lu runs were right, %s queue\n", right, runs, out_of_order ? "out-of-order" : "in-order");
    return right == runs ? 0 : 1;
}
