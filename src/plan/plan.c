#include "plan/plan.h"
#include "base/error.h"
#include "kernels/host.h"
#include "plan/record.h"

#include <stdio.h>
#include <string.h>

/* What it takes to wake a CPU device's workers and wait for them (s), and bytes that are copied in a second
 * (docs/measurements.md). */
#define WAKE_SECONDS 25e-6
#define COPY_BYTES 9e9
/* Beyond so much work of one thread (s) the kernels' prefetching saves more than their start costs. */
#define KERNEL_SECONDS 8e-3

/* Up to this batch a GPU is bound by reading the weights once, and a tile of 16 rows or more would mostly idle. */
#define SKINNY_BATCH 16

void plan_origin_print(const struct plan *plan, char *text, size_t size)
{
    static const char *const names[] = {"forced", "record", "nearest record", "rule of thumb", "fallback"};
    snprintf(text, size, "%s%s%s", names[plan->origin], plan->source ? ", " : "", plan->source ? plan->source : "");
}

clayer_status plan_parse(const char *text, struct plan_request *request)
{
    memset(request, 0, sizeof *request);
    if (!text || !*text || strcmp(text, "auto") == 0)
        return CLAYER_OK;
    char name[32];
    const size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    const struct family *family = family_find(name);
    if (!family) {
        char accepted[128] = "";
        for (size_t i = 0; i < family_count; i++) {
            strncat(accepted, families[i]->name, sizeof accepted - strlen(accepted) - 3);
            strcat(accepted, i + 1 < family_count ? ", " : "");
        }
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "plan '%.40s': the families are %s", text, accepted);
    }
    const char *rest = text[length] == ':' ? text + length + 1 : "";
    if (strlen(rest) >= sizeof request->configuration)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "plan '%.40s...' is too long", text);
    struct configuration scratch = {{0}};
    TRY(family_parse(family, rest, &scratch));
    request->family = family;
    strcpy(request->configuration, rest);
    return CLAYER_OK;
}

bool plan_small(const struct target *target, double flops, double weight_bytes, double staged_bytes)
{
    const double cores = target->info->compute_units > 2 ? (double)target->info->compute_units : 2;
    const double alone = host_alone_seconds(flops, weight_bytes);
    return alone < KERNEL_SECONDS &&
           host_seconds(target, flops, weight_bytes) < WAKE_SECONDS + staged_bytes / COPY_BYTES + alone / cores;
}

/* The families to try, best first. */
#define RANK_MAX 5
static size_t rank(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                   const struct family *order[RANK_MAX], const char **why)
{
    const double flops = host_flops(call->batch, shape->in_features, shape->out_features);
    size_t count = 0;
    if (!target->context) {
        *why = "the host device";
        order[count++] = &family_host;
        return count;
    }
    if (target->info->type == CLAYER_DEVICE_CPU || target->info->type == CLAYER_DEVICE_SIMULATOR) {
        *why = "CPU device";
        if (call->host &&
            plan_small(target, flops, (double)shape->in_features * (double)shape->out_features * sizeof(float),
                       (double)call->staged_bytes)) {
            *why = "a call on a CPU device that is too short to be worth waiting for its workers";
            order[count++] = &family_host;
        }
        order[count++] = &family_panel;
    } else {
        *why = "GPU or accelerator";
        if (call->batch <= SKINNY_BATCH) {
            *why = "small batch on a GPU: reading the weights bounds it";
            order[count++] = &family_skinny;
        }
        order[count++] = &family_tiled;
    }
    order[count++] = &family_portable;
    order[count++] = &family_host; /* where the calling thread can reach everything */
    return count;
}

unsigned plan_bit(const struct family *family)
{
    for (size_t i = 0; i < family_count; i++)
        if (families[i] == family)
            return 1u << i;
    return 0;
}

clayer_status plan_choose(const struct target *target, struct store *store, const struct layer_shape *shape,
                          const struct call_shape *call, const struct plan_request *request, unsigned excluded,
                          struct plan *plan)
{
    plan->record = NULL;
    plan->source = NULL;
    if (request->family) {
        plan->family = request->family;
        plan->origin = PLAN_FORCED;
        memset(&plan->configuration, 0, sizeof plan->configuration);
        plan->family->suggest(target, shape, call, &plan->configuration);
        TRY(family_parse(plan->family, request->configuration, &plan->configuration));
        const char *reason = plan->family->refuses(target, shape, call, &plan->configuration);
        /* Without in_features there is nothing to multiply, which CLBlast refuses: any family's answer is act(b). */
        if (reason && shape->in_features > 0)
            return FAIL(CLAYER_ERROR_UNSUPPORTED, "the forced plan %s%s%s cannot run here: %s", plan->family->name,
                        *request->configuration ? ":" : "", request->configuration, reason);
        snprintf(plan->reason, sizeof plan->reason, "forced by the caller or CLAYER_PLAN");
        if (!reason)
            return CLAYER_OK;
    }
    if (store && plan_from_record(target, store, shape, call, excluded, plan))
        return CLAYER_OK;
    const struct family *order[RANK_MAX];
    const char *why, *first = NULL;
    const size_t count = rank(target, shape, call, order, &why);
    for (size_t i = 0; i < count; i++) {
        struct configuration configuration = {{0}};
        order[i]->suggest(target, shape, call, &configuration);
        const char *reason = plan_bit(order[i]) & excluded ? "its kernel could not be built"
                                                           : order[i]->refuses(target, shape, call, &configuration);
        if (reason) {
            first = first ? first : reason;
            continue;
        }
        plan->family = order[i];
        plan->configuration = configuration;
        plan->origin = i ? PLAN_FALLBACK : PLAN_RULE;
        if (i)
            snprintf(plan->reason, sizeof plan->reason, "%s; %s was passed over: %s", why, order[0]->name, first);
        else
            snprintf(plan->reason, sizeof plan->reason, "%s", why);
        return CLAYER_OK;
    }
    return FAIL(excluded ? CLAYER_ERROR_BUILD : CLAYER_ERROR_INTERNAL, "no family can run %zux%zux%zu: %s", call->batch,
                shape->in_features, shape->out_features, first ? first : "none was tried");
}
