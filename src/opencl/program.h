/* Compiling OpenCL C for one device. */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "opencl/context.h"

/* Builds cl/SOURCE.cl, which the build embedded, with these options. BUILD when it does not compile: the first line of
 * the log is in the detail, the log itself goes to the debug log, cleaned and capped. The caller owns the program. */
clayer_status opencl_program_compile(struct opencl_context *context, const char *source, const char *options,
                                     cl_program *program);

/* The same, or its binary from the cache (opencl/program_cache.h). */
clayer_status opencl_program_build(struct opencl_context *context, const char *source, const char *options,
                                   cl_program *program);

#endif
