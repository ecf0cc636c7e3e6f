/* The same kernels one float at a time, for compilers without vector types. */
#define LANES 1
#include "host/vector_blocks16.h"

const struct vector_kernels vector_plain = {.name = "plain", BLOCKS_OF_16_REGISTERS};
