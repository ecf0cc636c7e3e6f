/* Plans from tuning records. */
#ifndef PLAN_RECORD_H
#define PLAN_RECORD_H

#include "plan/plan.h"
#include "store/store.h"

/* What decides the speed of a call, as records are kept by it. */
void plan_record_layer(const struct layer_shape *shape, const struct call_shape *call, struct record_layer *layer);

/* A record's family, and its values of the parameters that it names written over those of *configuration.
 * INVALID_ARGUMENT says what makes no sense in it. */
clayer_status plan_record_read(const struct record *record, const struct family **family,
                               struct configuration *configuration);

/* The plan of the best record that may run this call; false when there is none. Records whose plan makes no sense are
 * taken out of the store. */
bool plan_from_record(const struct target *target, struct store *store, const struct layer_shape *shape,
                      const struct call_shape *call, unsigned excluded, struct plan *plan);

#endif
