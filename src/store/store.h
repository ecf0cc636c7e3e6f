/* The tuning records in force: read from several layers of origin, looked up by the planner. Writing them is
 * store/merge.h, their form store/format.h and docs/tuning.md. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/record.h"

#include <clayer/status.h>

/* Where a record came from. Between records that fit a call equally well, the first of these wins. */
enum store_origin {
    STORE_API,         /* given by the application in this process */
    STORE_ENVIRONMENT, /* CLAYER_TUNING=FILE or DIRECTORY */
    STORE_USER,        /* the user's data directory */
    STORE_SYSTEM,      /* the system's */
    STORE_SHIPPED,     /* records that the application ships (clayer-tune --header) */
    STORE_BUILT_IN,
    STORE_ORIGINS
};
/* "application", "environment", "user store", "system store", "shipped", "built in". */
const char *store_origin_string(enum store_origin origin);

/* Opaque; one per context, thread-safe. Records never leave it before it is closed. */
struct store;

/* Reads every layer for this device. Never fails for what is on disk: damage is named once in the log and good records
 * stay; *store is NULL only when memory is out. CLAYER_TUNING=off: the store is empty and stays so. */
clayer_status store_open(const clayer_device_info *info, struct store **store);
/* Accepts a pointer to NULL. */
void store_close(struct store **store);

/* Adds records for this device (the tuner's results, STORE_API) or from a text of store/format.h, of which those for
 * other devices are passed over. A record of a key that the same origin has already replaces it (tuner: the newest
 * wins). *added may be NULL. FORMAT when the text is damaged; its good records are in nevertheless. */
clayer_status store_add(struct store *store, enum store_origin origin, const struct record *records, size_t count);
clayer_status store_add_text(struct store *store, enum store_origin origin, const char *text, size_t length,
                             const char *name, size_t *added);

struct store_answer {
    const struct record *record; /* belongs to the store */
    enum store_origin origin;
    bool exact;      /* the very layer and batch; else the nearest */
    bool family;     /* measured on a device of the same family, not on this one */
    bool stale;      /* driver, library or kernels changed since it was measured */
    double distance; /* octaves of batch, in and out features together; 0 when exact */
};

#define STORE_ANSWERS 8

/* How far a record may be from a call: batches of a quarter to four times, and features and batch together a factor of
 * eight (in octaves; another epilogue or alignment counts as a part of one). Beyond, the rule of thumb knows more: it
 * looks at the call itself. */
#define STORE_REACH_BATCH 4
#define STORE_REACH 3.0f

/* The best answers for a layer, best first, at most STORE_ANSWERS of them: the exact record; else the nearest batch, in
 * log scale, of the same layer; else of the same features with another epilogue or alignment; else the nearest layer of
 * the same types. Records of this very device come before those of its family; what is out of reach (STORE_REACH) is no
 * answer. The planner checks the fit and takes the next. Under 50 us with 10,000 records. */
size_t store_lookup(const struct store *store, const struct record_layer *layer,
                    struct store_answer answers[STORE_ANSWERS]);

/* Whether a record for these features, types and epilogue names the family, whatever the batch. */
bool store_names_family(const struct store *store, const struct record_layer *layer, const char *family);

/* Takes a record out of all later answers since its plan makes no sense here, and names it with the reason in the log,
 * once. */
void store_reject(struct store *store, const struct record *record, const char *reason);

/* Every record for this device in the order of its key, then of origin. `rejected` is the reason of store_reject, or
 * ""; `shadowed`: a record of a better origin has the same key. */
struct store_item {
    struct store_answer answer; /* exact, distance 0 */
    char rejected[160]; /* cut to fit */
    bool shadowed;
};
size_t store_count(const struct store *store);
bool store_at(const struct store *store, size_t index, struct store_item *item);

#endif
