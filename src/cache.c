/* The public view of the program cache. */
#include "base/cache.h"
#include "base/error.h"

#include <clayer/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

clayer_status clayer_cache_get_info(clayer_cache_info *info)
{
    REQUIRE(info != NULL);
    struct cache_totals totals;
    cache_measure(&totals);
    memset(info, 0, sizeof *info);
    snprintf(info->place, sizeof info->place, "%s", totals.place ? totals.place : "");
    snprintf(info->reason, sizeof info->reason, "%s", totals.why);
    free(totals.place);
    info->entries = totals.entries;
    info->bytes = totals.bytes;
    info->limit = totals.limit;
    info->hits = totals.hits;
    info->misses = totals.misses;
    info->all_hits = totals.recorded_hits;
    info->all_misses = totals.recorded_misses;
    return CLAYER_OK;
}

struct verification {
    clayer_cache_callback callback;
    void *user;
    size_t sound, damaged;
};

static void visit(void *user, const char *path, uint64_t bytes, const char *wrong)
{
    struct verification *verification = user;
    if (wrong)
        verification->damaged++;
    else
        verification->sound++;
    if (verification->callback)
        verification->callback(verification->user, path, bytes, wrong);
}

clayer_status clayer_cache_verify(clayer_cache_callback callback, void *user, size_t *sound, size_t *damaged)
{
    REQUIRE(sound != NULL && damaged != NULL);
    struct verification verification = {.callback = callback, .user = user};
    TRY(cache_visit(visit, &verification));
    *sound = verification.sound;
    *damaged = verification.damaged;
    return CLAYER_OK;
}

clayer_status clayer_cache_prune(uint64_t keep_bytes, size_t *entries, uint64_t *bytes)
{
    REQUIRE(entries != NULL && bytes != NULL);
    return cache_prune(keep_bytes == CLAYER_CACHE_KEEP_LIMIT ? cache_limit() : keep_bytes, entries, bytes);
}
