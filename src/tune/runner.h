/* Where candidates run: in a worker process, which a driver may hang or take down, or in this one. */
#ifndef TUNE_RUNNER_H
#define TUNE_RUNNER_H

#include "tune/trial.h"

struct runner;

/* Called a few times a second while a worker is busy; false ends the wait at once, and the worker with it. */
typedef bool (*runner_tick)(void *user);

/* program: see clayer_tune_params.worker; NULL: this process. device: an id. Starts nothing yet. */
clayer_status runner_create(const char *program, const char *device, runner_tick tick, void *user,
                            struct runner **runner);
/* Ends the worker. Accepts a pointer to NULL. */
void runner_destroy(struct runner **runner);

/* The shape that the next trials are about. Remembered, and given to each new worker. */
void runner_shape(struct runner *runner, const clayer_tune_shape *shape);

enum runner_task { RUNNER_TRY, RUNNER_TIME, RUNNER_TIME_WAITED, RUNNER_CONFIRM };

/* Runs one of trial.h's functions, until `deadline` on trial_clock's scale; a worker that has no answer by then is
 * ended (LOST, as when it dies). In this process nothing can be ended and the deadline is ignored. The failure of a
 * function other than a trial (no worker program, no device, no memory for the shape) is a status. */
clayer_status runner_run(struct runner *runner, enum runner_task task, const char *plan, size_t samples, double stop,
                         double deadline, struct outcome *outcome);

/* Makes sure that the worker is there and has opened the device, by the deadline. */
clayer_status runner_start(struct runner *runner, double deadline);
/* The same, and that it has the shape. */
clayer_status runner_ready(struct runner *runner, double deadline);

/* Ends the worker, since its device answers nothing but errors; the next run starts afresh. */
void runner_restart(struct runner *runner);

/* Whether the last LOST was the wish of the tick rather than a fault of the candidate. */
bool runner_stopped(const struct runner *runner);
/* Whether it was the deadline. */
bool runner_late(const struct runner *runner);

#endif
