#include "base/error.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[1024];

/* The length of the valid UTF-8 sequence at s, or 0. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

void text_clean(char *text)
{
    unsigned char *s = (unsigned char *)text;
    while (*s) {
        size_t length = utf8_length(s);
        if (length == 0 || *s < 0x20 || *s == 0x7f || (s[0] == 0xc2 && length == 2 && s[1] < 0xa0)) {
            *s = '?';
            length = 1;
        }
        s += length;
    }
}

clayer_status error_set(clayer_status status, const char *file, int line, const char *format, ...)
{
    char fresh[sizeof detail]; /* the arguments may point into the old detail */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    text_clean(fresh);
    memcpy(detail, fresh, sizeof detail);
    log_write(CLAYER_LOG_DEBUG, "%s:%d: %s: %s", file, line, clayer_status_string(status), detail);
    return status;
}

void error_restore(const char *text)
{
    snprintf(detail, sizeof detail, "%s", text);
}

const char *clayer_last_error(void)
{
    return detail;
}

const char *clayer_status_string(clayer_status status)
{
    static const char *const texts[] = {
        [CLAYER_OK] = "success",
        [CLAYER_ERROR_INVALID_ARGUMENT] = "invalid argument",
        [CLAYER_ERROR_OUT_OF_MEMORY] = "out of memory",
        [CLAYER_ERROR_TOO_LARGE] = "too large",
        [CLAYER_ERROR_NO_OPENCL] = "OpenCL is not available",
        [CLAYER_ERROR_NO_DEVICE] = "no such device",
        [CLAYER_ERROR_DEVICE_UNUSABLE] = "device cannot be used",
        [CLAYER_ERROR_OPENCL] = "OpenCL call failed",
        [CLAYER_ERROR_BUILD] = "kernel did not compile",
        [CLAYER_ERROR_UNSUPPORTED] = "not supported here",
        [CLAYER_ERROR_IO] = "input or output failed",
        [CLAYER_ERROR_FORMAT] = "malformed content",
        [CLAYER_ERROR_MISMATCH] = "shapes or types do not fit",
        [CLAYER_ERROR_FORKED] = "OpenCL cannot be used after fork",
        [CLAYER_ERROR_CANCELLED] = "cancelled",
        [CLAYER_ERROR_TIMEOUT] = "time limit reached",
        [CLAYER_ERROR_INTERNAL] = "internal error",
    };
    if ((int)status < 0 || (size_t)status >= sizeof texts / sizeof *texts)
        return "unknown status";
    return texts[status];
}
