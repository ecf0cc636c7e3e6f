#include "store/index.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much another epilogue or alignment counts against a record, in octaves: it changes the best plan little. */
#define OTHER_KIND 0.25f

clayer_status index_add(struct index *index, const struct index_entry *entry)
{
    if (index->count == index->room) {
        const size_t room = index->room ? 2 * index->room : 64;
        struct index_entry *grown = realloc(index->entries, room * sizeof *grown);
        if (!grown)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu tuning records", room);
        index->entries = grown;
        index->room = room;
    }
    index->entries[index->count] = *entry;
    index->entries[index->count++].log_batch = log2f((float)entry->record->layer.batch);
    return CLAYER_OK;
}

void index_free(struct index *index)
{
    for (size_t i = 0; i < index->count; i++)
        free(index->entries[i].rejected);
    free(index->entries);
    free(index->runs);
    free(index->spots);
    free(index->kinds);
    *index = (struct index){.count = 0};
}

static int compare_entries(const void *left, const void *right)
{
    const struct index_entry *a = left, *b = right;
    int order = record_layer_compare(&a->record->layer, &b->record->layer);
    if (!order)
        order = a->family - b->family;
    if (!order)
        order = (int)a->origin - (int)b->origin;
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static bool same_place(const struct index_entry *a, const struct index_entry *b)
{
    return a->origin == b->origin && a->family == b->family &&
           record_layer_compare(&a->record->layer, &b->record->layer) == 0;
}

static bool same_kind(const struct record_layer *a, const struct record_layer *b)
{
    return a->bias == b->bias && a->costly == b->costly && a->aligned == b->aligned && strcmp(a->types, b->types) == 0;
}

static bool same_features(const struct record_layer *a, const struct record_layer *b)
{
    return a->in_features == b->in_features && a->out_features == b->out_features;
}

static void drop_replaced(struct index *index)
{
    struct index_entry *e = index->entries;
    size_t kept = 0;
    for (size_t i = 0; i < index->count; i++) {
        if (kept > 0 && same_place(&e[kept - 1], &e[i]))
            free(e[i].rejected);
        else
            e[kept++] = e[i];
    }
    index->count = kept;
}

static bool make_room(struct index *index)
{
    const size_t most = index->count + 1;
    struct index_run *runs = realloc(index->runs, most * sizeof *runs);
    index->runs = runs ? runs : index->runs;
    struct index_spot *spots = realloc(index->spots, most * sizeof *spots);
    index->spots = spots ? spots : index->spots;
    struct index_kind *kinds = realloc(index->kinds, most * sizeof *kinds);
    index->kinds = kinds ? kinds : index->kinds;
    return runs && spots && kinds;
}

clayer_status index_build(struct index *index)
{
    index->run_count = index->kind_count = 0;
    if (index->count > 0)
        qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    drop_replaced(index);
    if (!make_room(index))
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the index of %zu tuning records", index->count);
    const struct record_layer *last = NULL;
    for (size_t i = 0; i < index->count; i++) {
        const struct record_layer *layer = &index->entries[i].record->layer;
        const bool new_kind = !last || !same_kind(last, layer);
        if (new_kind)
            index->kinds[index->kind_count++] = (struct index_kind){layer, index->run_count, 0};
        if (new_kind || !same_features(last, layer)) {
            index->spots[index->run_count] =
                (struct index_spot){log2f((float)layer->in_features), log2f((float)layer->out_features)};
            index->runs[index->run_count++] = (struct index_run){layer, i, 0};
            index->kinds[index->kind_count - 1].count++;
        }
        index->runs[index->run_count - 1].count++;
        last = layer;
    }
    return CLAYER_OK;
}

struct candidate {
    const struct index_entry *entry;
    int tier; /* 0 same layer, 1 same features, 2 another layer; 3 more when measured on a relative */
    float distance;
};

struct best {
    struct candidate list[STORE_ANSWERS];
    size_t count;
};

static int compare_candidates(const struct candidate *a, const struct candidate *b)
{
    if (a->tier != b->tier)
        return a->tier - b->tier;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (int)a->entry->origin - (int)b->entry->origin;
}

static void offer(struct best *best, const struct candidate *candidate)
{
    size_t place = best->count;
    if (place == STORE_ANSWERS && compare_candidates(candidate, &best->list[place - 1]) >= 0)
        return;
    if (place == STORE_ANSWERS)
        place--;
    else
        best->count++;
    while (place > 0 && compare_candidates(candidate, &best->list[place - 1]) < 0) {
        best->list[place] = best->list[place - 1];
        place--;
    }
    best->list[place] = *candidate;
}

/* The first entry of a run with at least this batch. */
static size_t find_batch(const struct index *index, const struct index_run *run, size_t batch)
{
    size_t low = run->first, high = run->first + run->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->entries[middle].record->layer.batch < batch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool near(size_t a, size_t b)
{
    const size_t low = a < b ? a : b, high = a < b ? b : a;
    return high / STORE_REACH_BATCH + (high % STORE_REACH_BATCH != 0) <= low;
}

/* Offers the entries of a run whose batches are nearest. */
static void offer_run(const struct index *index, const struct index_run *run, size_t batch, float log_batch, int tier,
                      float distance, struct best *best)
{
    size_t above = find_batch(index, run, batch), below = above;
    const size_t end = run->first + run->count;
    int taken[2] = {0, 0}; /* of this device, of its relatives */
    if (distance > STORE_REACH)
        return;
    while ((taken[0] < STORE_ANSWERS || taken[1] < STORE_ANSWERS) && (above < end || below > run->first)) {
        const bool up = below == run->first || (above < end && index->entries[above].log_batch - log_batch <=
                                                                   log_batch - index->entries[below - 1].log_batch);
        const struct index_entry *e = &index->entries[up ? above++ : --below];
        if (!near(e->record->layer.batch, batch)) /* nor is any that follows */
            return;
        if (e->rejected || taken[e->family]++ >= STORE_ANSWERS)
            continue;
        const float whole = distance + fabsf(e->log_batch - log_batch);
        if (whole <= STORE_REACH)
            offer(best, &(struct candidate){e, tier + 3 * e->family, whole});
    }
}

static const struct index_run *find_run(const struct index *index, const struct index_kind *kind,
                                        const struct record_layer *layer)
{
    size_t low = kind->first, high = kind->first + kind->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct record_layer *l = index->runs[middle].layer;
        if (l->in_features < layer->in_features ||
            (l->in_features == layer->in_features && l->out_features < layer->out_features))
            low = middle + 1;
        else
            high = middle;
    }
    return low < kind->first + kind->count && same_features(index->runs[low].layer, layer) ? &index->runs[low] : NULL;
}

/* Offers the nearest runs of a kind that have other features. */
static void offer_kind(const struct index *index, const struct index_kind *kind, const struct record_layer *layer,
                       float log_batch, float penalty, struct best *best)
{
    const struct index_spot at = {log2f((float)layer->in_features), log2f((float)layer->out_features)};
    float bound = INFINITY; /* beyond it nothing gets into the list any more */
    for (size_t i = kind->first; i < kind->first + kind->count; i++) {
        const float distance =
            fabsf(index->spots[i].log_in - at.log_in) + fabsf(index->spots[i].log_out - at.log_out) + penalty;
        if (distance > bound || same_features(index->runs[i].layer, layer))
            continue;
        offer_run(index, &index->runs[i], layer->batch, log_batch, 2, distance, best);
        const struct candidate *worst = &best->list[STORE_ANSWERS - 1];
        if (best->count == STORE_ANSWERS)
            bound = worst->tier > 2 ? INFINITY : worst->tier == 2 ? worst->distance : -1;
    }
}

size_t index_find(const struct index *index, const struct record_layer *layer,
                  struct store_answer answers[STORE_ANSWERS])
{
    const float log_batch = log2f((float)layer->batch);
    struct best best = {.count = 0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < index->kind_count; i++) {
            const struct index_kind *kind = &index->kinds[i];
            const struct record_layer *l = kind->layer;
            if (strcmp(l->types, layer->types) != 0)
                continue;
            const int other = (l->bias != layer->bias) + (l->costly != layer->costly) + (l->aligned != layer->aligned);
            const float penalty = OTHER_KIND * (float)other;
            const struct index_run *run = pass == 0 ? find_run(index, kind, layer) : NULL;
            if (run)
                offer_run(index, run, layer->batch, log_batch, other > 0, penalty, &best);
            else if (pass == 1)
                offer_kind(index, kind, layer, log_batch, penalty, &best);
        }
        if (best.count == STORE_ANSWERS && best.list[STORE_ANSWERS - 1].tier < 2)
            break;
    }
    for (size_t i = 0; i < best.count; i++) {
        const struct index_entry *e = best.list[i].entry;
        answers[i] = (struct store_answer){.record = e->record,
                                           .origin = e->origin,
                                           .exact = record_layer_compare(&e->record->layer, layer) == 0,
                                           .family = e->family,
                                           .stale = e->stale,
                                           .distance = (double)best.list[i].distance};
    }
    return best.count;
}

bool index_names_family(const struct index *index, const struct record_layer *layer, const char *family)
{
    for (size_t i = 0; i < index->kind_count; i++) {
        const struct index_kind *kind = &index->kinds[i];
        const struct index_run *run =
            strcmp(kind->layer->types, layer->types) == 0 ? find_run(index, kind, layer) : NULL;
        for (size_t j = run ? run->first : 0; run && j < run->first + run->count; j++)
            if (!index->entries[j].rejected && strcmp(index->entries[j].record->family, family) == 0)
                return true;
    }
    return false;
}
