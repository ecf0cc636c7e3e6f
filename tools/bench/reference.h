/* The float64 reference that results are held against. */
#ifndef TOOLS_BENCH_REFERENCE_H
#define TOOLS_BENCH_REFERENCE_H

#include "bench/problem.h"

struct expected {
    size_t row, column;
    double value, bound; /* |y - value| <= bound */
};

struct expectation {
    size_t count;
    struct expected *element;
};

/* NULL when memory is short. */
struct expectation *expectation_create(const struct problem *problem);
void expectation_destroy(struct expectation *expectation);

#endif
