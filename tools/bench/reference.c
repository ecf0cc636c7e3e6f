#include "bench/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double activate(clayer_activation activation, double z)
{
    switch (activation) {
    case CLAYER_ACTIVATION_NONE:
        return z;
    case CLAYER_ACTIVATION_RELU:
        return z < 0 ? 0 : z;
    case CLAYER_ACTIVATION_LEAKY_RELU:
        return z < 0 ? (double)LEAKY_SLOPE * z : z;
    case CLAYER_ACTIVATION_RELU6:
        return z < 0 ? 0 : z > 6 ? 6 : z;
    case CLAYER_ACTIVATION_CLAMP:
        return z < (double)CLAMP_LOW ? (double)CLAMP_LOW : z > (double)CLAMP_HIGH ? (double)CLAMP_HIGH : z;
    case CLAYER_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-z));
    case CLAYER_ACTIVATION_TANH:
        return tanh(z);
    case CLAYER_ACTIVATION_GELU:
        return z * erfc(-z * 0.70710678118654752440) / 2;
    case CLAYER_ACTIVATION_GELU_TANH:
        return z * (1 + tanh(0.79788456080286535588 * (z + 0.044715 * z * z * z))) / 2;
    case CLAYER_ACTIVATION_SILU:
        return z / (1 + exp(-z));
    }
    return NAN;
}

/* How far apart two results can be for arguments one apart: the largest slope. */
static double slope(clayer_activation activation)
{
    switch (activation) {
    case CLAYER_ACTIVATION_GELU:
    case CLAYER_ACTIVATION_GELU_TANH:
    case CLAYER_ACTIVATION_SILU:
        return 1.13;
    default:
        return 1;
    }
}

/* What an activation itself may be off: nothing where it only selects, else 2^-20 of its argument. This is the bench's
 * gate for every peer, some of which state no bound; clayer's tests hold clayer to a narrower one. */
static double own_error(clayer_activation activation, double z)
{
    return activation <= CLAYER_ACTIVATION_CLAMP ? 0 : 0x1p-20 * fmax(1, fabs(z));
}

/* One output of a layer. in_bound: how far each input may be off (NULL: exact). S = sum |x||w| + |b|; float32 sums of
 * in + 2 terms in any order lie within in+2 roundings of S. */
static struct expected element(const struct problem *problem, size_t layer, const double *in, const double *in_bound,
                               size_t column)
{
    const double rounding = 0x1p-24;
    size_t count = problem->shape.width[layer];
    const float *w = problem->weight[layer] + column * count;
    double sum = problem->bias[layer][column], magnitude = fabs(sum), carried = 0;
    for (size_t k = 0; k < count; k++) {
        double product = in[k] * w[k];
        sum += product;
        magnitude += fabs(product);
        if (in_bound)
            carried += in_bound[k] * fabs(w[k]);
    }
    double terms = (double)(count + 2) * rounding;
    clayer_activation activation = shape_activation(&problem->shape, layer);
    double bound =
        slope(activation) * (terms / (1 - terms) * (magnitude + carried) + carried + (double)count * 0x1p-149) +
        own_error(activation, sum);
    return (struct expected){.column = column, .value = activate(activation, sum), .bound = bound};
}

/* All columns of one row, through every layer. values and bounds: room for two rows of the widest layer each. */
static void whole_row(const struct problem *problem, size_t row, double *values, double *bounds, size_t widest,
                      struct expected *result)
{
    const struct shape *shape = &problem->shape;
    for (size_t k = 0; k < shape->width[0]; k++)
        values[k] = problem->x[row * shape->width[0] + k];
    memset(bounds, 0, widest * sizeof *bounds);
    for (size_t l = 0; l < shape->layers; l++) {
        const double *in = values + (l % 2) * widest, *in_bound = bounds + (l % 2) * widest;
        double *out = values + ((l + 1) % 2) * widest, *out_bound = bounds + ((l + 1) % 2) * widest;
        for (size_t n = 0; n < shape->width[l + 1]; n++) {
            struct expected e = element(problem, l, in, l > 0 ? in_bound : NULL, n);
            e.row = row;
            out[n] = e.value;
            out_bound[n] = e.bound;
            if (l + 1 == shape->layers)
                result[n] = e;
        }
    }
}

struct expectation *expectation_create(const struct problem *problem)
{
    enum { WHOLE_ROWS = 16 };
    const struct shape *shape = &problem->shape;
    size_t columns = shape->width[shape->layers], batch = shape->batch, widest = 0;
    size_t rows = batch < WHOLE_ROWS ? batch : WHOLE_ROWS, edges = shape->layers == 1 ? 2 * batch : 0;
    for (size_t l = 0; l <= shape->layers; l++)
        widest = shape->width[l] > widest ? shape->width[l] : widest;
    struct expectation *expectation = calloc(1, sizeof *expectation);
    double *values = malloc(2 * widest * sizeof *values), *bounds = malloc(2 * widest * sizeof *bounds);
    if (expectation)
        expectation->element = malloc((rows * columns + edges) * sizeof *expectation->element);
    if (!expectation || !values || !bounds || !expectation->element) {
        expectation_destroy(expectation);
        expectation = NULL;
    } else {
        /* First and last row, and others spread between them. */
        for (size_t i = 0; i < rows; i++) {
            size_t row = rows == 1 ? 0 : i * (batch - 1) / (rows - 1);
            whole_row(problem, row, values, bounds, widest, expectation->element + expectation->count);
            expectation->count += columns;
        }
        for (size_t row = 0; row < batch && edges > 0; row++) {
            for (size_t k = 0; k < shape->width[0]; k++)
                values[k] = problem->x[row * shape->width[0] + k];
            for (int side = 0; side < 2; side++) {
                struct expected e = element(problem, 0, values, NULL, side == 0 ? 0 : columns - 1);
                e.row = row;
                expectation->element[expectation->count++] = e;
            }
        }
    }
    free(values);
    free(bounds);
    return expectation;
}

void expectation_destroy(struct expectation *expectation)
{
    if (expectation)
        free(expectation->element);
    free(expectation);
}
