#include <clayer/init.h>

#include "base/checked.h"
#include "base/error.h"

#include <math.h>

void clayer_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t output[4])
{
    /* Multipliers and Weyl increments from the paper's table 2. */
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1],
                                  (uint32_t)a};
        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        output[i] = c[i];
}

/* Uniform in [-bound, bound). The integer has 24 bits and bound has 24, so their product is exact in double and the one
 * rounding to float is the same everywhere. */
static float uniform(uint32_t bits, float bound)
{
    const int32_t step = (int32_t)(bits >> 8) - (1 << 23);
    return (float)((double)step * (double)bound * 0x1p-23);
}

/* cos(pi/2 * turn / 2^30) for 0 <= turn < 2^30, exact to a few ulp also near its zero. */
static double quarter_cosine(uint32_t turn)
{
    const double half_pi = 1.5707963267948966;
    return turn <= 1u << 29 ? cos(half_pi * turn * 0x1p-30) : sin(half_pi * ((1u << 30) - turn) * 0x1p-30);
}

/* Two standard normal numbers from two integers, by Box and Muller (1958), with the angle reduced in integers. */
static void normal_pair(uint32_t a, uint32_t b, double pair[2])
{
    static const int cosine_sign[4] = {1, -1, -1, 1}, sine_sign[4] = {1, 1, -1, -1};
    const double radius = sqrt(-2.0 * log(((double)a + 1.0) * 0x1p-32));
    const uint32_t quadrant = b >> 30, turn = b & ((1u << 30) - 1);
    const double c = quarter_cosine(turn), s = turn == 0 ? 0.0 : quarter_cosine((1u << 30) - turn);
    pair[0] = radius * cosine_sign[quadrant] * (quadrant % 2 ? s : c);
    pair[1] = radius * sine_sign[quadrant] * (quadrant % 2 ? c : s);
}

struct draw {
    uint32_t key[2], stream, part; /* part: 0 weights, 1 bias */
    bool normal;
    float scale; /* bound of uniform numbers, standard deviation of normal ones */
};

static void fill(const struct draw *draw, float *values, size_t count)
{
    for (size_t first = 0; first < count; first += 4) {
        const uint64_t block = first / 4;
        const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), draw->stream, draw->part};
        uint32_t bits[4];
        double normals[4];
        clayer_philox(counter, draw->key, bits);
        if (draw->normal) {
            normal_pair(bits[0], bits[1], normals);
            normal_pair(bits[2], bits[3], normals + 2);
        }
        for (size_t i = 0; i < 4 && first + i < count; i++)
            values[first + i] = draw->normal ? (float)(normals[i] * draw->scale) : uniform(bits[i], draw->scale);
    }
}

clayer_status clayer_init_linear(const clayer_init_params *params, size_t in_features, size_t out_features,
                                 float *weight, float *bias)
{
    static const clayer_init_params defaults;
    if (!params)
        params = &defaults;
    size_t count;
    if (!size_mul(in_features, out_features, &count) || count > SIZE_MAX / sizeof(float))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%zu x %zu weights overflow", out_features, in_features);
    REQUIRE(weight != NULL || count == 0);
    const double fan_in = in_features ? (double)in_features : 1.0;
    struct draw draw = {.key = {(uint32_t)params->seed, (uint32_t)(params->seed >> 32)}, .stream = params->stream};
    bool draw_bias = false;
    switch (params->scheme) {
    case CLAYER_INIT_PYTORCH:
        draw.scale = (float)(1.0 / sqrt(fan_in));
        draw_bias = true;
        break;
    case CLAYER_INIT_KAIMING_UNIFORM:
        draw.scale = (float)sqrt(6.0 / fan_in);
        break;
    case CLAYER_INIT_KAIMING_NORMAL:
        draw.scale = (float)sqrt(2.0 / fan_in);
        draw.normal = true;
        break;
    case CLAYER_INIT_NORMAL:
        if (!(params->std >= 0.0f) || isinf(params->std))
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "std must be finite and not negative");
        draw.scale = params->std;
        draw.normal = true;
        break;
    case CLAYER_INIT_ZEROS:
        break;
    default:
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "init scheme %d: 0 to 4 are accepted", (int)params->scheme);
    }
    fill(&draw, weight, count);
    draw.part = 1;
    draw.scale = draw_bias ? draw.scale : 0.0f;
    draw.normal = false;
    if (bias)
        fill(&draw, bias, out_features);
    /* A bound of zero leaves -0 behind; zeros are +0. */
    for (size_t i = 0; params->scheme == CLAYER_INIT_ZEROS && i < count; i++)
        weight[i] = 0.0f;
    for (size_t i = 0; bias && !draw_bias && i < out_features; i++)
        bias[i] = 0.0f;
    return CLAYER_OK;
}
