#include "common.h"

#include <clayer/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_name = "clayer";

void tool_start(const char *name)
{
    tool_name = name;
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0)
            continue;
        /* open takes the lowest that is free, which is this one. For input and output it is opened the wrong way round,
         * so that they stay what they are, closed: who reads or writes them is told. Error lines may go nowhere. */
        if (open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0)
            _exit(
                tool_failed("descriptor %d is closed, and /dev/null cannot stand in: %s", descriptor, strerror(errno)));
    }
}

static void error_line(const char *format, va_list arguments)
{
    char message[2048];
    vsnprintf(message, sizeof message, format, arguments);
    for (char *c = message; *c; c++) /* arguments and file names may hold anything */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "%s: %s\n", tool_name, message);
}

int tool_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_line(format, arguments);
    va_end(arguments);
    return EXIT_CODE_USAGE;
}

int tool_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_line(format, arguments);
    va_end(arguments);
    return EXIT_CODE_FAILED;
}

static void show_message(void *user, clayer_log_level level, const char *message)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr); /* a progress bar, which is drawn again */
    clayer_log_to_stderr(user, level, message);
}

void tool_show_warnings(void)
{
    clayer_log_set(show_message, NULL, CLAYER_LOG_WARN);
}

int tool_option(int argc, char **argv, const struct option *options)
{
    opterr = 0;
    int at = optind;
    int option = getopt_long(argc, argv, ":hV", options, NULL);
    if (option == ':') {
        tool_usage("option '%s' needs a value; see --help", argv[optind - 1]);
        return '?';
    }
    if (option == '?') {
        const char *word = optind > at ? argv[optind - 1] : argv[at]; /* "-xy" is still being read at x */
        const char *value = strchr(word, '=');
        int length = value ? (int)(value - word) : (int)strlen(word);
        for (const struct option *o = options; o->name; o++)
            if (value && !o->has_arg && length == (int)strlen(o->name) + 2 && !strncmp(word + 2, o->name, length - 2))
                return tool_usage("option '%.*s' takes no value", length, word), '?';
        tool_usage("unknown option '%.*s'; see --help", length, word);
    }
    return option;
}

int tool_size(const char *option, const char *text, size_t least, size_t most, size_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || number < least || number > most)
        return tool_usage("%s '%.40s': use a whole number from %zu to %zu", option, text, least, most);
    *value = (size_t)number;
    return 0;
}

int tool_finish(int code)
{
    const bool lost = ferror(stdout) != 0; /* what errno was then is gone */
    errno = 0;
    if (fflush(stdout) != 0 || lost)
        return tool_failed("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return code;
}
