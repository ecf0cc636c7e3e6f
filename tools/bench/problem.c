#include "bench/problem.h"

#include "bench/reference.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool shape_parse(const char *text, struct shape *shape, char *error, size_t error_size)
{
    size_t numbers[MAX_LAYERS + 2], count = 0;
    const char *at = text;
    while (count < MAX_LAYERS + 2) {
        char *end;
        if (*at < '0' || *at > '9')
            break;
        unsigned long long number = strtoull(at, &end, 10);
        if (number == 0 || number > 1000000000)
            break;
        numbers[count++] = (size_t)number;
        if (*end == 0 && count >= 3) {
            shape->batch = numbers[0];
            shape->layers = count - 2;
            memcpy(shape->width, numbers + 1, (count - 1) * sizeof *numbers);
            return true;
        }
        if (*end != 'x')
            break;
        at = end + 1;
    }
    snprintf(error, error_size,
             "'%.80s' is no shape: use BATCHxINxOUT, as in 8x768x3072, or BATCHxINxHIDDENx...xOUT "
             "for a chain of at most %d layers, each from 1 to 1000000000",
             text, MAX_LAYERS);
    return false;
}

void shape_text(const struct shape *shape, char text[SHAPE_TEXT])
{
    int at = snprintf(text, SHAPE_TEXT, "%zu", shape->batch);
    for (size_t i = 0; i <= shape->layers; i++)
        at += snprintf(text + at, SHAPE_TEXT - (size_t)at, "x%zu", shape->width[i]);
}

void shape_label(const struct shape *shape, char text[SHAPE_TEXT])
{
    if (shape->layers == 1) {
        shape_text(shape, text);
    } else if (shape->layers <= 4) {
        int at = snprintf(text, SHAPE_TEXT, "%zux%zu", shape->batch, shape->width[0]);
        for (size_t i = 1; i <= shape->layers; i++)
            at += snprintf(text + at, SHAPE_TEXT - (size_t)at, "-%zu", shape->width[i]);
    } else {
        snprintf(text, SHAPE_TEXT, "%zux%zu-...-%zu (%zu layers)", shape->batch, shape->width[0],
                 shape->width[shape->layers], shape->layers);
    }
}

double shape_flops(const struct shape *shape)
{
    double sum = 0;
    for (size_t l = 0; l < shape->layers; l++)
        sum += 2.0 * (double)shape->batch * (double)shape->width[l] * (double)shape->width[l + 1];
    return sum;
}

double shape_weight_bytes(const struct shape *shape)
{
    double sum = 0;
    for (size_t l = 0; l < shape->layers; l++)
        sum += 4.0 * ((double)shape->width[l] + 1) * (double)shape->width[l + 1];
    return sum;
}

double shape_bytes(const struct shape *shape)
{
    return shape_weight_bytes(shape) +
           4.0 * (double)shape->batch * ((double)shape->width[0] + (double)shape->width[shape->layers]);
}

clayer_activation shape_activation(const struct shape *shape, size_t layer)
{
    return shape->layers > 1 && layer + 1 == shape->layers ? CLAYER_ACTIVATION_NONE : shape->activation;
}

/* xorshift64*: good enough for data that only has to be dense and the same everywhere. */
static void fill(float *values, size_t count, uint64_t seed, float scale)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < count; i++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        values[i] = scale * ((float)((state * 0x2545f4914f6cdd1du) >> 40) * 0x1p-23f - 1.0f);
    }
}

/* Twice the cache, so that every set is gone from it when its turn comes again. More sets than MOST cost more memory
 * and start-up than small layers are worth; the row's working set is reported. */
static size_t copies_for(const struct shape *shape, size_t cache_bytes)
{
    enum { MOST = 256 };
    double copies = shape->cold ? ceil(2.0 * (double)cache_bytes / shape_weight_bytes(shape)) : 1;
    return copies < 1 ? 1 : copies > MOST ? MOST : (size_t)copies;
}

bool problem_create(const struct shape *shape, size_t cache_bytes, struct problem *problem)
{
    *problem = (struct problem){.shape = *shape, .copies = copies_for(shape, cache_bytes)};
    size_t x_count = shape->batch * shape->width[0];
    problem->x = malloc(x_count * sizeof(float));
    bool complete = problem->x != NULL;
    if (complete)
        fill(problem->x, x_count, 1, 1.0f);
    for (size_t l = 0; l < shape->layers && complete; l++) {
        size_t in = shape->width[l], out = shape->width[l + 1];
        problem->weight[l] = malloc(in * out * sizeof(float));
        problem->bias[l] = malloc(out * sizeof(float));
        complete = problem->weight[l] && problem->bias[l];
        if (complete) {
            fill(problem->weight[l], in * out, 2 + 2 * l, 1.0f / sqrtf((float)in));
            fill(problem->bias[l], out, 3 + 2 * l, 1.0f);
        }
    }
    if (complete) {
        problem->expectation = expectation_create(problem);
        complete = problem->expectation != NULL;
    }
    if (!complete)
        problem_destroy(problem);
    return complete;
}

void problem_destroy(struct problem *problem)
{
    free(problem->x);
    for (size_t l = 0; l < problem->shape.layers; l++) {
        free(problem->weight[l]);
        free(problem->bias[l]);
    }
    expectation_destroy(problem->expectation);
    *problem = (struct problem){0};
}

bool problem_verify(const struct problem *problem, const float *y, double *worst, char *error, size_t error_size)
{
    size_t columns = problem->shape.width[problem->shape.layers];
    *worst = 0;
    for (size_t row = 0; row < problem->shape.batch; row++) {
        for (size_t column = 0; column < columns; column++) {
            if (isnan(y[row * columns + column])) {
                snprintf(error, error_size, "y[%zu][%zu] is NaN: wrong, or never written", row, column);
                return false;
            }
        }
    }
    const struct expectation *expectation = problem->expectation;
    for (size_t i = 0; i < expectation->count; i++) {
        const struct expected *e = &expectation->element[i];
        double found = y[e->row * columns + e->column], fraction = fabs(found - e->value) / e->bound;
        if (fraction > *worst)
            *worst = fraction;
        if (!(fraction <= 1)) {
            snprintf(error, error_size, "y[%zu][%zu] is %.9g, should be %.9g within %.2g", e->row, e->column, found,
                     e->value, e->bound);
            return false;
        }
    }
    return true;
}
