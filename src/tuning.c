/* Tuning records as an application sees and gives them: listing, and adding to a context. */
#include "base/error.h"
#include "base/file.h"
#include "context.h"
#include "plan/record.h"

#include <clayer/tuning.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As for files of the store. */
#define FILE_LIMIT ((size_t)64 << 20)

const char *clayer_tuning_origin_string(clayer_tuning_origin origin)
{
    return store_origin_string((enum store_origin)origin);
}

static void describe(const struct store_item *item, clayer_tuning_record *record)
{
    const struct record *r = item->answer.record;
    *record = (clayer_tuning_record){.batch = r->layer.batch,
                                     .in_features = r->layer.in_features,
                                     .out_features = r->layer.out_features,
                                     .bias = r->layer.bias,
                                     .costly = r->layer.costly,
                                     .aligned = r->layer.aligned,
                                     .seconds = r->seconds,
                                     .spread = r->spread,
                                     .default_seconds = r->default_seconds,
                                     .clblast_seconds = r->clblast_seconds,
                                     .candidates = r->candidates,
                                     .origin = (clayer_tuning_origin)item->answer.origin,
                                     .related = item->answer.family,
                                     .stale = item->answer.stale};
    snprintf(record->types, sizeof record->types, "%s", r->layer.types);
    snprintf(record->family, sizeof record->family, "%s", r->family);
    snprintf(record->configuration, sizeof record->configuration, "%s", r->configuration);
    snprintf(record->effort, sizeof record->effort, "%s", r->effort);
    snprintf(record->when, sizeof record->when, "%s", r->when);
    snprintf(record->driver, sizeof record->driver, "%s", r->driver_version);
    snprintf(record->library, sizeof record->library, "%s", r->library_version);
    const struct family *family;
    struct configuration configuration = {{0}};
    if (*item->rejected)
        snprintf(record->reason, sizeof record->reason, "%s", item->rejected);
    else if (plan_record_read(r, &family, &configuration) != CLAYER_OK)
        snprintf(record->reason, sizeof record->reason, "%.150s", clayer_last_error());
    else if (strcmp(r->layer.types, "f32,f32,f32,f32") != 0)
        snprintf(record->reason, sizeof record->reason, "this version has layers of f32,f32,f32,f32 only");
    else if (item->shadowed)
        snprintf(record->reason, sizeof record->reason, "another record of this layer comes before it");
    record->in_force = !*record->reason;
}

static void list(const struct store *store, clayer_tuning_callback callback, void *user)
{
    struct store_item item;
    clayer_tuning_record record;
    for (size_t i = 0; store && store_at(store, i, &item); i++) {
        describe(&item, &record);
        callback(user, &record);
    }
}

clayer_status clayer_tuning_list(const clayer_device_info *device, clayer_tuning_callback callback, void *user)
{
    REQUIRE(device != NULL && callback != NULL);
    struct store *store;
    TRY(store_open(device, &store));
    list(store, callback, user);
    store_close(&store);
    return CLAYER_OK;
}

clayer_status clayer_tuning_list_context(clayer_context *context, clayer_tuning_callback callback, void *user)
{
    REQUIRE(context != NULL && callback != NULL);
    list(context_store(context), callback, user);
    return CLAYER_OK;
}

static clayer_status add(clayer_context *context, enum store_origin origin, const char *text, size_t length,
                         const char *name, size_t *added)
{
    struct store *store = context_store(context);
    if (added)
        *added = 0;
    return store ? store_add_text(store, origin, text, length, name, added) : CLAYER_OK;
}

clayer_status clayer_tuning_add(clayer_context *context, const char *text, size_t length, size_t *added)
{
    REQUIRE(context != NULL && (text != NULL || length == 0));
    return add(context, STORE_API, text ? text : "", length, "a text of tuning records", added);
}

clayer_status clayer_tuning_load(clayer_context *context, const char *path, size_t *added)
{
    REQUIRE(context != NULL && path != NULL);
    char *text;
    size_t length;
    struct stat info;
    TRY(file_read_whole(path, FILE_LIMIT, &text, &length, &info));
    const clayer_status status = add(context, STORE_API, text, length, path, added);
    free(text);
    return status;
}

clayer_status clayer_tuning_ship(clayer_context *context, const char *const *lines, size_t *added)
{
    REQUIRE(context != NULL && lines != NULL);
    size_t length = 0;
    for (size_t i = 0; lines[i]; i++)
        length += strlen(lines[i]);
    char *text = malloc(length + 1), *end = text;
    if (!text)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of tuning records", length);
    *end = '\0';
    for (size_t i = 0; lines[i]; i++)
        end = stpcpy(end, lines[i]);
    const clayer_status status = add(context, STORE_SHIPPED, text, length, "a text of shipped tuning records", added);
    free(text);
    return status;
}
