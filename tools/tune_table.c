#include "tune.h"

#include <string.h>

static const char *const states[] = {"not begun", "unfinished", "tuned", "failed"};

static void print_shape(const clayer_tune_shape *s, char text[80])
{
    snprintf(text, 80, "%zux%zux%zu%s%s", s->batch, s->in_features, s->out_features,
             s->activation == CLAYER_ACTIVATION_NONE ? "" : " ",
             s->activation == CLAYER_ACTIVATION_NONE ? "" : clayer_activation_string(s->activation));
}

void tune_table(const struct tune_options *o, const clayer_device_info *device, const clayer_tune_result *results,
                const char *place)
{
    size_t stored = 0, tuned = 0;
    int widest = 5;
    for (size_t i = 0; i < o->shape_count; i++) {
        char shape[80];
        print_shape(&o->shapes[i], shape);
        widest = (int)strlen(shape) > widest ? (int)strlen(shape) : widest;
    }
    printf("%s (%s), effort %s\n", device->name, device->id, clayer_effort_string(o->effort));
    printf("%-*s %11s %11s %8s %7s %9s  %s\n", widest, "shape", "default", "best", "speed-up", "spread", "x clblast",
           "plan");
    for (size_t i = 0; i < o->shape_count; i++) {
        const clayer_tune_result *r = &results[i];
        char shape[80], standard[24], best[24], gain[16] = "-", against[16] = "-";
        print_shape(&o->shapes[i], shape);
        if (r->state != CLAYER_TUNE_TUNED) {
            printf("%-*s %s%s%s\n", widest, shape, states[r->state], *r->reason ? ": " : "", r->reason);
            continue;
        }
        tuned++;
        stored += r->stored;
        tune_print_time(r->default_seconds, standard);
        tune_print_time(r->seconds, best);
        if (r->default_seconds > 0)
            snprintf(gain, sizeof gain, "%.2f", r->default_seconds / r->seconds);
        if (r->clblast_seconds > 0)
            snprintf(against, sizeof against, "%.2f", r->clblast_seconds / r->seconds);
        printf("%-*s %11s %11s %8s %6.1f%% %9s  %s%s%s%s\n", widest, shape, standard, best, gain,
               100 * r->spread / r->seconds, against, r->plan,
               strcmp(r->plan, r->default_plan) == 0 ? " (the default)" : "",
               r->stored ? "" : "  NOT STORED: ", r->stored ? "" : r->reason);
    }
    if (stored)
        printf("%zu of %zu stored in %s\n", stored, tuned, place);
    else if (tuned)
        printf("none stored: %s\n", *place ? place : "this user has no data directory");
}

static json_t *seconds_or_null(double seconds)
{
    return seconds > 0 ? json_real(seconds) : json_null();
}

void tune_json_result(const clayer_device_info *device, const clayer_tune_shape *shape, const clayer_tune_result *r)
{
    tune_json_line(json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:s}", "event", "result", "device",
        device->id, "shape", tune_shape_json(shape), "state", states[r->state], "plan", r->plan, "default_plan",
        r->default_plan, "seconds", seconds_or_null(r->seconds), "spread", json_real(r->spread), "default_seconds",
        seconds_or_null(r->default_seconds), "clblast_seconds", seconds_or_null(r->clblast_seconds), "candidates",
        (json_int_t)r->candidates, "rejected", (json_int_t)r->rejected, "stored", r->stored, "reason", r->reason));
}

struct dry {
    const struct tune_options *options;
    const clayer_tune_shape *shape;
    size_t tried;
};

static void print_candidate(void *user, const clayer_tune_candidate *c)
{
    struct dry *dry = user;
    const char *verdict = c->verdict == CLAYER_VERDICT_RIGHT ? "candidate" : clayer_verdict_string(c->verdict);
    if (dry->options->json) {
        tune_json_line(json_pack("{s:s, s:o, s:s, s:s, s:I, s:s}", "event", "dry-run", "shape",
                                 tune_shape_json(c->shape), "candidate", c->candidate, "verdict", verdict, "count",
                                 (json_int_t)c->count, "reason", c->reason));
        return;
    }
    if (c->shape != dry->shape) {
        char shape[80];
        print_shape(c->shape, shape);
        printf("%s\n", shape);
        dry->shape = c->shape;
        dry->tried = 0;
    }
    if (c->verdict == CLAYER_VERDICT_RIGHT)
        printf("  %5zu  %s\n", ++dry->tried, c->candidate);
    else if (c->verdict == CLAYER_VERDICT_QUARANTINED)
        printf("  quarantined  %s: %s\n", c->candidate, c->reason);
    else
        printf("  excluded  %s, %zu configuration%s: %s\n", c->candidate, c->count, c->count == 1 ? "" : "s",
               c->reason);
}

int tune_dry_run(const struct tune_options *o, const clayer_device_info *device)
{
    struct dry dry = {.options = o};
    const clayer_tune_params params = {
        .device = device->id, .shapes = o->shapes, .shape_count = o->shape_count, .effort = o->effort};
    if (clayer_tune_explain(&params, print_candidate, &dry) != CLAYER_OK)
        return tune_failed(device);
    return 0;
}
