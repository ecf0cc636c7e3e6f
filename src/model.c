#include "base/checked.h"
#include "base/error.h"
#include "base/log.h"
#include "linear.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

clayer_status model_allocate(clayer_context *context, size_t count, clayer_model **model)
{
    clayer_model *m = calloc(1, sizeof *m);
    if (!m)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a model");
    pthread_mutex_init(&m->lock, NULL);
    m->context = context_retain(context);
    m->layers = calloc(count, sizeof *m->layers);
    if (!m->layers) {
        clayer_model_destroy(&m);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu layers", count);
    }
    *model = m;
    return CLAYER_OK;
}

clayer_status model_add(clayer_model *model, const clayer_linear_params *params, const char *name)
{
    struct model_layer *layer = &model->layers[model->count];
    if (model->count > 0) {
        const struct layer_shape *before = &model->layers[model->count - 1].linear->shape;
        if (before->out_features != params->in_features)
            return FAIL(CLAYER_ERROR_MISMATCH, "layer %zu takes %zu features, but layer %zu gives %zu", model->count,
                        params->in_features, model->count - 1, before->out_features);
    }
    layer->name = strdup(name);
    if (!layer->name)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a layer's name");
    const clayer_status status = clayer_linear_create(model->context, params, &layer->linear);
    if (status != CLAYER_OK) {
        free(layer->name);
        layer->name = NULL;
        return status;
    }
    model->count++;
    return CLAYER_OK;
}

clayer_status clayer_model_create(clayer_context *context, const clayer_linear_params *layers, size_t count,
                                  clayer_model **model)
{
    REQUIRE(context != NULL && layers != NULL && model != NULL && count > 0);
    clayer_status status;
    clayer_model *m = NULL;
    TRY(model_allocate(context, count, &m));
    for (size_t i = 0; i < count; i++)
        TRY_GOTO(model_add(m, &layers[i], ""));
    *model = m;
    return CLAYER_OK;
fail:
    clayer_model_destroy(&m);
    return status;
}

void clayer_model_destroy(clayer_model **model)
{
    if (!model || !*model)
        return;
    clayer_model *m = *model;
    *model = NULL;
    for (size_t i = 0; i < m->count; i++) {
        clayer_linear_destroy(&m->layers[i].linear);
        free(m->layers[i].name);
    }
    free(m->layers);
    if (m->context->opencl)
        opencl_guard_release(m->context->opencl, &m->between_guard);
    clayer_buffer_destroy(&m->between[0]);
    clayer_buffer_destroy(&m->between[1]);
    pthread_mutex_destroy(&m->lock);
    context_release(m->context);
    free(m);
}

size_t clayer_model_layer_count(const clayer_model *model)
{
    return model ? model->count : 0;
}

clayer_linear *clayer_model_layer(clayer_model *model, size_t index)
{
    return model && index < model->count ? model->layers[index].linear : NULL;
}

const char *clayer_model_layer_name(const clayer_model *model, size_t index)
{
    return model && index < model->count ? model->layers[index].name : "";
}

/* Makes the two buffers between layers large enough for this batch. */
static clayer_status grow(clayer_model *m, size_t batch)
{
    size_t widest = 0, elements;
    for (size_t i = 0; i + 1 < m->count; i++)
        if (m->layers[i].linear->shape.out_features > widest)
            widest = m->layers[i].linear->shape.out_features;
    if (!size_mul(widest, batch, &elements))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "a batch of %zu with %zu features overflows", batch, widest);
    for (size_t i = 0; i < 2 && i + 1 < m->count; i++) {
        if (clayer_buffer_count(m->between[i]) >= elements && m->between[i])
            continue;
        clayer_buffer *larger = NULL;
        TRY(clayer_buffer_create(m->context, elements, &larger));
        clayer_buffer_destroy(&m->between[i]);
        m->between[i] = larger;
    }
    return CLAYER_OK;
}

/* Whether the calling thread reaches all weights and the buffers between. */
static bool host_can_run(const clayer_model *m)
{
    bool can = m->context->opencl->shared_memory;
    for (size_t i = 0; i < m->count; i++)
        can = can && m->layers[i].linear->shape.host;
    return can;
}

/* One side for the whole chain: the calling thread when every layer can run there and the work is small. */
static enum where choose_side(const clayer_model *m, size_t batch)
{
    if (!m->context->opencl)
        return RUN_ANYWHERE;
    double flops = 0, bytes = 0;
    for (size_t i = 0; i < m->count; i++) {
        flops += linear_flops(m->layers[i].linear, batch);
        bytes += linear_flops(m->layers[i].linear, 1) / 2 * sizeof(float);
        if (m->layers[i].linear->request.family)
            return RUN_ANYWHERE;
    }
    const struct layer_shape *first = &m->layers[0].linear->shape, *last = &m->layers[m->count - 1].linear->shape;
    const double staged = (double)batch * ((double)first->in_features + (double)last->out_features) * sizeof(float);
    const bool small = plan_small(&m->context->target, flops, bytes, staged);
    return m->host_only || (host_can_run(m) && small) ? RUN_ON_HOST : RUN_ON_DEVICE;
}

static struct operand between(const clayer_model *m, size_t index, size_t ld)
{
    const clayer_buffer *buffer = m->between[index % 2];
    return (struct operand){.buffer = &buffer->area, .host = buffer->area.host, .ld = ld};
}

static clayer_status run_layers(clayer_model *m, size_t batch, size_t plan_batch, enum where where,
                                const struct operand *x, const struct operand *y, const struct call_memory *events)
{
    struct opencl_context *device = m->context->opencl;
    if (where == RUN_ON_HOST && opencl_pending(device))
        TRY(opencl_finish(device));
    struct opencl_chain chain;
    struct call_memory step = {0};
    clayer_status status = CLAYER_OK;
    if (device)
        TRY(opencl_chain_begin_calls(&chain, device, &m->between_guard, events ? events->wait_count : 0,
                                     events ? events->wait_list : NULL, events ? events->event : NULL));
    for (size_t i = 0; i < m->count && status == CLAYER_OK; i++) {
        clayer_linear *linear = m->layers[i].linear;
        const bool last = i + 1 == m->count;
        const size_t k = linear->shape.in_features, n = linear->shape.out_features;
        struct operand in = i ? between(m, i - 1, k) : *x;
        const struct operand out = last ? *y : between(m, i, n);
        if (n == 0)
            continue;
        if (k == 0)
            operand_empty_x(linear, batch, &in);
        if (device)
            opencl_chain_step(&chain, last, &step.wait_count, &step.wait_list, &step.event);
        status = linear_run(linear, batch, plan_batch, &in, &out, where, &step);
        if (device && status == CLAYER_OK)
            opencl_chain_stepped(&chain);
    }
    return device ? opencl_chain_end(&chain, status) : status;
}

/* Whether a device that builds no kernel leaves the work to the calling thread, from now on. */
static bool falls_back(clayer_model *m, enum where where, clayer_status status)
{
    if (status != CLAYER_ERROR_BUILD || where != RUN_ON_DEVICE || !host_can_run(m))
        return false;
    log_write(CLAYER_LOG_WARN, "%s builds no kernel; the calling thread does this model's work", m->context->info.name);
    m->host_only = true;
    return true;
}

clayer_status model_run(clayer_model *m, size_t batch, const struct operand *x, const struct operand *y,
                        const struct call_memory *events)
{
    TRY(grow(m, batch));
    const size_t plan_batch = batch > m->plan_batch ? batch : m->plan_batch;
    if (events)
        return run_layers(m, batch, plan_batch, RUN_ON_DEVICE, x, y, events);
    const enum where where = choose_side(m, plan_batch);
    const clayer_status status = run_layers(m, batch, plan_batch, where, x, y, NULL);
    return falls_back(m, where, status) ? run_layers(m, batch, plan_batch, RUN_ON_HOST, x, y, NULL) : status;
}

clayer_status clayer_model_forward(clayer_model *model, size_t batch, const float *x, size_t ldx, float *y, size_t ldy)
{
    REQUIRE(model != NULL);
    const size_t in_features = model->layers[0].linear->shape.in_features;
    const size_t out_features = model->layers[model->count - 1].linear->shape.out_features;
    REQUIRE(ldx >= in_features && ldy >= out_features);
    REQUIRE(x != NULL || batch == 0 || in_features == 0);
    REQUIRE(y != NULL || batch == 0 || out_features == 0);
    size_t extent;
    if (!size_matrix(batch, in_features, ldx, &extent) || extent > SIZE_MAX / sizeof(float) ||
        !size_matrix(batch, out_features, ldy, &extent) || extent > SIZE_MAX / sizeof(float))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "a batch of %zu with leading dimensions %zu and %zu overflows", batch, ldx,
                    ldy);
    if (batch == 0 || out_features == 0)
        return CLAYER_OK;
    const bool staged = model->context->opencl != NULL;
    const struct operand in = {.host = (float *)x, .ld = ldx ? ldx : 1, .staged = staged};
    const struct operand out = {.host = y, .ld = ldy, .staged = staged};
    pthread_mutex_lock(&model->lock);
    const clayer_status status = model_run(model, batch, &in, &out, NULL);
    pthread_mutex_unlock(&model->lock);
    return status;
}

clayer_status clayer_model_set_plan_batch(clayer_model *model, size_t batch)
{
    REQUIRE(model != NULL);
    pthread_mutex_lock(&model->lock);
    model->plan_batch = batch;
    pthread_mutex_unlock(&model->lock);
    return CLAYER_OK;
}

clayer_status clayer_model_prepare(clayer_model *model, size_t batch)
{
    REQUIRE(model != NULL);
    pthread_mutex_lock(&model->lock);
    clayer_status status = grow(model, batch);
    if (batch < model->plan_batch)
        batch = model->plan_batch;
    const enum where where = choose_side(model, batch);
    for (size_t i = 0; i < model->count && status == CLAYER_OK; i++)
        status = linear_prepare(model->layers[i].linear, batch, where);
    if (falls_back(model, where, status))
        status = CLAYER_OK;
    pthread_mutex_unlock(&model->lock);
    return status;
}
