/* clayer: finding the fastest plan for layers on one device, by measuring them there.
 *
 * The library never tunes on its own: without tuning it runs at once by records that exist or by rules of thumb.
 * clayer_tune is an explicit act, which takes seconds to minutes for each shape; the program clayer-tune stands on it.
 * What is tuned is what runs: the layer itself, on the caller's shape, with its bias and activation. Every candidate's
 * results are compared with a float64 reference before it may win. Records go to the user's data directory as soon as a
 * shape is done (docs/tuning.md). */
#ifndef CLAYER_TUNE_H
#define CLAYER_TUNE_H

#include <clayer/activation.h>
#include <clayer/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thing to tune for: a layer and a batch. */
typedef struct clayer_tune_shape {
    size_t batch, in_features, out_features; /* at least 1 each */
    clayer_activation activation;
    float activation_alpha, activation_beta; /* as in clayer_linear_params; clamp with both 0 limits to -1 .. 1, since
                                                its limits do not decide speed */
    bool no_bias;
    void *reserved[4]; /* must be zero */
} clayer_tune_shape;

typedef enum clayer_effort {
    CLAYER_EFFORT_QUICK = 0,     /* at most about 15 s a shape, from a cold program cache on a CPU */
    CLAYER_EFFORT_NORMAL = 1,    /* at most about 90 s a shape */
    CLAYER_EFFORT_EXHAUSTIVE = 2 /* every configuration of every family that is not hopeless: minutes to hours */
} clayer_effort;

/* "quick", "normal" or "exhaustive"; and the effort of a name, INVALID_ARGUMENT for any other text. */
CLAYER_API const char *clayer_effort_string(clayer_effort effort);
CLAYER_API clayer_status clayer_effort_parse(const char *text, clayer_effort *effort);

/* What became of a candidate. */
typedef enum clayer_verdict {
    CLAYER_VERDICT_RIGHT = 0,       /* its results are right and it was measured */
    CLAYER_VERDICT_SLOW = 1,        /* right, and given up after the first run that proved it slow */
    CLAYER_VERDICT_WRONG = 2,       /* its results are wrong, NaN or missing */
    CLAYER_VERDICT_FAILED = 3,      /* it could not be compiled or run; the driver said so */
    CLAYER_VERDICT_LOST = 4,        /* it hung, or took its process down: not tried again until clayer_tune_forget */
    CLAYER_VERDICT_QUARANTINED = 5, /* not tried, since it was lost in an earlier run */
    CLAYER_VERDICT_REFUSED = 6      /* the family refuses it on this device or shape; nothing was compiled */
} clayer_verdict;

/* "right", "slow", "wrong", "failed", "lost", "quarantined" or "refused". Never NULL, never freed. */
CLAYER_API const char *clayer_verdict_string(clayer_verdict verdict);

typedef enum clayer_tune_event {
    CLAYER_TUNE_BEGIN = 0,     /* a shape begins */
    CLAYER_TUNE_CANDIDATE = 1, /* a candidate has its verdict */
    CLAYER_TUNE_WAITING = 2,   /* nothing new; called a few times a second, so that progress can be drawn and the run
                                  cancelled */
    CLAYER_TUNE_END = 3        /* a shape is done; its result stands in results[shape_index] */
} clayer_tune_event;

/* Texts belong to the library and are valid during the call only. Times in seconds a call; 0: not known yet. */
typedef struct clayer_tune_progress {
    clayer_tune_event event;
    const clayer_tune_shape *shape;
    size_t shape_index, shape_count; /* in the order of params.shapes */
    size_t done, total;              /* candidates of this shape; total is the most there may be, and may shrink */
    const char *plan;                /* the best so far, "" at first */
    double best_seconds, default_seconds, clblast_seconds;
    double seconds_left; /* at most, for all shapes; -1: not known */
    /* Of the candidate, with CLAYER_TUNE_CANDIDATE. */
    const char *candidate;
    clayer_verdict verdict;
    double candidate_seconds;
    const char *reason; /* why it was not measured, "" if it was */
} clayer_tune_progress;

/* Returns 0 to go on, anything else to stop: what was measured is kept, and clayer_tune returns CANCELLED. Called on
 * the thread that called clayer_tune. It may call clayer, but not clayer_tune. */
typedef int (*clayer_tune_callback)(void *user, const clayer_tune_progress *progress);

typedef enum clayer_tune_state {
    CLAYER_TUNE_NOT_BEGUN = 0,  /* time was up, or the run was cancelled before */
    CLAYER_TUNE_UNFINISHED = 1, /* begun; what was measured is in the journal, and the next run goes on from there */
    CLAYER_TUNE_TUNED = 2,      /* the fields below are measured */
    CLAYER_TUNE_FAILED = 3      /* no plan ran and was right; reason says more */
} clayer_tune_state;

/* Times in seconds a call, medians of interleaved runs. */
typedef struct clayer_tune_result {
    clayer_tune_state state;
    bool stored;            /* the record is in the user's store, or a better one is there already */
    char plan[192];         /* as clayer_linear_params.plan takes it: "panel:rows=4,vectors=4,width=16,row_block=0" */
    char default_plan[192]; /* what runs without records */
    double seconds, spread; /* spread: the distance of the quartiles */
    double default_seconds; /* 0: it did not run */
    double clblast_seconds; /* 0: not there, or it did not run */
    unsigned candidates;    /* that ran and were right */
    unsigned rejected;      /* wrong, failed or lost */
    char reason[256];       /* for people: why it failed or is unfinished, or why it could not be stored */
    void *reserved[4];
} clayer_tune_result;

typedef struct clayer_tune_params {
    /* The device: of this context, or else by a selector (device.h), as for clayer_context_create. Tuning uses a
     * context of its own; records become known to `context` at once, for plans that it chooses from then on. */
    clayer_context *context;
    const char *device;
    const clayer_tune_shape *shapes;
    size_t shape_count;
    clayer_effort effort;
    double time_limit; /* seconds for all shapes together, kept to within one candidate; 0: none */
    /* A program that calls clayer_tune_worker when its only argument is --worker, as clayer-tune does: candidates run
     * in it, so that a driver that hangs or aborts costs one candidate and not this process. NULL: candidates run in
     * this process, which a driver may then take down; the next run skips the culprit. */
    const char *worker;
    bool refresh; /* no search: measures the known plans anew against the default, in seconds, and replaces records */
    clayer_tune_callback callback;
    void *user;
    void *reserved[6]; /* must be zero */
} clayer_tune_params;

/* Tunes every shape and fills results (shape_count of them, the caller's). What was measured for an unfinished shape
 * lies in a journal in the data directory; the next run continues from it. Several processes may tune at once.
 * Errors: CANCELLED and TIMEOUT (results say how far it got), INVALID_ARGUMENT, NO_DEVICE, DEVICE_UNUSABLE,
 * UNSUPPORTED (the host device, which has one plan only; a worker program on a system without them), OUT_OF_MEMORY, IO
 * (everything was tuned and not all could be stored; results hold all of it). That a plan fails is no error. */
CLAYER_API clayer_status clayer_tune(const clayer_tune_params *params, clayer_tune_result *results);

/* What clayer_tune would do, without running anything on the device. Receives for each shape its candidates in the
 * order in which they would be tried (verdict RIGHT, or QUARANTINED), then, with count > 1 and candidate the family's
 * name, groups of configurations that are excluded (REFUSED) with the reason; then families that are kept short. */
typedef struct clayer_tune_candidate {
    const clayer_tune_shape *shape;
    const char *candidate;
    clayer_verdict verdict;
    size_t count; /* configurations in this line */
    const char *reason;
} clayer_tune_candidate;
typedef void (*clayer_tune_explain_callback)(void *user, const clayer_tune_candidate *candidate);
CLAYER_API clayer_status clayer_tune_explain(const clayer_tune_params *params, clayer_tune_explain_callback callback,
                                             void *user);

/* Lifts the quarantine of this device's lost candidates and drops what unfinished runs have measured. *lifted may be
 * NULL. IO when a file cannot be removed. */
CLAYER_API clayer_status clayer_tune_forget(const char *device, size_t *lifted);

/* The body of a worker program's main: speaks with clayer_tune over standard input until that closes. Returns the
 * exit code. */
CLAYER_API int clayer_tune_worker(void);

#ifdef __cplusplus
}
#endif
#endif
