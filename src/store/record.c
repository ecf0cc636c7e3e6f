#include "store/record.h"
#include "base/error.h"
#include "base/text.h"
#include "opencl/source.h"

#include <clayer/version.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

/* Above any layer and any patience: larger numbers come from damage. */
#define FEATURES_MAX ((size_t)1 << 40)
#define SECONDS_MAX 1e6
#define CANDIDATES_MAX 1000000000u

/* Marks that vendors put into names on one driver and leave out on another. */
static const char *const marks[] = {"(R)", "(TM)", "(C)", "\xc2\xae", "\xe2\x84\xa2"};

/* Whether an item of a list in parentheses tells about the driver: "LLVM 15.0.6", "DRM 3.49", "6.1.0-13-amd64". */
static bool is_driver_noise(const char *item, size_t length)
{
    while (length > 0 && *item == ' ')
        item++, length--;
    return text_begins(item, "LLVM ", NULL) || text_begins(item, "DRM ", NULL) ||
           (length > 0 && *item >= '0' && *item <= '9' && memchr(item, '.', length));
}

/* Copies "(a, b)" without its noise; nothing when nothing else is in it. Returns how much of `from` that was. */
static size_t copy_parentheses(const char *from, char *to, size_t *used)
{
    const char *close = strchr(from, ')'), *item = from + 1;
    if (!close) {
        to[(*used)++] = *from;
        return 1;
    }
    bool any = false;
    while (item < close) {
        size_t length = strcspn(item, ",)");
        if (!is_driver_noise(item, length)) {
            to[(*used)++] = any ? ',' : '(';
            memcpy(to + *used, item, length);
            *used += length;
            any = true;
        }
        item += length + 1;
    }
    if (any)
        to[(*used)++] = ')';
    return (size_t)(close - from) + 1;
}

static size_t mark_at(const char *text)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (text_begins(text, marks[i], NULL))
            return strlen(marks[i]);
    return 0;
}

static void key_text(const char *text, char *key, size_t size)
{
    char kept[256];
    size_t used = 0, length = 0;
    for (const char *c = text; *c && used + strlen(c) + 2 < sizeof kept;) {
        if (mark_at(c)) {
            c += mark_at(c);
        } else if (*c == '(') {
            c += copy_parentheses(c, kept, &used);
        } else if (*c == ':' && text_begins(text, "gfx", NULL)) {
            break; /* "gfx90a:sramecc+:xnack-" */
        } else {
            kept[used++] = *c == '*' ? '-' : *c;
            c++;
        }
    }
    for (size_t i = 0; i < used && length + 1 < size; i++)
        if (kept[i] != ' ' || (length > 0 && key[length - 1] != ' '))
            key[length++] = kept[i];
    while (length > 0 && key[length - 1] == ' ')
        length--;
    key[length] = '\0';
    text_clean(key); /* the cut may have split a character */
}

static long key_number(int64_t value)
{
    return value < 0 || value > INT32_MAX ? -1 : (long)value;
}

void record_device_of(const clayer_device_info *info, struct record_device *device)
{
    memset(device, 0, sizeof *device);
    key_text(info->platform, device->platform, sizeof device->platform);
    key_text(info->vendor, device->vendor, sizeof device->vendor);
    key_text(info->name, device->name, sizeof device->name);
    device->compute_units = key_number(info->compute_units);
    device->max_work_group_size = key_number(info->max_work_group_size);
    device->local_memory_bytes = key_number(info->local_memory_bytes);
}

bool record_device_equal(const struct record_device *a, const struct record_device *b)
{
    return strcmp(a->platform, b->platform) == 0 && strcmp(a->vendor, b->vendor) == 0 &&
           strcmp(a->name, b->name) == 0 && a->compute_units == b->compute_units &&
           a->max_work_group_size == b->max_work_group_size && a->local_memory_bytes == b->local_memory_bytes;
}

static bool text_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text) {
            pattern++, text++;
        } else if (star) { /* the last star takes one character more */
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool number_matches(long pattern, long value)
{
    return pattern == RECORD_ANY || pattern == value;
}

bool record_device_is_family(const struct record_device *device)
{
    return strchr(device->platform, '*') || strchr(device->vendor, '*') || strchr(device->name, '*') ||
           device->compute_units == RECORD_ANY || device->max_work_group_size == RECORD_ANY ||
           device->local_memory_bytes == RECORD_ANY;
}

bool record_device_matches(const struct record_device *pattern, const struct record_device *device)
{
    return text_matches(pattern->platform, device->platform) && text_matches(pattern->vendor, device->vendor) &&
           text_matches(pattern->name, device->name) && number_matches(pattern->compute_units, device->compute_units) &&
           number_matches(pattern->max_work_group_size, device->max_work_group_size) &&
           number_matches(pattern->local_memory_bytes, device->local_memory_bytes);
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

int record_layer_compare(const struct record_layer *a, const struct record_layer *b)
{
    int order = strcmp(a->types, b->types);
    if (!order)
        order = a->bias - b->bias;
    if (!order)
        order = a->costly - b->costly;
    if (!order)
        order = a->aligned - b->aligned;
    if (!order)
        order = compare_sizes(a->in_features, b->in_features);
    if (!order)
        order = compare_sizes(a->out_features, b->out_features);
    return order ? order : compare_sizes(a->batch, b->batch);
}

static const char *source_text(const char *name)
{
    for (size_t i = 0; i < embedded_source_count; i++)
        if (strcmp(embedded_sources[i].name, name) == 0)
            return embedded_sources[i].text;
    return "";
}

void record_kernel_hash(const char *family, char hash[40])
{
    /* A family's own file, and what several share. */
    static const struct {
        const char *family, *shared;
    } sharing[] = {{"clblast", "epilogue"}, {"tiled", "reduce"}, {"skinny", "reduce"}};
    const char *own = source_text(family);
    uint64_t value = XXH3_64bits(own, strlen(own));
    for (size_t i = 0; i < sizeof sharing / sizeof *sharing; i++) {
        const char *shared = strcmp(family, sharing[i].family) == 0 ? source_text(sharing[i].shared) : "";
        value = XXH3_64bits_withSeed(shared, strlen(shared), value);
    }
    snprintf(hash, 40, "%016llx", (unsigned long long)value);
}

void record_stamp(const clayer_device_info *info, struct record *record)
{
    struct tm utc;
    const time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(record->when, sizeof record->when, "%Y-%m-%dT%H:%M:%SZ", &utc); /* digits only: the same in any locale */
    snprintf(record->driver_version, sizeof record->driver_version, "%.63s", info->driver_version);
    text_clean(record->driver_version);
    snprintf(record->library_version, sizeof record->library_version, "%s", CLAYER_VERSION_STRING);
    record_kernel_hash(record->family, record->kernel_hash);
}

static bool made_of(const char *text, const char *accepted)
{
    return text[strspn(text, accepted)] == '\0';
}

static int two_digits(const char *text)
{
    return 10 * (text[0] - '0') + text[1] - '0';
}

static bool is_time(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    const int month = two_digits(text + 5), day = two_digits(text + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && two_digits(text + 11) <= 23 &&
           two_digits(text + 14) <= 59 && two_digits(text + 17) <= 60;
}

/* Four types of storage, known to this version or to a later one. */
static bool is_types(const char *text)
{
    static const char *const known[] = {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "f8e4m3", "f8e5m2"};
    for (int place = 0; place < 4; place++) {
        const size_t length = strcspn(text, ",");
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || (strlen(known[i]) == length && strncmp(known[i], text, length) == 0);
        if (!found || (text[length] == ',') != (place < 3))
            return false;
        text += length + 1;
    }
    return true;
}

static int effort_rank(const char *effort)
{
    static const char *const efforts[] = {"quick", "normal", "exhaustive"};
    for (int i = 0; i < 3; i++)
        if (strcmp(effort, efforts[i]) == 0)
            return i + 1;
    return 0;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

const char *record_wrong(const struct record *record)
{
    const struct record_layer *layer = &record->layer;
    if (layer->batch < 1 || layer->batch > FEATURES_MAX || layer->in_features < 1 ||
        layer->in_features > FEATURES_MAX || layer->out_features < 1 || layer->out_features > FEATURES_MAX)
        return "layer is not BATCHxINxOUT with each from 1 to 2^40";
    if (!is_types(layer->types))
        return "types is not a list of four such as f32,f32,f32,f32";
    if (!*record->family || !made_of(record->family, LETTERS) || !made_of(record->configuration, LETTERS "=,"))
        return "plan is not FAMILY or FAMILY:NAME=VALUE,...";
    if (!(record->seconds * 1e9 >= 0.5 && record->seconds <= SECONDS_MAX))
        return "ns is not from 1 to 10^15";
    if (!(record->spread >= 0 && record->spread <= SECONDS_MAX) ||
        !(record->default_seconds >= 0 && record->default_seconds <= SECONDS_MAX) ||
        !(record->clblast_seconds >= 0 && record->clblast_seconds <= SECONDS_MAX))
        return "a time is not from 0 to 10^15 ns";
    if (record->candidates > CANDIDATES_MAX)
        return "candidates is above 10^9";
    if (*record->effort && !effort_rank(record->effort))
        return "effort is not quick, normal or exhaustive";
    if (*record->when && !is_time(record->when))
        return "when is not a time such as 2026-11-30T17:00:00Z";
    return NULL;
}

bool record_replaces(const struct record *fresh, const struct record *old)
{
    const bool comparable = strcmp(fresh->driver_version, old->driver_version) == 0 &&
                            strcmp(fresh->library_version, old->library_version) == 0 &&
                            strcmp(fresh->kernel_hash, old->kernel_hash) == 0;
    const int by_time = strcmp(fresh->when, old->when),
              by_effort = effort_rank(fresh->effort) - effort_rank(old->effort);
    /* Two families have two hashes; those tell nothing about time. */
    if (!comparable &&
        (strcmp(fresh->family, old->family) == 0 || strcmp(fresh->driver_version, old->driver_version) != 0 ||
         strcmp(fresh->library_version, old->library_version) != 0))
        return by_time > 0;
    const double gain = old->seconds - fresh->seconds;
    if (by_effort > 0)
        return gain >= -(fresh->spread + old->spread);
    if (by_effort < 0)
        return gain > fresh->spread + old->spread;
    const double margin = fresh->spread > old->spread ? fresh->spread : old->spread;
    return gain > margin || (gain >= -margin && by_time > 0);
}

struct packing {
    unsigned char bytes[1024]; /* above the sum of all texts and numbers */
    size_t used;
};

static void pack_text(struct packing *p, const char *text)
{
    const size_t size = strlen(text) + 1; /* the terminator keeps ("ab", "c") and ("a", "bc") apart */
    memcpy(p->bytes + p->used, text, size);
    p->used += size;
}

static void pack_number(struct packing *p, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        p->bytes[p->used++] = (unsigned char)(value >> (8 * i));
}

static void pack_seconds(struct packing *p, double seconds)
{
    pack_number(p, (uint64_t)(seconds * 1e9 + 0.5));
}

uint64_t record_check(const struct record_device *device, const struct record *record)
{
    struct packing p = {.used = 0};
    pack_text(&p, device->platform);
    pack_text(&p, device->vendor);
    pack_text(&p, device->name);
    pack_number(&p, (uint64_t)device->compute_units);
    pack_number(&p, (uint64_t)device->max_work_group_size);
    pack_number(&p, (uint64_t)device->local_memory_bytes);
    pack_number(&p, record->layer.batch);
    pack_number(&p, record->layer.in_features);
    pack_number(&p, record->layer.out_features);
    pack_text(&p, record->layer.types);
    pack_number(&p, (uint64_t)(record->layer.bias + 2 * record->layer.costly + 4 * record->layer.aligned));
    pack_text(&p, record->family);
    pack_text(&p, record->configuration);
    pack_seconds(&p, record->seconds);
    pack_seconds(&p, record->spread);
    pack_seconds(&p, record->default_seconds);
    pack_seconds(&p, record->clblast_seconds);
    pack_number(&p, record->candidates);
    pack_text(&p, record->effort);
    pack_text(&p, record->when);
    pack_text(&p, record->driver_version);
    pack_text(&p, record->library_version);
    pack_text(&p, record->kernel_hash);
    return XXH3_64bits(p.bytes, p.used);
}
