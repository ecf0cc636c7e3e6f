/* One run of the tuner over its shapes: what all its parts share. */
#ifndef TUNE_SESSION_H
#define TUNE_SESSION_H

#include "context.h"
#include "store/store.h"
#include "tune/journal.h"
#include "tune/runner.h"
#include "tune/space.h"

/* A plan that ran on this shape and was right. */
struct contender {
    struct point point;
    char plan[PLAN_BYTES];
    double median;
};

#define SEEDS_MAX 16

/* One shape's search. */
struct search {
    struct session *session;
    size_t index; /* of the shape in the caller's order */
    clayer_tune_shape shape;
    char key[96]; /* tells shapes apart in the journal */
    struct record_layer layer;
    struct space space;
    clayer_tune_result *result;

    struct point standard;             /* what runs without records */
    struct point incumbent;            /* what runs now; may be the same */
    char seeds[SEEDS_MAX][PLAN_BYTES]; /* plans to try first: neighbours' best ones */
    size_t seed_count;
    bool agreed; /* the neighbouring batches have one best plan: little is to be found here */

    double begun, search_end, end;     /* on trial_clock's scale */
    float family_cost[SPACE_FAMILIES]; /* of each family's best configuration, by the model */
    bool hopeless[SPACE_FAMILIES];     /* not sampled; above quick, the rule of thumb's configuration is still tried */
    struct contender *contenders;
    size_t count, room;
    size_t best; /* index of the fastest contender on the device; (size_t)-1: none */
    size_t points[SPACE_FAMILIES], tried[SPACE_FAMILIES];
    double family_best[SPACE_FAMILIES]; /* 0: none */
    size_t done, total, first; /* candidates: tried, to be expected, tried whatever comes */
    double default_seconds, clblast_seconds;
    double allowance; /* seconds for the next task, where the effort's deadline does not hold; 0 */
    bool device_lost;
    clayer_status failure; /* what ends the run: no device, no memory */
    char failure_text[240];
};

/* For a worker to start, and for a family's first candidate: the driver loads its compiler, CLBlast compiles a dozen
 * kernels. What that took is the measure for later ones. */
#define START_SECONDS 30.0

#define NO_CONTENDER ((size_t)-1)

struct session {
    const clayer_tune_params *params;
    clayer_context *context; /* for planning only: nothing is launched on it */
    struct record_device device;
    struct store *store;
    struct journal *journal;
    struct runner *runner;
    double begun, end; /* INFINITY: no limit */
    bool cancelled;
    size_t shapes_left;
    struct search *current;
    unsigned failures, restarts; /* in a row */
    double longest;              /* seconds that a good candidate took */
    bool warm[SPACE_FAMILIES];   /* a candidate of the family has been answered for */
    clayer_tune_result *results;
};

/* Calls the callback; notes a wish to stop. */
void session_report(struct search *search, clayer_tune_event event, const char *candidate,
                    const struct outcome *outcome);
/* Whether the whole run must end now. */
bool session_over(const struct session *session);
bool session_tick(void *user);

/* Prepares one shape: its space, its plans in force. */
clayer_status search_create(struct session *session, size_t index, struct search *search);
void search_free(struct search *search);
/* Adds a plan to try before the sample. */
void search_seed(struct search *search, const char *plan);

/* The first candidates, in order; at most SEARCH_FIRST. */
#define SEARCH_FIRST (SEEDS_MAX + SPACE_FAMILIES + 2)
size_t search_first(const struct search *search, struct point first[SEARCH_FIRST]);

/* Whether a point must not be tried, with the reason: itself, or its kernel with other arguments, was lost. */
bool search_quarantined(const struct search *search, struct point point, bool trusted, char *reason, size_t size);

/* Tries candidates until the search's time is up or nothing better turns up. */
void search_run(struct search *search);
/* Measures the best against the default, the incumbent and CLBlast, chooses, confirms, and fills the result but for
 * `stored`. false: time was up or the run was stopped before there was a decision. */
bool finals_run(struct search *search, bool *beats_incumbent);

/* Runs one task for a plan, by the deadline of a candidate. false when the outcome says nothing about the plan: the run
 * is to stop, or the worker could not be started (search->failure). */
bool search_task(struct search *search, enum runner_task task, const char *plan, size_t samples, double stop,
                 struct outcome *outcome);

#endif
