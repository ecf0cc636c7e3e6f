#include "store/store.h"
#include "base/error.h"
#include "base/log.h"
#include "store/index.h"
#include "store/layers.h"

#include <clayer/version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct index index;
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

static clayer_status add_entry(struct store *store, enum store_origin origin, bool family, const struct record *record)
{
    store->added++;
    const struct index_entry entry = {.record = record,
                                      .origin = origin,
                                      .family = family,
                                      .stale = strcmp(record->driver_version, store->driver_version) != 0 ||
                                               strcmp(record->library_version, CLAYER_VERSION_STRING) != 0 ||
                                               strcmp(record->kernel_hash, kernel_now(store, record->family)) != 0,
                                      /* Of directories the first wins, of what the application gives the last. */
                                      .order = origin == STORE_API || origin == STORE_SHIPPED ? -store->added
                                                                                              : store->added};
    return index_add(&store->index, &entry);
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
        status = index_build(&s->index);
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
    index_free(&s->index);
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
    const size_t before = store->index.count;
    clayer_status status = layers_take(content, &store->device, origin, receive, store);
    *added = store->index.count - before;
    const clayer_status indexed = index_build(&store->index);
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

size_t store_lookup(const struct store *store, const struct record_layer *layer,
                    struct store_answer answers[STORE_ANSWERS])
{
    struct store *s = (struct store *)store; /* only its lock changes */
    pthread_rwlock_rdlock(&s->lock);
    const size_t count = index_find(&s->index, layer, answers);
    pthread_rwlock_unlock(&s->lock);
    return count;
}

bool store_names_family(const struct store *store, const struct record_layer *layer, const char *family)
{
    struct store *s = (struct store *)store;
    pthread_rwlock_rdlock(&s->lock);
    const bool named = index_names_family(&s->index, layer, family);
    pthread_rwlock_unlock(&s->lock);
    return named;
}

void store_reject(struct store *store, const struct record *record, const char *reason)
{
    bool fresh = false;
    enum store_origin origin = STORE_API;
    pthread_rwlock_wrlock(&store->lock);
    for (size_t i = 0; i < store->index.count; i++) {
        struct index_entry *e = &store->index.entries[i];
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
    const size_t count = s->index.count;
    pthread_rwlock_unlock(&s->lock);
    return count;
}

bool store_at(const struct store *store, size_t index, struct store_item *item)
{
    struct store *s = (struct store *)store;
    pthread_rwlock_rdlock(&s->lock);
    const bool there = index < s->index.count;
    if (there) {
        const struct index_entry *e = &s->index.entries[index];
        *item = (struct store_item){
            .answer = {e->record, e->origin, true, e->family, e->stale, 0},
            .shadowed = index > 0 && !s->index.entries[index - 1].rejected &&
                        record_layer_compare(&s->index.entries[index - 1].record->layer, &e->record->layer) == 0};
        /* A copy: another thread may free it as soon as the lock is gone. */
        snprintf(item->rejected, sizeof item->rejected, "%s", e->rejected ? e->rejected : "");
    }
    pthread_rwlock_unlock(&s->lock);
    return there;
}
