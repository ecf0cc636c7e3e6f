/* The second pass of families that may split in_features (cl/split.clh, cl/reduce.cl). */
#ifndef KERNELS_SPLIT_H
#define KERNELS_SPLIT_H

#include "kernels/family.h"

/* Numbers that every kernel with rows of x and y takes, in the order of its arguments. */
struct row_arguments {
    cl_ulong x_offset, ldx, y_offset, ldy, batch, in_features, out_features;
    cl_int kind;
    cl_float alpha, beta;
};
struct row_arguments split_arguments(const struct layer_shape *shape, const struct call_shape *call);

/* Launches kernels[0] over global work-items in groups of local, with the arguments (x, x_offset, ldx, weights, bias,
 * y, y_offset, ldy, batch, in_features, out_features, kind, alpha, beta). With splits > 1 its y is the layer's
 * workspace, grown as needed, and kernels[1] (cl/reduce.cl) adds the parts into y. */
clayer_status split_launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                           const struct call_shape *call, const struct call_memory *memory,
                           const struct executable *executable, size_t splits, const size_t global[2],
                           const size_t local[2]);

/* Bytes of workspace that a split needs; 0 without one. false when that overflows. */
bool split_workspace(const struct layer_shape *shape, const struct call_shape *call, size_t splits, size_t *bytes);

/* Builds kernels[0], and kernels[1] when there are splits. */
clayer_status split_prepare(struct opencl_context *context, const struct layer_shape *shape, size_t splits,
                            struct executable *executable);

#endif
