#include "host/vector.h"

#include "host/vector_variants.h"

#include <stdatomic.h>

#define VARIANTS_MAX 4

/* Every thread that asks finds the same, so the order in which they store it does not matter. */
static _Atomic(const struct vector_kernels *) chosen;

const struct vector_kernels *vector_variant(size_t i)
{
    const struct vector_kernels *runs[VARIANTS_MAX + 1] = {0};
    size_t count = 0;
#if VECTOR_HAS_AVX512
    if (__builtin_cpu_supports("avx512f"))
        runs[count++] = &vector_avx512;
#endif
#if VECTOR_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        runs[count++] = &vector_avx2;
#endif
#if VECTOR_HAS_BASE
    runs[count++] = &vector_base;
#endif
    runs[count++] = &vector_plain;
    return i < count ? runs[i] : NULL;
}

const struct vector_kernels *vector_kernels(void)
{
    const struct vector_kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!kernels) {
        kernels = vector_variant(0);
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    }
    return kernels;
}

void vector_use(const struct vector_kernels *kernels)
{
    atomic_store_explicit(&chosen, kernels, memory_order_release);
}
