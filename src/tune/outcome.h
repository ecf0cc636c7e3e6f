/* What a trial of one candidate says, and its form as a line of text, for the worker's protocol and the journal. */
#ifndef TUNE_OUTCOME_H
#define TUNE_OUTCOME_H

#include <clayer/tune.h>
#include <stdbool.h>
#include <stddef.h>

#define OUTCOME_SAMPLES 16
#define PLAN_BYTES 192

struct outcome {
    clayer_verdict verdict;
    clayer_status status;            /* with FAILED */
    double build_seconds;            /* of compiling and the first launch */
    size_t count;                    /* of samples */
    double seconds[OUTCOME_SAMPLES]; /* of one call */
    char reason[240];                /* "" when right */
};

#define OUTCOME_BYTES 640

/* "VERDICT STATUS BUILD COUNT SECONDS... REASON": whole numbers, times in picoseconds, so that no locale matters. */
void outcome_write(const struct outcome *outcome, char text[OUTCOME_BYTES]);
/* false when the text is not such a line. */
bool outcome_read(const char *text, struct outcome *outcome);

/* Sorts the values and returns a quantile; fraction 0.5 is the median. 0 without values. */
double quantile(double *values, size_t count, double fraction);

#endif
