/* clayer: how long a layer's work takes, on contexts that were made with `profile`. */
#ifndef CLAYER_PROFILE_H
#define CLAYER_PROFILE_H

#include <clayer/linear.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A layer's forward calls since it was created or its profile was reset. */
typedef struct clayer_linear_profile {
    uint64_t calls;
    /* The kernels' own time: by the device's clock, without waiting, copies and gaps, or by the wall clock for calls on
     * the calling thread. Some drivers' clocks are wrong or always 0: see timers_plausible in clayer_device_info. */
    double seconds;
    double flops; /* 2 * batch * in_features * out_features of each call */
    double bytes; /* the least that each call must move: x, the weights and the bias read once, y written once */
    uint64_t reserved[8];
} clayer_linear_profile;

/* Waits until the layer's calls are done. Thread-safe. UNSUPPORTED when the context was made without `profile`, or its
 * driver makes no queue that measures. */
CLAYER_API clayer_status clayer_linear_get_profile(clayer_linear *linear, clayer_linear_profile *profile);
CLAYER_API clayer_status clayer_linear_reset_profile(clayer_linear *linear);

#ifdef __cplusplus
}
#endif
#endif
