/* --show, --forget, --export, --import and --header: clayer/tuning.h on the command line. */
#include "tune.h"

#include <clayer/tuning.h>
#include <stdlib.h>
#include <string.h>

struct show {
    bool json;
    size_t count, in_force;
};

static void show_record(void *user, const clayer_tuning_record *r)
{
    struct show *show = user;
    const char *origin = clayer_tuning_origin_string(r->origin);
    show->count++;
    show->in_force += r->in_force;
    if (show->json) {
        tune_json_line(json_pack(
            "{s:s, s:I, s:I, s:I, s:s, s:b, s:b, s:b, s:s, s:s, s:f, s:f, s:f, s:f, s:I, s:s, s:s, s:s, s:s, s:s, s:b, "
            "s:b, s:b, s:s}",
            "event", "record", "batch", (json_int_t)r->batch, "in_features", (json_int_t)r->in_features, "out_features",
            (json_int_t)r->out_features, "types", r->types, "bias", r->bias, "costly", r->costly, "aligned", r->aligned,
            "family", r->family, "configuration", r->configuration, "seconds", r->seconds, "spread", r->spread,
            "default_seconds", r->default_seconds, "clblast_seconds", r->clblast_seconds, "candidates",
            (json_int_t)r->candidates, "effort", r->effort, "when", r->when, "driver", r->driver, "library", r->library,
            "origin", origin, "related", r->related, "stale", r->stale, "in_force", r->in_force, "reason", r->reason));
        return;
    }
    char shape[64], seconds[24], gain[16] = "-";
    if (show->count == 1)
        printf("%-18s %-9s %11s %8s  %-10s %-12s %-10s  %s\n", "shape", "epilogue", "seconds", "speed-up", "effort",
               "origin", "measured", "plan");
    snprintf(shape, sizeof shape, "%zux%zux%zu", r->batch, r->in_features, r->out_features);
    tune_print_time(r->seconds, seconds);
    if (r->default_seconds > 0 && r->seconds > 0)
        snprintf(gain, sizeof gain, "%.2f", r->default_seconds / r->seconds);
    printf("%-18s %-9s %11s %8s  %-10s %-12s %-10.10s  %s%s%s%s%s%s%s%s%s\n", shape,
           r->costly ? (r->bias ? "bias,act+" : "act+") : (r->bias ? "bias" : "-"), seconds, gain, r->effort, origin,
           r->when, r->family, *r->configuration ? ":" : "", r->configuration, r->aligned ? "" : " [unaligned]",
           r->related ? " [related device]" : "", r->stale ? " [stale]" : "",
           r->in_force ? "" : " [not in force: ", r->in_force ? "" : r->reason, r->in_force ? "" : "]");
}

static int show_all(const struct tune_options *o, const clayer_device_info *device)
{
    struct show show = {.json = o->json};
    if (!o->json)
        printf("%s (%s)\n", device->name, device->id);
    if (clayer_tuning_list(device, show_record, &show) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (!o->json)
        printf("%zu record%s, %zu in force\n", show.count, show.count == 1 ? "" : "s", show.in_force);
    return 0;
}

static int forget(const struct tune_options *o, const clayer_device_info *device)
{
    size_t removed = 0, lifted = 0, some;
    for (size_t i = 0; i < o->shape_count; i++) {
        const clayer_tune_shape *s = &o->shapes[i];
        if (clayer_tuning_forget(device, s->batch, s->in_features, s->out_features, &some) != CLAYER_OK)
            return tool_failed("%s", clayer_last_error());
        removed += some;
    }
    if (o->shape_count == 0 && clayer_tuning_forget(device, 0, 0, 0, &removed) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (clayer_tune_forget(device->id, &lifted) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (o->json)
        tune_json_line(json_pack("{s:s, s:s, s:I, s:I}", "event", "forgotten", "device", device->id, "records",
                                 (json_int_t)removed, "lifted", (json_int_t)lifted));
    else
        printf("%s: %zu records removed, %zu candidates may be tried again\n", device->name, removed, lifted);
    return 0;
}

static int import(const struct tune_options *o)
{
    clayer_tuning_merged merged;
    if (clayer_tuning_import(o->file, false, &merged) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    if (o->json)
        tune_json_line(json_pack("{s:s, s:I, s:I, s:I, s:I}", "event", "imported", "added", (json_int_t)merged.added,
                                 "replaced", (json_int_t)merged.replaced, "kept", (json_int_t)merged.kept, "damaged",
                                 (json_int_t)merged.damaged));
    else
        printf("%s: %zu records added, %zu replaced, %zu kept since they are as good or better, %zu damaged\n", o->file,
               merged.added, merged.replaced, merged.kept, merged.damaged);
    return 0;
}

int tune_records(struct tune_options *o)
{
    if (o->task == TASK_IMPORT)
        return import(o);
    /* Without --device these are about all devices; with it, about one. */
    const bool all = !o->device || strcmp(o->device, "all") == 0;
    clayer_device_info *devices = NULL;
    size_t count = 0, records = 0;
    int code = 0;
    if (!all || o->task == TASK_SHOW || o->task == TASK_FORGET)
        code = tune_devices(o->device, &devices, &count);
    for (size_t i = 0; code == 0 && i < count && (o->task == TASK_SHOW || o->task == TASK_FORGET); i++)
        code = o->task == TASK_SHOW ? show_all(o, &devices[i]) : forget(o, &devices[i]);
    if (code == 0 && (o->task == TASK_EXPORT || o->task == TASK_HEADER)) {
        const clayer_device_info *device = all ? NULL : devices;
        const clayer_status status = o->task == TASK_EXPORT ? clayer_tuning_export(device, o->file, &records)
                                                            : clayer_tuning_header(device, o->file, o->array, &records);
        if (status != CLAYER_OK)
            code = tool_failed("%s", clayer_last_error());
        else if (o->json)
            tune_json_line(
                json_pack("{s:s, s:s, s:I}", "event", "exported", "file", o->file, "records", (json_int_t)records));
        else
            printf("%s: %zu records\n", o->file, records);
    }
    free(devices);
    return code;
}
