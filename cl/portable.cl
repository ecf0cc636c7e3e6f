/* portable: one work-item, one output. No local memory, any work-group size, any strides of x and y: the plan that is
 * legal everywhere. Element (m, k) of x is x[m * x_row + k * x_col]; of y likewise.
 */
#include "epilogue.clh"

#ifndef PANEL
#error "PANEL: columns in a panel of packed weights"
#endif

DEFINE_ACTIVATION(acc_t)

__kernel void portable(__global const x_t *x, ulong x_offset, ulong x_row, ulong x_col, __global const w_t *weights,
                       __global const w_t *bias, __global y_t *y, ulong y_offset, ulong y_row, ulong y_col, ulong batch,
                       ulong in_features, ulong out_features, int kind, float alpha, float beta)
{
    const ulong n = get_global_id(0);
    const ulong m = get_global_id(1);
    if (n >= out_features || m >= batch)
        return;
    __global const x_t *row = x + x_offset + m * x_row;
    __global const w_t *column = weights + (n / PANEL) * in_features * PANEL + n % PANEL;
    acc_t sum = ACC_ZERO;
    for (ulong k = 0; k < in_features; k++)
        sum = fma(X_READ(row + k * x_col), W_READ(column + k * PANEL), sum);
    Y_WRITE(y + y_offset + m * y_row + n * y_col, EPILOGUE(sum, W_READ(bias + n), kind, alpha, beta));
}
