/* Files: opening for reading, writing every byte, and replacing a file so that nobody ever sees half of it. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens path for reading, close-on-exec; a directory is refused. *info tells what it is. IO names the path. */
clayer_status file_open_read(const char *path, int *fd, struct stat *info);

/* A regular file's whole content on the heap, with a NUL behind it; *info is what it was when it was read. IO also for
 * anything else than a regular file (never waits for a pipe), and TOO_LARGE above limit. */
clayer_status file_read_whole(const char *path, size_t limit, char **data, size_t *size, struct stat *info);
/* The same of an open file, which stays open; path is for messages. */
clayer_status file_read_open(int fd, const char *path, size_t limit, char **data, size_t *size, struct stat *info);

/* Writes all bytes; name is for the error text. */
clayer_status file_write_all(int fd, const void *data, size_t size, const char *name);

/* A file on its way to path: written to a temporary file in the same directory, in place only after the commit.
 * Where path is a pipe or a device (/dev/stdout, /dev/null), it is written directly, since it cannot be replaced. A
 * symbolic link keeps pointing where it points; its target is replaced. */
struct staged_file {
    int fd;          /* -1: nothing is open */
    char *path;      /* final place */
    char *temporary; /* NULL: written directly */
};

/* mode is what a new file gets, less the process's umask. */
clayer_status staged_file_open(const char *path, mode_t mode, struct staged_file *file);

/* Whether the file can be sought in, that is, whether it is a regular file. */
bool staged_file_seekable(const struct staged_file *file);

/* Syncs, renames and closes. On failure the temporary file is gone and what stood at path still stands there. */
clayer_status staged_file_commit(struct staged_file *file);

/* Closes and removes the temporary file. Does nothing after a commit or for a zeroed struct with fd -1. */
void staged_file_abort(struct staged_file *file);

/* The whole file at once. */
clayer_status file_write_atomic(const char *path, const void *data, size_t size, mode_t mode);

#endif
