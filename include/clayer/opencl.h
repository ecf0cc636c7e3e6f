/* clayer: layers on an application's own OpenCL context, queue, buffers and events. Needs OpenCL's headers.
 *
 * The application's OpenCL library and the one that clayer opens must be the same loader, as they are by default. Every
 * object that is handed over is retained as long as it is needed: the application may release its own references at any
 * time and in any order. Errors beside those told below: INVALID_ARGUMENT for objects that do not belong together,
 * OPENCL with the call and code when the driver refuses one, NO_OPENCL, FORKED, OUT_OF_MEMORY. */
#ifndef CLAYER_OPENCL_H
#define CLAYER_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#include <clayer/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clayer_opencl_context_params {
    /* The queue that all work goes to: in-order or out-of-order, with or without profiling, on a device or sub-device.
     * It must not be a device-side queue. */
    cl_command_queue queue;
    cl_context context;  /* the queue's, or NULL: taken from the queue */
    cl_device_id device; /* the queue's, or NULL: taken from the queue. The context may have others too */
    const char *plan;    /* as in clayer_context_params */
    bool profile;        /* the same; the queue must have been made with profiling */
    void *reserved[6];   /* must be zero */
} clayer_opencl_context_params;

/* Creates a context on an application's queue. Everything in context.h, linear.h and model.h works on it; calls never
 * run on the calling thread, unless the plan "host" is forced. Calls that do not take events are ordered among
 * themselves, in an out-of-order queue too, but not against the application's own commands there: use the calls below.
 * Calls that wait, such as clayer_context_finish and forward calls on host memory, wait for the whole queue. */
CLAYER_API clayer_status clayer_context_create_opencl(const clayer_opencl_context_params *params,
                                                      clayer_context **context);

/* The OpenCL objects behind a context of either kind, not retained; each pointer may be NULL. UNSUPPORTED on the host
 * device. */
CLAYER_API clayer_status clayer_context_get_opencl(const clayer_context *context, cl_context *opencl_context,
                                                   cl_device_id *device, cl_command_queue *queue);

/* The memory object behind a buffer, not retained: `count` float32 from its start. UNSUPPORTED on the host device. On a
 * CPU device clayer may touch a buffer's memory without a command, so commands of the application's own on it must be
 * complete before it is used in a call of clayer's without events. */
CLAYER_API clayer_status clayer_buffer_get_opencl(const clayer_buffer *buffer, cl_mem *memory);

/* A matrix in a memory object: a buffer or sub-buffer of the layer's cl_context with (rows - 1) * ld + row length
 * elements from `offset` on, readable by kernels for x, writable for y. */
typedef struct clayer_opencl_matrix {
    cl_mem memory;        /* may be NULL for an empty matrix */
    size_t offset;        /* float32 elements from the start of memory; any alignment */
    size_t ld;            /* leading dimension in elements; 0: tight */
    clayer_layout layout; /* as in clayer_matrix */
    void *reserved[2];    /* must be zero */
} clayer_opencl_matrix;

/* Enqueues y = act(x . W^T + b) and returns. The work starts when the wait_count events of wait_list are complete (and,
 * in an in-order queue, what was enqueued before). *event receives an event that stands for all of the call's work,
 * which the caller releases; event may be NULL. In an out-of-order queue nothing else orders the call: not even two
 * calls on the same memory.
 * An empty batch or layer enqueues a marker when an event is asked for: it is complete when the wait list is, or, with
 * an empty list, when everything enqueued before is.
 * On failure *event is NULL and y is undefined: commands enqueued before the failing one may still write it. Errors:
 * INVALID_ARGUMENT (required and actual elements of a buffer that is too small; a memory object of another context or
 * of the wrong kind; overlap of x and y, also as sub-buffers of one buffer), UNSUPPORTED (a forced plan that cannot
 * run). Thread-safe. */
CLAYER_API clayer_status clayer_linear_forward_opencl(clayer_linear *linear, size_t batch,
                                                      const clayer_opencl_matrix *x, const clayer_opencl_matrix *y,
                                                      cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/* The same for a model; its calls on one model run one after the other on the device, whatever the queue. The results
 * between the layers stay in the model's buffers. */
CLAYER_API clayer_status clayer_model_forward_opencl(clayer_model *model, size_t batch, const clayer_opencl_matrix *x,
                                                     const clayer_opencl_matrix *y, cl_uint wait_count,
                                                     const cl_event *wait_list, cl_event *event);

#ifdef __cplusplus
}
#endif
#endif
