/* clayer-query: which devices there are, what they can do, what is wrong with the others. docs/devices.md describes the
 * output. Each driver is loaded in a process of its own first; those that behave are then listed together. */
#include "common.h"
#include "query.h"

#include <clayer/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: clayer-query [options]\n"
    "Lists the devices that clayer can use, and says what is wrong with the others.\n"
    "\n"
    "  --device SEL   show one device in full: gpu, cpu, accelerator, simulator, host, auto, an id, an index,\n"
    "                 PLATFORM:INDEX, or a part of a name (default: the environment variable CLAYER_DEVICE)\n"
    "  --explain      say why this device was chosen and what clayer will do on it\n"
    "  --all          add every property of every device as its driver gives it\n"
    "  --cache        show the cache of compiled programs: place, size, hits and misses so far\n"
    "  --cache-verify\n"
    "                 check every program in it; exit code 1 when one is damaged\n"
    "  --cache-prune[=MIB]\n"
    "                 delete damaged ones, and those used least recently beyond MIB (default: the cache's limit)\n"
    "  --json         print JSON (schema clayer-query/1) instead of text\n"
    "  --version      print the version\n"
    "  --help         print this text\n"
    "\n"
    "exit code: 0 a usable OpenCL device was found, 3 none (the host device remains), 2 wrong usage\n";

static const struct option options[] = {
    {"device", required_argument, NULL, 'd'},
    {"explain", no_argument, NULL, 'e'},
    {"all", no_argument, NULL, 'a'},
    {"cache", no_argument, NULL, 'c'},
    {"cache-verify", no_argument, NULL, 'v'},
    {"cache-prune", optional_argument, NULL, 'r'},
    {"json", no_argument, NULL, 'j'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {"probe", required_argument, NULL, 'p'},         /* the tool's own: see query_child.c */
    {"probe-library", required_argument, NULL, 'l'}, /* the same */
    {0},
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A driver that fell while a device was tried: that device is at fault, the list is good. */
static void mark_fallen(const struct child *child)
{
    for (size_t i = 0; *child->trying && i < json_array_size(child->devices); i++) {
        json_t *device = json_array_get(child->devices, i);
        if (strcmp(text_of(device, "id"), child->trying) != 0)
            continue;
        json_object_set_new(device, "usable", json_false());
        json_object_set_new(device, "reason", text_or_null(child->reason));
    }
}

/* Every driver in its own process, with a trial of its devices. */
static void probe_drivers(struct query *query)
{
    struct driver_list *list = &query->list;
    struct child *children = calloc(list->count + 1, sizeof *children);
    struct driver **owners = calloc(list->count + 1, sizeof *owners);
    size_t count = 0;
    for (size_t i = 0; children && owners && i < list->count; i++) {
        if (*list->drivers[i].status)
            continue;
        owners[count] = &list->drivers[i];
        children[count++] = (struct child){
            .vendors = list->drivers[i].vendors_dir, .library = list->drivers[i].library, .task = CHILD_TRY};
    }
    if (count)
        run_children(children, count);
    for (size_t i = 0; i < count; i++) {
        struct driver *driver = owners[i];
        driver->devices = json_incref(children[i].devices);
        driver->platforms = json_incref(children[i].platforms);
        snprintf(driver->status, sizeof driver->status, "%s", children[i].status);
        snprintf(driver->reason, sizeof driver->reason, "%s", children[i].reason);
        if (children[i].finished && strcmp(driver->status, "ok") == 0 && json_array_size(driver->platforms) == 0) {
            snprintf(driver->status, sizeof driver->status, "no-platform");
            snprintf(driver->reason, sizeof driver->reason, "its library shows no OpenCL platform");
        }
        driver->listed = children[i].listed;
        mark_fallen(&children[i]);
        release_child(&children[i]);
    }
    free(children);
    free(owners);
}

static bool has_id(const json_t *devices, const json_t *id)
{
    for (size_t i = 0; i < json_array_size(devices); i++)
        if (json_equal(json_object_get(json_array_get(devices, i), "id"), id))
            return true;
    return false;
}

/* Whether two drivers show devices that look alike: their ids are told apart only when both are listed together. */
static bool ids_clash(const struct driver_list *list)
{
    for (size_t a = 0; a < list->count; a++)
        for (size_t b = a + 1; b < list->count; b++)
            for (size_t i = 0; i < json_array_size(list->drivers[a].devices); i++) {
                const json_t *device = json_array_get(list->drivers[a].devices, i);
                if (strcmp(text_of(device, "type"), "host") != 0 &&
                    has_id(list->drivers[b].devices, json_object_get(device, "id")))
                    return true;
            }
    return false;
}

/* What the trials found, copied onto the list of all drivers together; ids are the same in both. */
static void apply_trials(json_t *devices, const struct driver_list *list)
{
    static const char *const learned[] = {"usable", "reason", "timers_plausible"};
    for (size_t i = 0; i < json_array_size(devices); i++) {
        json_t *device = json_array_get(devices, i);
        for (size_t d = 0; d < list->count; d++)
            for (size_t j = 0; j < json_array_size(list->drivers[d].devices); j++) {
                json_t *tried = json_array_get(list->drivers[d].devices, j);
                if (!json_equal(json_object_get(device, "id"), json_object_get(tried, "id")) ||
                    json_is_false(json_object_get(device, "usable")))
                    continue;
                for (size_t k = 0; k < sizeof learned / sizeof *learned; k++)
                    json_object_set(device, learned[k], json_object_get(tried, learned[k]));
            }
    }
}

/* Usable ones, unusable ones, the host; within these the library's order. */
static void put_unusable_last(struct query *query)
{
    json_t *sorted = json_array();
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < json_array_size(query->devices); i++) {
            json_t *device = json_array_get(query->devices, i);
            int place = strcmp(text_of(device, "type"), "host") == 0      ? 2
                        : json_is_true(json_object_get(device, "usable")) ? 0
                                                                          : 1;
            if (place == pass)
                json_array_append(sorted, device);
        }
    json_decref(query->devices);
    query->devices = sorted;
}

/* An automatic choice that the trial found unusable falls to the next device, as it does in the library. */
static void repeat_choice(struct query *query)
{
    if (!json_is_true(json_object_get(query->selected, "automatic")))
        return;
    for (size_t i = 0; i < json_array_size(query->devices); i++) {
        const json_t *device = json_array_get(query->devices, i);
        if (!json_is_true(json_object_get(device, "usable")) || strcmp(text_of(device, "type"), "simulator") == 0)
            continue;
        json_object_set(query->selected, "id", json_object_get(device, "id"));
        json_object_set(query->selected, "index", json_object_get(device, "index"));
        return;
    }
}

/* Nothing could be listed together: each driver's own list, and the host from this process, where no driver is loaded.
 */
static void list_apart(struct query *query, const struct child *all)
{
    for (size_t d = 0; d < query->list.count; d++)
        for (size_t j = 0; j < json_array_size(query->list.drivers[d].devices); j++) {
            json_t *device = json_array_get(query->list.drivers[d].devices, j);
            if (strcmp(text_of(device, "type"), "host") == 0)
                continue;
            json_object_set_new(device, "index", json_integer((json_int_t)json_array_size(query->devices)));
            json_array_append(query->devices, device);
        }
    setenv("CLAYER_OPENCL", "off", 1);
    clayer_device_info host;
    if (clayer_device_get(0, &host) == CLAYER_OK) {
        host.index = (int32_t)json_array_size(query->devices);
        json_array_append_new(query->devices, device_to_json(&host));
    }
    if (!query->opencl)
        query->opencl = json_pack("{s:s, s:o}", "status", "failed", "detail", text_or_null(all->reason));
    query->selected =
        json_pack("{s:o, s:b, s:s}", "selector", text_or_null(query->selector ? query->selector : ""), "automatic", 0,
                  "error", "no device was chosen, because the drivers could not be listed together");
}

static void gather(struct query *query)
{
    const char *loader = getenv("CLAYER_OPENCL");
    bool by_driver = !loader || !*loader; /* another loader, or none: its drivers are not known here */
    char root[64] = "";
    if (by_driver)
        find_drivers(&query->list);
    bool views = by_driver && query->list.count > 0 && make_views(&query->list, root, sizeof root);
    char good[80];
    snprintf(good, sizeof good, "%s/good", root);
    if (views) {
        probe_drivers(query);
        for (size_t i = 0; i < query->list.count; i++)
            if (query->list.drivers[i].listed && json_array_size(query->list.drivers[i].platforms) > 0)
                add_to_view(root, &query->list.drivers[i]);
    }
    bool tried = views && !ids_clash(&query->list);
    struct child all = {.vendors = views ? good : NULL,
                        .task = tried ? CHILD_LIST : CHILD_BOTH,
                        .selector = query->selector,
                        .properties = query->all,
                        .explain = query->explain};
    run_children(&all, 1);
    if (*root)
        remove_views(root, &query->list);
    query->platforms = json_incref(all.platforms);
    query->opencl = json_incref(all.opencl);
    if (query->explain)
        query->explanation = all.explanation ? json_incref(all.explanation)
                                             : json_pack("{s:o, s:n}", "plans", text_or_null(all.reason), "clblast");
    if (all.listed && all.selected) {
        query->devices = json_incref(all.devices);
        query->selected = json_incref(all.selected);
        if (tried)
            apply_trials(query->devices, &query->list);
        else
            mark_fallen(&all);
    } else {
        query->devices = json_array();
        list_apart(query, &all);
    }
    put_unusable_last(query);
    repeat_choice(query);
    release_child(&all);
}

static bool has_usable_opencl_device(const struct query *query)
{
    for (size_t i = 0; i < json_array_size(query->devices); i++) {
        const json_t *device = json_array_get(query->devices, i);
        if (json_is_true(json_object_get(device, "usable")) && strcmp(text_of(device, "type"), "host") != 0)
            return true;
    }
    return false;
}

static void keep_only_selected(struct query *query)
{
    const json_t *id = json_object_get(query->selected, "id");
    for (size_t i = json_array_size(query->devices); i-- > 0;)
        if (!json_equal(json_object_get(json_array_get(query->devices, i), "id"), id))
            json_array_remove(query->devices, i);
}

static void print_json(const struct query *query)
{
    json_t *drivers = json_array();
    for (size_t i = 0; i < query->list.count; i++) {
        const struct driver *d = &query->list.drivers[i];
        json_array_append_new(drivers, json_pack("{s:s?, s:s?, s:s, s:s?}", "file", *d->file ? d->file : NULL,
                                                 "library", *d->library ? d->library : NULL, "status", d->status,
                                                 "reason", *d->reason ? d->reason : NULL));
    }
    json_t *all =
        json_pack("{s:s, s:s, s:O, s:o, s:O, s:O, s:O, s:O}", "schema", "clayer-query/1", "version",
                  clayer_version_string(), "opencl", query->opencl, "drivers", drivers, "platforms", query->platforms,
                  "devices", query->devices, "selected", query->selected, "hints", query->hints);
    if (query->explanation)
        json_object_set(all, "explanation", query->explanation);
    json_dumpf(all, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(all);
}

static int run(struct query *query)
{
    query->hints = json_array();
    gather(query);
    const char *error = json_string_value(json_object_get(query->selected, "error"));
    bool asked = query->selector || (getenv("CLAYER_DEVICE") && *getenv("CLAYER_DEVICE"));
    int code = has_usable_opencl_device(query) ? 0 : EXIT_CODE_NO_DEVICE;
    if (error && asked)
        code = tool_usage("%s", error);
    add_hints(query);
    if (query->selector && !error)
        keep_only_selected(query);
    if (!(query->selector && error)) {
        if (query->json)
            print_json(query);
        else
            print_query(query);
    }
    release_drivers(&query->list);
    json_decref(query->opencl);
    json_decref(query->platforms);
    json_decref(query->devices);
    json_decref(query->selected);
    json_decref(query->explanation);
    json_decref(query->hints);
    return code;
}

int main(int argc, char **argv)
{
    tool_start("clayer-query");
    struct query query = {0};
    const char *task = NULL, *library = NULL, *keep = NULL;
    enum cache_task cache = CACHE_NONE;
    for (int option; (option = tool_option(argc, argv, options)) != -1;) {
        switch (option) {
        case 'd':
            if (!*optarg)
                return tool_usage("--device '': name a device; see --help");
            query.selector = optarg;
            break;
        case 'e':
            query.explain = true;
            break;
        case 'a':
            query.all = true;
            break;
        case 'j':
            query.json = true;
            break;
        case 'c':
        case 'v':
        case 'r':
            if (cache != CACHE_NONE)
                return tool_usage("--cache, --cache-verify and --cache-prune: use one at a time");
            cache = option == 'c' ? CACHE_SHOW : option == 'v' ? CACHE_VERIFY : CACHE_PRUNE;
            keep = option == 'r' ? optarg : NULL;
            break;
        case 'p':
            task = optarg;
            break;
        case 'l':
            library = optarg;
            break;
        case 'V':
            printf("clayer-query %s\n", clayer_version_string());
            return tool_finish(0);
        case 'h':
            fputs(help, stdout);
            return tool_finish(0);
        default:
            return EXIT_CODE_USAGE;
        }
    }
    if (optind < argc)
        return tool_usage("unexpected argument '%.100s'; see --help", argv[optind]);
    if (task) {
        enum child_task child = strcmp(task, "try") == 0    ? CHILD_TRY
                                : strcmp(task, "both") == 0 ? CHILD_BOTH
                                                            : CHILD_LIST;
        return child_main(child, library, query.selector, query.all, query.explain);
    }
    if (cache != CACHE_NONE)
        return tool_finish(cache_main(cache, query.json, keep));
    return tool_finish(run(&query));
}
