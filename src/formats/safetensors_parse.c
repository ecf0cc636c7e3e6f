#include "formats/safetensors.h"

#include "base/checked.h"
#include "base/error.h"
#include "formats/dtype.h"
#include "formats/sniff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 100 * 1000 * 1000 }; /* what the format's reference implementation accepts */

/* ---- the header's bytes ---- */

static clayer_status find_header(const struct clayer_safetensors *file, const char **header, size_t *length)
{
    const unsigned char *bytes = file->bytes.data;
    size_t size = file->bytes.size;
    const char *foreign = sniff_foreign(bytes, size);
    if (foreign)
        return FAIL(CLAYER_ERROR_FORMAT, "%s is %s", file->path, foreign);
    if (size < 8)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: is %zu bytes long; a safetensors file has at least 8", file->path, size);

    uint64_t claimed = 0;
    for (int i = 7; i >= 0; i--)
        claimed = claimed << 8 | bytes[i];
    if (claimed > HEADER_LIMIT)
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: is no safetensors file: header length %" PRIu64 "; at most %d bytes are accepted", file->path,
                    claimed, HEADER_LIMIT);
    if (claimed > size - 8)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: header length %" PRIu64 " passes the end of the file, %zu bytes after it",
                    file->path, claimed, size - 8);
    if (claimed == 0 || bytes[8] != '{')
        return FAIL(CLAYER_ERROR_FORMAT, "%s: is no safetensors file: its header does not begin with '{'", file->path);
    *header = (const char *)bytes + 8;
    *length = (size_t)claimed;
    return CLAYER_OK;
}

/* What a walk over the header's text has seen. It follows strings and brackets only, so it also works on text that does
 * not parse. */
struct walk {
    char key[201];     /* the last text in the outermost object: the tensor that the place belongs to, maybe cut */
    const char *fault; /* what stopped the walk; NULL when it reached the end */
    size_t place;      /* where it stopped */
    int length;        /* of the faulty number */
};

static bool is_number_byte(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Walks over the first `end` bytes and stops at what no header has: lists in lists, and numbers that are no integers.
 * The JSON parser would accept both, the latter rounded and by the process's locale. */
static void walk_header(const char *header, size_t end, struct walk *walk)
{
    size_t depth = 0;
    *walk = (struct walk){.fault = NULL};
    for (size_t i = 0; i < end; i++) {
        char c = header[i];
        if (c == '{' || c == '[') {
            if (++depth > 3) { /* the header, a tensor, its shape */
                walk->fault = "nested too deep: a header holds tensors, a tensor holds lists of integers";
                walk->place = i;
                return;
            }
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == '"') {
            size_t start = ++i;
            while (i < end && header[i] != '"')
                i += header[i] == '\\' ? 2 : 1;
            size_t length = (i < end ? i : end) - start;
            if (depth == 1) {
                length = length < sizeof walk->key ? length : sizeof walk->key - 1;
                memcpy(walk->key, header + start, length);
                walk->key[length] = '\0';
            }
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            size_t start = i;
            bool integer = true;
            for (; i < end && is_number_byte(header[i]); i++)
                integer = integer && (header[i] == '-' || (header[i] >= '0' && header[i] <= '9'));
            if (!integer) {
                walk->fault = "no integer; sizes and offsets are integers of 0 or more";
                walk->place = start;
                walk->length = i - start < 40 ? (int)(i - start) : 40;
                return;
            }
            i--;
        }
    }
}

static clayer_status parse_header(struct clayer_safetensors *file, const char *header, size_t length)
{
    struct walk walk;
    walk_header(header, length, &walk);
    if (walk.fault)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": header byte %zu: %.*s%s%s", file->path, walk.key,
                    walk.place, walk.length, header + walk.place, walk.length ? " is " : "", walk.fault);

    json_error_t error;
    file->header = json_loadb(header, length, JSON_REJECT_DUPLICATES, &error);
    if (file->header)
        return CLAYER_OK;
    size_t place = error.position > 0 && (size_t)error.position < length ? (size_t)error.position : length;
    walk_header(header, place, &walk);
    return FAIL(CLAYER_ERROR_FORMAT, "%s: %s%s%sheader byte %zu: %s; it must be JSON without duplicates", file->path,
                walk.key[0] ? "tensor '" : "", walk.key, walk.key[0] ? "': " : "", place, error.text);
}

/* ---- one tensor ---- */

/* What a JSON value is, for error texts. */
static const char *kind_of(const json_t *value)
{
    static const char *const kinds[] = {
        "an object", "a list", "text", "an integer", "a number with a fraction or exponent", "true", "false", "null"};
    return value ? kinds[json_typeof(value)] : "missing";
}

/* A size or offset. what: "shape[1]" and the like. */
static clayer_status read_size(const struct clayer_safetensors *file, const char *name, const char *what, size_t item,
                               const json_t *value, size_t *size)
{
    if (!json_is_integer(value))
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": %s[%zu] is %s; it must be an integer of 0 or more",
                    file->path, name, what, item, kind_of(value));
    json_int_t integer = json_integer_value(value);
    if (integer < 0)
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: tensor " NAME ": %s[%zu] is %" JSON_INTEGER_FORMAT "; it must be an integer of 0 or more",
                    file->path, name, what, item, integer);
    if ((uintmax_t)integer > SIZE_MAX)
        return FAIL(CLAYER_ERROR_TOO_LARGE,
                    "%s: tensor " NAME ": %s[%zu] = %" JSON_INTEGER_FORMAT " does not fit into this system's memory",
                    file->path, name, what, item, integer);
    *size = (size_t)integer;
    return CLAYER_OK;
}

static clayer_status read_dtype(const struct clayer_safetensors *file, const char *name, const json_t *value,
                                clayer_dtype *dtype)
{
    if (!json_is_string(value))
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": dtype is %s; it must be text such as \"F32\"",
                    file->path, name, kind_of(value));
    if (!dtype_find(json_string_value(value), dtype))
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: tensor " NAME ": dtype '%.40s' is unknown; F32, F16, BF16 and F64 are "
                    "read as weights",
                    file->path, name, json_string_value(value));
    return CLAYER_OK;
}

/* The whole product is formed even when a factor is 0, as the format's reference implementation does: a shape whose
 * other sizes overflow is damaged. */
static clayer_status shape_bytes(const struct clayer_safetensors *file, const clayer_safetensors_tensor *tensor,
                                 size_t *bytes)
{
    *bytes = clayer_dtype_size(tensor->dtype);
    bool empty = false;
    for (size_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] == 0)
            empty = true;
        else if (!size_mul(*bytes, tensor->shape[i], bytes))
            return FAIL(CLAYER_ERROR_FORMAT,
                        "%s: tensor " NAME ": the product of its shape overflows at shape[%zu] = "
                        "%zu; the file holds %zu bytes",
                        file->path, tensor->name, i, tensor->shape[i], file->bytes.size);
    }
    if (empty)
        *bytes = 0;
    return CLAYER_OK;
}

/* "[2, 3]"; a list that is too long for the text ends in "...". */
static void shape_text(const clayer_safetensors_tensor *tensor, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "[");
    for (size_t i = 0; i < tensor->ndim && used + 30 < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%zu", i > 0 ? ", " : "", tensor->shape[i]);
    snprintf(text + used, capacity - used, used + 30 < capacity ? "]" : ", ...]");
}

static clayer_status read_tensor(const struct clayer_safetensors *file, const char *name, const json_t *entry,
                                 const unsigned char *data, size_t data_size, size_t *shape,
                                 clayer_safetensors_tensor *tensor)
{
    if (!json_is_object(entry))
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: tensor " NAME ": is %s; it must be an object with dtype, shape and "
                    "data_offsets",
                    file->path, name, kind_of(entry));
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)entry, key, value)
    {
        if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 && strcmp(key, "data_offsets") != 0)
            return FAIL(CLAYER_ERROR_FORMAT,
                        "%s: tensor " NAME ": has an unknown field '%.40s'; dtype, shape and "
                        "data_offsets are accepted",
                        file->path, name, key);
    }

    *tensor = (clayer_safetensors_tensor){.name = name, .shape = shape};
    TRY(read_dtype(file, name, json_object_get(entry, "dtype"), &tensor->dtype));

    const json_t *sizes = json_object_get(entry, "shape");
    if (!json_is_array(sizes))
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": shape is %s; it must be a list of integers", file->path,
                    name, kind_of(sizes));
    tensor->ndim = json_array_size(sizes);
    for (size_t i = 0; i < tensor->ndim; i++)
        TRY(read_size(file, name, "shape", i, json_array_get(sizes, i), &shape[i]));

    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_array(offsets) || json_array_size(offsets) != 2)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": data_offsets is %s%s; it must be a list of two integers",
                    file->path, name, kind_of(offsets), json_is_array(offsets) ? " of another length" : "");
    size_t begin = 0, end = 0, needed = 0;
    TRY(read_size(file, name, "data_offsets", 0, json_array_get(offsets, 0), &begin));
    TRY(read_size(file, name, "data_offsets", 1, json_array_get(offsets, 1), &end));
    if (begin > end)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: tensor " NAME ": data_offsets [%zu, %zu] end before they begin",
                    file->path, name, begin, end);
    if (end > data_size)
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: tensor " NAME ": data_offsets [%zu, %zu] pass the end of the data, which "
                    "is %zu bytes long",
                    file->path, name, begin, end, data_size);
    TRY(shape_bytes(file, tensor, &needed));
    if (needed != end - begin) {
        char text[128];
        shape_text(tensor, text, sizeof text);
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: tensor " NAME ": its shape %s of %s needs %zu bytes, data_offsets [%zu, %zu] hold %zu",
                    file->path, name, text, clayer_dtype_name(tensor->dtype), needed, begin, end, end - begin);
    }
    tensor->data = data + begin;
    tensor->size = needed;
    return CLAYER_OK;
}

/* ---- all tensors ---- */

static int by_place(const void *left, const void *right)
{
    const clayer_safetensors_tensor *a = *(const clayer_safetensors_tensor *const *)left;
    const clayer_safetensors_tensor *b = *(const clayer_safetensors_tensor *const *)right;
    if (a->data != b->data)
        return (const unsigned char *)a->data < (const unsigned char *)b->data ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

/* The tensors must tile the data: a hole could hide anything, an overlap is never what a writer meant. */
static clayer_status check_tiling(const struct clayer_safetensors *file, const unsigned char *data, size_t data_size)
{
    const clayer_safetensors_tensor **sorted = malloc((file->count + 1) * sizeof *sorted);
    if (!sorted)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu tensors", file->path, file->count);
    for (size_t i = 0; i < file->count; i++)
        sorted[i] = &file->tensors[i];
    qsort(sorted, file->count, sizeof *sorted, by_place);

    clayer_status status = CLAYER_OK;
    size_t expected = 0;
    for (size_t i = 0; i < file->count; i++) {
        size_t begin = (size_t)((const unsigned char *)sorted[i]->data - data);
        if (begin < expected)
            FAIL_GOTO(CLAYER_ERROR_FORMAT,
                      "%s: tensor " NAME ": begins at byte %zu, inside tensor " NAME
                      ", which ends at %zu; tensors may not overlap",
                      file->path, sorted[i]->name, begin, sorted[i - 1]->name, expected);
        if (begin > expected)
            FAIL_GOTO(CLAYER_ERROR_FORMAT,
                      "%s: tensor " NAME ": begins at byte %zu, and bytes %zu to %zu before it "
                      "belong to no tensor; holes are not accepted",
                      file->path, sorted[i]->name, begin, expected, begin);
        expected = begin + sorted[i]->size;
    }
    if (expected != data_size)
        FAIL_GOTO(CLAYER_ERROR_FORMAT,
                  "%s: the tensors end at byte %zu of the data, which is %zu bytes long; nothing "
                  "may follow them%s%.200s%s",
                  file->path, expected, data_size, file->count ? " (last tensor '" : "",
                  file->count ? sorted[file->count - 1]->name : "", file->count ? "')" : "");
fail:
    free(sorted);
    return status;
}

static clayer_status read_metadata(struct clayer_safetensors *file)
{
    file->metadata = json_object_get(file->header, "__metadata__");
    if (!file->metadata)
        return CLAYER_OK;
    if (!json_is_object(file->metadata))
        return FAIL(CLAYER_ERROR_FORMAT, "%s: __metadata__ is %s; it must be an object of texts", file->path,
                    kind_of(file->metadata));
    const char *key;
    json_t *value;
    json_object_foreach(file->metadata, key, value)
    {
        if (!json_is_string(value))
            return FAIL(CLAYER_ERROR_FORMAT, "%s: __metadata__ " NAME " is %s; it must be text", file->path, key,
                        kind_of(value));
    }
    return CLAYER_OK;
}

static clayer_status read_tensors(struct clayer_safetensors *file, const unsigned char *data, size_t data_size)
{
    size_t entries = json_object_size(file->header), sizes = 0;
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry) sizes +=
        json_array_size(json_object_get(entry, "shape")); /* 0 for anything but a list */
    file->tensors = calloc(entries + 1, sizeof *file->tensors);
    file->shapes = calloc(sizes + 1, sizeof *file->shapes);
    file->index = json_object();
    if (!file->tensors || !file->shapes || !file->index)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu tensors", file->path, entries);

    size_t *shape = file->shapes;
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        TRY(read_tensor(file, name, entry, data, data_size, shape, &file->tensors[file->count]));
        shape += file->tensors[file->count].ndim;
        if (json_object_set_new(file->index, name, json_integer((json_int_t)file->count)) != 0)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu tensors", file->path, entries);
        file->count++;
    }
    return check_tiling(file, data, data_size);
}

clayer_status safetensors_parse(struct clayer_safetensors *file)
{
    const char *header = NULL;
    size_t length = 0;
    TRY(find_header(file, &header, &length));
    TRY(parse_header(file, header, length));
    TRY(read_metadata(file));
    return read_tensors(file, (const unsigned char *)header + length, file->bytes.size - 8 - length);
}
