/* What the host family's calls take, for the planner: a model of current CPUs with figures from docs/measurements.md.
 */
#ifndef KERNELS_HOST_H
#define KERNELS_HOST_H

#include "kernels/family.h"

/* FLOP of a call as the vector kernel does it: with columns in whole vectors. */
double host_flops(size_t batch, size_t in_features, size_t out_features);

/* Seconds of one call, or of a chain of them, with so many FLOP over so many bytes of weights, on the calling thread
 * alone; and with as much help as the family would ask for. */
double host_alone_seconds(double flops, double weight_bytes);
double host_seconds(const struct target *target, double flops, double weight_bytes);

#endif
