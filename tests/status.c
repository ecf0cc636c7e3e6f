/* Status texts, the last error's detail, the log and the version: what every other room stands on. */
#include "base/error.h"
#include "base/log.h"

#include <clayer/log.h>
#include <clayer/status.h>
#include <clayer/version.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

Test(status, every_status_has_its_own_text)
{
    for (int a = CLAYER_OK; a <= CLAYER_ERROR_INTERNAL; a++) {
        const char *text = clayer_status_string((clayer_status)a);
        cr_assert(text && *text, "status %d", a);
        cr_assert_str_neq(text, "unknown status", "status %d", a);
        for (int b = CLAYER_OK; b < a; b++)
            cr_assert_str_neq(text, clayer_status_string((clayer_status)b), "status %d and %d", a, b);
    }
    cr_assert_str_eq(clayer_status_string(CLAYER_OK), "success");
    cr_assert_str_eq(clayer_status_string(CLAYER_ERROR_OUT_OF_MEMORY), "out of memory");
}

Test(status, numbers_outside_are_unknown)
{
    cr_assert_str_eq(clayer_status_string((clayer_status)-1), "unknown status");
    cr_assert_str_eq(clayer_status_string((clayer_status)(CLAYER_ERROR_INTERNAL + 1)), "unknown status");
    cr_assert_str_eq(clayer_status_string((clayer_status)2147483647), "unknown status");
}

Test(status, detail_starts_empty_and_survives_a_success)
{
    clayer_log_level level = CLAYER_LOG_NONE;
    cr_assert_str_eq(clayer_last_error(), "");
    cr_assert_eq(clayer_log_level_parse("loud", &level), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_str_eq(clayer_last_error(), "log level 'loud': use none, error, warn, info or debug");
    cr_assert_eq(clayer_log_level_parse("info", &level), CLAYER_OK);
    cr_assert_str_eq(clayer_last_error(), "log level 'loud': use none, error, warn, info or debug");
}

static void *detail_of_a_new_thread(void *unused)
{
    (void)unused;
    return *clayer_last_error() ? (void *)"not empty" : NULL;
}

Test(status, detail_belongs_to_its_thread)
{
    FAIL(CLAYER_ERROR_IO, "mine");
    pthread_t thread;
    void *answer = NULL;
    cr_assert_eq(pthread_create(&thread, NULL, detail_of_a_new_thread, NULL), 0);
    pthread_join(thread, &answer);
    cr_assert_null(answer);
    cr_assert_str_eq(clayer_last_error(), "mine");
}

Test(status, detail_may_quote_the_last_one)
{
    FAIL(CLAYER_ERROR_IO, "inner");
    cr_assert_eq(FAIL(CLAYER_ERROR_FORMAT, "outer: %s", clayer_last_error()), CLAYER_ERROR_FORMAT);
    cr_assert_str_eq(clayer_last_error(), "outer: inner");
}

Test(status, detail_is_one_clean_line_of_limited_length)
{
    FAIL(CLAYER_ERROR_IO, "a\nb\x1b[31m \xc3\xa9 \xff \xc2\x9b");
    cr_assert_str_eq(clayer_last_error(), "a?b?[31m \xc3\xa9 ? ??");
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    FAIL(CLAYER_ERROR_IO, "%s", text);
    cr_assert_eq(strlen(clayer_last_error()), 1023);
}

Test(log, level_names)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug"};
    for (int i = 0; i < 5; i++) {
        clayer_log_level level = (clayer_log_level)-1;
        cr_assert_eq(clayer_log_level_parse(names[i], &level), CLAYER_OK, "%s", names[i]);
        cr_assert_eq((int)level, i, "%s", names[i]);
    }
}

Test(log, other_names_are_refused_and_leave_the_result)
{
    static const char *const names[] = {"", "INFO", "infos", "inf", "3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clayer_log_level level = CLAYER_LOG_WARN;
        cr_assert_eq(clayer_log_level_parse(names[i], &level), CLAYER_ERROR_INVALID_ARGUMENT, "'%s'", names[i]);
        cr_assert_eq(level, CLAYER_LOG_WARN, "'%s'", names[i]);
    }
    clayer_log_level level;
    cr_assert_eq(clayer_log_level_parse(NULL, &level), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_log_level_parse("info", NULL), CLAYER_ERROR_INVALID_ARGUMENT);
}

struct heard {
    int calls;
    clayer_log_level level;
    char message[4096];
};

static void hear(void *user, clayer_log_level level, const char *message)
{
    struct heard *heard = user;
    heard->calls++;
    heard->level = level;
    snprintf(heard->message, sizeof heard->message, "%s", message);
}

Test(log, callback_hears_its_level_and_above)
{
    struct heard heard = {0};
    clayer_log_set(hear, &heard, CLAYER_LOG_WARN);
    cr_assert(log_wants(CLAYER_LOG_WARN));
    cr_assert_not(log_wants(CLAYER_LOG_INFO));
    log_write(CLAYER_LOG_INFO, "too detailed");
    cr_assert_eq(heard.calls, 0);
    log_write(CLAYER_LOG_ERROR, "two\nlines and %d", 7);
    cr_assert_eq(heard.calls, 1);
    cr_assert_eq(heard.level, CLAYER_LOG_ERROR);
    cr_assert_str_eq(heard.message, "two?lines and 7");
    clayer_log_set(NULL, NULL, CLAYER_LOG_DEBUG);
    log_write(CLAYER_LOG_ERROR, "nobody hears this");
    cr_assert_eq(heard.calls, 1);
}

Test(version, header_library_and_build_agree)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", CLAYER_VERSION_MAJOR, CLAYER_VERSION_MINOR, CLAYER_VERSION_PATCH);
    cr_assert_str_eq(text, CLAYER_VERSION_STRING);
    cr_assert_str_eq(clayer_version_string(), CLAYER_VERSION_STRING);
    cr_assert_str_eq(PROJECT_VERSION, CLAYER_VERSION_STRING);
    cr_assert_eq(clayer_version(), CLAYER_VERSION_NUMBER);
}
