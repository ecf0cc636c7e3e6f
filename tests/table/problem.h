/* What the table asks of a kernel: x, W and b, and what x . W^T + b is in float64. */
#ifndef TABLE_PROBLEM_H
#define TABLE_PROBLEM_H

#include "host/activation.h"
#include "support/random.h"

#include <stdbool.h>
#include <stddef.h>

struct problem {
    size_t batch, in, out;
    float *w;      /* (out, in), ends at an unreadable page */
    float *bias;   /* the same, or NULL */
    float *x;      /* (batch, in), dense */
    double *z, *s; /* (batch, out): the sum before the activation, and S of the error bound */
};

/* Random values; bias[n] differs per column by more than any sum, where asked for, so that a wrong axis shows. */
enum bias { BIAS_NONE, BIAS_SMALL, BIAS_STEEP };
struct problem problem_make(size_t batch, size_t in, size_t out, enum bias bias, struct random *random);
/* Recomputes z and s after the caller has changed x, w or bias. */
void problem_solve(struct problem *problem);
void problem_free(struct problem *problem);

#endif
