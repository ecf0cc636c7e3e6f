/* Records sorted for looking up the nearest; for store/store.c, which holds the lock. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include "store/store.h"

struct index_entry {
    const struct record *record;
    enum store_origin origin;
    bool family, stale;
    char *rejected; /* why, on the heap; NULL: in force */
    long order;     /* between equal keys of one origin the lowest wins */
    float log_batch;
};

/* Entries that differ in batch, device or origin only. */
struct index_run {
    const struct record_layer *layer;
    size_t first, count;
};

/* A run's place among the layers, apart from it so that thousands are scanned in microseconds. */
struct index_spot {
    float log_in, log_out;
};

/* Runs of the same types, epilogue and alignment. */
struct index_kind {
    const struct record_layer *layer;
    size_t first, count;
};

struct index {
    struct index_entry *entries; /* sorted, after index_build */
    size_t count, room;
    struct index_run *runs;
    struct index_spot *spots; /* one a run */
    size_t run_count;
    struct index_kind *kinds;
    size_t kind_count;
};

clayer_status index_add(struct index *index, const struct index_entry *entry);
/* Sorts what was added, and drops entries that another one of their origin replaces. */
clayer_status index_build(struct index *index);
void index_free(struct index *index);

/* See store_lookup and store_names_family. */
size_t index_find(const struct index *index, const struct record_layer *layer,
                  struct store_answer answers[STORE_ANSWERS]);
bool index_names_family(const struct index *index, const struct record_layer *layer, const char *family);

#endif
