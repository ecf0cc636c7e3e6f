/* The list of devices, their capabilities and the grammar of selectors, on the drivers that this machine has. */
#include <clayer/device.h>
#include <clayer/log.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The first OpenCL device; skips where there is none. */
static clayer_device_info first_opencl_device(void)
{
    if (clayer_opencl_status() != CLAYER_OK)
        cr_skip_test("%s", clayer_last_error());
    return device(0);
}

static void expect_selected(const char *selector, int index)
{
    clayer_device_info info;
    cr_assert_eq(clayer_device_select(selector, &info), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(info.index, index, "'%s' chose %d, not %d", selector ? selector : "NULL", info.index, index);
}

static void expect_refused(const char *selector, clayer_status expected, const char *words)
{
    clayer_device_info info;
    memset(&info, 0x5a, sizeof info);
    cr_expect_eq(clayer_device_select(selector, &info), expected, "'%s'", selector);
    cr_expect(strstr(clayer_last_error(), words), "'%s' in: %s", words, clayer_last_error());
    for (size_t i = 0; i < sizeof info; i++)
        cr_assert_eq(((unsigned char *)&info)[i], 0x5a, "info was touched on failure");
}

Test(device, host_is_last_and_always_there)
{
    setenv("CLAYER_OPENCL", "off", 1);
    unsetenv("CLAYER_DEVICE");
    cr_assert_eq(device_count(), 1);
    clayer_device_info host = device(0);
    cr_expect_eq(host.type, CLAYER_DEVICE_HOST);
    cr_expect_str_eq(host.id, "host");
    cr_expect_eq(host.index, 0);
    cr_expect_eq(host.usable, 1);
    cr_expect_eq(host.compute_units, 1);
    cr_expect_eq(host.max_work_group_size, CLAYER_UNKNOWN);
    expect_selected(NULL, 0);
    expect_selected("host", 0);
    expect_selected("0", 0);
    expect_refused("cpu", CLAYER_ERROR_NO_DEVICE, "matches nothing; choices: 0 host");
    cr_expect_eq(clayer_opencl_status(), CLAYER_ERROR_NO_OPENCL);
    cr_expect(strstr(clayer_last_error(), "CLAYER_OPENCL=off"), "%s", clayer_last_error());
    clayer_device_info info;
    cr_expect_eq(clayer_device_get(1, &info), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(clayer_device_count(NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(clayer_device_get(0, NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(clayer_device_select("host", NULL), CLAYER_ERROR_INVALID_ARGUMENT);
}

Test(device, library_that_is_missing_or_no_opencl)
{
    setenv("CLAYER_OPENCL", "/nonexistent/libOpenCL.so", 1);
    cr_assert_eq(device_count(), 1);
    cr_expect_eq(clayer_opencl_status(), CLAYER_ERROR_NO_OPENCL);
    cr_expect(strstr(clayer_last_error(), "/nonexistent/libOpenCL.so"), "%s", clayer_last_error());
}

Test(device, library_without_the_entry_points)
{
    setenv("CLAYER_OPENCL", "libm.so.6", 1);
    cr_assert_eq(device_count(), 1);
    cr_expect_eq(clayer_opencl_status(), CLAYER_ERROR_NO_OPENCL);
    cr_expect(strstr(clayer_last_error(), "libm.so.6 has no clGetPlatformIDs"), "%s", clayer_last_error());
}

Test(device, no_opencl_keeps_the_last_error)
{
    setenv("CLAYER_OPENCL", "off", 1);
    cr_assert_eq(clayer_device_count(NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    char before[1024];
    strcpy(before, clayer_last_error());
    device_count();
    expect_selected("auto", 0);
    cr_expect_str_eq(clayer_last_error(), before);
}

Test(device, no_driver)
{
    if (!dlopen("libOpenCL.so.1", RTLD_NOW))
        cr_skip_test("no libOpenCL.so.1, and so no loader that could find no driver");
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    cr_assert_eq(device_count(), 1);
    cr_expect_eq(clayer_opencl_status(), CLAYER_ERROR_NO_DEVICE);
    cr_expect_str_eq(clayer_last_error(), "no OpenCL driver was found");
}

Test(device, order_and_capabilities)
{
    first_opencl_device();
    size_t count = device_count();
    for (size_t i = 0; i < count; i++) {
        clayer_device_info info = device(i);
        cr_expect_eq(info.index, (int)i);
        cr_expect_eq(info.type == CLAYER_DEVICE_HOST, i + 1 == count);
        cr_expect(info.usable || *info.reason, "%s is unusable without a reason", info.id);
        cr_expect(*info.id && *info.name && *info.platform);
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(info.id, device(j).id);
        if (i > 0 && i + 1 < count && device(i - 1).usable == info.usable)
            cr_expect_leq(device(i - 1).type, info.type);
        for (size_t k = 0; k < sizeof info.reserved / sizeof *info.reserved; k++)
            cr_expect_eq(info.reserved[k], CLAYER_UNKNOWN);
        if (info.type == CLAYER_DEVICE_HOST || !info.usable)
            continue;
        cr_expect_gt(info.compute_units, 0);
        cr_expect_gt(info.max_work_group_size, 0);
        cr_expect_gt(info.max_work_item_sizes[2], 0);
        cr_expect_gt(info.max_allocation_bytes, 0);
        cr_expect_leq(info.max_allocation_bytes, info.global_memory_bytes);
        cr_expect_gt(info.memory_base_alignment, 0);
        cr_expect_eq(info.address_bits % 32, 0);
        cr_expect(strncmp(info.opencl_version, "OpenCL ", 7) == 0);
    }
}

Test(device, pocl)
{
    setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd", 1);
    setenv("POCL_DEVICES", "pthread", 1);
    clayer_device_info info = first_opencl_device();
    cr_assert_eq(device_count(), 2);
    cr_expect_eq(info.type, CLAYER_DEVICE_CPU);
    cr_expect_eq(info.usable, 1);
    cr_expect_str_eq(info.platform, "Portable Computing Language");
    cr_expect_eq(info.local_memory_is_real, 0);
    cr_expect_eq(info.unified_memory, 1);
    cr_expect_eq(info.fp64, 1);
    cr_expect_eq(info.memory_base_alignment, 128);
    cr_expect_eq(info.timer_resolution_ns, 1);
    cr_expect_eq(info.matrix_units, CLAYER_MATRIX_NONE);
}

Test(device, two_equal_devices)
{
    setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd", 1);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    unsetenv("CLAYER_DEVICE");
    clayer_device_info first = first_opencl_device();
    cr_assert_eq(device_count(), 3);
    clayer_device_info second = device(1);
    cr_expect_str_eq(second.name, first.name);
    char id[sizeof first.id + 2];
    snprintf(id, sizeof id, "%s-2", first.id);
    cr_expect_str_eq(second.id, id);
    expect_selected(NULL, 0);
    expect_selected(first.id, 0);
    expect_selected(second.id, 1);
    expect_selected("0:1", 1);
    expect_selected("portable:1", 1);
    expect_selected("POCL:0", 0);
    expect_refused("pthread", CLAYER_ERROR_NO_DEVICE, "'pthread' matches 2 devices; choices: 0 ");
    expect_refused("pocl", CLAYER_ERROR_NO_DEVICE, "'pocl' matches 2 devices");
    expect_refused("pocl", CLAYER_ERROR_NO_DEVICE, second.id);
    setenv("CLAYER_DEVICE", "1", 1);
    expect_selected(NULL, 1);
    expect_selected("", 1);
    expect_selected("auto", 0);
    expect_selected("2", 2);
    setenv("CLAYER_DEVICE", "99", 1);
    clayer_device_info info;
    cr_expect_eq(clayer_device_select(NULL, &info), CLAYER_ERROR_NO_DEVICE);
    cr_expect(strstr(clayer_last_error(), "'99' is beyond the list; choices: 0 "), "%s", clayer_last_error());
    expect_selected("cpu", 0);
}

Test(device, grammar)
{
    clayer_device_info first = first_opencl_device();
    size_t count = device_count();
    unsetenv("CLAYER_DEVICE");
    char text[300];
    for (char *c = strcpy(text, first.id); *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    expect_selected(text, 0);
    expect_selected("HOST", (int)count - 1);
    snprintf(text, sizeof text, "%d:%d", first.platform_index, first.platform_device_index);
    expect_selected(text, 0);
    static const char *const nonsense[] = {"-1",   "99",   "4294967296", "0x0",  "0 !",  "1:",           ":0",
                                           "99:0", "0:99", "0:-1",       "gpu0", "%s%n", "no such thing"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        expect_refused(nonsense[i], CLAYER_ERROR_NO_DEVICE, "choices: 0 ");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    expect_refused(text, CLAYER_ERROR_NO_DEVICE, "host");
}

static char info_line[512];
static int info_lines;

static void keep_info(void *user, clayer_log_level level, const char *message)
{
    (void)user;
    if (level == CLAYER_LOG_INFO) {
        snprintf(info_line, sizeof info_line, "%s", message);
        info_lines++;
    }
}

Test(device, automatic_choice_says_why_once)
{
    unsetenv("CLAYER_DEVICE");
    setenv("CLAYER_OPENCL", "off", 1);
    clayer_log_set(keep_info, NULL, CLAYER_LOG_INFO);
    expect_selected(NULL, 0);
    cr_expect_eq(info_lines, 1);
    cr_expect(strstr(info_line, "device 0 host (") && strstr(info_line, "CLAYER_OPENCL=off"), "%s", info_line);
    expect_selected("host", 0);
    cr_expect_eq(info_lines, 1);
}

Test(device, child_of_a_fork_has_the_host)
{
    first_opencl_device();
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        clayer_device_info info;
        size_t count = 0;
        bool right = clayer_device_count(&count) == CLAYER_OK && count == 1 &&
                     clayer_device_select("host", &info) == CLAYER_OK && info.type == CLAYER_DEVICE_HOST &&
                     clayer_opencl_status() == CLAYER_ERROR_FORKED;
        _exit(right ? 0 : 1);
    }
    int state = 0;
    cr_assert_eq(waitpid(child, &state, 0), child);
    cr_expect(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}
