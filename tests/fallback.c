/* A device whose compiler fails: the next family, then the calling thread, and a clear error where neither can. */
#include "fake/fake.h"

#include <clayer/linear.h>
#include <clayer/model.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 600, IN = 128, OUT = 256 };

static float x[BATCH * IN], w[OUT * IN], y[BATCH * OUT];

static clayer_context *context_with(const char *rules)
{
    clayer_context *context = NULL;
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_FAKE_RULES", rules, 1);
    setenv("CLAYER_CACHE", "off", 1);
    /* A device whose threads cannot help the calling thread, so that calls of this size are its kernels'. */
    setenv("CLAYER_FAKE_INFO", "CL_DEVICE_EXECUTION_CAPABILITIES=1", 1);
    const clayer_context_params params = {.device = "cpu", .plan = "auto"};
    if (clayer_context_create(&params, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    for (size_t i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < OUT * IN; i++)
        w[i] = (float)(i % 5) - 2;
    return context;
}

/* Small integers: every sum is exact, whoever adds. */
static void check_result(void)
{
    for (size_t m = 0; m < BATCH; m += 37) {
        for (size_t n = 0; n < OUT; n++) {
            float sum = 0;
            for (size_t k = 0; k < IN; k++)
                sum += x[m * IN + k] * w[n * IN + k];
            cr_assert_eq(y[m * OUT + n], sum, "row %zu, output %zu", m, n);
        }
    }
}

static const clayer_linear_params layer = {.in_features = IN, .out_features = OUT, .weight = w};

Test(fallback, next_family_when_one_does_not_build)
{
    clayer_context *context = context_with("clBuildProgram?-DROWS = code:-11");
    clayer_linear *linear = NULL;
    clayer_plan_info plan;
    cr_assert_eq(clayer_linear_create(context, &layer, &linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    check_result();
    clayer_linear_last_plan(linear, &plan);
    cr_assert_str_eq(plan.family, "portable");
    cr_assert_str_eq(plan.origin, "fallback");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

Test(fallback, calling_thread_when_nothing_builds)
{
    clayer_context *context = context_with("clBuildProgram = code:-11");
    clayer_linear *linear = NULL;
    clayer_plan_info plan;
    cr_assert_eq(clayer_linear_create(context, &layer, &linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
    check_result();
    clayer_linear_last_plan(linear, &plan);
    cr_assert_str_eq(plan.family, "host");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

Test(fallback, a_model_goes_to_the_calling_thread_too)
{
    clayer_context *context = context_with("clBuildProgram = code:-11");
    clayer_model *model = NULL;
    cr_assert_eq(clayer_model_create(context, &layer, 1, &model), CLAYER_OK);
    for (int call = 0; call < 2; call++) {
        memset(y, 0xff, sizeof y);
        cr_assert_eq(clayer_model_forward(model, BATCH, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
        check_result();
    }
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
}

Test(fallback, a_forced_plan_that_does_not_build_is_an_error)
{
    clayer_context *context = context_with("clBuildProgram = code:-11");
    clayer_linear *linear = NULL;
    clayer_linear_params forced = layer;
    forced.plan = "panel";
    cr_assert_eq(clayer_linear_create(context, &forced, &linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(linear, BATCH, x, IN, y, OUT), CLAYER_ERROR_BUILD);
    cr_assert(strstr(clayer_last_error(), "clBuildProgram"), "%s", clayer_last_error());
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

/* The build log of a forced plan's kernel, whatever its length: its first line is told, as text. */
static void expect_log(const char *rule, const char *words)
{
    clayer_context *context = context_with(rule);
    clayer_linear *linear = NULL;
    clayer_linear_params forced = layer;
    forced.plan = "portable";
    cr_assert_eq(clayer_linear_create(context, &forced, &linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_prepare(linear, BATCH), CLAYER_ERROR_BUILD);
    cr_expect(strstr(clayer_last_error(), "clBuildProgram") && strstr(clayer_last_error(), words), "%s",
              clayer_last_error());
    cr_expect_lt(strlen(clayer_last_error()), 1000);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

Test(fallback, a_long_build_log_is_told_in_a_line)
{
    expect_log("clBuildProgram = code:-11; clGetProgramBuildInfo = log:5M", "this log is long, %s and %n in it");
}

Test(fallback, a_build_log_of_no_bytes)
{
    expect_log("clBuildProgram = code:-11; clGetProgramBuildInfo = log:0", "no build log");
}

Test(fallback, a_build_log_that_cannot_be_had)
{
    expect_log("clBuildProgram = code:-11; clGetProgramBuildInfo#2+ = code:-5; clGetProgramBuildInfo#1 = log:5M",
               "no build log");
}

/* One that stays mapped would keep its context alive in the driver. */
Test(fallback, a_buffer_that_is_not_unmapped_is_unmapped_again)
{
    clayer_context *context = context_with("clEnqueueUnmapMemObject#1 = code:-5");
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.count("clEnqueueMapBuffer"), 1);
    cr_expect_eq(fake.count("clEnqueueUnmapMemObject"), 2);
    clayer_context_destroy(&context);
}
