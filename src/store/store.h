/* The tuning records in force: read from several layers of origin, looked up by the planner, merged and written back by
 * the tuner. One readable JSON file per device (docs/tuning.md has the format). */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/record.h"

#include <clayer/status.h>

/* Where a record came from; the first that has an answer wins. */
enum store_origin {
    STORE_API,         /* given by the application in this process */
    STORE_ENVIRONMENT, /* CLAYER_TUNING=FILE or DIRECTORY */
    STORE_USER,        /* the user's data directory */
    STORE_SYSTEM,      /* the system's */
    STORE_SHIPPED,     /* records that the application ships (clayer-tune --header) */
    STORE_BUILT_IN,
    STORE_ORIGINS
};
const char *store_origin_string(enum store_origin origin);

/* Opaque; one per context. Immutable after store_open but for store_add, which is thread-safe. */
struct store;

/* Reads every layer for this device. Never fails for what is on disk: damage is named once in the log and good records
 * stay; *store is NULL only when memory is out. */
clayer_status store_open(const struct record_device *device, struct store **store);
void store_close(struct store **store);

struct store_answer {
    const struct record *record; /* belongs to the store */
    enum store_origin origin;
    bool exact;  /* the very layer and batch; else the nearest */
    bool stale;  /* driver, library or kernels changed since it was measured */
};

/* The n-th best answer for a layer (n = 0 first): the exact record; else the nearest batch, in log scale, of the same
 * layer; else the nearest layer of the same types and epilogue. false when there is no n-th. Under 50 us with 10,000
 * records. The planner checks the fit and asks for the next. */
bool store_lookup(const struct store *store, const struct record_layer *layer, size_t n, struct store_answer *answer);

#endif
