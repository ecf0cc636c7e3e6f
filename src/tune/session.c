#include "tune/session.h"

#include <math.h>
#include <string.h>

bool session_over(const struct session *session)
{
    return session->cancelled || trial_clock() >= session->end;
}

/* Candidates after which the time that they took says something about the others'. */
#define ENOUGH 8

/* At most: what this shape may still take, and the efforts' most for the others; without a limit, as long as candidates
 * have taken so far, each. */
static double seconds_left(const struct search *search)
{
    const struct session *session = search->session;
    const double now = trial_clock();
    if (isfinite(session->end))
        return session->end > now ? session->end - now : 0;
    if (!isfinite(search->end)) {
        if (search->done < ENOUGH)
            return -1;
        const double each = (now - search->begun) / (double)search->done;
        return each * ((double)(search->total - search->done) + (double)(search->total * session->shapes_left));
    }
    const double whole = search->end - search->begun;
    return (search->end > now ? search->end - now : 0) + whole * (double)session->shapes_left;
}

void session_report(struct search *search, clayer_tune_event event, const char *candidate,
                    const struct outcome *outcome)
{
    struct session *session = search->session;
    const struct contender *best = search->best == NO_CONTENDER ? NULL : &search->contenders[search->best];
    clayer_tune_progress progress = {.event = event,
                                     .shape = &search->shape,
                                     .shape_index = search->index,
                                     .shape_count = session->params->shape_count,
                                     .done = search->done,
                                     .total = search->total,
                                     .plan = best ? best->plan : "",
                                     .best_seconds = best ? best->median : 0,
                                     .default_seconds = search->default_seconds,
                                     .clblast_seconds = search->clblast_seconds,
                                     .seconds_left = seconds_left(search),
                                     .candidate = candidate ? candidate : "",
                                     .reason = ""};
    if (outcome) {
        double values[OUTCOME_SAMPLES];
        memcpy(values, outcome->seconds, sizeof values);
        progress.verdict = outcome->verdict;
        progress.candidate_seconds = quantile(values, outcome->count, 0.5);
        progress.reason = outcome->reason;
    }
    if (session->params->callback && session->params->callback(session->params->user, &progress) != 0)
        session->cancelled = true;
}

bool session_tick(void *user)
{
    struct session *session = user;
    const clayer_tune_params *params = session->params;
    if (session->current)
        session_report(session->current, CLAYER_TUNE_WAITING, NULL, NULL);
    else if (params->callback && params->shape_count) /* the device is being opened */
        session->cancelled = params->callback(params->user, &(clayer_tune_progress){.event = CLAYER_TUNE_WAITING,
                                                                                    .shape = params->shapes,
                                                                                    .shape_count = params->shape_count,
                                                                                    .plan = "",
                                                                                    .seconds_left = -1,
                                                                                    .candidate = "",
                                                                                    .reason = ""}) != 0;
    return !session->cancelled;
}
