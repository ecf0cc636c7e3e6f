/* The list of devices on drivers that misbehave: the fake driver in front of PoCL. What the loader itself cannot bear
 * (abort, crash, hang) is tests/query's. */
#include "fake/fake.h"

#include <clayer/context.h>
#include <clayer/device.h>
#include <clayer/log.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void use_fake(const char *vendors, const char *mode, const char *info)
{
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("CLAYER_FAKE_MODE", mode, 1);
    setenv("CLAYER_FAKE_INFO", info, 1);
    setenv("POCL_DEVICES", "pthread", 1);
    unsetenv("CLAYER_DEVICE");
    unsetenv("CLAYER_OPENCL");
    if (clayer_opencl_status() == CLAYER_ERROR_NO_OPENCL)
        cr_skip_test("%s", clayer_last_error());
}

static size_t device_count(void)
{
    size_t count = 0;
    cr_assert_eq(clayer_device_count(&count), CLAYER_OK, "%s", clayer_last_error());
    return count;
}

static clayer_device_info device(size_t index)
{
    clayer_device_info info;
    cr_assert_eq(clayer_device_get(index, &info), CLAYER_OK, "%s", clayer_last_error());
    return info;
}

Test(device_fake, types_rank_and_simulators_are_never_chosen)
{
    setenv("CLAYER_FAKE_DEVICES", "5", 1);
    use_fake(ICD_FAKE, "pass",
             "0:CL_DEVICE_TYPE=all,0:CL_DEVICE_NAME=Oclgrind Simulator,1:CL_DEVICE_TYPE=all,1:CL_DEVICE_NAME=many,"
             "2:CL_DEVICE_TYPE=accelerator,3:CL_DEVICE_TYPE=gpu,4:CL_DEVICE_TYPE=!-30");
    cr_assert_eq(device_count(), 6);
    static const clayer_device_type expected[] = {CLAYER_DEVICE_GPU,     CLAYER_DEVICE_ACCELERATOR, CLAYER_DEVICE_CPU,
                                                  CLAYER_DEVICE_UNKNOWN, CLAYER_DEVICE_SIMULATOR,   CLAYER_DEVICE_HOST};
    for (size_t i = 0; i < 6; i++)
        cr_expect_eq(device(i).type, expected[i], "%zu is %s", i, clayer_device_type_string(device(i).type));
    cr_expect_str_eq(device(2).name, "many");
    clayer_device_info info;
    cr_assert_eq(clayer_device_select("simulator", &info), CLAYER_OK);
    cr_expect_eq(info.index, 4);
    cr_assert_eq(clayer_device_select(NULL, &info), CLAYER_OK);
    cr_expect_eq(info.type, CLAYER_DEVICE_GPU);
}

Test(device_fake, simulator_alone_leaves_the_host)
{
    use_fake(ICD_FAKE, "pass", "CL_DEVICE_NAME=Intel(R) FPGA Emulation Device,CL_DEVICE_TYPE=accelerator");
    cr_assert_eq(device_count(), 2);
    cr_expect_eq(device(0).type, CLAYER_DEVICE_SIMULATOR);
    clayer_device_info info;
    cr_assert_eq(clayer_device_select("auto", &info), CLAYER_OK);
    cr_expect_eq(info.type, CLAYER_DEVICE_HOST);
}

Test(device_fake, unusable_devices_come_last_with_their_reason)
{
    setenv("CLAYER_FAKE_DEVICES", "4", 1);
    use_fake(
        ICD_FAKE, "pass",
        "CL_DEVICE_TYPE=gpu,0:CL_DEVICE_AVAILABLE=0,1:CL_DEVICE_COMPILER_AVAILABLE=0,2:CL_DEVICE_VERSION=OpenCL 1.1,"
        "0:CL_DEVICE_NAME=a,1:CL_DEVICE_NAME=b,2:CL_DEVICE_NAME=c,3:CL_DEVICE_NAME=the good one,"
        "3:CL_DEVICE_TYPE=cpu");
    cr_assert_eq(device_count(), 5);
    cr_expect_str_eq(device(0).name, "the good one");
    cr_expect_eq(device(4).type, CLAYER_DEVICE_HOST);
    static const char *const names[] = {"a", "b", "c"};
    static const char *const words[] = {"CL_DEVICE_AVAILABLE", "no compiler", "1.2 is needed"};
    for (size_t i = 0; i < 3; i++) {
        size_t at = 1;
        while (at < 4 && strcmp(device(at).name, names[i]) != 0)
            at++;
        cr_assert_lt(at, 4);
        clayer_device_info info = device(at), chosen;
        cr_expect_eq(info.usable, 0);
        cr_expect(strstr(info.reason, words[i]), "%s", info.reason);
        cr_expect_eq(clayer_device_select(info.id, &chosen), CLAYER_ERROR_DEVICE_UNUSABLE);
        cr_expect(strstr(clayer_last_error(), words[i]), "%s", clayer_last_error());
        cr_expect_eq(clayer_device_try(at, &chosen), CLAYER_ERROR_DEVICE_UNUSABLE);
        clayer_context *context = NULL;
        cr_expect_eq(clayer_context_create(&(clayer_context_params){.device = info.id}, &context),
                     CLAYER_ERROR_DEVICE_UNUSABLE);
    }
    clayer_device_info info;
    cr_expect_eq(clayer_device_select("gpu", &info), CLAYER_ERROR_DEVICE_UNUSABLE);
}

Test(device_fake, separate_memory_goes_before_shared_memory_and_more_units_first)
{
    setenv("CLAYER_FAKE_DEVICES", "3", 1);
    use_fake(ICD_FAKE, "pass",
             "CL_DEVICE_TYPE=gpu,CL_DEVICE_MAX_CLOCK_FREQUENCY=1000,0:CL_DEVICE_NAME=integrated,"
             "0:CL_DEVICE_MAX_COMPUTE_UNITS=900,0:CL_DEVICE_HOST_UNIFIED_MEMORY=1,1:CL_DEVICE_NAME=small,"
             "1:CL_DEVICE_MAX_COMPUTE_UNITS=10,1:CL_DEVICE_HOST_UNIFIED_MEMORY=0,2:CL_DEVICE_NAME=large,"
             "2:CL_DEVICE_MAX_COMPUTE_UNITS=80,2:CL_DEVICE_HOST_UNIFIED_MEMORY=0");
    cr_assert_eq(device_count(), 4);
    cr_expect_str_eq(device(0).name, "large");
    cr_expect_str_eq(device(1).name, "small");
    cr_expect_str_eq(device(2).name, "integrated");
}

Test(device_fake, refused_queries_are_unknown_and_nothing_else)
{
    use_fake(ICD_FAKE, "pass",
             "CL_DEVICE_MAX_COMPUTE_UNITS=!-30,CL_DEVICE_MAX_WORK_GROUP_SIZE=!,CL_DEVICE_MAX_WORK_ITEM_SIZES=!,"
             "CL_DEVICE_LOCAL_MEM_TYPE=!-5,CL_DEVICE_SINGLE_FP_CONFIG=!,CL_DEVICE_EXTENSIONS=!,CL_DEVICE_VENDOR=!,"
             "CL_DEVICE_MEM_BASE_ADDR_ALIGN=!,CL_DEVICE_AVAILABLE=!,CL_DEVICE_OPENCL_C_VERSION=!,"
             "CL_DEVICE_GLOBAL_MEM_SIZE=0xffffffffffffffff");
    cr_assert_eq(device_count(), 2);
    clayer_device_info info = device(0);
    cr_expect_eq(info.usable, 1);
    const int64_t unknown[] = {info.compute_units,
                               info.max_work_group_size,
                               info.max_work_item_sizes[0],
                               info.max_work_item_sizes[2],
                               info.local_memory_is_real,
                               info.denormals,
                               info.fp16,
                               info.fp64,
                               info.sub_groups,
                               info.memory_base_alignment};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_expect_eq(unknown[i], CLAYER_UNKNOWN, "value %zu is %lld", i, (long long)unknown[i]);
    cr_expect_str_eq(info.vendor, "");
    cr_expect_str_eq(info.opencl_c_version, "");
    cr_expect_eq(info.matrix_units, CLAYER_MATRIX_UNKNOWN);
    cr_expect_eq(info.global_memory_bytes, INT64_MAX);
    cr_expect_eq(info.local_memory_bytes > 0, 1);
    cr_expect_eq(clayer_device_try(0, &info), CLAYER_OK, "%s", clayer_last_error());
}

Test(device_fake, architectures_and_matrix_units)
{
    setenv("CLAYER_FAKE_DEVICES", "9", 1);
    use_fake(ICD_FAKE, "pass",
             "CL_DEVICE_TYPE=gpu,CL_DEVICE_EXTENSIONS=cl_khr_fp64,0:CL_DEVICE_NAME=gfx1100,"
             "1:CL_DEVICE_NAME=gfx90a:sramecc+:xnack-,2:CL_DEVICE_NAME=gfx1030,"
             "3:CL_DEVICE_NAME=Arc,3:CL_DEVICE_EXTENSIONS=cl_khr_fp16 cl_intel_subgroup_matrix_multiply_accumulate "
             "cl_intel_subgroups cl_khr_integer_dot_product,"
             "4:CL_DEVICE_NAME=Radeon RX,4:CL_DEVICE_VENDOR=AMD,5:CL_DEVICE_NAME=plain,"
             "5:CL_DEVICE_EXTENSIONS=cl_khr_fp16_extra xcl_khr_fp16,"
             "6:CL_DEVICE_NAME=Volta,6:CL_DEVICE_EXTENSIONS=cl_nv_device_attribute_query,"
             "6:CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV=7,6:CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV=0,"
             "6:CL_DEVICE_WARP_SIZE_NV=32,"
             "7:CL_DEVICE_NAME=GeForce GTX 1650,7:CL_DEVICE_EXTENSIONS=cl_nv_device_attribute_query,"
             "7:CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV=7,7:CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV=5,"
             "7:CL_DEVICE_WARP_SIZE_NV=!,"
             "8:CL_DEVICE_NAME=Iris,8:CL_DEVICE_EXTENSIONS=cl_intel_subgroups cl_intel_required_subgroup_size "
             "cl_khr_pci_bus_info,8:CL_DEVICE_SUB_GROUP_SIZES_INTEL=8/32/16,8:CL_DEVICE_PCI_BUS_INFO_KHR=0/2/31/1");
    static const struct {
        const char *name, *architecture;
        clayer_matrix_units units;
        int64_t fp16, sub_groups, dot, sub_group_size, smallest;
        const char *pci;
    } expected[] = {
        {"gfx1100", "gfx1100", CLAYER_MATRIX_AMD_WMMA, 0, 0, 0, -1, -1, ""},
        {"gfx90a:sramecc+:xnack-", "gfx90a", CLAYER_MATRIX_AMD_MFMA, 0, 0, 0, -1, -1, ""},
        {"gfx1030", "gfx1030", CLAYER_MATRIX_NONE, 0, 0, 0, -1, -1, ""},
        {"Arc", "", CLAYER_MATRIX_INTEL_DPAS, 1, 1, 1, -1, -1, ""},
        {"Radeon RX", "", CLAYER_MATRIX_UNKNOWN, 0, 0, 0, -1, -1, ""},
        {"plain", "", CLAYER_MATRIX_NONE, 0, 0, 0, -1, -1, ""},
        {"Volta", "sm_70", CLAYER_MATRIX_NVIDIA_MMA, 0, 0, 0, 32, -1, ""},
        {"GeForce GTX 1650", "sm_75", CLAYER_MATRIX_NONE, 0, 0, 0, -1, -1, ""},
        {"Iris", "", CLAYER_MATRIX_NONE, 0, 1, 0, 32, 8, "0000:02:1f.1"},
    };
    cr_assert_eq(device_count(), 10);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t at = 0;
        while (at < 9 && strcmp(device(at).name, expected[i].name) != 0)
            at++;
        cr_assert_lt(at, 9, "%s", expected[i].name);
        clayer_device_info info = device(at);
        cr_expect_str_eq(info.architecture, expected[i].architecture);
        cr_expect_eq(info.matrix_units, expected[i].units, "%s: %s", info.name,
                     clayer_matrix_units_string(info.matrix_units));
        cr_expect_eq(info.fp16, expected[i].fp16, "%s", info.name);
        cr_expect_eq(info.sub_groups, expected[i].sub_groups, "%s", info.name);
        cr_expect_eq(info.integer_dot_product, expected[i].dot, "%s", info.name);
        cr_expect_eq(info.sub_group_size, expected[i].sub_group_size, "%s", info.name);
        cr_expect_eq(info.smallest_sub_group_size, expected[i].smallest, "%s", info.name);
        cr_expect_str_eq(info.pci, expected[i].pci);
    }
}

#define UUID "CL_DEVICE_EXTENSIONS=cl_khr_device_uuid,CL_DEVICE_UUID_KHR=00112233445566778899aabbccddeeff"

Test(device_fake, one_device_through_two_platforms_is_listed_once)
{
    setenv("CLAYER_FAKE_PLATFORMS", "2", 1);
    use_fake(ICD_FAKE, "pass", UUID);
    cr_assert_eq(device_count(), 2);
    clayer_device_info info = device(0), other;
    cr_expect_str_eq(info.uuid, "00112233445566778899aabbccddeeff");
    cr_expect(*info.also_through && strcmp(info.also_through, info.platform) != 0, "%s", info.also_through);
    size_t platforms = 0;
    cr_assert_eq(clayer_platform_count(&platforms), CLAYER_OK);
    cr_expect_eq(platforms, 2);
    for (int32_t i = 0; i < 2; i++) { /* either view can be had by its platform */
        char selector[16];
        snprintf(selector, sizeof selector, "%d:0", (int)i);
        cr_assert_eq(clayer_device_select(selector, &other), CLAYER_OK, "%s", clayer_last_error());
        cr_expect_eq(other.platform_index, i);
        clayer_context *context = NULL;
        cr_expect_eq(clayer_context_create(&(clayer_context_params){.device = selector}, &context), CLAYER_OK, "%s",
                     clayer_last_error());
        clayer_context_destroy(&context);
    }
}

Test(device_fake, equal_identities_within_one_platform_are_two_devices)
{
    setenv("CLAYER_FAKE_DEVICES", "2", 1);
    use_fake(ICD_FAKE, "pass", UUID);
    cr_assert_eq(device_count(), 3);
    cr_expect_str_eq(device(0).also_through, "");
    cr_expect_str_neq(device(0).id, device(1).id);
}

Test(device_fake, unidentified_devices_of_two_platforms_are_two_devices)
{
    setenv("CLAYER_FAKE_PLATFORMS", "2", 1);
    use_fake(ICD_FAKE, "pass",
             "CL_DEVICE_EXTENSIONS=cl_khr_device_uuid,CL_DEVICE_UUID_KHR=" /* all zeros */
             "00000000000000000000000000000000");
    cr_assert_eq(device_count(), 3);
    cr_expect_str_eq(device(0).uuid, "");
}

Test(device_fake, usable_view_leads)
{
    use_fake(ICD_FAKE_POCL, "pass", "CL_DEVICE_AVAILABLE=0");
    cr_assert_eq(device_count(), 3);
    cr_expect_eq(device(0).usable, 1);
    cr_expect_eq(device(1).usable, 0);
}

Test(device_fake, platform_without_a_device)
{
    setenv("CLAYER_FAKE_DEVICES", "0", 1);
    use_fake(ICD_FAKE, "pass", "");
    cr_assert_eq(device_count(), 1);
    cr_expect_eq(clayer_opencl_status(), CLAYER_ERROR_NO_DEVICE);
    cr_expect(strstr(clayer_last_error(), "its driver shows no device"), "%s", clayer_last_error());
    size_t platforms = 0;
    cr_assert_eq(clayer_platform_count(&platforms), CLAYER_OK);
    cr_assert_eq(platforms, 1);
    clayer_platform_info info;
    cr_assert_eq(clayer_platform_get(0, &info), CLAYER_OK);
    cr_expect_eq(info.device_count, 0);
    cr_expect_str_eq(info.reason, "its driver shows no device");
    cr_expect_eq(clayer_platform_get(1, &info), CLAYER_ERROR_INVALID_ARGUMENT);
}

Test(device_fake, platform_that_fails_does_not_hide_the_other)
{
    setenv("CLAYER_FAKE_RULES", "clGetDeviceIDs=code:-6", 1);
    use_fake(ICD_FAKE_POCL, "pass", "");
    cr_assert_eq(device_count(), 2);
    cr_expect_eq(device(0).usable, 1);
}

/* Names that are empty, endless, or full of formats and control characters. */
static void list_hostile(const char *word)
{
    setenv("CLAYER_FAKE_STRINGS", word, 1);
    use_fake(ICD_FAKE_POCL, "pass", "");
    cr_assert_eq(device_count(), 3, "%s", word);
    for (size_t i = 0; i < 2; i++) {
        clayer_device_info info = device(i);
        cr_expect(*info.name && *info.platform && *info.id);
        const char *const texts[] = {info.name, info.platform, info.vendor, info.opencl_version, info.id};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            cr_expect_lt(strlen(texts[j]), 128);
            for (const char *c = texts[j]; *c; c++)
                cr_expect((unsigned char)*c >= 0x20 && *c != 0x7f);
        }
        cr_expect_eq(clayer_device_try(i, NULL), CLAYER_OK, "%s: %s", word, clayer_last_error());
    }
    clayer_device_info info;
    cr_expect_eq(clayer_device_select("pthread", &info), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(clayer_device_select("no such", &info), CLAYER_ERROR_NO_DEVICE);
}

Test(device_fake, strings_empty)
{
    list_hostile("empty");
}

Test(device_fake, strings_size0)
{
    list_hostile("size0");
}

Test(device_fake, strings_unterminated)
{
    list_hostile("unterminated");
}

Test(device_fake, strings_64k)
{
    list_hostile("64k");
}

Test(device_fake, strings_percent)
{
    list_hostile("percent");
}

Test(device_fake, strings_control)
{
    list_hostile("control");
}

Test(device_fake, strings_utf8bad)
{
    list_hostile("utf8bad");
}

Test(device_fake, trial_names_the_call_that_failed_and_leaves_nothing)
{
    use_fake(ICD_FAKE, "pass", "");
    cr_assert_eq(device_count(), 2);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_not_null(fake.library);
    static const struct {
        const char *rule, *words;
    } cases[] = {
        {"clCreateContext = code:-6", "clCreateContext failed with CL_OUT_OF_HOST_MEMORY (-6)"},
        {"clCreateContext = nonsense", ""},
        {"clCreateCommandQueue* = code:-35", "clCreateCommandQueue failed with CL_INVALID_QUEUE_PROPERTIES (-35)"},
        {"clCreateProgramWithSource = code:-5", "clCreateProgramWithSource failed with CL_OUT_OF_RESOURCES (-5)"},
        {"clBuildProgram = code:-11", "clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE (-11)"},
        {"clCreateKernel = code:-46", "clCreateKernel failed with CL_INVALID_KERNEL_NAME (-46)"},
        {"clCreateKernel = nonsense", "clCreateKernel"},
        {"clCreateBuffer = code:-4", "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"},
        {"clEnqueueNDRangeKernel = code:-54", "clEnqueueNDRangeKernel failed with CL_INVALID_WORK_GROUP_SIZE (-54)"},
        {"clEnqueueNDRangeKernel = skip", "computes wrong results"},
        {"clEnqueueNDRangeKernel = lastrow", "computes wrong results"},
        {"clFinish = code:-36", "clFinish failed with CL_INVALID_COMMAND_QUEUE (-36)"},
        {"clEnqueueReadBuffer = code:-5", "clEnqueueReadBuffer failed with CL_OUT_OF_RESOURCES (-5)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake.reset();
        cr_assert_eq(fake.set(cases[i].rule), 0);
        clayer_device_info info;
        cr_expect_eq(clayer_device_try(0, &info), CLAYER_ERROR_DEVICE_UNUSABLE, "%s", cases[i].rule);
        cr_expect_eq(info.usable, 0);
        cr_expect(strstr(info.reason, cases[i].words), "%s: %s", cases[i].rule, info.reason);
        cr_expect_eq(fake.live("*"), 0, "%s leaves %ld objects", cases[i].rule, fake.live("*"));
        cr_expect_eq(fake.misuses(), 0, "%s", cases[i].rule);
    }
    fake.reset();
    clayer_device_info info;
    cr_expect_eq(clayer_device_try(0, &info), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(info.usable, 1);
    cr_expect_eq(fake.live("*"), 0);
}

Test(device_fake, timers_are_believed_only_when_plausible)
{
    use_fake(ICD_FAKE, "pass", "");
    cr_assert_eq(device_count(), 2);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_not_null(fake.library);
    static const struct {
        const char *rule;
        int64_t plausible;
    } cases[] = {
        {"clGetEventProfilingInfo = zero", 0},
        {"clGetEventProfilingInfo = backwards", 0},
        {"clGetEventProfilingInfo = scale:1000000", 0},
        {"clGetEventProfilingInfo = code:-7", 0},
        {"clCreateCommandQueue*? profiling = code:-35", CLAYER_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake.reset();
        cr_assert_eq(fake.set(cases[i].rule), 0);
        clayer_device_info info;
        cr_assert_eq(clayer_device_try(0, &info), CLAYER_OK, "%s", clayer_last_error());
        cr_expect_eq(info.timers_plausible, cases[i].plausible, "%s: %d", cases[i].rule, (int)info.timers_plausible);
    }
}

Test(device_fake, automatic_choice_goes_on_when_a_context_fails)
{
    setenv("CLAYER_FAKE_DEVICES", "2", 1);
    setenv("CLAYER_FAKE_RULES", "clCreateContext?device 0 = code:-6", 1);
    use_fake(ICD_FAKE, "pass", "0:CL_DEVICE_TYPE=gpu");
    clayer_context *context = NULL;
    clayer_device_info info;
    cr_assert_eq(clayer_context_create(NULL, &context), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    cr_expect_eq(info.index, 1);
    clayer_context_destroy(&context);
    cr_expect_eq(clayer_context_create(&(clayer_context_params){.device = "gpu"}, &context),
                 CLAYER_ERROR_OUT_OF_MEMORY); /* asked for: no other device instead */
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_eq(fake.set("clCreateContext = code:-2"), 0);
    cr_assert_eq(clayer_context_create(NULL, &context), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    cr_expect_eq(info.type, CLAYER_DEVICE_HOST);
    clayer_context_destroy(&context);
    cr_expect_eq(clayer_context_create(&(clayer_context_params){.device = "cpu"}, &context),
                 CLAYER_ERROR_DEVICE_UNUSABLE);
    cr_expect(strstr(clayer_last_error(), "CL_DEVICE_NOT_AVAILABLE (-2)"), "%s", clayer_last_error());
}

static int properties, refused;

static void look_at(void *user, const char *name, const char *value)
{
    static const char *const expected[][2] = {{"CL_DEVICE_NAME", "Tester"},
                                              {"CL_DEVICE_MAX_COMPUTE_UNITS", "7"},
                                              {"CL_DEVICE_IMAGE_SUPPORT", "no"},
                                              {"CL_DEVICE_TYPE", "0x4"},
                                              {"CL_DEVICE_MAX_WORK_ITEM_SIZES", "64 2 1"}};
    cr_expect_eq(user, &properties);
    properties++;
    refused += !value;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strcmp(name, expected[i][0]) == 0)
            cr_expect(value && strcmp(value, expected[i][1]) == 0, "%s is %s", name, value ? value : "refused");
    if (strcmp(name, "CL_DEVICE_LOCAL_MEM_SIZE") == 0)
        cr_expect_null(value);
}

Test(device_fake, properties_are_what_the_driver_says)
{
    use_fake(ICD_FAKE, "standalone",
             "CL_DEVICE_NAME=Tester,CL_DEVICE_MAX_COMPUTE_UNITS=7,CL_DEVICE_IMAGE_SUPPORT=0,CL_DEVICE_TYPE=gpu,"
             "CL_DEVICE_MAX_WORK_ITEM_SIZES=64/2/1,CL_DEVICE_LOCAL_MEM_SIZE=!");
    cr_assert_eq(clayer_device_properties(0, look_at, &properties), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_gt(properties, 50);
    cr_expect_lt(refused, properties / 2, "%d of %d", refused, properties);
    const int before = properties;
    cr_expect_eq(clayer_device_properties(device_count() - 1, look_at, &properties), CLAYER_OK); /* the host */
    cr_expect_eq(properties, before);
    cr_expect_eq(clayer_device_properties(device_count(), look_at, &properties), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(clayer_device_properties(0, NULL, NULL), CLAYER_ERROR_INVALID_ARGUMENT);
}

static char said[4096];

static void collect(void *user, clayer_log_level level, const char *message)
{
    (void)user, (void)level;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", message);
}

/* The context's device after an automatic choice; what the log said is in `said`. */
static clayer_device_info choose_automatically(void)
{
    clayer_context *context = NULL;
    clayer_device_info info;
    *said = '\0';
    clayer_log_set(collect, NULL, CLAYER_LOG_INFO);
    cr_assert_eq(clayer_context_create(NULL, &context), CLAYER_OK, "%s", clayer_last_error());
    clayer_log_set(NULL, NULL, CLAYER_LOG_INFO);
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    clayer_context_destroy(&context);
    return info;
}

Test(device_fake, automatic_choice_skips_what_the_driver_says_cannot_work)
{
    setenv("CLAYER_FAKE_DEVICES", "3", 1);
    use_fake(ICD_FAKE, "pass",
             "0:CL_DEVICE_TYPE=gpu,0:CL_DEVICE_NAME=mute,0:CL_DEVICE_COMPILER_AVAILABLE=0,"
             "1:CL_DEVICE_TYPE=gpu,1:CL_DEVICE_NAME=away,1:CL_DEVICE_AVAILABLE=0,2:CL_DEVICE_NAME=plain");
    cr_expect_str_eq(choose_automatically().name, "plain");
    cr_expect(strstr(said, "(mute) skipped: ") && strstr(said, "no compiler"), "%s", said);
    cr_expect(strstr(said, "(away) skipped: ") && strstr(said, "CL_DEVICE_AVAILABLE"), "%s", said);
    cr_expect(strstr(said, "(plain) chosen: no usable GPU"), "%s", said);
}

Test(device_fake, automatic_choice_skips_a_gpu_that_compiles_nothing)
{
    setenv("CLAYER_FAKE_DEVICES", "3", 1);
    setenv("CLAYER_CACHE", "off", 1);
    setenv("CLAYER_FAKE_RULES", "clBuildProgram#1=code:-11; clCreateCommandQueue*?device 1=code:-6", 1);
    use_fake(ICD_FAKE, "pass",
             "0:CL_DEVICE_TYPE=gpu,0:CL_DEVICE_NAME=a,1:CL_DEVICE_TYPE=gpu,1:CL_DEVICE_NAME=b,2:CL_DEVICE_NAME=plain");
    cr_expect_str_eq(choose_automatically().name, "plain");
    cr_expect(strstr(said, "(a) skipped: clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE (-11)"), "%s", said);
    cr_expect(strstr(said, "(b) skipped: clCreateCommandQueue failed with CL_OUT_OF_HOST_MEMORY (-6)"), "%s", said);
    struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_expect_eq(fake.live("*"), 0, "%ld objects are left", fake.live("*"));

    /* One that was asked for is taken as it is; so is a CPU, whose work the calling thread can do. */
    cr_assert_eq(fake.set("clBuildProgram=code:-11"), 0);
    clayer_context *context = NULL;
    cr_expect_eq(clayer_context_create(&(clayer_context_params){.device = "gpu"}, &context), CLAYER_OK, "%s",
                 clayer_last_error());
    clayer_context_destroy(&context);
    cr_expect_str_eq(choose_automatically().name, "plain");
}
