#include "tune/session.h"
#include "base/error.h"
#include "base/log.h"
#include "host/packed.h"
#include "plan/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an effort may spend on a shape. */
struct budget {
    double seconds;       /* in all; the finals have what search leaves */
    double search;        /* of these, for the search */
    double deadline;      /* a candidate that takes longer hangs, unless good ones take long, too */
    size_t sample, stale; /* candidates of the first sample; candidates without gain that end the search */
};

static const struct budget budgets[] = {
    [CLAYER_EFFORT_QUICK] = {11, 7, 10, 16, 24},
    [CLAYER_EFFORT_NORMAL] = {80, 68, 20, 80, 120},
    [CLAYER_EFFORT_EXHAUSTIVE] = {INFINITY, INFINITY, 60, SIZE_MAX, SIZE_MAX},
};

/* Longer than the longest good candidate, by this factor, is a hang. */
#define HANG_FACTOR 10.0
/* Failures in a row after which the device itself is suspected, and fresh workers that it gets. */
#define FAILURES_IN_A_ROW 3
#define RESTARTS 3
/* What a quick search gives CLBlast on a CPU, at its end: from a cold cache it compiles for longer than that, and the
 * next shape finds what it has done so far. */
#define CLBLAST_SECONDS 4.0
#define FINALS_SECONDS 1.5 /* that it leaves */
/* A family is given up when its first few are this much slower than the best. */
#define FAMILY_TRIES 5
#define FAMILY_FACTOR 3.0
/* The model's factor beyond which a family has no chance. */
#define HOPELESS 6.0f
/* First samples this much above the best are proof. */
#define STOP_FACTOR 1.4
/* The calling thread wins when it is so many times faster than the best of the first few on the device. */
#define HOST_WINS 3.0
#define FEW 3
#define TRY_SAMPLES 3
/* Of the time that a limit leaves for a shape, when at latest the finals begin and end. */
#define FINALS_BEGIN 0.7
#define FINALS_END 0.9
/* A search tries so many candidates, one of which must run, even if that takes so many times its time on top: compilers
 * may be slow, or the machine busy. */
#define LEAST_CANDIDATES 5
#define PATIENCE 3.0
/* Less is no gain. */
#define GAIN 0.995

/* Marks the families of which the model expects nothing: their best configuration is far behind. */
static void mark_hopeless(struct search *s)
{
    float least = INFINITY;
    for (size_t i = s->space.count; i-- > 0;) { /* the cheapest first, so the last written is each family's best */
        const struct point p = s->space.order[i];
        s->points[p.family]++;
        s->family_cost[p.family] = least = s->space.cost[p.family][p.index];
    }
    for (size_t f = 0; f < family_count; f++) /* a family of one configuration is tried anyway */
        s->hopeless[f] = families[f]->parameter_count > 0 && s->family_cost[f] > HOPELESS * least;
}

static bool *warm_of(struct session *session, const char *plan)
{
    size_t f = 0;
    while (f + 1 < family_count && (strncmp(families[f]->name, plan, strlen(families[f]->name)) != 0))
        f++;
    return &session->warm[f];
}

bool search_task(struct search *s, enum runner_task task, const char *plan, size_t samples, double stop,
                 struct outcome *outcome)
{
    struct session *session = s->session;
    bool *warm = warm_of(session, plan);
    double seconds = *warm ? budgets[session->params->effort].deadline : START_SECONDS;
    if (seconds < HANG_FACTOR * session->longest)
        seconds = HANG_FACTOR * session->longest;
    if (s->allowance > 0)
        seconds = s->allowance;
    const double start = trial_clock() + START_SECONDS;
    s->failure = runner_ready(session->runner, start < session->end ? start : session->end);
    const double begun = trial_clock();
    const double due = begun + seconds;
    if (s->failure == CLAYER_OK)
        s->failure =
            runner_run(session->runner, task, plan, samples, stop, due < session->end ? due : session->end, outcome);
    if (s->failure != CLAYER_OK && session_over(session)) { /* the worker was only just starting */
        s->failure = CLAYER_OK;
        return false;
    }
    if (s->failure != CLAYER_OK) {
        snprintf(s->failure_text, sizeof s->failure_text, "%.230s", clayer_last_error());
        return false;
    }
    const double took = trial_clock() - begun;
    *warm = *warm || outcome->verdict != CLAYER_VERDICT_LOST;
    if (outcome->verdict == CLAYER_VERDICT_LOST && (runner_stopped(session->runner) || trial_clock() >= session->end))
        return false; /* it is not the candidate's fault */
    if (outcome->verdict == CLAYER_VERDICT_RIGHT && took > session->longest)
        session->longest = took;
    return true;
}

/* A device that has gone answers every candidate with an error: new workers, then the end. */
static void watch_failures(struct search *s, const struct outcome *outcome)
{
    struct session *session = s->session;
    if (outcome->verdict == CLAYER_VERDICT_RIGHT || outcome->verdict == CLAYER_VERDICT_SLOW)
        session->failures = session->restarts = 0;
    if (outcome->verdict != CLAYER_VERDICT_FAILED || ++session->failures < FAILURES_IN_A_ROW)
        return;
    session->failures = 0;
    if (++session->restarts > RESTARTS) {
        s->device_lost = true;
        return;
    }
    log_write(CLAYER_LOG_WARN, "%d candidates failed in a row, the last with: %s; tuning goes on with a fresh context",
              FAILURES_IN_A_ROW, outcome->reason);
    runner_restart(session->runner);
}

static bool same(struct point a, struct point b)
{
    return a.family == b.family && a.index == b.index;
}

static void take(struct search *s, struct point point, const char *plan, const struct outcome *outcome)
{
    double values[OUTCOME_SAMPLES];
    memcpy(values, outcome->seconds, sizeof values);
    const double median = quantile(values, outcome->count, 0.5);
    if (outcome->verdict == CLAYER_VERDICT_SLOW) {
        if (same(point, s->standard))
            s->default_seconds = median;
        if (families[point.family] == family_clblast)
            s->clblast_seconds = median;
        return;
    }
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 64;
        struct contender *more = realloc(s->contenders, room * sizeof *more);
        if (!more) {
            s->failure = FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu candidates", room);
            return;
        }
        s->contenders = more;
        s->room = room;
    }
    struct contender *c = &s->contenders[s->count++];
    c->point = point;
    c->median = median;
    snprintf(c->plan, sizeof c->plan, "%s", plan);
    if (same(point, s->standard))
        s->default_seconds = median;
    const struct family *family = families[point.family];
    if (family == family_clblast)
        s->clblast_seconds = median;
    if (s->family_best[point.family] == 0 || median < s->family_best[point.family])
        s->family_best[point.family] = median;
    /* The calling thread is compared in the finals, where each call is waited for. */
    if (family != &family_host && (s->best == NO_CONTENDER || median < s->contenders[s->best].median))
        s->best = s->count - 1;
}

/* Whether CLBlast comes last, and may have too little time: where it is far behind, it must not cost the search. */
static bool clblast_waits(const struct search *s)
{
    const clayer_device_type type = s->space.target.info->type;
    return s->session->params->effort == CLAYER_EFFORT_QUICK &&
           (type == CLAYER_DEVICE_CPU || type == CLAYER_DEVICE_SIMULATOR);
}

/* Whether more of this family is worth trying. */
static bool promising(const struct search *s, size_t family)
{
    if (s->hopeless[family] || (families[family] == family_clblast && clblast_waits(s)))
        return false;
    return s->tried[family] < FAMILY_TRIES || s->best == NO_CONTENDER ||
           (s->family_best[family] > 0 && s->family_best[family] < FAMILY_FACTOR * s->contenders[s->best].median);
}

/* How many points are left in families that are worth it. */
static size_t left(const struct search *s)
{
    size_t count = 0;
    for (size_t f = 0; f < family_count; f++)
        if (promising(s, f) && s->points[f] > s->tried[f])
            count += s->points[f] - s->tried[f];
    return count;
}

/* Counts an outcome, keeps it and tells it. */
static void settle(struct search *s, struct point point, const char *plan, const struct outcome *outcome)
{
    s->done++;
    s->tried[point.family]++;
    if (outcome->verdict == CLAYER_VERDICT_RIGHT)
        s->result->candidates++;
    if (outcome->verdict == CLAYER_VERDICT_RIGHT || outcome->verdict == CLAYER_VERDICT_SLOW)
        take(s, point, plan, outcome);
    else if (outcome->verdict != CLAYER_VERDICT_QUARANTINED)
        s->result->rejected++;
    const size_t first = s->done < s->first ? s->first : s->done;
    if (s->total > first + left(s)) /* a family was given up */
        s->total = first + left(s);
    if (s->total < s->done)
        s->total = s->done;
    if (outcome->verdict == CLAYER_VERDICT_LOST || outcome->verdict == CLAYER_VERDICT_WRONG)
        log_write(CLAYER_LOG_INFO, "candidate %s for %zux%zux%zu is %s: %s", plan, s->shape.batch, s->shape.in_features,
                  s->shape.out_features, clayer_verdict_string(outcome->verdict), outcome->reason);
    session_report(s, CLAYER_TUNE_CANDIDATE, plan, outcome);
}

bool search_quarantined(const struct search *s, struct point point, bool trusted, char *reason, size_t size)
{
    const struct journal *journal = s->session->journal;
    struct point siblings[SPACE_NEIGHBOURS];
    char plan[PLAN_BYTES];
    space_print(point, plan);
    const char *why = journal_quarantined(journal, plan, trusted);
    if (why) {
        snprintf(reason, size, "%s", why);
        return true;
    }
    const size_t count = space_siblings(&s->space, point, siblings, SPACE_NEIGHBOURS);
    for (size_t i = 0; i < count; i++) {
        space_print(siblings[i], plan);
        why = journal_lost(journal, plan);
        if (why) {
            snprintf(reason, size, "the same kernel, as %s: %s", plan, why);
            return true;
        }
    }
    return false;
}

/* Tries one point, unless it was. false: the search must end. */
static bool try_point(struct search *s, struct point point, bool trusted)
{
    struct session *session = s->session;
    struct outcome outcome = {0};
    char plan[PLAN_BYTES];
    if (s->space.taken[point.family][point.index])
        return true;
    if (session_over(session))
        return false;
    s->space.taken[point.family][point.index] = true;
    space_print(point, plan);
    if (search_quarantined(s, point, trusted, outcome.reason, sizeof outcome.reason)) {
        outcome.verdict = CLAYER_VERDICT_QUARANTINED;
    } else if (!journal_known(session->journal, s->key, plan, &outcome)) {
        const double begun = trial_clock();
        const double stop = s->best == NO_CONTENDER || trusted ? 0 : STOP_FACTOR * s->contenders[s->best].median;
        journal_try(session->journal, s->key, plan);
        const bool tried = search_task(s, RUNNER_TRY, plan, TRY_SAMPLES, stop, &outcome);
        journal_tried(session->journal, s->key, plan, tried ? &outcome : NULL);
        if (!tried)
            return false;
        watch_failures(s, &outcome);
        if (outcome.verdict == CLAYER_VERDICT_LOST) { /* costs a candidate, not the others' time */
            s->search_end += trial_clock() - begun;
            s->end += trial_clock() - begun;
        }
    }
    settle(s, point, plan, &outcome);
    /* With next to nothing to choose from, going on is better than ending in time. */
    double patience = s->count && s->done >= LEAST_CANDIDATES ? 0 : PATIENCE * (s->search_end - s->begun);
    const double latest = s->begun + (session->end - s->begun) / (double)(session->shapes_left + 1) * FINALS_BEGIN;
    if (s->search_end + patience > latest) /* the finals need the rest */
        patience = latest > s->search_end ? latest - s->search_end : 0;
    return s->failure == CLAYER_OK && !s->device_lost && !session_over(session) &&
           trial_clock() < s->search_end + patience;
}

static void add_first(const struct search *s, struct point *first, size_t *count, struct point point)
{
    for (size_t i = 0; i < *count; i++)
        if (same(first[i], point))
            return;
    if (s->space.cost[point.family][point.index] >= 0)
        first[(*count)++] = point;
}

size_t search_first(const struct search *s, struct point first[SEARCH_FIRST])
{
    size_t count = 0;
    struct point point;
    add_first(s, first, &count, s->standard);
    add_first(s, first, &count, s->incumbent);
    for (size_t i = 0; i < s->seed_count; i++)
        if (space_parse(&s->space, s->seeds[i], &point))
            add_first(s, first, &count, point);
    for (size_t f = 0; f < family_count; f++) {
        struct configuration configuration = {{0}};
        if (s->session->params->effort == CLAYER_EFFORT_QUICK && s->hopeless[f])
            continue;
        if (families[f] == family_clblast && clblast_waits(s))
            continue;
        families[f]->suggest(&s->space.target, &s->space.shape, &s->space.call, &configuration);
        if (space_find(&s->space, families[f], &configuration, &point))
            add_first(s, first, &count, point);
    }
    return count;
}

/* When nothing else ran, what has no chance otherwise may still be right. */
static bool last_resort(struct search *s)
{
    for (size_t f = 0; f < family_count && s->best == NO_CONTENDER; f++) {
        struct configuration configuration = {{0}};
        struct point point;
        families[f]->suggest(&s->space.target, &s->space.shape, &s->space.call, &configuration);
        if (space_find(&s->space, families[f], &configuration, &point) && !try_point(s, point, true))
            return false;
    }
    return true;
}

/* Tries up to `most` more of the model's order from *at on. */
static bool sample(struct search *s, size_t *at, size_t most)
{
    for (size_t tried = 0; tried < most && *at < s->space.count; (*at)++) {
        const struct point point = s->space.order[*at];
        if (s->space.taken[point.family][point.index] || !promising(s, point.family))
            continue;
        tried++;
        if (!try_point(s, point, false))
            return false;
    }
    return true;
}

static int by_median(const void *a, const void *b)
{
    const struct contender *x = a, *y = b;
    return x->median < y->median ? -1 : x->median > y->median;
}

/* Climbs from the best few, until no neighbour of them is better. */
static bool climb(struct search *s, size_t bases)
{
    for (;;) {
        bool gained = false;
        struct contender top[4];
        size_t count = 0;
        for (size_t i = 0; i < s->count; i++) { /* the `bases` fastest that have neighbours */
            if (!families[s->contenders[i].point.family]->geometry)
                continue;
            if (count < bases)
                top[count++] = s->contenders[i];
            else if (s->contenders[i].median < top[count - 1].median)
                top[count - 1] = s->contenders[i];
            qsort(top, count, sizeof *top, by_median);
        }
        for (size_t b = 0; b < count && !gained; b++) {
            struct point neighbours[SPACE_NEIGHBOURS];
            const size_t n = space_neighbours(&s->space, top[b].point, neighbours, SPACE_NEIGHBOURS);
            for (size_t i = 0; i < n; i++) {
                const double before = s->contenders[s->best].median;
                if (!try_point(s, neighbours[i], false))
                    return false;
                gained = gained || s->contenders[s->best].median < GAIN * before;
            }
        }
        if (!gained)
            return true;
    }
}

static void try_clblast(struct search *s)
{
    const struct configuration none = {{0}};
    struct session *session = s->session;
    struct point point;
    struct outcome outcome = {0};
    const double left = s->end - trial_clock() - FINALS_SECONDS;
    if (!family_clblast || left < 1 || !clblast_waits(s) || session->params->refresh || s->failure != CLAYER_OK ||
        s->device_lost || session_over(session) || s->best == NO_CONTENDER ||
        !space_find(&s->space, family_clblast, &none, &point) || s->space.taken[point.family][point.index] ||
        journal_quarantined(session->journal, family_clblast->name, false))
        return;
    s->space.taken[point.family][point.index] = true;
    s->allowance = left < CLBLAST_SECONDS ? left : CLBLAST_SECONDS;
    journal_try(session->journal, s->key, family_clblast->name);
    const bool tried = search_task(s, RUNNER_TRY, family_clblast->name, TRY_SAMPLES,
                                   STOP_FACTOR * s->contenders[s->best].median, &outcome);
    const bool late = tried && outcome.verdict == CLAYER_VERDICT_LOST && runner_late(session->runner);
    s->allowance = 0;
    journal_tried(session->journal, s->key, family_clblast->name, tried && !late ? &outcome : NULL);
    if (tried && !late)
        settle(s, point, family_clblast->name, &outcome);
}

/* Whether the calling thread has won already, where the rule of thumb names it, too: on the device a call that is
 * waited for takes longer yet than what was measured there. */
static bool host_wins(const struct search *s)
{
    if (families[s->standard.family] != &family_host)
        return false;
    for (size_t i = 0; i < s->count && s->best != NO_CONTENDER; i++)
        if (families[s->contenders[i].point.family] == &family_host)
            return HOST_WINS * s->contenders[i].median < s->contenders[s->best].median;
    return false;
}

/* The first candidates, then samples and climbs in turns. */
static void explore(struct search *s)
{
    struct session *session = s->session;
    const struct budget *budget = &budgets[session->params->effort];
    struct point first[SEARCH_FIRST];
    s->begun = trial_clock();
    double seconds = budget->seconds, portion = budget->search / budget->seconds;
    if (isfinite(session->end)) {
        const double share = (session->end - s->begun) / (double)(session->shapes_left + 1);
        seconds = share * FINALS_END < seconds ? share * FINALS_END : seconds;
        portion = isfinite(portion) ? portion : 0.8;
    }
    s->end = s->begun + seconds;
    s->search_end = s->begun + (isfinite(seconds) ? seconds * portion : INFINITY);
    const size_t count = s->first = search_first(s, first);
    size_t most = s->agreed ? budget->sample / 3 : budget->sample, at = 0;
    s->total = session->params->refresh ? count : count + left(s);
    if (most < s->space.count && s->total > count + most + budget->stale)
        s->total = count + most + budget->stale;
    runner_shape(session->runner, &s->shape);
    session_report(s, CLAYER_TUNE_BEGIN, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        if (!try_point(s, first[i], same(first[i], s->standard) || same(first[i], s->incumbent)))
            return;
    if (session->params->refresh || !sample(s, &at, FEW) || host_wins(s))
        return;
    for (;;) {
        const size_t before = s->done;
        const double best = s->best == NO_CONTENDER ? 0 : s->contenders[s->best].median;
        if (!sample(s, &at, most) || !last_resort(s) || (s->best != NO_CONTENDER && !climb(s, s->agreed ? 1 : 3)))
            return;
        if (s->done == before || s->agreed)
            return; /* everything that is promising was tried */
        if (best > 0 && s->contenders[s->best].median > GAIN * best && s->done >= budget->stale)
            return;
        most = budget->sample / 2 + 1;
    }
}

void search_run(struct search *s)
{
    explore(s);
    try_clblast(s);
}

void search_seed(struct search *s, const char *plan)
{
    for (size_t i = 0; i < s->seed_count; i++)
        if (strcmp(s->seeds[i], plan) == 0)
            return;
    if (s->seed_count < SEEDS_MAX)
        snprintf(s->seeds[s->seed_count++], PLAN_BYTES, "%s", plan);
}

/* The point of the plan that is chosen with these records. */
static clayer_status chosen(struct search *s, struct store *store, struct point *point)
{
    const struct plan_request nothing = {0};
    struct plan plan;
    TRY(plan_choose(&s->space.target, store, &s->space.shape, &s->space.call, &nothing, 0, &plan));
    if (!space_find(&s->space, plan.family, &plan.configuration, point))
        return FAIL(CLAYER_ERROR_INTERNAL, "plan %s is not in its family's space", plan.family->name);
    return CLAYER_OK;
}

clayer_status search_create(struct session *session, size_t index, struct search *s)
{
    memset(s, 0, sizeof *s);
    s->session = session;
    s->index = index;
    s->shape = session->params->shapes[index];
    s->result = &session->results[index];
    s->best = NO_CONTENDER;
    s->begun = trial_clock();
    s->end = s->search_end = INFINITY;
    const clayer_tune_shape *shape = &s->shape;
    snprintf(s->key, sizeof s->key, "%zux%zux%zu/%s%s", shape->batch, shape->in_features, shape->out_features,
             clayer_activation_string(shape->activation), shape->no_bias ? "/nobias" : "");
    const struct layer_shape layer = {
        .in_features = shape->in_features,
        .out_features = shape->out_features,
        .panel = packed_panel_width(shape->out_features),
        .activation = {shape->activation, shape->activation_alpha, shape->activation_beta},
        .has_bias = !shape->no_bias,
        .plain = session->context->target.clblast,
        .host = session->context->opencl->shared_memory,
    };
    const struct call_shape call = {
        .batch = shape->batch, .ldx = shape->in_features, .ldy = shape->out_features, .host = layer.host};
    plan_record_layer(&layer, &call, &s->layer);
    clayer_status status = space_create(&session->context->target, &layer, &call, &s->space);
    if (status == CLAYER_OK) {
        mark_hopeless(s);
        status = chosen(s, NULL, &s->standard);
    }
    if (status == CLAYER_OK)
        status = chosen(s, session->store, &s->incumbent);
    if (status != CLAYER_OK) {
        search_free(s);
        return status;
    }
    space_print(s->standard, s->result->default_plan);
    return CLAYER_OK;
}

void search_free(struct search *s)
{
    space_free(&s->space);
    free(s->contenders);
    s->contenders = NULL;
}
