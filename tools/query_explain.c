/* What clayer will do on a device: its planner asked for a layer of common size, at several batch sizes. In the child.
 */
#include "query.h"

#include <clayer/context.h>
#include <clayer/linear.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 1024 };

static json_t *plan_to_json(size_t batch, const clayer_plan_info *plan)
{
    char shape[48];
    snprintf(shape, sizeof shape, "%zux%dx%d", batch, FEATURES, FEATURES);
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "shape", shape, "family", text_or_null(plan->family), "configuration",
                     text_or_null(plan->configuration), "origin", text_or_null(plan->origin), "reason",
                     text_or_null(plan->reason));
}

/* The plans for one layer, or the reason why there are none as a string. */
static json_t *ask_planner(clayer_context *context, const char *plan, const float *weight, const size_t *batches,
                           size_t count)
{
    const clayer_linear_params params = {
        .in_features = FEATURES, .out_features = FEATURES, .weight = weight, .plan = plan};
    clayer_linear *layer = NULL;
    json_t *plans = json_array();
    clayer_status status = clayer_linear_create(context, &params, &layer);
    for (size_t i = 0; status == CLAYER_OK && i < count; i++) {
        clayer_plan_info info;
        status = clayer_linear_prepare(layer, batches[i]);
        if (status == CLAYER_OK)
            status = clayer_linear_last_plan(layer, &info);
        if (status == CLAYER_OK)
            json_array_append_new(plans, plan_to_json(batches[i], &info));
    }
    clayer_linear_destroy(&layer);
    if (status == CLAYER_OK)
        return plans;
    json_decref(plans);
    return text_or_null(clayer_last_error());
}

json_t *explain_device(const char *selector)
{
    static const size_t batches[] = {1, 16, 128, 1024}, one[] = {128};
    const clayer_context_params params = {.device = selector};
    clayer_context *context = NULL;
    float *weight = calloc((size_t)FEATURES * FEATURES, sizeof *weight);
    json_t *explanation = NULL;
    if (weight && clayer_context_create(&params, &context) == CLAYER_OK) {
        json_t *clblast = ask_planner(context, "clblast", weight, one, 1);
        explanation = json_pack("{s:o, s:o}", "plans",
                                ask_planner(context, NULL, weight, batches, sizeof batches / sizeof *batches),
                                "clblast", json_is_array(clblast) ? json_string("available") : json_incref(clblast));
        json_decref(clblast);
    } else {
        explanation = json_pack("{s:o, s:n}", "plans", text_or_null(clayer_last_error()), "clblast");
    }
    clayer_context_destroy(&context);
    free(weight);
    return explanation;
}
