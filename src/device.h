/* Which device a selector names: for contexts, which also need its cl handles. */
#ifndef DEVICE_H
#define DEVICE_H

#include <clayer/device.h>
#include <stdbool.h>

struct opencl_device;
struct opencl_device_list;

/* The process's OpenCL devices; where there is no OpenCL, *empty with the reason, since the host remains. */
clayer_status device_list(const struct opencl_device_list **list, struct opencl_device_list *empty);

struct device_choice {
    const struct opencl_device *opencl; /* NULL: the host device */
    clayer_device_info info;
    bool automatic; /* chosen by rule, so that a device which fails may be replaced by the next one */
};

/* Resolves a selector as clayer_device_select does; logs one info line with the reason when the choice was automatic.
 */
clayer_status device_choose(const char *selector, struct device_choice *choice);

/* After an automatic choice proved unusable, for example because its context cannot be created: the next best, at last
 * the host. Logs a warning with the reason. Never fails after an automatic choice that was not the host. */
clayer_status device_choose_next(struct device_choice *choice, const char *reason);

#endif
