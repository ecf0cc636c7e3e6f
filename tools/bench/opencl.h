/* OpenCL as an application uses it: a context and a queue on the device that the bench measures. */
#ifndef TOOLS_BENCH_OPENCL_H
#define TOOLS_BENCH_OPENCL_H

#include "bench/peer.h"

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

struct application {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_device_type type;
};

/* On the platform and device that setup names. */
bool application_open(const struct setup *setup, struct application *application);
void application_close(struct application *application);

/* NULL after peer_error. */
cl_program application_build(const struct application *application, const char *source, const char *options);
cl_kernel application_kernel(cl_program program, const char *name);

/* Of `count` floats, holding `values` unless that is NULL. NULL after peer_error. */
cl_mem application_buffer(const struct application *application, size_t count, const float *values);

/* peer_error with the call's name and the code. */
bool opencl_failed(const char *what, cl_int code);

#define OPENCL(call)                                                                                                   \
    do {                                                                                                               \
        cl_int code_ = (call);                                                                                         \
        if (code_ != CL_SUCCESS)                                                                                       \
            return opencl_failed(#call, code_);                                                                        \
    } while (0)

#endif
