/* A simple model of a configuration's cost, to order candidates by before anything is measured. */
#ifndef TUNE_MODEL_H
#define TUNE_MODEL_H

#include "kernels/family.h"

/* Expected time as a multiple of an ideal kernel's, from the work wasted on tails, the loads that registers save, the
 * registers and local memory that are not there, and compute units without work. Only its order counts. */
float model_cost(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                 const struct family *family, const struct configuration *configuration);

#endif
