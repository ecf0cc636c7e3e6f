/* Which instruction sets' kernels this build holds. VECTOR_HAS_AVX512 and VECTOR_HAS_AVX2 come from the build, which
 * knows whether the compiler can make them. */
#ifndef HOST_VECTOR_VARIANTS_H
#define HOST_VECTOR_VARIANTS_H

#include "host/vector.h"

#if defined(__GNUC__)
#define VECTOR_HAS_BASE 1
#else
#define VECTOR_HAS_BASE 0
#endif

#ifndef VECTOR_HAS_AVX512
#define VECTOR_HAS_AVX512 0
#endif
#ifndef VECTOR_HAS_AVX2
#define VECTOR_HAS_AVX2 0
#endif

extern const struct vector_kernels vector_avx512, vector_avx2, vector_base, vector_plain;

#endif
