/* Devices with less than usual, and compilers that are asked for nothing unusual: kinds of field reports that the fake
 * driver can show on any machine (docs/reliability.md). */
#include "fake/fake.h"
#include "kernels/family.h"

#include <clayer/linear.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN = 70, OUT = 100, BATCH = 300 };

static float x[BATCH * IN], w[OUT * IN], y[BATCH * OUT];

/* Small integers: every sum is exact. */
static void fill(void)
{
    for (size_t i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < OUT * IN; i++)
        w[i] = (float)(i % 5) - 2;
}

static clayer_context *gpu_with(const char *overrides)
{
    char info[300];
    clayer_context *context = NULL;
    snprintf(info, sizeof info, "CL_DEVICE_TYPE=gpu%s%s", *overrides ? "," : "", overrides);
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_FAKE_INFO", info, 1);
    if (clayer_context_create(&(clayer_context_params){.device = "gpu"}, &context) != CLAYER_OK)
        cr_skip_test("no PoCL behind the fake driver: %s", clayer_last_error());
    fill();
    return context;
}

static void forward(clayer_context *context, const char *plan, size_t batch)
{
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = w, .plan = plan};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    memset(y, 0xff, sizeof y);
    const clayer_status status = clayer_linear_forward(linear, batch, x, IN, y, OUT);
    if (plan && status == CLAYER_ERROR_UNSUPPORTED && strstr(clayer_last_error(), "larger than the device allows"))
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < OUT; n++) {
            float sum = 0;
            for (size_t k = 0; k < IN; k++)
                sum += x[m * IN + k] * w[n * IN + k];
            cr_assert_eq(y[m * OUT + n], sum, "row %zu, output %zu is %g, not %g", m, n, (double)y[m * OUT + n],
                         (double)sum);
        }
    }
    clayer_linear_destroy(&linear);
}

/* The rules of thumb find a plan that fits, and the driver is never asked for more than it has. */
static void check_small_device(const char *overrides, size_t group, size_t local)
{
    clayer_context *context = gpu_with(overrides);
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert(fake.library);
    clayer_device_info info;
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    if (group)
        cr_assert_eq(info.max_work_group_size, (int64_t)group);
    else
        cr_assert_eq(info.local_memory_bytes, (int64_t)local);
    forward(context, "auto", BATCH);
    forward(context, "auto", 5);
    forward(context, "portable", BATCH);
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0);
}

static void check_groups_of(size_t size)
{
    char overrides[120];
    snprintf(overrides, sizeof overrides, "CL_DEVICE_MAX_WORK_GROUP_SIZE=%zu,CL_KERNEL_WORK_GROUP_SIZE=%zu", size,
             size);
    check_small_device(overrides, size, 0);
}

static void check_local_memory_of(size_t bytes)
{
    char overrides[80];
    snprintf(overrides, sizeof overrides, "CL_DEVICE_LOCAL_MEM_SIZE=%zu", bytes);
    check_small_device(overrides, 0, bytes);
}

Test(limits, work_groups_of_1)
{
    check_groups_of(1);
}

Test(limits, work_groups_of_7)
{
    check_groups_of(7);
}

Test(limits, work_groups_of_24)
{
    check_groups_of(24);
}

Test(limits, work_groups_of_96)
{
    check_groups_of(96);
}

Test(limits, no_local_memory)
{
    check_local_memory_of(0);
}

Test(limits, local_memory_of_1_kib)
{
    check_local_memory_of(1024);
}

Test(limits, local_memory_of_16_kib)
{
    check_local_memory_of(16384);
}

/* Options that let a compiler drop NaN and infinity do so on some GPUs only, so that no CPU shows it. */
Test(limits, no_option_relaxes_the_math)
{
    char path[] = "/tmp/clayer-options-XXXXXX", line[2048];
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    setenv("CLAYER_FAKE_RECORD", path, 1);
    setenv("CLAYER_CACHE", "off", 1);
    clayer_context *context = gpu_with("");
    static const char *const plans[] = {"panel", "portable", "tiled", "skinny", "clblast"};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (strcmp(plans[i], "clblast") != 0 || family_clblast_available())
            forward(context, plans[i], 5);
    clayer_context_destroy(&context);

    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    int builds = 0;
    while (fgets(line, sizeof line, file)) {
        builds += strstr(line, "clBuildProgram") != NULL;
        static const char *const bad[] = {"fast-relaxed",    "finite-math",      "unsafe-math", "mad-enable",
                                          "no-signed-zeros", "denorms-are-zero", "\"",          "/"};
        for (size_t i = 0; strstr(line, "-D") && i < sizeof bad / sizeof *bad; i++)
            cr_expect_null(strstr(line, bad[i]), "%s", line);
    }
    fclose(file);
    unlink(path);
    cr_expect_geq(builds, 4);
}

/* ---- Intel's GPUs, which compile kernels for 32 lanes unless told otherwise ---- */

/* Runs tiled where kernels for narrower lanes cannot be built: returns whether they were asked for. */
static bool narrow_lanes_asked_for(const char *sizes)
{
    char overrides[150];
    snprintf(overrides, sizeof overrides,
             "CL_DEVICE_EXTENSIONS=cl_khr_fp64 cl_intel_required_subgroup_size,CL_DEVICE_SUB_GROUP_SIZES_INTEL=%s",
             sizes);
    setenv("CLAYER_CACHE", "off", 1);
    clayer_context *context = gpu_with(overrides);
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_eq(fake.set("clBuildProgram?-DSUB_GROUP=16 = code:-11"), 0);
    forward(context, "tiled", BATCH); /* it is built without them then */
    const bool asked = strcmp(fake.failed(), "clBuildProgram") == 0;
    fake.reset();
    clayer_context_destroy(&context);
    cr_expect_eq(fake.live("*"), 0);
    return asked;
}

Test(limits, lanes_of_16_where_32_are_too_many)
{
    cr_expect(narrow_lanes_asked_for("16/32"));
}

Test(limits, lanes_of_8_are_the_compilers_choice)
{
    cr_expect_not(narrow_lanes_asked_for("8/16/32"));
}

Test(limits, kernels_for_narrow_lanes_build_at_once)
{
    setenv("CLAYER_CACHE", "off", 1);
    clayer_context *context = gpu_with(
        "CL_DEVICE_EXTENSIONS=cl_khr_fp64 cl_intel_required_subgroup_size,CL_DEVICE_SUB_GROUP_SIZES_INTEL=16/32");
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    const long before = fake.count("clBuildProgram");
    forward(context, "tiled", BATCH);
    cr_expect_eq(fake.count("clBuildProgram") - before, 1);
    clayer_context_destroy(&context);
}
