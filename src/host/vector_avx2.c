/* The vector kernels for x86-64 with AVX2 and FMA: 16 registers of 8 floats. */
#include <immintrin.h>

#define LANES 8
#define LANES_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define LANES_SELECT_LESS(x, y, a, b) _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_LT_OQ))
#include "host/vector_blocks16.h"

const struct vector_kernels vector_avx2 = {.name = "avx2", .fused = true, BLOCKS_OF_16_REGISTERS};
