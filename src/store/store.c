#include "store/store.h"
#include "base/error.h"
#include "base/log.h"
#include "store/layers.h"

#include <clayer/version.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const struct record *record;
    enum store_origin origin;
    bool family, stale;
    char *rejected; /* why, on the heap; NULL: in force */
    long order;     /* between equal keys of one origin the lowest wins */
    float log_batch;
};

/* Entries that differ in batch, device or origin only. */
struct run {
    const struct record_layer *layer;
    size_t first, count;
    float log_in, log_out;
};

struct block {
    struct block *next;
    struct record *records;
};

struct kernel_now {
    char family[16], hash[40];
};
#define KERNELS_NOW 16

struct store {
    struct record_device device;
    char driver_version[64];
    bool off;
    pthread_rwlock_t lock; /* guards all that follows; blocks stay, so records outlive the lock */
    struct block *blocks;
    struct entry *entries; /* sorted */
    size_t count, room;
    struct run *runs; /* sorted */
    size_t run_count;
    long added;
    struct kernel_now kernels[KERNELS_NOW];
    size_t kernel_count;
};

const char *store_origin_string(enum store_origin origin)
{
    static const char *const names[STORE_ORIGINS] = {"application",  "environment", "user store",
                                                     "system store", "shipped",     "built in"};
    return origin < STORE_ORIGINS ? names[origin] : "unknown";
}

/* The hash of a family's kernels, made once a family. */
static const char *kernel_now(struct store *store, const char *family)
{
    size_t i = 0;
    while (i < store->kernel_count && strcmp(store->kernels[i].family, family) != 0)
        i++;
    if (i == store->kernel_count) {
        if (i == KERNELS_NOW)
            return ""; /* more families than there are: such records are stale in any case */
        memcpy(store->kernels[i].family, family, sizeof store->kernels[i].family);
        record_kernel_hash(family, store->kernels[i].hash);
        store->kernel_count++;
    }
    return store->kernels[i].hash;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = record_layer_compare(&a->record->layer, &b->record->layer);
    if (!order)
        order = a->family - b->family;
    if (!order)
        order = (int)a->origin - (int)b->origin;
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static bool same_place(const struct entry *a, const struct entry *b)
{
    return a->origin == b->origin && a->family == b->family &&
           record_layer_compare(&a->record->layer, &b->record->layer) == 0;
}

static bool same_run(const struct record_layer *a, const struct record_layer *b)
{
    struct record_layer other = *b;
    other.batch = a->batch;
    return record_layer_compare(a, &other) == 0;
}

/* Sorts the entries, drops those that another one of their origin replaces, and finds the runs. */
static clayer_status build_index(struct store *store)
{
    struct entry *e = store->entries;
    size_t kept = 0;
    if (store->count > 0)
        qsort(e, store->count, sizeof *e, compare_entries);
    for (size_t i = 0; i < store->count; i++) {
        if (kept > 0 && same_place(&e[kept - 1], &e[i]))
            free(e[i].rejected);
        else
            e[kept++] = e[i];
    }
    store->count = kept;
    store->run_count = 0;
    struct run *runs = realloc(store->runs, (kept + 1) * sizeof *runs);
    if (!runs)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the index of %zu tuning records", kept);
    store->runs = runs;
    for (size_t i = 0; i < kept; i++) {
        const struct record_layer *layer = &e[i].record->layer;
        if (store->run_count == 0 || !same_run(runs[store->run_count - 1].layer, layer))
            runs[store->run_count++] = (struct run){.layer = layer,
                                                    .first = i,
                                                    .log_in = log2f((float)layer->in_features),
                                                    .log_out = log2f((float)layer->out_features)};
        runs[store->run_count - 1].count++;
    }
    return CLAYER_OK;
}

static clayer_status add_entry(struct store *store, enum store_origin origin, bool family, const struct record *record)
{
    if (store->count == store->room) {
        const size_t room = store->room ? 2 * store->room : 64;
        struct entry *grown = realloc(store->entries, room * sizeof *grown);
        if (!grown)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu tuning records", room);
        store->entries = grown;
        store->room = room;
    }
    store->added++;
    store->entries[store->count++] =
        (struct entry){.record = record,
                       .origin = origin,
                       .family = family,
                       .stale = strcmp(record->driver_version, store->driver_version) != 0 ||
                                strcmp(record->library_version, CLAYER_VERSION_STRING) != 0 ||
                                strcmp(record->kernel_hash, kernel_now(store, record->family)) != 0,
                       /* Of directories the first wins, of what the application gives the last. */
                       .order = origin == STORE_API || origin == STORE_SHIPPED ? -store->added : store->added,
                       .log_batch = log2f((float)record->layer.batch)};
    return CLAYER_OK;
}

/* Takes a section's records over. */
static clayer_status receive(void *user, enum store_origin origin, struct format_section *section)
{
    struct store *store = user;
    const bool family = !record_device_equal(&section->device, &store->device);
    struct block *block = malloc(sizeof *block);
    if (!block)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for tuning records");
    *block = (struct block){store->blocks, section->records};
    store->blocks = block;
    const size_t count = section->count;
    section->records = NULL;
    section->count = section->room = 0;
    for (size_t i = 0; i < count; i++)
        TRY(add_entry(store, origin, family, &block->records[i]));
    return CLAYER_OK;
}

clayer_status store_open(const clayer_device_info *info, struct store **store)
{
    *store = NULL;
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for tuning records");
    pthread_rwlock_init(&s->lock, NULL);
    struct record now = {.family = ""};
    record_device_of(info, &s->device);
    record_stamp(info, &now);
    memcpy(s->driver_version, now.driver_version, sizeof s->driver_version);
    s->off = layers_off();
    clayer_status status = layers_read(&s->device, receive, s);
    if (status == CLAYER_OK)
        status = build_index(s);
    if (status == CLAYER_OK)
        *store = s;
    else
        store_close(&s);
    return status;
}

void store_close(struct store **store)
{
    struct store *s = *store;
    *store = NULL;
    if (!s)
        return;
    while (s->blocks) {
        struct block *next = s->blocks->next;
        free(s->blocks->records);
        free(s->blocks);
        s->blocks = next;
    }
    for (size_t i = 0; i < s->count; i++)
        free(s->entries[i].rejected);
    free(s->entries);
    free(s->runs);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

/* Adds what is in content under the lock. */
static clayer_status add_content(struct store *store, enum store_origin origin, struct format_content *content,
                                 size_t *added)
{
    *added = 0;
    if (store->off)
        return CLAYER_OK;
    pthread_rwlock_wrlock(&store->lock);
    const size_t before = store->count;
    clayer_status status = layers_take(content, &store->device, origin, receive, store);
    *added = store->count - before;
    const clayer_status indexed = build_index(store);
    pthread_rwlock_unlock(&store->lock);
    return status == CLAYER_OK ? indexed : status;
}

clayer_status store_add(struct store *store, enum store_origin origin, const struct record *records, size_t count)
{
    struct format_content content = {.state = FORMAT_SOUND};
    struct format_section *section;
    size_t added;
    clayer_status status;
    TRY_GOTO(format_section(&content, &store->device, &section));
    for (size_t i = 0; i < count; i++)
        if (!record_wrong(&records[i]))
            TRY_GOTO(format_append(section, &records[i]));
    status = add_content(store, origin, &content, &added);
fail:
    format_free(&content);
    return status;
}

clayer_status store_add_text(struct store *store, enum store_origin origin, const char *text, size_t length,
                             const char *name, size_t *added)
{
    struct format_content content;
    size_t taken;
    TRY(format_read(text, length, &store->device, &content));
    clayer_status status = add_content(store, origin, &content, &taken);
    if (added)
        *added = taken;
    if (status == CLAYER_OK && content.state == FORMAT_LATER)
        status = FAIL(CLAYER_ERROR_UNSUPPORTED, "%s: %s", name, content.problem);
    else if (status == CLAYER_OK && content.state == FORMAT_DAMAGED)
        status =
            FAIL(CLAYER_ERROR_FORMAT, "%s is damaged, %zu records dropped: %s", name, content.dropped, content.problem);
    format_free(&content);
    return status;
}

struct candidate {
    const struct entry *entry;
    int tier; /* 0 same layer, 1 same features, 2 another layer; 3 more when measured on a relative */
    float distance;
};

static int compare_candidates(const struct candidate *a, const struct candidate *b)
{
    if (a->tier != b->tier)
        return a->tier - b->tier;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (int)a->entry->origin - (int)b->entry->origin;
}

struct best {
    struct candidate list[STORE_ANSWERS];
    size_t count;
};

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
static size_t find_batch(const struct store *store, const struct run *run, size_t batch)
{
    size_t low = run->first, high = run->first + run->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (store->entries[middle].record->layer.batch < batch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Offers the entries of a run whose batches are nearest. */
static void offer_run(const struct store *store, const struct run *run, size_t batch, int tier, float distance,
                      struct best *best)
{
    const float log_batch = log2f((float)batch);
    size_t above = find_batch(store, run, batch), below = above;
    const size_t end = run->first + run->count;
    for (int i = 0; i < STORE_ANSWERS && (above < end || below > run->first); i++) {
        const bool up = below == run->first || (above < end && store->entries[above].log_batch - log_batch <=
                                                                   log_batch - store->entries[below - 1].log_batch);
        const struct entry *e = &store->entries[up ? above++ : --below];
        if (e->rejected)
            continue;
        offer(best, &(struct candidate){e, tier + 3 * e->family, distance + fabsf(e->log_batch - log_batch)});
    }
}

/* How much another epilogue or alignment counts against a record, in octaves: it changes the best plan little. */
#define OTHER_KIND 0.25f

size_t store_lookup(const struct store *store, const struct record_layer *layer,
                    struct store_answer answers[STORE_ANSWERS])
{
    struct store *s = (struct store *)store; /* only its lock changes */
    const float log_in = log2f((float)layer->in_features), log_out = log2f((float)layer->out_features);
    struct best best = {.count = 0};
    pthread_rwlock_rdlock(&s->lock);
    for (size_t i = 0; i < s->run_count; i++) {
        const struct run *run = &s->runs[i];
        const struct record_layer *l = run->layer;
        const int other = (l->bias != layer->bias) + (l->costly != layer->costly) + (l->aligned != layer->aligned);
        const bool same = l->in_features == layer->in_features && l->out_features == layer->out_features;
        const int tier = same ? other > 0 : 2;
        const float distance =
            same && !other ? 0
                           : fabsf(run->log_in - log_in) + fabsf(run->log_out - log_out) + OTHER_KIND * (float)other;
        const struct candidate *worst = best.count == STORE_ANSWERS ? &best.list[STORE_ANSWERS - 1] : NULL;
        if (worst && (tier > worst->tier || (tier == worst->tier && distance > worst->distance)))
            continue;
        if (strcmp(l->types, layer->types) == 0)
            offer_run(s, run, layer->batch, tier, distance, &best);
    }
    for (size_t i = 0; i < best.count; i++) {
        const struct entry *e = best.list[i].entry;
        answers[i] = (struct store_answer){.record = e->record,
                                           .origin = e->origin,
                                           .exact = record_layer_compare(&e->record->layer, layer) == 0,
                                           .family = e->family,
                                           .stale = e->stale,
                                           .distance = (double)best.list[i].distance};
    }
    pthread_rwlock_unlock(&s->lock);
    return best.count;
}

bool store_names_family(const struct store *store, const struct record_layer *layer, const char *family)
{
    struct store *s = (struct store *)store;
    bool named = false;
    pthread_rwlock_rdlock(&s->lock);
    for (size_t i = 0; i < s->run_count && !named; i++) {
        const struct run *run = &s->runs[i];
        if (run->layer->in_features != layer->in_features || run->layer->out_features != layer->out_features ||
            strcmp(run->layer->types, layer->types) != 0)
            continue;
        for (size_t j = run->first; j < run->first + run->count && !named; j++)
            named = !s->entries[j].rejected && strcmp(s->entries[j].record->family, family) == 0;
    }
    pthread_rwlock_unlock(&s->lock);
    return named;
}

void store_reject(struct store *store, const struct record *record, const char *reason)
{
    bool fresh = false;
    enum store_origin origin = STORE_API;
    pthread_rwlock_wrlock(&store->lock);
    for (size_t i = 0; i < store->count; i++) {
        struct entry *e = &store->entries[i];
        if (e->record == record && !e->rejected) {
            e->rejected = strdup(reason);
            origin = e->origin;
            fresh = true;
        }
    }
    pthread_rwlock_unlock(&store->lock);
    if (fresh)
        log_write(CLAYER_LOG_WARN, "tuning record %zux%zux%zu %s:%s (%s) is not used: %s", record->layer.batch,
                  record->layer.in_features, record->layer.out_features, record->family, record->configuration,
                  store_origin_string(origin), reason);
}

size_t store_count(const struct store *store)
{
    struct store *s = (struct store *)store;
    pthread_rwlock_rdlock(&s->lock);
    const size_t count = s->count;
    pthread_rwlock_unlock(&s->lock);
    return count;
}

bool store_at(const struct store *store, size_t index, struct store_item *item)
{
    struct store *s = (struct store *)store;
    pthread_rwlock_rdlock(&s->lock);
    const bool there = index < s->count;
    if (there) {
        const struct entry *e = &s->entries[index];
        *item = (struct store_item){
            .answer = {e->record, e->origin, true, e->family, e->stale, 0},
            .rejected = e->rejected,
            .shadowed = index > 0 && !s->entries[index - 1].rejected &&
                        record_layer_compare(&s->entries[index - 1].record->layer, &e->record->layer) == 0};
    }
    pthread_rwlock_unlock(&s->lock);
    return there;
}
