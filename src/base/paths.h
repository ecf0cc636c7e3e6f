/* Where clayer keeps its files, and making those directories so that no other user can plant anything in them. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <clayer/status.h>

enum paths_kind {
    PATHS_CACHE, /* compiled programs: may be deleted at any time. CLAYER_CACHE, XDG_CACHE_HOME, ~/.cache */
    PATHS_DATA   /* tuning records: worth keeping. CLAYER_DATA_DIR, XDG_DATA_HOME, ~/.local/share */
};

/* The directory for one kind of file, without a slash at the end; it need not exist. The first that is set of: clayer's
 * own variable (as it is), the XDG variable (if absolute) + "/clayer", HOME (if absolute), the home of the password
 * database. The caller frees it. CLAYER_CACHE=off is no place.
 * NO such place is no failure: *path is NULL then and the caller works without files.
 * Only OUT_OF_MEMORY fails. */
clayer_status paths_find(enum paths_kind kind, char **path);

/* Makes the directory with its parents (mode 0700), or accepts one that is there: it must be a directory, owned by this
 * process's user and writable by nobody else. IO with the reason otherwise. */
clayer_status paths_make(const char *path);

#endif
