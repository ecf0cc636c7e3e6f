#include "formats/convert.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float bf16_to_f32(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

float f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 0x1fu, fraction = half & 0x3ffu;
    if (exponent == 0) { /* zero or subnormal: fraction x 2^-24, a normal float or zero */
        float magnitude = (float)fraction * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    if (exponent == 0x1f)
        return float_of(sign | 0x7f800000u | fraction << 13);
    return float_of(sign | (exponent + 112) << 23 | fraction << 13); /* the bias goes from 15 to 127 */
}

static inline uint16_t load16(const unsigned char *from, bool swapped)
{
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    return swapped ? __builtin_bswap16(bits) : bits;
}

static inline uint32_t load32(const unsigned char *from, bool swapped)
{
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    return swapped ? __builtin_bswap32(bits) : bits;
}

static inline uint64_t load64(const unsigned char *from, bool swapped)
{
    uint64_t bits;
    memcpy(&bits, from, sizeof bits);
    return swapped ? __builtin_bswap64(bits) : bits;
}

static inline double load_f64(const unsigned char *from, bool swapped)
{
    uint64_t bits = load64(from, swapped);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool dtype_is_real(clayer_dtype dtype)
{
    return (unsigned)dtype <= CLAYER_DTYPE_BOOL;
}

/* One loop per type, with `p` at the element. */
#define EACH(value)                                                                                                    \
    for (size_t i = 0; i < from->count; i++, p += from->stride)                                                        \
        to[i] = (value);                                                                                               \
    break

void elements_to_f32(const struct elements *from, float *to)
{
    const unsigned char *p = from->data;
    const bool s = from->swapped;
    switch (from->dtype) {
    case CLAYER_DTYPE_F32:
        if (!s && from->stride == sizeof(float)) {
            if (from->count > 0)
                memcpy(to, p, from->count * sizeof(float));
            break;
        }
        EACH(float_of(load32(p, s)));
    case CLAYER_DTYPE_F16:
        EACH(f16_to_f32(load16(p, s)));
    case CLAYER_DTYPE_BF16:
        EACH(bf16_to_f32(load16(p, s)));
    case CLAYER_DTYPE_F64:
        EACH((float)load_f64(p, s));
    case CLAYER_DTYPE_I8:
        EACH((float)(int8_t)*p);
    case CLAYER_DTYPE_I16:
        EACH((float)(int16_t)load16(p, s));
    case CLAYER_DTYPE_I32:
        EACH((float)(int32_t)load32(p, s));
    case CLAYER_DTYPE_I64:
        EACH((float)(int64_t)load64(p, s));
    case CLAYER_DTYPE_U8:
        EACH((float)*p);
    case CLAYER_DTYPE_U16:
        EACH((float)load16(p, s));
    case CLAYER_DTYPE_U32:
        EACH((float)load32(p, s));
    case CLAYER_DTYPE_U64:
        EACH((float)load64(p, s));
    case CLAYER_DTYPE_BOOL:
        EACH(*p ? 1.0f : 0.0f);
    default:
        assert(!"a type that dtype_is_real refuses");
    }
}

/* Integers that a double holds exactly on both sides of the cast: -2^63 <= value < 2^63. */
static bool integral(double value, int64_t *to)
{
    if (!(value >= -0x1p63 && value < 0x1p63) || value != floor(value))
        return false;
    *to = (int64_t)value;
    return true;
}

size_t elements_to_i64(const struct elements *from, int64_t *to)
{
    const unsigned char *p = from->data;
    const bool s = from->swapped;
    switch (from->dtype) {
    case CLAYER_DTYPE_I8:
        EACH((int8_t)*p);
    case CLAYER_DTYPE_I16:
        EACH((int16_t)load16(p, s));
    case CLAYER_DTYPE_I32:
        EACH((int32_t)load32(p, s));
    case CLAYER_DTYPE_I64:
        EACH((int64_t)load64(p, s));
    case CLAYER_DTYPE_U8:
        EACH(*p);
    case CLAYER_DTYPE_U16:
        EACH(load16(p, s));
    case CLAYER_DTYPE_U32:
        EACH(load32(p, s));
    case CLAYER_DTYPE_BOOL:
        EACH(*p != 0);
    case CLAYER_DTYPE_U64:
        for (size_t i = 0; i < from->count; i++, p += from->stride) {
            uint64_t value = load64(p, s);
            if (value > INT64_MAX)
                return i;
            to[i] = (int64_t)value;
        }
        break;
    case CLAYER_DTYPE_F64:
        for (size_t i = 0; i < from->count; i++, p += from->stride)
            if (!integral(load_f64(p, s), &to[i]))
                return i;
        break;
    default:
        for (size_t i = 0; i < from->count; i++, p += from->stride) {
            float value;
            elements_to_f32(&(struct elements){p, from->stride, 1, from->dtype, s}, &value);
            if (!integral((double)value, &to[i]))
                return i;
        }
    }
    return from->count;
}
