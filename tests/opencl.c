/* Layers on an application's own OpenCL objects. The driver is the fake one in front of PoCL, so that every object that
 * is not given back is known. */
#include "fake/fake.h"
#include "opencl/error.h"
#include "opencl/loader.h"

#include <clayer/clayer.h>
#include <clayer/opencl.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_ORDER CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE

static const struct opencl_api *cl;
static struct fake_control fake;
static cl_context app;
static cl_device_id device;
static cl_command_queue queue;

static void start(cl_command_queue_properties properties)
{
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("POCL_DEVICES", "pthread", 1);
    unsetenv("CLAYER_PLAN");
    if (opencl_load(&cl) != CLAYER_OK || clayer_opencl_status() != CLAYER_OK)
        cr_skip_test("%s", clayer_last_error());
    fake = fake_reach(FAKE_LIBRARY);
    cr_assert_not_null(fake.library);
    cl_platform_id platform;
    cl_int code;
    cr_assert_eq(cl->clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    cr_assert_eq(cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    app = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cr_assert_eq(code, CL_SUCCESS);
    queue = cl->clCreateCommandQueue(app, device, properties, &code);
    cr_assert_eq(code, CL_SUCCESS);
}

static void stop(void)
{
    cl->clReleaseCommandQueue(queue);
    cl->clReleaseContext(app);
    static const char *const kinds[] = {"context", "queue", "mem", "program", "kernel", "event", "device"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cr_expect_eq(fake.live(kinds[i]), 0, "%ld %s are left", fake.live(kinds[i]), kinds[i]);
    cr_expect_eq(fake.misuses(), 0);
}

static clayer_context *adopt(const char *plan)
{
    clayer_context *context = NULL;
    cr_assert_eq(
        clayer_context_create_opencl(
            &(clayer_opencl_context_params){.context = app, .device = device, .queue = queue, .plan = plan}, &context),
        CLAYER_OK, "%s", clayer_last_error());
    return context;
}

/* w[n][k] = small integers that differ everywhere: sums are exact in any order. */
static float weight_at(size_t n, size_t k)
{
    return (float)((int)((n * 7 + k * 3) % 11) - 5);
}

static float x_at(size_t row, size_t k)
{
    return (float)((int)((row * 5 + k) % 7) - 3);
}

static float expected(size_t row, size_t n, size_t features)
{
    float sum = (float)n;
    for (size_t k = 0; k < features; k++)
        sum += x_at(row, k) * weight_at(n, k);
    return sum;
}

static clayer_linear *make_layer(clayer_context *context, size_t k, size_t n)
{
    float *weight = malloc(k * n * sizeof *weight), *bias = malloc(n * sizeof *bias);
    for (size_t i = 0; i < n; i++) {
        bias[i] = (float)i;
        for (size_t j = 0; j < k; j++)
            weight[i * k + j] = weight_at(i, j);
    }
    clayer_linear *linear = NULL;
    cr_assert_eq(clayer_linear_create(
                     context,
                     &(clayer_linear_params){
                         .in_features = k, .out_features = n, .weight = weight, .bias = bias, .keep_weight = true},
                     &linear),
                 CLAYER_OK, "%s", clayer_last_error());
    free(weight);
    free(bias);
    return linear;
}

static cl_mem make_memory(size_t floats, cl_mem_flags flags)
{
    cl_int code;
    cl_mem memory = cl->clCreateBuffer(app, flags, floats * sizeof(float), NULL, &code);
    cr_assert_eq(code, CL_SUCCESS);
    return memory;
}

/* A second, in-order queue for filling and looking, so that nothing of the queue under test is waited for. */
static void transfer(cl_mem memory, float *data, size_t floats, bool write)
{
    cl_int code;
    cl_command_queue own = cl->clCreateCommandQueue(app, device, 0, &code);
    cr_assert_eq(code, CL_SUCCESS);
    code = write ? cl->clEnqueueWriteBuffer(own, memory, CL_TRUE, 0, floats * sizeof *data, data, 0, NULL, NULL)
                 : cl->clEnqueueReadBuffer(own, memory, CL_TRUE, 0, floats * sizeof *data, data, 0, NULL, NULL);
    cr_assert_eq(code, CL_SUCCESS);
    cl->clReleaseCommandQueue(own);
}

enum { BATCH = 5, IN = 19, OUT = 37, X_OFFSET = 3, Y_OFFSET = 7, LDX = IN + 2, LDY = OUT + 3 };

static void fill(cl_mem x_memory, size_t x_floats, cl_mem y_memory, size_t y_floats)
{
    float *x = malloc(x_floats * sizeof *x), *y = malloc(y_floats * sizeof *y);
    for (size_t i = 0; i < x_floats; i++)
        x[i] = NAN;
    for (size_t i = 0; i < y_floats; i++)
        y[i] = -12345;
    for (size_t row = 0; row < BATCH; row++)
        for (size_t k = 0; k < IN; k++)
            x[X_OFFSET + row * LDX + k] = x_at(row, k);
    transfer(x_memory, x, x_floats, true);
    transfer(y_memory, y, y_floats, true);
    free(x);
    free(y);
}

static bool untouched(const float *y, size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        if (y[i] != -12345)
            return false;
    return true;
}

static void expect_result(const float *y, size_t floats)
{
    size_t wrong = 0;
    for (size_t i = 0; i < floats; i++) {
        const size_t row = (i - Y_OFFSET) / LDY, n = (i - Y_OFFSET) % LDY;
        const float right = i < Y_OFFSET || row >= BATCH || n >= OUT ? -12345 : expected(row, n, IN);
        wrong += !(y[i] == right);
    }
    cr_expect_eq(wrong, 0, "%zu of %zu elements are wrong", wrong, floats);
}

/* The call waits for the wait list, its event stands for all of it, and everything may be released meanwhile. */
static void run_gated(cl_command_queue_properties properties, const char *plan, const char *family)
{
    start(properties);
    clayer_context *context = adopt(plan);
    clayer_linear *linear = make_layer(context, IN, OUT);
    if (clayer_linear_prepare(linear, BATCH) == CLAYER_ERROR_UNSUPPORTED)
        cr_skip_test("%s", clayer_last_error());
    enum { X_FLOATS = X_OFFSET + (BATCH - 1) * LDX + IN, Y_FLOATS = Y_OFFSET + BATCH * LDY };
    cl_mem x = make_memory(X_FLOATS, CL_MEM_READ_ONLY), y = make_memory(Y_FLOATS, CL_MEM_READ_WRITE);
    cl_mem late = x;
    fill(x, X_FLOATS, y, Y_FLOATS);
    cl_int code;
    cl_event gate = cl->clCreateUserEvent(app, &code), done = NULL;
    cr_assert_eq(code, CL_SUCCESS);
    cr_assert_eq(clayer_linear_forward_opencl(
                     linear, BATCH, &(clayer_opencl_matrix){.memory = x, .offset = X_OFFSET, .ld = LDX},
                     &(clayer_opencl_matrix){.memory = y, .offset = Y_OFFSET, .ld = LDY}, 1, &gate, &done),
                 CLAYER_OK, "%s", clayer_last_error());
    cr_assert_not_null(done);
    clayer_plan_info info;
    clayer_linear_last_plan(linear, &info);
    cr_expect_str_eq(info.family, family);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    cl->clReleaseMemObject(late);
    cl->clFlush(queue);
    static float seen[Y_FLOATS];
    transfer(y, seen, Y_FLOATS, false);
    cr_expect(untouched(seen, Y_FLOATS), "y was written before the event in the wait list");
    cr_assert_eq(cl->clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    cr_assert_eq(cl->clWaitForEvents(1, &done), CL_SUCCESS);
    transfer(y, seen, Y_FLOATS, false);
    expect_result(seen, Y_FLOATS);
    cl->clReleaseEvent(gate);
    cl->clReleaseEvent(done);
    cl->clReleaseMemObject(y);
    stop();
}

Test(opencl, in_order)
{
    run_gated(0, NULL, "panel");
}

Test(opencl, out_of_order)
{
    run_gated(OUT_OF_ORDER, NULL, "panel");
}

Test(opencl, out_of_order_with_profiling_portable)
{
    run_gated(OUT_OF_ORDER | CL_QUEUE_PROFILING_ENABLE, "portable", "portable");
}

Test(opencl, out_of_order_split)
{
    run_gated(OUT_OF_ORDER, "skinny:rows=4,lanes=2,k_lanes=2,splits=2", "skinny");
}

/* Where the caller's event cannot be had the call fails, and the next one on the same workspace is in order and right.
 */
Test(opencl, an_event_that_cannot_be_retained)
{
    enum { X_FLOATS = X_OFFSET + (BATCH - 1) * LDX + IN, Y_FLOATS = Y_OFFSET + BATCH * LDY };
    start(OUT_OF_ORDER);
    clayer_context *context = adopt("skinny:rows=4,lanes=2,k_lanes=2,splits=2");
    clayer_linear *linear = make_layer(context, IN, OUT);
    if (clayer_linear_prepare(linear, BATCH) == CLAYER_ERROR_UNSUPPORTED)
        cr_skip_test("%s", clayer_last_error());
    cl_mem x = make_memory(X_FLOATS, CL_MEM_READ_ONLY), y = make_memory(Y_FLOATS, CL_MEM_READ_WRITE);
    const clayer_opencl_matrix in = {.memory = x, .offset = X_OFFSET, .ld = LDX},
                               out = {.memory = y, .offset = Y_OFFSET, .ld = LDY};
    fill(x, X_FLOATS, y, Y_FLOATS);
    cl_event done = (cl_event)&done;
    fake.set("clRetainEvent#1 = code:-6");
    cr_expect_eq(clayer_linear_forward_opencl(linear, BATCH, &in, &out, 0, NULL, &done), CLAYER_ERROR_OUT_OF_MEMORY);
    cr_expect_null(done);
    cr_expect(strstr(clayer_last_error(), "clRetainEvent"), "%s", clayer_last_error());
    cr_assert_eq(clayer_linear_forward_opencl(linear, BATCH, &in, &out, 0, NULL, &done), CLAYER_OK, "%s",
                 clayer_last_error());
    cr_assert_eq(cl->clWaitForEvents(1, &done), CL_SUCCESS);
    static float seen[Y_FLOATS];
    transfer(y, seen, Y_FLOATS, false);
    expect_result(seen, Y_FLOATS);
    cl->clReleaseEvent(done);
    cl->clReleaseMemObject(x);
    cl->clReleaseMemObject(y);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    stop();
}

Test(opencl, out_of_order_clblast)
{
    /* CLBlast keeps its programs, and with them the context, for the life of the process; so no count at the end. */
    start(OUT_OF_ORDER);
    clayer_context *context = adopt("clblast");
    clayer_linear *linear = make_layer(context, IN, OUT);
    if (clayer_linear_prepare(linear, BATCH) != CLAYER_OK)
        cr_skip_test("%s", clayer_last_error());
    enum { X_FLOATS = X_OFFSET + (BATCH - 1) * LDX + IN, Y_FLOATS = Y_OFFSET + BATCH * LDY };
    cl_mem x = make_memory(X_FLOATS, CL_MEM_READ_ONLY), y = make_memory(Y_FLOATS, CL_MEM_READ_WRITE);
    fill(x, X_FLOATS, y, Y_FLOATS);
    cl_int code;
    cl_event gate = cl->clCreateUserEvent(app, &code), done = NULL;
    cr_assert_eq(clayer_linear_forward_opencl(
                     linear, BATCH, &(clayer_opencl_matrix){.memory = x, .offset = X_OFFSET, .ld = LDX},
                     &(clayer_opencl_matrix){.memory = y, .offset = Y_OFFSET, .ld = LDY}, 1, &gate, &done),
                 CLAYER_OK, "%s", clayer_last_error());
    cl->clFlush(queue);
    static float seen[Y_FLOATS];
    transfer(y, seen, Y_FLOATS, false);
    cr_expect(untouched(seen, Y_FLOATS), "y was written before the event in the wait list");
    cl->clSetUserEventStatus(gate, CL_COMPLETE);
    cr_assert_eq(cl->clWaitForEvents(1, &done), CL_SUCCESS);
    transfer(y, seen, Y_FLOATS, false);
    expect_result(seen, Y_FLOATS);
    cl->clReleaseEvent(gate);
    cl->clReleaseEvent(done);
    cl->clReleaseMemObject(x);
    cl->clReleaseMemObject(y);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

/* Two calls of a model on different data, the first behind a gate, the second free: each has its own result, though
 * they share the buffers between the layers. */
Test(opencl, model_in_an_out_of_order_queue)
{
    start(OUT_OF_ORDER);
    clayer_context *context = adopt(NULL);
    static float first[8 * 6], second[3 * 8], bias[8];
    for (size_t i = 0; i < 8 * 6; i++)
        first[i] = weight_at(i / 6, i % 6);
    for (size_t i = 0; i < 3 * 8; i++)
        second[i] = weight_at(i / 8, i % 8);
    const clayer_linear_params layers[] = {{.in_features = 6, .out_features = 8, .weight = first, .bias = bias},
                                           {.in_features = 8, .out_features = 3, .weight = second},
                                           {.in_features = 3, .out_features = 8, .weight = second}};
    clayer_model *model = NULL;
    cr_assert_eq(clayer_model_create(context, layers, 3, &model), CLAYER_OK, "%s", clayer_last_error());
    float inputs[2][2 * 6], outputs[2][2 * 8], right[2][2 * 8];
    cl_mem x[2], y[2];
    cl_event done[2] = {NULL, NULL};
    cl_int code;
    cl_event gate = cl->clCreateUserEvent(app, &code);
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2 * 6; j++)
            inputs[i][j] = (float)(i * 10) + x_at(j / 6, j % 6);
        cr_assert_eq(clayer_model_forward(model, 2, inputs[i], 6, right[i], 8), CLAYER_OK, "%s", clayer_last_error());
        x[i] = make_memory(2 * 6, CL_MEM_READ_ONLY);
        y[i] = make_memory(2 * 8, CL_MEM_WRITE_ONLY);
        transfer(x[i], inputs[i], 2 * 6, true);
    }
    for (int i = 0; i < 2; i++)
        cr_assert_eq(clayer_model_forward_opencl(model, 2, &(clayer_opencl_matrix){.memory = x[i]},
                                                 &(clayer_opencl_matrix){.memory = y[i]}, i == 0, &gate, &done[i]),
                     CLAYER_OK, "%s", clayer_last_error());
    cl->clFlush(queue);
    cl->clSetUserEventStatus(gate, CL_COMPLETE);
    cr_assert_eq(cl->clWaitForEvents(2, done), CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        transfer(y[i], outputs[i], 2 * 8, false);
        cr_expect(memcmp(outputs[i], right[i], sizeof right[i]) == 0, "call %d", i);
        cl->clReleaseMemObject(x[i]);
        cl->clReleaseMemObject(y[i]);
        cl->clReleaseEvent(done[i]);
    }
    cr_expect(memcmp(right[0], right[1], sizeof right[0]) != 0);
    cl->clReleaseEvent(gate);
    clayer_context_destroy(&context);
    clayer_model_destroy(&model);
    stop();
}

/* Calls without events keep their order in an out-of-order queue. */
Test(opencl, calls_on_buffers_are_ordered)
{
    start(OUT_OF_ORDER);
    clayer_context *context = adopt(NULL);
    const float doubled[] = {2, 0, 0, 2};
    clayer_linear *linear = NULL;
    cr_assert_eq(clayer_linear_create(
                     context, &(clayer_linear_params){.in_features = 2, .out_features = 2, .weight = doubled}, &linear),
                 CLAYER_OK);
    clayer_buffer *a = NULL, *b = NULL;
    cr_assert_eq(clayer_buffer_create(context, 2, &a), CLAYER_OK);
    cr_assert_eq(clayer_buffer_create(context, 2, &b), CLAYER_OK);
    float values[] = {1, 3};
    cr_assert_eq(clayer_buffer_write(a, 0, values, 2), CLAYER_OK);
    fake.set("clEnqueueNDRangeKernel#3 = delay:30ms");
    for (int i = 0; i < 10; i++)
        cr_assert_eq(clayer_linear_forward_matrix(linear, 1, &(clayer_matrix){.buffer = i % 2 ? b : a},
                                                  &(clayer_matrix){.buffer = i % 2 ? a : b}),
                     CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_buffer_read(a, 0, values, 2), CLAYER_OK);
    cr_expect(values[0] == 1024 && values[1] == 3072, "%g %g", (double)values[0], (double)values[1]);
    cl_mem memory = NULL;
    size_t bytes = 0;
    cr_assert_eq(clayer_buffer_get_opencl(a, &memory), CLAYER_OK);
    cr_assert_eq(cl->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL), CL_SUCCESS);
    cr_expect_eq(bytes, 8);
    clayer_buffer_destroy(&a);
    clayer_linear_destroy(&linear);
    clayer_buffer_destroy(&b);
    clayer_context_destroy(&context);
    stop();
}

/* More rows than one launch may take on a slow GPU: several launches, one event. */
Test(opencl, several_launches_are_one_event)
{
    setenv("CLAYER_FAKE_INFO", "CL_DEVICE_TYPE=gpu,CL_DEVICE_MAX_CLOCK_FREQUENCY=1,CL_DEVICE_MAX_COMPUTE_UNITS=1", 1);
    start(OUT_OF_ORDER);
    clayer_context *context = adopt("portable");
    enum { ROWS = 1500, FEATURES = 40 };
    clayer_linear *linear = make_layer(context, FEATURES, FEATURES);
    cl_mem x = make_memory(ROWS * FEATURES, CL_MEM_READ_ONLY), y = make_memory(ROWS * FEATURES, CL_MEM_READ_WRITE);
    static float values[ROWS * FEATURES];
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        values[i] = x_at(i / FEATURES, i % FEATURES);
    transfer(x, values, ROWS * FEATURES, true);
    cl_event done = NULL;
    const long before = fake.count("clEnqueueNDRangeKernel");
    cr_assert_eq(clayer_linear_forward_opencl(linear, ROWS, &(clayer_opencl_matrix){.memory = x},
                                              &(clayer_opencl_matrix){.memory = y}, 0, NULL, &done),
                 CLAYER_OK, "%s", clayer_last_error());
    cr_expect_gt(fake.count("clEnqueueNDRangeKernel") - before, 2);
    cr_assert_eq(cl->clWaitForEvents(1, &done), CL_SUCCESS);
    transfer(y, values, ROWS * FEATURES, false);
    size_t wrong = 0;
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        wrong += !(values[i] == expected(i / FEATURES, i % FEATURES, FEATURES));
    cr_expect_eq(wrong, 0);
    /* A failure after the first launch gives no event and leaves nothing behind. */
    cl->clReleaseEvent(done);
    done = (cl_event)&done;
    fake.set("clEnqueueNDRangeKernel#2 = code:-5");
    cr_expect_eq(clayer_linear_forward_opencl(linear, ROWS, &(clayer_opencl_matrix){.memory = x},
                                              &(clayer_opencl_matrix){.memory = y}, 0, NULL, &done),
                 CLAYER_ERROR_OUT_OF_MEMORY);
    cr_expect_null(done);
    cl->clFinish(queue);
    cl->clReleaseMemObject(x);
    cl->clReleaseMemObject(y);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    stop();
}

Test(opencl, empty_shapes_have_a_usable_event)
{
    start(OUT_OF_ORDER);
    clayer_context *context = adopt(NULL);
    static const size_t shapes[][3] = {{0, 5, 7}, {4, 0, 7}, {4, 5, 0}, {0, 0, 0}};
    for (size_t i = 0; i < 4; i++) {
        const size_t batch = shapes[i][0], k = shapes[i][1], n = shapes[i][2];
        clayer_linear *linear = make_layer(context, k, n);
        cl_mem y = batch && n ? make_memory(batch * n, CL_MEM_READ_WRITE) : NULL;
        cl_mem x = batch && k ? make_memory(batch * k, CL_MEM_READ_WRITE) : NULL;
        cl_event done = NULL;
        cr_assert_eq(clayer_linear_forward_opencl(linear, batch, &(clayer_opencl_matrix){.memory = x},
                                                  &(clayer_opencl_matrix){.memory = y}, 0, NULL, &done),
                     CLAYER_OK, "%s", clayer_last_error());
        cr_assert_not_null(done);
        cr_expect_eq(cl->clWaitForEvents(1, &done), CL_SUCCESS);
        if (y) { /* K = 0: the bias */
            float values[4 * 7];
            transfer(y, values, batch * n, false);
            for (size_t j = 0; j < batch * n; j++)
                cr_expect_eq(values[j], (float)(j % n));
            cl->clReleaseMemObject(y);
        }
        if (x)
            cl->clReleaseMemObject(x);
        cl->clReleaseEvent(done);
        clayer_linear_destroy(&linear);
    }
    clayer_context_destroy(&context);
    stop();
}

static void expect_refused(clayer_linear *linear, cl_mem x, size_t x_offset, cl_mem y, size_t y_offset,
                           const char *words)
{
    cl_event done = (cl_event)&done;
    cr_expect_eq(clayer_linear_forward_opencl(linear, 2, &(clayer_opencl_matrix){.memory = x, .offset = x_offset},
                                              &(clayer_opencl_matrix){.memory = y, .offset = y_offset}, 0, NULL, &done),
                 CLAYER_ERROR_INVALID_ARGUMENT, "%s", words);
    cr_expect(strstr(clayer_last_error(), words), "'%s' in: %s", words, clayer_last_error());
    cr_expect_null(done);
}

Test(opencl, what_does_not_belong_together_is_refused)
{
    start(0);
    clayer_context *context = adopt(NULL), *none = NULL;
    clayer_linear *linear = make_layer(context, 4, 6);
    cl_int code;
    cl_context other = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cr_expect_eq(clayer_context_create_opencl(&(clayer_opencl_context_params){.context = other, .queue = queue}, &none),
                 CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect(strstr(clayer_last_error(), "another context"), "%s", clayer_last_error());
    cr_expect_eq(clayer_context_create_opencl(&(clayer_opencl_context_params){.context = app}, &none),
                 CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect_null(none);
    cl_mem x = make_memory(20, CL_MEM_READ_WRITE), y = make_memory(40, CL_MEM_READ_WRITE);
    cl_mem foreign = cl->clCreateBuffer(other, CL_MEM_READ_WRITE, 160, NULL, &code);
    cl_mem read_only = make_memory(40, CL_MEM_READ_ONLY), write_only = make_memory(40, CL_MEM_WRITE_ONLY);
    const cl_buffer_region part = {0, 128};
    cl_mem sub = cl->clCreateSubBuffer(y, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
    cr_assert_eq(code, CL_SUCCESS);
    expect_refused(linear, x, 13, y, 0, "at offset 13 needs 21 elements, the buffer has 20");
    expect_refused(linear, x, 0, y, 29, "needs 41 elements, the buffer has 40");
    expect_refused(linear, x, 0, sub, 21, "needs 33 elements, the buffer has 32");
    expect_refused(linear, foreign, 0, y, 0, "x: the buffer belongs to another OpenCL context");
    expect_refused(linear, x, 0, foreign, 0, "y: the buffer belongs to another OpenCL context");
    expect_refused(linear, x, 0, read_only, 0, "read-only");
    expect_refused(linear, write_only, 0, y, 0, "write-only");
    expect_refused(linear, NULL, 0, y, 0, "no memory object");
    expect_refused(linear, y, 0, y, 7, "overlap");
    expect_refused(linear, sub, 0, y, 7, "overlap");
    clayer_context *host = NULL;
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "host"}, &host), CLAYER_OK);
    clayer_linear *on_host = make_layer(host, 4, 6);
    cr_expect_eq(clayer_linear_forward_opencl(on_host, 2, &(clayer_opencl_matrix){.memory = x},
                                              &(clayer_opencl_matrix){.memory = y}, 0, NULL, NULL),
                 CLAYER_ERROR_UNSUPPORTED);
    cl_event nothing = NULL;
    cr_expect_eq(clayer_linear_forward_opencl(linear, 2, &(clayer_opencl_matrix){.memory = x},
                                              &(clayer_opencl_matrix){.memory = y}, 1, &nothing, NULL),
                 CLAYER_ERROR_INVALID_ARGUMENT);
    /* Beside each other in one buffer is fine. */
    cr_expect_eq(clayer_linear_forward_opencl(linear, 2, &(clayer_opencl_matrix){.memory = y},
                                              &(clayer_opencl_matrix){.memory = y, .offset = 8}, 0, NULL, NULL),
                 CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(clayer_context_finish(context), CLAYER_OK);
    cl_mem all[] = {x, foreign, read_only, write_only, sub, y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cl->clReleaseMemObject(all[i]);
    cl->clReleaseContext(other);
    clayer_linear_destroy(&on_host);
    clayer_context_destroy(&host);
    clayer_context_destroy(&context);
    clayer_linear_destroy(&linear);
    stop();
}

/* A context over several sub-devices: the queue's is used. The application keeps its context: releasing the last
 * reference to one over sub-devices makes PoCL read freed memory. */
Test(opencl, context_over_two_devices)
{
    start(0);
    cl_device_id both[2];
    cl_uint count = 0;
    cl_int code;
    const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    __typeof__(clCreateSubDevices) *partition;
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
    cr_assert_not_null(loader);
    *(void **)&partition = dlsym(loader, "clCreateSubDevices");
    if (partition(device, halves, 2, both, &count) != CL_SUCCESS || count < 2) {
        stop();
        cr_skip_test("the device cannot be partitioned in two");
    }
    cl_context wide = cl->clCreateContext(NULL, 2, both, NULL, NULL, &code);
    cr_assert_eq(code, CL_SUCCESS);
    cl_command_queue second = cl->clCreateCommandQueue(wide, both[1], 0, &code);
    cr_assert_eq(code, CL_SUCCESS);
    const long live = fake.live("*");
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create_opencl(&(clayer_opencl_context_params){.queue = second}, &context), CLAYER_OK,
                 "%s", clayer_last_error());
    clayer_device_info info;
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    cr_expect_eq(info.compute_units, 1);
    cr_expect(*info.platform && *info.name && *info.id);
    clayer_linear *linear = make_layer(context, IN, OUT);
    float x[IN], y[OUT];
    for (size_t k = 0; k < IN; k++)
        x[k] = x_at(0, k);
    cr_assert_eq(clayer_linear_forward(linear, 1, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    for (size_t n = 0; n < OUT; n++)
        cr_expect_eq(y[n], expected(0, n, IN));
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), live);
}

Test(opencl, a_context_gives_its_objects_and_the_host_has_none)
{
    start(0);
    clayer_context *context = adopt("portable"), *host = NULL;
    clayer_buffer *buffer = NULL;
    cl_context found_context = NULL;
    cl_device_id found_device = NULL;
    cl_command_queue found_queue = NULL;
    cl_mem memory;
    cr_assert_eq(clayer_context_get_opencl(context, &found_context, &found_device, &found_queue), CLAYER_OK);
    cr_expect(found_context == app && found_device == device && found_queue == queue);
    cr_assert_eq(clayer_context_get_opencl(context, NULL, NULL, NULL), CLAYER_OK);
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "host"}, &host), CLAYER_OK);
    cr_assert_eq(clayer_context_get_opencl(host, &found_context, NULL, NULL), CLAYER_ERROR_UNSUPPORTED);
    cr_assert_eq(clayer_buffer_create(host, 1, &buffer), CLAYER_OK);
    cr_assert_eq(clayer_buffer_get_opencl(buffer, &memory), CLAYER_ERROR_UNSUPPORTED);
    clayer_buffer_destroy(&buffer);
    clayer_context_destroy(&host);
    clayer_context_destroy(&context);
    stop();
}

/* Every code of the specification (-13 to -19 and -30 to -72 without a gap) has its own name. */
Test(opencl, codes_have_names)
{
    static const struct {
        cl_int code;
        const char *name;
    } some[] = {{0, "CL_SUCCESS"},
                {-5, "CL_OUT_OF_RESOURCES"},
                {-11, "CL_BUILD_PROGRAM_FAILURE"},
                {-30, "CL_INVALID_VALUE"},
                {-54, "CL_INVALID_WORK_GROUP_SIZE"},
                {-61, "CL_INVALID_BUFFER_SIZE"},
                {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
                {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
                {-9999, "illegal access by a kernel"},
                {-29, "unknown code"},
                {1, "unknown code"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        cr_expect_str_eq(opencl_error_name(some[i].code), some[i].name);
    for (cl_int code = -1; code >= -72; code--) {
        if (code < -19 && code > -30)
            continue;
        cr_expect_eq(strncmp(opencl_error_name(code), "CL_", 3), 0, "%d is '%s'", (int)code, opencl_error_name(code));
        for (cl_int other = code + 1; other < 0; other++)
            cr_expect_str_neq(opencl_error_name(code), opencl_error_name(other), "%d and %d", (int)code, (int)other);
    }
}
