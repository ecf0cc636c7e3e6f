/* What an application brings: its queue, its memory objects, its events. Everything is looked at before use. */
#ifndef OPENCL_ADOPT_H
#define OPENCL_ADOPT_H

#include "opencl/buffer.h"

/* Makes a context around an application's queue, which it retains with the queue's context; the device is the queue's.
 * context and device may be NULL, and must be the queue's own otherwise. */
clayer_status opencl_context_adopt(cl_context context, cl_device_id device, cl_command_queue queue,
                                   struct opencl_context **adopted);

/* An application's memory object, as far as a call needs to know it. */
struct opencl_memory {
    struct opencl_buffer buffer; /* not owned */
    cl_mem root;                 /* the buffer that a sub-buffer is part of, else itself */
    size_t origin;               /* bytes from root's start */
};

/* Checks that `memory` is a buffer of this context that kernels may read (or write), and describes it. `what` names it
 * in errors. */
clayer_status opencl_memory_check(struct opencl_context *context, const char *what, cl_mem memory, bool write,
                                  struct opencl_memory *checked);

/* A wait list is either empty or has no NULL in it. */
clayer_status opencl_waits_check(cl_uint wait_count, const cl_event *wait_list);

/* An event that stands for the wait list alone, or for everything enqueued before when that is empty. */
clayer_status opencl_marker(struct opencl_context *context, cl_uint wait_count, const cl_event *wait_list,
                            cl_event *event);

#endif
