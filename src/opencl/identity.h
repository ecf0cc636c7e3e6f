/* Names for devices that outlive a change of driver order, and devices that are one device seen twice. */
#ifndef OPENCL_IDENTITY_H
#define OPENCL_IDENTITY_H

#include "opencl/device.h"

/* Sorts into the public order (include/clayer/device.h), gives each device its id, and moves second views of one device
 * through another platform to the end. Returns how many devices remain before those. Sets index and also_through. */
size_t opencl_identify(struct opencl_device *devices, size_t count, const struct opencl_platform *platforms);

#endif
