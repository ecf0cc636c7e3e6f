/* The user's own records on disk: one file per device in the data directory, below "tuning". */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/record.h"

#include <clayer/status.h>

/* The directory, on the heap; NULL when this user has none. */
clayer_status store_user_folder(char **folder);

/* Makes the directory and proves that a file can be written there; *folder (on the heap, NULL when there is none) is
 * for messages, set in either case. IO with the reason. To be asked before minutes of tuning. */
clayer_status store_probe_writable(char **folder);

enum store_merge_mode {
    STORE_KEEP_BETTER, /* record_replaces decides */
    STORE_REPLACE      /* the new record wins: --refresh, --force */
};

struct store_merged {
    size_t added, replaced, kept; /* new keys; keys whose record changed; keys whose old record was better */
};

/* Merges records into the device's file: reads what is there now, writes the whole file anew, syncs and renames it. Any
 * number of processes may do so at once: a lock of the file's own orders them, waited for 8 s at most (a stopped
 * process must not stop others); after that, and on file systems without locks, a change by someone else is noticed
 * just before the rename and merged again. A damaged file is copied to FILE.damaged-TIME first. *merged may be NULL.
 * IO; UNSUPPORTED when a later version of clayer wrote the file, which is left alone. */
clayer_status store_merge(const struct record_device *device, const struct record *records, size_t count,
                          enum store_merge_mode mode, struct store_merged *merged);

/* Removes the records for which `unwanted` is true, in the same way. */
typedef bool (*store_unwanted)(void *user, const struct record *record);
clayer_status store_forget(const struct record_device *device, store_unwanted unwanted, void *user, size_t *removed);

/* The devices that have a file here. The caller frees *devices. */
clayer_status store_devices(struct record_device **devices, size_t *count);
/* The device's records on disk, sorted. The caller frees *records. No file is no records. */
clayer_status store_read(const struct record_device *device, struct record **records, size_t *count);

#endif
