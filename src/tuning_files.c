/* The user's tuning records as files: import, export, C source, removal. */
#include "base/error.h"
#include "base/file.h"
#include "store/folder.h"
#include "store/merge.h"

#include <clayer/tuning.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

clayer_status clayer_tuning_import(const char *path, bool replace, clayer_tuning_merged *merged)
{
    REQUIRE(path != NULL);
    struct format_content content;
    struct folder_state state;
    clayer_tuning_merged total = {0, 0, 0, 0};
    TRY(folder_read(path, NULL, &content, &state, NULL, NULL));
    clayer_status status = CLAYER_OK;
    size_t records = 0;
    for (size_t i = 0; i < content.count; i++)
        records += content.sections[i].count;
    if (!state.exists)
        FAIL_GOTO(CLAYER_ERROR_IO, "%s is not there", path);
    if (content.state == FORMAT_LATER)
        FAIL_GOTO(CLAYER_ERROR_UNSUPPORTED, "%s is not used: %s", path, content.problem);
    if (content.state == FORMAT_DAMAGED && records == 0)
        FAIL_GOTO(CLAYER_ERROR_FORMAT, "%s has no usable tuning record: %s", path, content.problem);
    folder_report(path, &content);
    total.damaged = content.dropped;
    for (size_t i = 0; i < content.count; i++) {
        struct store_merged one;
        TRY_GOTO(store_merge(&content.sections[i].device, content.sections[i].records, content.sections[i].count,
                             replace ? STORE_REPLACE : STORE_KEEP_BETTER, &one));
        total.added += one.added;
        total.replaced += one.replaced;
        total.kept += one.kept;
    }
    if (merged)
        *merged = total;
fail:
    format_free(&content);
    return status;
}

/* The key of a device, or NULL for none. */
static const struct record_device *key_of(const clayer_device_info *info, struct record_device *key)
{
    if (!info)
        return NULL;
    record_device_of(info, key);
    return key;
}

/* The user's records as a text. */
static clayer_status collect(const clayer_device_info *info, char **text, size_t *length, size_t *records)
{
    struct format_content content;
    struct record_device key;
    TRY(store_read(key_of(info, &key), &content));
    *records = 0;
    for (size_t i = 0; i < content.count; i++)
        *records += content.sections[i].count;
    const clayer_status status = format_write(&content, text, length);
    format_free(&content);
    return status;
}

clayer_status clayer_tuning_export(const clayer_device_info *device, const char *path, size_t *records)
{
    REQUIRE(path != NULL);
    char *text;
    size_t length, count;
    TRY(collect(device, &text, &length, &count));
    const clayer_status status = file_write_atomic(path, text, length, 0666);
    free(text);
    if (status == CLAYER_OK && records)
        *records = count;
    return status;
}

static bool is_identifier(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *name && name[strspn(name, letters)] == '\0' && (*name < '0' || *name > '9');
}

static void put_lines(FILE *out, const char *text, const char *name)
{
    fprintf(out,
            "/* Tuning records for clayer: hand %s to clayer_tuning_ship. Written by clayer; a record a line. */\n"
            "static const char *const %s[] = {\n",
            name, name);
    while (*text) {
        fputs("    \"", out);
        for (; *text != '\n'; text++) { /* every line ends in one */
            if (*text == '"' || *text == '\\')
                putc('\\', out);
            if (*text == '?') /* no trigraphs */
                fputs("\\?", out);
            else
                putc(*text, out);
        }
        fputs("\\n\",\n", out);
        text++;
    }
    fputs("    0,\n};\n", out);
}

clayer_status clayer_tuning_header(const clayer_device_info *device, const char *path, const char *name,
                                   size_t *records)
{
    REQUIRE(path != NULL && name != NULL);
    if (!is_identifier(name))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "'%.60s' is no name in C: letters, digits and _, no digit first",
                    name);
    char *text, *source = NULL;
    size_t length, count;
    TRY(collect(device, &text, &length, &count));
    clayer_status status;
    FILE *out = open_memstream(&source, &length);
    if (!out)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a C source of %zu tuning records", count);
    put_lines(out, text, name);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a C source of %zu tuning records", count);
    status = file_write_atomic(path, source, length, 0666);
    if (status == CLAYER_OK && records)
        *records = count;
fail:
    free(source);
    free(text);
    return status;
}

struct wish {
    size_t batch, in_features, out_features;
};

static bool unwanted(void *user, const struct record *record)
{
    const struct wish *w = user;
    return (w->batch == 0 || w->batch == record->layer.batch) &&
           (w->in_features == 0 || w->in_features == record->layer.in_features) &&
           (w->out_features == 0 || w->out_features == record->layer.out_features);
}

clayer_status clayer_tuning_forget(const clayer_device_info *device, size_t batch, size_t in_features,
                                   size_t out_features, size_t *removed)
{
    struct wish wish = {batch, in_features, out_features};
    struct record_device key;
    size_t count;
    const clayer_status status = store_forget(key_of(device, &key), unwanted, &wish, &count);
    if (removed)
        *removed = count;
    return status;
}

clayer_status clayer_tuning_get_place(const clayer_device_info *device, clayer_tuning_place *place)
{
    REQUIRE(place != NULL);
    char *folder;
    struct record_device key;
    memset(place, 0, sizeof *place);
    const clayer_status status = store_probe_writable(key_of(device, &key), &folder);
    if (folder)
        snprintf(place->path, sizeof place->path, "%s", folder);
    free(folder);
    if (status == CLAYER_ERROR_OUT_OF_MEMORY)
        return status;
    place->writable = status == CLAYER_OK;
    if (!place->writable)
        snprintf(place->reason, sizeof place->reason, "%.255s", clayer_last_error());
    return CLAYER_OK;
}
