/* Platforms and devices: the process's list, made at first use and kept until the process ends. */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "opencl/loader.h"

#include <clayer/device.h>
#include <stddef.h>

/* Immutable once listed, and valid for the life of the process. */
struct opencl_device {
    cl_platform_id platform;
    cl_device_id device;
    clayer_device_info info;
};

struct opencl_platform {
    cl_platform_id platform;
    clayer_platform_info info;
};

struct opencl_device_list {
    const struct opencl_device *devices; /* in the public order, indices 0 .. count - 1 */
    size_t count;
    const struct opencl_device *hidden; /* second views of listed devices through other platforms; index -1 */
    size_t hidden_count;
    const struct opencl_platform *platforms;
    size_t platform_count;
    char reason[256]; /* why count is 0, or "" */
};

/* The list, made at the first call. No driver and no device is an empty list with its reason, not a failure.
 * NO_OPENCL, FORKED or OUT_OF_MEMORY otherwise. Made once: the loader reads its drivers once per process. */
clayer_status opencl_devices(const struct opencl_device_list **list);

/* Creates a context and a queue on the device, builds and runs a small kernel and checks what it wrote. OK, or
 * DEVICE_UNUSABLE with the reason as detail. Sets *timers_plausible to 1, 0 or CLAYER_UNKNOWN. */
clayer_status opencl_device_try(const struct opencl_device *device, int64_t *timers_plausible);

/* Every standard property of the device as text, one call each; see clayer_device_properties. */
clayer_status opencl_device_properties(const struct opencl_device *device, clayer_property_callback callback,
                                       void *user);

/* A limit for arithmetic: what the driver tells, or the fallback when that is unknown or absurd (0 or less). */
static inline size_t opencl_limit(int64_t value, size_t fallback)
{
    return value > 0 ? (size_t)value : fallback;
}

/* 102 for "OpenCL 1.2 ...", 300 for 3.0, 0 for a text that has no version. */
int opencl_version_number(const char *version);

#endif
