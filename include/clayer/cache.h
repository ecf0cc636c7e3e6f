/* clayer: compiled programs kept on disk, so that the next process starts sooner.
 *
 * The cache works by itself: it may be deleted at any time, and whatever is wrong with an entry means that the program
 * is compiled anew. Its directory is $CLAYER_CACHE, or clayer below $XDG_CACHE_HOME or ~/.cache; it is private to its
 * user (0700) and not used when another user owns it or can write in it. CLAYER_CACHE=off switches it off,
 * CLAYER_CACHE_LIMIT=MIB bounds it (64 by default; what was used least recently goes first). An entry belongs to one
 * source, one set of options, device, driver and version of clayer. All functions are thread-safe; none starts OpenCL.
 */
#ifndef CLAYER_CACHE_H
#define CLAYER_CACHE_H

#include <clayer/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clayer_cache_info {
    char place[4096];  /* its directory; "" when it is switched off or this user has no home */
    char reason[256];  /* why it is not used or does not exist yet, or "" */
    uint64_t entries;  /* compiled programs in it */
    uint64_t bytes;    /* their size */
    uint64_t limit;    /* bytes that it may grow to */
    uint64_t hits;     /* programs that this process found in it */
    uint64_t misses;   /* programs that this process had to compile, those without a usable cache included */
    uint64_t all_hits; /* the same for all processes since the directory was made; counts may be lost when two processes
                          end a look-up at the same moment */
    uint64_t all_misses;
    uint64_t reserved[8];
} clayer_cache_info;

/* What is in the cache now. */
CLAYER_API clayer_status clayer_cache_get_info(clayer_cache_info *info);

/* Receives one entry: its file, its size and what is wrong with it, NULL when nothing is. Valid during the call only.
 */
typedef void (*clayer_cache_callback)(void *user, const char *path, uint64_t bytes, const char *wrong);

/* Reads and checks every entry; deletes nothing. *damaged is how many are; they would be compiled anew when needed.
 * callback may be NULL. IO when the directory cannot be read or trusted; a cache that does not exist is sound. */
CLAYER_API clayer_status clayer_cache_verify(clayer_cache_callback callback, void *user, size_t *sound,
                                             size_t *damaged);

/* For clayer_cache_prune: what the cache may hold anyway. */
#define CLAYER_CACHE_KEEP_LIMIT UINT64_MAX

/* Deletes damaged entries, what killed processes left, and the least recently used entries until at most keep_bytes
 * remain; 0 empties the cache. *entries and *bytes are what went. IO as above. */
CLAYER_API clayer_status clayer_cache_prune(uint64_t keep_bytes, size_t *entries, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
