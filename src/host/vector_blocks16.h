/* The register blocks for instruction sets with 16 vector registers, and the table entry's fields for them. Up to 12
 * sums leave room for the weights and a factor; 8 are needed to keep two multipliers of 4 cycles busy. */
#ifndef HOST_VECTOR_BLOCKS16_H
#define HOST_VECTOR_BLOCKS16_H

#include "host/vector_linear.h"
#include "host/vector_variants.h"

/* clang-format off */
BLOCK(1, 1) BLOCK(1, 2) BLOCK(1, 3) BLOCK(1, 4) BLOCK(1, 5) BLOCK(1, 6)
BLOCK(1, 7) BLOCK(1, 8) BLOCK(1, 9) BLOCK(1, 10) BLOCK(1, 11) BLOCK(1, 12)
BLOCK(2, 1) BLOCK(2, 2) BLOCK(2, 3) BLOCK(2, 4) BLOCK(2, 5) BLOCK(2, 6)
BLOCK(4, 1) BLOCK(4, 2) BLOCK(4, 3)
BLOCK(8, 1)

static vector_block_function *const blocks[VECTOR_VECTORS_MAX + 1][VECTOR_ROWS_MAX + 1] = {
    [1] = {NULL, block_1_1, block_1_2, block_1_3, block_1_4, block_1_5, block_1_6,
           block_1_7, block_1_8, block_1_9, block_1_10, block_1_11, block_1_12},
    [2] = {NULL, block_2_1, block_2_2, block_2_3, block_2_4, block_2_5, block_2_6},
    [4] = {NULL, block_4_1, block_4_2, block_4_3},
    [8] = {NULL, block_8_1},
};
/* clang-format on */

#define BLOCKS_OF_16_REGISTERS                                                                                         \
    .lanes = LANES, .vectors = {8, 8, 4, 4, 2}, .rows = {0, 12, 6, 0, 3, 0, 0, 0, 1}, .block = blocks, .pair = NULL,   \
    .activate = activate

#endif
