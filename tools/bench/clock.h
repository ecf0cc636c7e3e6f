/* Time, and what repeated measurements say. */
#ifndef TOOLS_BENCH_CLOCK_H
#define TOOLS_BENCH_CLOCK_H

#include <stddef.h>

double clock_now(void); /* seconds, monotonic */

/* Of `count` values, which are sorted in place. NaN when count is 0. */
double median(double *values, size_t count);

/* Half the distance between the quartiles, as a fraction of the median: how far half of the values lie from it. */
double spread(double *values, size_t count);

#endif
