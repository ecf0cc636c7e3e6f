/* The host as a device: what is known about the processor that the library's own code runs on. */
#ifndef HOST_DEVICE_H
#define HOST_DEVICE_H

#include <clayer/device.h>

/* Fills all of info but index. */
void host_device_describe(clayer_device_info *info);

#endif
