/* How one forward call runs: a plan found or made, operands brought to the device where they are not, kernels enqueued.
 */
#include "linear.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/log.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

/* Plans are kept by what predicates and rules of thumb look at; offsets count by their alignment. */
#define ALIGNMENT_ELEMENTS 16

/* A launch on a device with a watchdog should take no longer than this (s); graphics drivers kill at 2 s. */
#define LAUNCH_SECONDS 0.3
/* A pessimistic rate: FLOP per clock and compute unit. */
#define SLOW_FLOPS_PER_CLOCK 8.0

double linear_flops(const clayer_linear *linear, size_t batch)
{
    return 2.0 * (double)batch * (double)linear->shape.in_features * (double)linear->shape.out_features;
}

static struct call_shape key_of(const struct call_shape *call)
{
    struct call_shape key;
    memset(&key, 0, sizeof key); /* padding too: keys are compared as bytes */
    key.batch = call->batch;
    key.ldx = call->ldx;
    key.ldy = call->ldy;
    key.x_offset = call->x_offset % ALIGNMENT_ELEMENTS;
    key.y_offset = call->y_offset % ALIGNMENT_ELEMENTS;
    key.x_columns = call->x_columns;
    key.y_columns = call->y_columns;
    key.host = call->host;
    key.staged_bytes = call->staged_bytes;
    return key;
}

static const struct planned *find_plan(clayer_linear *linear, const struct call_shape *key,
                                       const struct call_shape *call)
{
    const size_t count = linear->plan_count < LINEAR_PLANS ? linear->plan_count : LINEAR_PLANS;
    for (size_t i = 0; i < count; i++) {
        struct planned *p = &linear->plans[i];
        if (memcmp(&p->call, key, sizeof *key) != 0)
            continue;
        /* The key holds offsets by alignment only; a family may also care how large they are. */
        if (p->plan.family->refuses(&linear->context->target, &linear->shape, call, &p->plan.configuration))
            continue;
        linear->last = i;
        return p;
    }
    return NULL;
}

static void log_plan(const clayer_linear *linear, const struct call_shape *call, const struct plan *plan)
{
    char configuration[FAMILY_MAX_TEXT], origin[64];
    family_print(plan->family, &plan->configuration, configuration, sizeof configuration);
    plan_origin_print(plan, origin, sizeof origin);
    log_write(CLAYER_LOG_INFO, "plan %zux%zux%zu on %s: %s%s%s, %s (%s), weights in panels of %zu", call->batch,
              linear->shape.in_features, linear->shape.out_features, linear->context->info.name, plan->family->name,
              *configuration ? ":" : "", configuration, origin, plan->reason, linear->shape.panel);
}

/* Whether another call of this batch, with other strides or other memory, has the same plan: it was told then. */
static bool told(const clayer_linear *linear, const struct planned *planned)
{
    const size_t count = linear->plan_count < LINEAR_PLANS ? linear->plan_count : LINEAR_PLANS;
    for (size_t i = 0; i < count; i++) {
        const struct planned *p = &linear->plans[i];
        if (p->call.batch == planned->call.batch && p->plan.family == planned->plan.family &&
            p->plan.origin == planned->plan.origin &&
            memcmp(&p->plan.configuration, &planned->plan.configuration, sizeof p->plan.configuration) == 0)
            return true;
    }
    return false;
}

/* Takes over the configuration that a larger batch runs with. A measured plan stays. */
static void share_plan(const clayer_linear *linear, const struct call_shape *call, struct plan *plan)
{
    const size_t count = linear->plan_count < LINEAR_PLANS ? linear->plan_count : LINEAR_PLANS;
    for (size_t i = 0; i < count && plan->origin != PLAN_RECORD; i++) {
        const struct planned *p = &linear->plans[i];
        if (p->plan.family == plan->family && p->call.batch > call->batch && p->plan.origin == plan->origin &&
            !plan->family->refuses(&linear->context->target, &linear->shape, call, &p->plan.configuration)) {
            plan->configuration = p->plan.configuration;
            return;
        }
    }
}

/* Chooses a plan and builds its kernels. An automatic plan whose kernels a driver cannot build gives way to the next;
 * when none is left, the failure is the last build's. */
static clayer_status make_plan(clayer_linear *linear, const struct call_shape *call, bool own, struct planned *planned)
{
    clayer_context *c = linear->context;
    struct store *store = linear->request.family ? NULL : context_store(c);
    unsigned excluded = 0;
    clayer_status failure = CLAYER_OK;
    char why[512] = "";
    for (;;) {
        const clayer_status chosen =
            plan_choose(&c->target, store, &linear->shape, call, &linear->request, excluded, &planned->plan);
        if (chosen != CLAYER_OK && excluded)
            return FAIL(failure == CLAYER_ERROR_OUT_OF_MEMORY ? failure : CLAYER_ERROR_BUILD,
                        "no kernel for %zux%zux%zu could be built on %s: %s", call->batch, linear->shape.in_features,
                        linear->shape.out_features, c->info.name, why);
        TRY(chosen);
        const struct family *family = planned->plan.family;
        if (!own)
            share_plan(linear, call, &planned->plan);
        planned->executable = (struct executable){.family = family, .configuration = planned->plan.configuration};
        const clayer_status status = family->prepare(c->opencl, &linear->shape, &planned->executable);
        if (status == CLAYER_OK || planned->plan.origin == PLAN_FORCED || status == CLAYER_ERROR_FORKED)
            return status;
        failure = status;
        snprintf(why, sizeof why, "%s", clayer_last_error());
        /* Another configuration of the family may build; a record is not to blame for a lack of memory. */
        if (planned->plan.record && status != CLAYER_ERROR_OUT_OF_MEMORY) {
            store_reject(store, planned->plan.record, why);
            continue;
        }
        log_write(CLAYER_LOG_WARN, "family %s is passed over on %s: %s", family->name, c->info.name, why);
        excluded |= plan_bit(family);
    }
}

clayer_status linear_plan(clayer_linear *linear, const struct call_shape *call, bool own, struct planned *planned)
{
    const struct call_shape key = key_of(call);
    clayer_status status = CLAYER_OK;
    pthread_mutex_lock(&linear->plans_lock);
    const struct planned *found = find_plan(linear, &key, call);
    if (found) {
        *planned = *found;
    } else {
        memset(planned, 0, sizeof *planned);
        planned->call = key;
        status = make_plan(linear, call, own, planned);
        if (status == CLAYER_OK) {
            if (!told(linear, planned))
                log_plan(linear, call, &planned->plan);
            linear->last = linear->plan_count++ % LINEAR_PLANS;
            linear->plans[linear->last] = *planned;
        }
    }
    pthread_mutex_unlock(&linear->plans_lock);
    return status;
}

clayer_status linear_force(clayer_linear *linear, const char *plan)
{
    struct plan_request request;
    TRY(plan_parse(plan, &request));
    pthread_mutex_lock(&linear->plans_lock);
    linear->request = request;
    linear->plan_count = 0;
    pthread_mutex_unlock(&linear->plans_lock);
    return CLAYER_OK;
}

/* Rows that one launch may take on this device. */
static size_t rows_per_launch(const clayer_linear *linear)
{
    const clayer_device_info *info = &linear->context->info;
    if (info->type != CLAYER_DEVICE_GPU && info->type != CLAYER_DEVICE_ACCELERATOR)
        return SIZE_MAX;
    const double rate = (double)opencl_limit(info->compute_units, 1) * (double)opencl_limit(info->clock_mhz, 200) *
                        1e6 * SLOW_FLOPS_PER_CLOCK;
    const double rows = LAUNCH_SECONDS * rate / (linear_flops(linear, 1) + 1);
    return rows < 256 ? 256 : rows > 1e9 ? SIZE_MAX : (size_t)rows / 256 * 256;
}

/* Enqueues one call in as many launches as the device's watchdog wants; the context's lock is held. */
static clayer_status launch(clayer_linear *linear, const struct planned *planned, const struct call_shape *call,
                            const struct call_memory *memory)
{
    struct opencl_context *context = linear->context->opencl;
    const size_t rows = rows_per_launch(linear);
    if (call->batch <= rows)
        return planned->plan.family->launch(context, &linear->shape, &linear->memory, call, memory,
                                            &planned->executable);
    struct opencl_chain chain;
    clayer_status status = CLAYER_OK;
    TRY(opencl_chain_begin(&chain, context, NULL, memory->wait_count, memory->wait_list, memory->event));
    for (size_t done = 0; done < call->batch && status == CLAYER_OK;) {
        struct call_shape part = *call;
        struct call_memory step = *memory;
        part.batch = call->batch - done < rows ? call->batch - done : rows;
        part.x_offset += done * (call->x_columns ? 1 : call->ldx);
        part.y_offset += done * (call->y_columns ? 1 : call->ldy);
        done += part.batch;
        opencl_chain_step(&chain, done == call->batch, &step.wait_count, &step.wait_list, &step.event);
        status =
            planned->plan.family->launch(context, &linear->shape, &linear->memory, &part, &step, &planned->executable);
        if (status == CLAYER_OK)
            opencl_chain_stepped(&chain);
    }
    return opencl_chain_end(&chain, status);
}

/* The same after every earlier call of this kind on the context, whatever its queue: callers without events count on
 * the order of their calls. */
static clayer_status launch_in_order(clayer_linear *linear, const struct planned *planned,
                                     const struct call_shape *call, const struct call_memory *memory)
{
    struct opencl_chain chain;
    struct call_memory step = *memory;
    TRY(opencl_chain_begin(&chain, linear->context->opencl, &linear->context->order, 0, NULL, NULL));
    opencl_chain_step(&chain, true, &step.wait_count, &step.wait_list, &step.event);
    const clayer_status status = launch(linear, planned, call, &step);
    if (status == CLAYER_OK)
        opencl_chain_stepped(&chain);
    return opencl_chain_end(&chain, status);
}

/* Rows and row length of a stored matrix. */
static void stored(bool columns, size_t batch, size_t features, size_t *rows, size_t *length)
{
    *rows = columns ? features : batch;
    *length = columns ? batch : features;
}

/* Runs on the device, with operands in host memory staged: tightly packed copies in the context's staging buffers. */
static clayer_status run_on_device(clayer_linear *linear, const struct planned *planned, struct call_shape *call,
                                   const struct operand *x, const struct operand *y, const struct call_memory *events)
{
    clayer_context *c = linear->context;
    size_t x_rows, x_length, y_rows, y_length;
    stored(x->columns, call->batch, linear->shape.in_features, &x_rows, &x_length);
    stored(y->columns, call->batch, linear->shape.out_features, &y_rows, &y_length);
    struct call_memory memory = {0};
    if (events)
        memory = *events;
    if (x->staged) {
        TRY(context_stage(c, &c->stage_x, x_rows * x_length * sizeof(float)));
        TRY(opencl_buffer_write(c->opencl, &c->stage_x, 0, x->host + x->offset, x->ld * sizeof(float),
                                x_length * sizeof(float), x_rows));
        memory.x = c->stage_x.memory;
    } else {
        memory.x = x->buffer->memory;
    }
    if (y->staged) {
        TRY(context_stage(c, &c->stage_y, y_rows * y_length * sizeof(float)));
        memory.y = c->stage_y.memory;
    } else {
        memory.y = y->buffer->memory;
    }
    TRY(events ? launch(linear, planned, call, &memory) : launch_in_order(linear, planned, call, &memory));
    if (y->staged)
        return opencl_buffer_read(c->opencl, &c->stage_y, 0, y->host + y->offset, y->ld * sizeof(float),
                                  y_length * sizeof(float), y_rows);
    return x->staged ? opencl_finish(c->opencl) : CLAYER_OK;
}

clayer_status linear_run(clayer_linear *linear, size_t batch, size_t plan_batch, const struct operand *x,
                         const struct operand *y, enum where where, const struct call_memory *events)
{
    clayer_context *c = linear->context;
    const bool pending = c->opencl && opencl_pending(c->opencl);
    const bool forced_host = where == RUN_ON_HOST || linear->request.family == &family_host;
    struct call_shape call = {.batch = batch,
                              .ldx = x->ld,
                              .ldy = y->ld,
                              .x_offset = x->offset,
                              .y_offset = y->offset,
                              .x_columns = x->columns,
                              .y_columns = y->columns,
                              .host = x->host && y->host && !(events && (events->event || events->wait_count)) &&
                                      where != RUN_ON_DEVICE && (forced_host || !pending || (x->staged && y->staged))};
    /* What the device would see; the host family takes anything. */
    if (x->staged) {
        call.ldx = x->columns ? batch : linear->shape.in_features;
        call.x_offset = 0;
        call.staged_bytes += plan_batch * linear->shape.in_features * sizeof(float);
    }
    if (y->staged) {
        call.ldy = y->columns ? batch : linear->shape.out_features;
        call.y_offset = 0;
        call.staged_bytes += plan_batch * linear->shape.out_features * sizeof(float);
    }
    struct planned planned;
    call.batch = plan_batch;
    TRY(linear_plan(linear, &call, false, &planned));
    call.batch = batch;
    pthread_rwlock_rdlock(&linear->weights_lock);
    clayer_status status = CLAYER_OK;
    if (planned.plan.family == &family_host) {
        call.ldx = x->ld;
        call.ldy = y->ld;
        call.x_offset = x->offset;
        call.y_offset = y->offset;
        const struct call_memory memory = {.host_x = x->host, .host_y = y->host};
        if (pending && !(x->staged && y->staged))
            status = opencl_finish(c->opencl);
        const double begun = c->profile ? profile_now() : 0;
        if (status == CLAYER_OK)
            status =
                family_host.launch(c->opencl, &linear->shape, &linear->memory, &call, &memory, &planned.executable);
        if (c->profile && status == CLAYER_OK)
            profile_count(linear, batch, profile_now() - begun);
    } else {
        opencl_lock(c->opencl);
        c->opencl->timer = c->profile ? &linear->profile.timer : NULL;
        status = run_on_device(linear, &planned, &call, x, y, events);
        c->opencl->timer = NULL;
        opencl_unlock(c->opencl);
        if (c->profile && status == CLAYER_OK)
            profile_count(linear, batch, 0);
    }
    pthread_rwlock_unlock(&linear->weights_lock);
    return status;
}
