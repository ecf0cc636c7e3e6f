/* What a device can do at most: multiply-adds and reads. */
#ifndef TOOLS_BENCH_ROOFLINE_H
#define TOOLS_BENCH_ROOFLINE_H

#include "bench/peer.h"

#include <stdio.h>

/* One way to run the two loops. Both return the seconds of one run, negative after peer_error. */
struct roofs {
    double (*multiply)(size_t rounds, double *flops); /* *flops: how many that were */
    double (*read)(size_t bytes, size_t passes);      /* reads `bytes` of memory, `passes` times */
    double (*launch)(void);                           /* an empty kernel with its wait; NULL on the host */
    size_t most_bytes;                                /* the largest working set for read */
};

/* Measures all roofs and prints "peak", "bandwidth", "launch" and "done" lines, or an "error" line. */
void roofs_print(const struct roofs *roofs, size_t cache_bytes, FILE *answer);

/* The whole process of each, for main: prints and returns the exit code. */
int roofline_opencl(const struct setup *setup);
int roofline_host(const struct setup *setup);

#endif
