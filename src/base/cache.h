/* A bounded directory of values found by their keys: one file per entry, private to its user, safe to delete at any
 * time. Whatever is wrong with it is a miss or a value not kept, told in one line of the debug log; nothing here fails.
 *
 * Thread-safe, and several processes may use one directory: entries appear whole (temporary file and rename). */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger entries are neither kept nor believed. */
#define CACHE_ENTRY_LIMIT ((uint64_t)16 << 20)

/* The value kept under exactly this key, on the heap, or false. Marks the entry as used just now. */
bool cache_find(const void *key, size_t key_length, void **value, size_t *length);

/* Whether a value can be kept: asked before one is made at some cost. */
bool cache_usable(void);

/* Keeps a value, replacing an older one, then deletes what was used least recently until the bound holds. `what` names
 * the value in the log. */
void cache_put(const void *key, size_t key_length, const void *value, size_t length, const char *what);

/* A found value turned out to be useless: counts as a miss after all. */
void cache_disown(const char *what, const char *why);

struct cache_totals {
    char *place;   /* the directory, on the heap; NULL when there is none */
    char why[256]; /* why it is not used, or "" */
    size_t entries;
    uint64_t bytes, limit;
    uint64_t hits, misses;                   /* of this process */
    uint64_t recorded_hits, recorded_misses; /* of all processes that could write here */
};

void cache_measure(struct cache_totals *totals);

/* Calls back for every entry: what is wrong with it, or NULL. IO when the directory cannot be used. */
typedef void (*cache_visitor)(void *user, const char *path, uint64_t bytes, const char *wrong);
clayer_status cache_visit(cache_visitor visitor, void *user);

/* Deletes damaged entries, leftovers of processes that were killed, and the least recently used entries until at most
 * `keep` bytes remain. */
clayer_status cache_prune(uint64_t keep, size_t *removed, uint64_t *removed_bytes);

/* The bound in bytes: CLAYER_CACHE_LIMIT in MiB, or 64 MiB. */
uint64_t cache_limit(void);

#endif
