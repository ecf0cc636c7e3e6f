/* The table and the paragraphs that people read. */
#include "query.h"

#include <clayer/version.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Prints text in a column of `width` characters: cut, or filled with spaces. The texts are clean UTF-8. */
static void print_cell(const char *text, int width)
{
    int shown = 0;
    const char *c = text;
    for (; *c && shown < width; shown++) {
        putchar(*c++);
        while (((unsigned char)*c & 0xc0) == 0x80)
            putchar(*c++);
    }
    printf("%*s", width - shown + 2, "");
}

static void print_memory(const json_t *device)
{
    const json_t *bytes = json_object_get(device, "global_memory_bytes");
    char text[24] = "?";
    if (json_is_integer(bytes))
        snprintf(text, sizeof text, "%.1f GiB", (double)json_integer_value(bytes) / (1 << 30));
    printf("%10s  ", text);
}

static void print_tuning(const json_t *device)
{
    const json_t *records = json_object_get(device, "tuning_records");
    const json_int_t stale = json_integer_value(json_object_get(records, "stale")),
                     skipped = json_integer_value(json_object_get(records, "skipped"));
    json_t *count;
    const char *origin, *before = "      tuning records: ";
    json_object_foreach(json_object_get(records, "in_force"), origin, count)
    {
        printf("%s%d %s", before, (int)json_integer_value(count), origin);
        before = ", ";
    }
    if (skipped)
        printf("%s%d not used", before, (int)skipped);
    if (stale)
        printf("; %d of another driver, clayer or kernels", (int)stale);
    if (skipped || before[0] == ',')
        putchar('\n');
    size_t i;
    const json_t *problem;
    json_array_foreach(json_object_get(records, "problems"), i, problem)
    {
        printf("      %s\n", json_string_value(problem));
    }
}

static void print_table(const struct query *query)
{
    printf(
        "   #  type         device                                    platform                      units      memory"
        "  id\n");
    size_t i;
    json_t *device;
    json_array_foreach(query->devices, i, device)
    {
        const json_t *units = json_object_get(device, "compute_units");
        bool chosen = json_equal(json_object_get(device, "id"), json_object_get(query->selected, "id"));
        printf("%c %2d  ", chosen ? '*' : ' ', (int)json_integer_value(json_object_get(device, "index")));
        print_cell(text_of(device, "type"), 11);
        print_cell(text_of(device, "name"), 40);
        print_cell(text_of(device, "platform"), 27);
        if (json_is_integer(units))
            printf("%6d  ", (int)json_integer_value(units));
        else
            printf("     ?  ");
        print_memory(device);
        printf("%s\n", text_of(device, "id"));
        if (!json_is_true(json_object_get(device, "usable")))
            printf("      cannot be used: %s\n", text_of(device, "reason"));
        if (*text_of(device, "also_through"))
            printf("      also seen through: %s\n", text_of(device, "also_through"));
        print_tuning(device);
    }
}

static void print_properties(const json_t *device)
{
    json_t *properties = json_object_get(device, "properties"), *value;
    const char *name;
    json_object_foreach(properties, name, value) printf(
        "  %-50s %s\n", name, json_is_string(value) ? json_string_value(value) : "(not supported by this driver)");
}

/* One word for where a device stands in the order of preference. */
static const char *score(const json_t *device)
{
    const char *type = text_of(device, "type");
    if (!json_is_true(json_object_get(device, "usable")))
        return "not considered: cannot be used";
    if (strcmp(type, "simulator") == 0)
        return "not considered: a simulator is used only when it is asked for";
    if (strcmp(type, "host") == 0)
        return "last resort, without OpenCL";
    return json_is_true(json_object_get(device, "unified_memory")) ? "shares the host's memory" : "has its own memory";
}

static void print_explanation(const struct query *query)
{
    bool automatic = json_is_true(json_object_get(query->selected, "automatic"));
    printf("\nThe choice: %s. Usable devices are ordered by type (gpu, accelerator, cpu, unknown), then own memory "
           "before\n"
           "shared memory, then compute units x clock, then name.\n",
           automatic ? "automatic" : "asked for");
    size_t i;
    json_t *device;
    json_array_foreach(query->devices, i, device)
    {
        const json_t *units = json_object_get(device, "compute_units"), *clock = json_object_get(device, "clock_mhz");
        bool chosen = json_equal(json_object_get(device, "id"), json_object_get(query->selected, "id"));
        printf("  %s %s: %s", chosen ? "*" : " ", text_of(device, "id"), score(device));
        if (json_is_integer(units) && json_is_integer(clock))
            printf(", %d units x %d MHz", (int)json_integer_value(units), (int)json_integer_value(clock));
        printf("%s\n", chosen ? "  <- chosen" : "");
    }
}

static void print_plans(const struct query *query)
{
    const json_t *plans = json_object_get(query->explanation, "plans");
    size_t i;
    json_t *plan;
    printf("\nOn it, a layer would run so (BATCHxINxOUT: family:configuration, origin):\n");
    if (json_is_string(plans))
        printf("  not known: %s\n", json_string_value(plans));
    json_array_foreach(plans, i, plan)
    {
        const char *configuration = text_of(plan, "configuration");
        printf("  %-15s %s%s%s, %s (%s)\n", text_of(plan, "shape"), text_of(plan, "family"), *configuration ? ":" : "",
               configuration, text_of(plan, "origin"), text_of(plan, "reason"));
    }
    const char *clblast = text_of(query->explanation, "clblast");
    printf("CLBlast: %s\n", *clblast ? clblast : "not known");
}

static void print_choice(const struct query *query)
{
    const char *selector = text_of(query->selected, "selector"), *id = text_of(query->selected, "id");
    if (*id && *selector)
        printf("\n* chosen by '%s'\n", selector);
    else if (*id)
        printf("\n* the automatic choice\n");
    else if (*text_of(query->selected, "error"))
        printf("\n%s\n", text_of(query->selected, "error"));
}

void print_query(const struct query *query)
{
    printf("clayer %s\n\n", clayer_version_string());
    size_t i;
    json_t *entry;
    if (query->selector || query->all) {
        json_array_foreach(query->devices, i, entry)
        {
            printf("%sdevice %d: %s\n", i ? "\n" : "", (int)json_integer_value(json_object_get(entry, "index")),
                   text_of(entry, "name"));
            print_device_fields(entry);
            print_tuning(entry);
            print_properties(entry);
        }
    } else {
        print_table(query);
        print_choice(query);
    }
    if (query->explain) {
        print_explanation(query);
        print_plans(query);
    }
    if (json_array_size(query->hints) > 0)
        printf("\n");
    json_array_foreach(query->hints, i, entry) printf("note: %s\n", json_string_value(entry));
}
