/* The wrapped platforms and their devices (platform.c), for icd.c and context.c. */
#ifndef FAKE_PLATFORM_H
#define FAKE_PLATFORM_H

#include "driver.h"

/* Makes `count` platforms of the one real one. */
void platforms_open(cl_platform_id platform, cl_uint count);
/* clGetPlatformIDs without the hook. */
cl_int platforms_list(cl_uint num_entries, cl_platform_id *list, cl_uint *num_platforms);
/* The devices of a type as wrappers; at most `room` are written. The number that there are. */
cl_uint platform_devices(const struct object *platform, cl_device_type type, cl_uint room, struct object **list);
/* The first platform, which clCreateContextFromType uses when none is named. */
struct object *platform_first(void);

#endif
