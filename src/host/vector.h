/* The vector kernels' table: one entry per instruction set, all with the same results up to how multiply-add rounds. */
#ifndef HOST_VECTOR_H
#define HOST_VECTOR_H

#include "host/activation.h"

#include <stdbool.h>
#include <stddef.h>

#define VECTOR_ROWS_MAX 12   /* rows of x in one block */
#define VECTOR_VECTORS_MAX 8 /* vectors of outputs in one block */
#define VECTOR_LINE 16       /* floats that a processor fetches at once */

/* What a block does with its sums before the store: limits and slope as in host/activation.h. The costly activations
 * run over the stored block while it is in the first level cache. */
struct vector_epilogue {
    enum { VECTOR_STORE, VECTOR_RELU, VECTOR_BOUNDS } kind;
    float slope, low, high;
};

/* One block: sum(r, c) = init(r, c) + x(r, 0) * w(0, c) + x(r, 1) * w(1, c) + ..., added in this order, so that a sum's
 * bits do not depend on the block's size. Vectors of outputs that lie in a second panel start at w_second. */
struct vector_block {
    size_t depth;              /* k runs over 0 .. depth - 1 */
    const float *x;            /* x(r, k) = x[r * ldx + k] */
    const float *w, *w_second; /* w(k, c) = w[k * panel + c]; w_second in pair blocks only */
    const float *init;         /* init(r, c) = init[r * ldinit + c]; ldinit = 0 for a bias */
    float *y;                  /* y(r, c) = y[r * ldy + c], written for c < cols only */
    size_t ldx, panel, ldinit, ldy;
    /* Asked for at step k, while the sums keep the processor busy: the two lines at ahead + k * ahead_step. Any address
     * in memory or just behind it; blocks of one row ask for nothing. */
    const float *ahead;
    size_t ahead_step;
    size_t cols; /* 1 .. vectors * lanes */
    struct vector_epilogue epilogue;
};

typedef void vector_block_function(const struct vector_block *block);

struct vector_kernels {
    const char *name;
    size_t lanes;                               /* floats in a vector */
    bool fused;                                 /* multiply-add rounds once */
    unsigned char vectors[5];                   /* vectors per block for a batch of 1, 2, 3, and more */
    unsigned char rows[VECTOR_VECTORS_MAX + 1]; /* most rows of a block with so many vectors; 0: no such block */
    vector_block_function *const (*block)[VECTOR_ROWS_MAX + 1]; /* block[vectors][rows] */
    vector_block_function *pair; /* one row, two panels of VECTOR_VECTORS_MAX / 2 vectors, or NULL */
    void (*activate)(const struct activation *activation, float *y, size_t rows, size_t cols, size_t ldy);
};

/* The best that this processor runs. Thread-safe. */
const struct vector_kernels *vector_kernels(void);

/* For tests: the i-th that this processor runs, best first; NULL beyond the last. vector_use makes vector_kernels
 * answer with it in the whole process, and with its own choice again after NULL. */
const struct vector_kernels *vector_variant(size_t i);
void vector_use(const struct vector_kernels *kernels);

#endif
