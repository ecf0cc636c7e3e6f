/* Reading and writing single records and devices as JSON objects, and what a text as a whole contains. The reading of a
 * whole text is store/format_read.c. */
#include "store/format_line.h"
#include "base/error.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, FLAG, NANOSECONDS, COUNT };

struct field {
    const char *name;
    enum kind kind;
    size_t offset, size;
    bool required;
};

#define FIELD(name, kind, member, required)                                                                            \
    {                                                                                                                  \
        name, kind, offsetof(struct record, member), sizeof((struct record *)0)->member, required                      \
    }

/* In the order of the line. "layer" and "plan" come before, "check" after them. */
static const struct field fields[] = {
    FIELD("types", TEXT, layer.types, true),
    FIELD("bias", FLAG, layer.bias, true),
    FIELD("costly", FLAG, layer.costly, true),
    FIELD("aligned", FLAG, layer.aligned, true),
    FIELD("ns", NANOSECONDS, seconds, true),
    FIELD("spread_ns", NANOSECONDS, spread, false),
    FIELD("default_ns", NANOSECONDS, default_seconds, false),
    FIELD("clblast_ns", NANOSECONDS, clblast_seconds, false),
    FIELD("candidates", COUNT, candidates, false),
    FIELD("effort", TEXT, effort, false),
    FIELD("when", TEXT, when, false),
    FIELD("driver", TEXT, driver_version, false),
    FIELD("library", TEXT, library_version, false),
    FIELD("kernel", TEXT, kernel_hash, false),
};

/* A text without control characters that fits. */
static bool get_text(const json_t *value, char *text, size_t size)
{
    if (!json_is_string(value) || json_string_length(value) >= size)
        return false;
    memcpy(text, json_string_value(value), json_string_length(value) + 1);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return false;
    return true;
}

static bool get_field(const struct field *f, const json_t *value, struct record *record)
{
    void *target = (char *)record + f->offset;
    switch (f->kind) {
    case TEXT:
        return get_text(value, target, f->size);
    case FLAG:
        *(bool *)target = json_is_true(value);
        return json_is_boolean(value);
    case NANOSECONDS:
        *(double *)target = (double)json_integer_value(value) * 1e-9;
        return json_is_integer(value);
    case COUNT:
        *(unsigned *)target = (unsigned)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= UINT32_MAX;
    }
    return false;
}

/* Decimal digits and what follows them. */
static bool get_size(const char **text, char end, size_t *size)
{
    const char *c = *text;
    for (*size = 0; *c >= '0' && *c <= '9' && *size < SIZE_MAX / 16; c++)
        *size = *size * 10 + (size_t)(*c - '0');
    const bool good = c > *text && *c == end && !(**text == '0' && c > *text + 1);
    *text = c + (end != '\0');
    return good;
}

static bool get_layer(const char *text, struct record_layer *layer)
{
    return text && get_size(&text, 'x', &layer->batch) && get_size(&text, 'x', &layer->in_features) &&
           get_size(&text, '\0', &layer->out_features);
}

static bool get_plan(const char *text, struct record *record)
{
    if (!text)
        return false;
    const size_t family = strcspn(text, ":");
    const char *rest = text[family] ? text + family + 1 : "";
    if (family >= sizeof record->family || strlen(rest) >= sizeof record->configuration)
        return false;
    memcpy(record->family, text, family);
    strcpy(record->configuration, rest);
    return true;
}

bool format_get_record(const json_t *object, struct record *record, uint64_t *check, char *wrong, size_t size)
{
    memset(record, 0, sizeof *record);
    *check = 0;
    if (!json_is_object(object)) {
        snprintf(wrong, size, "a record is not an object");
        return false;
    }
    if (!get_layer(json_string_value(json_object_get(object, "layer")), &record->layer))
        record->layer.batch = 0; /* record_wrong has the words */
    get_plan(json_string_value(json_object_get(object, "plan")), record);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const json_t *value = json_object_get(object, fields[i].name);
        if (value ? !get_field(&fields[i], value, record) : fields[i].required) {
            snprintf(wrong, size, "%s is %s", fields[i].name, value ? "not of its kind, or too long" : "missing");
            return false;
        }
    }
    const char *reason = record_wrong(record);
    if (reason) {
        snprintf(wrong, size, "%s", reason);
        return false;
    }
    const json_t *digits = json_object_get(object, "check");
    if (digits) {
        const char *text = json_string_value(digits);
        if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
            snprintf(wrong, size, "check is not 16 hexadecimal digits");
            return false;
        }
        *check = strtoull(text, NULL, 16);
    }
    return true;
}

/* A cursor over a line; at is NULL from the first thing on that is not as expected. */
struct scan {
    const char *at, *end;
};

static void skip(struct scan *s, const char *expected)
{
    const size_t length = strlen(expected);
    s->at = s->at && (size_t)(s->end - s->at) >= length && memcmp(s->at, expected, length) == 0 ? s->at + length : NULL;
}

static uint64_t scan_number(struct scan *s)
{
    uint64_t value = 0;
    const char *c = s->at;
    while (c && c < s->end && *c >= '0' && *c <= '9' && c - s->at < 18)
        value = value * 10 + (uint64_t)(*c++ - '0');
    const bool padded = c && c - s->at > 1 && *s->at == '0';
    s->at = c == s->at || padded || (c < s->end && *c >= '0' && *c <= '9') ? NULL : c;
    return value;
}

/* Printable ASCII without escapes, up to the character `stop` or the quote. */
static void scan_text(struct scan *s, char stop, char *text, size_t size)
{
    size_t used = 0;
    const char *c = s->at;
    while (c && c < s->end && *c >= ' ' && *c <= '~' && *c != '"' && *c != '\\' && *c != stop && used + 1 < size)
        text[used++] = *c++;
    text[used] = '\0';
    s->at = c && c < s->end && (*c == '"' || *c == stop) ? c : NULL;
}

static void scan_field(struct scan *s, const struct field *f, struct record *record)
{
    void *target = (char *)record + f->offset;
    skip(s, ", \"");
    skip(s, f->name);
    skip(s, "\": ");
    switch (f->kind) {
    case TEXT:
        skip(s, "\"");
        scan_text(s, '"', target, f->size);
        skip(s, "\"");
        break;
    case FLAG:
        *(bool *)target = s->at && s->at < s->end && *s->at == 't';
        skip(s, *(bool *)target ? "true" : "false");
        break;
    case NANOSECONDS:
        *(double *)target = (double)scan_number(s) * 1e-9;
        break;
    case COUNT: {
        const uint64_t value = scan_number(s);
        *(unsigned *)target = (unsigned)value;
        if (value > UINT32_MAX)
            s->at = NULL;
        break;
    }
    }
}

bool format_scan_record(const char *line, size_t length, struct record *record, uint64_t *check)
{
    struct scan s = {line, line + length};
    memset(record, 0, sizeof *record);
    skip(&s, "{\"layer\": \"");
    record->layer.batch = scan_number(&s);
    skip(&s, "x");
    record->layer.in_features = scan_number(&s);
    skip(&s, "x");
    record->layer.out_features = scan_number(&s);
    skip(&s, "\", \"plan\": \"");
    scan_text(&s, ':', record->family, sizeof record->family);
    if (s.at && *s.at == ':') {
        s.at++;
        scan_text(&s, '"', record->configuration, sizeof record->configuration);
    }
    skip(&s, "\"");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        scan_field(&s, &fields[i], record);
    char digits[17];
    skip(&s, ", \"check\": \"");
    scan_text(&s, '"', digits, sizeof digits);
    skip(&s, "\"}");
    if (!s.at || s.at != s.end || strspn(digits, "0123456789abcdef") != 16 || record_wrong(record))
        return false;
    *check = strtoull(digits, NULL, 16);
    return true;
}

static bool get_number(const json_t *value, long *number)
{
    *number = value ? (long)json_integer_value(value) : RECORD_ANY;
    return !value || (json_is_integer(value) && *number >= -1 && *number <= INT32_MAX);
}

static bool get_pattern(const json_t *value, char *text, size_t size)
{
    if (value)
        return get_text(value, text, size);
    strcpy(text, "*");
    return true;
}

bool format_get_device(const json_t *object, struct record_device *device)
{
    memset(device, 0, sizeof *device);
    return json_is_object(object) &&
           get_pattern(json_object_get(object, "platform"), device->platform, sizeof device->platform) &&
           get_pattern(json_object_get(object, "vendor"), device->vendor, sizeof device->vendor) &&
           get_pattern(json_object_get(object, "name"), device->name, sizeof device->name) &&
           get_number(json_object_get(object, "compute_units"), &device->compute_units) &&
           get_number(json_object_get(object, "max_work_group_size"), &device->max_work_group_size) &&
           get_number(json_object_get(object, "local_memory_bytes"), &device->local_memory_bytes);
}

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_field(FILE *out, const struct field *f, const struct record *record)
{
    const void *value = (const char *)record + f->offset;
    fprintf(out, ", \"%s\": ", f->name);
    switch (f->kind) {
    case TEXT:
        put_text(out, value);
        break;
    case FLAG:
        fputs(*(const bool *)value ? "true" : "false", out);
        break;
    case NANOSECONDS:
        fprintf(out, "%" PRIu64, (uint64_t)(*(const double *)value * 1e9 + 0.5));
        break;
    case COUNT:
        fprintf(out, "%u", *(const unsigned *)value);
        break;
    }
}

static void put_record(FILE *out, const struct record_device *device, const struct record *record)
{
    fprintf(out, "{\"layer\": \"%zux%zux%zu\", \"plan\": \"%s%s%s\"", record->layer.batch, record->layer.in_features,
            record->layer.out_features, record->family, *record->configuration ? ":" : "", record->configuration);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_field(out, &fields[i], record);
    fprintf(out, ", \"check\": \"%016" PRIx64 "\"}", record_check(device, record));
}

static void put_pattern(FILE *out, const char *name, const char *text, const char **comma)
{
    if (strcmp(text, "*") == 0)
        return;
    fprintf(out, "%s\"%s\": ", *comma, name);
    put_text(out, text);
    *comma = ", ";
}

static void put_number(FILE *out, const char *name, long value, const char **comma)
{
    if (value == RECORD_ANY)
        return;
    fprintf(out, "%s\"%s\": %ld", *comma, name, value);
    *comma = ", ";
}

static void put_section(FILE *out, const struct format_section *section)
{
    const struct record_device *d = &section->device;
    const char *comma = "";
    fputs("{\"device\": {", out);
    put_pattern(out, "platform", d->platform, &comma);
    put_pattern(out, "vendor", d->vendor, &comma);
    put_pattern(out, "name", d->name, &comma);
    put_number(out, "compute_units", d->compute_units, &comma);
    put_number(out, "max_work_group_size", d->max_work_group_size, &comma);
    put_number(out, "local_memory_bytes", d->local_memory_bytes, &comma);
    fputs("}, \"records\": [\n", out);
    for (size_t i = 0; i < section->count; i++) {
        put_record(out, d, &section->records[i]);
        fputs(i + 1 < section->count ? ",\n" : "\n", out);
    }
    fputs("]}", out);
}

clayer_status format_write(const struct format_content *content, char **text, size_t *length)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for tuning records as text");
    fputs("{\"schema\": \"" FORMAT_SCHEMA "\", \"devices\": [\n", out);
    for (size_t i = 0; i < content->count; i++) {
        put_section(out, &content->sections[i]);
        fputs(i + 1 < content->count ? ",\n" : "\n", out);
    }
    fputs("]}\n", out);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(bytes);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for tuning records as text");
    }
    *text = bytes;
    *length = size;
    return CLAYER_OK;
}

void format_free(struct format_content *content)
{
    for (size_t i = 0; i < content->count; i++)
        free(content->sections[i].records);
    free(content->sections);
    *content = (struct format_content){.state = FORMAT_SOUND};
}

clayer_status format_section(struct format_content *content, const struct record_device *device,
                             struct format_section **section)
{
    for (size_t i = 0; i < content->count; i++) {
        *section = &content->sections[i];
        if (record_device_equal(&content->sections[i].device, device))
            return CLAYER_OK;
    }
    struct format_section *grown = realloc(content->sections, (content->count + 1) * sizeof *grown);
    if (!grown)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the tuning records of %zu devices", content->count + 1);
    content->sections = grown;
    *section = &grown[content->count++];
    **section = (struct format_section){.device = *device};
    return CLAYER_OK;
}

clayer_status format_append(struct format_section *section, const struct record *record)
{
    if (section->count == section->room) {
        const size_t room = section->room ? section->room * 2 : 16;
        struct record *grown = realloc(section->records, room * sizeof *grown);
        if (!grown)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu tuning records", room);
        section->records = grown;
        section->room = room;
    }
    section->records[section->count++] = *record;
    return CLAYER_OK;
}

static int compare_records(const void *a, const void *b)
{
    return record_layer_compare(&((const struct record *)a)->layer, &((const struct record *)b)->layer);
}

void format_sort(struct format_section *section)
{
    struct record *r = section->records;
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < section->count && sorted; i++)
        sorted = compare_records(&r[i - 1], &r[i]) < 0;
    if (sorted)
        return;
    qsort(r, section->count, sizeof *r, compare_records);
    for (size_t i = 0; i < section->count; i++) {
        if (kept == 0 || compare_records(&r[kept - 1], &r[i]) != 0)
            r[kept++] = r[i];
        else if (record_replaces(&r[i], &r[kept - 1]))
            r[kept - 1] = r[i];
    }
    section->count = kept;
}
