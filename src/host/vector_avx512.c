/* The vector kernels for x86-64 with AVX-512F: 32 registers of 16 floats. Blocks of one vector stop at 10 rows: beyond
 * that compilers run out of address registers before they run out of vectors. */
#include <immintrin.h>

#define LANES 16
#define LANES_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LANES_SELECT_LESS(x, y, a, b) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a)
#include "host/vector_linear.h"
#include "host/vector_variants.h"

/* clang-format off */
BLOCK(1, 1) BLOCK(1, 2) BLOCK(1, 3) BLOCK(1, 4) BLOCK(1, 5)
BLOCK(1, 6) BLOCK(1, 7) BLOCK(1, 8) BLOCK(1, 9) BLOCK(1, 10)
BLOCK(2, 1) BLOCK(2, 2) BLOCK(2, 3) BLOCK(2, 4) BLOCK(2, 5) BLOCK(2, 6)
BLOCK(2, 7) BLOCK(2, 8) BLOCK(2, 9) BLOCK(2, 10) BLOCK(2, 11) BLOCK(2, 12)
BLOCK(3, 1) BLOCK(3, 2) BLOCK(3, 3) BLOCK(3, 4) BLOCK(3, 5) BLOCK(3, 6) BLOCK(3, 7) BLOCK(3, 8)
BLOCK(4, 1) BLOCK(4, 2) BLOCK(4, 3) BLOCK(4, 4) BLOCK(4, 5) BLOCK(4, 6)
PAIR_BLOCK(8)

static vector_block_function *const blocks[VECTOR_VECTORS_MAX + 1][VECTOR_ROWS_MAX + 1] = {
    [1] = {NULL, block_1_1, block_1_2, block_1_3, block_1_4, block_1_5,
           block_1_6, block_1_7, block_1_8, block_1_9, block_1_10},
    [2] = {NULL, block_2_1, block_2_2, block_2_3, block_2_4, block_2_5, block_2_6,
           block_2_7, block_2_8, block_2_9, block_2_10, block_2_11, block_2_12},
    [3] = {NULL, block_3_1, block_3_2, block_3_3, block_3_4, block_3_5, block_3_6, block_3_7, block_3_8},
    [4] = {NULL, block_4_1, block_4_2, block_4_3, block_4_4, block_4_5, block_4_6},
};
/* clang-format on */

const struct vector_kernels vector_avx512 = {
    .name = "avx512",
    .lanes = LANES,
    .fused = true,
    .vectors = {4, 4, 4, 4, 4},
    .rows = {0, 10, 12, 8, 6},
    .block = blocks,
    .pair = block_pair,
    .activate = activate,
};
