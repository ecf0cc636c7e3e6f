#include "base/log.h"
#include "base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Global because the log must work before any object exists; all access is under the lock. */
static struct {
    pthread_mutex_t lock;
    bool environment_read;
    clayer_log_level environment_level; /* NONE when CLAYER_LOG is not set */
    clayer_log_callback callback;
    void *user;
    clayer_log_level level;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const level_names[] = {"none", "error", "warn", "info", "debug"};

clayer_status clayer_log_level_parse(const char *text, clayer_log_level *level)
{
    REQUIRE(text != NULL && level != NULL);
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *level = (clayer_log_level)i;
            return CLAYER_OK;
        }
    }
    return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "log level '%.40s': use none, error, warn, info or debug", text);
}

/* What applies now; a copy, so that the callback runs without the lock. */
static void current(clayer_log_callback *callback, void **user, clayer_log_level *level)
{
    pthread_mutex_lock(&state.lock);
    if (!state.environment_read) {
        const char *text = getenv("CLAYER_LOG");
        for (size_t i = 0; text && i < sizeof level_names / sizeof *level_names; i++)
            if (strcmp(text, level_names[i]) == 0)
                state.environment_level = (clayer_log_level)i;
        state.environment_read = true;
    }
    *callback = state.callback;
    *user = state.user;
    *level = state.callback ? state.level : CLAYER_LOG_NONE;
    if (state.environment_level != CLAYER_LOG_NONE) {
        *level = state.environment_level;
        if (!*callback)
            *callback = clayer_log_to_stderr;
    }
    pthread_mutex_unlock(&state.lock);
}

bool log_wants(clayer_log_level level)
{
    clayer_log_callback callback;
    void *user;
    clayer_log_level limit;
    current(&callback, &user, &limit);
    return callback && level <= limit;
}

void log_write(clayer_log_level level, const char *format, ...)
{
    clayer_log_callback callback;
    void *user;
    clayer_log_level limit;
    current(&callback, &user, &limit);
    if (!callback || level > limit)
        return;
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    text_clean(message);
    callback(user, level, message);
}

void clayer_log_set(clayer_log_callback callback, void *user, clayer_log_level level)
{
    pthread_mutex_lock(&state.lock);
    state.callback = callback;
    state.user = user;
    state.level = level;
    pthread_mutex_unlock(&state.lock);
}

void clayer_log_to_stderr(void *user, clayer_log_level level, const char *message)
{
    (void)user;
    const char *name = (int)level >= 0 && level <= CLAYER_LOG_DEBUG ? level_names[level] : "?";
    fprintf(stderr, "clayer: %s: %s\n", name, message);
}
