/* Whole lives of clayer objects, from the first query to the last destroy, for tests that let something fail on the
 * way.
 *
 * Each life makes everything it needs and destroys it again, whether it fails or not, and allocates nothing itself. */
#ifndef SUPPORT_LIVES_H
#define SUPPORT_LIVES_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>

/* What a life returns when every call succeeded and a result is wrong. */
#define LIFE_WRONG ((clayer_status)-1)

struct life {
    const char *name;
    clayer_status (*run)(void);
    bool automatic; /* the device or the plan is clayer's choice, so that a failure may be answered by the next best */
    bool clblast;   /* needs libclblast */
    int contexts;   /* it makes; 0: one */
    bool deep;      /* too slow for the normal suite */
};

extern const struct life lives[];
extern const size_t life_count;

/* One layer on the device that clayer chooses, the host if there is no other. */
clayer_status life_of_the_best_device(void);

/* Fills weights and inputs; to be called first. */
void lives_begin(void);

#endif
