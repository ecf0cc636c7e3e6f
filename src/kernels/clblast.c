/* clblast: CLBlast's GEMM, then one kernel for bias and activation (cl/epilogue.cl). Needs a plain copy of W. */
#include "base/checked.h"
#include "base/error.h"
#include "kernels/clblast_library.h"
#include "kernels/family.h"
#include "opencl/timer.h"

#include <limits.h>
#include <stdio.h>

/* The largest tile of CLBlast's kernels; it pads to whole tiles, with int indices. */
#define TILE_MAX 256

/* The smallest work-group that any of its GEMM kernels is tuned to; a device below gets CL_INVALID_WORK_ITEM_SIZE. */
#define GROUP_MIN 64

/* Whether the last index that CLBlast may form in a matrix, rounded up to tiles, fits its int. */
static bool fits_int(size_t rows, size_t cols, size_t ld, size_t offset)
{
    size_t padded_rows, padded_cols, last;
    return size_round_up(rows, TILE_MAX, &padded_rows) && size_round_up(cols, TILE_MAX, &padded_cols) &&
           size_mul(padded_rows, ld > padded_cols ? ld : padded_cols, &last) && size_add(last, padded_cols, &last) &&
           size_add(last, offset, &last) && last <= INT_MAX;
}

static const char *refuses(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           const struct configuration *configuration)
{
    (void)configuration;
    if (!target->context)
        return "it needs an OpenCL device";
    if (!target->clblast)
        return "libclblast.so.1 is not there";
    if (opencl_limit(target->info->max_work_group_size, GROUP_MIN) < GROUP_MIN)
        return "CLBlast's kernels need larger work-groups than the device allows";
    if (!shape->plain)
        return "no plain copy of the weights is kept";
    if (call->batch == 0 || shape->in_features == 0 || shape->out_features == 0)
        return "CLBlast refuses empty shapes";
    if (!fits_int(call->x_columns ? shape->in_features : call->batch,
                  call->x_columns ? call->batch : shape->in_features, call->ldx, call->x_offset) ||
        !fits_int(call->y_columns ? shape->out_features : call->batch,
                  call->y_columns ? call->batch : shape->out_features, call->ldy, call->y_offset) ||
        !fits_int(shape->out_features, shape->in_features, shape->in_features, 0))
        return "an index passes CLBlast's int";
    return NULL;
}

static void suggest(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                    struct configuration *configuration)
{
    (void)target;
    (void)shape;
    (void)call;
    (void)configuration;
}

static clayer_status enqueue_epilogue(struct opencl_context *context, const struct layer_shape *shape,
                                      struct layer_memory *layer, const struct call_shape *call,
                                      const struct call_memory *memory, const struct executable *executable)
{
    cl_ulong y_offset = call->y_offset, y_row, y_col;
    family_strides(call->y_columns, call->ldy, &y_row, &y_col);
    cl_ulong batch = call->batch, out_features = shape->out_features;
    cl_int kind = (cl_int)shape->activation.kind;
    const struct opencl_argument arguments[] = {ARGUMENT(layer->bias.memory),
                                                ARGUMENT(memory->y),
                                                ARGUMENT(y_offset),
                                                ARGUMENT(y_row),
                                                ARGUMENT(y_col),
                                                ARGUMENT(batch),
                                                ARGUMENT(out_features),
                                                ARGUMENT(kind),
                                                ARGUMENT(shape->activation.alpha),
                                                ARGUMENT(shape->activation.beta)};
    size_t local = 64;
    while (local > 1 && (local > executable->kernels[0]->max_work_group || local >= 2 * shape->out_features))
        local /= 2;
    return opencl_launch(context, executable->kernels[0], arguments, sizeof arguments / sizeof *arguments,
                         (const size_t[2]){shape->out_features, call->batch}, (const size_t[2]){local, 1},
                         memory->wait_count, memory->wait_list, memory->event);
}

static clayer_status launch(struct opencl_context *context, const struct layer_shape *shape, struct layer_memory *layer,
                            const struct call_shape *call, const struct call_memory *memory,
                            const struct executable *executable)
{
    const char *why;
    const struct clblast_library *library = clblast_library(&why);
    if (!library)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "%s", why);
    char text[96];
    snprintf(text, sizeof text, "GEMM %zux%zux%zu", call->batch, shape->in_features, shape->out_features);

    /* y as rows is a row-major product; y as columns is the same product in column-major terms. */
    const CLBlastLayout layout = call->y_columns ? CLBlastLayoutColMajor : CLBlastLayoutRowMajor;
    const CLBlastTranspose x_transpose = call->x_columns == call->y_columns ? CLBlastTransposeNo : CLBlastTransposeYes;
    const CLBlastTranspose w_transpose = call->y_columns ? CLBlastTransposeNo : CLBlastTransposeYes;
    const size_t m = call->batch, n = shape->out_features, k = shape->in_features;
    size_t temporary = 0;
    int code = library->temporary_size(layout, x_transpose, w_transpose, m, n, k, call->x_offset, call->ldx, 0, k,
                                       call->y_offset, call->ldy, &context->queue, &temporary);
    if (code != CLBlastSuccess)
        return clblast_fail(code, "CLBlastSGemmTempBufferSize", text);
    if (temporary)
        TRY(family_workspace(context, temporary, layer));

    struct opencl_chain chain;
    struct call_memory step = *memory;
    clayer_status status;
    TRY(opencl_chain_begin(&chain, context, temporary ? &layer->workspace_guard : NULL, memory->wait_count,
                           memory->wait_list, memory->event));
    opencl_chain_step(&chain, false, &step.wait_count, &step.wait_list, &step.event);
    /* CLBlast takes no wait list, so a barrier carries it. */
    if (step.wait_count)
        TRY_GOTO(opencl_barrier(context, step.wait_count, step.wait_list));
    code = library->gemm(layout, x_transpose, w_transpose, m, n, k, 1.0f, memory->x, call->x_offset, call->ldx,
                         layer->plain.memory, 0, k, 0.0f, memory->y, call->y_offset, call->ldy, &context->queue,
                         step.event, temporary ? layer->workspace.memory : NULL);
    opencl_enqueued(context); /* a part of it, perhaps, even where it fails */
    if (code != CLBlastSuccess) {
        status = clblast_fail(code, "CLBlastSgemmWithTempBuffer", text);
        goto fail;
    }
    if (step.event)
        opencl_timer_record(context, *step.event);
    opencl_chain_stepped(&chain);
    opencl_chain_step(&chain, true, &step.wait_count, &step.wait_list, &step.event);
    status = enqueue_epilogue(context, shape, layer, call, &step, executable);
    if (status == CLAYER_OK)
        opencl_chain_stepped(&chain);
fail:
    return opencl_chain_end(&chain, status);
}

bool family_clblast_available(void)
{
    const char *why;
    return clblast_library(&why) != NULL;
}

extern const struct family clblast_family; /* family.c puts it into the table */
const struct family clblast_family = {"clblast", "epilogue", NULL, 0, refuses, suggest, family_build, launch, NULL};
