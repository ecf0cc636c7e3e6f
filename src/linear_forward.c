/* The public forward calls: they check, resolve where the operands are, and hand over to linear_run. */
#include "linear.h"
#include "base/checked.h"
#include "base/error.h"

#include <string.h>

/* Checks one matrix against its shape and finds its memory. `what` is "x" or "y". */
static clayer_status resolve(const clayer_linear *linear, const char *what, const clayer_matrix *matrix, size_t batch,
                             size_t features, struct operand *operand)
{
    if (matrix->layout != CLAYER_LAYOUT_ROWS && matrix->layout != CLAYER_LAYOUT_COLUMNS)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: layout %d; 0 (rows) and 1 (columns) are accepted", what,
                    (int)matrix->layout);
    const bool columns = matrix->layout == CLAYER_LAYOUT_COLUMNS;
    const size_t rows = columns ? features : batch, length = columns ? batch : features;
    const size_t ld = matrix->ld ? matrix->ld : length;
    if (ld < length)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: leading dimension %zu is below the row length %zu", what, ld,
                    length);
    size_t extent;
    if (!size_matrix(rows, length, ld, &extent) || (extent && !size_add(extent, matrix->offset, &extent)) ||
        extent > SIZE_MAX / sizeof(float) / 2)
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%s: %zu x %zu with leading dimension %zu overflows", what, rows, length,
                    ld);
    *operand = (struct operand){.offset = matrix->offset, .ld = ld, .columns = columns};
    if (matrix->data) {
        operand->host = matrix->data;
        operand->staged = linear->context->opencl != NULL;
    } else if (matrix->buffer) {
        if (matrix->buffer->context != linear->context)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: the buffer belongs to another context", what);
        if (extent > matrix->buffer->count)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                        "%s: %zu x %zu with leading dimension %zu at offset %zu needs %zu elements, the buffer has %zu",
                        what, rows, length, ld, matrix->offset, extent, matrix->buffer->count);
        operand->buffer = &matrix->buffer->area;
        operand->host = matrix->buffer->area.host;
    } else if (extent) {
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: neither data nor buffer is given for %zu x %zu elements", what,
                    rows, length);
    }
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

static clayer_status refuse_overlap(const clayer_linear *linear, size_t batch, const clayer_matrix *x,
                                    const clayer_matrix *y, const struct operand *in, const struct operand *out)
{
    uintptr_t a, b;
    if (x->data && y->data) {
        a = (uintptr_t)x->data / sizeof(float) + x->offset;
        b = (uintptr_t)y->data / sizeof(float) + y->offset;
    } else if (!x->data && !y->data && x->buffer == y->buffer) {
        a = x->offset;
        b = y->offset;
    } else {
        return CLAYER_OK;
    }
    const size_t k = linear->shape.in_features, n = linear->shape.out_features;
    if (overlap(a, in->columns ? k : batch, in->columns ? batch : k, in->ld, b, out->columns ? n : batch,
                out->columns ? batch : n, out->ld))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "x and y overlap");
    return CLAYER_OK;
}

clayer_status clayer_linear_forward_matrix(clayer_linear *linear, size_t batch, const clayer_matrix *x,
                                           const clayer_matrix *y)
{
    static const struct call_memory no_events;
    REQUIRE(linear != NULL && x != NULL && y != NULL);
    struct operand in, out;
    TRY(resolve(linear, "x", x, batch, linear->shape.in_features, &in));
    TRY(resolve(linear, "y", y, batch, linear->shape.out_features, &out));
    if (batch == 0 || linear->shape.out_features == 0)
        return CLAYER_OK;
    TRY(refuse_overlap(linear, batch, x, y, &in, &out));
    if (linear->shape.in_features == 0) {
        /* x is empty and never read, but kernels want an address and a legal leading dimension. */
        in = (struct operand){.buffer = &linear->memory.bias,
                              .host = (float *)linear->memory.host_bias,
                              .ld = in.columns ? batch : 1,
                              .columns = in.columns};
    }
    return linear_run(linear, batch, batch, &in, &out, RUN_ANYWHERE, &no_events);
}

clayer_status clayer_linear_forward(clayer_linear *linear, size_t batch, const float *x, size_t ldx, float *y,
                                    size_t ldy)
{
    REQUIRE(linear != NULL);
    REQUIRE(ldx >= linear->shape.in_features && ldy >= linear->shape.out_features);
    REQUIRE(x != NULL || batch == 0 || linear->shape.in_features == 0);
    REQUIRE(y != NULL || batch == 0 || linear->shape.out_features == 0);
    return clayer_linear_forward_matrix(linear, batch, &(clayer_matrix){.data = (float *)x, .ld = ldx},
                                        &(clayer_matrix){.data = y, .ld = ldy});
}

clayer_status linear_prepare(clayer_linear *linear, size_t batch, enum where where)
{
    if (batch == 0 || linear->shape.out_features == 0)
        return CLAYER_OK;
    struct planned planned;
    struct call_shape call = {.batch = batch,
                              .ldx = linear->shape.in_features,
                              .ldy = linear->shape.out_features,
                              .host = where != RUN_ON_DEVICE};
    TRY(linear_plan(linear, &call, true, &planned));
    /* A call on buffers with work pending does not run on the calling thread: ready its plan too. */
    if (where == RUN_ANYWHERE && planned.plan.family == &family_host && linear->context->opencl &&
        !linear->request.family) {
        call.host = false;
        TRY(linear_plan(linear, &call, true, &planned));
    }
    return CLAYER_OK;
}

clayer_status clayer_linear_prepare(clayer_linear *linear, size_t batch)
{
    REQUIRE(linear != NULL);
    return linear_prepare(linear, batch, RUN_ANYWHERE);
}
