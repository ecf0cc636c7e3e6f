/* A forward call after the first, for batches no larger than before, allocates nothing of clayer's own and creates no
 * buffer, program or kernel. The linker leads every allocation of this program, and so of the library in it, through
 * the counters of support/heap.c (--wrap in meson.build); the fake driver counts what OpenCL is asked for. */
#include "fake/fake.h"
#include "support/heap.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 70, IN = 256, OUT = 256 };

static float x[BATCH * IN], w[OUT * IN], b[OUT], y[BATCH * OUT];

static clayer_linear *make_layer(clayer_context *context, const char *plan)
{
    clayer_linear *linear = NULL;
    cr_assert_eq(clayer_linear_create(context,
                                      &(clayer_linear_params){.in_features = IN,
                                                              .out_features = OUT,
                                                              .weight = w,
                                                              .bias = b,
                                                              .activation = CLAYER_ACTIVATION_RELU,
                                                              .plan = plan},
                                      &linear),
                 CLAYER_OK, "%s: %s", plan, clayer_last_error());
    return linear;
}

/* One call between host memory, and one between buffers. */
static void call(clayer_context *context, clayer_linear *linear, clayer_buffer *in, clayer_buffer *out, size_t batch)
{
    const clayer_matrix mx = {.buffer = in}, my = {.buffer = out};
    cr_assert_eq(clayer_linear_forward_matrix(linear, batch, &mx, &my), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_linear_forward_matrix(linear, batch, &mx, &my), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_context_finish(context), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_linear_forward(linear, batch, x, IN, y, OUT), CLAYER_OK, "%s", clayer_last_error());
}

static void check_plan(clayer_context *context, const struct fake_control *fake, const char *plan)
{
    static const size_t batches[] = {BATCH, BATCH, 64, 33, 7, 1, 2, BATCH};
    clayer_linear *linear = make_layer(context, plan);
    clayer_buffer *in, *out;
    if (clayer_linear_prepare(linear, BATCH) == CLAYER_ERROR_UNSUPPORTED) {
        printf("cases: steady: %s left out: %s\n", plan, clayer_last_error());
        fflush(stdout);
        clayer_linear_destroy(&linear);
        return;
    }
    cr_assert_eq(clayer_buffer_create(context, BATCH * IN, &in), CLAYER_OK);
    cr_assert_eq(clayer_buffer_create(context, BATCH * OUT, &out), CLAYER_OK);
    call(context, linear, in, out, BATCH);
    static const char *const kinds[] = {"mem", "program", "kernel", "queue", "context"};
    long before[5];
    for (int i = 0; fake && i < 5; i++)
        before[i] = fake->created(kinds[i]);
    const long allocations_before = (long)heap_calls();
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        call(context, linear, in, out, batches[i]);
    const long allocations = (long)heap_calls() - allocations_before;
    cr_expect_eq(allocations, 0, "%s: %ld allocations", plan, allocations);
    for (int i = 0; fake && i < 5; i++)
        cr_expect_eq(fake->created(kinds[i]), before[i], "%s: %ld of %s created", plan,
                     fake->created(kinds[i]) - before[i], kinds[i]);
    clayer_buffer_destroy(&in);
    clayer_buffer_destroy(&out);
    clayer_linear_destroy(&linear);
}

Test(steady, the_counters_count)
{
    const long before = (long)heap_calls();
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "host"}, &context), CLAYER_OK);
    cr_assert_gt((long)heap_calls(), before);
    clayer_context_destroy(&context);
}

Test(steady, host)
{
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "host"}, &context), CLAYER_OK);
    check_plan(context, NULL, "auto");
    clayer_context_destroy(&context);
}

Test(steady, device)
{
    clayer_context *context = NULL;
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    if (clayer_context_create(&(clayer_context_params){.device = "cpu", .plan = "auto"}, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert(fake.library && fake.created);
    static const char *const plans[] = {"auto",           "panel",  "portable",        "tiled",
                                        "tiled:splits=2", "skinny", "skinny:splits=4", "host"};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        check_plan(context, &fake, plans[i]);
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0, "something of OpenCL was not released");
    cr_expect_eq(fake.misuses(), 0);
}

/* Weights that no single allocation of the device can hold are refused with both sizes, before anything is made. */
Test(steady, weights_beyond_the_largest_allocation)
{
    clayer_context *context = NULL;
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_FAKE_INFO", "CL_DEVICE_MAX_MEM_ALLOC_SIZE=200000", 1);
    if (clayer_context_create(&(clayer_context_params){.device = "cpu", .plan = "auto"}, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = w};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_ERROR_TOO_LARGE);
    cr_assert(strstr(clayer_last_error(), "262144 bytes") && strstr(clayer_last_error(), "200000"), "%s",
              clayer_last_error());
    cr_assert_null(linear);
    clayer_buffer *buffer = NULL;
    cr_assert_eq(clayer_buffer_create(context, 50001, &buffer), CLAYER_ERROR_TOO_LARGE);
    cr_assert(strstr(clayer_last_error(), "200004 bytes"), "%s", clayer_last_error());
    cr_assert_eq(clayer_buffer_create(context, 50000, &buffer), CLAYER_OK, "%s", clayer_last_error());
    clayer_buffer_destroy(&buffer);
    clayer_context_destroy(&context);
}
