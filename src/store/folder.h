/* Where files of tuning records lie, and reading one. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include "store/format.h"

#include <sys/stat.h>

#define FOLDER_SUFFIX ".json"
/* Files for families of devices; every one in a directory is read, others only by the name of their device. */
#define FOLDER_FAMILY_SUFFIX ".family.json"

/* The user's directory, on the heap; NULL when there is none. */
clayer_status folder_user(char **folder);

/* The path of a device's file in a directory, or of one for a family of devices, on the heap: letters and digits of its
 * name, and a hash of its key. */
clayer_status folder_file(const char *folder, const struct record_device *device, char **path);

/* What a file was when it was read. */
struct folder_state {
    bool exists;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};
struct folder_state folder_state(const char *path);
bool folder_state_equal(const struct folder_state *a, const struct folder_state *b);

/* Reads a file; one that does not exist is empty content. *text, when asked for, receives the bytes (heap). IO when it
 * cannot be read, with empty content; never fails for what is in it. */
clayer_status folder_read(const char *path, const struct record_device *expected, struct format_content *content,
                          struct folder_state *state, char **text, size_t *length);

/* Says in the log that something is wrong with a place of records: once a process, however often it is read. */
CLAYER_PRINTF(1, 2) void folder_warn(const char *format, ...);
/* The same of what was wrong with a text, if anything was. */
void folder_report(const char *name, const struct format_content *content);

/* Calls back with the path of each file whose name ends so. A directory that is not there has none; IO when it cannot
 * be listed. */
typedef clayer_status (*folder_visitor)(void *user, const char *path);
clayer_status folder_visit(const char *folder, const char *suffix, folder_visitor visitor, void *user);

#endif
