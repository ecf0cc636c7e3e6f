/* clayer as a guest in another program: fork, unloading, nothing printed, nothing left. Ending a program without
 * cleaning up is leaves_main.c's. */
#include "fake/fake.h"
#include "support/heap.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IN = 16, OUT = 12, BATCH = 20000 };

static float weight[OUT * IN], bias[OUT];

static void start(void)
{
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("POCL_DEVICES", "pthread", 1);
    unsetenv("CLAYER_PLAN");
    unsetenv("CLAYER_LOG");
    for (size_t i = 0; i < OUT * IN; i++)
        weight[i] = (float)(i % 5) - 2;
    for (size_t i = 0; i < OUT; i++)
        bias[i] = (float)i;
}

static clayer_context *open_context(const char *device)
{
    clayer_context *context = NULL;
    const clayer_status status = clayer_context_create(
        &(clayer_context_params){.device = device, .plan = strcmp(device, "host") ? "panel" : ""}, &context);
    if (status == CLAYER_ERROR_NO_DEVICE || status == CLAYER_ERROR_NO_OPENCL)
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    return context;
}

static clayer_linear *make_layer(clayer_context *context)
{
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    return linear;
}

/* Runs one row of ones; true when the result is right. */
static bool forward(clayer_linear *linear)
{
    float x[IN], y[OUT];
    for (size_t k = 0; k < IN; k++)
        x[k] = 1;
    if (clayer_linear_forward(linear, 1, x, IN, y, OUT) != CLAYER_OK)
        return false;
    for (size_t n = 0; n < OUT; n++) {
        float sum = bias[n];
        for (size_t k = 0; k < IN; k++)
            sum += weight[n * IN + k];
        if (y[n] != sum)
            return false;
    }
    return true;
}

static int exit_code(pid_t child)
{
    int state = 0;
    cr_assert_eq(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1000 + WTERMSIG(state);
}

/* In the child of a process that has started OpenCL: which step failed, 0 for none. */
static int child_steps(clayer_context *context, clayer_linear *linear, clayer_model *model, clayer_buffer *buffer)
{
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    const long calls = fake.count("*");
    float x[IN] = {0}, y[OUT];
    clayer_buffer *fresh = NULL;
    clayer_context *other = NULL, *host = NULL;
    clayer_linear *on_host = NULL;
    if (clayer_linear_forward(linear, 1, x, IN, y, OUT) != CLAYER_ERROR_FORKED)
        return 1;
    if (clayer_model_forward(model, 1, x, IN, y, OUT) != CLAYER_ERROR_FORKED)
        return 2;
    if (clayer_buffer_create(context, 4, &fresh) != CLAYER_ERROR_FORKED)
        return 3;
    if (clayer_buffer_read(buffer, 0, x, 4) != CLAYER_ERROR_FORKED)
        return 4;
    if (clayer_linear_set_bias(linear, bias) != CLAYER_ERROR_FORKED)
        return 5;
    if (clayer_context_finish(context) != CLAYER_ERROR_FORKED)
        return 6;
    if (clayer_context_create(NULL, &other) == CLAYER_OK) {
        clayer_device_info info;
        clayer_context_device(other, &info);
        if (info.type != CLAYER_DEVICE_HOST) /* the automatic choice may fall to the host, and to nothing else */
            return 7;
        clayer_context_destroy(&other);
    }
    if (clayer_context_create(&(clayer_context_params){.device = "host"}, &host) != CLAYER_OK)
        return 8;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias};
    if (clayer_linear_create(host, &params, &on_host) != CLAYER_OK || !forward(on_host))
        return 9;
    clayer_linear_destroy(&on_host);
    clayer_context_destroy(&host);
    clayer_context_destroy(&context);
    clayer_buffer_destroy(&buffer);
    clayer_model_destroy(&model);
    clayer_linear_destroy(&linear);
    return fake.count("*") == calls ? 0 : 10;
}

Test(guest, forked_child_makes_no_opencl_call)
{
    start();
    clayer_context *context = open_context("cpu");
    clayer_linear *linear = make_layer(context);
    clayer_model *model = NULL;
    clayer_buffer *buffer = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias};
    cr_assert_eq(clayer_model_create(context, &params, 1, &model), CLAYER_OK);
    cr_assert_eq(clayer_buffer_create(context, 4, &buffer), CLAYER_OK);
    cr_assert(forward(linear));
    const pid_t child = fork();
    if (child == 0)
        _exit(child_steps(context, linear, model, buffer));
    cr_expect_eq(exit_code(child), 0);
    cr_expect(forward(linear), "the parent goes on");
    clayer_buffer_destroy(&buffer);
    clayer_model_destroy(&model);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.live("*"), 0);
}

Test(guest, fork_before_the_first_use_is_no_fork)
{
    start();
    const pid_t child = fork();
    if (child == 0) {
        clayer_context *context = open_context("cpu");
        clayer_linear *linear = make_layer(context);
        _exit(forward(linear) ? 0 : 1);
    }
    cr_expect_eq(exit_code(child), 0);
}

static void load_and_unload(const char *plan, bool unloads)
{
    static float x[BATCH * IN], y[BATCH * OUT];
    start();
    const pid_t child = fork();
    if (child == 0) {
        void *library = dlopen(SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            _exit(1);
        if (fake_reach(FAKE_LIBRARY).library)
            _exit(2); /* loading alone has started OpenCL */
        __typeof__(clayer_context_create) *create;
        __typeof__(clayer_linear_create) *create_linear;
        __typeof__(clayer_linear_forward) *run;
        *(void **)&create = dlsym(library, "clayer_context_create");
        *(void **)&create_linear = dlsym(library, "clayer_linear_create");
        *(void **)&run = dlsym(library, "clayer_linear_forward");
        clayer_context *context = NULL;
        clayer_linear *linear = NULL;
        const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias};
        if (create(&(clayer_context_params){.device = "cpu", .plan = plan}, &context) != CLAYER_OK ||
            create_linear(context, &params, &linear) != CLAYER_OK || run(linear, BATCH, x, IN, y, OUT) != CLAYER_OK)
            _exit(77);
        struct fake_control fake = fake_reach(FAKE_LIBRARY);
        const long calls = fake.count("*");
        if (dlclose(library) != 0)
            _exit(3);
        /* Where the driver's threads may still come to its functions, the code must stay. */
        if (!dlopen(SHARED_LIBRARY, RTLD_NOW | RTLD_NOLOAD) != unloads)
            _exit(5);
        _exit(fake.count("*") == calls && y[3] == 3 ? 0 : 4); /* what is left is not the question here */
    }
    const int code = exit_code(child);
    if (code == 77)
        cr_skip_test("there is no CPU device");
    cr_expect_eq(code, 0);
}

/* The shared library, loaded and unloaded: no OpenCL call on either way, and the process lives on. */
Test(guest, unloading_calls_nothing)
{
    load_and_unload("panel", true);
}

Test(guest, unloading_while_the_driver_has_its_functions)
{
    load_and_unload("host:team=1", false);
}

/* What the library does while two files stand for stdout and stderr. */
Test(guest, prints_nothing)
{
    start();
    char path[] = "/tmp/clayer-guest-XXXXXX";
    const int file = mkstemp(path), out = dup(1), err = dup(2);
    cr_assert(file >= 0 && out >= 0 && err >= 0);
    fflush(stdout);
    fflush(stderr);
    dup2(file, 1);
    dup2(file, 2);
    clayer_context *context = NULL, *none = NULL;
    clayer_linear *linear = NULL;
    clayer_model *model = NULL;
    clayer_context_create(&(clayer_context_params){.device = "no such device"}, &none);
    clayer_context_create(NULL, &context);
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight, .bias = bias};
    clayer_linear_create(context, &params, &linear);
    forward(linear);
    clayer_linear_create(context, &(clayer_linear_params){.in_features = 1, .out_features = 1}, &linear);
    clayer_model_load(context, "/no/such/file", NULL, &model);
    clayer_model_load(context, TEST_DATA "/malformed/not_a_number.csv", NULL, &model);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    struct stat info;
    fstat(file, &info);
    cr_expect_eq(info.st_size, 0, "%ld bytes were printed", (long)info.st_size);
    close(file);
    unlink(path);
}

/* Objects made and destroyed in every order of three, again and again. */
static void live_and_die(int order, bool run)
{
    clayer_context *context = open_context("cpu");
    clayer_linear *linear = make_layer(context);
    clayer_buffer *buffer = NULL;
    cr_assert_eq(clayer_buffer_create(context, 8, &buffer), CLAYER_OK);
    if (run)
        cr_assert(forward(linear));
    static const char orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 3; i++) {
        if (orders[order % 6][i] == 0)
            clayer_context_destroy(&context);
        else if (orders[order % 6][i] == 1)
            clayer_linear_destroy(&linear);
        else
            clayer_buffer_destroy(&buffer);
    }
}

/* CLAYER_TEST_LONG=1 makes it 1,000 contexts and 100,000 calls. */
Test(guest, nothing_grows)
{
    start();
    setenv("CLAYER_CACHE", "off", 1); /* its paths come from functions whose allocations are not counted */
    const bool deep = getenv("CLAYER_TEST_LONG") != NULL;
    const int contexts = deep ? 1000 : 60, calls = deep ? 100000 : 3000;
    for (int i = 0; i < 6; i++)
        live_and_die(i, true); /* what is made once for the process is made */
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.live("*"), 0);
    long before = (long)heap_live();
    for (int i = 0; i < contexts; i++)
        live_and_die(i, i % 12 == 0);
    cr_expect_eq(fake.live("*"), 0);
    cr_expect_eq((long)heap_live(), before, "%ld blocks more after %d contexts", (long)heap_live() - before, contexts);

    clayer_context *context = open_context("cpu");
    clayer_linear *linear = make_layer(context);
    cr_assert(forward(linear));
    const long live = fake.live("*");
    before = (long)heap_live();
    for (int i = 0; i < calls; i++)
        cr_assert(forward(linear));
    cr_expect_eq(fake.live("*"), live);
    cr_expect_eq((long)heap_live(), before, "%ld blocks more after %d calls", (long)heap_live() - before, calls);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0);
    cr_expect_eq(fake.misuses(), 0);
}
