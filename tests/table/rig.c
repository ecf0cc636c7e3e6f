#include "table/rig.h"
#include "base/checked.h"
#include "base/error.h"
#include "host/linear.h"
#include "host/packed.h"
#include "support/guarded.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAP 12345.0f /* what stands around y's elements, and must stay */
#define TAIL 33      /* elements of a guard zone behind an operand in a buffer */
/* Elements by which buffers are aligned: kernels may rely on the device's CL_DEVICE_MEM_BASE_ADDR_ALIGN. */
#define ALIGNED 32

/* A buffer around host memory that ends at an unreadable page. */
static struct opencl_buffer edge_buffer(const clayer_context *context, float *memory, size_t count)
{
    struct opencl_buffer buffer = {.host = memory, .bytes = count * sizeof(float)};
    if (!context->opencl || count == 0)
        return buffer;
    cl_int code;
    buffer.memory = context->opencl->api->clCreateBuffer(
        context->opencl->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, buffer.bytes, memory, &code);
    cr_assert_eq(code, CL_SUCCESS, "clCreateBuffer with CL_MEM_USE_HOST_PTR: %d", code);
    return buffer;
}

static void edge_release(const clayer_context *context, struct opencl_buffer *buffer)
{
    if (buffer->memory)
        context->opencl->api->clReleaseMemObject(buffer->memory);
    buffer->memory = NULL;
}

bool rig_places(const clayer_context *context, const struct family *family, enum place place)
{
    const bool shared = !context->opencl || context->opencl->shared_memory;
    if (place == PLACE_HOST)
        return true;
    if (family == &family_host)
        return shared;
    return place == PLACE_BUFFER || shared;
}

/* Copies of weights, bias and plain weights that end at unreadable pages take the place of the layer's own. */
static void guard_weights(struct rig *rig)
{
    struct layer_memory *m = &rig->layer->memory;
    const struct layer_shape *shape = &rig->layer->shape;
    rig->own = *m;
    if (rig->context->opencl && !rig->context->opencl->shared_memory)
        return;
    const struct packed_shape packed = {shape->in_features, shape->out_features, shape->panel};
    size_t weights, bias;
    cr_assert(packed_elements(&packed, &weights) && packed_bias_elements(&packed, &bias));
    const struct {
        struct opencl_buffer *buffer;
        const float *from;
        size_t count;
        const float **host;
    } parts[] = {{&m->weights, m->host_weights, weights, &m->host_weights},
                 {&m->bias, m->host_bias, bias, &m->host_bias},
                 {&m->plain, m->plain.host, shape->plain ? shape->in_features * shape->out_features : 0, NULL}};
    for (size_t i = 0; i < 3; i++) {
        if (!parts[i].from || !parts[i].count)
            continue;
        const size_t padded = (parts[i].count + ALIGNED - 1) / ALIGNED * ALIGNED;
        float *guarded = guarded_floats(padded);
        for (size_t e = parts[i].count; e < padded; e++)
            guarded[e] = NAN;
        memcpy(guarded, parts[i].from, parts[i].count * sizeof(float));
        *parts[i].buffer = edge_buffer(rig->context, guarded, padded);
        if (parts[i].host)
            *parts[i].host = guarded;
    }
}

/* Checks that nothing has changed the weights, and puts the layer's own memory back. */
static void unguard_weights(struct rig *rig)
{
    struct layer_memory *m = &rig->layer->memory;
    if (!rig->context->opencl || rig->context->opencl->shared_memory) {
        const struct packed_shape packed = {rig->problem->in, rig->problem->out, rig->layer->shape.panel};
        size_t weights, bias;
        cr_assert(packed_elements(&packed, &weights) && packed_bias_elements(&packed, &bias));
        const struct {
            struct opencl_buffer *buffer;
            const float *own;
            size_t count;
        } parts[] = {{&m->weights, rig->own.host_weights, weights},
                     {&m->bias, rig->own.host_bias, bias},
                     {&m->plain, rig->own.plain.host, rig->problem->in * rig->problem->out}};
        for (size_t i = 0; i < 3; i++) {
            if (!parts[i].own || !parts[i].buffer->host || parts[i].buffer->host == parts[i].own)
                continue;
            cr_assert(memcmp(parts[i].buffer->host, parts[i].own, parts[i].count * sizeof(float)) == 0,
                      "%s changed its weights", rig->family ? rig->family->name : "automatic");
            edge_release(rig->context, parts[i].buffer);
            guarded_free(parts[i].buffer->host, parts[i].buffer->bytes / sizeof(float));
        }
        rig->own.workspace = m->workspace;
        *m = rig->own;
    }
}

/* Oclgrind 21.10 takes what clEnqueueWriteBufferRect wrote for uninitialised (a program of one kernel shows it), which
 * would drown real findings. Only operands in host memory that are not tight are copied so. */
static bool blind_to_rectangles(const clayer_context *context)
{
    return context->info.type == CLAYER_DEVICE_SIMULATOR;
}

struct rig rig_make(clayer_context *context, const struct problem *p, const struct family *family,
                    struct activation activation, bool run_time, bool in_out, size_t pad)
{
    const size_t rows = in_out ? p->in : p->out, length = in_out ? p->out : p->in,
                 ld = length + (blind_to_rectangles(context) ? 0 : pad);
    size_t count;
    cr_assert(size_matrix(rows, length, ld, &count));
    float *w = guarded_floats(count);
    for (size_t i = 0; i < count; i++)
        w[i] = NAN;
    for (size_t n = 0; n < p->out; n++)
        for (size_t k = 0; k < p->in; k++)
            w[in_out ? k * ld + n : n * ld + k] = p->w[n * p->in + k];
    struct rig rig = {.context = context, .problem = p, .family = family};
    rig.result = malloc((p->batch * p->out + 1) * sizeof *rig.result);
    const clayer_status status = clayer_linear_create(
        context,
        &(clayer_linear_params){.in_features = p->in,
                                .out_features = p->out,
                                .weight = w,
                                .ldw = ld,
                                .weight_layout = in_out ? CLAYER_WEIGHT_IN_OUT : CLAYER_WEIGHT_OUT_IN,
                                .bias = p->bias,
                                .activation = activation.kind,
                                .activation_alpha = activation.alpha,
                                .activation_beta = activation.beta,
                                .plan = family ? family->name : NULL},
        &rig.layer);
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    guarded_free(w, count);
    rig.layer->shape.any_activation = run_time;
    guard_weights(&rig);
    return rig;
}

void rig_free(struct rig *rig)
{
    cr_assert_eq(clayer_context_finish(rig->context), CLAYER_OK, "%s", clayer_last_error());
    unguard_weights(rig);
    clayer_linear_destroy(&rig->layer);
    free(rig->result);
}

void rig_configure(struct rig *rig, const struct configuration *configuration)
{
    family_print(rig->family, configuration, rig->layer->request.configuration,
                 sizeof rig->layer->request.configuration);
    rig->layer->plan_count = 0;
}

/* An operand of one call in memory. */
struct area {
    clayer_matrix matrix;
    size_t rows, cols; /* batch, features */
    size_t count;      /* elements in view, guard zones included */
    float *view;       /* what the calling thread sees of it; of a buffer, a copy */
    struct clayer_buffer edge;
    clayer_buffer *buffer;
};

static size_t element(const struct area *a, size_t m, size_t f)
{
    return a->matrix.offset + (a->matrix.layout == CLAYER_LAYOUT_COLUMNS ? f * a->matrix.ld + m : m * a->matrix.ld + f);
}

static struct area area_make(clayer_context *context, const struct operand_case *operand, size_t batch, size_t features)
{
    struct area a = {.rows = batch, .cols = features};
    const size_t stored_rows = operand->columns ? features : batch, length = operand->columns ? batch : features;
    size_t extent;
    a.matrix.ld = length + operand->pad;
    a.matrix.offset = operand->offset;
    a.matrix.layout = operand->columns ? CLAYER_LAYOUT_COLUMNS : CLAYER_LAYOUT_ROWS;
    cr_assert(size_matrix(stored_rows, length, a.matrix.ld, &extent));
    a.count = operand->offset + extent + (operand->place == PLACE_BUFFER ? TAIL : 0);
    if (operand->place == PLACE_EDGE && a.count % ALIGNED) {
        const size_t lead = ALIGNED - a.count % ALIGNED;
        a.count += lead;
        a.matrix.offset += lead;
    }
    if (operand->place == PLACE_BUFFER) {
        cr_assert_eq(clayer_buffer_create(context, a.count, &a.buffer), CLAYER_OK, "%s", clayer_last_error());
        a.view = malloc((a.count + 1) * sizeof *a.view);
        a.matrix.buffer = a.buffer;
    } else {
        a.view = guarded_floats(a.count);
        if (operand->place == PLACE_EDGE) {
            a.edge = (struct clayer_buffer){
                .context = context, .count = a.count, .area = edge_buffer(context, a.view, a.count)};
        } else {
            a.matrix.data = a.view;
        }
    }
    return a;
}

static void area_upload(struct area *a)
{
    if (a->edge.context)
        a->matrix.buffer = &a->edge; /* here, because the struct has moved since it was made */
    if (a->buffer)
        cr_assert_eq(clayer_buffer_write(a->buffer, 0, a->view, a->count), CLAYER_OK, "%s", clayer_last_error());
}

static void area_fetch(struct area *a)
{
    if (a->buffer)
        cr_assert_eq(clayer_buffer_read(a->buffer, 0, a->view, a->count), CLAYER_OK, "%s", clayer_last_error());
}

static void area_free(clayer_context *context, struct area *a)
{
    if (a->buffer) {
        clayer_buffer_destroy(&a->buffer);
        free(a->view);
        return;
    }
    edge_release(context, &a->edge.area);
    guarded_free(a->view, a->count);
}

/* The whole case in words, for a failure. */
static const char *describe(const struct rig *rig, const struct call_case *call, size_t batch)
{
    static char text[400];
    static const char *const places[] = {"host memory", "buffer", "buffer at a page's end"};
    snprintf(text, sizeof text, "%s:%s %zux%zux%zu%s %s, x: ld+%zu offset %zu %s in %s, y: ld+%zu offset %zu %s in %s",
             rig->family ? rig->family->name : "automatic", rig->layer->request.configuration, batch, rig->problem->in,
             rig->problem->out, rig->problem->bias ? "" : " no bias", clayer_activation_string(call->activation.kind),
             call->x.pad, call->x.offset, call->x.columns ? "columns" : "rows", places[call->x.place], call->y.pad,
             call->y.offset, call->y.columns ? "columns" : "rows", places[call->y.place]);
    return text;
}

/* The case in progress, for a crash: reading beyond an operand is one. */
static char current[400];

static void on_crash(int number)
{
    static const char lead[] = "crashed in ";
    ssize_t ignored = write(STDERR_FILENO, lead, sizeof lead - 1);
    ignored += write(STDERR_FILENO, current, strlen(current));
    ignored += write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

/* Why the forced family cannot do this call, or NULL. */
static const char *refusal(const struct rig *rig, const struct area *x, const struct area *y, size_t batch)
{
    if (!rig->family)
        return NULL;
    const bool staged_x = rig->context->opencl && x->matrix.data, staged_y = rig->context->opencl && y->matrix.data;
    const struct call_shape call = {.batch = batch,
                                    .ldx = staged_x ? (x->matrix.layout ? batch : x->cols) : x->matrix.ld,
                                    .ldy = staged_y ? (y->matrix.layout ? batch : y->cols) : y->matrix.ld,
                                    .x_offset = staged_x ? 0 : x->matrix.offset,
                                    .y_offset = staged_y ? 0 : y->matrix.offset,
                                    .x_columns = x->matrix.layout == CLAYER_LAYOUT_COLUMNS,
                                    .y_columns = y->matrix.layout == CLAYER_LAYOUT_COLUMNS,
                                    .host = (x->matrix.data || x->matrix.buffer->area.host) &&
                                            (y->matrix.data || y->matrix.buffer->area.host)};
    struct configuration c = {{0}};
    rig->family->suggest(&rig->context->target, &rig->layer->shape, &call, &c);
    cr_assert_eq(family_parse(rig->family, rig->layer->request.configuration, &c), CLAYER_OK);
    return rig->family->refuses(&rig->context->target, &rig->layer->shape, &call, &c);
}

/* Every element of y against the reference, everything around it untouched. */
static void check_y(struct rig *rig, const struct call_case *call, struct area *y, size_t first, size_t batch)
{
    const struct problem *p = rig->problem;
    const bool denormals = rig->family == &family_host || rig->context->info.denormals == 1;
    for (size_t m = 0; m < batch; m++)
        for (size_t n = 0; n < p->out; n++) {
            float *value = &y->view[element(y, m, n)];
            const double z = p->z[(first + m) * p->out + n], s = p->s[(first + m) * p->out + n];
            const double ref = activation_reference(&call->activation, z);
            if (!host_linear_agrees(*value, ref, s, p->in, &call->activation, denormals))
                cr_assert_fail("%s: y(%zu, %zu) is %.9g (%a), not %.9g within %.3g, from z = %.9g",
                               describe(rig, call, batch), m, n, *value, *value, ref,
                               host_linear_bound(p->in, s, ref, &call->activation, denormals), z);
            rig->result[m * p->out + n] = *value;
            *value = GAP;
        }
    for (size_t i = 0; i < y->count; i++)
        if (y->view[i] != GAP)
            cr_assert_fail("%s: element %zu around y became %g", describe(rig, call, batch), i, y->view[i]);
}

static void check_untouched(const struct rig *rig, const struct call_case *call, const struct area *y, size_t batch)
{
    for (size_t i = 0; i < y->count; i++)
        if (!isnan(y->view[i]) && y->view[i] != GAP)
            cr_assert_fail("%s: refused, yet element %zu of y became %g", describe(rig, call, batch), i, y->view[i]);
}

/* That the plan which ran is the forced one. */
static void check_plan(const struct rig *rig, const struct call_case *call, size_t batch)
{
    clayer_plan_info plan;
    cr_assert_eq(clayer_linear_last_plan(rig->layer, &plan), CLAYER_OK);
    cr_assert_str_eq(plan.family, rig->family->name, "%s: %s ran", describe(rig, call, batch), plan.family);
    cr_assert_str_eq(plan.origin, "forced");
    if (*rig->layer->request.configuration)
        cr_assert_str_eq(plan.configuration, rig->layer->request.configuration);
}

void rig_run(struct rig *rig, const struct call_case *call, size_t first, size_t batch)
{
    const struct problem *p = rig->problem;
    struct area x = area_make(rig->context, &call->x, batch, p->in);
    struct area y = area_make(rig->context, &call->y, batch, p->out);
    for (size_t i = 0; i < x.count; i++)
        x.view[i] = NAN;
    for (size_t m = 0; m < batch; m++)
        for (size_t k = 0; k < p->in; k++)
            x.view[element(&x, m, k)] = p->x[(first + m) * p->in + k];
    for (size_t i = 0; i < y.count; i++)
        y.view[i] = GAP;
    for (size_t m = 0; m < batch; m++)
        for (size_t n = 0; n < p->out; n++)
            y.view[element(&y, m, n)] = NAN;
    float *before = malloc((x.count + 1) * sizeof *before);
    memcpy(before, x.view, x.count * sizeof *before);
    area_upload(&x);
    area_upload(&y);

    snprintf(current, sizeof current, "%s", describe(rig, call, batch));
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    rig->layer->shape.activation = call->activation;
    const char *reason = batch && p->in && p->out ? refusal(rig, &x, &y, batch) : NULL;
    const clayer_status status = clayer_linear_forward_matrix(rig->layer, batch, &x.matrix, &y.matrix);
    if (reason) {
        cr_assert_eq(status, CLAYER_ERROR_UNSUPPORTED, "%s: %s", describe(rig, call, batch),
                     clayer_status_string(status));
        cr_assert(strstr(clayer_last_error(), reason), "\"%s\" does not say \"%s\"", clayer_last_error(), reason);
    } else {
        cr_assert_eq(status, CLAYER_OK, "%s: %s", describe(rig, call, batch), clayer_last_error());
    }
    cr_assert_eq(clayer_context_finish(rig->context), CLAYER_OK, "%s", clayer_last_error());
    area_fetch(&y);
    if (reason) {
        check_untouched(rig, call, &y, batch);
        rig->refused++;
    } else {
        check_y(rig, call, &y, first, batch);
        if (rig->family && batch && p->out && p->in)
            check_plan(rig, call, batch);
        rig->cases++;
    }
    area_fetch(&x);
    cr_assert(memcmp(before, x.view, x.count * sizeof *before) == 0, "%s: x changed", describe(rig, call, batch));
    free(before);
    area_free(rig->context, &x);
    area_free(rig->context, &y);
}

static struct operand_case random_operand(const clayer_context *context, const struct family *family,
                                          struct random *random)
{
    static const size_t pads[] = {0, 0, 1, 2, 3, 4, 8, 13}, offsets[] = {0, 0, 1, 2, 3, 4, 7, 16};
    struct operand_case operand = {.pad = pads[random_below(random, 8)],
                                   .offset = offsets[random_below(random, 8)],
                                   .columns = random_below(random, 6) == 0,
                                   .place = (enum place)random_below(random, 3)};
    if (!rig_places(context, family, operand.place))
        operand.place = PLACE_HOST;
    if (operand.place == PLACE_HOST && blind_to_rectangles(context))
        operand.pad = 0;
    return operand;
}

struct call_case rig_random_call(const clayer_context *context, const struct family *family,
                                 struct activation activation, struct random *random)
{
    return (struct call_case){random_operand(context, family, random), random_operand(context, family, random),
                              activation};
}
