/* Files that are replaced whole or not at all. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[64], path[96];

static void make_folder(void)
{
    strcpy(folder, "/tmp/clayer-file-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
}

/* Only `path` may be left. */
static void remove_folder(void)
{
    unlink(path);
    cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

static void check_content(const char *expected)
{
    char text[64] = "";
    int fd = -1;
    struct stat info;
    cr_assert_eq(file_open_read(path, &fd, &info), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(info.st_size, (off_t)strlen(expected));
    cr_assert_eq(read(fd, text, sizeof text - 1), (ssize_t)strlen(expected));
    cr_assert_str_eq(text, expected);
    close(fd);
}

Test(file, written_and_replaced, .init = make_folder, .fini = remove_folder)
{
    umask(022);
    cr_assert_eq(file_write_atomic(path, "one", 3, 0600), CLAYER_OK, "%s", clayer_last_error());
    check_content("one");
    struct stat info;
    cr_assert(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    cr_assert_eq(file_write_atomic(path, "second", 6, 0666), CLAYER_OK);
    check_content("second");
    cr_assert(stat(path, &info) == 0 && (info.st_mode & 0777) == 0644);
    cr_assert_eq(file_write_atomic(path, NULL, 0, 0666), CLAYER_OK);
    check_content("");
}

Test(file, an_abort_leaves_what_stood_there, .init = make_folder, .fini = remove_folder)
{
    struct staged_file file;
    cr_assert_eq(file_write_atomic(path, "old", 3, 0666), CLAYER_OK);
    cr_assert_eq(staged_file_open(path, 0666, &file), CLAYER_OK);
    cr_assert(staged_file_seekable(&file));
    cr_assert(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(file_write_all(file.fd, "new", 3, path), CLAYER_OK);
    check_content("old");
    staged_file_abort(&file);
    staged_file_abort(&file);
    check_content("old");
}

Test(file, a_full_disk_leaves_what_stood_there, .init = make_folder, .fini = remove_folder)
{
    static char large[8192];
    cr_assert_eq(file_write_atomic(path, "old", 3, 0666), CLAYER_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4096; /* the second page is refused, as on a full disk */
    setrlimit(RLIMIT_FSIZE, &limit);
    clayer_status status = file_write_atomic(path, large, sizeof large, 0666);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(status, CLAYER_ERROR_IO);
    cr_assert(strstr(clayer_last_error(), path), "%s", clayer_last_error());
    check_content("old");
}

Test(file, places_that_cannot_be_written, .init = make_folder, .fini = remove_folder)
{
    int fd = -1;
    struct stat info;
    cr_assert_eq(file_write_atomic(folder, "x", 1, 0666), CLAYER_ERROR_IO);
    cr_assert(strstr(clayer_last_error(), "it is a directory"), "%s", clayer_last_error());
    cr_assert_eq(file_write_atomic("/no/such/folder/f", "x", 1, 0666), CLAYER_ERROR_IO);
    cr_assert(strstr(clayer_last_error(), "/no/such/folder/f"), "%s", clayer_last_error());
    cr_assert_eq(file_open_read(folder, &fd, &info), CLAYER_ERROR_IO);
    cr_assert_eq(file_open_read(path, &fd, &info), CLAYER_ERROR_IO);
    cr_assert_eq(fd, -1);
    /* A name as long as file systems take leaves no room for a suffix. */
    char longest[64 + 256];
    snprintf(longest, sizeof longest, "%s/", folder);
    memset(longest + strlen(longest), 'n', 255);
    longest[strlen(folder) + 1 + 255] = '\0';
    cr_assert_eq(file_write_atomic(longest, "x", 1, 0666), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(unlink(longest), 0);
}
