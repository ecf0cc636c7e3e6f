/* The activations over vectors. Included once by each instruction set's file, after LANES is defined.
 *
 * Comparisons are written so that NaN takes the branch that keeps it, and arguments are limited before they could
 * overflow, so that no value of z gives a NaN that was not there. Accuracies: docs/numerics.md. */
#ifndef HOST_VECTOR_ACTIVATION_H
#define HOST_VECTOR_ACTIVATION_H

#include "host/activation.h"
#include "host/vector_lanes.h"

/* low <= x <= high by comparisons: NaN stays NaN. */
LANES_INLINE floats limit(floats x, float low, float high)
{
    x = select_less(x, splat(low), splat(low), x);
    return select_less(splat(high), x, splat(high), x);
}

/* What relu, leaky_relu, relu6 and clamp come to; see activation_low. */
LANES_INLINE floats bounds(floats z, float slope, float low, float high)
{
    z = select_less(z, splat(0.0f), splat(slope) * z, z);
    return limit(z, low, high);
}

/* e^x within 2 ulp: 0 below -103.98, Inf above 88.73. x = n ln 2 + r with |r| <= ln 2 / 2; e^r = 1 + r + r^2 q(r), q
 * the polynomial of least relative error (3e-9). 2^n is applied in two steps, so that subnormal results round once. */
LANES_INLINE floats exponential(floats x)
{
    const float to_integer = 12582912.0f; /* 1.5 * 2^23: adding it leaves n in the low bits */
    x = limit(x, -104.0f, 89.0f);
    floats shifted = multiply_add(x, splat(1.44269504f), splat(to_integer));
    floats n = shifted - splat(to_integer);
    floats r = multiply_add(n, splat(-0.693359375f), x); /* ln 2 in two parts; n times the first is exact */
    r = multiply_add(n, splat(2.12194440e-4f), r);
    floats q = splat(1.38141787788e-3f);
    q = multiply_add(q, r, splat(8.36891897168e-3f));
    q = multiply_add(q, r, splat(4.16684077119e-2f));
    q = multiply_add(q, r, splat(1.66665189624e-1f));
    q = multiply_add(q, r, splat(4.99999933351e-1f));
    floats e = multiply_add(q, r * r, r) + splat(1.0f);
    ints exponent = as_ints(shifted) - as_ints(splat(to_integer));
    ints half = exponent >> 1;
    floats first = as_floats((ints)((uints)(half + 127) << 23));
    return e * first * as_floats((ints)((uints)(exponent - half + 127) << 23));
}

/* By e^-|z|, so that both tails keep their relative accuracy. */
LANES_INLINE floats sigmoid(floats z)
{
    floats e = exponential(-magnitude(z));
    return select_less(z, splat(0.0f), e, splat(1.0f)) / (splat(1.0f) + e);
}

/* 1 - 2 / (e^2a + 1), and below 0.6, where that would cancel, a + a^3 q(a^2). */
LANES_INLINE floats hyperbolic_tangent(floats z)
{
    floats a = magnitude(z), t = a * a;
    floats far = splat(1.0f) - splat(2.0f) / (exponential(a + a) + splat(1.0f));
    floats q = splat(-5.90587200971e-3f);
    q = multiply_add(q, t, splat(2.08053878879e-2f));
    q = multiply_add(q, t, splat(-5.37866846325e-2f));
    q = multiply_add(q, t, splat(1.33319582566e-1f));
    q = multiply_add(q, t, splat(-3.33332992727e-1f));
    floats near = multiply_add(q, t * a, a);
    floats size = select_less(a, splat(0.6f), near, far);
    return as_floats(as_ints(size) | (as_ints(z) & INT32_MIN));
}

/* z Phi(z), where the normal distribution's tail is Q(t) = e^(-t^2 / 2) R(t), and R(t) = q P(q) with q = 1 / (1 + 0.3
 * t) and P the polynomial of least relative error on 0 <= t <= 15 (4e-9). The square's rounding error is put back,
 * since e^(-t^2 / 2) would multiply it. */
LANES_INLINE floats gelu(floats z)
{
    z = select_less(z, splat(-15.0f), splat(-15.0f), z); /* gelu(-15) underflows; -Inf would give Inf * 0 */
    floats t = limit(magnitude(z), 0.0f, 15.0f);
    floats square = t * t;
    floats e = exponential(splat(-0.5f) * square);
#ifdef LANES_FMA
    e = multiply_add(e, splat(-0.5f) * multiply_add(t, t, -square), e);
#endif
    floats q = splat(1.0f) / multiply_add(splat(0.3f), t, splat(1.0f));
    floats p = splat(-2.06291715407e-2f);
    p = multiply_add(p, q, splat(1.12467665153e-1f));
    p = multiply_add(p, q, splat(-2.28291805790e-1f));
    p = multiply_add(p, q, splat(1.91893044542e-1f));
    p = multiply_add(p, q, splat(-7.95176436983e-2f));
    p = multiply_add(p, q, splat(9.62096963429e-2f));
    p = multiply_add(p, q, splat(7.83704872777e-2f));
    p = multiply_add(p, q, splat(1.10239738883e-1f));
    p = multiply_add(p, q, splat(1.19571267721e-1f));
    p = multiply_add(p, q, splat(1.19686719376e-1f));
    floats tail = e * (q * p);
    return z * select_less(z, splat(0.0f), tail, splat(1.0f) - tail);
}

/* z sigmoid(2u), u = sqrt(2 / pi) (z + 0.044715 z^3), limited to where sigmoid is 0 or 1. */
LANES_INLINE floats gelu_tanh(floats z)
{
    z = select_less(z, splat(-15.0f), splat(-15.0f), z);
    floats t = limit(z, -15.0f, 15.0f);
    floats u = t * multiply_add(splat(7.13548162726e-2f), t * t, splat(1.59576912161f));
    return z * sigmoid(u);
}

LANES_INLINE floats silu(floats z)
{
    z = select_less(z, splat(-120.0f), splat(-120.0f), z);
    return z * sigmoid(z);
}

/* One call per vector function, its loop compiled apart, so that the choice is made once. */
#define ACTIVATE_ROWS(expression)                                                                                      \
    for (size_t r = 0; r < rows; r++, y += ldy) {                                                                      \
        size_t c = 0;                                                                                                  \
        for (; c + LANES <= cols; c += LANES) {                                                                        \
            floats z = load(y + c);                                                                                    \
            store(y + c, (expression));                                                                                \
        }                                                                                                              \
        if (c < cols) {                                                                                                \
            floats z = load_part(y + c, cols - c);                                                                     \
            store_part(y + c, (expression), cols - c);                                                                 \
        }                                                                                                              \
    }

static void activate(const struct activation *activation, float *y, size_t rows, size_t cols, size_t ldy)
{
    float slope = activation_slope(activation);
    float low = activation_low(activation), high = activation_high(activation);
    switch (activation->kind) {
    case CLAYER_ACTIVATION_NONE:
        break;
    case CLAYER_ACTIVATION_RELU:
    case CLAYER_ACTIVATION_LEAKY_RELU:
    case CLAYER_ACTIVATION_RELU6:
    case CLAYER_ACTIVATION_CLAMP:
        ACTIVATE_ROWS(bounds(z, slope, low, high))
        break;
    case CLAYER_ACTIVATION_SIGMOID:
        ACTIVATE_ROWS(sigmoid(z))
        break;
    case CLAYER_ACTIVATION_TANH:
        ACTIVATE_ROWS(hyperbolic_tangent(z))
        break;
    case CLAYER_ACTIVATION_GELU:
        ACTIVATE_ROWS(gelu(z))
        break;
    case CLAYER_ACTIVATION_GELU_TANH:
        ACTIVATE_ROWS(gelu_tanh(z))
        break;
    case CLAYER_ACTIVATION_SILU:
        ACTIVATE_ROWS(silu(z))
        break;
    }
}

#endif
