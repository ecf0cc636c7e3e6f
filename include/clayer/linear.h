/* clayer: the fused linear layer, y = act(x . W^T + b), with PyTorch's nn.Linear layout. */
#ifndef CLAYER_LINEAR_H
#define CLAYER_LINEAR_H

#include <clayer/activation.h>
#include <clayer/buffer.h>
#include <clayer/context.h>
#include <clayer/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. Holds its own packed copy of the weights. Thread-safe: one layer may run forward from several threads at
 * once; replacing weights while another thread runs forward gives that thread the old or the new weights, never a
 * mixture. */
typedef struct clayer_linear clayer_linear;

/* How a matrix lies in memory. For weights: OUT_IN is PyTorch's (out_features, in_features), IN_OUT is the transposed
 * (in_features, out_features) of Keras, JAX and the math convention. For x and y: rows is (batch, features) as in
 * PyTorch, columns is (features, batch). Leading dimensions are elements from one row of the stored matrix to the next.
 */
typedef enum clayer_weight_layout { CLAYER_WEIGHT_OUT_IN = 0, CLAYER_WEIGHT_IN_OUT = 1 } clayer_weight_layout;
typedef enum clayer_layout { CLAYER_LAYOUT_ROWS = 0, CLAYER_LAYOUT_COLUMNS = 1 } clayer_layout;

typedef struct clayer_linear_params {
    size_t in_features;  /* K; 0 is legal: y = act(b) */
    size_t out_features; /* N; 0 is legal: y is empty */
    const float *weight; /* W in weight_layout; read during the call only; NULL only when W is empty */
    size_t ldw;          /* leading dimension of weight in elements; 0: tight (the row length) */
    clayer_weight_layout weight_layout;
    const float *bias; /* out_features elements, read during the call only; NULL: no bias */
    clayer_activation activation;
    float activation_alpha; /* leaky_relu: slope (0: PyTorch's 0.01); clamp: lowest value */
    float activation_beta;  /* clamp: highest value */
    /* Storage of x, of W and bias, of y, and the accumulator. CLAYER_DTYPE_F32 (0) is the only one that works so far;
     * others are refused with UNSUPPORTED. */
    clayer_dtype x_type, weight_type, y_type, accumulator_type;
    /* Keeps the plain copy of W beside the packed one, which the clblast family needs. Default: kept only if the plan
     * is forced to clblast, or a tuning record names clblast for this layer. */
    bool keep_weight;
    /* Forces a plan for this layer, before the context's and CLAYER_PLAN. NULL: theirs, or automatic. A forced plan
     * that cannot run is an error (UNSUPPORTED) with its reason. */
    const char *plan;
    void *reserved[8]; /* must be zero */
} clayer_linear_params;

/* Creates a layer on a context: checks, packs W for the device, uploads it. Programs are compiled by the first forward
 * call that needs them, or by clayer_linear_prepare. Errors: INVALID_ARGUMENT (the failed condition), TOO_LARGE (sizes
 * overflow, or packed W exceeds the device's largest allocation), OUT_OF_MEMORY, UNSUPPORTED (types, plan). */
CLAYER_API clayer_status clayer_linear_create(clayer_context *context, const clayer_linear_params *params,
                                              clayer_linear **linear);
CLAYER_API void clayer_linear_destroy(clayer_linear **linear);

/* y (batch, out_features) = act(x (batch, in_features) . W^T + b), rows as in PyTorch, on host memory; returns when y
 * is complete. ldx >= in_features and ldy >= out_features, in elements; the last row needs no padding. y is never read;
 * only its batch x out_features elements are written. y must not overlap x. Empty shapes succeed and accept NULL
 * pointers. */
CLAYER_API clayer_status clayer_linear_forward(clayer_linear *linear, size_t batch, const float *x, size_t ldx,
                                               float *y, size_t ldy);

/* Where a matrix of a forward call is: host memory, or a buffer of the layer's context. */
typedef struct clayer_matrix {
    float *data;           /* host memory; NULL: `buffer` holds it. x is only read. */
    clayer_buffer *buffer; /* used when data is NULL */
    size_t offset;         /* elements from the start of data or buffer; any alignment */
    size_t ld;             /* leading dimension in elements; 0: tight */
    clayer_layout layout;
    void *reserved[2]; /* must be zero */
} clayer_matrix;

/* The same with every freedom: either matrix in host memory or in a buffer, at an offset, as rows or as columns.
 * When both are buffers the call only enqueues, and clayer_context_finish waits; otherwise it returns when y is
 * complete. Errors: INVALID_ARGUMENT (required and actual elements of a buffer that is too small; a buffer of another
 * context; overlap of x and y), UNSUPPORTED (a forced plan that cannot run), OUT_OF_MEMORY, OPENCL. */
CLAYER_API clayer_status clayer_linear_forward_matrix(clayer_linear *linear, size_t batch, const clayer_matrix *x,
                                                      const clayer_matrix *y);

/* Chooses the plan for this batch size now (rows, tight leading dimensions) and compiles what it needs, so that the
 * first forward call does not. A forward call with a smaller batch than before takes the configuration that is there,
 * rather than compile another; a batch that was prepared first has its own. */
CLAYER_API clayer_status clayer_linear_prepare(clayer_linear *linear, size_t batch);

/* Replaces the weights (same shape) or the bias (NULL: zeros). Waits for calls in progress. */
CLAYER_API clayer_status clayer_linear_set_weight(clayer_linear *linear, const float *weight, size_t ldw,
                                                  clayer_weight_layout layout);
CLAYER_API clayer_status clayer_linear_set_bias(clayer_linear *linear, const float *bias);

typedef struct clayer_linear_info {
    size_t in_features, out_features;
    size_t parameters;   /* in * out, + out with bias: what PyTorch counts */
    size_t packed_bytes; /* packed weights and bias on the device */
    size_t plain_bytes;  /* plain copy of W on the device, 0 if not kept */
    clayer_activation activation;
    bool has_bias;
    size_t reserved[6];
} clayer_linear_info;

CLAYER_API clayer_status clayer_linear_get_info(const clayer_linear *linear, clayer_linear_info *info);

/* Which plan a forward call used, and why. */
typedef struct clayer_plan_info {
    char family[16];         /* "portable", "panel", "clblast", "host", ... */
    char configuration[160]; /* "rows=4,vectors=4,width=16", as CLAYER_PLAN accepts it after "family:"; may be "" */
    char origin[32];  /* "forced", "record, user store", "nearest record, built in", "rule of thumb", "fallback" */
    char reason[160]; /* one line for people */
} clayer_plan_info;

/* The plan of the most recent forward or prepare call on this layer; family is "" before the first. */
CLAYER_API clayer_status clayer_linear_last_plan(const clayer_linear *linear, clayer_plan_info *info);

#ifdef __cplusplus
}
#endif
#endif
