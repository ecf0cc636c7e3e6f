/* What the host family's calls take, for the planner: a model of current CPUs with figures from docs/measurements.md.
 */
#ifndef KERNELS_HOST_H
#define KERNELS_HOST_H

#include "kernels/family.h"

/* Seconds of one call, or of a chain of them, with so many FLOP over so many bytes of weights, on the calling thread
 * alone; and with as much help as the family would ask for. */
double host_alone_seconds(double flops, double weight_bytes);
double host_seconds(const struct target *target, double flops, double weight_bytes);

#endif
