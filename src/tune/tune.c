/* The public face: checks, the order of the shapes, and what becomes of results. */
#include "base/error.h"
#include "base/log.h"
#include "device.h"
#include "store/merge.h"
#include "tune/order.h"
#include "tune/session.h"

#include <clayer/version.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char *const efforts[] = {"quick", "normal", "exhaustive"};

const char *clayer_effort_string(clayer_effort effort)
{
    return (size_t)effort < sizeof efforts / sizeof *efforts ? efforts[effort] : "unknown";
}

clayer_status clayer_effort_parse(const char *text, clayer_effort *effort)
{
    REQUIRE(effort != NULL);
    for (size_t i = 0; text && i < sizeof efforts / sizeof *efforts; i++)
        if (strcmp(text, efforts[i]) == 0) {
            *effort = (clayer_effort)i;
            return CLAYER_OK;
        }
    return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "effort '%.40s': use quick, normal or exhaustive", text ? text : "");
}

static clayer_status check(const clayer_tune_params *params)
{
    REQUIRE(params != NULL);
    REQUIRE(params->shapes != NULL || params->shape_count == 0);
    REQUIRE(params->time_limit >= 0);
    if ((size_t)params->effort >= sizeof efforts / sizeof *efforts)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "effort %d: 0 (quick), 1 (normal) and 2 (exhaustive) are accepted",
                    (int)params->effort);
    for (size_t i = 0; i < params->shape_count; i++) {
        const clayer_tune_shape *s = &params->shapes[i];
        if (s->batch == 0 || s->in_features == 0 || s->out_features == 0)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "shape %zux%zux%zu: each number must be at least 1", s->batch,
                        s->in_features, s->out_features);
        const bool limits =
            s->activation == CLAYER_ACTIVATION_CLAMP && s->activation_alpha == 0 && s->activation_beta == 0;
        TRY(activation_check(s->activation, s->activation_alpha, limits ? 1.0f : s->activation_beta));
    }
    return CLAYER_OK;
}

/* The device's key as part of file names. */
static void device_hash(const struct record_device *device, char hash[24])
{
    char text[512];
    snprintf(text, sizeof text, "%s|%s|%s|%ld|%ld|%ld", device->platform, device->vendor, device->name,
             device->compute_units, device->max_work_group_size, device->local_memory_bytes);
    snprintf(hash, 24, "%016" PRIx64, (uint64_t)XXH64(text, strlen(text), 0));
}

/* Lets the worker open the device before this process does: a driver may hang or end the process already there. */
static clayer_status start_worker(const clayer_tune_params *params, const char *device, struct session *session)
{
    TRY(runner_create(params->worker, device, session_tick, session, &session->runner));
    if (!params->worker)
        return CLAYER_OK;
    const double latest = session->begun + START_SECONDS;
    const clayer_status status = runner_start(session->runner, latest < session->end ? latest : session->end);
    if (status != CLAYER_OK && runner_late(session->runner) && session->end < latest)
        return FAIL(CLAYER_ERROR_TIMEOUT, "the time limit of %.3g s was reached: %s", params->time_limit,
                    clayer_last_error());
    return status;
}

/* A context of the tuner's own, for planning: the caller's is left alone. */
static clayer_status open_context(const clayer_tune_params *params, bool runs, struct session *session)
{
    clayer_device_info info;
    TRY(clayer_device_select(params->context ? params->context->info.id : params->device, &info));
    if (info.type == CLAYER_DEVICE_HOST)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "the host device has nothing to tune: it has one plan only");
    if (runs)
        TRY(start_worker(params, info.id, session));
    TRY(clayer_context_create(&(clayer_context_params){.device = info.id}, &session->context));
    if (!session->context->opencl)
        return FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "device %s cannot be used", info.id);
    record_device_of(&session->context->info, &session->device);
    session->store = context_store(session->context);
    return CLAYER_OK;
}

static clayer_status open_journal(struct session *session)
{
    char *folder = NULL, hash[24], provenance[256];
    device_hash(&session->device, hash);
    int used = snprintf(provenance, sizeof provenance, "%s", clayer_version_string());
    for (size_t i = 0; i < family_count; i++) {
        char kernel[40];
        record_kernel_hash(families[i]->name, kernel);
        used += snprintf(provenance + used, sizeof provenance - (size_t)used, " %.8s", kernel);
    }
    snprintf(provenance + used, sizeof provenance - (size_t)used, " %.100s", session->context->info.driver_version);
    TRY(store_user_folder(&folder));
    const clayer_status status = journal_open(folder, hash, provenance, &session->journal);
    free(folder);
    return status;
}

/* runs: candidates will. */
static clayer_status open_session(const clayer_tune_params *params, bool runs, clayer_tune_result *results,
                                  struct session *session)
{
    memset(session, 0, sizeof *session);
    session->params = params;
    session->results = results;
    session->begun = trial_clock();
    session->end = params->time_limit > 0 ? session->begun + params->time_limit : INFINITY;
    session->shapes_left = params->shape_count;
    TRY(open_context(params, runs, session));
    return open_journal(session);
}

static void close_session(struct session *session)
{
    runner_destroy(&session->runner);
    journal_close(&session->journal);
    clayer_context_destroy(&session->context);
}

/* Puts a result into the store, on disk and in memory. */
static void keep(struct search *s, bool beats_incumbent)
{
    struct session *session = s->session;
    clayer_tune_result *result = s->result;
    struct record record = {.layer = s->layer,
                            .seconds = result->seconds,
                            .spread = result->spread,
                            .default_seconds = result->default_seconds,
                            .clblast_seconds = result->clblast_seconds,
                            .candidates = result->candidates};
    const size_t family = strcspn(result->plan, ":");
    snprintf(record.family, sizeof record.family, "%.*s", (int)family, result->plan);
    snprintf(record.configuration, sizeof record.configuration, "%s",
             result->plan[family] ? result->plan + family + 1 : "");
    snprintf(record.effort, sizeof record.effort, "%s", clayer_effort_string(session->params->effort));
    record_stamp(&session->context->info, &record);
    /* What runs now was measured beside it: a plan that beat it replaces its record, however that was made. */
    const bool replace = beats_incumbent || session->params->refresh;
    const clayer_status status =
        store_merge(&session->device, &record, 1, replace ? STORE_REPLACE : STORE_KEEP_BETTER, NULL);
    result->stored = status == CLAYER_OK;
    if (status != CLAYER_OK)
        snprintf(result->reason, sizeof result->reason, "%.250s", clayer_last_error());
    else
        journal_done(session->journal, s->key);
    if (session->store)
        store_add(session->store, STORE_API, &record, 1);
    struct store *callers = session->params->context ? context_store(session->params->context) : NULL;
    if (callers)
        store_add(callers, STORE_API, &record, 1);
}

/* The best plans of the same layer at other batches: of this run, and the records in reach. */
static void add_seeds(struct search *s)
{
    const struct session *session = s->session;
    const char *below = NULL, *above = NULL;
    size_t low = 0, high = SIZE_MAX;
    for (size_t i = 0; i < session->params->shape_count; i++) {
        const clayer_tune_result *other = &session->results[i];
        const size_t batch = session->params->shapes[i].batch;
        if (other->state != CLAYER_TUNE_TUNED || !order_same_layer(&session->params->shapes[i], &s->shape))
            continue;
        if (batch <= s->shape.batch && batch >= low) {
            low = batch;
            below = other->plan;
        }
        if (batch >= s->shape.batch && batch <= high) {
            high = batch;
            above = other->plan;
        }
    }
    if (below)
        search_seed(s, below);
    if (above)
        search_seed(s, above);
    s->agreed = below && above && strcmp(below, above) == 0;
    struct store_answer answers[STORE_ANSWERS];
    const size_t count = session->store ? store_lookup(session->store, &s->layer, answers) : 0;
    for (size_t i = 0; i < count && i < STORE_ANSWERS; i++) {
        char plan[PLAN_BYTES];
        const struct record *r = answers[i].record;
        snprintf(plan, sizeof plan, "%.15s%s%.111s", r->family, *r->configuration ? ":" : "", r->configuration);
        search_seed(s, plan);
    }
}

/* Tunes one shape. Only what ends the whole run is a failure. */
static clayer_status tune_one(struct session *session, size_t index)
{
    struct search s;
    bool beats_incumbent = false;
    clayer_tune_result *result = &session->results[index];
    TRY(search_create(session, index, &s));
    session->current = &s;
    session->failures = session->restarts = 0;
    result->state = CLAYER_TUNE_UNFINISHED;
    add_seeds(&s);
    search_run(&s);
    clayer_status status = s.failure;
    const bool stopped = session->cancelled || status != CLAYER_OK;
    if (!stopped && finals_run(&s, &beats_incumbent)) {
        keep(&s, beats_incumbent);
    } else if (!session->cancelled && (s.failure != CLAYER_OK || !session_over(session))) {
        result->state = CLAYER_TUNE_FAILED;
        status = s.failure;
        snprintf(result->reason, sizeof result->reason, "%s",
                 status != CLAYER_OK ? s.failure_text
                 : s.device_lost     ? "the device answers every plan with an error"
                                     : "no plan ran and was right");
        if (status == CLAYER_ERROR_TOO_LARGE || status == CLAYER_ERROR_OUT_OF_MEMORY)
            status = CLAYER_OK; /* this shape's own fault; others may fit */
    } else {
        snprintf(result->reason, sizeof result->reason, "%s", session->cancelled ? "cancelled" : "time was up");
        status = CLAYER_OK;
    }
    session_report(&s, CLAYER_TUNE_END, NULL, NULL);
    session->current = NULL;
    search_free(&s);
    return status;
}

clayer_status clayer_tune(const clayer_tune_params *params, clayer_tune_result *results)
{
    TRY(check(params));
    REQUIRE(results != NULL || params->shape_count == 0);
    struct session session;
    size_t *order = NULL, unstored = 0;
    if (params->shape_count)
        memset(results, 0, params->shape_count * sizeof *results);
    clayer_status status = open_session(params, true, results, &session);
    if (status != CLAYER_OK)
        goto fail;
    TRY_GOTO(order_shapes(params->shapes, params->shape_count, &order));
    for (size_t i = 0; i < params->shape_count && !session_over(&session); i++) {
        session.shapes_left--;
        TRY_GOTO(tune_one(&session, order[i]));
    }
    for (size_t i = 0; i < params->shape_count; i++) {
        unstored += results[i].state == CLAYER_TUNE_TUNED && !results[i].stored;
        if (session.cancelled)
            status = CLAYER_ERROR_CANCELLED;
        else if (results[i].state == CLAYER_TUNE_NOT_BEGUN || results[i].state == CLAYER_TUNE_UNFINISHED)
            status = CLAYER_ERROR_TIMEOUT;
    }
    if (status == CLAYER_OK && unstored)
        status = FAIL(CLAYER_ERROR_IO, "%zu of %zu records could not be stored", unstored, params->shape_count);
    else if (status == CLAYER_ERROR_TIMEOUT)
        FAIL(status, "the time limit of %.3g s was reached before all shapes were done", params->time_limit);
    else if (status == CLAYER_ERROR_CANCELLED)
        FAIL(status, "tuning was cancelled");
fail:
    free(order);
    close_session(&session);
    return status;
}

clayer_status clayer_tune_forget(const char *device, size_t *lifted)
{
    char *folder = NULL, hash[24];
    size_t count = 0;
    clayer_device_info info;
    struct record_device key;
    TRY(clayer_device_select(device, &info));
    record_device_of(&info, &key);
    device_hash(&key, hash);
    TRY(store_user_folder(&folder));
    const clayer_status status = journal_forget(folder, hash, &count);
    free(folder);
    if (lifted)
        *lifted = count;
    return status;
}

static void explain_one(const struct search *s, clayer_tune_explain_callback callback, void *user)
{
    struct point first[SEARCH_FIRST];
    const size_t count = search_first(s, first);
    char plan[PLAN_BYTES];
    clayer_tune_candidate line = {.shape = &s->shape, .candidate = plan, .count = 1, .reason = ""};
    for (size_t i = 0; i < count; i++)
        s->space.taken[first[i].family][first[i].index] = true;
    for (size_t i = 0; i < count + s->space.count; i++) {
        const struct point point = i < count ? first[i] : s->space.order[i - count];
        if (i >= count && (s->hopeless[point.family] || s->space.taken[point.family][point.index]))
            continue;
        space_print(point, plan);
        char reason[240] = "";
        const bool quarantined = search_quarantined(s, point, i < 2, reason, sizeof reason);
        line.verdict = quarantined ? CLAYER_VERDICT_QUARANTINED : CLAYER_VERDICT_RIGHT;
        line.reason = reason;
        callback(user, &line);
    }
    for (size_t i = 0; i < s->space.refusal_count; i++) {
        const struct refusal *refusal = &s->space.refusals[i];
        line = (clayer_tune_candidate){&s->shape, refusal->family->name, CLAYER_VERDICT_REFUSED, refusal->count,
                                       refusal->reason};
        callback(user, &line);
    }
    for (size_t f = 0; f < family_count; f++)
        if (s->hopeless[f] && s->space.legal[f]) {
            line = (clayer_tune_candidate){&s->shape, families[f]->name, CLAYER_VERDICT_REFUSED, s->space.legal[f],
                                           "the family is not made for this kind of device"};
            callback(user, &line);
        }
}

clayer_status clayer_tune_explain(const clayer_tune_params *params, clayer_tune_explain_callback callback, void *user)
{
    TRY(check(params));
    REQUIRE(callback != NULL);
    struct session session;
    clayer_tune_result *results = calloc(params->shape_count + 1, sizeof *results);
    if (!results)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu results", params->shape_count);
    clayer_status status = open_session(params, false, results, &session);
    for (size_t i = 0; i < params->shape_count && status == CLAYER_OK; i++) {
        struct search s;
        status = search_create(&session, i, &s);
        if (status != CLAYER_OK)
            break;
        add_seeds(&s);
        explain_one(&s, callback, user);
        search_free(&s);
    }
    close_session(&session);
    free(results);
    return status;
}
