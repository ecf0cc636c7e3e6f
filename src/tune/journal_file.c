#include "tune/journal_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#ifndef _WIN32
#include <sys/file.h>
#endif

#define DIRECTORY "journal"
#define ENDING ".journal"
#define CHECK_DIGITS 16
#define LINE_MOST 1000
/* No run writes that much; a larger file is no journal. */
#define FILE_MOST ((size_t)64 << 20)

/* Whether this process now owns the file; a file system without locks makes everything one's own. */
static bool lock(int descriptor)
{
#ifdef _WIN32
    (void)descriptor;
    return true;
#else
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
#endif
}

static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

clayer_status journal_file_create(const char *folder, const char *device, int *descriptor, char **path)
{
    clayer_status status;
    char name[128];
    struct timespec now;
    char *directory = join(folder, DIRECTORY);
    *path = NULL;
    if (!directory)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
    TRY_GOTO(paths_make(directory));
    for (int i = 0;; i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, sizeof name, "%s-%ld-%llx" ENDING, device, (long)getpid(),
                 (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
        free(*path);
        *path = join(directory, name);
        if (!*path)
            FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
        *descriptor = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (*descriptor >= 0)
            break;
        if (errno != EEXIST || i > 100)
            FAIL_GOTO(CLAYER_ERROR_IO, "cannot create %s: %s", *path, strerror(errno));
    }
    lock(*descriptor);
    free(directory);
    return CLAYER_OK;
fail:
    free(directory);
    free(*path);
    *path = NULL;
    return status;
}

static void print_check(const char *text, size_t length, char check[CHECK_DIGITS + 1])
{
    snprintf(check, CHECK_DIGITS + 1, "%016" PRIx64, (uint64_t)XXH64(text, length, 0));
}

clayer_status journal_file_append(int descriptor, const char *path, const char *text)
{
    char line[LINE_MOST + CHECK_DIGITS + 3], check[CHECK_DIGITS + 1];
    const size_t length = strlen(text) < LINE_MOST ? strlen(text) : LINE_MOST;
    print_check(text, length, check);
    const int size = snprintf(line, sizeof line, "%s %.*s\n", check, (int)length, text);
    TRY(file_write_all(descriptor, line, (size_t)size, path));
    if (fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        return FAIL(CLAYER_ERROR_IO, "cannot sync %s: %s", path, strerror(errno));
    return CLAYER_OK;
}

/* Hands out the sound lines of one file; returns how many were not. */
static size_t read_lines(char *text, size_t size, bool alive, journal_file_line line, void *user)
{
    size_t damaged = 0;
    for (char *end, *at = text; at < text + size; at = end + 1) {
        char check[CHECK_DIGITS + 1];
        end = memchr(at, '\n', (size_t)(text + size - at));
        const size_t length = end ? (size_t)(end - at) : 0;
        if (!end) { /* cut while it was written */
            damaged++;
            break;
        }
        *end = '\0';
        if (length <= CHECK_DIGITS || strlen(at) != length) {
            damaged++;
            continue;
        }
        print_check(at + CHECK_DIGITS + 1, length - CHECK_DIGITS - 1, check);
        if (at[CHECK_DIGITS] == ' ' && memcmp(at, check, CHECK_DIGITS) == 0)
            line(user, at + CHECK_DIGITS + 1, alive);
        else
            damaged++;
    }
    return damaged;
}

static clayer_status adopt_one(const char *path, journal_file_line line, journal_file_end end, void *user)
{
    struct stat info;
    char *text = NULL;
    size_t size = 0;
    /* Not waiting: there may be a pipe in its place. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) /* another run adopted it, or it is none of ours */
        return CLAYER_OK;
    const bool alive = !lock(descriptor);
    clayer_status status = file_read_open(descriptor, path, FILE_MOST, &text, &size, &info);
    if (status != CLAYER_OK) { /* left for a later run */
        log_write(CLAYER_LOG_WARN, "tuning journal passed over: %s", clayer_last_error());
        status = status == CLAYER_ERROR_OUT_OF_MEMORY ? status : CLAYER_OK;
    } else if (info.st_nlink > 0) { /* nobody has adopted it meanwhile */
        const size_t damaged = read_lines(text, size, alive, line, user);
        if (damaged && !alive)
            log_write(CLAYER_LOG_WARN, "tuning journal %s: %zu damaged line%s passed over", path, damaged,
                      damaged == 1 ? "" : "s");
        if (!alive && end(user, path) && unlink(path) != 0 && errno != ENOENT)
            status = FAIL(CLAYER_ERROR_IO, "cannot remove %s: %s", path, strerror(errno));
    }
    free(text);
    close(descriptor);
    return status;
}

clayer_status journal_file_adopt(const char *folder, const char *device, const char *except, journal_file_line line,
                                 journal_file_end end, void *user)
{
    clayer_status status = CLAYER_OK;
    char *directory = join(folder, DIRECTORY);
    if (!directory)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
    DIR *list = opendir(directory);
    struct dirent *entry;
    while (list && (entry = readdir(list))) {
        const size_t length = strlen(entry->d_name), ending = strlen(ENDING), key = strlen(device);
        if (length <= ending + key || strncmp(entry->d_name, device, key) != 0 || entry->d_name[key] != '-' ||
            strcmp(entry->d_name + length - ending, ENDING) != 0)
            continue;
        char *path = join(directory, entry->d_name);
        if (path && (!except || strcmp(path, except) != 0)) {
            const clayer_status one = adopt_one(path, line, end, user);
            status = status == CLAYER_OK ? one : status;
        }
        free(path);
    }
    if (list)
        closedir(list);
    free(directory);
    return status;
}
