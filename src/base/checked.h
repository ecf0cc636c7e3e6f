/* Size arithmetic that cannot wrap: each function returns false when the true result does not fit into size_t. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool size_add(size_t a, size_t b, size_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

static inline bool size_mul(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return a == 0 || b <= SIZE_MAX / a;
}

/* a rounded up to a multiple of step (step > 0). */
static inline bool size_round_up(size_t a, size_t step, size_t *rounded)
{
    size_t over = a % step;
    return size_add(a, over ? step - over : 0, rounded);
}

/* Elements that a matrix of rows x cols with leading dimension ld spans: (rows - 1) * ld + cols, or 0 when empty.
 * The last row needs no padding. */
static inline bool size_matrix(size_t rows, size_t cols, size_t ld, size_t *elements)
{
    *elements = 0;
    if (rows == 0 || cols == 0)
        return true;
    return size_mul(rows - 1, ld, elements) && size_add(*elements, cols, elements);
}

/* a / b rounded up (b > 0). */
static inline size_t size_ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

#endif
