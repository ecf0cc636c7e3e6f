#include "base/cache.h"
#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of this process; they only inform. */
static atomic_uint_least64_t hits, misses;

/* The caller's last error must not change by what goes wrong here. */
struct kept_error {
    char text[1024];
};

static struct kept_error keep_error(void)
{
    struct kept_error kept;
    snprintf(kept.text, sizeof kept.text, "%s", clayer_last_error());
    return kept;
}

/* The totals of all processes, "HITS MISSES". Two processes that write at once may lose a count. */
#define COUNTS_NAME "counts"

static void read_counts(int folder, uint64_t counts[2])
{
    char text[64] = "";
    counts[0] = counts[1] = 0;
    const int fd = openat(folder, COUNTS_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    const ssize_t length = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    unsigned long long hit, miss;
    if (length > 0 && sscanf(text, "%llu %llu", &hit, &miss) == 2) {
        counts[0] = hit;
        counts[1] = miss;
    }
}

static void add_counts(int folder, uint64_t hit, uint64_t miss)
{
    uint64_t counts[2];
    read_counts(folder, counts);
    char text[64];
    const int length = snprintf(text, sizeof text, "%20llu %20llu\n", (unsigned long long)(counts[0] + hit),
                                (unsigned long long)(counts[1] + miss));
    const int fd = openat(folder, COUNTS_NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return;
    /* One write of one size: a reader sees the old line or the new one. What cannot be counted is not worth a word. */
    (void)file_write_all(fd, text, (size_t)length, COUNTS_NAME);
    close(fd);
}

bool cache_find(const void *key, size_t key_length, void **value, size_t *length)
{
    const struct kept_error kept = keep_error();
    struct cache_folder folder;
    bool found = false;
    if (cache_folder_open(true, &folder)) {
        struct cache_key named;
        cache_key_make(key, key_length, &named);
        char wrong[200] = "";
        found = cache_entry_read(&folder, &named, value, length, wrong, sizeof wrong);
        if (*wrong)
            log_write(CLAYER_LOG_DEBUG, "program cache: %s/%s is not used: %s", folder.path, named.name, wrong);
        add_counts(folder.fd, found, !found);
        cache_folder_close(&folder);
    } else if (*folder.why) {
        log_write(CLAYER_LOG_DEBUG, "program cache: not used: %s", folder.why);
    }
    atomic_fetch_add(found ? &hits : &misses, 1);
    error_restore(kept.text);
    return found;
}

void cache_disown(const char *what, const char *why)
{
    atomic_fetch_sub(&hits, 1);
    atomic_fetch_add(&misses, 1);
    log_write(CLAYER_LOG_DEBUG, "program cache: the entry of %s is not used: %s", what, why);
}

bool cache_usable(void)
{
    const struct kept_error kept = keep_error();
    struct cache_folder folder;
    const bool usable = cache_folder_open(true, &folder);
    if (usable)
        cache_folder_close(&folder);
    error_restore(kept.text);
    return usable;
}

void cache_put(const void *key, size_t key_length, const void *value, size_t length, const char *what)
{
    const struct kept_error kept = keep_error();
    struct cache_folder folder;
    const uint64_t limit = cache_limit(), largest = limit < CACHE_ENTRY_LIMIT ? limit : CACHE_ENTRY_LIMIT;
    if (!cache_folder_open(true, &folder))
        return; /* cache_find has told why */
    struct cache_key named;
    cache_key_make(key, key_length, &named);
    if (key_length > largest || length > largest - key_length) {
        log_write(CLAYER_LOG_DEBUG, "program cache: %s is not kept: its %zu bytes pass the limit of %llu", what, length,
                  (unsigned long long)largest);
    } else if (cache_entry_write(&folder, &named, value, length) != CLAYER_OK) {
        log_write(CLAYER_LOG_DEBUG, "program cache: %s is not kept: %s", what, clayer_last_error());
    } else {
        size_t removed;
        uint64_t removed_bytes;
        cache_folder_shrink(&folder, limit, named.name, &removed, &removed_bytes);
        if (removed)
            log_write(CLAYER_LOG_DEBUG, "program cache: %zu entries used least recently are gone", removed);
    }
    cache_folder_close(&folder);
    error_restore(kept.text);
}

uint64_t cache_limit(void)
{
    const char *text = getenv("CLAYER_CACHE_LIMIT");
    char *end;
    errno = 0;
    const unsigned long long mebibytes = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (text && *text >= '0' && *text <= '9' && errno == 0 && *end == '\0' && mebibytes <= UINT64_MAX >> 20)
        return (uint64_t)mebibytes << 20;
    return (uint64_t)64 << 20;
}

void cache_measure(struct cache_totals *totals)
{
    memset(totals, 0, sizeof *totals);
    totals->limit = cache_limit();
    totals->hits = atomic_load(&hits);
    totals->misses = atomic_load(&misses);
    struct cache_folder folder;
    const bool open = cache_folder_open(false, &folder);
    totals->place = folder.path;
    snprintf(totals->why, sizeof totals->why, "%s", folder.why);
    if (!open) {
        folder.path = NULL;
        cache_folder_close(&folder);
        return;
    }
    struct cache_listing listing = {0};
    cache_folder_list(&folder, &listing);
    totals->entries = listing.count;
    for (size_t i = 0; i < listing.count; i++)
        totals->bytes += listing.items[i].bytes;
    free(listing.items);
    uint64_t counts[2];
    read_counts(folder.fd, counts);
    totals->recorded_hits = counts[0];
    totals->recorded_misses = counts[1];
    folder.path = NULL;
    cache_folder_close(&folder);
}

/* Opens an existing directory for a command; *empty when there is nothing to work on. */
static clayer_status open_existing(struct cache_folder *folder, bool *empty)
{
    *empty = !cache_folder_open(false, folder);
    if (!*empty || folder->absent)
        return CLAYER_OK;
    const clayer_status status = FAIL(CLAYER_ERROR_IO, "the program cache cannot be used: %s", folder->why);
    cache_folder_close(folder);
    return status;
}

clayer_status cache_visit(cache_visitor visitor, void *user)
{
    struct cache_folder folder;
    bool empty;
    TRY(open_existing(&folder, &empty));
    struct cache_listing listing = {0};
    const clayer_status status = empty ? CLAYER_OK : cache_folder_list(&folder, &listing);
    for (size_t i = 0; i < listing.count; i++) {
        char path[4352], wrong[200] = "";
        snprintf(path, sizeof path, "%.4095s/%s", folder.path, listing.items[i].name);
        cache_entry_check(&folder, listing.items[i].name, wrong, sizeof wrong);
        visitor(user, path, listing.items[i].bytes, *wrong ? wrong : NULL);
    }
    free(listing.items);
    cache_folder_close(&folder);
    return status;
}

clayer_status cache_prune(uint64_t keep, size_t *removed, uint64_t *removed_bytes)
{
    struct cache_folder folder;
    bool empty;
    *removed = 0;
    *removed_bytes = 0;
    TRY(open_existing(&folder, &empty));
    struct cache_listing listing = {0};
    clayer_status status = empty ? CLAYER_OK : cache_folder_list(&folder, &listing);
    for (size_t i = 0; i < listing.count; i++) {
        char wrong[200] = "";
        cache_entry_check(&folder, listing.items[i].name, wrong, sizeof wrong);
        if (*wrong && cache_entry_remove(&folder, listing.items[i].name)) {
            ++*removed;
            *removed_bytes += listing.items[i].bytes;
        }
    }
    free(listing.items);
    if (!empty && status == CLAYER_OK) {
        size_t count;
        uint64_t bytes;
        cache_folder_clean(&folder);
        status = cache_folder_shrink(&folder, keep, NULL, &count, &bytes);
        *removed += count;
        *removed_bytes += bytes;
    }
    cache_folder_close(&folder);
    return status;
}
