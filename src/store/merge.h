/* The user's own records on disk: one file per device in the data directory, below "tuning". */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/format.h"

#include <clayer/status.h>

/* The directory, on the heap; NULL when this user has none. */
clayer_status store_user_folder(char **folder);

/* Makes the directory and proves that a file can be written there, and that the device's own (NULL: none) can be merged
 * into; *folder (on the heap, NULL when there is none) is for messages, set in either case. IO or UNSUPPORTED with the
 * reason. To be asked before minutes of tuning. */
clayer_status store_probe_writable(const struct record_device *device, char **folder);

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

/* Removes the records of the device and of the families it belongs to, or with NULL all, for which `unwanted` is true, in
 * the same way. IO when a file or the directory cannot be read. */
typedef bool (*store_unwanted)(void *user, const struct record *record);
clayer_status store_forget(const struct record_device *device, store_unwanted unwanted, void *user, size_t *removed);

/* The records on disk of the device, or with NULL of all devices and families; format_free them. Damage is named in the
 * log and passed over; IO and UNSUPPORTED when a file or the directory cannot be read at all, so that nobody takes a part
 * for the whole. No file is no records. */
clayer_status store_read(const struct record_device *device, struct format_content *content);

#endif
