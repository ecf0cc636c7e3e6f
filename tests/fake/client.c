#include "fake/client.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cl_icd_dispatch cl;

static const char source[] = "kernel void add(global float *c, global const float *a, global const float *b)\n"
                             "{\n"
                             "    size_t i = get_global_id(0);\n"
                             "    c[i] = a[i] + b[i];\n"
                             "}\n";

const char *client_try(const char *mode)
{
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", mode, 1);
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!loader)
        return "no libOpenCL.so.1";
#define X(name, flag) *(void **)&cl.name = dlsym(loader, #name);
    FAKE_FUNCTIONS(X)
#undef X
    cl_uint count = 0;
    cl.clGetPlatformIDs(0, NULL, &count);
    return !count && !strcmp(mode, "pass") ? "no PoCL for the fake driver to pass on to" : NULL;
}

struct fake_control client_load(const char *mode)
{
    cr_assert_eq(access(FAKE_LIBRARY, R_OK), 0, "%s is missing", FAKE_LIBRARY);
    const char *missing = client_try(mode);
    if (missing)
        cr_skip_test("%s", missing);
    struct fake_control control = fake_reach(FAKE_LIBRARY);
    cr_assert(control.library, "the loader has not opened %s", FAKE_LIBRARY);
    return control;
}

float client_sum(int i)
{
    return (float)i + 0.5f * (float)i;
}

#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        cl_int step_code = (call);                                                                                     \
        if (step_code != CL_SUCCESS)                                                                                   \
            return step_code;                                                                                          \
    } while (0)

/* The first device, but PoCL's "basic" only where it is alone: that one waits for itself, for ever, when a user event
 * on which commands wait is set. */
static cl_int choose_device(struct client *client)
{
    cl_device_id devices[8];
    cl_uint count = 0;
    char name[64] = "";
    STEP(cl.clGetDeviceIDs(client->platform, CL_DEVICE_TYPE_ALL, 8, devices, &count));
    client->device = devices[0];
    for (cl_uint i = 0; count > 1 && i < count && i < 8; i++) {
        STEP(cl.clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL));
        if (strncmp(name, "basic", 5) != 0) {
            client->device = devices[i];
            break;
        }
    }
    return CL_SUCCESS;
}

cl_int client_open(struct client *client)
{
    memset(client, 0, sizeof *client);
    STEP(cl.clGetPlatformIDs(1, &client->platform, NULL));
    STEP(choose_device(client));
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)client->platform, 0};
    cl_int code;
    client->context = cl.clCreateContext(properties, 1, &client->device, NULL, NULL, &code);
    STEP(code);
    client->queue = cl.clCreateCommandQueue(client->context, client->device, CL_QUEUE_PROFILING_ENABLE, &code);
    STEP(code);

    float values[3][CLIENT_SIZE];
    for (int i = 0; i < CLIENT_SIZE; i++) {
        values[CLIENT_A][i] = (float)i;
        values[CLIENT_B][i] = 0.5f * (float)i;
        values[CLIENT_C][i] = NAN;
    }
    for (int i = 0; i < 3; i++) {
        cl_mem_flags flags = i == CLIENT_C ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
        client->buffers[i] = cl.clCreateBuffer(client->context, flags, sizeof values[i], NULL, &code);
        STEP(code);
        STEP(cl.clEnqueueWriteBuffer(client->queue, client->buffers[i], CL_TRUE, 0, sizeof values[i], values[i], 0,
                                     NULL, NULL));
    }
    return CL_SUCCESS;
}

cl_int client_build(struct client *client, const char *options)
{
    const char *text = source;
    cl_int code;
    client->program = cl.clCreateProgramWithSource(client->context, 1, &text, NULL, &code);
    STEP(code);
    STEP(cl.clBuildProgram(client->program, 1, &client->device, options, NULL, NULL));
    client->kernel = cl.clCreateKernel(client->program, "add", &code);
    STEP(code);
    STEP(cl.clSetKernelArg(client->kernel, 0, sizeof(cl_mem), &client->buffers[CLIENT_C]));
    STEP(cl.clSetKernelArg(client->kernel, 1, sizeof(cl_mem), &client->buffers[CLIENT_A]));
    return cl.clSetKernelArg(client->kernel, 2, sizeof(cl_mem), &client->buffers[CLIENT_B]);
}

cl_int client_launch(struct client *client, cl_event *event)
{
    const size_t global = CLIENT_SIZE, local = 1; /* legal on any device */
    return cl.clEnqueueNDRangeKernel(client->queue, client->kernel, 1, NULL, &global, &local, 0, NULL, event);
}

cl_int client_read(struct client *client, float *c)
{
    return cl.clEnqueueReadBuffer(client->queue, client->buffers[CLIENT_C], CL_TRUE, 0, sizeof(float) * CLIENT_SIZE, c,
                                  0, NULL, NULL);
}

cl_int client_close(struct client *client)
{
    cl_int codes[7] = {0};
    if (client->kernel)
        codes[0] = cl.clReleaseKernel(client->kernel);
    if (client->program)
        codes[1] = cl.clReleaseProgram(client->program);
    for (int i = 0; i < 3; i++)
        if (client->buffers[i])
            codes[2 + i] = cl.clReleaseMemObject(client->buffers[i]);
    if (client->queue)
        codes[5] = cl.clReleaseCommandQueue(client->queue);
    if (client->context)
        codes[6] = cl.clReleaseContext(client->context);
    memset(client, 0, sizeof *client);
    for (int i = 0; i < 7; i++)
        STEP(codes[i]);
    return CL_SUCCESS;
}

static cl_int life(struct client *client, float *c)
{
    cl_event event = NULL;
    STEP(client_open(client));
    STEP(client_build(client, ""));
    STEP(client_launch(client, &event));
    cl_int waited = cl.clWaitForEvents(1, &event), released = cl.clReleaseEvent(event);
    STEP(waited);
    STEP(released);
    STEP(client_read(client, c));
    return cl.clFinish(client->queue);
}

cl_int client_life(float *c)
{
    struct client client;
    cl_int code = life(&client, c), closed = client_close(&client);
    return code != CL_SUCCESS ? code : closed;
}
