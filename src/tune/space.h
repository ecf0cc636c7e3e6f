/* What may be tried for a shape: every configuration of every family, less what the families refuse, in the order in
 * which a simple model expects them to be fast. Nothing is compiled here. */
#ifndef TUNE_SPACE_H
#define TUNE_SPACE_H

#include "plan/plan.h"
#include "tune/outcome.h"

#include <stdint.h>

/* One configuration: its place among all combinations of its family's values, the last parameter fastest. */
struct point {
    uint16_t family; /* index into families[] */
    uint32_t index;
};

/* Configurations that one family refuses for one reason. */
struct refusal {
    const struct family *family;
    const char *reason;
    size_t count;
};

#define SPACE_FAMILIES 8
#define SPACE_REFUSALS 32

struct space {
    struct target target;
    struct layer_shape shape;
    struct call_shape call;
    float *cost[SPACE_FAMILIES]; /* of each configuration: 1 is the model's ideal; negative: refused */
    bool *taken[SPACE_FAMILIES]; /* tried already, or not to be */
    size_t size[SPACE_FAMILIES], legal[SPACE_FAMILIES];
    struct point *order; /* the legal ones, the most promising first */
    size_t count;
    struct refusal refusals[SPACE_REFUSALS];
    size_t refusal_count;
};

/* `call` is a call with rows of tight operands. OUT_OF_MEMORY. */
clayer_status space_create(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           struct space *space);
void space_free(struct space *space); /* safe on a zeroed struct */

void space_configuration(struct point point, struct configuration *configuration);
/* "family:name=value,..." */
void space_print(struct point point, char plan[PLAN_BYTES]);
/* The point of such a text. false when it is none, or refused here. */
bool space_parse(const struct space *space, const char *plan, struct point *point);
bool space_find(const struct space *space, const struct family *family, const struct configuration *configuration,
                struct point *point);

/* The legal points that differ in one parameter: the nearest ones up and down, and of a parameter that needs no
 * compilation all. At most `most`. */
#define SPACE_NEIGHBOURS 48
size_t space_neighbours(const struct space *space, struct point point, struct point *neighbours, size_t most);

/* The legal points that run the same kernel with other arguments. At most `most`. */
size_t space_siblings(const struct space *space, struct point point, struct point *siblings, size_t most);

/* In how many parameters two points of one family differ; 99 for different families. */
int space_distance(struct point a, struct point b);

#endif
