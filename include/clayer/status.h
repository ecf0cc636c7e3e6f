/* clayer: what a call answers, and why the last one failed. */
#ifndef CLAYER_STATUS_H
#define CLAYER_STATUS_H

#include <clayer/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns one of these; results come back through pointers and are untouched on failure
 * unless said otherwise. The numbers never change their meaning; new ones may be added at the end. */
typedef enum clayer_status {
    CLAYER_OK = 0,
    CLAYER_ERROR_INVALID_ARGUMENT = 1, /* an argument breaks a condition that the header states */
    CLAYER_ERROR_OUT_OF_MEMORY = 2,    /* host or device memory, whichever code the driver chose */
    CLAYER_ERROR_TOO_LARGE = 3,        /* a size does not fit: arithmetic overflow or a limit of the device */
    CLAYER_ERROR_NO_OPENCL = 4,        /* libOpenCL is not there, too old, or switched off */
    CLAYER_ERROR_NO_DEVICE = 5,        /* no device, or none that matches the selector, or more than one */
    CLAYER_ERROR_DEVICE_UNUSABLE = 6,  /* the device exists and cannot be used; the detail says why */
    CLAYER_ERROR_OPENCL = 7,           /* an OpenCL call failed; the detail names the call and the code */
    CLAYER_ERROR_BUILD = 8,            /* a kernel did not compile; the build log goes to the log */
    CLAYER_ERROR_UNSUPPORTED = 9,      /* legal, but not available here (a type, a forced plan, a build option) */
    CLAYER_ERROR_IO = 10,              /* a file or directory could not be opened, read or written */
    CLAYER_ERROR_FORMAT = 11,          /* a file's content is malformed */
    CLAYER_ERROR_MISMATCH = 12,        /* shapes or types do not fit together */
    CLAYER_ERROR_FORKED = 13,          /* OpenCL was started before fork() and cannot be used in the child */
    CLAYER_ERROR_CANCELLED = 14,       /* the caller's callback asked to stop */
    CLAYER_ERROR_TIMEOUT = 15,         /* a time limit was reached */
    CLAYER_ERROR_INTERNAL = 16         /* a fault of clayer's own; please report it */
} clayer_status;

/* A short fixed text for a status, such as "out of memory"; "unknown status" for others. Never NULL, never freed. */
CLAYER_API const char *clayer_status_string(clayer_status status);

/* Why the last failing clayer call on this thread failed: one line of UTF-8 without a line break, at most 1023 bytes,
 * which names the thing and the accepted values. "" when no call on this thread has failed yet. A call that succeeds
 * leaves it as it was. The text belongs to the library and stays until the next failing call on this thread. */
CLAYER_API const char *clayer_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
