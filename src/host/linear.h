/* The linear layer on the calling thread: y = act(x W^T + b), x (batch, in), W (out, in), y (batch, out). */
#ifndef HOST_LINEAR_H
#define HOST_LINEAR_H

#include "host/activation.h"

#include <stdbool.h>
#include <stddef.h>

/* A layer over packed weights (host/packed.h), which it borrows. Read only, so threads may share it. */
struct host_linear {
    size_t in_features, out_features, panel;
    const float *weights; /* packed; NULL when in_features is 0 */
    const float *bias;    /* padded to whole panels; NULL for none */
    struct activation activation;
};

/* The vector kernel. Row m of x starts at x + m * ldx, of y at y + m * ldy; ldx >= in_features, ldy >= out_features.
 * Reads nothing outside x's elements, never reads y as it was, writes exactly batch x out_features elements, and
 * allocates nothing. x and y do not overlap. A row's bits depend on that row, the layer and the processor only. */
void host_linear_forward(const struct host_linear *linear, size_t batch, const float *x, size_t ldx, float *y,
                         size_t ldy);

/* The same bits for any strides: x(m, k) at x[m * x_row + k * x_col], y(m, n) at y[m * y_row + n * y_col]. Slower where
 * a column stride is not 1. */
void host_linear_forward_strided(const struct host_linear *linear, size_t batch, const float *x, size_t x_row,
                                 size_t x_col, float *y, size_t y_row, size_t y_col);

/* The reference: y in float64, one naive sum per element, to be checked by eye. W(n, k) lies at
 * w[n * w_row + k * w_col], x(m, k) at x[m * x_row + k * x_col], bias may be NULL. y_ref and s_abs are batch x
 * out_features, dense. s_abs, unless NULL, gets S = |b| + the sum of |x||w|, over the finite terms only, so that it
 * tells whether a sum in float32 could overflow by itself. */
void host_linear_reference(const float *w, size_t w_row, size_t w_col, const float *bias,
                           const struct activation *activation, size_t batch, size_t out_features, size_t in_features,
                           const float *x, size_t x_row, size_t x_col, double *y_ref, double *s_abs);

/* How far a float32 result may be from the reference `ref` with S = s, where s < FLT_MAX / 2 (docs/numerics.md).
 * Without denormals the device counts subnormal numbers as 0; the caller then has none in x, W and b. */
double host_linear_bound(size_t in_features, double s, double ref, const struct activation *activation, bool denormals);

/* The whole rule for one element: within the bound, and of the reference's class (NaN, Inf, -Inf) wherever that cannot
 * depend on the order of summation. */
bool host_linear_agrees(float y, double ref, double s, size_t in_features, const struct activation *activation,
                        bool denormals);

#endif
