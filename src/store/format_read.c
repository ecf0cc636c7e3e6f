/* Reading a text of tuning records line by line: a damaged line costs its own record only, and each line is parsed by
 * itself, which is also faster than one tree of everything. A text whose lines are not ours, say after another program
 * has laid it out anew, is read as one JSON value. */
#include "store/format_line.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longer than any line of ours; what is longer can only be read as a whole. */
#define LINE_MAX_BYTES 4096
/* In one text; sections are searched one by one. */
#define DEVICES_MAX 1000

struct reader {
    struct format_content *content;
    const struct record_device *expected;
    struct record_device device; /* whose records come now */
    bool has_device, sure;       /* named by a good line below a good first line */
    bool irregular;              /* not laid out in our lines */
    bool has_schema;
    int depth;
    size_t line;                 /* from 1; 0 while the text is read as a whole: then the places, from 1 or 0 */
    size_t device_at, record_at;
};

CLAYER_PRINTF(2, 3) static void complain(struct reader *r, const char *format, ...)
{
    r->content->state = FORMAT_DAMAGED;
    if (*r->content->problem)
        return;
    char place[64] = "";
    if (r->line)
        snprintf(place, sizeof place, "line %zu: ", r->line);
    else if (r->record_at)
        snprintf(place, sizeof place, "device %zu, record %zu: ", r->device_at, r->record_at);
    else if (r->device_at)
        snprintf(place, sizeof place, "device %zu: ", r->device_at);
    const int used = snprintf(r->content->problem, sizeof r->content->problem, "%s", place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->content->problem + used, sizeof r->content->problem - (size_t)used, format, arguments);
    va_end(arguments);
}

static void drop(struct reader *r, const char *why)
{
    complain(r, "%s", why);
    r->content->dropped++;
}

/* Files a record under the device that its check proves, or that the text names. */
static clayer_status file_record(struct reader *r, const struct record *record, uint64_t check)
{
    const struct record_device *device = NULL;
    if (r->has_device && (check ? check == record_check(&r->device, record) : r->sure)) {
        device = &r->device;
    } else if (check && r->expected && check == record_check(r->expected, record)) {
        device = r->expected; /* the line with the device is damaged, this one is not */
        complain(r, "the record is of another device than the one named above it");
    }
    if (!device) {
        drop(r, check ? "a record's content does not fit its check" : "a record of an unknown device");
        return CLAYER_OK;
    }
    struct format_section *section;
    TRY(format_section(r->content, device, &section));
    return format_append(section, record);
}

static clayer_status take_record(struct reader *r, const json_t *object)
{
    struct record record;
    uint64_t check;
    char wrong[120];
    if (format_get_record(object, &record, &check, wrong, sizeof wrong))
        return file_record(r, &record, check);
    drop(r, wrong);
    return CLAYER_OK;
}

static clayer_status take_device(struct reader *r, const json_t *object)
{
    struct format_section *section;
    r->has_device = format_get_device(json_object_get(object, "device"), &r->device);
    r->has_device = r->has_device && r->content->count < DEVICES_MAX;
    r->sure = r->has_device && r->has_schema;
    if (!r->has_device) {
        complain(r, r->content->count < DEVICES_MAX ? "a device is not described as it should be" : "too many devices");
        return CLAYER_OK;
    }
    return r->sure ? format_section(r->content, &r->device, &section) : CLAYER_OK;
}

static void take_schema(struct reader *r, const json_t *object)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (r->has_schema) /* another text behind the first one; its records are read */
        complain(r, "a second schema");
    const size_t name = strlen(FORMAT_NAME);
    r->has_schema = schema && strcmp(schema, FORMAT_SCHEMA) == 0;
    if (schema && strncmp(schema, FORMAT_NAME, name) == 0 && schema[name] >= '1' && schema[name] <= '9' &&
        strspn(schema + name, "0123456789") == strlen(schema + name) && !r->has_schema) {
        r->content->state = FORMAT_LATER;
        snprintf(r->content->problem, sizeof r->content->problem, "its schema is %.40s; this version reads %s", schema,
                 FORMAT_SCHEMA);
    } else if (!r->has_schema) {
        complain(r, "the schema is not %s", FORMAT_SCHEMA);
    }
}

/* A line as a JSON value: as it is, or with what later lines would close. */
static json_t *parse_line(const char *line, size_t length, const char *closing)
{
    char copy[LINE_MAX_BYTES + 8];
    memcpy(copy, line, length);
    memcpy(copy + length, closing, strlen(closing));
    return json_loadb(copy, length + strlen(closing), JSON_REJECT_DUPLICATES, NULL);
}

static bool begins(const char *line, size_t length, const char *part)
{
    return length >= strlen(part) && memcmp(line, part, strlen(part)) == 0;
}

static clayer_status take_line(struct reader *r, const char *line, size_t length);

/* A line break was lost: two lines in one, of which each may be good. */
static clayer_status take_joined(struct reader *r, const char *line, const char *second, const char *end)
{
    const char *stop = second;
    complain(r, "a line break is missing");
    while (stop > line && stop[-1] != '}' && stop[-1] != '[')
        stop--;
    TRY(take_line(r, line, (size_t)(stop - line)));
    return take_line(r, second, (size_t)(end - second));
}

static clayer_status take_line(struct reader *r, const char *line, size_t length)
{
    const bool comma = length > 0 && line[length - 1] == ',';
    if (comma)
        length--;
    if (length == 0)
        return CLAYER_OK;
    if (length == 2 && begins(line, length, "]}")) {
        r->depth--;
        return CLAYER_OK;
    }
    const bool record = begins(line, length, "{\"layer\""), device = begins(line, length, "{\"device\""),
               schema = begins(line, length, "{\"schema\"");
    if (length > LINE_MAX_BYTES || !(record || device || schema)) {
        complain(r, "this is no line of a tuning file");
        r->irregular = true;
        return CLAYER_OK;
    }
    struct record scanned;
    uint64_t check;
    if (record && r->depth == 2 && format_scan_record(line, length, &scanned, &check))
        return file_record(r, &scanned, check);
    json_t *value = parse_line(line, length, record ? "" : "]}");
    const char *second = value ? NULL : memmem(line + 1, length - 1, "{\"layer\"", 8);
    if (second)
        return take_joined(r, line, second, line + length);
    clayer_status status = CLAYER_OK;
    if (record && value) {
        r->irregular = r->irregular || r->depth != 2;
        status = take_record(r, value);
    } else if (record) {
        drop(r, "a record is not JSON");
    } else if (device) {
        r->depth++;
        r->has_device = r->sure = false;
        if (value)
            status = take_device(r, value);
        else
            complain(r, "the line of a device is not JSON");
    } else {
        r->depth++;
        if (value)
            take_schema(r, value);
        else
            complain(r, "the line of the schema is not JSON");
    }
    r->irregular = r->irregular || (!record && !value);
    json_decref(value);
    return status;
}

static clayer_status read_lines(struct reader *r, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && r->content->state != FORMAT_LATER) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline ? newline + 1 : end, *stop = newline ? newline : end;
        while (text < stop && (*text == ' ' || *text == '\t'))
            text++;
        while (stop > text && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        r->line++;
        TRY(take_line(r, text, (size_t)(stop - text)));
        text = next;
    }
    if (r->content->state == FORMAT_LATER)
        return CLAYER_OK;
    if (r->depth != 0 || !r->has_schema) {
        r->irregular = true;
        complain(r, "it ends too early");
    }
    return CLAYER_OK;
}

static clayer_status read_tree(struct reader *r, const json_t *tree)
{
    size_t i, j;
    const json_t *entry, *record;
    take_schema(r, tree);
    if (r->content->state == FORMAT_LATER)
        return CLAYER_OK;
    if (!json_is_array(json_object_get(tree, "devices")))
        complain(r, "there is no list of devices");
    json_array_foreach(json_object_get(tree, "devices"), i, entry)
    {
        r->device_at = i + 1;
        r->record_at = 0;
        TRY(take_device(r, entry));
        json_array_foreach(json_object_get(entry, "records"), j, record)
        {
            r->record_at = j + 1;
            TRY(take_record(r, record));
        }
    }
    return CLAYER_OK;
}

clayer_status format_read(const char *text, size_t length, const struct record_device *expected,
                          struct format_content *content)
{
    *content = (struct format_content){.state = FORMAT_SOUND};
    if (begins(text, length, "\xef\xbb\xbf")) { /* a byte order mark, as some editors write it */
        text += 3;
        length -= 3;
    }
    struct reader reader = {.content = content, .expected = expected};
    clayer_status status;
    TRY_GOTO(read_lines(&reader, text, length));
    if (reader.irregular && content->state != FORMAT_LATER) {
        json_t *tree = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
        if (json_is_object(tree)) {
            format_free(content);
            reader = (struct reader){.content = content, .expected = expected};
            status = read_tree(&reader, tree);
        }
        json_decref(tree);
        TRY_GOTO(status);
    }
    if (content->state == FORMAT_LATER) {
        char problem[sizeof content->problem];
        memcpy(problem, content->problem, sizeof problem);
        format_free(content);
        content->state = FORMAT_LATER;
        memcpy(content->problem, problem, sizeof problem);
    }
    for (size_t i = 0; i < content->count; i++)
        format_sort(&content->sections[i]);
    return CLAYER_OK;
fail:
    format_free(content);
    return status;
}
