/* The fake driver by itself: numbers and kinds of devices, overrides, hostile strings, deaths on loading, the record.
 */
#include "fake/client.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fake_control fake;
static cl_platform_id platform;

static void load(void)
{
    fake = client_load("standalone");
    cr_assert_eq(cl.clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
}

static cl_uint devices_of(cl_device_type type, cl_device_id *devices)
{
    cl_uint count = 77;
    cl_int code = cl.clGetDeviceIDs(platform, type, devices ? 8 : 0, devices, &count);
    cr_assert_eq(code, count == 77 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS, "%d", code);
    return count;
}

static const char *text_of(cl_device_id device, cl_device_info query)
{
    static char text[100000];
    size_t length = 0;
    memset(text, '~', sizeof text);
    cr_assert_eq(cl.clGetDeviceInfo(device, query, sizeof text - 1, text, &length), CL_SUCCESS);
    text[length] = 0;
    return text;
}

Test(fake_listing, one_device)
{
    load();
    cl_device_id device;
    cr_assert_eq(devices_of(CL_DEVICE_TYPE_ALL, &device), 1);
    cr_expect_eq(devices_of(CL_DEVICE_TYPE_GPU, NULL), 1);
    cr_expect_eq(devices_of(CL_DEVICE_TYPE_CPU, NULL), 77, "none, and the count untouched");
    cr_expect_str_eq(text_of(device, CL_DEVICE_NAME), "Fake device");
    cl_bool compiler = CL_TRUE;
    cr_expect_eq(cl.clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL), 0);
    cr_expect_eq(compiler, CL_FALSE);
    cr_expect_eq(cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, 0, NULL, NULL), CL_INVALID_VALUE, "1.2 only");
}

Test(fake_listing, standalone_keeps_buffers)
{
    load();
    struct client client;
    cr_expect_eq(client_open(&client), CL_SUCCESS);
    float a[CLIENT_SIZE] = {0};
    cr_expect_eq(cl.clEnqueueReadBuffer(client.queue, client.buffers[0], CL_TRUE, 0, sizeof a, a, 0, NULL, NULL), 0);
    cr_expect_eq(a[999], 999);
    cr_expect_eq(client_build(&client, ""), CL_COMPILER_NOT_AVAILABLE);
    cr_expect_eq(cl.clEnqueueMarkerWithWaitList(client.queue, 0, NULL, NULL), CL_INVALID_OPERATION);
    cr_expect_eq(client_close(&client), CL_SUCCESS);
    cr_expect_eq(fake.live("*"), 0);
}

Test(fake_listing, numbers)
{
    setenv("CLAYER_FAKE_PLATFORMS", "3", 1);
    setenv("CLAYER_FAKE_DEVICES", "4", 1);
    setenv("CLAYER_FAKE_INFO",
           "CL_DEVICE_TYPE=cpu,2:CL_DEVICE_TYPE=gpu, 3:CL_DEVICE_NAME=Tester, the 4th,"
           "CL_DEVICE_MAX_WORK_ITEM_SIZES=64/2/1,0:CL_DEVICE_LOCAL_MEM_SIZE=!-30,CL_DEVICE_HALF_FP_CONFIG=!",
           1);
    load();
    cl_uint count = 0;
    cr_expect_eq(cl.clGetPlatformIDs(0, NULL, &count), CL_SUCCESS);
    cr_expect_eq(count, 3);
    cl_device_id devices[8], gpu[8];
    cr_assert_eq(devices_of(CL_DEVICE_TYPE_ALL, devices), 4);
    cr_assert_eq(devices_of(CL_DEVICE_TYPE_GPU, gpu), 1);
    cr_expect_eq(gpu[0], devices[2]);
    cr_expect_eq(devices_of(CL_DEVICE_TYPE_CPU, NULL), 3);
    cr_expect_str_eq(text_of(devices[3], CL_DEVICE_NAME), "Tester, the 4th");
    cr_expect_str_eq(text_of(devices[2], CL_DEVICE_NAME), "Fake device");
    size_t sizes[3] = {0}, length = 0;
    cr_expect_eq(cl.clGetDeviceInfo(devices[1], CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, &length), 0);
    cr_expect(length == sizeof sizes && sizes[0] == 64 && sizes[1] == 2 && sizes[2] == 1);
    cl_ulong local = 0;
    cr_expect_eq(cl.clGetDeviceInfo(devices[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL), -30);
    cr_expect_eq(cl.clGetDeviceInfo(devices[1], CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL), 0);
    cr_expect_eq(local, 32768);
    cr_expect_eq(cl.clGetDeviceInfo(devices[1], CL_DEVICE_HALF_FP_CONFIG, sizeof local, &local, NULL), -30);
    cr_expect_eq(fake.info("CL_DEVICE_LOCAL_MEM_SIZE=0"), 0, "the later override wins");
    cr_expect_eq(cl.clGetDeviceInfo(devices[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL), 0);
    cr_expect_eq(local, 0);
}

Test(fake_listing, no_device)
{
    setenv("CLAYER_FAKE_DEVICES", "0", 1);
    load();
    cr_expect_eq(devices_of(CL_DEVICE_TYPE_ALL, NULL), 77);
}

Test(fake_listing, no_platform)
{
    setenv("CLAYER_FAKE_PLATFORMS", "0", 1);
    fake = client_load("standalone");
    cl_uint count = 5;
    cr_expect_eq(cl.clGetPlatformIDs(0, NULL, &count), CL_PLATFORM_NOT_FOUND_KHR);
}

Test(fake_listing, hostile_strings)
{
    load();
    cl_device_id device;
    cr_assert_eq(devices_of(CL_DEVICE_TYPE_ALL, &device), 1);
    static const struct {
        const char *word;
        size_t length;
    } cases[] = {{"empty", 1}, {"size0", 0}, {"unterminated", 6}, {"64k", 65537}, {"percent", 17}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = 99;
        cr_assert_eq(fake.strings(cases[i].word), 0);
        cr_expect_eq(cl.clGetDeviceInfo(device, CL_DRIVER_VERSION, 0, NULL, &length), CL_SUCCESS);
        cr_expect_eq(length, cases[i].length, "%s: %zu", cases[i].word, length);
        cr_expect_eq(cl.clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, 0, NULL, &length), CL_SUCCESS);
        cr_expect_eq(length, cases[i].length, "%s: %zu", cases[i].word, length);
    }
    cr_assert_eq(fake.strings("unterminated"), 0);
    char exact[6];
    cr_expect_eq(cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof exact, exact, NULL), CL_SUCCESS);
    cr_expect_eq(memcmp(exact, "no end", 6), 0);
    cr_assert_eq(fake.strings("control"), 0);
    cr_expect(strstr(text_of(device, CL_DEVICE_NAME), "\x1b[2J"));
    cr_assert_eq(fake.strings("utf8bad"), 0);
    cr_expect(strchr(text_of(device, CL_DEVICE_NAME), '\xff'));
    cr_expect_eq(fake.strings("no such word"), -1);
    cr_expect_eq(fake.strings(""), 0);
    cr_expect_str_eq(text_of(device, CL_DEVICE_NAME), "Fake device");
}

Test(fake_listing, mistakes_are_told)
{
    load();
    static const char *const rules[] = {"clFinish",
                                        "clFnish = code:-5",
                                        "clFinish = code",
                                        "clFinish = code:0",
                                        "clFinish = cod:-5",
                                        "clFinish#0 = hang",
                                        "clFinish = hang arg",
                                        "clFinish#x = hang",
                                        "clFinish = delay:-1",
                                        "= hang",
                                        "clFinish = code:-5x",
                                        "clFinish = nan floats=-1",
                                        "clFinish = hang; x=y"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        cr_expect_eq(fake.set(rules[i]), -1, "%s", rules[i]);
    static const char *const overrides[] = {"CL_DEVICE_NME=x", "CL_DEVICE_AVAILABLE=yes", "CL_DEVICE_AVAILABLE",
                                            "CL_DEVICE_LOCAL_MEM_SIZE=1/2", "CL_DEVICE_LOCAL_MEM_SIZE=12q"};
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++)
        cr_expect_eq(fake.info(overrides[i]), -1, "%s", overrides[i]);
    struct client client;
    cr_expect_eq(client_open(&client), CL_SUCCESS);
    cr_expect_eq(cl.clFinish(client.queue), CL_SUCCESS, "no part of a refused text is in force");
    cr_expect_eq(client_close(&client), CL_SUCCESS);
}

Test(fake_listing, mistakes_in_the_environment_end_the_process, .signal = SIGABRT)
{
    setenv("CLAYER_FAKE_RULES", "clFinish = explode", 1);
    load();
}

/* The wait status of a child that lists devices with the variable set; -1: it had to be killed after a second. */
static int status_of_child(const char *variable, const char *value)
{
    pid_t child = fork();
    if (!child) {
        setenv(variable, value, 1);
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        exit(client_try("standalone") != NULL);
    }
    int status;
    for (int i = 0; i < 50; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        usleep(20000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

Test(fake_listing, deaths)
{
    if (!dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL))
        cr_skip_test("no libOpenCL.so.1");
    int status = status_of_child("CLAYER_FAKE_ON_LOAD", "abort");
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = status_of_child("CLAYER_FAKE_ON_LOAD", "segv");
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = status_of_child("CLAYER_FAKE_ON_LOAD", "exit:9");
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    cr_expect_eq(status_of_child("CLAYER_FAKE_ON_LOAD", "hang"), -1);
    status = status_of_child("CLAYER_FAKE_ON_UNLOAD", "abort");
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_expect_eq(status_of_child("CLAYER_FAKE_ON_UNLOAD", "spin"), -1);
    cr_expect_eq(status_of_child("CLAYER_FAKE_ON_UNLOAD", ""), 0);
}

Test(fake_listing, record)
{
    char path[] = "fake-record-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    setenv("CLAYER_FAKE_RECORD", path, 1);
    load();
    struct client client;
    cr_expect_eq(client_open(&client), CL_SUCCESS);
    client_build(&client, "-DROWS=4 -cl-mad-enable");
    cr_expect_eq(client_close(&client), CL_SUCCESS);
    char text[200] = "";
    cr_expect_gt(read(file, text, sizeof text - 1), 0);
    cr_expect_str_eq(text, "clBuildProgram -DROWS=4 -cl-mad-enable\n");
    close(file);
    unlink(path);
    unsetenv("CLAYER_FAKE_RECORD");
}
