/* The worker's side of the protocol. A line asks, a line answers:
 *
 *     device ID                                        ok | error STATUS TEXT
 *     shape BATCH IN OUT ACTIVATION ALPHA BETA BIAS    ok | error STATUS TEXT     (floats as the bits' hex digits)
 *     try|time|waited|confirm SAMPLES STOP PLAN        an outcome (tune/outcome.h); STOP in picoseconds
 */
#ifndef TUNE_WORKER_H
#define TUNE_WORKER_H

#include <clayer/tune.h>

#define WORKER_LINE 1024

/* The text of the shape line. */
void worker_print_shape(const clayer_tune_shape *shape, char line[WORKER_LINE]);

#endif
