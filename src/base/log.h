/* Messages from inside clayer to the caller's log callback. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <clayer/log.h>
#include <stdbool.h>

/* Formats one message, cleans it of control characters, and hands it to the callback if that wants this level. */
void log_write(clayer_log_level level, const char *format, ...) CLAYER_PRINTF(2, 3);

/* Whether log_write would pass this level on; saves the work of preparing a costly message. */
bool log_wants(clayer_log_level level);

#endif
