/* clayer: initial weights for layers that are yet to be trained. */
#ifndef CLAYER_INIT_H
#define CLAYER_INIT_H

#include <clayer/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How weights W (out_features, in_features) and bias (out_features) are drawn. fan_in is in_features. */
typedef enum clayer_init {
    /* PyTorch's default for nn.Linear: weights and bias uniform in [-1/sqrt(fan_in), 1/sqrt(fan_in)); the weights'
     * standard deviation is 1/sqrt(3 fan_in). (torch.nn.Linear.reset_parameters: kaiming_uniform_ with a = sqrt(5).) */
    CLAYER_INIT_PYTORCH = 0,
    /* Kaiming (He et al. 2015, "Delving Deep into Rectifiers", eq. 10) for ReLU, gain sqrt(2), fan_in: weights uniform
     * in
     * +-sqrt(6/fan_in), or normal with standard deviation sqrt(2/fan_in); bias 0. Keeps the scale of activations
     * constant through layers with ReLU. */
    CLAYER_INIT_KAIMING_UNIFORM = 1,
    CLAYER_INIT_KAIMING_NORMAL = 2,
    CLAYER_INIT_NORMAL = 3, /* weights normal with mean 0 and standard deviation `std`; bias 0 */
    CLAYER_INIT_ZEROS = 4
} clayer_init;

typedef struct clayer_init_params {
    clayer_init scheme;
    float std;         /* of CLAYER_INIT_NORMAL; must be finite and not negative */
    uint64_t seed;     /* the same seed gives the same numbers */
    uint32_t stream;   /* tells layers of one model apart: give each its own number */
    void *reserved[4]; /* must be zero */
} clayer_init_params;

/* Fills weight (out_features x in_features, tight, row-major) and bias (out_features, or NULL). params may be NULL:
 * PyTorch's default with seed 0. Thread-safe; the same on every machine and compiler: uniform numbers bit for bit,
 * normal ones within 4 ulp. The generator is Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as
 * 1, 2, 3") with the seed as key and (element / 4, stream, 0 for weights or 1 for bias) as counter, so an element's
 * number does not depend on how many others are drawn. Errors: INVALID_ARGUMENT (NULL weight with elements, unknown
 * scheme, bad std), TOO_LARGE. */
CLAYER_API clayer_status clayer_init_linear(const clayer_init_params *params, size_t in_features, size_t out_features,
                                            float *weight, float *bias);

/* One Philox 4x32-10 block: output[4] from counter[4] and key[2]. For callers who want more numbers of the same kind.
 */
CLAYER_API void clayer_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t output[4]);

#ifdef __cplusplus
}
#endif
#endif
