#include "base/file.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

clayer_status file_open_read(const char *path, int *fd, struct stat *info)
{
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0)
        return FAIL(CLAYER_ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(opened, info) != 0) {
        int reason = errno;
        close(opened);
        return FAIL(CLAYER_ERROR_IO, "cannot examine %s: %s", path, strerror(reason));
    }
    if (S_ISDIR(info->st_mode)) {
        close(opened);
        return FAIL(CLAYER_ERROR_IO, "%s is a directory, not a file", path);
    }
    *fd = opened;
    return CLAYER_OK;
}

clayer_status file_read_open(int fd, const char *path, size_t limit, char **data, size_t *size, struct stat *info)
{
    if (fstat(fd, info) != 0)
        return FAIL(CLAYER_ERROR_IO, "cannot examine %s: %s", path, strerror(errno));
    if (!S_ISREG(info->st_mode))
        return FAIL(CLAYER_ERROR_IO, "%s is not a regular file", path);
    if ((uintmax_t)info->st_size > limit)
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%s has %jd bytes, more than the %zu accepted", path,
                    (intmax_t)info->st_size, limit);
    const size_t expected = (size_t)info->st_size;
    char *bytes = malloc(expected + 1);
    if (!bytes)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the %zu bytes of %s", expected, path);
    size_t used = 0;
    while (used < expected) {
        const ssize_t got = read(fd, bytes + used, expected - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const int reason = errno;
            free(bytes);
            return FAIL(CLAYER_ERROR_IO, "cannot read %s: %s", path, strerror(reason));
        }
        if (got == 0)
            break; /* somebody cut it meanwhile */
        used += (size_t)got;
    }
    bytes[used] = '\0';
    *data = bytes;
    *size = used;
    return CLAYER_OK;
}

clayer_status file_read_whole(const char *path, size_t limit, char **data, size_t *size, struct stat *info)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return FAIL(CLAYER_ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    const clayer_status status = file_read_open(fd, path, limit, data, size, info);
    close(fd);
    return status;
}

/* write(), but beyond the process's limit for files (ulimit -f) an EFBIG like any other failure: the signal that comes
 * with it would end a program that never heard of clayer's files. It is sent to this thread, so here it can be taken.
 */
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const ssize_t written = write(fd, data, size);
    const int reason = errno;
    if (written < 0 && reason == EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return written;
}

clayer_status file_write_all(int fd, const void *data, size_t size, const char *name)
{
    const char *rest = data;
    while (size > 0) {
        ssize_t written = write_quietly(fd, rest, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return FAIL(CLAYER_ERROR_IO, "cannot write %s: %s", name, strerror(errno));
        rest += written;
        size -= (size_t)written;
    }
    return CLAYER_OK;
}

/* A fresh file beside path, under a name that no other process or thread takes. The name does not contain path's own,
 * which may already be as long as the file system allows. */
static clayer_status open_temporary(const char *path, mode_t mode, int *fd, char **temporary)
{
    static atomic_uint counter;
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;

    for (int attempt = 0; attempt < 100; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        char *name;
        if (asprintf(&name, "%.*s.clayer-%ld-%lx-%x.tmp", directory, path, (long)getpid(), (unsigned long)now.tv_nsec,
                     atomic_fetch_add(&counter, 1)) < 0)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to write %s", path);
        *fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0) {
            *temporary = name;
            return CLAYER_OK;
        }
        int reason = errno;
        free(name);
        if (reason != EEXIST)
            return FAIL(CLAYER_ERROR_IO, "cannot write %s: no file can be made beside it: %s", path, strerror(reason));
    }
    return FAIL(CLAYER_ERROR_IO, "cannot write %s: no free name for a temporary file beside it", path);
}

clayer_status staged_file_open(const char *path, mode_t mode, struct staged_file *file)
{
    struct staged_file staged = {.fd = -1};
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return FAIL(CLAYER_ERROR_IO, "cannot write %s: it is a directory", path);

    bool replaceable = !exists || S_ISREG(info.st_mode);
    staged.path = exists && replaceable ? realpath(path, NULL) : strdup(path);
    if (!staged.path)
        return FAIL(errno == ENOMEM ? CLAYER_ERROR_OUT_OF_MEMORY : CLAYER_ERROR_IO, "cannot write %s: %s", path,
                    strerror(errno));
    clayer_status status = CLAYER_OK;
    if (!replaceable) {
        staged.fd = open(path, O_WRONLY | O_CLOEXEC);
        if (staged.fd < 0)
            status = FAIL(CLAYER_ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    } else {
        status = open_temporary(staged.path, mode, &staged.fd, &staged.temporary);
    }
    if (status != CLAYER_OK) {
        free(staged.path);
        return status;
    }
    *file = staged;
    return CLAYER_OK;
}

bool staged_file_seekable(const struct staged_file *file)
{
    return file->temporary != NULL;
}

static void release(struct staged_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file->temporary);
    *file = (struct staged_file){.fd = -1};
}

clayer_status staged_file_commit(struct staged_file *file)
{
    if (file->temporary && fsync(file->fd) != 0) {
        clayer_status status = FAIL(CLAYER_ERROR_IO, "cannot write %s to its disk: %s", file->path, strerror(errno));
        staged_file_abort(file);
        return status;
    }
    int closed = close(file->fd);
    file->fd = -1;
    if (closed != 0 || (file->temporary && rename(file->temporary, file->path) != 0)) {
        clayer_status status = FAIL(CLAYER_ERROR_IO, "cannot put %s in place: %s", file->path, strerror(errno));
        staged_file_abort(file);
        return status;
    }
    release(file);
    return CLAYER_OK;
}

void staged_file_abort(struct staged_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
    release(file);
}

clayer_status file_write_atomic(const char *path, const void *data, size_t size, mode_t mode)
{
    struct staged_file file;
    TRY(staged_file_open(path, mode, &file));
    clayer_status status = file_write_all(file.fd, data, size, path);
    if (status != CLAYER_OK) {
        staged_file_abort(&file);
        return status;
    }
    return staged_file_commit(&file);
}
