/* The cache's directory and its entries as files; for base/cache.c. */
#ifndef BASE_CACHE_FOLDER_H
#define BASE_CACHE_FOLDER_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct cache_folder {
    char *path; /* NULL: there is no place for it */
    int fd;
    bool absent;   /* switched off, no place, or not made yet: nothing is wrong */
    char why[256]; /* why it is not open */
};

/* Opens the directory, after making it if `make`. False, with the reason, when there is none or when others could have
 * written in it. cache_folder_close is right in either case. */
bool cache_folder_open(bool make, struct cache_folder *folder);
void cache_folder_close(struct cache_folder *folder);

struct cache_key {
    const void *bytes;
    size_t length;
    char name[48]; /* of the entry's file: a hash of the key */
};

void cache_key_make(const void *bytes, size_t length, struct cache_key *key);

/* The value of an entry, on the heap, marked as used now. False with `wrong` empty when there is no entry, and with
 * what is wrong when there is one that cannot be believed. */
bool cache_entry_read(const struct cache_folder *folder, const struct cache_key *key, void **value, size_t *length,
                      char *wrong, size_t wrong_size);
/* The same test for whatever key the entry holds; `wrong` stays empty when all is well. */
void cache_entry_check(const struct cache_folder *folder, const char *name, char *wrong, size_t wrong_size);
clayer_status cache_entry_write(const struct cache_folder *folder, const struct cache_key *key, const void *value,
                                size_t length);
/* Deletes a file, a link, or an empty directory in its place. */
bool cache_entry_remove(const struct cache_folder *folder, const char *name);

struct cache_item {
    char name[48];
    uint64_t bytes;
    struct timespec used;
};

struct cache_listing {
    struct cache_item *items; /* on the heap; the one used least recently first */
    size_t count;
};

clayer_status cache_folder_list(const struct cache_folder *folder, struct cache_listing *listing);

/* Deletes the entries used least recently, but never `spared`, until at most `keep` bytes remain. */
clayer_status cache_folder_shrink(const struct cache_folder *folder, uint64_t keep, const char *spared, size_t *removed,
                                  uint64_t *removed_bytes);
/* Deletes temporary files that no living writer can still want. */
void cache_folder_clean(const struct cache_folder *folder);

#endif
