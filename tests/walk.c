/* The fault walk: whole lives of clayer's objects in which each OpenCL call, and each allocation of clayer's own, fails
 * in turn. Every run ends with a status whose detail names what failed, or with the documented fallback and a right
 * result; nothing is left behind; and the same life works right after.
 *
 * The normal suite fails every fourth call with one code, in rotation; CLAYER_TEST_DEPTH=each does so with each call,
 * CLAYER_TEST_DEPTH=deep with each call and every code. */
#include "fake/client.h"
#include "support/heap.h"
#include "support/lives.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a driver may answer: an allocation, resources, host memory, a broken build, an event's failure, a lost context,
 * a lost queue, a dead object, a group size, a buffer size, an illegal access (NVIDIA), and nothing at all. */
static const char *const actions[] = {"code:-5",  "code:-4",    "code:-6",  "code:-61", "code:-30",
                                      "code:-36", "code:-11",   "code:-14", "code:-34", "code:-38",
                                      "code:-54", "code:-9999", "nonsense"};
enum { ACTIONS = sizeof actions / sizeof *actions, MEMORY_ACTIONS = 4, NONSENSE_ACTIONS = 1 };

/* Calls whose failure a life survives, and how often in one life. Whatever else fails must be told. */
static const struct {
    const char *name;
    int times;
    const char *why;
} survivable[] = {
    {"clRelease*", 1000, "the object is given up, whatever the driver says"},
    {"clGetProgramBuildInfo", 1000, "no build log"},
    {"clGetProgramInfo", 1000, "no binary to keep"},
    {"clCreateProgramWithBinary", 1000, "a stale entry of the cache: built from source"},
    {"clGetPlatformInfo", 1000, "a part of the cache's key: an unknown version"},
    {"clGetDeviceInfo", 1000, "a part of the cache's key: an unknown version"},
    {"clGetEventProfilingInfo", 1000, "a timer that cannot be believed"},
    {"clEnqueueMapBuffer", 1, "whether host and device share memory: taken as no"},
    {"clEnqueueUnmapMemObject", 1, "the same"},
    {"clCreateBuffer", 1, "the same"},
    {"clFinish", 3, "the same; and before a context or memory in use is released"},
    {"clCreateCommandQueue", 1, "a trial without profiling"},
    {"clBuildProgram", 2, "a binary of the cache that the driver refuses"},
};

static bool named(const char *pattern, const char *name)
{
    const size_t length = strcspn(pattern, "*");
    return strncmp(pattern, name, length) == 0 && (pattern[length] || !name[length]);
}

static struct fake_control fake;
static bool deep, each;
static long calls_failed, runs_failed;
static size_t allocations_refused;
static long objects; /* that stay alive between runs of one life */
static int survived[sizeof survivable / sizeof *survivable];
static char failed[64]; /* the call that failed in the last run, "" if none did */

static void begin(const char *type)
{
    char info[64];
    snprintf(info, sizeof info, "CL_DEVICE_TYPE=%s", type);
    setenv("CLAYER_FAKE_INFO", info, 1);
    fake = client_load("pass");
    const char *depth = getenv("CLAYER_TEST_DEPTH");
    deep = depth && strcmp(depth, "deep") == 0;
    each = deep || (depth && strcmp(depth, "each") == 0);
    lives_begin();
}

static bool possible(const struct life *life)
{
    if (life->deep && !deep)
        return false;
    return !life->clblast || dlopen("libclblast.so.1", RTLD_NOW) != NULL;
}

/* The first, undisturbed runs: one opens what stays open for the process's life, and fills the caches. false where the
 * device cannot do what the life wants. */
static bool warm_up(const struct life *life)
{
    if (life->run() == CLAYER_ERROR_UNSUPPORTED) {
        printf("cases: walk: %s left out: %s\n", life->name, clayer_last_error());
        fflush(stdout);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        objects = fake.live("*");
        cr_assert_eq(life->run(), CLAYER_OK, "%s: %s", life->name, clayer_last_error());
    }
    cr_assert_eq(fake.live("*"), objects, "%s leaves %ld OpenCL objects", life->name, fake.live("*") - objects);
    return true;
}

static void expect_works(const struct life *life, const char *after)
{
    fake.reset();
    cr_expect_eq(life->run(), CLAYER_OK, "%s after %s: %s", life->name, after, clayer_last_error());
}

static bool is_nonsense(int action)
{
    return action >= ACTIONS - NONSENSE_ACTIONS;
}

/* One run with the n-th call failing. False when the life has fewer calls. */
static bool fail_call(const struct life *life, const char *calls, long n, int action)
{
    char rule[64], what[200];
    snprintf(rule, sizeof rule, "%s#%ld = %s", calls, n, actions[action]);
    fake.reset();
    cr_assert_eq(fake.set(rule), 0);
    const size_t blocks = heap_live();
    const clayer_status status = life->run();
    snprintf(failed, sizeof failed, "%s", fake.failed());
    snprintf(what, sizeof what, "%s, call %ld (%s) with %s", life->name, n, failed, actions[action]);
    fake.reset();
    cr_expect_eq(fake.live("*"), objects,
                 "%s: %ld OpenCL objects are left (%ld mem, %ld kernels, %ld programs, %ld events)", what,
                 fake.live("*") - objects, fake.live("mem"), fake.live("kernel"), fake.live("program"),
                 fake.live("event"));
    cr_expect_eq(fake.misuses(), 0, "%s: a dead object was used", what);
    cr_expect_eq(heap_live(), blocks, "%s: %zd blocks of memory are left", what, (ssize_t)(heap_live() - blocks));
    if (!*failed)
        return false;
    runs_failed++;
    cr_expect_neq(status, LIFE_WRONG, "%s: a wrong result", what);
    const bool nonsense = is_nonsense(action);
    if (status == CLAYER_OK && !life->automatic) {
        bool known = false;
        for (size_t i = 0; i < sizeof survivable / sizeof *survivable; i++)
            if (named(survivable[i].name, failed)) {
                known = true;
                survived[i]++;
            }
        cr_expect(known || nonsense, "%s goes unnoticed", what);
    } else if (status != CLAYER_OK && !nonsense) {
        const char *detail = clayer_last_error();
        cr_expect(strstr(detail, failed) || (life->clblast && strstr(detail, "CLBlast")), "%s is told as '%s'", what,
                  detail);
        if (action < MEMORY_ACTIONS && !life->clblast && strcmp(life->name, "trial") != 0)
            cr_expect_eq(status, CLAYER_ERROR_OUT_OF_MEMORY, "%s is '%s'", what, clayer_status_string(status));
    }
    if (deep)
        expect_works(life, what);
    return true;
}

/* How many of these calls a life has. */
static long fake_calls(const struct life *life, const char *pattern)
{
    fake.reset();
    cr_assert_eq(life->run(), CLAYER_OK);
    return fake.count(pattern);
}

/* The normal suite fails every fourth call, so that it ends in seconds; the deep one each. */
#define NORMAL_STEP 4

static void expect_few_survived(const struct life *life)
{
    for (size_t i = 0; i < sizeof survivable / sizeof *survivable; i++) {
        cr_expect_leq(survived[i], survivable[i].times * (life->contexts ? life->contexts : 1),
                      "%s: %s failed unnoticed %d times (%s)", life->name, survivable[i].name, survived[i],
                      survivable[i].why);
        survived[i] = 0;
    }
}

/* Each call of a pattern that a life has, with one answer or (-1) with the codes for memory in rotation. */
static void fail_calls(const struct life *life, const char *pattern, int action, long step)
{
    const long all = fake_calls(life, pattern);
    long n = 1;
    while (fail_call(life, pattern, n, action < 0 ? (int)(n / step % MEMORY_ACTIONS) : action))
        n += step;
    /* How many helpers the calling thread asks for depends on when they come and go. */
    const long vary = life->automatic ? 8 : 0;
    cr_expect_geq(n + step, all + 1 - vary, "%s: %ld of %ld calls of %s failed", life->name, n - 1, all, pattern);
    expect_few_survived(life);
}

/* A life that compiles with CLBlast takes too long for every code on every call, and most of its calls are CLBlast's,
 * which turns whatever code into one exception. So each call fails with one code, in rotation, and each entry point's
 * first call with all of them. What clayer calls itself stands in another life, in full. */
static void fail_calls_in_rotation(const struct life *life)
{
    static char seen[100][sizeof failed];
    size_t count = 0;
    for (long n = 1; fail_call(life, "*", n, (int)(n % (ACTIONS - NONSENSE_ACTIONS))); n++) {
        size_t i = 0;
        while (i < count && strcmp(seen[i], failed) != 0)
            i++;
        if (i < count)
            continue;
        cr_assert_lt(count, sizeof seen / sizeof *seen);
        strcpy(seen[count++], failed);
        int before[sizeof survived / sizeof *survived];
        memcpy(before, survived, sizeof survived);
        for (int action = 0; action < ACTIONS - NONSENSE_ACTIONS; action++)
            if (action != n % (ACTIONS - NONSENSE_ACTIONS))
                fail_call(life, "*", n, action);
        memcpy(survived, before, sizeof survived);
    }
    cr_expect_gt(count, 20, "%s has only %zu entry points", life->name, count);
    expect_few_survived(life);
}

static void walk(const struct life *life)
{
    if (!possible(life) || !warm_up(life))
        return;
    memset(survived, 0, sizeof survived);
    const long step = each ? 1 : NORMAL_STEP;
    calls_failed += (fake_calls(life, "*") + step - 1) / step;
    if (!deep)
        fail_calls(life, "*", -1, step);
    else if (life->deep)
        fail_calls_in_rotation(life);
    else
        for (int action = 0; action < ACTIONS - NONSENSE_ACTIONS; action++)
            fail_calls(life, "*", action, 1);
    /* A command or an argument that a driver claims to have taken and has not cannot be told from one that it has. And
     * CLBlast 1.5.3 itself crashes when it asks a driver for the binary it has compiled and is answered with nothing.
     */
    static const char *const answering[] = {"clCreate*", "clGet*", "clBuildProgram"};
    for (size_t p = 0; deep && !life->deep && p < sizeof answering / sizeof *answering; p++)
        fail_calls(life, answering[p], ACTIONS - NONSENSE_ACTIONS, 1);
    expect_works(life, "all of it");
}

/* On a CPU device, where host and device share memory. */
Test(walk, each_call_on_a_cpu, .timeout = 1500)
{
    begin("cpu");
    for (size_t i = 0; i < life_count; i++)
        walk(&lives[i]);
    printf("cases: walk, on a CPU: %ld calls failed in turn, in %ld runs\n", calls_failed, runs_failed);
    fflush(stdout);
}

/* The same device claiming to be a GPU: memory of its own, staging, other families. */
Test(walk, each_call_on_a_gpu, .timeout = 1500)
{
    begin("gpu");
    for (size_t i = 0; i < life_count; i++)
        if (strcmp(lives[i].name, "host") != 0 && strcmp(lives[i].name, "cached") != 0)
            walk(&lives[i]);
    printf("cases: walk, on a GPU: %ld calls failed in turn, in %ld runs\n", calls_failed, runs_failed);
    fflush(stdout);
}

/* A process that lists devices with the n-th of the driver's calls failing, the loader's own calls too, and then runs a
 * layer. Its exit status: 0 right, 1 wrong, 2 not at all, plus 8 when a call failed. */
static int list_and_run(long n, const char *action)
{
    char rule[64];
    snprintf(rule, sizeof rule, "*#%ld = %s", n, action);
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_RULES", rule, 1);
    size_t count = 0;
    int result = 0;
    clayer_device_info info;
    clayer_platform_info platform;
    if (clayer_device_count(&count) != CLAYER_OK || count < 1)
        result = 2;
    for (size_t i = 0; i < count; i++)
        if (clayer_device_get(i, &info) != CLAYER_OK || (!info.usable && !*info.reason))
            result = 2;
    if (clayer_platform_count(&count) != CLAYER_OK || (count && clayer_platform_get(0, &platform) != CLAYER_OK))
        result = 2;
    const clayer_status status = life_of_the_best_device();
    fake = fake_reach(FAKE_LIBRARY);
    if (status == LIFE_WRONG)
        result = 1;
    else if (status != CLAYER_OK && !(fake.library && *fake.failed() && strstr(clayer_last_error(), fake.failed())) &&
             !strstr(clayer_last_error(), "CL_COMPILER_NOT_AVAILABLE")) /* not told: the device was taken for usable */
        result = 2;
    if (!fake.library) /* the loader has closed a driver that did not answer */
        return result | 8;
    if (fake.live("*") || fake.misuses())
        result = 2;
    return result | (fake.count("*") >= n ? 8 : 0);
}

/* Whatever fails while devices are found, the list stands, and work goes to a device that is left or to the host. */
Test(walk_listing, each_call_while_devices_are_found, .timeout = 1500)
{
    lives_begin();
    const char *depth = getenv("CLAYER_TEST_DEPTH");
    for (int action = 0; action < ACTIONS; action += depth && strcmp(depth, "deep") == 0 ? 1 : 4) {
        long n = 1;
        for (bool more = true; more; n++) {
            const pid_t child = fork();
            if (!child)
                _exit(list_and_run(n, actions[action]));
            int status = 0;
            cr_assert_eq(waitpid(child, &status, 0), child);
            cr_assert(WIFEXITED(status), "call %ld with %s: signal %d", n, actions[action], WTERMSIG(status));
            more = WEXITSTATUS(status) & 8;
            cr_expect_eq(WEXITSTATUS(status) & 7, 0, "call %ld with %s: %s", n, actions[action],
                         WEXITSTATUS(status) & 1 ? "a wrong result" : "a failure");
        }
        cr_expect_gt(n, 50, "only %ld calls were seen", n);
    }
}

/* Each allocation of clayer's own refused in turn. */
static void starve(const struct life *life)
{
    if (!possible(life) || !warm_up(life))
        return;
    size_t n = 0;
    for (;;) {
        const size_t blocks = heap_live();
        heap_refuse(++n);
        const clayer_status status = life->run();
        const int refused = heap_refused();
        heap_refuse(0);
        cr_expect_eq(heap_live(), blocks, "%s, allocation %zu: %zd blocks of memory are left", life->name, n,
                     (ssize_t)(heap_live() - blocks));
        cr_expect_eq(fake.live("*"), objects, "%s, allocation %zu: %ld OpenCL objects are left", life->name, n,
                     fake.live("*") - objects);
        if (!refused)
            break;
        cr_expect(status == CLAYER_OK || status == CLAYER_ERROR_OUT_OF_MEMORY ||
                      (strcmp(life->name, "trial") == 0 && status == CLAYER_ERROR_DEVICE_UNUSABLE),
                  "%s, allocation %zu: %s: %s", life->name, n,
                  status == LIFE_WRONG ? "a wrong result" : clayer_status_string(status), clayer_last_error());
    }
    expect_works(life, "starving");
    allocations_refused += n - 1;
}

Test(walk, each_allocation_on_a_cpu, .timeout = 600)
{
    begin("cpu");
    for (size_t i = 0; i < life_count; i++)
        starve(&lives[i]);
    printf("cases: walk, on a CPU: %zu allocations refused in turn\n", allocations_refused);
    fflush(stdout);
}

Test(walk, each_allocation_on_a_gpu, .timeout = 600)
{
    begin("gpu");
    for (size_t i = 0; i < life_count; i++)
        if (strcmp(lives[i].name, "host") != 0 && (each || strcmp(lives[i].name, "cached") != 0))
            starve(&lives[i]);
    printf("cases: walk, on a GPU: %zu allocations refused in turn\n", allocations_refused);
    fflush(stdout);
}
