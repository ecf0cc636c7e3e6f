/* One thing to measure: a layer, or a chain of layers, with its inputs and what must come out. */
#ifndef TOOLS_BENCH_PROBLEM_H
#define TOOLS_BENCH_PROBLEM_H

#include <clayer/activation.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_LAYERS = 16, SHAPE_TEXT = 256 };

/* BATCHxINxOUT is one layer; further widths, BATCHxINxHIDDENx...xOUT, make a chain of layers. */
struct shape {
    size_t batch;
    size_t layers;
    size_t width[MAX_LAYERS + 1];
    clayer_activation activation; /* of a single layer; of all but the last in a chain */
    bool cold;                    /* weights come from memory, not from a cache */
};

/* Reads "8x768x3072" into batch, layers and width. False with a reason in `error`. */
bool shape_parse(const char *text, struct shape *shape, char *error, size_t error_size);

/* The text that shape_parse reads. */
void shape_text(const struct shape *shape, char text[SHAPE_TEXT]);

/* For people: "8x768x3072", "1x64-64-64-64-10", "256x256-...-256 (8 layers)". */
void shape_label(const struct shape *shape, char text[SHAPE_TEXT]);

double shape_flops(const struct shape *shape);        /* 2 x batch x in x out, summed over the layers */
double shape_bytes(const struct shape *shape);        /* x, weights, biases and y, each once */
double shape_weight_bytes(const struct shape *shape); /* weights and biases */
clayer_activation shape_activation(const struct shape *shape, size_t layer);

/* The lower and upper limit that the bench uses for clamp, and the slope for leaky_relu. */
#define CLAMP_LOW (-0.5f)
#define CLAMP_HIGH 0.5f
#define LEAKY_SLOPE 0.01f

/* The problem with its data: the same numbers in every process, uniform in [-1, 1), weights scaled by 1/sqrt(in). */
struct problem {
    struct shape shape;
    size_t copies; /* how many sets of weights, x and y a peer holds and takes in turn; 1 unless cold */
    float *x;
    float *weight[MAX_LAYERS];
    float *bias[MAX_LAYERS];
    struct expectation *expectation;
};

/* cache_bytes: the last-level cache, beyond which cold weights must reach. False when memory is short. */
bool problem_create(const struct shape *shape, size_t cache_bytes, struct problem *problem);
void problem_destroy(struct problem *problem);

/* Checks y, tight rows, against a float64 reference: no element NaN, and within the bound of docs/benchmarks.md in
 * every column of up to 16 rows and, for a single layer, in the first and last column of every row. False with a
 * reason. *worst becomes the largest error as a fraction of its bound. */
bool problem_verify(const struct problem *problem, const float *y, double *worst, char *error, size_t error_size);

#endif
