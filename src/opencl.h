/* What the interoperation calls of linear and model share. */
#ifndef OPENCL_H
#define OPENCL_H

#include "linear.h"
#include "opencl/adopt.h"

#include <clayer/opencl.h>

/* A call's operands on application memory, checked. */
struct interop {
    struct opencl_memory x_memory, y_memory; /* the operands' buffers point here */
    struct operand x, y;
};

/* Checks everything about x (batch x in_features), y (batch x out_features) and the wait list. */
clayer_status interop_check(clayer_context *context, size_t batch, size_t in_features, size_t out_features,
                            const clayer_opencl_matrix *x, const clayer_opencl_matrix *y, cl_uint wait_count,
                            const cl_event *wait_list, struct interop *interop);

#endif
