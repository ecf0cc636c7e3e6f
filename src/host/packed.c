#include "host/packed.h"

#include "base/checked.h"

#include <string.h>

/* Rows of W that are read side by side while packing, and elements of each: eight cache lines stay in the first level
 * even when the rows lie a multiple of 4096 bytes apart. */
#define PACK_ROWS 8
#define PACK_COLS 16

size_t packed_panel_width(size_t out_features)
{
    /* What a padded column costs beside one in a panel of 64, in percent: narrow panels load more per multiplication
     * and leave fewer independent sums at small batches. */
    static const struct {
        size_t panel, percent;
    } choices[] = {{64, 100}, {48, 104}, {32, 108}, {16, 126}};
    if (out_features > 64 * 32)
        return 64; /* at most 3 % of padding */
    size_t best = 64, best_cost = SIZE_MAX;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        size_t cost = size_ceil_div(out_features, choices[i].panel) * choices[i].panel * choices[i].percent;
        if (cost < best_cost) {
            best = choices[i].panel;
            best_cost = cost;
        }
    }
    return best;
}

bool packed_bias_elements(const struct packed_shape *shape, size_t *elements)
{
    return size_round_up(shape->out_features, shape->panel, elements);
}

bool packed_elements(const struct packed_shape *shape, size_t *elements)
{
    size_t bytes;
    return packed_bias_elements(shape, elements) && size_mul(*elements, shape->in_features, elements) &&
           size_mul(*elements, sizeof(float), &bytes);
}

/* One panel's first `columns` columns from rows of w with consecutive k: small transposes. */
static void pack_transposed(size_t in_features, size_t panel, size_t columns, const float *w, size_t row_stride,
                            float *dst)
{
    for (size_t k0 = 0; k0 < in_features; k0 += PACK_COLS) {
        size_t depth = in_features - k0 < PACK_COLS ? in_features - k0 : PACK_COLS;
        size_t n0 = 0;
        if (depth == PACK_COLS)
            for (; n0 + PACK_ROWS <= columns; n0 += PACK_ROWS)
                for (size_t k = 0; k < PACK_COLS; k++)
                    for (size_t n = 0; n < PACK_ROWS; n++)
                        dst[(k0 + k) * panel + n0 + n] = w[(n0 + n) * row_stride + k0 + k];
        for (; n0 < columns; n0++)
            for (size_t k = k0; k < k0 + depth; k++)
                dst[k * panel + n0] = w[n0 * row_stride + k];
    }
}

void packed_pack_panels(const struct packed_shape *shape, const float *w, size_t row_stride, size_t col_stride,
                        size_t first, size_t count, float *dst)
{
    size_t in = shape->in_features, panel = shape->panel;
    dst += first * in * panel;
    for (size_t n0 = first * panel; n0 < shape->out_features && count > 0; n0 += panel, dst += in * panel, count--) {
        size_t columns = shape->out_features - n0 < panel ? shape->out_features - n0 : panel;
        if (columns < panel)
            memset(dst, 0, in * panel * sizeof *dst);
        const float *from = w + n0 * row_stride;
        if (row_stride == 1)
            for (size_t k = 0; k < in; k++)
                memcpy(dst + k * panel, from + k * col_stride, columns * sizeof *dst);
        else if (col_stride == 1)
            pack_transposed(in, panel, columns, from, row_stride, dst);
        else
            for (size_t k = 0; k < in; k++)
                for (size_t n = 0; n < columns; n++)
                    dst[k * panel + n] = from[n * row_stride + k * col_stride];
    }
}

void packed_pack(const struct packed_shape *shape, const float *w, size_t row_stride, size_t col_stride, float *dst)
{
    packed_pack_panels(shape, w, row_stride, col_stride, 0, SIZE_MAX, dst);
}

void packed_pack_bias(const struct packed_shape *shape, const float *bias, size_t bias_stride, float *dst)
{
    size_t n = 0;
    if (bias)
        for (; n < shape->out_features; n++)
            dst[n] = bias[n * bias_stride];
    for (; n < shape->out_features || n % shape->panel != 0; n++)
        dst[n] = 0.0f;
}
