/* clayer: where its messages go. */
#ifndef CLAYER_LOG_H
#define CLAYER_LOG_H

#include <clayer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clayer_log_level {
    CLAYER_LOG_NONE = 0,
    CLAYER_LOG_ERROR = 1, /* a call is about to fail */
    CLAYER_LOG_WARN = 2,  /* something was skipped or replaced; the result is still right */
    CLAYER_LOG_INFO = 3,  /* one line per decision: device chosen, plan chosen and why */
    CLAYER_LOG_DEBUG = 4  /* build logs, cache hits, timings */
} clayer_log_level;

/* Receives one message: a line of UTF-8 without control characters or line break; valid during the call only. It may be
 * called from any thread that is inside a clayer call, several at once, and must not call clayer. */
typedef void (*clayer_log_callback)(void *user, clayer_log_level level, const char *message);

/* Sets the process's log callback and the most detailed level it receives. Without a callback (NULL, the default) the
 * library writes nothing anywhere. The one exception is the user's own wish: if the environment variable CLAYER_LOG is
 * "error", "warn", "info" or "debug", that level applies, and without a callback messages go to stderr.
 * Thread-safe; a call in progress may still use the old callback once. */
CLAYER_API void clayer_log_set(clayer_log_callback callback, void *user, clayer_log_level level);

/* A callback that writes "clayer: LEVEL: message" to stderr, for tools and small programs. user is ignored. */
CLAYER_API void clayer_log_to_stderr(void *user, clayer_log_level level, const char *message);

/* The level that "error", "warn", "info", "debug" or "none" names. INVALID_ARGUMENT for any other text. */
CLAYER_API clayer_status clayer_log_level_parse(const char *text, clayer_log_level *level);

#ifdef __cplusplus
}
#endif
#endif
