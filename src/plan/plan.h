/* Which family and configuration runs a call, and why. Asks the store and the families; knows no device itself. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "kernels/family.h"

struct record;
struct store;

enum plan_origin { PLAN_FORCED, PLAN_RECORD, PLAN_NEAREST_RECORD, PLAN_RULE, PLAN_FALLBACK };

struct plan {
    const struct family *family;
    struct configuration configuration;
    enum plan_origin origin;
    const struct record *record; /* of the store, or NULL */
    const char *source;          /* where the record came from, as store_origin_string says */
    char reason[160];            /* one line for people */
};

/* A plan that a caller forced: "panel", or "panel:rows=4,vectors=4" with the rest by the rule of thumb. */
struct plan_request {
    const struct family *family;         /* NULL: nothing is forced */
    char configuration[FAMILY_MAX_TEXT]; /* what stood after the colon */
};

/* Reads such a text; NULL, "" and "auto" force nothing. INVALID_ARGUMENT names the families or parameters there are. */
clayer_status plan_parse(const char *text, struct plan_request *request);

/* Chooses among the families that are not excluded (bit i stands for families[i]; for those whose kernels did not
 * build): a forced plan, else a record of the store (NULL: there is none), else the rule of thumb. A forced plan that
 * cannot run is UNSUPPORTED with its reason; an automatic choice gives way down to portable, or host on the host
 * device, and never fails for a legal call. */
clayer_status plan_choose(const struct target *target, struct store *store, const struct layer_shape *shape,
                          const struct call_shape *call, const struct plan_request *request, unsigned excluded,
                          struct plan *plan);

/* The bit of a family in `excluded`. */
unsigned plan_bit(const struct family *family);

/* Whether a call of so much work, over so many bytes of weights and with so many bytes of x and y to be copied for the
 * device, is better done by the calling thread than by waking the device's workers. */
bool plan_small(const struct target *target, double flops, double weight_bytes, double staged_bytes);

/* "forced", "record, user store", "nearest record, built in", "rule of thumb", "fallback". */
void plan_origin_print(const struct plan *plan, char *text, size_t size);

#endif
