/* The fixtures of tests/data/malformed: each must be refused, with an error that says why. */
#ifndef SUPPORT_MALFORMED_H
#define SUPPORT_MALFORMED_H

#include <clayer/status.h>
#include <stddef.h>

/* Tries one file: opens it and reads all of it. */
typedef clayer_status (*malformed_reader)(const char *path);

/* Hands every file of a format to the reader, except those named in skipped (NULL at the end), which another layer
 * refuses. Each must be refused as malformed, unsupported or mismatched, in one line that has the file's name and the
 * strings that the manifest lists for it. Returns how many files were tried. */
size_t malformed_check(const char *format, malformed_reader reader, const char *const *skipped);

#endif
