#include "plan/record.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Rows that start on whole vectors of this many elements can be read and written as such. */
#define VECTOR_ELEMENTS 4

void plan_record_layer(const struct layer_shape *shape, const struct call_shape *call, struct record_layer *layer)
{
    memset(layer, 0, sizeof *layer);
    layer->in_features = shape->in_features;
    layer->out_features = shape->out_features;
    strcpy(layer->types, "f32,f32,f32,f32");
    layer->bias = shape->has_bias;
    layer->costly = !activation_is_cheap(shape->activation.kind);
    layer->aligned = call->ldx % VECTOR_ELEMENTS == 0 && call->ldy % VECTOR_ELEMENTS == 0 &&
                     call->x_offset % VECTOR_ELEMENTS == 0 && call->y_offset % VECTOR_ELEMENTS == 0;
    layer->batch = call->batch;
}

clayer_status plan_record_read(const struct record *record, const struct family **family,
                               struct configuration *configuration)
{
    *family = family_find(record->family);
    if (!*family)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "this version knows no family %s", record->family);
    return family_parse(*family, record->configuration, configuration);
}

static void explain(const struct store_answer *answer, const char *passed_over, struct plan *plan)
{
    const struct record *r = answer->record;
    const char *comma = *r->effort || *r->when ? ", " : "", *space = *r->effort && *r->when ? " " : "";
    const int used = snprintf(plan->reason, sizeof plan->reason, "%zux%zux%zu took %.4g ms%s%s%s%.10s", r->layer.batch,
                              r->layer.in_features, r->layer.out_features, r->seconds * 1e3, comma, r->effort, space,
                              r->when);
    if (used > 0 && (size_t)used < sizeof plan->reason)
        snprintf(plan->reason + used, sizeof plan->reason - (size_t)used, "%s%s%s",
                 answer->family ? "; on a related device" : "",
                 answer->stale ? "; stale: driver, clayer or kernels changed" : "",
                 passed_over ? "; a better record does not fit" : "");
}

bool plan_from_record(const struct target *target, struct store *store, const struct layer_shape *shape,
                      const struct call_shape *call, unsigned excluded, struct plan *plan)
{
    struct store_answer answers[STORE_ANSWERS];
    struct record_layer layer;
    if (call->batch == 0 || shape->in_features == 0 || shape->out_features == 0)
        return false;
    plan_record_layer(shape, call, &layer);
    const char *passed_over = NULL;
    const size_t count = store_lookup(store, &layer, answers);
    for (size_t i = 0; i < count; i++) {
        const struct record *record = answers[i].record;
        memset(&plan->configuration, 0, sizeof plan->configuration);
        plan->family = family_find(record->family);
        if (plan->family)
            plan->family->suggest(target, shape, call, &plan->configuration);
        if (plan_record_read(record, &plan->family, &plan->configuration) != CLAYER_OK) {
            store_reject(store, record, clayer_last_error());
            continue;
        }
        const char *reason = plan_bit(plan->family) & excluded
                                 ? "its kernel could not be built"
                                 : plan->family->refuses(target, shape, call, &plan->configuration);
        if (reason) {
            passed_over = passed_over ? passed_over : reason;
            continue;
        }
        plan->origin = answers[i].exact ? PLAN_RECORD : PLAN_NEAREST_RECORD;
        plan->record = record;
        plan->source = store_origin_string(answers[i].origin);
        explain(&answers[i], passed_over, plan);
        return true;
    }
    return false;
}
