/* clayer: the functions that a layer can apply to its sums before they are stored. */
#ifndef CLAYER_ACTIVATION_H
#define CLAYER_ACTIVATION_H

#include <clayer/export.h>
#include <clayer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is done with each sum z. Every one of them gives NaN for NaN. Values at infinities and zeros, and how exact each
 * is, stand in docs/numerics.md. Two parameters, alpha and beta, belong to some of them:
 *
 *   leaky_relu  alpha is the slope below zero; 0, the default, selects 0.01 as in PyTorch; it must be finite
 *   clamp       alpha and beta are the lower and upper limit; alpha < beta, infinities allowed, no default
 *
 * The others ignore both. The numbers never change their meaning; new ones may be added at the end. */
typedef enum clayer_activation {
    CLAYER_ACTIVATION_NONE = 0,       /* z */
    CLAYER_ACTIVATION_RELU = 1,       /* z below zero becomes 0 */
    CLAYER_ACTIVATION_LEAKY_RELU = 2, /* z below zero becomes alpha * z */
    CLAYER_ACTIVATION_RELU6 = 3,      /* z limited to 0 .. 6 */
    CLAYER_ACTIVATION_CLAMP = 4,      /* z limited to alpha .. beta */
    CLAYER_ACTIVATION_SIGMOID = 5,    /* 1 / (1 + exp(-z)) */
    CLAYER_ACTIVATION_TANH = 6,       /* tanh(z) */
    CLAYER_ACTIVATION_GELU = 7,       /* z * erfc(-z / sqrt(2)) / 2, PyTorch's default GELU */
    CLAYER_ACTIVATION_GELU_TANH = 8,  /* z * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 * z^3))) / 2, approximate="tanh" */
    CLAYER_ACTIVATION_SILU = 9        /* z / (1 + exp(-z)), also called swish */
} clayer_activation;

/* The name, such as "leaky_relu": the enumerator's in lower case. "unknown" for other values. Never NULL, never freed.
 * Thread-safe, like clayer_activation_parse. */
CLAYER_API const char *clayer_activation_string(clayer_activation activation);

/* The activation that a name means: none, relu, leaky_relu, relu6, clamp, sigmoid, tanh, gelu, gelu_tanh or silu, in
 * lower case. INVALID_ARGUMENT for any other text or NULL; *activation is then untouched. */
CLAYER_API clayer_status clayer_activation_parse(const char *text, clayer_activation *activation);

#ifdef __cplusplus
}
#endif
#endif
