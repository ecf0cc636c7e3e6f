/* The epilogue on its own, in place on y: bias and activation after a GEMM that cannot fuse them (the clblast family).
 * Element (m, n) of y is y[m * y_row + n * y_col]. */
#include "epilogue.clh"

DEFINE_ACTIVATION(acc_t)

__kernel void epilogue(__global const w_t *bias, __global y_t *y, ulong y_offset, ulong y_row, ulong y_col, ulong batch,
                       ulong out_features, int kind, float alpha, float beta)
{
    const ulong n = get_global_id(0);
    const ulong m = get_global_id(1);
    if (n >= out_features || m >= batch)
        return;
    __global y_t *out = y + y_offset + m * y_row + n * y_col;
    Y_WRITE(out, EPILOGUE(Y_READ(out), W_READ(bias + n), kind, alpha, beta));
}
