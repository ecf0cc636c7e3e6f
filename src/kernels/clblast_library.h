/* libclblast, opened at run time: the entry points that the clblast family uses. */
#ifndef KERNELS_CLBLAST_LIBRARY_H
#define KERNELS_CLBLAST_LIBRARY_H

#include "opencl/loader.h"

#include <clayer/status.h>
#include <clblast_c.h>

struct clblast_library {
    __typeof__(CLBlastSgemmWithTempBuffer) *gemm;
    __typeof__(CLBlastSGemmTempBufferSize) *temporary_size;
    __typeof__(CLBlastOverrideParameters) *override_parameters;
};

/* The library, opened at the first call; thread-safe. NULL when there is none, with the reason in *why. */
const struct clblast_library *clblast_library(const char **why);

/* Turns a CLBlast status into clayer's; codes that are OpenCL's own get their names. */
clayer_status clblast_fail(int code, const char *call, const char *shape);

#endif
