/* clayer: a context, the place where buffers and layers live: one device with one in-order queue, or the host. */
#ifndef CLAYER_CONTEXT_H
#define CLAYER_CONTEXT_H

#include <clayer/device.h>
#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. Thread-safe: several threads may use one context and everything in it at once; calls that use the device are
 * put into its queue one after the other. Buffers, layers and models keep their context alive, so the destroy calls may
 * come in any order.
 *
 * Conventions, told once. Every destroy function takes a pointer to the pointer, accepts NULL and a pointer to NULL,
 * and sets the pointer to NULL. Every params struct may be all zero: zero means the default that stands beside the
 * field. A create function writes its result only on success. */
typedef struct clayer_context clayer_context;

typedef struct clayer_context_params {
    /* Which device, in the grammar of device.h. NULL: the environment variable CLAYER_DEVICE, or the best usable
     * device, or the host if there is none. */
    const char *device;
    /* Forces a plan for every layer of this context, as CLAYER_PLAN does: "panel", "portable", "clblast", "host", with
     * parameters as in "panel:rows=4,vectors=4". NULL: the environment variable CLAYER_PLAN, or automatic. */
    const char *plan;
    /* Measures every forward call: see profile.h. Costs some microseconds a call. Without a queue that measures a
     * warning goes to the log, and profiles are UNSUPPORTED. Default: false. */
    bool profile;
    void *reserved[6]; /* must be zero */
} clayer_context_params;

/* Creates a context. params may be NULL: all defaults. The automatic choice passes over a device whose context cannot
 * be created, with a warning in the log; a device that was asked for and cannot be used is an error with its reason.
 * Errors: NO_DEVICE, DEVICE_UNUSABLE, OUT_OF_MEMORY, INVALID_ARGUMENT. */
CLAYER_API clayer_status clayer_context_create(const clayer_context_params *params, clayer_context **context);
CLAYER_API void clayer_context_destroy(clayer_context **context);

/* The device this context runs on. */
CLAYER_API clayer_status clayer_context_device(const clayer_context *context, clayer_device_info *info);

/* Waits until everything enqueued by earlier calls on this context is done. Reports what failed on the device. */
CLAYER_API clayer_status clayer_context_finish(clayer_context *context);

#ifdef __cplusplus
}
#endif
#endif
