/* How a function inside clayer fails: one line of detail per thread, and the macros every room uses.
 *
 *     if (!file) return FAIL(CLAYER_ERROR_IO, "cannot open %s: %s", path, strerror(errno));
 *     TRY(read_header(file, &header));
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <clayer/status.h>

/* Records the detail for clayer_last_error(), logs it at debug level with file and line, and returns status. */
clayer_status error_set(clayer_status status, const char *file, int line, const char *format, ...) CLAYER_PRINTF(4, 5);

/* Puts a saved detail back, after a failure that the caller does not see. */
void error_restore(const char *text);

/* Replaces every control character and every byte that is not valid UTF-8 by '?', in place. For text from outside. */
void text_clean(char *text);

#define FAIL(status, ...) error_set((status), __FILE__, __LINE__, __VA_ARGS__)

/* Passes a failure on unchanged. */
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        clayer_status try_status_ = (expression);                                                                      \
        if (try_status_ != CLAYER_OK)                                                                                  \
            return try_status_;                                                                                        \
    } while (0)

/* The same for functions with a cleanup label `fail` and a variable `status`. */
#define TRY_GOTO(expression)                                                                                           \
    do {                                                                                                               \
        status = (expression);                                                                                         \
        if (status != CLAYER_OK)                                                                                       \
            goto fail;                                                                                                 \
    } while (0)

#define FAIL_GOTO(code, ...)                                                                                           \
    do {                                                                                                               \
        status = FAIL(code, __VA_ARGS__);                                                                              \
        goto fail;                                                                                                     \
    } while (0)

/* Public wrappers only: refuses a bad argument and names the condition that failed. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: needs %s", __func__, #condition);                          \
    } while (0)

#endif
