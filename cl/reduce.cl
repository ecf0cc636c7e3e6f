/* The second pass of a split over in_features: adds the parts in their order, then the epilogue. No atomics, so the same
 * plan gives the same bits. partial is [splits][batch][out_features]. */
#include "epilogue.clh"

DEFINE_ACTIVATION(acc_t)

__kernel void reduce(__global const acc_t *partial, ulong splits, __global const w_t *bias, __global y_t *y,
                     ulong y_offset, ulong ldy, ulong batch, ulong out_features, int kind, float alpha, float beta)
{
    const ulong n = get_global_id(0);
    const ulong m = get_global_id(1);
    if (n >= out_features || m >= batch)
        return;
    acc_t sum = ACC_ZERO;
    for (ulong s = 0; s < splits; s++)
        sum += partial[(s * batch + m) * out_features + n];
    Y_WRITE(y + y_offset + m * ldy + n, EPILOGUE(sum, W_READ(bias + n), kind, alpha, beta));
}
