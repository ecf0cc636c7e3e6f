/* panel: the CPU kernel. One work-item computes ROWS rows by VECTORS vectors of WIDTH outputs, held in registers over
 * the whole of in_features; work-groups are single work-items, so no barriers and no local memory.
 *
 * ROWS, VECTORS, WIDTH (4, 8 or 16): VECTORS * WIDTH must divide PANEL, so that a tile lies inside one panel.
 * rows_first 1: work-groups run over the batch fastest, so that one panel stays in the near cache while all rows pass;
 * 0: over the panels fastest, for weights that all stay there. The global size follows it.
 * PREFETCH 1, with rows_first: while the rows use one panel, each tile of rows asks for its share of the next.
 */
#include "epilogue.clh"

#if !defined(PANEL) || !defined(ROWS) || !defined(VECTORS) || !defined(WIDTH) || !defined(PREFETCH)
#error "PANEL, ROWS, VECTORS, WIDTH and PREFETCH are needed"
#endif
#define TILE (VECTORS * WIDTH)
#if PANEL % TILE != 0
#error "VECTORS * WIDTH must divide PANEL"
#endif
#if WIDTH != 4 && WIDTH != 8 && WIDTH != 16
#error "WIDTH: 4, 8 or 16"
#endif

#define VEC PASTE(PASTE(acc, WIDTH), _t)
#define W_VECTOR(p) PASTE(W_READ, WIDTH)(p)
#define Y_VECTOR(p, value) PASTE(Y_WRITE, WIDTH)(p, value)

DEFINE_ACTIVATION(VEC)

__kernel void panel(__global const x_t *x, ulong x_offset, ulong ldx, __global const w_t *weights,
                    __global const w_t *bias, __global y_t *y, ulong y_offset, ulong ldy, ulong batch,
                    ulong in_features, ulong out_features, int kind, float alpha, float beta,
                    int rows_first)
{
    /* Dimensions as constants: PoCL 3.1 links a kernel that computes them against symbols that do not exist. */
    const ulong first = get_global_id(0), second = get_global_id(1);
    const ulong row_tile = rows_first ? first : second;
    const ulong m0 = row_tile * ROWS;
    const ulong n0 = (rows_first ? second : first) * TILE;
    __global const w_t *w = weights + (n0 / PANEL) * in_features * PANEL + n0 % PANEL;

    /* Rows past the end repeat the last row: computed, never stored, and nothing outside x is read. */
    __global const x_t *rows[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        rows[r] = x + x_offset + min(m0 + r, batch - 1) * ldx;

    VEC sum[ROWS][VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = (VEC)(ACC_ZERO);

#if PREFETCH && defined(POCL_DEVICE_ADDRESS_BITS)
    /* OpenCL's own prefetch() does nothing in PoCL, and other compilers may not know this one. An address behind the last
     * panel does no harm: it is not read. */
    ulong ahead = row_tile;
    const ulong sharers = (batch + ROWS - 1) / ROWS;
#endif
#pragma nounroll
    for (ulong k = 0; k < in_features; k++) {
#if PREFETCH && defined(POCL_DEVICE_ADDRESS_BITS)
        if (k == ahead) {
#pragma unroll
            for (int line = 0; line < TILE; line += 16)
                __builtin_prefetch((const __private void *)(ulong)(w + in_features * PANEL + line), 0, 2);
            ahead += sharers;
        }
#endif
        VEC wk[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            wk[v] = W_VECTOR(w + v * WIDTH);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const VEC xk = (VEC)(X_READ(rows[r] + k));
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] = fma(xk, wk[v], sum[r][v]);
        }
        w += PANEL;
    }

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const ulong n = n0 + v * WIDTH;
        if (n >= out_features)
            break;
        const VEC b = W_VECTOR(bias + n);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (m0 + r >= batch)
                break;
            const VEC z = EPILOGUE(sum[r][v], b, kind, alpha, beta);
            __global y_t *out = y + y_offset + (m0 + r) * ldy + n;
            if (n + WIDTH <= out_features) {
                Y_VECTOR(out, z);
            } else {
                acc_t part[WIDTH];
                PASTE(vstore, WIDTH)(z, 0, part);
                for (ulong i = 0; n + i < out_features; i++)
                    Y_WRITE(out + i, part[i]);
            }
        }
    }
}
