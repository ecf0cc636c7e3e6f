/* A device as JSON, and the same as lines of text. */
#include "query.h"

#include <clayer/log.h>
#include <clayer/tuning.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, NUMBER, FLAG };

static const struct field {
    const char *name;
    size_t offset;
    enum kind kind;
} fields[] = {
#define FIELD(kind, member)                                                                                            \
    {                                                                                                                  \
#member, offsetof(clayer_device_info, member), kind                                                            \
    }
    FIELD(TEXT, vendor),
    FIELD(TEXT, driver_version),
    FIELD(TEXT, opencl_version),
    FIELD(TEXT, opencl_c_version),
    FIELD(TEXT, also_through),
    FIELD(TEXT, pci),
    FIELD(TEXT, uuid),
    FIELD(TEXT, architecture),
    FIELD(NUMBER, compute_units),
    FIELD(NUMBER, clock_mhz),
    FIELD(NUMBER, address_bits),
    FIELD(NUMBER, max_work_group_size),
    FIELD(NUMBER, max_parameter_size),
    FIELD(NUMBER, global_memory_bytes),
    FIELD(NUMBER, max_allocation_bytes),
    FIELD(NUMBER, global_cache_bytes),
    FIELD(NUMBER, global_cache_line_bytes),
    FIELD(NUMBER, constant_memory_bytes),
    FIELD(NUMBER, local_memory_bytes),
    FIELD(FLAG, local_memory_is_real),
    FIELD(NUMBER, memory_base_alignment),
    FIELD(FLAG, unified_memory),
    FIELD(NUMBER, preferred_vector_width_float),
    FIELD(NUMBER, native_vector_width_float),
    FIELD(NUMBER, native_vector_width_half),
    FIELD(FLAG, fp16),
    FIELD(FLAG, fp64),
    FIELD(FLAG, denormals),
    FIELD(FLAG, correctly_rounded_divide_sqrt),
    FIELD(FLAG, sub_groups),
    FIELD(NUMBER, sub_group_size),
    FIELD(NUMBER, smallest_sub_group_size),
    FIELD(FLAG, integer_dot_product),
    FIELD(FLAG, image_support),
    FIELD(FLAG, out_of_order_queues),
    FIELD(FLAG, svm),
    FIELD(NUMBER, timer_resolution_ns),
    FIELD(FLAG, timers_plausible),
#undef FIELD
};

json_t *text_or_null(const char *text)
{
    if (!*text)
        return json_null();
    json_t *value = json_string(text);
    if (!value) { /* not UTF-8: a file's name, or a text that was cut */
        char *plain = strdup(text);
        for (char *c = plain; c && *c; c++)
            if ((unsigned char)*c >= 0x7f)
                *c = '?';
        value = plain ? json_string(plain) : NULL;
        free(plain);
    }
    return value ? value : json_null();
}

static json_t *number_or_null(int64_t value)
{
    return value == CLAYER_UNKNOWN ? json_null() : json_integer(value);
}

struct tally {
    json_t *problems;
    json_int_t in_force[CLAYER_TUNING_BUILT_IN + 1], stale, skipped;
};

static void tally_record(void *user, const clayer_tuning_record *record)
{
    struct tally *tally = user;
    if (!record->in_force)
        tally->skipped++;
    else
        tally->in_force[record->origin]++;
    tally->stale += record->in_force && record->stale;
}

static void keep_warning(void *user, clayer_log_level level, const char *message)
{
    if (level == CLAYER_LOG_WARN)
        json_array_append_new(user, text_or_null(message));
    else
        clayer_log_to_stderr(NULL, level, message); /* CLAYER_LOG asks for it */
}

/* How many tuning records there are for the device: by origin, those that count, and what was wrong with their files;
 * null for the host, which has none. */
static json_t *tuning_to_json(const clayer_device_info *info)
{
    struct tally tally = {.problems = json_array()};
    if (info->type == CLAYER_DEVICE_HOST)
        return json_decref(tally.problems), json_null();
    clayer_log_set(keep_warning, tally.problems, CLAYER_LOG_WARN);
    const clayer_status status = clayer_tuning_list(info, tally_record, &tally);
    clayer_log_set(NULL, NULL, CLAYER_LOG_NONE);
    if (status != CLAYER_OK)
        json_array_append_new(tally.problems, text_or_null(clayer_last_error()));
    json_t *counts = json_object();
    for (int origin = 0; origin <= CLAYER_TUNING_BUILT_IN; origin++)
        if (tally.in_force[origin])
            json_object_set_new(counts, clayer_tuning_origin_string((clayer_tuning_origin)origin),
                                json_integer(tally.in_force[origin]));
    return json_pack("{s:o, s:I, s:I, s:o}", "in_force", counts, "stale", tally.stale, "skipped", tally.skipped,
                     "problems", tally.problems);
}

json_t *device_to_json(const clayer_device_info *info)
{
    json_t *device = json_object();
    json_object_set_new(device, "id", text_or_null(info->id));
    json_object_set_new(device, "index", json_integer(info->index));
    json_object_set_new(device, "name", text_or_null(info->name));
    json_object_set_new(device, "type", json_string(clayer_device_type_string(info->type)));
    json_object_set_new(device, "platform", text_or_null(info->platform));
    json_object_set_new(device, "platform_index", number_or_null(info->platform_index));
    json_object_set_new(device, "platform_device_index", number_or_null(info->platform_device_index));
    json_object_set_new(device, "usable", json_boolean(info->usable));
    json_object_set_new(device, "reason", text_or_null(info->reason));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const void *at = (const char *)info + fields[i].offset;
        json_t *value = NULL;
        if (fields[i].kind == TEXT) {
            value = text_or_null(at);
        } else {
            int64_t number;
            memcpy(&number, at, sizeof number);
            bool known_flag = fields[i].kind == FLAG && number != CLAYER_UNKNOWN;
            value = known_flag ? json_boolean(number) : number_or_null(number);
        }
        json_object_set_new(device, fields[i].name, value);
    }
    json_t *sizes = json_array();
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(sizes, number_or_null(info->max_work_item_sizes[i]));
    json_object_set_new(device, "max_work_item_sizes", sizes);
    json_object_set_new(device, "matrix_units",
                        info->matrix_units == CLAYER_MATRIX_UNKNOWN
                            ? json_null()
                            : json_string(clayer_matrix_units_string(info->matrix_units)));
    json_object_set_new(device, "tuning_records", tuning_to_json(info));
    return device;
}

json_t *platform_to_json(const clayer_platform_info *info)
{
    json_t *platform = json_object();
    json_object_set_new(platform, "index", json_integer(info->index));
    json_object_set_new(platform, "name", text_or_null(info->name));
    json_object_set_new(platform, "vendor", text_or_null(info->vendor));
    json_object_set_new(platform, "version", text_or_null(info->version));
    json_object_set_new(platform, "suffix", text_or_null(info->suffix));
    json_object_set_new(platform, "device_count", json_integer(info->device_count));
    json_object_set_new(platform, "reason", text_or_null(info->reason));
    return platform;
}

static void print_value(const json_t *value)
{
    if (json_is_string(value))
        printf("%s", json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_boolean(value))
        printf("%s", json_is_true(value) ? "yes" : "no");
    else
        printf("unknown");
}

void print_device_fields(const json_t *device)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)device, name, value)
    {
        if (json_is_object(value) || (json_is_null(value) && strcmp(name, "reason") == 0))
            continue; /* properties are printed on their own */
        printf("  %-30s ", name);
        if (json_is_array(value)) {
            for (size_t i = 0; i < json_array_size(value); i++) {
                printf("%s", i ? " " : "");
                print_value(json_array_get(value, i));
            }
        } else {
            print_value(value);
        }
        printf("\n");
    }
}
