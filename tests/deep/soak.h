/* What the soak's parts share (soak_main.c says what it is). */
#ifndef DEEP_SOAK_H
#define DEEP_SOAK_H

#include "support/random.h"

#include <clayer/linear.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SOAK_IN = 96, SOAK_OUT = 80, SIZE_MAX_EACH = 150, BATCH_MAX = 200, LAYERS_MAX = 3 };

struct soak {
    clayer_context *common; /* which all threads share */
    clayer_linear *shared;  /* on it, and of these weights */
    float weight[SOAK_OUT * SOAK_IN];
    atomic_bool faults_allowed; /* in this phase calls are made to fail */
    atomic_long actions, results, refusals, candidates;
};
extern struct soak soak;

/* Memory of one thread, so that no allocation of the soak's own is counted as clayer's. */
struct soak_thread {
    struct random random;
    float weight[LAYERS_MAX][SIZE_MAX_EACH * SIZE_MAX_EACH], bias[LAYERS_MAX][SIZE_MAX_EACH];
    float x[BATCH_MAX * (SIZE_MAX_EACH + 3)], y[BATCH_MAX * (SIZE_MAX_EACH + 3)];
    float expected[2][BATCH_MAX * SIZE_MAX_EACH];
};

/* Ends the program: something is wrong. */
_Noreturn void soak_die(const char *what, const char *detail);
/* Whether the work goes on; a failure outside the phases with faults ends the program. */
bool soak_good(clayer_status status, const char *what);
/* Small integers: sums are exact in every order, so results are compared for equality. */
void soak_fill(struct random *random, float *values, size_t count);
/* One random thing: a layer, a model, a context of its own, the cache emptied, candidates of the tuner. */
void soak_act(struct soak_thread *thread);

#endif
