/* The child: loads the drivers that its environment shows, and says line by line how far it got, so that the parent
 * knows what a driver was doing when it took this process down. */
#include "query.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static FILE *events;

static void send_event(const char *name, json_t *value)
{
    json_t *event = json_pack("{s:s, s:o}", "event", name, "value", value ? value : json_null());
    if (event && json_dumpf(event, events, JSON_COMPACT) == 0) {
        fputc('\n', events);
        fflush(events);
    }
    json_decref(event);
}

static void keep_property(void *user, const char *name, const char *value)
{
    json_object_set_new(user, name, value && *value ? text_or_null(value) : value ? json_string("") : json_null());
}

static void send_list(bool properties)
{
    size_t count = 0;
    clayer_platform_count(&count);
    for (size_t i = 0; i < count; i++) {
        clayer_platform_info info;
        if (clayer_platform_get(i, &info) == CLAYER_OK)
            send_event("platform", platform_to_json(&info));
    }
    count = 0;
    clayer_device_count(&count);
    for (size_t i = 0; i < count; i++) {
        clayer_device_info info;
        if (clayer_device_get(i, &info) != CLAYER_OK)
            continue;
        json_t *device = device_to_json(&info);
        if (properties) {
            json_t *all = json_object();
            clayer_device_properties(i, keep_property, all);
            json_object_set_new(device, "properties", all);
        }
        send_event("device", device);
    }
}

static void send_trials(void)
{
    size_t count = 0;
    clayer_device_count(&count);
    for (size_t i = 0; i < count; i++) {
        clayer_device_info info;
        if (clayer_device_get(i, &info) != CLAYER_OK || !info.usable || info.type == CLAYER_DEVICE_HOST)
            continue;
        send_event("try", json_string(info.id));
        clayer_device_try(i, &info);
        send_event("tried", json_pack("{s:s, s:b, s:s, s:I}", "id", info.id, "usable", (int)info.usable, "reason",
                                      info.reason, "timers_plausible", (json_int_t)info.timers_plausible));
    }
}

static void send_selected(const char *selector)
{
    clayer_device_info info;
    const char *wish = selector ? selector : getenv("CLAYER_DEVICE");
    bool automatic = !wish || !*wish || strcmp(wish, "auto") == 0;
    json_t *selected =
        json_pack("{s:o, s:b}", "selector", text_or_null(automatic && !selector ? "" : wish), "automatic", automatic);
    if (clayer_device_select(selector, &info) == CLAYER_OK) {
        json_object_set_new(selected, "id", json_string(info.id));
        json_object_set_new(selected, "index", json_integer(info.index));
    } else {
        json_object_set_new(selected, "error", text_or_null(clayer_last_error()));
    }
    send_event("selected", selected);
}

int child_main(enum child_task task, const char *library, const char *selector, bool properties, bool explain)
{
    const struct rlimit no_core = {0, 0}; /* a driver that crashes is expected here */
    setrlimit(RLIMIT_CORE, &no_core);
    int descriptor = dup(STDOUT_FILENO); /* drivers print to stdout too; that must not mix with the events */
    events = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!events || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;

    if (library && !dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        const char *reason = dlerror();
        send_event("missing", text_or_null(reason ? reason : "cannot be opened"));
    } else {
        clayer_status status = clayer_opencl_status();
        send_event("opencl", json_pack("{s:s, s:s?}", "status",
                                       status == CLAYER_OK                ? "ok"
                                       : status == CLAYER_ERROR_NO_DEVICE ? "no-device"
                                                                          : "no-opencl",
                                       "detail", status == CLAYER_OK ? NULL : clayer_last_error()));
        send_list(properties);
        if (task != CHILD_TRY)
            send_selected(selector);
        send_event("listed", NULL);
        if (task != CHILD_LIST)
            send_trials();
        if (explain)
            send_event("explanation", explain_device(selector));
    }
    send_event("end", NULL);
    _exit(0); /* not exit(): drivers that hang or crash in their destructors have done their work here */
}
