/* tiled: the GPU kernel. A work-group of THREADS_N x THREADS_M work-items computes a tile of y, each work-item a register
 * block of ITEM_M x ITEM_N outputs, over slices of TILE_K along in_features.
 *
 * LOCAL_X, LOCAL_W   1: that operand's slice is staged in local memory; 0: read from global memory (its cache) directly
 * BUFFERS            2: the next slice is written to a second buffer while the first is used (one barrier a slice)
 * VECTOR             1, 2 or 4: outputs of a work-item that lie side by side; vector width of loads of W and stores of y
 * VECTOR_X           1 or 4: width of loads of x along in_features
 * SPLITS             parts of in_features, each summed by its own work-groups into a workspace; reduce.cl adds them in order
 */
#include "split.clh"

#if !defined(PANEL) || !defined(THREADS_M) || !defined(THREADS_N) || !defined(ITEM_M) || !defined(ITEM_N) ||           \
    !defined(TILE_K) || !defined(LOCAL_X) || !defined(LOCAL_W) || !defined(BUFFERS) || !defined(VECTOR) ||             \
    !defined(VECTOR_X) || !defined(SPLITS)
#error "PANEL, THREADS_M/N, ITEM_M/N, TILE_K, LOCAL_X/W, BUFFERS, VECTOR, VECTOR_X and SPLITS are needed"
#endif
#define TILE_M (THREADS_M * ITEM_M)
#define TILE_N (THREADS_N * ITEM_N)
#define THREADS (THREADS_M * THREADS_N)
#if PANEL % TILE_N != 0 && TILE_N % PANEL != 0
#error "the tile's columns and the panel must divide one another"
#endif
#if ITEM_N % VECTOR != 0
#error "VECTOR must divide ITEM_N"
#endif
#if TILE_K % VECTOR_X != 0
#error "VECTOR_X must divide TILE_K"
#endif

#if VECTOR == 1
#define VEC acc_t
#define W_VECTOR(p) W_READ(p)
#define VEC_SET(value) (value)
#elif VECTOR == 2
#define VEC float2
#define W_VECTOR(p) vload2(0, (p))
#define VEC_SET(value) ((float2)(value))
#elif VECTOR == 4
#define VEC acc4_t
#define W_VECTOR(p) W_READ4(p)
#define VEC_SET(value) ((acc4_t)(value))
#else
#error "VECTOR: 1, 2 or 4"
#endif
#define BLOCKS (ITEM_N / VECTOR)

/* Rows of the staged x are padded by 4: stores from side-by-side k then meet different banks, and reads of 4 stay
 * aligned. */
#define PITCH_X (TILE_M + 4)
#define LOADS_X ((TILE_M * TILE_K / VECTOR_X + THREADS - 1) / THREADS)
#define LOADS_W ((TILE_N * TILE_K / VECTOR + THREADS - 1) / THREADS)

#if LOCAL_X
/* One vector of x along k, zero where k passes the end or the row does not exist. */
#if VECTOR_X == 4
typedef acc4_t x_vector;
static x_vector load_x(__global const x_t *x, ulong ldx, ulong m, ulong batch, ulong k, ulong k_end)
{
    x_vector value = (x_vector)(0.0f);
    if (m < batch) {
        __global const x_t *p = x + m * ldx + k;
        if (k + 4 <= k_end) {
            value = X_READ4(p);
        } else {
            if (k < k_end)
                value.x = X_READ(p);
            if (k + 1 < k_end)
                value.y = X_READ(p + 1);
            if (k + 2 < k_end)
                value.z = X_READ(p + 2);
        }
    }
    return value;
}
#else
typedef acc_t x_vector;
static x_vector load_x(__global const x_t *x, ulong ldx, ulong m, ulong batch, ulong k, ulong k_end)
{
    return m < batch && k < k_end ? X_READ(x + m * ldx + k) : 0.0f;
}
#endif
#endif

/* One vector of packed W at column n (a multiple of VECTOR) and row k, zero where k passes the end or n the panels. */
static VEC load_w(__global const w_t *weights, ulong in_features, ulong n, ulong columns, ulong k, ulong k_end)
{
    if (k >= k_end || n >= columns)
        return VEC_SET(0.0f);
    return W_VECTOR(weights + ((n / PANEL) * in_features + k) * PANEL + n % PANEL);
}

__kernel __attribute__((reqd_work_group_size(THREADS_N, THREADS_M, 1))) KERNEL_LANES void
tiled(__global const x_t *x, ulong x_offset, ulong ldx, __global const w_t *weights, __global const w_t *bias,
      __global y_t *y, ulong y_offset, ulong ldy, ulong batch, ulong in_features, ulong out_features, int kind,
      float alpha, float beta)
{
    const int tn = (int)get_local_id(0), tm = (int)get_local_id(1);
    const ulong n0 = (get_group_id(0) / SPLITS) * TILE_N;
    const ulong m0 = get_group_id(1) * TILE_M;
    const ulong columns = (out_features + PANEL - 1) / PANEL * PANEL;
    x += x_offset;

    /* This group's part of in_features: whole slices, the same for the same configuration and in_features. */
    const ulong slices = (in_features + TILE_K - 1) / TILE_K;
    const ulong per_split = (slices + SPLITS - 1) / SPLITS;
    const ulong split = get_group_id(0) % SPLITS;
    const ulong k_begin = min(split * per_split * TILE_K, in_features);
    const ulong k_end = min(k_begin + per_split * TILE_K, in_features);

    VEC sum[ITEM_M][BLOCKS];
#pragma unroll
    for (int i = 0; i < ITEM_M; i++)
#pragma unroll
        for (int j = 0; j < BLOCKS; j++)
            sum[i][j] = VEC_SET(ACC_ZERO);

#if LOCAL_X || LOCAL_W
    const int t = tm * THREADS_N + tn;
#endif
#if LOCAL_X
    __local acc_t local_x[BUFFERS][TILE_K * PITCH_X] __attribute__((aligned(16)));
    x_vector next_x[LOADS_X];
#define FETCH_X(k0)                                                                                                    \
    _Pragma("unroll") for (int l = 0; l < LOADS_X; l++)                                                                \
    {                                                                                                                  \
        const int e = t + l * THREADS;                                                                                 \
        if (TILE_M * TILE_K / VECTOR_X % THREADS == 0 || e < TILE_M * TILE_K / VECTOR_X)                               \
            next_x[l] = load_x(x, ldx, m0 + e / (TILE_K / VECTOR_X), batch,                                            \
                               (k0) + e % (TILE_K / VECTOR_X) * VECTOR_X, k_end);                                      \
    }
#if VECTOR_X == 4
#define PUT_X(p, value)                                                                                                \
    ((p)[0] = (value).x, (p)[PITCH_X] = (value).y, (p)[2 * PITCH_X] = (value).z, (p)[3 * PITCH_X] = (value).w)
#else
#define PUT_X(p, value) (*(p) = (value))
#endif
#define STORE_X(buffer)                                                                                                \
    _Pragma("unroll") for (int l = 0; l < LOADS_X; l++)                                                                \
    {                                                                                                                  \
        const int e = t + l * THREADS;                                                                                 \
        if (TILE_M * TILE_K / VECTOR_X % THREADS == 0 || e < TILE_M * TILE_K / VECTOR_X)                               \
            PUT_X(local_x[buffer] + e % (TILE_K / VECTOR_X) * VECTOR_X * PITCH_X + e / (TILE_K / VECTOR_X),            \
                  next_x[l]);                                                                                          \
    }
#else
#define FETCH_X(k0)
#define STORE_X(buffer)
#endif
#if LOCAL_W
    __local VEC local_w[BUFFERS][TILE_K * TILE_N / VECTOR];
    VEC next_w[LOADS_W];
#define FETCH_W(k0)                                                                                                    \
    _Pragma("unroll") for (int l = 0; l < LOADS_W; l++)                                                                \
    {                                                                                                                  \
        const int e = t + l * THREADS;                                                                                 \
        if (TILE_N * TILE_K / VECTOR % THREADS == 0 || e < TILE_N * TILE_K / VECTOR)                                   \
            next_w[l] = load_w(weights, in_features, n0 + e % (TILE_N / VECTOR) * VECTOR, columns,                     \
                               (k0) + e / (TILE_N / VECTOR), k_end);                                                   \
    }
#define STORE_W(buffer)                                                                                                \
    _Pragma("unroll") for (int l = 0; l < LOADS_W; l++)                                                                \
    {                                                                                                                  \
        const int e = t + l * THREADS;                                                                                 \
        if (TILE_N * TILE_K / VECTOR % THREADS == 0 || e < TILE_N * TILE_K / VECTOR)                                   \
            local_w[buffer][e] = next_w[l];                                                                            \
    }
#else
#define FETCH_W(k0)
#define STORE_W(buffer)
#endif

    FETCH_X(k_begin)
    FETCH_W(k_begin)
    STORE_X(0)
    STORE_W(0)
#if LOCAL_X || LOCAL_W
    barrier(CLK_LOCAL_MEM_FENCE);
    int buffer = 0;
#endif
#pragma nounroll
    for (ulong k0 = k_begin; k0 < k_end; k0 += TILE_K) {
        const bool more = k0 + TILE_K < k_end;
        if (more) {
            FETCH_X(k0 + TILE_K)
            FETCH_W(k0 + TILE_K)
        }
#pragma unroll 4
        for (int k = 0; k < TILE_K; k++) {
            acc_t xk[ITEM_M];
            VEC wk[BLOCKS];
#pragma unroll
            for (int i = 0; i < ITEM_M; i++) {
#if LOCAL_X
                xk[i] = local_x[buffer][k * PITCH_X + tm * ITEM_M + i];
#else
                const ulong m = m0 + tm * ITEM_M + i;
                xk[i] = m < batch && k0 + k < k_end ? X_READ(x + m * ldx + k0 + k) : 0.0f;
#endif
            }
#pragma unroll
            for (int j = 0; j < BLOCKS; j++) {
#if LOCAL_W
                wk[j] = local_w[buffer][k * (TILE_N / VECTOR) + j * THREADS_N + tn];
#else
                wk[j] = load_w(weights, in_features, n0 + (j * THREADS_N + tn) * VECTOR, columns, k0 + k, k_end);
#endif
            }
#pragma unroll
            for (int i = 0; i < ITEM_M; i++)
#pragma unroll
                for (int j = 0; j < BLOCKS; j++)
                    sum[i][j] = fma(VEC_SET(xk[i]), wk[j], sum[i][j]);
        }
#if LOCAL_X || LOCAL_W
#if BUFFERS == 2
        buffer ^= 1;
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (more) {
            STORE_X(buffer)
            STORE_W(buffer)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }

#pragma unroll
    for (int i = 0; i < ITEM_M; i++) {
        const ulong m = m0 + tm * ITEM_M + i;
#pragma unroll
        for (int j = 0; j < BLOCKS; j++) {
            acc_t part[VECTOR];
#if VECTOR == 1
            part[0] = sum[i][j];
#else
            PASTE(vstore, VECTOR)(sum[i][j], 0, part);
#endif
#pragma unroll
            for (int v = 0; v < VECTOR; v++) {
                const ulong n = n0 + (j * THREADS_N + tn) * VECTOR + v;
                if (m < batch && n < out_features)
                    STORE_OUTPUT(m, n, part[v]);
            }
        }
    }
}
