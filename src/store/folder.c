#include "store/folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* 100,000 records have about 40 MB. */
#define FILE_LIMIT ((size_t)64 << 20)

clayer_status folder_user(char **folder)
{
    char *data;
    TRY(paths_find(PATHS_DATA, &data));
    *folder = NULL;
    if (!data)
        return CLAYER_OK;
    const int made = asprintf(folder, "%s/tuning", data);
    free(data);
    return made < 0 ? FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path") : CLAYER_OK;
}

clayer_status folder_file(const char *folder, const struct record_device *device, char **path)
{
    char key[320], name[33];
    const int length =
        snprintf(key, sizeof key, "%s\n%s\n%s\n%ld\n%ld\n%ld", device->platform, device->vendor, device->name,
                 device->compute_units, device->max_work_group_size, device->local_memory_bytes);
    size_t used = 0;
    for (const char *c = device->name; *c && used < sizeof name - 1; c++) {
        const char lower = ascii_lower(*c);
        if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
            name[used++] = lower;
        else if (used > 0 && name[used - 1] != '-')
            name[used++] = '-';
    }
    while (used > 0 && name[used - 1] == '-')
        used--;
    name[used] = '\0';
    if (asprintf(path, "%s/%s-%016llx%s", folder, used ? name : "device",
                 (unsigned long long)XXH3_64bits(key, (size_t)length),
                 record_device_is_family(device) ? FOLDER_FAMILY_SUFFIX : FOLDER_SUFFIX) < 0)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
    return CLAYER_OK;
}

static struct folder_state state_of(const struct stat *info)
{
    return (struct folder_state){true, info->st_dev, info->st_ino, info->st_size, info->st_mtim};
}

struct folder_state folder_state(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? state_of(&info) : (struct folder_state){.exists = false};
}

bool folder_state_equal(const struct folder_state *a, const struct folder_state *b)
{
    return a->exists == b->exists &&
           (!a->exists || (a->device == b->device && a->inode == b->inode && a->size == b->size &&
                           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec));
}

clayer_status folder_read(const char *path, const struct record_device *expected, struct format_content *content,
                          struct folder_state *state, char **text, size_t *length)
{
    *content = (struct format_content){.state = FORMAT_SOUND};
    if (state)
        *state = (struct folder_state){.exists = false};
    if (text)
        *text = NULL;
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return CLAYER_OK;
    char *bytes;
    size_t size;
    struct stat info;
    TRY(file_read_whole(path, FILE_LIMIT, &bytes, &size, &info));
    const clayer_status status = format_read(bytes, size, expected, content);
    if (state)
        *state = state_of(&info);
    if (text && status == CLAYER_OK) {
        *text = bytes;
        *length = size;
    } else {
        free(bytes);
    }
    return status;
}

/* Whether a message is new to this process; of more than there is room for, the oldest is forgotten. */
static bool is_news(const char *message)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t told[64];
    static size_t next;
    const uint64_t hash = XXH3_64bits(message, strlen(message));
    bool known = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        known = known || told[i] == hash;
    if (!known)
        told[next++ % (sizeof told / sizeof *told)] = hash;
    pthread_mutex_unlock(&lock);
    return !known;
}

void folder_warn(const char *format, ...)
{
    char message[1024];
    if (!log_wants(CLAYER_LOG_WARN)) /* one who listens later hears it then */
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (is_news(message))
        log_write(CLAYER_LOG_WARN, "tuning records: %s", message);
}

void folder_report(const char *name, const struct format_content *content)
{
    if (content->state == FORMAT_LATER)
        folder_warn("%s is not used: %s", name, content->problem);
    else if (content->state == FORMAT_DAMAGED)
        folder_warn("%s is damaged, %zu record%s dropped: %s", name, content->dropped,
                    content->dropped == 1 ? "" : "s", content->problem);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Not alphasort, which follows the locale. */
static int compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

clayer_status folder_visit(const char *folder, const char *suffix, folder_visitor visitor, void *user)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_visible, compare_entries);
    clayer_status status = CLAYER_OK;
    if (count < 0 && errno == ENOMEM)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to list %s", folder);
    if (count < 0 && errno != ENOENT)
        return FAIL(CLAYER_ERROR_IO, "cannot list %s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path;
        if (status == CLAYER_OK && text_ends(entries[i]->d_name, suffix)) {
            if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
                status = FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
            } else {
                status = visitor(user, path);
                free(path);
            }
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}
