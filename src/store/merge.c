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
 * the directory, the waiting begins anew, up to a limit: eight writers on a slow disk, each syncing its file, kept one
 * of them waiting for more than 8 s. */
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

/* folder_read, but a later version's file is a failure: whoever changes or copies it would lose what is in it. */
static clayer_status read_known(const char *path, const struct record_device *expected, struct format_content *content,
                                struct folder_state *state, char **text, size_t *length)
{
    TRY(folder_read(path, expected, content, state, text, length));
    if (content->state != FORMAT_LATER)
        return CLAYER_OK;
    const clayer_status status = FAIL(CLAYER_ERROR_UNSUPPORTED, "%s is left alone: %s", path, content->problem);
    format_free(content);
    if (text)
        free(*text);
    return status;
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

/* Whether the device's file, if there is one, is such that it can be read, changed and replaced. */
static clayer_status probe_file(const char *folder, const struct record_device *device)
{
    char *path;
    struct format_content content;
    TRY(folder_file(folder, device, &path));
    const clayer_status status = read_known(path, device, &content, NULL, NULL, NULL);
    if (status == CLAYER_OK)
        format_free(&content);
    free(path);
    return status;
}

clayer_status store_probe_writable(const struct record_device *device, char **folder)
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
    if (device)
        status = probe_file(*folder, device);
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

/* What to do to a file's records; *changed tells whether anything is different then. */
typedef clayer_status (*change)(void *user, struct format_content *content, bool *changed);

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
static clayer_status try_update(const char *path, const struct record_device *expected, change apply, void *user,
                                bool *done)
{
    struct format_content content;
    struct folder_state before;
    char *text;
    size_t length;
    bool changed = false;
    TRY(read_known(path, expected, &content, &before, &text, &length));
    clayer_status status = CLAYER_OK;
    TRY_GOTO(apply(user, &content, &changed));
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

static clayer_status update(const char *folder, const char *path, const struct record_device *expected, change apply,
                            void *user)
{
    bool done = false;
    clayer_status status = CLAYER_OK;
    const int lock = lock_folder(folder);
    for (int i = 0; i < ATTEMPTS && !done && status == CLAYER_OK; i++)
        status = try_update(path, expected, apply, user, &done);
    if (status == CLAYER_OK && !done)
        status = FAIL(CLAYER_ERROR_IO, "%s changes all the time: another program writes it without end", path);
    if (lock >= 0)
        close(lock);
    return status;
}

struct merging {
    const struct record_device *device;
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

static clayer_status merge_into(void *user, struct format_content *content, bool *changed)
{
    struct merging *m = user;
    struct format_section *section;
    TRY(format_section(content, m->device, &section));
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
    struct merging merging = {.device = device, .records = records, .count = count, .mode = mode};
    char *folder = NULL, *path = NULL;
    clayer_status status = CLAYER_OK;
    for (size_t i = 0; i < count; i++) {
        const char *wrong = record_wrong(&records[i]);
        if (wrong)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "a tuning record cannot be kept: %s", wrong);
    }
    if (count > 0) {
        TRY_GOTO(make_folder(&folder));
        TRY_GOTO(folder_file(folder, device, &path));
        TRY_GOTO(update(folder, path, device, merge_into, &merging));
    }
    if (merged)
        *merged = merging.merged;
fail:
    free(folder);
    free(path);
    return status;
}

/* The user's directory as it is, without making one. */
struct place {
    const struct record_device *device; /* NULL: all */
    char *folder, *own;                 /* the directory, and the device's file there; NULL when there is none */
};

static clayer_status find_place(const struct record_device *device, struct place *place)
{
    *place = (struct place){.device = device};
    TRY(folder_user(&place->folder));
    return place->folder && device ? folder_file(place->folder, device, &place->own) : CLAYER_OK;
}

static void leave_place(struct place *place)
{
    free(place->folder);
    free(place->own);
}

/* Whether a file may hold what the device, or everybody, is to have. */
static bool concerns(const struct place *place, const char *path)
{
    return !place->device || strcmp(path, place->own) == 0 || text_ends(path, FOLDER_FAMILY_SUFFIX);
}

/* The device that a file is about, as far as its name tells. */
static const struct record_device *expected_in(const struct place *place, const char *path)
{
    return place->own && strcmp(path, place->own) == 0 ? place->device : NULL;
}

struct forgetting {
    struct place place;
    store_unwanted unwanted;
    void *user;
    size_t removed;   /* from all files */
    size_t from_file; /* in the last try */
};

static clayer_status forget_from(void *user, struct format_content *content, bool *changed)
{
    struct forgetting *f = user;
    f->from_file = 0;
    for (size_t i = 0; i < content->count; i++) {
        struct format_section *section = &content->sections[i];
        size_t kept = 0;
        if (f->place.device && !record_device_matches(&section->device, f->place.device))
            continue;
        for (size_t j = 0; j < section->count; j++)
            if (!f->unwanted(f->user, &section->records[j]))
                section->records[kept++] = section->records[j];
        f->from_file += section->count - kept;
        section->count = kept;
    }
    *changed = f->from_file > 0;
    return CLAYER_OK;
}

static clayer_status forget_file(void *user, const char *path)
{
    struct forgetting *f = user;
    if (!concerns(&f->place, path))
        return CLAYER_OK;
    TRY(update(f->place.folder, path, expected_in(&f->place, path), forget_from, f));
    f->removed += f->from_file;
    return CLAYER_OK;
}

clayer_status store_forget(const struct record_device *device, store_unwanted unwanted, void *user, size_t *removed)
{
    struct forgetting forgetting = {.unwanted = unwanted, .user = user};
    clayer_status status = find_place(device, &forgetting.place);
    if (status == CLAYER_OK && forgetting.place.folder)
        status = folder_visit(forgetting.place.folder, FOLDER_SUFFIX, forget_file, &forgetting);
    leave_place(&forgetting.place);
    *removed = forgetting.removed;
    return status;
}

struct collecting {
    struct place place;
    struct format_content *all;
};

static clayer_status collect_file(void *user, const char *path)
{
    struct collecting *c = user;
    struct format_content content;
    struct format_section *section;
    if (!concerns(&c->place, path))
        return CLAYER_OK;
    TRY(read_known(path, expected_in(&c->place, path), &content, NULL, NULL, NULL));
    clayer_status status = CLAYER_OK;
    folder_report(path, &content);
    for (size_t i = 0; i < content.count; i++) {
        const struct format_section *found = &content.sections[i];
        if (c->place.device && !record_device_equal(&found->device, c->place.device))
            continue;
        TRY_GOTO(format_section(c->all, &found->device, &section));
        for (size_t j = 0; j < found->count; j++)
            TRY_GOTO(format_append(section, &found->records[j]));
        format_sort(section);
    }
fail:
    format_free(&content);
    return status;
}

clayer_status store_read(const struct record_device *device, struct format_content *content)
{
    *content = (struct format_content){.state = FORMAT_SOUND};
    struct collecting collecting = {.all = content};
    clayer_status status = find_place(device, &collecting.place);
    if (status == CLAYER_OK && collecting.place.folder)
        status = folder_visit(collecting.place.folder, FOLDER_SUFFIX, collect_file, &collecting);
    leave_place(&collecting.place);
    if (status != CLAYER_OK)
        format_free(content);
    return status;
}
