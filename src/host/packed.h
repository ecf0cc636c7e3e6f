/* The packed weight layout that every family of a layer shares.
 *
 * W has out_features x in_features elements. They are stored as ceil(out_features / panel) panels, each in_features
 * rows of `panel` floats: element (n, k) lies at ((n / panel) * in_features + k) * panel + n % panel. Columns beyond
 * out_features are 0. The bias is padded with zeros to the same number of columns. Both start on 64 bytes. */
#ifndef HOST_PACKED_H
#define HOST_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#define PACKED_ALIGNMENT 64 /* bytes */
#define PACKED_PANEL_MAX 64

struct packed_shape {
    size_t in_features, out_features, panel; /* panel is 16, 32, 48 or 64 */
};

/* The panel width for so many outputs: 64, unless a narrower one wastes clearly less on padding. */
size_t packed_panel_width(size_t out_features);

/* Floats in the packed weights, and in the padded bias. false when the number overflows. */
bool packed_elements(const struct packed_shape *shape, size_t *elements);
bool packed_bias_elements(const struct packed_shape *shape, size_t *elements);

/* Packs weights whose element (n, k) lies at w[n * row_stride + k * col_stride]: (out, in) has strides (ldw, 1), and
 * (in, out) has (1, ldw). dst holds packed_elements floats. */
void packed_pack(const struct packed_shape *shape, const float *w, size_t row_stride, size_t col_stride, float *dst);

/* The same for `count` panels from the first-th on, as far as there are so many; several threads may pack different
 * panels of one dst. */
void packed_pack_panels(const struct packed_shape *shape, const float *w, size_t row_stride, size_t col_stride,
                        size_t first, size_t count, float *dst);

/* Packs out_features values, bias_stride apart; all zeros where bias is NULL. */
void packed_pack_bias(const struct packed_shape *shape, const float *bias, size_t bias_stride, float *dst);

#endif
