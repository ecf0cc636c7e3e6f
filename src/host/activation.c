#include "host/activation.h"

#include "base/error.h"
#include "host/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double sqrt_half = 0.70710678118654752440;
static const double sqrt_2_over_pi = 0.79788456080286535588;

/* One row per activation. The Lipschitz constants of gelu, gelu_tanh and silu are their derivatives' maxima, 1.12890 at
 * z = sqrt(2), 1.12899 and 1.09984, rounded up. The accuracies allow for the ulps that OpenCL grants exp (3), erfc
 * (16), tanh (5) and division (2.5), and for what the rounding of the argument does to them; docs/numerics.md. */
static const struct {
    const char *name;
    double lipschitz;
    struct activation_accuracy accuracy;
} table[ACTIVATION_COUNT] = {
    [CLAYER_ACTIVATION_NONE] = {"none", 1, {0, 0}},
    [CLAYER_ACTIVATION_RELU] = {"relu", 1, {0, 0}},
    [CLAYER_ACTIVATION_LEAKY_RELU] = {"leaky_relu", 1, {1, 0}},
    [CLAYER_ACTIVATION_RELU6] = {"relu6", 1, {0, 0}},
    [CLAYER_ACTIVATION_CLAMP] = {"clamp", 1, {0, 0}},
    [CLAYER_ACTIVATION_SIGMOID] = {"sigmoid", 0.25, {8, 1.0 / 1024}},
    [CLAYER_ACTIVATION_TANH] = {"tanh", 1, {8, 1.0 / 1024}},
    [CLAYER_ACTIVATION_GELU] = {"gelu", 1.13, {40, 1.0 / 128}},
    [CLAYER_ACTIVATION_GELU_TANH] = {"gelu_tanh", 1.13, {32, 1.0 / 128}},
    [CLAYER_ACTIVATION_SILU] = {"silu", 1.1, {8, 1.0 / 1024}},
};

const char *clayer_activation_string(clayer_activation activation)
{
    if ((int)activation < 0 || (int)activation >= ACTIVATION_COUNT)
        return "unknown";
    return table[activation].name;
}

clayer_status clayer_activation_parse(const char *text, clayer_activation *activation)
{
    REQUIRE(text != NULL);
    REQUIRE(activation != NULL);
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        if (strcmp(text, table[i].name) == 0) {
            *activation = (clayer_activation)i;
            return CLAYER_OK;
        }
    return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                "unknown activation \"%.40s\"; known are none, relu, leaky_relu, relu6, clamp, sigmoid, tanh, gelu, "
                "gelu_tanh and silu",
                text);
}

clayer_status activation_check(clayer_activation kind, float alpha, float beta)
{
    if ((int)kind < 0 || (int)kind >= ACTIVATION_COUNT)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "activation %d is unknown; known are 0 to %d", (int)kind,
                    ACTIVATION_COUNT - 1);
    if (kind == CLAYER_ACTIVATION_LEAKY_RELU && !isfinite(alpha))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "leaky_relu's slope (alpha) must be finite");
    if (kind == CLAYER_ACTIVATION_CLAMP && !(alpha < beta))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                    "clamp's lower limit (alpha) must be below its upper limit (beta), and neither NaN");
    return CLAYER_OK;
}

float activation_slope(const struct activation *activation)
{
    if (activation->kind != CLAYER_ACTIVATION_LEAKY_RELU)
        return 1.0f;
    return activation->alpha != 0.0f ? activation->alpha : 0.01f;
}

float activation_low(const struct activation *activation)
{
    switch (activation->kind) {
    case CLAYER_ACTIVATION_RELU:
    case CLAYER_ACTIVATION_RELU6:
        return 0.0f;
    case CLAYER_ACTIVATION_CLAMP:
        return activation->alpha;
    default:
        return -INFINITY;
    }
}

float activation_high(const struct activation *activation)
{
    switch (activation->kind) {
    case CLAYER_ACTIVATION_RELU6:
        return 6.0f;
    case CLAYER_ACTIVATION_CLAMP:
        return activation->beta;
    default:
        return INFINITY;
    }
}

int activation_is_cheap(clayer_activation kind)
{
    return kind <= CLAYER_ACTIVATION_CLAMP;
}

double activation_reference(const struct activation *activation, double z)
{
    switch (activation->kind) {
    case CLAYER_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-z));
    case CLAYER_ACTIVATION_TANH:
        return tanh(z);
    case CLAYER_ACTIVATION_GELU:
        return z == -INFINITY ? 0.0 : 0.5 * z * erfc(-z * sqrt_half);
    case CLAYER_ACTIVATION_GELU_TANH: /* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), which keeps the negative tail */
        return z == -INFINITY ? 0.0 : z / (1.0 + exp(-2.0 * sqrt_2_over_pi * (z + 0.044715 * z * z * z)));
    case CLAYER_ACTIVATION_SILU:
        return z == -INFINITY ? 0.0 : z / (1.0 + exp(-z));
    default: {
        double low = activation_low(activation), high = activation_high(activation);
        double t = z < 0 ? activation_slope(activation) * z : z;
        return t < low ? low : t > high ? high : t;
    }
    }
}

double activation_lipschitz(const struct activation *activation)
{
    double slope = fabs((double)activation_slope(activation));
    return fmax(slope > 1 ? slope : 0, table[activation->kind].lipschitz);
}

struct activation_accuracy activation_accuracy(clayer_activation kind)
{
    return table[kind].accuracy;
}

double activation_error(const struct activation *activation, double z, double exact)
{
    if (!isfinite(z) || !isfinite(exact))
        return 0.0;
    struct activation_accuracy accuracy = table[activation->kind].accuracy;
    double magnitude = fabs(exact), ulp = 0x1p-149;
    if (magnitude >= FLT_MIN) {
        int exponent;
        frexp(magnitude, &exponent); /* magnitude = m * 2^exponent, 0.5 <= m < 1 */
        ulp = ldexp(1.0, exponent - 24);
    }
    return fmax(accuracy.ulps * ulp, accuracy.floor * 0x1p-24 * fmax(1.0, fabs(z)));
}

float activation_apply(const struct activation *activation, float z)
{
    activation_rows(activation, &z, 1, 1, 1);
    return z;
}

void activation_rows(const struct activation *activation, float *y, size_t rows, size_t cols, size_t ldy)
{
    if (rows > 0 && cols > 0)
        vector_kernels()->activate(activation, y, rows, cols, ldy);
}
