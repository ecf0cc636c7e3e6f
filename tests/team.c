/* The device's own threads beside the calling one: each share done once, the same bits as alone, and the calling thread
 * alone where the driver does not play along. */
#include "context.h"
#include "fake/fake.h"
#include "opencl/team.h"
#include "support/random.h"

#include <clayer/linear.h>
#include <criterion/criterion.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 300, BATCH = 200, IN = 300, OUT = 333 };

static struct fake_control fake;
static float x[BATCH * IN], w[OUT * IN], b[OUT], alone[BATCH * OUT], helped[BATCH * OUT];

/* A context on PoCL behind the fake driver, on a machine whose threads can help. */
static clayer_context *open_context(const char *rules)
{
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_FAKE_RULES", rules, 1);
    setenv("POCL_DEVICES", "pthread", 1);
    setenv("CLAYER_CACHE", "off", 1);
    unsetenv("CLAYER_PLAN");
    clayer_context *context = NULL;
    if (clayer_context_create(&(clayer_context_params){.device = "cpu"}, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    fake = fake_reach(FAKE_LIBRARY);
    if (!opencl_team_exists(context->opencl)) {
        cr_expect_lt(context->info.compute_units, 2, "a CPU driver with threads that run native functions");
        clayer_context_destroy(&context);
        cr_skip_test("the device has one thread");
    }
    return context;
}

struct job {
    pthread_t caller;
    atomic_int *done;
    atomic_int by_others;
    int nanoseconds; /* each share takes at least so long */
};

static void count_share(const void *argument, size_t share)
{
    struct job *job = (struct job *)(uintptr_t)argument;
    if (job->nanoseconds)
        nanosleep(&(struct timespec){.tv_nsec = job->nanoseconds}, NULL);
    atomic_fetch_add(&job->done[share], 1);
    if (!pthread_equal(job->caller, pthread_self()))
        atomic_fetch_add(&job->by_others, 1);
}

/* Returns how many shares other threads did. */
static int run_job(clayer_context *context, size_t count, int nanoseconds)
{
    static atomic_int done[SHARES];
    struct job job = {.caller = pthread_self(), .done = done, .nanoseconds = nanoseconds};
    for (size_t i = 0; i < SHARES; i++)
        atomic_store(&done[i], 0);
    opencl_team_run(context->opencl, opencl_team_helpers(context->opencl), count_share, &job, count);
    for (size_t i = 0; i < SHARES; i++)
        cr_assert_eq(atomic_load(&done[i]), i < count, "share %zu of %zu was done %d times", i, count,
                     atomic_load(&done[i]));
    return atomic_load(&job.by_others);
}

Test(team, each_share_is_done_once, .timeout = 300)
{
    clayer_context *context = open_context("");
    struct random random = {3};
    for (int i = 0; i < 20000; i++)
        run_job(context, random_below(&random, SHARES + 1), 0);
    /* Shares that wait let the helpers come, however busy the machine is. */
    int by_others = 0;
    for (int i = 0; i < 100 && by_others == 0; i++)
        by_others = run_job(context, SHARES, 100000);
    cr_expect_gt(by_others, 0, "the device's threads never came");
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0);
}

/* A job that takes longer than helpers stay, and none is asked for twice. */
Test(team, helpers_are_asked_for_once_a_call)
{
    clayer_context *context = open_context("");
    const size_t most = opencl_team_helpers(context->opencl);
    for (int i = 0; i < 20; i++) {
        fake.reset();
        run_job(context, 100, 10000);
        cr_expect_leq(fake.count("clEnqueueNativeKernel"), (long)most);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    clayer_context_destroy(&context);
}

/* A context that ends right after a call: the helper may not have come yet. */
Test(team, contexts_that_end_at_once, .timeout = 300)
{
    for (int i = 0; i < 200; i++) {
        clayer_context *context = open_context("");
        run_job(context, 20, 0);
        clayer_context_destroy(&context);
        cr_assert_eq(fake.live("*"), 0);
    }
}

static void expect_alone(const char *rules, const char *refused, long asked)
{
    clayer_context *context = open_context(rules);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(run_job(context, 50, 0), 0);
    cr_expect_eq(fake.count(refused), asked, "%s is not tried again", refused);
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0);
}

Test(team, driver_that_refuses_native_functions)
{
    expect_alone("clEnqueueNativeKernel = code:-59", "clEnqueueNativeKernel", 1);
}

Test(team, driver_that_makes_no_second_queue)
{
    expect_alone("clCreateCommandQueue#2+ = code:-6", "clCreateCommandQueue", 2);
}

Test(team, driver_that_gives_a_queue_of_nothing)
{
    expect_alone("clCreateCommandQueue#2+ = nonsense", "clCreateCommandQueue", 2);
}

Test(team, device_that_runs_no_native_functions)
{
    setenv("CLAYER_FAKE_INFO", "CL_DEVICE_EXECUTION_CAPABILITIES=1", 1);
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    clayer_context *context = NULL;
    if (clayer_context_create(&(clayer_context_params){.device = "cpu"}, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    clayer_linear *linear = NULL;
    cr_expect(!opencl_team_exists(context->opencl));
    run_job(context, 50, 0);
    const clayer_linear_params forced = {.in_features = IN, .out_features = OUT, .weight = w, .plan = "host:team=1"};
    cr_assert_eq(clayer_linear_create(context, &forced, &linear), CLAYER_OK);
    cr_expect_eq(clayer_linear_forward(linear, BATCH, x, IN, alone, OUT), CLAYER_ERROR_UNSUPPORTED);
    cr_expect(strstr(clayer_last_error(), "threads cannot help"), "%s", clayer_last_error());
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

static void forward(clayer_context *context, const char *plan, size_t batch, size_t in, size_t out, float *y)
{
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = in,
                                         .out_features = out,
                                         .weight = w,
                                         .bias = b,
                                         .activation = CLAYER_ACTIVATION_GELU_TANH,
                                         .plan = plan};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    memset(y, 0xff, batch * out * sizeof *y);
    cr_assert_eq(clayer_linear_forward(linear, batch, x, in, y, out), CLAYER_OK, "%s", clayer_last_error());
    clayer_linear_destroy(&linear);
}

/* However the shares fall, and whatever rounding the calling thread has set. */
Test(team, same_bits_as_alone, .timeout = 300)
{
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
    clayer_context *context = open_context("");
    struct random random = {5};
    for (size_t i = 0; i < BATCH * IN; i++)
        x[i] = random_uniform(&random);
    for (size_t i = 0; i < OUT * IN; i++)
        w[i] = random_uniform(&random);
    for (int i = 0; i < 150; i++) {
        const size_t batch = i % 3 ? 1 + random_below(&random, BATCH) : 1;
        const size_t in = 1 + random_below(&random, IN), out = 1 + random_below(&random, OUT);
        fesetround(roundings[i % 3]);
        forward(context, "host:team=0", batch, in, out, alone);
        forward(context, "host:team=1", batch, in, out, helped);
        fesetround(FE_TONEAREST);
        cr_assert_arr_eq(alone, helped, batch * out * sizeof *alone, "%zux%zux%zu", batch, in, out);
    }
    clayer_context_destroy(&context);
}
