/* The fake driver in front of PoCL: it passes calls on faithfully, counts exactly, and fails as its rules say. */
#include "fake/client.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct fake_control fake;
static struct client client;

static void load(void)
{
    fake = client_load("pass");
}

static void rule(const char *text)
{
    cr_assert_eq(fake.set(text), 0, "%s", text);
}

static void open_and_build(const char *options)
{
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    cr_assert_eq(client_build(&client, options), CL_SUCCESS);
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* c as the kernel should leave it, in all of [from, to). */
static void expect_sums(const float *c, int from, int to)
{
    for (int i = from; i < to; i++)
        cr_assert_eq(c[i], client_sum(i), "c[%d] is %g, not %g", i, (double)c[i], (double)client_sum(i));
}

static void launch_and_read(float *c)
{
    cr_assert_eq(client_launch(&client, NULL), CL_SUCCESS);
    cr_assert_eq(client_read(&client, c), CL_SUCCESS);
}

TestSuite(fake, .init = load);

Test(fake, passes_on_and_counts)
{
    float c[CLIENT_SIZE];
    cr_assert_eq(client_life(c), CL_SUCCESS);
    expect_sums(c, 0, CLIENT_SIZE);
    cr_expect_eq(fake.count("clCreateBuffer"), 3);
    cr_expect_eq(fake.count("clEnqueueWriteBuffer"), 3);
    cr_expect_eq(fake.count("clEnqueue*"), 5);
    cr_expect_eq(fake.created("mem"), 3);
    cr_expect_eq(fake.created("*"), 8);
    cr_expect_eq(fake.live("*"), 0);
    cr_expect_eq(fake.misuses(), 0);
    cr_expect_eq(fake.live("teapot"), -1);
    cr_expect_str_eq(fake.failed(), "");

    open_and_build("");
    cr_expect_eq(fake.live("context"), 1);
    cr_expect_eq(fake.live("mem"), 3);
    cr_expect_eq(cl.clRetainMemObject(client.buffers[0]), CL_SUCCESS);
    cr_expect_eq(fake.live("mem"), 4);
    cr_expect_eq(cl.clReleaseMemObject(client.buffers[0]), CL_SUCCESS);
    cr_expect_eq(client_close(&client), CL_SUCCESS);
    cr_expect_eq(fake.live("*"), 0);
}

Test(fake, nth_call_fails)
{
    rule("clCreateBuffer#2 = code:-4");
    float c[CLIENT_SIZE];
    cr_expect_eq(client_life(c), -4);
    cr_expect_str_eq(fake.failed(), "clCreateBuffer");
    cr_expect_eq(fake.count("clCreateBuffer"), 2);
    cr_expect_eq(fake.live("*"), 0);
    cr_expect_eq(client_life(c), CL_SUCCESS, "only the second call fails");

    fake.reset();
    rule("clEnqueueWrite*#2+=code:-5");
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(client_life(c), -5);
        cr_expect_eq(fake.count("clEnqueueWriteBuffer"), 2 + i, "the second and all later ones fail");
    }
    fake.reset();
    cr_expect_eq(client_life(c), CL_SUCCESS);
}

/* The way to walk a whole life: fail each call in turn until none is left to fail. */
Test(fake, every_call_in_turn)
{
    float c[CLIENT_SIZE];
    fake.reset(); /* the loader has made calls too */
    cr_assert_eq(client_life(c), CL_SUCCESS);
    long calls = fake.count("*"), n = 0;
    for (;;) {
        char text[64];
        snprintf(text, sizeof text, "*#%ld = code:-6", ++n);
        fake.reset();
        rule(text);
        cl_int code = client_life(c);
        cr_assert_eq(fake.live("*"), 0, "leak after %s in call %ld", fake.failed(), n);
        if (code == CL_SUCCESS)
            break;
        cr_assert_eq(code, -6, "%s", fake.failed());
        cr_assert(*fake.failed());
    }
    cr_expect_eq(n, calls + 1, "%ld of %ld calls failed", n - 1, calls);
}

Test(fake, options_choose)
{
    rule("clBuildProgram?-DROWS=1$?-DWIDTH=4 = code:-11; clEnqueueNDRangeKernel?add?ROWS=8$ = code:-54");
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    static const struct {
        const char *options;
        cl_int build, launch;
    } cases[] = {{"-DROWS=1 -DWIDTH=4", -11, 0},
                 {"-DROWS=16 -DWIDTH=4", 0, 0},
                 {"-DWIDTH=4 -DROWS=1", -11, 0},
                 {"-DROWS=1 -DWIDTH=8", 0, 0},
                 {"-DROWS=8", 0, -54}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(client_build(&client, cases[i].options), cases[i].build, "%s", cases[i].options);
        if (!cases[i].build)
            cr_expect_eq(client_launch(&client, NULL), cases[i].launch, "%s", cases[i].options);
    }
    /* PoCL compiles kernels in a thread of its own at the first launch, and crashes if the process exits meanwhile. */
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
}

Test(fake, dead_device)
{
    open_and_build("");
    rule("clEnqueueNDRangeKernel#3 = dead:-36");
    float c[CLIENT_SIZE];
    launch_and_read(c);
    launch_and_read(c);
    cr_expect_eq(client_launch(&client, NULL), -36);
    cr_expect_eq(client_read(&client, c), -36);
    cr_expect_eq(cl.clFinish(client.queue), -36);
    cl_int code = 0;
    cr_expect_null(cl.clCreateBuffer(client.context, 0, 4, NULL, &code));
    cr_expect_eq(code, -36);
    cr_expect_eq(client_close(&client), CL_SUCCESS, "what is held can still be released");
    cr_expect_eq(fake.live("*"), 0);
    fake.reset();
    cr_expect_eq(client_life(c), CL_SUCCESS);
}

Test(fake, wrong_results)
{
    float c[CLIENT_SIZE];
    open_and_build("");
    rule("clEnqueueNDRangeKernel#1 = skip; clEnqueueNDRangeKernel#2 = nan; clEnqueueNDRangeKernel#4 = lastrow floats=7;"
         "clEnqueueNDRangeKernel#6 = nan arg=0 end=400 floats=3");
    launch_and_read(c);
    for (int i = 0; i < CLIENT_SIZE; i++)
        cr_assert(isnan(c[i]), "a skipped launch wrote c[%d]", i);
    launch_and_read(c);
    for (int i = 0; i < CLIENT_SIZE; i++)
        cr_assert(isnan(c[i]));
    launch_and_read(c);
    expect_sums(c, 0, CLIENT_SIZE);
    launch_and_read(c);
    expect_sums(c, 0, CLIENT_SIZE - 7);
    for (int i = CLIENT_SIZE - 7; i < CLIENT_SIZE; i++)
        cr_expect_eq(c[i], 2 * client_sum(i) + 1);
    launch_and_read(c);
    expect_sums(c, 0, CLIENT_SIZE);
    launch_and_read(c);
    expect_sums(c, 0, 97);
    for (int i = 97; i < 100; i++)
        cr_expect(isnan(c[i]));
    expect_sums(c, 100, CLIENT_SIZE);
}

static cl_ulong profile(cl_event event, cl_profiling_info query)
{
    cl_ulong time = 0;
    cr_assert_eq(cl.clGetEventProfilingInfo(event, query, sizeof time, &time, NULL), CL_SUCCESS);
    return time;
}

Test(fake, lying_clocks)
{
    open_and_build("-DSLOW");
    cl_event event;
    cr_assert_eq(client_launch(&client, &event), CL_SUCCESS);
    cr_assert_eq(cl.clWaitForEvents(1, &event), CL_SUCCESS);
    cl_ulong start = profile(event, CL_PROFILING_COMMAND_START), end = profile(event, CL_PROFILING_COMMAND_END);
    cr_assert(start && end > start);
    rule("clGetEventProfilingInfo?-DFAST = zero; clGetEventProfilingInfo?add -DSLOW = scale:3");
    cr_expect_eq(profile(event, CL_PROFILING_COMMAND_START), start);
    cr_expect_eq(profile(event, CL_PROFILING_COMMAND_END), start + 3 * (end - start));
    fake.reset();
    rule("clGetEventProfilingInfo = zero");
    cr_expect_eq(profile(event, CL_PROFILING_COMMAND_START), 0);
    cr_expect_eq(profile(event, CL_PROFILING_COMMAND_END), 0);
    fake.reset();
    rule("clGetEventProfilingInfo = backwards");
    cr_expect_gt(profile(event, CL_PROFILING_COMMAND_START), profile(event, CL_PROFILING_COMMAND_END));
    fake.reset();
    rule("clGetEventProfilingInfo = noise:10");
    double noisy = (double)(profile(event, CL_PROFILING_COMMAND_END) - start), true_time = (double)(end - start);
    cr_expect(noisy >= 0.9 * true_time - 1 && noisy <= 1.1 * true_time + 1);
    cr_expect_eq(cl.clReleaseEvent(event), CL_SUCCESS);
}

Test(fake, slow_calls)
{
    open_and_build("");
    cr_assert_eq(client_launch(&client, NULL), CL_SUCCESS);
    rule("clEnqueueNDRangeKernel = first:200ms; clFinish#1 = delay:100ms");
    double start = milliseconds();
    cr_expect_eq(client_launch(&client, NULL), CL_SUCCESS);
    cr_expect_geq(milliseconds() - start, 200, "first launch since the rule");
    fake.reset();
    rule("clEnqueueNDRangeKernel = first:100000ms");
    cr_expect_eq(client_launch(&client, NULL), CL_SUCCESS, "not the first any more: this returns");
    rule("clFinish#1 = delay:100ms");
    start = milliseconds();
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS);
    cr_expect_geq(milliseconds() - start, 100);
}

Test(fake, build_logs)
{
    open_and_build("");
    size_t length = 1;
    char byte = 'x';
    rule("clGetProgramBuildInfo#1 = log:0; clGetProgramBuildInfo#2 = log:0; clGetProgramBuildInfo#3+ = log:5M");
    cr_expect_eq(cl.clGetProgramBuildInfo(client.program, client.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length), 0);
    cr_expect_eq(length, 0);
    cr_expect_eq(cl.clGetProgramBuildInfo(client.program, client.device, CL_PROGRAM_BUILD_LOG, 1, &byte, NULL), 0);
    cr_expect_eq(byte, 'x', "a log of length 0 writes nothing");
    cr_expect_eq(cl.clGetProgramBuildInfo(client.program, client.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length), 0);
    cr_assert_eq(length, 5 << 20);
    char *log = malloc(length);
    cr_expect_eq(cl.clGetProgramBuildInfo(client.program, client.device, CL_PROGRAM_BUILD_LOG, length, log, NULL), 0);
    cr_expect_eq(strlen(log), length - 1);
    cr_expect_eq(cl.clGetProgramBuildInfo(client.program, client.device, CL_PROGRAM_BUILD_LOG, 10, log, NULL),
                 CL_INVALID_VALUE);
    free(log);
}

Test(fake, nonsense)
{
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    rule("clCreateBuffer = nonsense; clGetDeviceInfo#1 = nonsense; clGetDeviceInfo#2 = nonsense:ff;"
         "clGetDeviceIDs = nonsense; clEnqueueMarkerWithWaitList = nonsense");
    cl_int code = 1;
    cr_expect_null(cl.clCreateBuffer(client.context, 0, 4, NULL, &code));
    cr_expect_eq(code, CL_SUCCESS);
    size_t size = 1;
    cr_expect_eq(cl.clGetDeviceInfo(client.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof size, &size, NULL), 0);
    cr_expect_eq(size, 0);
    cr_expect_eq(cl.clGetDeviceInfo(client.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof size, &size, NULL), 0);
    cr_expect_eq(size, (size_t)-1);
    cl_uint count = 7;
    cr_expect_eq(cl.clGetDeviceIDs(client.platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count), CL_SUCCESS);
    cr_expect_eq(count, 0);
    cl_event event = (cl_event)&count;
    cr_expect_eq(cl.clEnqueueMarkerWithWaitList(client.queue, 0, NULL, &event), CL_SUCCESS);
    cr_expect_eq(event, (cl_event)&count, "the event stays unset");
}

Test(fake, compiler_aborts, .signal = SIGABRT)
{
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    rule("clBuildProgram?-DROWS=4 = abort");
    cr_assert_eq(client_build(&client, "-DROWS=2"), CL_SUCCESS);
    client_build(&client, "-DROWS=4");
}

Test(fake, compiler_crashes, .signal = SIGSEGV)
{
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    rule("clBuildProgram#1 = segv");
    client_build(&client, "");
}

Test(fake, compiler_exits, .exit_code = 7)
{
    cr_assert_eq(client_open(&client), CL_SUCCESS);
    rule("clBuildProgram = exit:7");
    client_build(&client, "");
}

/* Without the loader in this process: the child starts it. */
Test(fake_child, hangs)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        const char *missing = client_try("pass");
        if (!missing && client_open(&client) == CL_SUCCESS && fake_reach(FAKE_LIBRARY).set("clFinish = hang") == 0 &&
            write(ends[1], "x", 1) == 1)
            cl.clFinish(client.queue);
        _exit(missing ? 77 : 0);
    }
    close(ends[1]);
    char byte;
    ssize_t got = read(ends[0], &byte, 1);
    int status;
    if (got == 1) {
        usleep(200000);
        cr_expect_eq(waitpid(child, &status, WNOHANG), 0, "clFinish has returned");
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    if (got != 1 && WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("no libOpenCL or no PoCL");
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
