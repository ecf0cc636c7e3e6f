/* In which order shapes are tuned: of each layer the smallest and the largest batch first, then those between, so that
 * a batch whose neighbours have one best plan needs little more than to try that plan. */
#ifndef TUNE_ORDER_H
#define TUNE_ORDER_H

#include <clayer/tune.h>
#include <stdbool.h>

/* Whether two shapes differ in their batch only. */
bool order_same_layer(const clayer_tune_shape *a, const clayer_tune_shape *b);

/* *order on the heap: indices into shapes. OUT_OF_MEMORY. */
clayer_status order_shapes(const clayer_tune_shape *shapes, size_t count, size_t **order);

#endif
