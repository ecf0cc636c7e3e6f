/* The decision for one shape: the fastest few, the default, what runs now and CLBlast, measured in turns under the same
 * conditions. */
#include "tune/session.h"
#include "base/error.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINALISTS_MAX 10
#define SAMPLES_MAX 64
/* Of the search's fastest; beside them, those that are there by right. */
#define FASTEST 4
/* After the first round, the fastest that are this much behind leave. */
#define DROP_FACTOR 1.2
/* The calling thread is a finalist, and every call is waited for, when it is no more than this behind the device. */
#define HOST_FACTOR 4.0
/* A plan takes another's place for at least this. */
#define MARGIN 0.01

struct finalist {
    struct point point;
    char plan[PLAN_BYTES];
    bool by_right; /* the default, the incumbent, CLBlast: stays to the end */
    bool out;
    double samples[SAMPLES_MAX];
    size_t count;
    double median, spread;
};

struct finals {
    struct search *search;
    struct finalist finalists[FINALISTS_MAX];
    size_t count;
    bool waited;
};

static bool same(struct point a, struct point b)
{
    return a.family == b.family && a.index == b.index;
}

static void add(struct finals *f, const struct contender *contender, bool by_right)
{
    for (size_t i = 0; i < f->count; i++)
        if (same(f->finalists[i].point, contender->point)) {
            f->finalists[i].by_right = f->finalists[i].by_right || by_right;
            return;
        }
    if (f->count == FINALISTS_MAX)
        return;
    struct finalist *finalist = &f->finalists[f->count++];
    *finalist = (struct finalist){.point = contender->point, .by_right = by_right};
    snprintf(finalist->plan, sizeof finalist->plan, "%s", contender->plan);
}

static const struct contender *find(const struct search *s, struct point point)
{
    for (size_t i = 0; i < s->count; i++)
        if (same(s->contenders[i].point, point))
            return &s->contenders[i];
    return NULL;
}

/* Who takes part. */
static void select_finalists(struct finals *f)
{
    struct search *s = f->search;
    const double best = s->best == NO_CONTENDER ? INFINITY : s->contenders[s->best].median;
    bool *chosen = calloc(s->count + 1, sizeof *chosen);
    const struct contender *by_right[] = {find(s, s->standard), find(s, s->incumbent)};
    for (size_t i = 0; i < sizeof by_right / sizeof *by_right; i++)
        if (by_right[i])
            add(f, by_right[i], true);
    for (size_t i = 0; i < s->count; i++) {
        const struct family *family = families[s->contenders[i].point.family];
        if (family == family_clblast || (family == &family_host && s->contenders[i].median < HOST_FACTOR * best))
            add(f, &s->contenders[i], true);
    }
    for (size_t n = 0; chosen && n < FASTEST; n++) {
        size_t fastest = NO_CONTENDER;
        for (size_t i = 0; i < s->count; i++)
            if (!chosen[i] && families[s->contenders[i].point.family] != &family_host &&
                (fastest == NO_CONTENDER || s->contenders[i].median < s->contenders[fastest].median))
                fastest = i;
        if (fastest == NO_CONTENDER)
            break;
        chosen[fastest] = true;
        add(f, &s->contenders[fastest], false);
    }
    free(chosen);
    for (size_t i = 0; i < f->count; i++)
        f->waited = f->waited || families[f->finalists[i].point.family] == &family_host;
}

static void judge(struct finalist *finalist)
{
    finalist->median = quantile(finalist->samples, finalist->count, 0.5);
    finalist->spread =
        quantile(finalist->samples, finalist->count, 0.75) - quantile(finalist->samples, finalist->count, 0.25);
}

/* The fastest that is still in; NULL when there is none. */
static struct finalist *fastest_of(struct finals *f)
{
    struct finalist *fastest = NULL;
    for (size_t i = 0; i < f->count; i++)
        if (!f->finalists[i].out && f->finalists[i].count && (!fastest || f->finalists[i].median < fastest->median))
            fastest = &f->finalists[i];
    return fastest;
}

/* One turn of everybody. false when the run must end. */
static bool round_of(struct finals *f, size_t samples)
{
    struct search *s = f->search;
    for (size_t i = 0; i < f->count; i++) {
        struct finalist *finalist = &f->finalists[i];
        struct outcome outcome = {0};
        if (finalist->out || journal_quarantined(s->session->journal, finalist->plan, true))
            continue;
        const size_t room = SAMPLES_MAX - finalist->count;
        const enum runner_task task = f->waited ? RUNNER_TIME_WAITED : RUNNER_TIME;
        journal_try(s->session->journal, s->key, finalist->plan);
        const bool tried = search_task(s, task, finalist->plan, samples < room ? samples : room, 0, &outcome);
        const bool lost = outcome.verdict == CLAYER_VERDICT_LOST;
        journal_tried(s->session->journal, s->key, finalist->plan, tried && lost ? &outcome : NULL);
        if (!tried)
            return false;
        if (outcome.verdict != CLAYER_VERDICT_RIGHT) {
            finalist->out = true;
            s->result->rejected++;
            session_report(s, CLAYER_TUNE_CANDIDATE, finalist->plan, &outcome);
            continue;
        }
        memcpy(finalist->samples + finalist->count, outcome.seconds, outcome.count * sizeof *outcome.seconds);
        finalist->count += outcome.count;
        judge(finalist);
        session_report(s, CLAYER_TUNE_WAITING, NULL, NULL);
        if (session_over(s->session))
            return false;
    }
    return true;
}

/* Rounds, until everybody has samples enough or time is up. false when not even one round was possible. */
static bool rounds(struct finals *f)
{
    static const size_t wanted[] = {
        [CLAYER_EFFORT_QUICK] = 5, [CLAYER_EFFORT_NORMAL] = 9, [CLAYER_EFFORT_EXHAUSTIVE] = 15};
    const struct search *s = f->search;
    for (size_t round = 0; round < wanted[s->session->params->effort]; round++) {
        const double begun = trial_clock();
        /* Calls of a tenth of a second take their time: one sample a turn. */
        const struct finalist *first = fastest_of(f);
        const size_t samples = first && first->median > 0.05 ? 1 : 3;
        if (!round_of(f, samples))
            return round > 0 && !s->session->cancelled && s->failure == CLAYER_OK;
        const struct finalist *best = fastest_of(f);
        for (size_t i = 0; best && i < f->count; i++)
            f->finalists[i].out = f->finalists[i].out || (!f->finalists[i].by_right && f->finalists[i].count &&
                                                          f->finalists[i].median > DROP_FACTOR * best->median);
        const double now = trial_clock();
        if (now + 1.5 * (now - begun) > s->end)
            break;
    }
    return true;
}

/* Whether a is faster than b by more than chance. */
static bool beats(const struct finalist *a, const struct finalist *b)
{
    const double spread = (a->spread + b->spread) / 2;
    const double margin = MARGIN * b->median;
    return b->median - a->median > (spread > margin ? spread : margin);
}

/* Of those that nobody beats: the default, else what runs now, else the one that is most like the default. */
static struct finalist *decide(struct finals *f)
{
    const struct search *s = f->search;
    struct finalist *best = fastest_of(f), *choice = best;
    int nearest = 1000;
    for (size_t i = 0; best && i < f->count; i++) {
        struct finalist *finalist = &f->finalists[i];
        if (finalist->out || finalist->count == 0 || beats(best, finalist))
            continue;
        int distance = space_distance(finalist->point, s->standard);
        if (same(finalist->point, s->incumbent) && distance > 0)
            distance = 0;
        if (same(finalist->point, s->standard))
            distance = -1;
        if (distance < nearest || (distance == nearest && finalist->median < choice->median)) {
            nearest = distance;
            choice = finalist;
        }
    }
    return choice;
}

static const struct finalist *measured(const struct finals *f, struct point point)
{
    for (size_t i = 0; i < f->count; i++)
        if (same(f->finalists[i].point, point) && f->finalists[i].count)
            return &f->finalists[i];
    return NULL;
}

static void fill(struct finals *f, const struct finalist *winner, bool *beats_incumbent)
{
    struct search *s = f->search;
    clayer_tune_result *result = s->result;
    const struct finalist *standard = measured(f, s->standard), *incumbent = measured(f, s->incumbent);
    snprintf(result->plan, sizeof result->plan, "%s", winner->plan);
    result->seconds = winner->median;
    result->spread = winner->spread;
    result->default_seconds = standard ? standard->median : s->default_seconds;
    result->clblast_seconds = s->clblast_seconds;
    for (size_t i = 0; i < f->count; i++)
        if (family_clblast && families[f->finalists[i].point.family] == family_clblast && f->finalists[i].count)
            result->clblast_seconds = f->finalists[i].median;
    result->state = CLAYER_TUNE_TUNED;
    *beats_incumbent = !incumbent || (!same(winner->point, s->incumbent) && beats(winner, incumbent));
}

bool finals_run(struct search *s, bool *beats_incumbent)
{
    struct finals f = {.search = s};
    s->failure = CLAYER_OK;
    if (s->device_lost)
        runner_restart(s->session->runner);
    select_finalists(&f);
    if (f.count == 0 || !rounds(&f))
        return false;
    for (struct finalist *winner; (winner = decide(&f));) {
        struct outcome outcome = {0};
        /* The first run of its whole batch. A worker's death would be seen; one in this process, by the next run. */
        const bool alone = !s->session->params->worker;
        if (alone)
            journal_try(s->session->journal, s->key, winner->plan);
        const bool done = search_task(s, RUNNER_CONFIRM, winner->plan, 1, 0, &outcome);
        const bool right = done && outcome.verdict == CLAYER_VERDICT_RIGHT;
        if (alone || (done && !right))
            journal_tried(s->session->journal, s->key, winner->plan, done && !right ? &outcome : NULL);
        if (right)
            fill(&f, winner, beats_incumbent);
        if (!done || right)
            return done;
        log_write(CLAYER_LOG_INFO, "candidate %s is %s on the whole batch: %s", winner->plan,
                  clayer_verdict_string(outcome.verdict), outcome.reason);
        session_report(s, CLAYER_TUNE_CANDIDATE, winner->plan, &outcome);
        s->result->rejected++;
        winner->out = true;
    }
    return false;
}
