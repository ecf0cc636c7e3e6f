/* Elements of files as float or as 64-bit integers. Sources may be unaligned, strided and of the other byte order. */
#ifndef FORMATS_CONVERT_H
#define FORMATS_CONVERT_H

#include <clayer/dtype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST_BIG_ENDIAN 1
#else
#define HOST_BIG_ENDIAN 0
#endif

/* A run of elements: `count` of them, `stride` bytes from one to the next. */
struct elements {
    const unsigned char *data;
    size_t stride;
    size_t count;
    clayer_dtype dtype;
    bool swapped; /* the bytes of each element are in the order that this host does not use */
};

/* Exact: every half, subnormals, infinities and NaNs with their payload included. */
float f16_to_f32(uint16_t half);
float bf16_to_f32(uint16_t bits);

/* Whether elements_to_f32 knows the type: all but F8 and complex. */
bool dtype_is_real(clayer_dtype dtype);

/* Widens exactly what float32 holds; F64 and wide integers are rounded to nearest, too large F64 to infinity. */
void elements_to_f32(const struct elements *from, float *to);

/* Stops at the first element that is no integer of 64 bits (a fraction, NaN, too large) and returns its index; returns
 * from->count when all are. */
size_t elements_to_i64(const struct elements *from, int64_t *to);

#endif
