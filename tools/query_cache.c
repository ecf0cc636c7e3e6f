/* clayer-query --cache, --cache-verify and --cache-prune. None of them loads an OpenCL driver. */
#include "common.h"
#include "query.h"

#include <clayer/cache.h>
#include <inttypes.h>
#include <stdio.h>

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static int show(bool json)
{
    static clayer_cache_info info; /* large */
    if (clayer_cache_get_info(&info) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (json) {
        json_t *object =
            json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "schema", "clayer-query-cache/1", "place",
                      text_or_null(info.place), "reason", text_or_null(info.reason), "entries",
                      (json_int_t)info.entries, "bytes", (json_int_t)info.bytes, "limit", (json_int_t)info.limit,
                      "hits", (json_int_t)info.all_hits, "misses", (json_int_t)info.all_misses);
        json_dumpf(object, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(object);
        return 0;
    }
    printf("place:   %s%s%s%s\n", *info.place ? info.place : "none", *info.reason ? " (" : "", info.reason,
           *info.reason ? ")" : "");
    printf("size:    %.1f of %.0f MiB in %" PRIu64 " programs\n", mebibytes(info.bytes), mebibytes(info.limit),
           info.entries);
    printf("hits:    %" PRIu64 "\nmisses:  %" PRIu64 "\n", info.all_hits, info.all_misses);
    return 0;
}

static void report(void *user, const char *path, uint64_t bytes, const char *wrong)
{
    json_t *list = user;
    if (!wrong)
        return;
    if (list)
        json_array_append_new(list, json_pack("{s:o, s:I, s:s}", "path", text_or_null(path), "bytes", (json_int_t)bytes,
                                              "reason", wrong));
    else
        printf("damaged: %s: %s\n", path, wrong);
}

static int verify(bool json)
{
    size_t sound, damaged;
    json_t *list = json ? json_array() : NULL;
    if (clayer_cache_verify(report, list, &sound, &damaged) != CLAYER_OK) {
        json_decref(list);
        return tool_failed("%s", clayer_last_error());
    }
    if (json) {
        json_t *object = json_pack("{s:s, s:I, s:o}", "schema", "clayer-query-cache-verify/1", "sound",
                                   (json_int_t)sound, "damaged", list);
        json_dumpf(object, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(object);
    } else {
        printf("%zu sound, %zu damaged%s\n", sound, damaged,
               damaged ? " (compiled anew when needed; --cache-prune deletes them)" : "");
    }
    return damaged ? EXIT_CODE_FAILED : 0;
}

static int prune(bool json, const char *keep)
{
    size_t mebibytes_kept = 0, entries;
    uint64_t bytes;
    if (keep && tool_size("--cache-prune", keep, 0, SIZE_MAX >> 20, &mebibytes_kept) != 0)
        return EXIT_CODE_USAGE;
    if (clayer_cache_prune(keep ? (uint64_t)mebibytes_kept << 20 : CLAYER_CACHE_KEEP_LIMIT, &entries, &bytes) !=
        CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (json)
        printf("{\"schema\": \"clayer-query-cache-prune/1\", \"deleted\": %zu, \"bytes\": %" PRIu64 "}\n", entries,
               bytes);
    else
        printf("deleted %zu programs, %.1f MiB\n", entries, mebibytes(bytes));
    return 0;
}

int cache_main(enum cache_task task, bool json, const char *keep)
{
    return task == CACHE_VERIFY ? verify(json) : task == CACHE_PRUNE ? prune(json, keep) : show(json);
}
