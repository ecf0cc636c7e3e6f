/* Where files go, and which directories are trusted. Permissions are tested as an unprivileged user. */
#include "base/paths.h"

#include <criterion/criterion.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static void expect_path(enum paths_kind kind, const char *expected)
{
    char *path = NULL;
    cr_assert_eq(paths_find(kind, &path), CLAYER_OK);
    if (expected)
        cr_expect(path && strcmp(path, expected) == 0, "%s, not %s", path ? path : "NULL", expected);
    else
        cr_expect_null(path);
    free(path);
}

static void clear_environment(void)
{
    static const char *const names[] = {"CLAYER_CACHE", "CLAYER_DATA_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HOME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* A root process must drop its rights: root may write anywhere. A test that can't drop fails. */
static void become_unprivileged(void)
{
    if (geteuid() == 0) {
        cr_assert_eq(setgroups(0, NULL), 0);
        cr_assert_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
        cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
    }
    cr_assert_neq(geteuid(), 0);
}

static char scratch[64];

static void make_scratch(void)
{
    strcpy(scratch, "/tmp/clayer-paths-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch));
}

static const char *below(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void remove_scratch(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    cr_expect_eq(system(command), 0);
}

static void expect_refused(const char *path, const char *words)
{
    cr_expect_eq(paths_make(path), CLAYER_ERROR_IO, "%s", path);
    cr_expect(strstr(clayer_last_error(), words), "'%s' in: %s", words, clayer_last_error());
}

Test(paths, order_of_places)
{
    clear_environment();
    setenv("HOME", "/home/someone/", 1);
    expect_path(PATHS_CACHE, "/home/someone/.cache/clayer");
    expect_path(PATHS_DATA, "/home/someone/.local/share/clayer");
    setenv("XDG_CACHE_HOME", "/fast", 1);
    setenv("XDG_DATA_HOME", "relative", 1);
    expect_path(PATHS_CACHE, "/fast/clayer");
    expect_path(PATHS_DATA, "/home/someone/.local/share/clayer");
    setenv("XDG_CACHE_HOME", "", 1);
    expect_path(PATHS_CACHE, "/home/someone/.cache/clayer");
    setenv("CLAYER_CACHE", "/own/place", 1);
    expect_path(PATHS_CACHE, "/own/place");
    setenv("CLAYER_CACHE", "off", 1);
    expect_path(PATHS_CACHE, NULL);
    expect_path(PATHS_DATA, "/home/someone/.local/share/clayer");
    setenv("CLAYER_DATA_DIR", "", 1);
    setenv("HOME", "/", 1);
    expect_path(PATHS_DATA, "/.local/share/clayer");
}

Test(paths, without_home_the_password_database_answers)
{
    clear_environment();
    const struct passwd *entry = getpwuid(geteuid());
    char expected[512];
    if (entry)
        snprintf(expected, sizeof expected, "%s/.cache/clayer", strcmp(entry->pw_dir, "/") ? entry->pw_dir : "");
    static const char *const homes[] = {NULL, "", "relative"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        if (homes[i])
            setenv("HOME", homes[i], 1);
        expect_path(PATHS_CACHE, entry ? expected : NULL);
    }
}

Test(paths, user_without_an_entry_has_no_place)
{
    if (geteuid() != 0)
        cr_skip_test("needs root to become a user that the password database does not know");
    clear_environment();
    cr_assert_eq(setresuid(3999999, 3999999, 3999999), 0);
    expect_path(PATHS_CACHE, NULL);
    expect_path(PATHS_DATA, NULL);
}

Test(paths, makes_parents_private)
{
    become_unprivileged();
    make_scratch();
    umask(0);
    cr_assert_eq(paths_make(below("a/b c/Новая/d/")), CLAYER_OK, "%s", clayer_last_error());
    static const char *const made[] = {"a", "a/b c", "a/b c/Новая", "a/b c/Новая/d"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct stat info;
        cr_assert_eq(stat(below(made[i]), &info), 0);
        cr_expect_eq(info.st_mode & 07777, 0700, "%s has mode %o", made[i], info.st_mode & 07777);
        cr_expect_eq(info.st_uid, geteuid());
    }
    cr_expect_eq(paths_make(below("a/b c/Новая/d")), CLAYER_OK); /* again */
    remove_scratch();
}

Test(paths, refuses_what_it_cannot_trust)
{
    become_unprivileged();
    make_scratch();
    cr_assert_eq(mkdir(below("open"), 0700), 0);
    cr_assert_eq(chmod(below("open"), 0777), 0);
    expect_refused(below("open"), "can be written by other users (mode 777)");
    cr_assert_eq(chmod(below("open"), 0720), 0);
    expect_refused(below("open"), "can be written by other users (mode 720)");
    cr_assert_eq(chmod(below("open"), 0755), 0);
    cr_expect_eq(paths_make(below("open")), CLAYER_OK);

    cr_assert_eq(mkdir(below("closed"), 0500), 0);
    expect_refused(below("closed/x/y"), "No such file or directory");
    expect_refused(below("closed/x"), "Permission denied");

    FILE *file = fopen(below("file"), "w");
    cr_assert_not_null(file);
    fclose(file);
    expect_refused(below("file"), "is not a directory");
    expect_refused(below("file/x"), "Not a directory");
    cr_assert_eq(symlink("nowhere", below("dangling")), 0);
    expect_refused(below("dangling"), "No such file or directory");
    expect_refused("/proc/clayer", "cannot make directory /proc/clayer");
    expect_refused("/", "belongs to user 0");

    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    expect_refused(below(name), "name too long");
    remove_scratch();
}
