/* skinny: small batches. The weights are read once, at full bandwidth: a work-group covers LANES vectors of 4 columns,
 * its K_LANES rows of work-items take every K_LANES-th row of W in turn, so that the group reads one contiguous stretch
 * of a panel at a time. Their sums meet in local memory in a fixed order.
 *
 * ROWS: rows of x that one work-item carries. LANES * 4 must divide PANEL. K_LANES: a power of two.
 * SPLITS: parts of in_features on work-groups of their own, summed into a workspace; reduce.cl adds them in order.
 */
#include "split.clh"

#if !defined(PANEL) || !defined(ROWS) || !defined(LANES) || !defined(K_LANES) || !defined(SPLITS)
#error "PANEL, ROWS, LANES, K_LANES and SPLITS are needed"
#endif
#if PANEL % (LANES * 4) != 0
#error "LANES * 4 must divide PANEL"
#endif
#if (K_LANES & (K_LANES - 1)) != 0
#error "K_LANES must be a power of two"
#endif

/* Rows of W that a work-item loads before it uses them: 4 with 16 rows of x would spill registers on NVIDIA's GPUs. */
#define AHEAD (ROWS < 16 ? 4 : 2)
/* Rows whose sums meet in local memory together; ROWS is 1, 2 or a multiple of 4. */
#define MEETING_ROWS (ROWS < 4 ? ROWS : 4)

__kernel __attribute__((reqd_work_group_size(LANES, K_LANES, 1))) KERNEL_LANES void
skinny(__global const x_t *x, ulong x_offset, ulong ldx, __global const w_t *weights, __global const w_t *bias,
       __global y_t *y, ulong y_offset, ulong ldy, ulong batch, ulong in_features, ulong out_features, int kind,
       float alpha, float beta)
{
    const int lane = (int)get_local_id(0), k_lane = (int)get_local_id(1);
    const ulong n0 = ((get_group_id(0) / SPLITS) * LANES + lane) * 4;
    const ulong m0 = get_group_id(1) * ROWS;
    const ulong split = get_group_id(0) % SPLITS;
    const ulong per_split = (in_features + SPLITS - 1) / SPLITS;
    const ulong k_begin = min(split * per_split, in_features);
    const ulong k_end = min(k_begin + per_split, in_features);

    /* Rows past the end repeat the last row: computed, never stored. */
    __global const x_t *rows[ROWS];
    acc4_t sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        rows[r] = x + x_offset + min(m0 + r, batch - 1) * ldx;
        sum[r] = (acc4_t)(ACC_ZERO);
    }
    __global const w_t *w = weights + (n0 / PANEL) * in_features * PANEL + n0 % PANEL;
    /* Loads of several rows of W are under way at once; the sums keep their order. */
    ulong k = k_begin + k_lane;
    for (; k + (AHEAD - 1) * K_LANES < k_end; k += AHEAD * K_LANES) {
        acc4_t wk[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            wk[a] = W_READ4(w + (k + a * K_LANES) * PANEL);
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                sum[r] = fma((acc4_t)(X_READ(rows[r] + k + a * K_LANES)), wk[a], sum[r]);
    }
    for (; k < k_end; k += K_LANES) {
        const acc4_t wk = W_READ4(w + k * PANEL);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            sum[r] = fma((acc4_t)(X_READ(rows[r] + k)), wk, sum[r]);
    }

#if K_LANES > 1
    /* A few rows at a time, so that local memory does not limit how many groups a compute unit holds. */
    __local acc4_t meeting[MEETING_ROWS * K_LANES * LANES];
#pragma unroll
    for (int first = 0; first < ROWS; first += MEETING_ROWS) {
        if (first > 0)
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int r = 0; r < MEETING_ROWS; r++)
            meeting[(r * K_LANES + k_lane) * LANES + lane] = sum[first + r];
        for (int half_lanes = K_LANES / 2; half_lanes > 0; half_lanes /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (k_lane < half_lanes)
#pragma unroll
                for (int r = 0; r < MEETING_ROWS; r++)
                    meeting[(r * K_LANES + k_lane) * LANES + lane] +=
                        meeting[(r * K_LANES + k_lane + half_lanes) * LANES + lane];
        }
        if (k_lane == 0)
#pragma unroll
            for (int r = 0; r < MEETING_ROWS; r++)
                sum[first + r] = meeting[r * K_LANES * LANES + lane];
    }
    if (k_lane != 0)
        return;
#endif

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const ulong m = m0 + r;
        acc_t part[4];
        vstore4(sum[r], 0, part);
#pragma unroll
        for (int v = 0; v < 4; v++) {
            const ulong n = n0 + v;
            if (m < batch && n < out_features)
                STORE_OUTPUT(m, n, part[v]);
        }
    }
}
