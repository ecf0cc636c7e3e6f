/* Kernels: compiled from the embedded sources for one context, kept by it, launched through one function. */
#ifndef OPENCL_KERNEL_H
#define OPENCL_KERNEL_H

#include "opencl/context.h"

/* A built kernel. Belongs to its context and lives as long; the same source, options and name give the same one. */
struct opencl_kernel {
    struct opencl_kernel *next;
    cl_program program;
    cl_kernel kernel;
    size_t max_work_group; /* of this kernel on this device */
    char *identity;        /* source, options and kernel name */
};

/* Builds cl/SOURCE.cl with these options, or finds it built, and makes its kernel of the same name. The options hold
 * -DNAME=integer only. BUILD when it does not compile (the log goes to the debug log). Takes the context's lock. */
clayer_status opencl_kernel_get(struct opencl_context *context, const char *source, const char *options,
                                struct opencl_kernel **kernel);
void opencl_kernels_release(struct opencl_context *context);

/* One kernel argument: an address and a size, as clSetKernelArg wants them. */
struct opencl_argument {
    size_t size;
    const void *value;
};
#define ARGUMENT(variable)                                                                                             \
    {                                                                                                                  \
        sizeof(variable), &(variable)                                                                                  \
    }

/* Sets the arguments and enqueues over a 2-d range. global is rounded up to local. Never with a global offset: on
 * PoCL's basic device two threads running one kernel with different offsets abort the process. The caller holds the
 * context's lock. wait_count events are waited for; event may be NULL. */
clayer_status opencl_launch(struct opencl_context *context, const struct opencl_kernel *kernel,
                            const struct opencl_argument *arguments, size_t argument_count, const size_t global[2],
                            const size_t local[2], cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/* Makes everything enqueued later wait for these events, or with none of them for everything enqueued before. */
clayer_status opencl_barrier(struct opencl_context *context, cl_uint wait_count, const cl_event *wait_list);
void opencl_event_release(struct opencl_context *context, cl_event event);

#endif
