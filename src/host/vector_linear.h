/* The register blocks of the linear layer over vectors. Included once by each instruction set's file, after LANES is
 * defined. BLOCK(vectors, rows) makes the function block_VECTORS_ROWS. */
#ifndef HOST_VECTOR_LINEAR_H
#define HOST_VECTOR_LINEAR_H

#include "host/vector.h"
#include "host/vector_activation.h"

/* Stores the vector that starts at column c of a row of cols columns. */
LANES_INLINE void store_columns(float *y, size_t c, size_t cols, floats value)
{
    if (c + LANES <= cols)
        store(y + c, value);
    else if (c < cols)
        store_part(y + c, value, cols - c);
}

/* rows and vectors are constants wherever this is inlined, so that all sums stay in registers. The sums run over k one
 * term at a time: with enough rows and vectors they are independent enough to fill the multipliers. */
LANES_INLINE void block_body(const struct vector_block *b, const int vectors, const int rows, const int pair)
{
    floats sum[VECTOR_ROWS_MAX][VECTOR_VECTORS_MAX];
    const float *x = b->x, *w = b->w, *w_second = b->w_second;
    const float *ahead = b->ahead;
    const size_t ldx = b->ldx, panel = b->panel;

    LANES_UNROLL
    for (int r = 0; r < rows; r++)
        LANES_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[r][v] = load(b->init + r * b->ldinit + v * LANES);

    for (size_t k = 0; k < b->depth; k++) {
        if (rows > 1) {
            LANES_PREFETCH(ahead);
            LANES_PREFETCH(ahead + VECTOR_LINE);
            ahead += b->ahead_step;
        }
        floats weights[VECTOR_VECTORS_MAX];
        LANES_UNROLL
        for (int v = 0; v < vectors; v++)
            weights[v] = pair && v >= vectors / 2 ? load(w_second + (v - vectors / 2) * LANES) : load(w + v * LANES);
        LANES_UNROLL
        for (int r = 0; r < rows; r++) {
            floats factor = splat(x[r * ldx + k]);
            LANES_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[r][v] = multiply_add(factor, weights[v], sum[r][v]);
        }
        w += panel;
        if (pair)
            w_second += panel;
    }

    const struct vector_epilogue e = b->epilogue;
    if (e.kind == VECTOR_RELU) {
        LANES_UNROLL
        for (int r = 0; r < rows; r++)
            LANES_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[r][v] = select_less(sum[r][v], splat(0.0f), splat(0.0f), sum[r][v]);
    } else if (e.kind == VECTOR_BOUNDS) {
        LANES_UNROLL
        for (int r = 0; r < rows; r++)
            LANES_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[r][v] = bounds(sum[r][v], e.slope, e.low, e.high);
    }

    LANES_UNROLL
    for (int r = 0; r < rows; r++)
        LANES_UNROLL
    for (int v = 0; v < vectors; v++)
        store_columns(b->y + r * b->ldy, v * LANES, b->cols, sum[r][v]);
}

#define BLOCK(vectors, rows)                                                                                           \
    static void block_##vectors##_##rows(const struct vector_block *b)                                                 \
    {                                                                                                                  \
        block_body(b, vectors, rows, 0);                                                                               \
    }

#define PAIR_BLOCK(vectors)                                                                                            \
    static void block_pair(const struct vector_block *b)                                                               \
    {                                                                                                                  \
        block_body(b, vectors, 1, 1);                                                                                  \
    }

#endif
