/* A vector of LANES floats and the few operations that the kernels need. A file that includes this defines LANES first,
 * and may define LANES_FMA(a, b, c) = a * b + c rounded once and LANES_SELECT_LESS(x, y, a, b) = x < y ? a : b. One
 * lane is plain C, for compilers without vector types. */
#ifndef HOST_VECTOR_LANES_H
#define HOST_VECTOR_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define LANES_INLINE static inline __attribute__((always_inline))
#else
#define LANES_INLINE static inline
#endif

/* Unrolls a loop whose count the compiler knows. */
#if defined(__clang__)
#define LANES_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LANES_UNROLL _Pragma("GCC unroll 16")
#else
#define LANES_UNROLL
#endif

/* Asks for a line that will be wanted, for a second level cache; any address will do. */
#if defined(__GNUC__)
#define LANES_PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define LANES_PREFETCH(address) ((void)(address))
#endif

#if LANES > 1
typedef float floats __attribute__((vector_size(LANES * 4)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));
typedef uint32_t uints __attribute__((vector_size(LANES * 4)));
typedef float floats_anywhere __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

LANES_INLINE floats splat(float value)
{
    return value - (floats){0}; /* x - 0 is x, -0 included */
}

LANES_INLINE floats load(const float *from)
{
    return (floats) * (const floats_anywhere *)from;
}

LANES_INLINE void store(float *to, floats value)
{
    *(floats_anywhere *)to = (floats_anywhere)value;
}

LANES_INLINE ints as_ints(floats value)
{
    return (ints)value;
}

LANES_INLINE floats as_floats(ints value)
{
    return (floats)value;
}
#else
typedef float floats;
typedef int32_t ints;
typedef uint32_t uints;

LANES_INLINE floats splat(float value)
{
    return value;
}

LANES_INLINE floats load(const float *from)
{
    return *from;
}

LANES_INLINE void store(float *to, floats value)
{
    *to = value;
}

LANES_INLINE ints as_ints(floats value)
{
    ints bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

LANES_INLINE floats as_floats(ints value)
{
    floats number;
    memcpy(&number, &value, sizeof number);
    return number;
}
#endif

/* The first count floats, 0 < count < LANES; loads give 0 beyond them. */
LANES_INLINE floats load_part(const float *from, size_t count)
{
    float all[LANES] = {0};
    for (size_t i = 0; i < count; i++)
        all[i] = from[i];
    return load(all);
}

LANES_INLINE void store_part(float *to, floats value, size_t count)
{
    float all[LANES];
    store(all, value);
    for (size_t i = 0; i < count; i++)
        to[i] = all[i];
}

/* a * b + c: rounded once where the instruction set has it, else twice; never left to the compiler's contraction. */
LANES_INLINE floats multiply_add(floats a, floats b, floats c)
{
#ifdef LANES_FMA
    return LANES_FMA(a, b, c);
#else
    return a * b + c;
#endif
}

/* x < y ? a : b in each lane; false where one of them is NaN. */
LANES_INLINE floats select_less(floats x, floats y, floats a, floats b)
{
#ifdef LANES_SELECT_LESS
    return LANES_SELECT_LESS(x, y, a, b);
#elif LANES > 1
    ints less = x < y;
    return as_floats((less & as_ints(a)) | (~less & as_ints(b)));
#else
    return x < y ? a : b;
#endif
}

LANES_INLINE floats magnitude(floats x)
{
    return as_floats(as_ints(x) & 0x7fffffff);
}

#endif
