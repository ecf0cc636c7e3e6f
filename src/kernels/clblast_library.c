#include "kernels/clblast_library.h"
#include "base/error.h"
#include "base/library.h"
#include "opencl/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Opened once per process and never closed: programs in its cache outlive every context. */
static struct clblast_library library;
static bool found;
static char missing[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find_symbol(void *handle, const char *name, void *function, size_t size)
{
    void *address = library_symbol(handle, name);
    memcpy(function, &address, size);
    if (!address)
        snprintf(missing, sizeof missing, "libclblast.so.1 has no %s: 1.5 or newer is needed", name);
    return address != NULL;
}

static void open_library(void)
{
    char why[160];
    void *handle = library_open("libclblast.so.1", why, sizeof why);
    if (!handle) {
        snprintf(missing, sizeof missing, "libclblast.so.1 cannot be opened: %s", why);
        return;
    }
    found = find_symbol(handle, "CLBlastSgemmWithTempBuffer", &library.gemm, sizeof library.gemm) &&
            find_symbol(handle, "CLBlastSGemmTempBufferSize", &library.temporary_size, sizeof library.temporary_size) &&
            find_symbol(handle, "CLBlastOverrideParameters", &library.override_parameters,
                        sizeof library.override_parameters);
}

const struct clblast_library *clblast_library(const char **why)
{
    pthread_once(&once, open_library);
    *why = missing;
    return found ? &library : NULL;
}

clayer_status clblast_fail(int code, const char *call, const char *shape)
{
    /* CLBlast hands OpenCL's codes through unchanged (-1 to -100, -1001); its own begin at -1010. */
    if (code > -1000)
        return CL_FAIL(code, call, "in CLBlast, %s", shape);
    return FAIL(CLAYER_ERROR_OPENCL, "%s: CLBlast status %d, %s", call, code, shape);
}
