/* OpenBLAS as an application would use it: sgemm (sgemv for one row), then one pass over y for bias and activation. */
#include "bench/peer.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct problem *current;
static struct set {
    float *weight[MAX_LAYERS], *value[MAX_LAYERS + 1]; /* value: x, then what each layer gives */
} * sets;

static bool openblas_open(const struct setup *setup)
{
    (void)setup;
    return true;
}

/* One loop for each activation, so that the compiler can use vectors for the cheap ones. */
#define EPILOGUE(expression)                                                                                           \
    for (size_t m = 0; m < rows; m++, y += columns) {                                                                  \
        for (size_t n = 0; n < columns; n++) {                                                                         \
            float z = y[n] + bias[n];                                                                                  \
            y[n] = (expression);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    break

static void epilogue(float *restrict y, const float *restrict bias, size_t rows, size_t columns,
                     clayer_activation activation)
{
    switch (activation) {
    case CLAYER_ACTIVATION_NONE:
        EPILOGUE(z);
    case CLAYER_ACTIVATION_RELU:
        EPILOGUE(z < 0 ? 0 : z);
    case CLAYER_ACTIVATION_LEAKY_RELU:
        EPILOGUE(z < 0 ? LEAKY_SLOPE * z : z);
    case CLAYER_ACTIVATION_RELU6:
        EPILOGUE(z < 0 ? 0 : z > 6 ? 6 : z);
    case CLAYER_ACTIVATION_CLAMP:
        EPILOGUE(z < CLAMP_LOW ? CLAMP_LOW : z > CLAMP_HIGH ? CLAMP_HIGH : z);
    case CLAYER_ACTIVATION_SIGMOID:
        EPILOGUE(1 / (1 + expf(-z)));
    case CLAYER_ACTIVATION_TANH:
        EPILOGUE(tanhf(z));
    case CLAYER_ACTIVATION_GELU:
        EPILOGUE(0.5f * z * erfcf(z * -0.70710678f));
    case CLAYER_ACTIVATION_GELU_TANH:
        EPILOGUE(0.5f * z * (1 + tanhf(0.79788456f * (z + 0.044715f * z * z * z))));
    case CLAYER_ACTIVATION_SILU:
        EPILOGUE(z / (1 + expf(-z)));
    }
}

static void openblas_release(void)
{
    for (size_t i = 0; sets && i < current->copies; i++) {
        for (size_t l = 0; l <= current->shape.layers; l++) {
            if (l < current->shape.layers)
                free(sets[i].weight[l]);
            free(sets[i].value[l]);
        }
    }
    free(sets);
    sets = NULL;
}

/* On a cache line of its own, holding `from` unless that is NULL. */
static float *matrix(size_t rows, size_t columns, const float *from)
{
    size_t bytes = rows * columns * sizeof(float);
    float *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (data && from)
        memcpy(data, from, bytes);
    return data;
}

static bool openblas_prepare(const struct problem *problem, struct peer_info *info)
{
    const struct shape *shape = &problem->shape;
    current = problem;
    sets = calloc(problem->copies, sizeof *sets);
    bool fine = sets != NULL;
    for (size_t i = 0; i < problem->copies && fine; i++) {
        for (size_t l = 0; l <= shape->layers && fine; l++) {
            sets[i].value[l] = matrix(shape->batch, shape->width[l], l == 0 ? problem->x : NULL);
            if (l < shape->layers)
                sets[i].weight[l] = matrix(shape->width[l + 1], shape->width[l], problem->weight[l]);
            fine = sets[i].value[l] && (l == shape->layers || sets[i].weight[l]);
        }
    }
    snprintf(info->plan, sizeof info->plan, "%s + epilogue loop", shape->batch == 1 ? "sgemv" : "sgemm");
    if (!fine) {
        openblas_release();
        peer_error("out of memory");
    }
    return fine;
}

static float *result(size_t copy)
{
    return sets[copy].value[current->shape.layers];
}

static size_t result_count(void)
{
    return current->shape.batch * current->shape.width[current->shape.layers];
}

static bool openblas_poison(size_t copy)
{
    for (size_t i = 0; i < result_count(); i++)
        result(copy)[i] = NAN;
    return true;
}

static bool openblas_call(size_t copy)
{
    const struct shape *shape = &current->shape;
    const struct set *set = &sets[copy];
    int batch = (int)shape->batch;
    for (size_t l = 0; l < shape->layers; l++) {
        int in = (int)shape->width[l], out = (int)shape->width[l + 1];
        if (batch == 1)
            cblas_sgemv(CblasRowMajor, CblasNoTrans, out, in, 1, set->weight[l], in, set->value[l], 1, 0,
                        set->value[l + 1], 1);
        else
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch, out, in, 1, set->value[l], in, set->weight[l],
                        in, 0, set->value[l + 1], out);
        epilogue(set->value[l + 1], current->bias[l], shape->batch, shape->width[l + 1], shape_activation(shape, l));
    }
    return true;
}

static bool openblas_read(size_t copy, float *y)
{
    memcpy(y, result(copy), result_count() * sizeof *y);
    return true;
}

static const struct peer peer = {.name = "openblas",
                                 .open = openblas_open,
                                 .prepare = openblas_prepare,
                                 .poison = openblas_poison,
                                 .call = openblas_call,
                                 .read = openblas_read,
                                 .release = openblas_release};

/* clayer-bench-openblas; clayer-bench starts it. */
int main(int argc, char **argv)
{
    struct setup setup;
    if (peer_setup(argc, argv, &setup) && !strcmp(setup.peer, peer.name))
        return peer_serve(&peer, &setup);
    fputs("clayer-bench-openblas is started by clayer-bench\n", stderr);
    return 2;
}
