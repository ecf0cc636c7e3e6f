/* The vector kernels for any processor: 4 floats, which SSE2, NEON and their like hold in a register. */
#include "host/vector_variants.h"

#if VECTOR_HAS_BASE
#define LANES 4
#if defined(__aarch64__)
#include <arm_neon.h>
#define LANES_FMA(a, b, c) vfmaq_f32(c, a, b)
#endif
#include "host/vector_blocks16.h"

const struct vector_kernels vector_base = {
    .name = "base",
#ifdef LANES_FMA
    .fused = true,
#endif
    BLOCKS_OF_16_REGISTERS,
};
#endif
