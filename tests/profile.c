/* Times of layers: counted, plausible, and no burden where they cannot be had. */
#include "fake/fake.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 32, IN = 64, OUT = 48, CALLS = 5 };

static float weight[OUT * IN], x[BATCH * IN], y[BATCH * OUT];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static clayer_context *start(const char *device, const char *plan, bool profile, const char *rules)
{
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_FAKE_RULES", rules, 1);
    setenv("POCL_DEVICES", "pthread", 1);
    clayer_context *context = NULL;
    const clayer_status status =
        clayer_context_create(&(clayer_context_params){.device = device, .plan = plan, .profile = profile}, &context);
    if (status == CLAYER_ERROR_NO_DEVICE || status == CLAYER_ERROR_NO_OPENCL)
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    return context;
}

static clayer_linear *make_layer(clayer_context *context)
{
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    return linear;
}

static void check(const char *device, const char *plan)
{
    clayer_context *context = start(device, plan, true, "");
    clayer_linear *linear = make_layer(context);
    const clayer_status prepared = clayer_linear_prepare(linear, BATCH);
    if (prepared == CLAYER_ERROR_UNSUPPORTED)
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(prepared, CLAYER_OK, "%s", clayer_last_error());
    clayer_linear_profile profile;
    cr_assert_eq(clayer_linear_get_profile(linear, &profile), CLAYER_OK, "%s", clayer_last_error());
    cr_expect(profile.calls == 0 && profile.seconds == 0 && profile.flops == 0);
    const double begun = now();
    for (int i = 0; i < CALLS; i++)
        cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    const double wall = now() - begun;
    cr_assert_eq(clayer_linear_get_profile(linear, &profile), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(profile.calls, CALLS);
    cr_expect_eq(profile.flops, 2.0 * CALLS * BATCH * IN * OUT);
    cr_expect_eq(profile.bytes, 4.0 * CALLS * (BATCH * IN + IN * OUT + OUT + BATCH * OUT));
    cr_expect(profile.seconds > 0 && profile.seconds <= wall, "%g s of %g s", profile.seconds, wall);
    cr_assert_eq(clayer_linear_reset_profile(linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_get_profile(linear, &profile), CLAYER_OK);
    cr_expect(profile.calls == 0 && profile.seconds == 0 && profile.bytes == 0);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK);
    clayer_context_destroy(&context);
    clayer_linear_destroy(&linear); /* with times that nobody asked for */
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    if (fake.library)
        cr_expect_eq(fake.live("*"), 0);
}

Test(profile, device)
{
    check("cpu", "panel");
}

Test(profile, several_kernels_a_call)
{
    check("cpu", "skinny:rows=4,lanes=2,k_lanes=2,splits=2");
}

Test(profile, host)
{
    check("host", "");
}

/* Runs the layer until the model beside it is done. */
struct beside {
    clayer_linear *linear;
    atomic_bool done;
};

static void *run_beside(void *user)
{
    struct beside *beside = user;
    float *other_y = malloc(sizeof y);
    clayer_status status = CLAYER_OK;
    while (status == CLAYER_OK && !atomic_load(&beside->done))
        status = clayer_linear_forward(beside->linear, BATCH, x, IN, other_y, OUT);
    free(other_y);
    return (void *)(intptr_t)status;
}

/* A call that is being timed on the device is none of a model's that another thread runs on the same context. */
Test(profile, a_model_beside_a_timed_call)
{
    clayer_context *context = start("cpu", "panel", true, "");
    struct beside beside = {.linear = make_layer(context)};
    const clayer_linear_params layers[] = {
        {.in_features = IN, .out_features = OUT, .weight = weight, .plan = "host"},
        {.in_features = OUT, .out_features = IN, .weight = weight, .plan = "host"},
    };
    clayer_model *model = NULL;
    float model_y[IN];
    pthread_t thread;
    void *status;
    cr_assert_eq(clayer_model_create(context, layers, 2, &model), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_linear_prepare(beside.linear, BATCH), CLAYER_OK);
    cr_assert_eq(pthread_create(&thread, NULL, run_beside, &beside), 0);
    for (int i = 0; i < 3000; i++)
        cr_assert_eq(clayer_model_forward(model, 1, x, IN, model_y, IN), CLAYER_OK, "call %d: %s", i,
                     clayer_last_error());
    atomic_store(&beside.done, true);
    cr_assert_eq(pthread_join(thread, &status), 0);
    cr_expect_eq((intptr_t)status, CLAYER_OK);
    clayer_model_destroy(&model);
    clayer_linear_destroy(&beside.linear);
    clayer_context_destroy(&context);
}

Test(profile, only_when_asked_for)
{
    clayer_context *context = start("cpu", "panel", false, "");
    clayer_linear *linear = make_layer(context);
    clayer_linear_profile profile = {.calls = 9};
    cr_expect_eq(clayer_linear_get_profile(linear, &profile), CLAYER_ERROR_UNSUPPORTED);
    cr_expect_eq(profile.calls, 9);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK);
    cr_expect_eq(fake.count("clGetEventProfilingInfo"), 0);
    cr_expect_eq(fake.created("event"), 0);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

/* Drivers refuse such queues with codes of their choice: the layer runs all the same. */
Test(profile, driver_without_profiling)
{
    clayer_context *context = start("cpu", "panel", true, "clCreateCommandQueue*?profiling = code:-6");
    clayer_linear *linear = make_layer(context);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    clayer_linear_profile profile;
    cr_expect_eq(clayer_linear_get_profile(linear, &profile), CLAYER_ERROR_UNSUPPORTED);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.live("*"), 0);
}

Test(profile, times_that_cannot_be_read_are_an_error)
{
    clayer_context *context = start("cpu", "panel", true, "clGetEventProfilingInfo = code:-7");
    clayer_linear *linear = make_layer(context);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    clayer_linear_profile profile;
    cr_expect_eq(clayer_linear_get_profile(linear, &profile), CLAYER_ERROR_OPENCL);
    cr_expect(strstr(clayer_last_error(), "clGetEventProfilingInfo"), "%s", clayer_last_error());
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.live("*"), 0);
}
