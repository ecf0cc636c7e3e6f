/* Activations: names, parameters, values at the special points, and every vector kernel's accuracy against libm in long
 * double over the whole range of float. */
#include "host/activation.h"
#include "host/vector.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KINDS ACTIVATION_COUNT

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static struct activation make(int kind)
{
    struct activation activation = {(clayer_activation)kind, 0, 0};
    if (kind == CLAYER_ACTIVATION_CLAMP) {
        activation.alpha = -1.5f;
        activation.beta = 2.5f;
    }
    return activation;
}

/* The definitions once more, as written in the public header, in long double. */
static long double exact(int kind, long double z)
{
    const long double sqrt_2_over_pi = 0.797884560802865355879892119868763737L;
    if (z == -INFINITY && kind >= CLAYER_ACTIVATION_GELU)
        return 0;
    switch (kind) {
    case CLAYER_ACTIVATION_RELU:
        return z < 0 ? 0 : z;
    case CLAYER_ACTIVATION_LEAKY_RELU:
        return z < 0 ? 0.01f * z : z;
    case CLAYER_ACTIVATION_RELU6:
        return z < 0 ? 0 : z > 6 ? 6 : z;
    case CLAYER_ACTIVATION_CLAMP:
        return z < -1.5L ? -1.5L : z > 2.5L ? 2.5L : z;
    case CLAYER_ACTIVATION_SIGMOID:
        return 1 / (1 + expl(-z));
    case CLAYER_ACTIVATION_TANH:
        return tanhl(z);
    case CLAYER_ACTIVATION_GELU:
        return z / 2 * erfcl(-z / sqrtl(2));
    case CLAYER_ACTIVATION_GELU_TANH:
        return z / (1 + expl(-2 * sqrt_2_over_pi * (z + 0.044715L * z * z * z)));
    case CLAYER_ACTIVATION_SILU:
        return z / (1 + expl(-z));
    default:
        return z;
    }
}

/* The distance of floats at a value. */
static double ulp_of(double value)
{
    const float size = fabsf((float)value);
    return size < 0x1p-126f ? 0x1p-149 : ldexp(1, ilogbf(size) - 23);
}

/* The largest error seen where the bound is a number of ulp, in ulp. */
static double largest[KINDS];

static void note_error(const struct activation *activation, float z, float y, double want)
{
    const double one = (double)exact(activation->kind, 1);
    const double a = activation_error(activation, 1, one) / ulp_of(one);
    const double ulp = ulp_of(want), error = fabs(y - want) / ulp;
    if (activation_error(activation, z, want) <= a * ulp * 1.001 && error > largest[activation->kind])
        largest[activation->kind] = error;
}

/* Checks z[0 .. count) for one kind in every vector kernel of this processor. */
static void check_values(int kind, const float *z, size_t count)
{
    struct activation activation = make(kind);
    static float y[4096];
    cr_assert(count <= sizeof y / sizeof *y);
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        memcpy(y, z, count * sizeof *y);
        activation_rows(&activation, y, 1, count, count);
        for (size_t i = 0; i < count; i++) {
            double want = (double)exact(kind, z[i]);
            if (isnan(z[i])) {
                cr_assert(isnan(y[i]), "%s: %s(NaN) is %a", vector_kernels()->name, clayer_activation_string(kind),
                          y[i]);
                continue;
            }
            cr_assert(isinf(z[i]) ? y[i] == (float)want
                                  : fabs(y[i] - want) <= activation_error(&activation, z[i], want),
                      "%s: %s(%a = %g) is %g, exactly %.12g", vector_kernels()->name, clayer_activation_string(kind),
                      z[i], z[i], y[i], want);
            if (isfinite(z[i]))
                note_error(&activation, z[i], y[i], want);
        }
    }
    vector_use(NULL);
}

Test(activation, names)
{
    static const char *const names[KINDS] = {"none",    "relu", "leaky_relu", "relu6",     "clamp",
                                             "sigmoid", "tanh", "gelu",       "gelu_tanh", "silu"};
    for (int i = 0; i < KINDS; i++) {
        clayer_activation parsed = (clayer_activation)-1;
        cr_assert_str_eq(clayer_activation_string(i), names[i]);
        cr_assert_eq(clayer_activation_parse(names[i], &parsed), CLAYER_OK);
        cr_assert_eq((int)parsed, i);
    }
    cr_assert_str_eq(clayer_activation_string((clayer_activation)KINDS), "unknown");
    cr_assert_str_eq(clayer_activation_string((clayer_activation)-1), "unknown");
    static const char *const wrong[] = {"", "ReLU", "relu ", "relu7", "gelu-tanh"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        clayer_activation kept = CLAYER_ACTIVATION_SILU;
        cr_assert_eq(clayer_activation_parse(wrong[i], &kept), CLAYER_ERROR_INVALID_ARGUMENT);
        cr_assert_eq(kept, CLAYER_ACTIVATION_SILU);
        cr_assert(strstr(clayer_last_error(), "leaky_relu"), "the message lists what is accepted");
    }
    cr_assert_eq(clayer_activation_parse(NULL, &(clayer_activation){0}), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_activation_parse("relu", NULL), CLAYER_ERROR_INVALID_ARGUMENT);
}

Test(activation, parameters)
{
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_RELU, NAN, NAN), CLAYER_OK, "others ignore both");
    cr_assert_eq(activation_check((clayer_activation)KINDS, 0, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check((clayer_activation)-1, 0, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_LEAKY_RELU, 0, 0), CLAYER_OK);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_LEAKY_RELU, -0.25f, 0), CLAYER_OK);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_LEAKY_RELU, NAN, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_LEAKY_RELU, INFINITY, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, -1, 1), CLAYER_OK);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, -INFINITY, INFINITY), CLAYER_OK);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, 0, 0), CLAYER_ERROR_INVALID_ARGUMENT, "limits forgotten");
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, 1, -1), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, NAN, 1), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(activation_check(CLAYER_ACTIVATION_CLAMP, -1, NAN), CLAYER_ERROR_INVALID_ARGUMENT);

    struct activation leaky = {CLAYER_ACTIVATION_LEAKY_RELU, 0, 0};
    cr_assert_float_eq(activation_apply(&leaky, -2.0f), -0.02f, 1e-9f, "the default slope is 0.01");
    leaky.alpha = -0.5f;
    cr_assert_eq(activation_apply(&leaky, -2.0f), 1.0f);
    leaky.alpha = 4.0f;
    cr_assert_eq(activation_apply(&leaky, -2.0f), -8.0f);
    cr_assert_eq(activation_lipschitz(&leaky), 4.0);
}

/* Known values, so that the reference itself is not only compared with its own formula. */
Test(activation, known_values)
{
    static const struct {
        clayer_activation kind;
        double z, value;
    } known[] = {
        {CLAYER_ACTIVATION_SIGMOID, 1, 0.731058578630004879},
        {CLAYER_ACTIVATION_SIGMOID, -5, 0.00669285092428485556},
        {CLAYER_ACTIVATION_TANH, 0.5, 0.462117157260009758},
        {CLAYER_ACTIVATION_TANH, -2, -0.964027580075816884},
        {CLAYER_ACTIVATION_GELU, 1, 0.841344746068542949},
        {CLAYER_ACTIVATION_GELU, -3, -0.00404969409489029},
        {CLAYER_ACTIVATION_GELU_TANH, 1, 0.841191990608276},
        {CLAYER_ACTIVATION_GELU_TANH, -3, -0.00363739208177301884},
        {CLAYER_ACTIVATION_SILU, 1, 0.731058578630004879},
        {CLAYER_ACTIVATION_SILU, -5, -0.0334642546214242778},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct activation activation = make(known[i].kind);
        cr_assert_float_eq(activation_reference(&activation, known[i].z), known[i].value, 1e-12, "%s(%g) is %.15g",
                           clayer_activation_string(known[i].kind), known[i].z,
                           activation_reference(&activation, known[i].z));
    }
}

Test(activation, special_values)
{
    static const float sizes[] = {0,   0x1p-149f, 1e-45f, 1e-40f, 0x1p-126f, 0.5f,     1,   5,
                                  6,   10,        13.3f,  50,     88,        88.8f,    100, 103.9f,
                                  104, 1e3f,      1e6f,   1e8f,   3e38f,     INFINITY, NAN};
    float z[2 * sizeof sizes / sizeof *sizes];
    size_t count = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        z[count++] = sizes[i];
        z[count++] = -sizes[i];
    }
    for (int kind = 0; kind < KINDS; kind++) {
        struct activation activation = make(kind);
        check_values(kind, z, count);
        for (size_t i = 0; i < count; i++) {
            double reference = activation_reference(&activation, z[i]);
            cr_assert_eq(isnan(reference), isnan(z[i]), "%s(%g)", clayer_activation_string(kind), z[i]);
        }
        for (size_t v = 0; vector_variant(v); v++) {
            vector_use(vector_variant(v));
            if (kind != CLAYER_ACTIVATION_SIGMOID) /* the others keep the sign of zero; a clamp about it too */
                cr_assert_eq(bits_of(activation_apply(&activation, -0.0f)), 0x80000000u, "%s(-0)",
                             clayer_activation_string(kind));
            if (kind >= CLAYER_ACTIVATION_GELU) {
                cr_assert_eq(activation_apply(&activation, -INFINITY), 0.0f);
                cr_assert_eq(activation_apply(&activation, INFINITY), INFINITY);
                cr_assert_eq(activation_apply(&activation, 1e8f), 1e8f);
                cr_assert_eq(activation_apply(&activation, -1e8f), 0.0f);
            }
        }
        vector_use(NULL);
    }
    struct activation tanh_ = make(CLAYER_ACTIVATION_TANH), sigmoid = make(CLAYER_ACTIVATION_SIGMOID);
    cr_assert_eq(activation_apply(&tanh_, INFINITY), 1.0f);
    cr_assert_eq(activation_apply(&tanh_, -13.3f), -1.0f);
    cr_assert_eq(activation_apply(&sigmoid, INFINITY), 1.0f);
    cr_assert_eq(activation_apply(&sigmoid, -INFINITY), 0.0f);
    cr_assert_eq(activation_apply(&sigmoid, -0.0f), 0.5f);
}

/* Every exponent with mantissas that a prime step spreads, and an even grid where the functions bend. */
Test(activation, accuracy_over_all_floats, .timeout = 100)
{
    static float z[4096];
    for (int kind = CLAYER_ACTIVATION_RELU; kind < KINDS; kind++) {
        size_t count = 0;
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 50021) {
            z[count++] = from_bits((uint32_t)bits);
            if (count == 4096) {
                check_values(kind, z, count);
                count = 0;
            }
        }
        check_values(kind, z, count);
        for (int block = -8; block < 8; block++) {
            for (int i = 0; i < 4096; i++)
                z[i] = (float)((block * 4096 + i) * (20.0 / (8 * 4096)));
            check_values(kind, z, 4096);
        }
        printf("%s: largest error %.2f ulp\n", clayer_activation_string(kind), largest[kind]);
    }
}

/* An element's bits do not depend on where it stands, and nothing beside the rows is touched. */
Test(activation, rows_and_tails)
{
    enum { ROWS = 3, LDY = 41 };
    float y[ROWS * LDY], want[ROWS * LDY];
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t cols = 1; cols <= 37; cols++) {
                struct activation activation = make(kind);
                for (size_t i = 0; i < ROWS * LDY; i++) {
                    y[i] = (float)((double)(i * 37 % 101) / 8 - 6);
                    want[i] = i % LDY < cols ? activation_apply(&activation, y[i]) : y[i];
                }
                activation_rows(&activation, y, ROWS, cols, LDY);
                cr_assert_arr_eq(y, want, sizeof y, "%s, %zu columns", clayer_activation_string(kind), cols);
            }
    }
    vector_use(NULL);
}
