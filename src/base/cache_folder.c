#include "base/cache_folder.h"
#include "base/cache.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define ENTRY_SUFFIX ".program"
#define HASH_DIGITS 32
/* No writer takes an hour for one entry. */
#define LEFTOVER_SECONDS 3600

/* What stands before key and value in an entry. Native byte order: another machine's entry fails the length test. */
struct header {
    char magic[16];
    uint64_t key_length, value_length;
    XXH128_canonical_t checksum; /* of both lengths, key and value */
};
static const char magic[16] = "clayer program1";

/* The directory is refused when another user owns it or may write in it: an entry is code that will be run. */
static bool check_folder(struct cache_folder *f)
{
    struct stat info;
    if (fstat(f->fd, &info) != 0) {
        snprintf(f->why, sizeof f->why, "%.150s: %s", f->path, strerror(errno));
        return false;
    }
    if (info.st_uid != geteuid())
        snprintf(f->why, sizeof f->why, "directory %.150s belongs to user %lu, not to this user (%lu)", f->path,
                 (unsigned long)info.st_uid, (unsigned long)geteuid());
    else if (info.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(f->why, sizeof f->why, "directory %.150s can be written by other users (mode %03o): use chmod 700",
                 f->path, (unsigned)(info.st_mode & 0777));
    return !*f->why;
}

bool cache_folder_open(bool make, struct cache_folder *folder)
{
    *folder = (struct cache_folder){.fd = -1};
    if (paths_find(PATHS_CACHE, &folder->path) != CLAYER_OK || !folder->path) {
        folder->absent = true;
        if (!make)
            snprintf(folder->why, sizeof folder->why, "it is switched off, or this user has no home");
        return false;
    }
    if (make && paths_make(folder->path) != CLAYER_OK) {
        snprintf(folder->why, sizeof folder->why, "%s", clayer_last_error());
    } else {
        folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder->fd < 0) {
            folder->absent = errno == ENOENT;
            snprintf(folder->why, sizeof folder->why, "%.150s: %s", folder->path,
                     folder->absent ? "not made yet" : strerror(errno));
        } else if (check_folder(folder)) {
            return true;
        }
    }
    if (make)
        cache_folder_close(folder);
    return false;
}

void cache_folder_close(struct cache_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    folder->fd = -1;
    folder->path = NULL;
}

void cache_key_make(const void *bytes, size_t length, struct cache_key *key)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, length);
    key->bytes = bytes;
    key->length = length;
    snprintf(key->name, sizeof key->name, "%016llx%016llx" ENTRY_SUFFIX, (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static bool is_entry_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH_DIGITS && strcmp(name + HASH_DIGITS, ENTRY_SUFFIX) == 0;
}

static XXH128_canonical_t checksum(const struct header *header, const void *key, const void *value)
{
    XXH128_canonical_t canonical = {{0}};
    XXH3_state_t *state = XXH3_createState();
    if (state && XXH3_128bits_reset(state) == XXH_OK) {
        XXH3_128bits_update(state, &header->key_length, sizeof header->key_length);
        XXH3_128bits_update(state, &header->value_length, sizeof header->value_length);
        XXH3_128bits_update(state, key, header->key_length);
        XXH3_128bits_update(state, value, header->value_length);
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    }
    XXH3_freeState(state);
    return canonical;
}

static bool read_all(int fd, void *data, size_t size)
{
    char *rest = data;
    while (size > 0) {
        const ssize_t got = read(fd, rest, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        rest += got;
        size -= (size_t)got;
    }
    return true;
}

/* Opens an entry and tests everything that can be told without its content. fd -1 when it cannot be used. */
static int open_entry(const struct cache_folder *folder, const char *name, struct header *header, char *wrong,
                      size_t wrong_size)
{
    const int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT)
            snprintf(wrong, wrong_size, "%s", errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        return -1;
    }
    struct stat info;
    if (fstat(fd, &info) != 0)
        snprintf(wrong, wrong_size, "%s", strerror(errno));
    else if (!S_ISREG(info.st_mode))
        snprintf(wrong, wrong_size, "it is no regular file");
    else if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))
        snprintf(wrong, wrong_size, "another user owns it or can write it");
    else if ((uint64_t)info.st_size > CACHE_ENTRY_LIMIT + sizeof *header)
        snprintf(wrong, wrong_size, "its %llu bytes are more than an entry may have", (unsigned long long)info.st_size);
    else if (!read_all(fd, header, sizeof *header))
        snprintf(wrong, wrong_size, "its %llu bytes hold no header", (unsigned long long)info.st_size);
    else if (memcmp(header->magic, magic, sizeof magic) != 0)
        snprintf(wrong, wrong_size, "it does not begin as an entry of this version does");
    else if (header->key_length > CACHE_ENTRY_LIMIT || header->value_length > CACHE_ENTRY_LIMIT ||
             sizeof *header + header->key_length + header->value_length != (uint64_t)info.st_size)
        snprintf(wrong, wrong_size, "its length is %llu bytes, not what its header says",
                 (unsigned long long)info.st_size);
    else
        return fd;
    close(fd);
    return -1;
}

/* Key and value in one allocation, checked against the checksum. */
static char *read_content(int fd, const struct header *header, char *wrong, size_t wrong_size)
{
    const size_t total = (size_t)(header->key_length + header->value_length);
    char *content = malloc(total + 1);
    if (!content) {
        snprintf(wrong, wrong_size, "no memory for %zu bytes", total);
        return NULL;
    }
    const XXH128_canonical_t expected = header->checksum;
    XXH128_canonical_t found;
    if (read_all(fd, content, total)) {
        found = checksum(header, content, content + header->key_length);
        if (memcmp(&found, &expected, sizeof found) == 0)
            return content;
        snprintf(wrong, wrong_size, "its checksum does not match");
    } else {
        snprintf(wrong, wrong_size, "it cannot be read whole");
    }
    free(content);
    return NULL;
}

bool cache_entry_read(const struct cache_folder *folder, const struct cache_key *key, void **value, size_t *length,
                      char *wrong, size_t wrong_size)
{
    struct header header;
    const int fd = open_entry(folder, key->name, &header, wrong, wrong_size);
    if (fd < 0)
        return false;
    char *content = read_content(fd, &header, wrong, wrong_size);
    bool found = false;
    if (content) {
        found = header.key_length == key->length && memcmp(content, key->bytes, key->length) == 0;
        if (found) {
            *length = (size_t)header.value_length;
            memmove(content, content + key->length, *length);
            *value = content;
            futimens(fd, NULL); /* the least recently used go first; where this fails, the oldest do */
        } else {
            snprintf(wrong, wrong_size, "it holds another key");
            free(content);
        }
    }
    close(fd);
    return found;
}

void cache_entry_check(const struct cache_folder *folder, const char *name, char *wrong, size_t wrong_size)
{
    struct header header;
    const int fd = open_entry(folder, name, &header, wrong, wrong_size);
    if (fd < 0)
        return;
    char *content = read_content(fd, &header, wrong, wrong_size);
    if (content) {
        struct cache_key key;
        cache_key_make(content, (size_t)header.key_length, &key);
        if (strcmp(key.name, name) != 0)
            snprintf(wrong, wrong_size, "its key belongs under another name");
        free(content);
    }
    close(fd);
}

bool cache_entry_remove(const struct cache_folder *folder, const char *name)
{
    return unlinkat(folder->fd, name, 0) == 0 || unlinkat(folder->fd, name, AT_REMOVEDIR) == 0;
}

clayer_status cache_entry_write(const struct cache_folder *folder, const struct cache_key *key, const void *value,
                                size_t length)
{
    struct stat info;
    if (fstatat(folder->fd, key->name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
        cache_entry_remove(folder, key->name); /* a rename would follow a link and refuse a directory */
    struct header header = {.key_length = key->length, .value_length = length};
    memcpy(header.magic, magic, sizeof magic);
    header.checksum = checksum(&header, key->bytes, value);
    char *path;
    if (asprintf(&path, "%s/%s", folder->path, key->name) < 0)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
    struct staged_file file = {.fd = -1};
    clayer_status status;
    TRY_GOTO(staged_file_open(path, 0600, &file));
    TRY_GOTO(file_write_all(file.fd, &header, sizeof header, path));
    TRY_GOTO(file_write_all(file.fd, key->bytes, key->length, path));
    TRY_GOTO(file_write_all(file.fd, value, length, path));
    status = staged_file_commit(&file);
fail:
    staged_file_abort(&file);
    free(path);
    return status;
}

static int by_use(const void *a, const void *b)
{
    const struct cache_item *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* A stream over the directory that does not take its descriptor. */
static DIR *open_stream(const struct cache_folder *folder)
{
    const int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream && fd >= 0)
        close(fd);
    return stream;
}

clayer_status cache_folder_list(const struct cache_folder *folder, struct cache_listing *listing)
{
    DIR *stream = open_stream(folder);
    if (!stream)
        return FAIL(CLAYER_ERROR_IO, "cannot list %s: %s", folder->path, strerror(errno));
    size_t room = 0;
    clayer_status status = CLAYER_OK;
    for (struct dirent *entry; status == CLAYER_OK && (entry = readdir(stream));) {
        struct stat info;
        if (!is_entry_name(entry->d_name) ||
            fstatat(folder->fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) /* gone meanwhile */
            continue;
        if (listing->count == room) {
            room = room ? 2 * room : 64;
            struct cache_item *grown = realloc(listing->items, room * sizeof *grown);
            if (!grown) {
                status = FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a list of %zu entries", room);
                break;
            }
            listing->items = grown;
        }
        struct cache_item *item = &listing->items[listing->count++];
        snprintf(item->name, sizeof item->name, "%.*s", HASH_DIGITS + (int)sizeof ENTRY_SUFFIX, entry->d_name);
        item->bytes = (uint64_t)info.st_size;
        item->used = info.st_mtim;
    }
    closedir(stream);
    if (listing->count)
        qsort(listing->items, listing->count, sizeof *listing->items, by_use);
    return status;
}

clayer_status cache_folder_shrink(const struct cache_folder *folder, uint64_t keep, const char *spared, size_t *removed,
                                  uint64_t *removed_bytes)
{
    struct cache_listing listing = {0};
    *removed = 0;
    *removed_bytes = 0;
    const clayer_status status = cache_folder_list(folder, &listing);
    uint64_t total = 0;
    for (size_t i = 0; i < listing.count; i++)
        total += listing.items[i].bytes;
    for (size_t i = 0; i < listing.count && total > keep; i++) {
        const struct cache_item *item = &listing.items[i];
        if ((spared && strcmp(item->name, spared) == 0) || !cache_entry_remove(folder, item->name))
            continue;
        total -= item->bytes;
        *removed_bytes += item->bytes;
        ++*removed;
    }
    free(listing.items);
    return status;
}

void cache_folder_clean(const struct cache_folder *folder)
{
    DIR *stream = open_stream(folder);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct stat info;
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (strncmp(name, ".clayer-", 8) == 0 && end && strcmp(end, ".tmp") == 0 &&
            fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
            time(NULL) - info.st_mtim.tv_sec > LEFTOVER_SECONDS)
            unlinkat(folder->fd, name, 0);
    }
    closedir(stream);
}
