/* The public forward calls: they check, resolve where the operands are, and hand over to linear_run. */
#include "linear.h"
#include "base/error.h"

#include <stdint.h>

/* Checks one matrix against its shape and finds its memory. `what` is "x" or "y". */
static clayer_status resolve(const clayer_linear *linear, const char *what, const clayer_matrix *matrix, size_t batch,
                             size_t features, struct operand *operand)
{
    size_t extent;
    TRY(operand_check(what, matrix->layout, matrix->ld, matrix->offset, batch, features, operand, &extent));
    if (matrix->data) {
        operand->host = matrix->data;
        operand->staged = linear->context->opencl != NULL;
    } else if (matrix->buffer) {
        if (matrix->buffer->context != linear->context)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: the buffer belongs to another context", what);
        TRY(operand_fits(what, operand, batch, features, extent, matrix->buffer->count));
        operand->buffer = &matrix->buffer->area;
        operand->host = matrix->buffer->area.host;
    } else if (extent) {
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: neither data nor buffer is given for %zu x %zu elements", what,
                    batch, features);
    }
    return CLAYER_OK;
}

static clayer_status refuse_overlap(const clayer_linear *linear, size_t batch, const clayer_matrix *x,
                                    const clayer_matrix *y, const struct operand *in, const struct operand *out)
{
    const size_t k = linear->shape.in_features, n = linear->shape.out_features;
    if (x->data && y->data)
        return operands_apart(batch, k, (uintptr_t)x->data / sizeof(float), in, n, (uintptr_t)y->data / sizeof(float),
                              out);
    if (!x->data && !y->data && x->buffer == y->buffer)
        return operands_apart(batch, k, 0, in, n, 0, out);
    return CLAYER_OK;
}

clayer_status clayer_linear_forward_matrix(clayer_linear *linear, size_t batch, const clayer_matrix *x,
                                           const clayer_matrix *y)
{
    REQUIRE(linear != NULL && x != NULL && y != NULL);
    struct operand in, out;
    TRY(resolve(linear, "x", x, batch, linear->shape.in_features, &in));
    TRY(resolve(linear, "y", y, batch, linear->shape.out_features, &out));
    if (batch == 0 || linear->shape.out_features == 0)
        return CLAYER_OK;
    TRY(refuse_overlap(linear, batch, x, y, &in, &out));
    if (linear->shape.in_features == 0)
        operand_empty_x(linear, batch, &in);
    return linear_run(linear, batch, batch, &in, &out, RUN_ANYWHERE, NULL);
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
