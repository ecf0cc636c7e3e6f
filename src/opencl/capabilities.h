/* What a driver says about a platform or device, made safe: fixed arrays, clean text, CLAYER_UNKNOWN for refusals. */
#ifndef OPENCL_CAPABILITIES_H
#define OPENCL_CAPABILITIES_H

#include "opencl/device.h"

/* A platform's text property, cleaned and cut; "" when refused. */
void opencl_platform_text(const struct opencl_api *api, cl_platform_id platform, cl_platform_info property, char *text,
                          size_t size);

/* A device's text property on the heap, terminated but not cleaned; NULL when refused. The caller frees it. */
char *opencl_device_text(const struct opencl_api *api, cl_device_id device, cl_device_info property);

/* A property of 4 or 8 bytes, whatever its type; CLAYER_UNKNOWN when refused or of another width. */
int64_t opencl_device_number(const struct opencl_api *api, cl_device_id device, cl_device_info property);

/* Fills everything of device->info that comes from the driver, with usable and reason as far as queries tell. Indices,
 * id, platform and also_through are the caller's. */
void opencl_capabilities(const struct opencl_api *api, struct opencl_device *device);

#endif
