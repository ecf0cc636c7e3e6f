/* The fake driver's wrapped objects: handles map back, callbacks get ours, misuse is refused, threads do not mix. */
#include "fake/client.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

static struct fake_control fake;
static struct client client;

static void start(void)
{
    fake = client_load("pass");
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    cr_assert_eq(client_build(&client, ""), CL_SUCCESS);
}

static void stop(void)
{
    if (fake.library) {
        /* PoCL compiles kernels in a thread of its own at the first launch; a process that exits meanwhile crashes. */
        if (client.queue)
            cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
        cr_expect_eq(client_close(&client), CL_SUCCESS);
        cr_expect_eq(fake.live("*"), 0);
    }
}

TestSuite(fake_objects, .init = start, .fini = stop);

/* A query that answers with one handle. */
#define EXPECT_HANDLE(function, object, query, expected)                                                               \
    do {                                                                                                               \
        void *handle = NULL;                                                                                           \
        size_t length = 0;                                                                                             \
        cr_expect_eq(cl.function(object, query, sizeof handle, &handle, &length), CL_SUCCESS, #query);                 \
        cr_expect_eq(handle, (void *)(expected), #query);                                                              \
        cr_expect_eq(length, sizeof handle, #query);                                                                   \
        cr_expect_eq(cl.function(object, query, 1, &handle, NULL), CL_INVALID_VALUE, #query);                          \
    } while (0)

Test(fake_objects, handles_map_back)
{
    cl_event event;
    cr_assert_eq(client_launch(&client, &event), CL_SUCCESS);
    EXPECT_HANDLE(clGetDeviceInfo, client.device, CL_DEVICE_PLATFORM, client.platform);
    EXPECT_HANDLE(clGetDeviceInfo, client.device, CL_DEVICE_PARENT_DEVICE, NULL);
    EXPECT_HANDLE(clGetContextInfo, client.context, CL_CONTEXT_DEVICES, client.device);
    EXPECT_HANDLE(clGetCommandQueueInfo, client.queue, CL_QUEUE_CONTEXT, client.context);
    EXPECT_HANDLE(clGetCommandQueueInfo, client.queue, CL_QUEUE_DEVICE, client.device);
    EXPECT_HANDLE(clGetMemObjectInfo, client.buffers[0], CL_MEM_CONTEXT, client.context);
    EXPECT_HANDLE(clGetMemObjectInfo, client.buffers[0], CL_MEM_ASSOCIATED_MEMOBJECT, NULL);
    EXPECT_HANDLE(clGetProgramInfo, client.program, CL_PROGRAM_CONTEXT, client.context);
    EXPECT_HANDLE(clGetProgramInfo, client.program, CL_PROGRAM_DEVICES, client.device);
    EXPECT_HANDLE(clGetKernelInfo, client.kernel, CL_KERNEL_CONTEXT, client.context);
    EXPECT_HANDLE(clGetKernelInfo, client.kernel, CL_KERNEL_PROGRAM, client.program);
    EXPECT_HANDLE(clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE, client.queue);
    EXPECT_HANDLE(clGetEventInfo, event, CL_EVENT_CONTEXT, client.context);

    cl_context_properties properties[3];
    cr_expect_eq(cl.clGetContextInfo(client.context, CL_CONTEXT_PROPERTIES, sizeof properties, properties, NULL), 0);
    cr_expect_eq(properties[0], CL_CONTEXT_PLATFORM);
    cr_expect_eq(properties[1], (cl_context_properties)client.platform);
    cr_expect_eq(properties[2], 0);
    cl_uint references = 0;
    cr_expect_eq(cl.clGetContextInfo(client.context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL),
                 0);
    cr_expect_eq(references, 1, "the application's references only");
    cr_expect_eq(cl.clReleaseEvent(event), CL_SUCCESS);
}

Test(fake_objects, commands_and_wait_lists)
{
    cl_int code;
    const cl_buffer_region region = {0, 512};
    cl_mem half =
        cl.clCreateSubBuffer(client.buffers[CLIENT_C], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    cr_assert_eq(code, CL_SUCCESS);
    EXPECT_HANDLE(clGetMemObjectInfo, half, CL_MEM_ASSOCIATED_MEMOBJECT, client.buffers[CLIENT_C]);

    /* gate -> fill -> copy -> barrier -> map, all held back by a user event; more events than a small list holds. */
    cl_event events[20], gate = cl.clCreateUserEvent(client.context, &code), barrier, mapped;
    const float seven = 7;
    cr_assert_eq(code, CL_SUCCESS);
    for (int i = 0; i < 20; i++)
        cr_assert_eq(cl.clEnqueueFillBuffer(client.queue, half, &seven, sizeof seven, 0, 256, 1, &gate, &events[i]), 0);
    cr_expect_eq(cl.clEnqueueCopyBuffer(client.queue, half, client.buffers[CLIENT_A], 0, 256, 256, 20, events, NULL),
                 CL_SUCCESS);
    cr_expect_eq(cl.clEnqueueBarrierWithWaitList(client.queue, 1, &events[3], &barrier), CL_SUCCESS);
    cr_expect_eq(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    float *pointer = cl.clEnqueueMapBuffer(client.queue, client.buffers[CLIENT_A], CL_TRUE, CL_MAP_READ, 0, 1024, 1,
                                           &barrier, &mapped, &code);
    cr_assert_eq(code, CL_SUCCESS);
    cr_expect_eq(pointer[63], 63);
    cr_expect_eq(pointer[64], 7);
    cr_expect_eq(cl.clEnqueueUnmapMemObject(client.queue, client.buffers[CLIENT_A], pointer, 0, NULL, NULL), 0);
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
    cr_expect_eq(fake.live("event"), 23);
    for (int i = 0; i < 20; i++)
        cl.clReleaseEvent(events[i]);
    cl.clReleaseEvent(gate), cl.clReleaseEvent(barrier), cl.clReleaseEvent(mapped);

    /* A child outlives the application's handle of its parent. */
    cl_mem parent = client.buffers[CLIENT_C];
    client.buffers[CLIENT_C] = NULL;
    cr_expect_eq(cl.clReleaseMemObject(parent), CL_SUCCESS);
    EXPECT_HANDLE(clGetMemObjectInfo, half, CL_MEM_ASSOCIATED_MEMOBJECT, parent);
    cr_expect_eq(cl.clReleaseMemObject(half), CL_SUCCESS);
    cr_expect_eq(fake.misuses(), 0);
}

static pthread_mutex_t seen_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t seen_change = PTHREAD_COND_INITIALIZER;
static void *seen;
static void *seen_data;

static void see(void *handle, void *data)
{
    pthread_mutex_lock(&seen_mutex);
    seen = handle;
    seen_data = data;
    pthread_cond_signal(&seen_change);
    pthread_mutex_unlock(&seen_mutex);
}

static void CL_CALLBACK event_called(cl_event event, cl_int status, void *data)
{
    (void)status;
    see(event, data);
}

static void CL_CALLBACK program_called(cl_program program, void *data)
{
    see(program, data);
}

static void CL_CALLBACK mem_called(cl_mem mem, void *data)
{
    see(mem, data);
}

static void expect_seen(void *handle, void *data)
{
    pthread_mutex_lock(&seen_mutex);
    while (!seen)
        pthread_cond_wait(&seen_change, &seen_mutex);
    cr_expect_eq(seen, handle);
    cr_expect_eq(seen_data, data);
    seen = NULL;
    pthread_mutex_unlock(&seen_mutex);
}

Test(fake_objects, callbacks_get_our_handles, .timeout = 30)
{
    int data;
    cl_int code;
    cl_event gate = cl.clCreateUserEvent(client.context, &code), event;
    cr_assert_eq(cl.clEnqueueMarkerWithWaitList(client.queue, 1, &gate, &event), CL_SUCCESS);
    cr_assert_eq(cl.clSetEventCallback(event, CL_COMPLETE, event_called, &data), CL_SUCCESS);
    void *handle = event;
    cr_expect_eq(cl.clReleaseEvent(event), CL_SUCCESS, "released before its callback comes");
    cr_expect_eq(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    expect_seen(handle, &data);
    cr_expect_eq(cl.clReleaseEvent(gate), CL_SUCCESS);

    cl.clReleaseKernel(client.kernel);
    client.kernel = NULL;
    cr_expect_eq(cl.clBuildProgram(client.program, 1, &client.device, "", program_called, &data), CL_SUCCESS);
    expect_seen(client.program, &data);

    cl_mem mem = cl.clCreateBuffer(client.context, 0, 64, NULL, &code);
    cr_expect_eq(cl.clSetMemObjectDestructorCallback(mem, mem_called, &data), CL_SUCCESS);
    cr_expect_eq(cl.clReleaseMemObject(mem), CL_SUCCESS);
    expect_seen(mem, &data);
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
}

Test(fake_objects, misuse_is_refused)
{
    cl_int code;
    cl_mem mem = cl.clCreateBuffer(client.context, 0, 64, NULL, &code);
    cr_expect_eq(cl.clReleaseMemObject(mem), CL_SUCCESS);
    cr_expect_eq(fake.misuses(), 0);
    cr_expect_eq(cl.clReleaseMemObject(mem), CL_INVALID_MEM_OBJECT, "released too often");
    cr_expect_eq(cl.clRetainMemObject(mem), CL_INVALID_MEM_OBJECT);
    cr_expect_eq(cl.clSetKernelArg(client.kernel, 0, sizeof mem, &mem), CL_INVALID_MEM_OBJECT, "a dead argument");
    cr_expect_eq(cl.clReleaseMemObject((cl_mem)client.queue), CL_INVALID_MEM_OBJECT, "another kind of object");
    cr_expect_eq(fake.misuses(), 4);
    cl_event event;
    cr_assert_eq(client_launch(&client, &event), CL_SUCCESS);
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
    cr_expect_eq(cl.clReleaseEvent(event), CL_SUCCESS);
    cr_expect_eq(cl.clEnqueueMarkerWithWaitList(client.queue, 1, &event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    cr_expect_eq(fake.misuses(), 5);
}

Test(fake_objects, sub_devices)
{
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id devices[64];
    cl_uint count = 0;
    if (cl.clCreateSubDevices(client.device, equally, 64, devices, &count) != CL_SUCCESS)
        cr_skip_test("PoCL does not partition this machine's CPU");
    cr_expect_eq(fake.live("device"), count);
    EXPECT_HANDLE(clGetDeviceInfo, devices[0], CL_DEVICE_PARENT_DEVICE, client.device);
    EXPECT_HANDLE(clGetDeviceInfo, devices[0], CL_DEVICE_PLATFORM, client.platform);
    for (cl_uint i = 0; i < count; i++)
        cr_expect_eq(cl.clReleaseDevice(devices[i]), CL_SUCCESS);
    cr_expect_eq(cl.clReleaseDevice(client.device), CL_SUCCESS, "a root device: no-op");
    cr_expect_eq(fake.live("device"), 0);
}

static void *worker(void *unused)
{
    for (int i = 0; i < 200; i++) {
        cl_int code;
        float value = (float)i, back = 0;
        cl_event event;
        cl_mem mem = cl.clCreateBuffer(client.context, 0, sizeof value, NULL, &code);
        cl.clEnqueueWriteBuffer(client.queue, mem, CL_FALSE, 0, sizeof value, &value, 0, NULL, &event);
        cl.clEnqueueReadBuffer(client.queue, mem, CL_TRUE, 0, sizeof back, &back, 1, &event, NULL);
        cl.clReleaseEvent(event);
        cl.clReleaseMemObject(mem);
        if (back != value)
            return "a thread read another value than it wrote";
    }
    return unused;
}

Test(fake_objects, threads)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 4; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        cr_expect_null(complaint, "%s", (char *)complaint);
    }
    cr_expect_eq(fake.created("mem"), 3 + 800);
    cr_expect_eq(fake.live("mem"), 3);
    cr_expect_eq(fake.live("event"), 0);
}
