/* The journal's files: lines with checksums, owned by a lock. */
#ifndef TUNE_JOURNAL_FILE_H
#define TUNE_JOURNAL_FILE_H

#include <clayer/status.h>
#include <stdbool.h>

/* A new file of this run, locked; *path on the heap. IO. */
clayer_status journal_file_create(const char *folder, const char *device, int *descriptor, char **path);

/* Appends one line with its checksum and syncs it. IO. */
clayer_status journal_file_append(int descriptor, const char *path, const char *text);

/* Every sound line of a device's files: those of dead runs, and with their owner's other files too (`alive`). */
typedef void (*journal_file_line)(void *user, const char *text, bool alive);
/* Called after the lines of a dead run's file, which is then removed. false: it stays. */
typedef bool (*journal_file_end)(void *user, const char *path);
/* except: this run's own file, or NULL. IO when a file could not be removed. A folder that is not there has no files.
 */
clayer_status journal_file_adopt(const char *folder, const char *device, const char *except, journal_file_line line,
                                 journal_file_end end, void *user);

#endif
