/* clayer: tuning records, the measured best plans that layers use by themselves.
 *
 * Records are found in this order; docs/tuning.md tells more, and the format of the files:
 *   1. what the application gave to its context (clayer_tuning_add, clayer_tuning_load)
 *   2. the file or directory that the environment variable CLAYER_TUNING names
 *   3. the user's own: "tuning" below $CLAYER_DATA_DIR, or clayer/tuning below $XDG_DATA_HOME or ~/.local/share
 *   4. the system's: clayer/tuning below each of $XDG_DATA_DIRS
 *   5. what the application ships for its users (clayer_tuning_ship)
 *   6. what is built into the library
 * A record for exactly the layer and batch of a call wins, then the one with the nearest batch, then the nearest layer;
 * between equals the order above decides. CLAYER_TUNING=off: none of them is used. Whatever is wrong with a file costs
 * the damaged records only, and one warning in the log.
 *
 * All functions are thread-safe, and any number of processes may use the user's records at once. */
#ifndef CLAYER_TUNING_H
#define CLAYER_TUNING_H

#include <clayer/context.h>
#include <clayer/device.h>
#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clayer_tuning_origin {
    CLAYER_TUNING_APPLICATION = 0,
    CLAYER_TUNING_ENVIRONMENT = 1,
    CLAYER_TUNING_USER = 2,
    CLAYER_TUNING_SYSTEM = 3,
    CLAYER_TUNING_SHIPPED = 4,
    CLAYER_TUNING_BUILT_IN = 5
} clayer_tuning_origin;

/* "application", "environment", "user store", "system store", "shipped" or "built in". Never NULL, never freed. */
CLAYER_API const char *clayer_tuning_origin_string(clayer_tuning_origin origin);

/* One record as it stands with regard to a device. Times in seconds a call; 0 where it was not measured. */
typedef struct clayer_tuning_record {
    size_t batch, in_features, out_features;
    char types[32]; /* of x, W, y and the accumulator: "f32,f32,f32,f32" */
    bool bias;
    bool costly;             /* an activation such as gelu; false: none, relu and the like */
    bool aligned;            /* rows of x and y start on whole vectors of 4 elements */
    char family[16];         /* as in clayer_plan_info */
    char configuration[160]; /* the same */
    double seconds, spread;  /* median, and the distance of the quartiles */
    double default_seconds;  /* the rule of thumb's plan, measured in the same run */
    double clblast_seconds;
    unsigned candidates; /* how many plans were tried */
    char effort[16];     /* "quick", "normal", "exhaustive" */
    char when[24];       /* UTC: "2026-11-30T17:00:00Z" */
    char driver[64];     /* driver and clayer version at that time */
    char library[16];
    clayer_tuning_origin origin;
    bool related;     /* measured on a device of the same family, not on this very device */
    bool stale;       /* driver, clayer or kernels have changed since; it is used, and worth a --refresh */
    bool in_force;    /* a layer may get this plan */
    char reason[160]; /* why it is not in force, or "" */
    size_t reserved[8];
} clayer_tuning_record;

/* Receives one record, valid during the call only. Must not call clayer. */
typedef void (*clayer_tuning_callback)(void *user, const clayer_tuning_record *record);

/* Every record that there is for a device, as a context on it would find them; or those of a context, with what the
 * application gave it. */
CLAYER_API clayer_status clayer_tuning_list(const clayer_device_info *device, clayer_tuning_callback callback,
                                            void *user);
CLAYER_API clayer_status clayer_tuning_list_context(clayer_context *context, clayer_tuning_callback callback,
                                                    void *user);

/* Gives records to a context: a text of `length` bytes, a file, or the lines of a header that clayer_tuning_header
 * wrote (ending with NULL), for layers that have not chosen their plans yet. Records for other devices are passed over.
 * *added (may be NULL) is how many concern this context's device. FORMAT when something in it is damaged (its good
 * records are used nevertheless), UNSUPPORTED for a later version's, IO. */
CLAYER_API clayer_status clayer_tuning_add(clayer_context *context, const char *text, size_t length, size_t *added);
CLAYER_API clayer_status clayer_tuning_load(clayer_context *context, const char *path, size_t *added);
CLAYER_API clayer_status clayer_tuning_ship(clayer_context *context, const char *const *lines, size_t *added);

/* What came of merging: new keys, keys that got another record, keys whose old record was better; and records that were
 * damaged and left out. */
typedef struct clayer_tuning_merged {
    size_t added, replaced, kept, damaged;
} clayer_tuning_merged;

/* Merges a file's records into the user's own, for all devices in it. For each key the better measured record stays
 * (greater effort, then speed beyond the spread, then the later one), or the file's if `replace`. merged may be NULL.
 * IO; FORMAT when nothing in the file is a record; UNSUPPORTED for a later version's file, or one in the user's
 * directory. */
CLAYER_API clayer_status clayer_tuning_import(const char *path, bool replace, clayer_tuning_merged *merged);

/* Writes the user's records for one device, or for all with NULL, to a file that clayer_tuning_import and CLAYER_TUNING
 * take. *records (may be NULL) is how many. IO, and UNSUPPORTED for a later version's file, when not all of them could be
 * read; then nothing is written. */
CLAYER_API clayer_status clayer_tuning_export(const clayer_device_info *device, const char *path, size_t *records);

/* The same as C source, for clayer_tuning_ship: static const char *const NAME[]. INVALID_ARGUMENT when name is no C
 * identifier. */
CLAYER_API clayer_status clayer_tuning_header(const clayer_device_info *device, const char *path, const char *name,
                                              size_t *records);

/* Removes the user's records for one device and for families it belongs to, or for all with NULL: those of a layer and
 * batch, or, where a number is 0, of any. *removed may be NULL. IO, and UNSUPPORTED for a later version's file. */
CLAYER_API clayer_status clayer_tuning_forget(const clayer_device_info *device, size_t batch, size_t in_features,
                                              size_t out_features, size_t *removed);

typedef struct clayer_tuning_place {
    char path[4096];  /* the directory of the user's records; "" when this user has no home */
    bool writable;    /* it could be made, and a file written there */
    char reason[256]; /* why it is not, or "" */
    size_t reserved[8];
} clayer_tuning_place;

/* Where the user's records are, and whether new ones can be kept: makes the directory, writes a file to it, and reads the
 * device's (NULL: no device's), which cannot be merged into when it is unreadable or a later version's. */
CLAYER_API clayer_status clayer_tuning_get_place(const clayer_device_info *device, clayer_tuning_place *place);

#ifdef __cplusplus
}
#endif
#endif
