/* Named sets of shapes, the same for clayer-bench and clayer-tune. */
#ifndef TOOLS_SUITES_H
#define TOOLS_SUITES_H

#include <stdbool.h>

/* The names, for help and error lines; "all" means all of them. */
#define SUITE_NAMES "transformer, mlp, tabular, odd, square, cold, chain or all"

/* Receives a shape, "BATCHxINxOUT" or, for a chain of layers, "BATCHxINx...xOUT"; cold: weights are to come from
 * memory. false ends the walk. */
typedef bool (*suite_callback)(void *user, const char *shape, bool cold);

/* Every shape of a suite. false for an unknown name, or when the callback ended it. */
bool suite_each(const char *name, suite_callback callback, void *user);

#endif
