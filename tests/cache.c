/* The program cache: whatever happens to its files, a layer runs, one line of the debug log tells, and the entry is
 * made anew. */
#include "base/cache.h"
#include "fake/fake.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char scratch[40];
static int lines;
static char last_line[1024];

/* Counts what the cache says. */
static void listen(void *user, clayer_log_level level, const char *message)
{
    (void)user;
    if (level != CLAYER_LOG_DEBUG || !strstr(message, "program cache: "))
        return;
    lines++;
    snprintf(last_line, sizeof last_line, "%s", message);
}

static void become_unprivileged(void)
{
    if (geteuid() == 0) {
        cr_assert_eq(setgroups(0, NULL), 0);
        cr_assert_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
        cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
    }
}

static void start(void)
{
    strcpy(scratch, "/tmp/clayer-cache-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch));
    setenv("CLAYER_CACHE", scratch, 1);
    unsetenv("CLAYER_CACHE_LIMIT");
    clayer_log_set(listen, NULL, CLAYER_LOG_DEBUG);
}

static void stop(void)
{
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", scratch, scratch);
    cr_expect_eq(system(command), 0);
}

/* Finds `key` with the value `value`, or nothing when that is NULL; `said` lines must have come from it. */
static void expect_found(const char *key, const char *value, int said)
{
    void *found = NULL;
    size_t length = 0;
    lines = 0;
    const bool there = cache_find(key, strlen(key), &found, &length);
    cr_expect_eq(there, value != NULL, "%s", key);
    if (there && value)
        cr_expect(length == strlen(value) && memcmp(found, value, length) == 0, "%s gives another value", key);
    cr_expect_eq(lines, said, "%d lines, not %d: %s", lines, said, last_line);
    free(found);
}

static void put(const char *key, const char *value)
{
    cache_put(key, strlen(key), value, strlen(value), key);
}

/* The only entry's file. */
static const char *entry(void)
{
    static char path[512];
    DIR *folder = opendir(scratch);
    path[0] = '\0';
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (strstr(e->d_name, ".program"))
            snprintf(path, sizeof path, "%s/%s", scratch, e->d_name);
    closedir(folder);
    cr_assert(*path, "no entry");
    return path;
}

static void flip(const char *path, off_t at)
{
    const int fd = open(path, O_RDWR);
    unsigned char byte;
    cr_assert(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 0x10;
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* The damage has been done: a miss with one line, and the next program replaces it. */
static void expect_mended(const char *words)
{
    expect_found("key", NULL, 1);
    cr_expect(strstr(last_line, words), "'%s' in: %s", words, last_line);
    put("key", "value");
    expect_found("key", "value", 0);
}

Test(cache, keeps_and_finds)
{
    start();
    expect_found("key", NULL, 0);
    put("key", "value");
    expect_found("key", "value", 0);
    expect_found("kez", NULL, 0);
    put("key", "another");
    expect_found("key", "another", 0);
    struct stat info;
    cr_assert_eq(stat(entry(), &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0600);
    clayer_cache_info totals;
    cr_assert_eq(clayer_cache_get_info(&totals), CLAYER_OK);
    cr_expect_eq(totals.hits, 2);
    cr_expect_eq(totals.misses, 2);
    cr_expect_eq(totals.all_hits, 2);
    cr_expect_eq(totals.all_misses, 2);
    cr_expect_eq(totals.entries, 1);
    cr_expect_eq(totals.bytes, (uint64_t)info.st_size);
    cr_expect_eq(totals.limit, (uint64_t)64 << 20);
    cr_expect_str_eq(totals.place, scratch);
    stop();
}

Test(cache, damaged_entries_are_misses)
{
    start();
    put("key", "value");
    struct stat info;
    cr_assert_eq(stat(entry(), &info), 0);
    const off_t cuts[] = {0, 1, info.st_size / 2, info.st_size - 1, info.st_size + 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        cr_assert_eq(truncate(entry(), cuts[i]), 0);
        expect_mended("bytes");
    }
    for (off_t at = 0; at < info.st_size; at++) {
        flip(entry(), at);
        expect_mended("is not used");
    }
    cr_assert_eq(truncate(entry(), (off_t)2 << 30), 0);
    expect_mended("more than an entry may have");
    char path[512];
    snprintf(path, sizeof path, "%s", entry());
    cr_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    expect_mended("no regular file");
    cr_assert(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    expect_mended("symbolic link");
    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    expect_mended("no regular file");
    cr_assert_eq(chmod(path, 0622), 0);
    expect_mended("another user");
    stop();
}

Test(cache, another_keys_entry_is_a_miss)
{
    start();
    put("key", "value");
    char own[512], away[64], command[1200];
    snprintf(own, sizeof own, "%s", entry());
    snprintf(away, sizeof away, "%s.own", scratch);
    cr_assert_eq(rename(own, away), 0);
    put("other", "wrong");
    snprintf(command, sizeof command, "mv '%s' '%s'", entry(), own);
    cr_assert_eq(system(command), 0);
    remove(away);
    size_t sound, damaged;
    cr_assert_eq(clayer_cache_verify(NULL, NULL, &sound, &damaged), CLAYER_OK);
    cr_expect(sound == 0 && damaged == 1);
    expect_mended("another key");
    stop();
}

Test(cache, directories_that_cannot_be_trusted_or_written)
{
    start();
    cr_assert_eq(chmod(scratch, 0755), 0);
    if (geteuid() == 0) { /* another user's directory, by its mode readable */
        put("key", "planted");
        pid_t child = fork();
        if (child == 0) {
            become_unprivileged();
            expect_found("key", NULL, 1);
            cr_expect(strstr(last_line, "belongs to user 0"), "%s", last_line);
            lines = 0;
            put("key", "value");
            _exit(strstr(last_line, "belongs to user 0") && lines == 0 ? 0 : 1);
        }
        int state;
        cr_assert_eq(waitpid(child, &state, 0), child);
        cr_expect_eq(state, 0);
        cr_assert_eq(unlink(entry()), 0);
        cr_assert_eq(chown(scratch, NOBODY, NOBODY), 0);
        char command[200];
        snprintf(command, sizeof command, "rm -f '%s'/counts", scratch);
        cr_assert_eq(system(command), 0);
    }
    become_unprivileged();
    put("key", "value");
    expect_found("key", "value", 0);
    cr_assert_eq(chmod(scratch, 0777), 0);
    expect_found("key", NULL, 1);
    cr_expect(strstr(last_line, "can be written by other users"), "%s", last_line);
    cr_assert_eq(chmod(scratch, 0500), 0);
    expect_found("key", "value", 0);
    expect_found("new", NULL, 0);
    lines = 0;
    put("new", "value");
    cr_expect(lines == 1 && strstr(last_line, "Permission denied"), "%d lines: %s", lines, last_line);
    cr_assert_eq(chmod(scratch, 0700), 0);
    char below[128];
    snprintf(below, sizeof below, "%s/file", scratch);
    close(open(below, O_CREAT | O_WRONLY, 0600));
    setenv("CLAYER_CACHE", below, 1);
    expect_found("key", NULL, 1);
    cr_expect(strstr(last_line, "not a directory"), "%s", last_line);
    setenv("CLAYER_CACHE", "off", 1);
    expect_found("key", NULL, 0);
    stop();
}

Test(cache, full_disk_keeps_nothing_and_leaves_nothing)
{
    start();
    const struct rlimit small = {0, 0};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    char value[500];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    lines = 0;
    put("key", value); /* the signal that the system sends here would end the process */
    cr_expect(lines == 1 && strstr(last_line, "File too large"), "%d lines: %s", lines, last_line);
    expect_found("key", NULL, 0);
    char command[200];
    snprintf(command, sizeof command, "test -z \"$(ls -A '%s' | grep -v '^counts$')\"", scratch);
    cr_expect_eq(system(command), 0, "something was left");
    stop();
}

Test(cache, least_recently_used_goes_first)
{
    start();
    setenv("CLAYER_CACHE_LIMIT", "1", 1);
    static char value[400 * 1024];
    memset(value, 'v', sizeof value - 1);
    put("a", value);
    put("b", value);
    /* a was made first, b used long ago */
    char command[300];
    snprintf(command, sizeof command, "touch -d '2020-01-01' '%s'/*.program", scratch);
    cr_assert_eq(system(command), 0);
    expect_found("a", value, 0);
    put("c", value);
    expect_found("a", value, 0);
    expect_found("b", NULL, 0);
    expect_found("c", value, 0);
    size_t entries;
    uint64_t bytes;
    cr_assert_eq(clayer_cache_prune(500 * 1024, &entries, &bytes), CLAYER_OK);
    cr_expect_eq(entries, 1);
    cr_expect_geq(bytes, sizeof value);
    flip(entry(), 100);
    cr_assert_eq(clayer_cache_prune(CLAYER_CACHE_KEEP_LIMIT, &entries, &bytes), CLAYER_OK);
    cr_expect_eq(entries, 1);
    setenv("CLAYER_CACHE_LIMIT", "0", 1);
    lines = 0;
    put("a", value);
    cr_expect(lines == 1 && strstr(last_line, "pass the limit"), "%s", last_line);
    stop();
}

Test(cache, absent_directory_is_sound)
{
    start();
    stop();
    size_t sound = 9, damaged = 9;
    cr_assert_eq(clayer_cache_verify(NULL, NULL, &sound, &damaged), CLAYER_OK);
    cr_expect(sound == 0 && damaged == 0);
    clayer_cache_info info;
    cr_assert_eq(clayer_cache_get_info(&info), CLAYER_OK);
    cr_expect(strstr(info.reason, "not made yet"), "%s", info.reason);
    cr_expect_eq(access(scratch, F_OK), -1, "looking at the cache made it");
}

/* One small layer on the fake driver before PoCL, in a process of its own: exit code = programs compiled from source
 * + 10 x programs loaded as binaries, 99 for a wrong result, 77 without a device. */
static int compiled(const char *overrides, const char *rules, clayer_activation activation)
{
    const pid_t child = fork();
    if (child == 0) {
        setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
        setenv("CLAYER_FAKE_MODE", "pass", 1);
        setenv("POCL_DEVICES", "pthread", 1);
        setenv("CLAYER_FAKE_INFO", overrides, 1);
        setenv("CLAYER_FAKE_RULES", rules, 1);
        const float weight[] = {1, 2, 3, 4, 5, 6}, bias[] = {10, 20}, x[] = {1, 1, 1};
        float y[2] = {0, 0};
        clayer_context *context = NULL;
        clayer_linear *linear = NULL;
        if (clayer_opencl_status() != CLAYER_OK)
            _exit(77);
        if (clayer_context_create(&(clayer_context_params){.device = "0", .plan = "portable"}, &context) != CLAYER_OK)
            _exit(98);
        const clayer_linear_params params = {
            .in_features = 3, .out_features = 2, .weight = weight, .bias = bias, .activation = activation};
        if (clayer_linear_create(context, &params, &linear) != CLAYER_OK ||
            clayer_linear_forward(linear, 1, x, 3, y, 2) != CLAYER_OK || y[0] != 16 || y[1] != 35)
            _exit(99);
        struct fake_control fake = fake_reach(FAKE_LIBRARY);
        const long source = fake.count("clCreateProgramWithSource"), binary = fake.count("clCreateProgramWithBinary");
        clayer_linear_destroy(&linear);
        clayer_context_destroy(&context);
        if (fake.live("*") != 0 || *clayer_last_error())
            _exit(97);
        _exit((int)(source + 10 * binary));
    }
    int state;
    cr_assert_eq(waitpid(child, &state, 0), child);
    cr_assert(WIFEXITED(state), "state %x", state);
    if (WEXITSTATUS(state) == 77)
        cr_skip_test("PoCL is not there");
    return WEXITSTATUS(state);
}

Test(cache, what_decides_the_code_is_in_the_key)
{
    start();
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 1);
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 10);
    cr_expect_eq(compiled("CL_DRIVER_VERSION=new", "", CLAYER_ACTIVATION_NONE), 1);
    cr_expect_eq(compiled("CL_DRIVER_VERSION=new", "", CLAYER_ACTIVATION_NONE), 10);
    cr_expect_eq(compiled("CL_PLATFORM_VERSION=OpenCL 3.0 new", "", CLAYER_ACTIVATION_NONE), 1);
    cr_expect_eq(compiled("CL_DEVICE_NAME=another", "", CLAYER_ACTIVATION_NONE), 1);
    setenv("POCL_WORK_GROUP_METHOD", "loopvec", 1);
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 1);
    unsetenv("POCL_WORK_GROUP_METHOD");
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 10);
    stop();
}

Test(cache, binary_that_the_driver_refuses_is_replaced)
{
    start();
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 1);
    cr_expect_eq(compiled("", "clCreateProgramWithBinary = code:-42", CLAYER_ACTIVATION_NONE), 11);
    cr_expect_eq(compiled("", "clBuildProgram#1 = code:-11", CLAYER_ACTIVATION_NONE), 11);
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 10);
    setenv("CLAYER_CACHE", "off", 1);
    cr_expect_eq(compiled("", "", CLAYER_ACTIVATION_NONE), 1);
    stop();
}
