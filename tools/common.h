/* What clayer's command-line tools share: error lines, options, exit codes. */
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include <clayer/status.h>
#include <getopt.h>
#include <stddef.h>

/* The same in every tool; docs/devices.md and each --help list them. */
enum {
    EXIT_CODE_FAILED = 1,   /* something could not be done; one line on stderr says what */
    EXIT_CODE_USAGE = 2,    /* an option or argument is wrong; one line names it and what is accepted */
    EXIT_CODE_NO_DEVICE = 3 /* clayer-query: no usable OpenCL device */
};

/* The tool's name for error lines. */
extern const char *tool_name;

/* First of all in main. Gives the tool its name, and sees to it that descriptors 0 to 2 are taken: one that the caller
 * closed would become the next file opened, a journal say, and what is meant for standard output would go into it. */
void tool_start(const char *name);

/* Prints "NAME: message" as one line on stderr and returns EXIT_CODE_USAGE or EXIT_CODE_FAILED. */
int tool_usage(const char *format, ...) CLAYER_PRINTF(1, 2);
int tool_failed(const char *format, ...) CLAYER_PRINTF(1, 2);

/* From now on the library's warnings are lines on stderr, as with CLAYER_LOG=warn; CLAYER_LOG=error leaves them out. */
void tool_show_warnings(void);

/* getopt_long for long options only, "-h" and "-V" aside, which it turns into 'h' and 'V'. -1 at the end, '?' after an
 * unknown option or a missing value, which it has reported on stderr. */
int tool_option(int argc, char **argv, const struct option *options);

/* Reads a whole decimal number within [least, most] for an option. 0, or EXIT_CODE_USAGE after an error line. */
int tool_size(const char *option, const char *text, size_t least, size_t most, size_t *value);

/* Flushes stdout; EXIT_CODE_FAILED with an error line when output was lost (a full disk, a closed pipe), else code. */
int tool_finish(int code);

#endif
