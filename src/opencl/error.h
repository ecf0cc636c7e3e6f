/* The only place where a cl_int becomes a clayer status. Needs a variable-free call style:
 *
 *     CL_TRY(api->clFinish(queue));
 *     buffer = api->clCreateBuffer(..., &code);
 *     if (code != CL_SUCCESS || !buffer) return CL_FAIL(code, "clCreateBuffer", "%zu bytes", bytes);
 */
#ifndef OPENCL_ERROR_H
#define OPENCL_ERROR_H

#include "opencl/loader.h"

/* "CL_OUT_OF_RESOURCES" for -5 and so on, "unknown code" for codes that are not in the standard or its extensions.
 * Never NULL. */
const char *opencl_error_name(cl_int code);

/* Records which call failed with which code (CL_SUCCESS: it made nothing and gave no error), and returns OUT_OF_MEMORY
 * for every code by which drivers say that, BUILD for a failed compilation, else OPENCL. call may be a whole
 * expression: the entry point's name is picked out of it. format and its arguments add what was asked for, such as a
 * size; "%s" with "" adds nothing. */
clayer_status opencl_fail(cl_int code, const char *call, const char *file, int line, const char *format, ...)
    CLAYER_PRINTF(5, 6);

#define CL_FAIL(code, call, ...) opencl_fail((code), (call), __FILE__, __LINE__, __VA_ARGS__)

#define CL_TRY(expression)                                                                                             \
    do {                                                                                                               \
        cl_int cl_code_ = (expression);                                                                                \
        if (cl_code_ != CL_SUCCESS)                                                                                    \
            return CL_FAIL(cl_code_, #expression, "%s", "");                                                           \
    } while (0)

/* The same for functions with a cleanup label `fail` and a variable `status`. */
#define CL_TRY_GOTO(expression)                                                                                        \
    do {                                                                                                               \
        cl_int cl_code_ = (expression);                                                                                \
        if (cl_code_ != CL_SUCCESS) {                                                                                  \
            status = CL_FAIL(cl_code_, #expression, "%s", "");                                                         \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

#endif
