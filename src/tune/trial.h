/* Trying plans for one layer and batch in this process: are the results right, and how long does a call take?
 *
 * All plans share one layer, one x and one y. The layer's weights, bias and x are made from fixed random numbers. Rows
 * of x repeat a few base rows in an irregular order, so that every row of any batch can be checked against a float64
 * reference of those few; the last row of a batch is one of its own. */
#ifndef TUNE_TRIAL_H
#define TUNE_TRIAL_H

#include "tune/outcome.h"

struct trial;

/* Makes the layer (with a plain copy of W for clblast), x, y and the reference. */
clayer_status trial_create(clayer_context *context, const clayer_tune_shape *shape, struct trial **trial);
/* Accepts a pointer to NULL. */
void trial_destroy(struct trial **trial);

/* Forces the plan, builds it, checks its results on an odd batch with tails and on the trial's own where that is small,
 * and takes `samples` samples. stop: seconds a call (0: none); a plan that the first samples, or the checked runs by
 * a wide margin, prove slower is SLOW. Never fails itself: everything is in *outcome. */
void trial_try(struct trial *trial, const char *plan, size_t samples, double stop, struct outcome *outcome);

/* Samples only. `waited`: each call is waited for by itself, as a caller with host memory does; else calls are enqueued
 * one after the other with one wait at the end. */
void trial_time(struct trial *trial, const char *plan, bool waited, size_t samples, struct outcome *outcome);

/* Checks the results of the trial's own batch, every column of its rows (of a batch with many millions of elements: of
 * many of its rows, the last among them). RIGHT with the time of that call as the one sample. */
void trial_confirm(struct trial *trial, const char *plan, struct outcome *outcome);

/* Monotonic seconds. */
double trial_clock(void);

#endif
