/* What holds for x and y wherever they are: shape, size, overlap. */
#include "base/checked.h"
#include "base/error.h"
#include "linear.h"

clayer_status operand_check(const char *what, clayer_layout layout, size_t ld, size_t offset, size_t batch,
                            size_t features, struct operand *operand, size_t *extent)
{
    if (layout != CLAYER_LAYOUT_ROWS && layout != CLAYER_LAYOUT_COLUMNS)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: layout %d; 0 (rows) and 1 (columns) are accepted", what,
                    (int)layout);
    const bool columns = layout == CLAYER_LAYOUT_COLUMNS;
    const size_t rows = columns ? features : batch, length = columns ? batch : features;
    if (ld == 0)
        ld = length;
    if (ld < length)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: leading dimension %zu is below the row length %zu", what, ld,
                    length);
    if (!size_matrix(rows, length, ld, extent) || (*extent && !size_add(*extent, offset, extent)) ||
        *extent > SIZE_MAX / sizeof(float) / 2)
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%s: %zu x %zu with leading dimension %zu overflows", what, rows, length,
                    ld);
    *operand = (struct operand){.offset = offset, .ld = ld, .columns = columns};
    return CLAYER_OK;
}

clayer_status operand_fits(const char *what, const struct operand *operand, size_t batch, size_t features,
                           size_t extent, size_t count)
{
    if (extent > count)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                    "%s: %zu x %zu with leading dimension %zu at offset %zu needs %zu elements, the buffer has %zu",
                    what, operand->columns ? features : batch, operand->columns ? batch : features, operand->ld,
                    operand->offset, extent, count);
    return CLAYER_OK;
}

/* Whether two matrices of rows x length elements share an element, as far as that can be told: side by side in rows of
 * one leading dimension is fine, any other meeting of their ranges counts as overlap. Addresses in floats. */
static bool overlap(uintptr_t a, size_t a_rows, size_t a_length, size_t a_ld, uintptr_t b, size_t b_rows,
                    size_t b_length, size_t b_ld)
{
    size_t a_extent, b_extent;
    if (!size_matrix(a_rows, a_length, a_ld, &a_extent) || !size_matrix(b_rows, b_length, b_ld, &b_extent))
        return true;
    if (a_extent == 0 || b_extent == 0)
        return false;
    if (a + a_extent <= b || b + b_extent <= a)
        return false;
    if (a_ld != b_ld)
        return true;
    /* Columns of b relative to a, within one row. */
    const size_t shift = b >= a ? (size_t)(b - a) % a_ld : (a_ld - (size_t)(a - b) % a_ld) % a_ld;
    return shift < a_length || shift + b_length > a_ld;
}

clayer_status operands_apart(size_t batch, size_t x_features, uintptr_t x_base, const struct operand *x,
                             size_t y_features, uintptr_t y_base, const struct operand *y)
{
    if (overlap(x_base + x->offset, x->columns ? x_features : batch, x->columns ? batch : x_features, x->ld,
                y_base + y->offset, y->columns ? y_features : batch, y->columns ? batch : y_features, y->ld))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "x and y overlap");
    return CLAYER_OK;
}

void operand_empty_x(const clayer_linear *linear, size_t batch, struct operand *x)
{
    *x = (struct operand){.buffer = &linear->memory.bias,
                          .host = (float *)linear->memory.host_bias,
                          .ld = x->columns ? batch : 1,
                          .columns = x->columns};
}
