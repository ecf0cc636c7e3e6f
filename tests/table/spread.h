/* Which configurations of a family the table runs. */
#ifndef TABLE_SPREAD_H
#define TABLE_SPREAD_H

#include "kernels/family.h"

enum depth {
    SPREAD_VALUES, /* so many that each legal value of each parameter occurs, as far as the limit allows */
    SPREAD_PAIRS,  /* the same with each legal pair of values of two parameters */
    SPREAD_ALL     /* all; of a space above SPREAD_MOST so many that each legal triple of values occurs */
};

#define SPREAD_MOST 1000

/* Fills list with at most `limit` configurations that the family does not refuse, without duplicates, the rule of
 * thumb's first; returns their number. 0 when the family can't run here. */
size_t spread(const struct family *family, const struct target *target, const struct layer_shape *shape,
              const struct call_shape *call, enum depth depth, size_t limit, struct configuration *list);

/* Configurations that the family does not refuse. */
size_t spread_legal(const struct family *family, const struct target *target, const struct layer_shape *shape,
                    const struct call_shape *call);

#endif
