#include "store/merge.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/text.h"
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A stopped process may hold the lock for ever; nobody else waits longer than this. While others write, which changes
 * the directory, the waiting begins anew, up to a limit: eight writers on a slow disk, each syncing its file, kept one of
 * them waiting for more than 8 s. */
#define LOCK_SECONDS 8.0
#define LOCK_LONGEST 60.0
#define LOCK_PAUSE_NS 10000000
/* How often a file that others keep changing is read and merged again. */
#define ATTEMPTS 50
/* What a probe writes: as much as a few hundred records, so that a full disk shows. */
#define PROBE_BYTES ((size_t)128 << 10)

clayer_status store_user_folder(char **folder)
{
    return folder_user(folder);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The directory's lock, or -1 when it cannot be had in time: the caller goes on without. */
static int lock_folder(const char *folder)
{
    char *path;
    if (asprintf(&path, "%s/.lock", folder) < 0)
        return -1;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    free(path);
    const double begun = now();
    double deadline = begun + LOCK_SECONDS;
    struct timespec changed = {0};
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const bool taken = errno == EWOULDBLOCK || errno == EINTR;
        struct stat info;
        if (stat(folder, &info) == 0 &&
            (info.st_mtim.tv_sec != changed.tv_sec || info.st_mtim.tv_nsec != changed.tv_nsec)) {
            changed = info.st_mtim;
            deadline = now() + LOCK_SECONDS;
        }
        if (!taken || now() > deadline || now() > begun + LOCK_LONGEST) {
            log_write(CLAYER_LOG_DEBUG, "tuning records: no lock in %s within %.0f s; going on without", folder,
                      now() - begun);
            close(fd);
            return -1;
        }
        nanosleep(&(struct timespec){0, LOCK_PAUSE_NS}, NULL);
    }
    return fd;
}

/* Makes the user's directory. */
static clayer_status make_folder(char **folder)
{
    TRY(folder_user(folder));
    if (!*folder)
        return FAIL(CLAYER_ERROR_IO, "there is no place for tuning records: this user has no home directory; "
                                     "CLAYER_DATA_DIR may name one");
    return paths_make(*folder);
}

clayer_status store_probe_writable(char **folder)
{
    char *path = NULL, *bytes = NULL;
    struct staged_file file = {.fd = -1};
    clayer_status status;
    *folder = NULL;
    TRY_GOTO(make_folder(folder));
    if (asprintf(&path, "%s/probe", *folder) < 0)
        path = NULL;
    bytes = calloc(1, PROBE_BYTES);
    if (!path || !bytes)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to try a directory out");
    TRY_GOTO(staged_file_open(path, 0600, &file));
    TRY_GOTO(file_write_all(file.fd, bytes, PROBE_BYTES, path));
    if (fsync(file.fd) != 0)
        FAIL_GOTO(CLAYER_ERROR_IO, "cannot write to %s: %s", *folder, strerror(errno));
fail:
    staged_file_abort(&file);
    free(path);
    free(bytes);
    return status;
}

/* Keeps the bytes of a damaged file beside it, before it is replaced. */
static clayer_status set_aside(const char *path, const char *text, size_t length)
{
    char *aside, stamp[24];
    struct tm utc;
    const time_t seconds = time(NULL);
    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc); /* digits only: the same in every locale */
    if (asprintf(&aside, "%s.damaged-%s", path, stamp) < 0)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
    const clayer_status status = file_write_atomic(aside, text, length, 0600);
    if (status == CLAYER_OK)
        log_write(CLAYER_LOG_WARN, "tuning records: the damaged file is kept as %s", aside);
    free(aside);
    return status;
}

/* What to do to a device's records; *changed tells whether anything is different then. */
typedef clayer_status (*change)(void *user, struct format_section *section, bool *changed);

/* Writes content to path unless someone has changed the file since it was read. */
static clayer_status replace_file(const char *path, const struct format_content *content,
                                  const struct folder_state *before, bool *done)
{
    char *text = NULL;
    size_t length;
    struct staged_file file = {.fd = -1};
    clayer_status status;
    TRY_GOTO(format_write(content, &text, &length));
    TRY_GOTO(staged_file_open(path, 0600, &file));
    TRY_GOTO(file_write_all(file.fd, text, length, path));
    if (fsync(file.fd) != 0)
        FAIL_GOTO(CLAYER_ERROR_IO, "cannot write %s to its disk: %s", path, strerror(errno));
    const struct folder_state after = folder_state(path);
    *done = folder_state_equal(before, &after);
    if (*done)
        status = staged_file_commit(&file);
fail:
    staged_file_abort(&file);
    free(text);
    return status;
}

/* One try: reads, changes, writes. *done is false when someone else was faster. */
static clayer_status try_update(const char *path, const struct record_device *device, change apply, void *user,
                                bool *done)
{
    struct format_content content;
    struct folder_state before;
    struct format_section *section;
    char *text;
    size_t length;
    bool changed = false;
    TRY(folder_read(path, device, &content, &before, &text, &length));
    clayer_status status = CLAYER_OK;
    if (content.state == FORMAT_LATER)
        FAIL_GOTO(CLAYER_ERROR_UNSUPPORTED, "%s is left alone: %s", path, content.problem);
    TRY_GOTO(format_section(&content, device, &section));
    TRY_GOTO(apply(user, section, &changed));
    *done = !changed;
    if (changed && content.state == FORMAT_DAMAGED) {
        folder_report(path, &content);
        TRY_GOTO(set_aside(path, text, length));
    }
    if (changed)
        status = replace_file(path, &content, &before, done);
fail:
    format_free(&content);
    free(text);
    return status;
}

static clayer_status update(const struct record_device *device, change apply, void *user)
{
    char *folder = NULL, *path = NULL;
    int lock = -1;
    bool done = false;
    clayer_status status;
    TRY_GOTO(make_folder(&folder));
    TRY_GOTO(folder_file(folder, device, &path));
    lock = lock_folder(folder);
    for (int i = 0; i < ATTEMPTS && !done; i++)
        TRY_GOTO(try_update(path, device, apply, user, &done));
    if (!done)
        status = FAIL(CLAYER_ERROR_IO, "%s changes all the time: another program writes it without end", path);
fail:
    if (lock >= 0)
        close(lock);
    free(folder);
    free(path);
    return status;
}

struct merging {
    const struct record *records;
    size_t count;
    enum store_merge_mode mode;
    struct store_merged merged;
};

static bool same_plan(const struct record *a, const struct record *b)
{
    struct record_device none = {.compute_units = 0};
    return record_check(&none, a) == record_check(&none, b);
}

static struct record *find(const struct format_section *section, size_t count, const struct record_layer *layer)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (record_layer_compare(&section->records[middle].layer, layer) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && record_layer_compare(&section->records[low].layer, layer) == 0 ? &section->records[low]
                                                                                         : NULL;
}

static clayer_status merge_into(void *user, struct format_section *section, bool *changed)
{
    struct merging *m = user;
    const size_t there = section->count; /* sorted; what is appended is found by format_sort */
    m->merged = (struct store_merged){0, 0, 0};
    for (size_t i = 0; i < m->count; i++) {
        struct record *old = find(section, there, &m->records[i].layer);
        if (!old) {
            TRY(format_append(section, &m->records[i]));
            m->merged.added++;
        } else if (!same_plan(old, &m->records[i]) &&
                   (m->mode == STORE_REPLACE || record_replaces(&m->records[i], old))) {
            *old = m->records[i];
            m->merged.replaced++;
        } else {
            m->merged.kept++;
        }
    }
    format_sort(section);
    *changed = m->merged.added + m->merged.replaced > 0;
    return CLAYER_OK;
}

clayer_status store_merge(const struct record_device *device, const struct record *records, size_t count,
                          enum store_merge_mode mode, struct store_merged *merged)
{
    struct merging merging = {.records = records, .count = count, .mode = mode};
    for (size_t i = 0; i < count; i++) {
        const char *wrong = record_wrong(&records[i]);
        if (wrong)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "a tuning record cannot be kept: %s", wrong);
    }
    if (count > 0)
        TRY(update(device, merge_into, &merging));
    if (merged)
        *merged = merging.merged;
    return CLAYER_OK;
}

struct forgetting {
    store_unwanted unwanted;
    void *user;
    size_t removed;
};

static clayer_status forget_from(void *user, struct format_section *section, bool *changed)
{
    struct forgetting *f = user;
    size_t kept = 0;
    for (size_t i = 0; i < section->count; i++)
        if (!f->unwanted(f->user, &section->records[i]))
            section->records[kept++] = section->records[i];
    f->removed = section->count - kept;
    section->count = kept;
    *changed = f->removed > 0;
    return CLAYER_OK;
}

clayer_status store_forget(const struct record_device *device, store_unwanted unwanted, void *user, size_t *removed)
{
    struct forgetting forgetting = {.unwanted = unwanted, .user = user};
    char *folder, *path;
    TRY(folder_user(&folder));
    *removed = 0;
    if (!folder)
        return CLAYER_OK;
    clayer_status status = folder_file(folder, device, &path);
    free(folder);
    TRY(status);
    if (folder_state(path).exists) /* nothing is made where nothing can be forgotten */
        status = update(device, forget_from, &forgetting);
    free(path);
    *removed = forgetting.removed;
    return status;
}

struct found_devices {
    struct record_device *devices;
    size_t count;
};

static clayer_status find_devices(void *user, const char *path)
{
    struct found_devices *found = user;
    struct format_content content;
    if (text_ends(path, FOLDER_FAMILY_SUFFIX))
        return CLAYER_OK;
    const clayer_status status = folder_read(path, NULL, &content, NULL, NULL, NULL);
    if (status != CLAYER_OK) {
        folder_warn("%s", clayer_last_error());
        return status == CLAYER_ERROR_OUT_OF_MEMORY ? status : CLAYER_OK;
    }
    folder_report(path, &content);
    for (size_t i = 0; i < content.count; i++) {
        struct record_device *grown = realloc(found->devices, (found->count + 1) * sizeof *grown);
        if (!grown) {
            format_free(&content);
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the tuned devices");
        }
        found->devices = grown;
        found->devices[found->count++] = content.sections[i].device;
    }
    format_free(&content);
    return CLAYER_OK;
}

clayer_status store_devices(struct record_device **devices, size_t *count)
{
    struct found_devices found = {NULL, 0};
    char *folder;
    TRY(folder_user(&folder));
    const clayer_status status = folder ? folder_visit(folder, FOLDER_SUFFIX, find_devices, &found) : CLAYER_OK;
    free(folder);
    if (status != CLAYER_OK) {
        free(found.devices);
        return status;
    }
    *devices = found.devices;
    *count = found.count;
    return CLAYER_OK;
}

clayer_status store_read(const struct record_device *device, struct record **records, size_t *count)
{
    char *folder, *path;
    struct format_content content;
    *records = NULL;
    *count = 0;
    TRY(folder_user(&folder));
    if (!folder)
        return CLAYER_OK;
    clayer_status status = folder_file(folder, device, &path);
    free(folder);
    TRY(status);
    status = folder_read(path, device, &content, NULL, NULL, NULL);
    if (status == CLAYER_OK)
        folder_report(path, &content);
    free(path);
    TRY(status);
    for (size_t i = 0; i < content.count; i++) {
        if (record_device_equal(&content.sections[i].device, device)) {
            *records = content.sections[i].records;
            *count = content.sections[i].count;
            content.sections[i].records = NULL;
        }
    }
    format_free(&content);
    return CLAYER_OK;
}
