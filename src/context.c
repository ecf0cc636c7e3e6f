#include "context.h"
#include "device.h"
#include "base/error.h"
#include "base/log.h"
#include "opencl/timer.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

/* An automatic choice must be able to compile. A CPU need not show it here, since a small layer never asks it to, and
 * the calling thread stands in when it cannot. */
static clayer_status open_chosen(const struct device_choice *choice, struct opencl_context **opencl)
{
    TRY(opencl_context_create(choice->opencl, opencl));
    if (!choice->automatic || choice->info.type == CLAYER_DEVICE_CPU)
        return CLAYER_OK;
    clayer_status status = opencl_context_try(*opencl);
    if (status != CLAYER_OK)
        opencl_context_destroy(opencl);
    return status;
}

/* Makes the OpenCL side of a context on the chosen device, or nothing for the host. An automatic choice that fails is
 * replaced by the next best device, at last the host. */
static clayer_status open_device(clayer_context *c, struct device_choice *choice)
{
    for (;;) {
        c->info = choice->info;
        if (!choice->opencl)
            return CLAYER_OK;
        clayer_status status = open_chosen(choice, &c->opencl);
        if (status == CLAYER_OK)
            return CLAYER_OK;
        if (!choice->automatic)
            return status == CLAYER_ERROR_OUT_OF_MEMORY || status == CLAYER_ERROR_FORKED
                       ? status
                       : FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "device %s (%s): %s", c->info.name, c->info.id,
                              clayer_last_error());
        TRY(device_choose_next(choice, clayer_last_error()));
    }
}

clayer_status context_allocate(const char *plan, clayer_context **context)
{
    const bool environment = !plan || !*plan;
    if (environment)
        plan = getenv("CLAYER_PLAN");
    clayer_context *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a context");
    atomic_init(&c->references, 1);
    pthread_mutex_init(&c->store_lock, NULL);
    const clayer_status status = plan_parse(plan, &c->request);
    if (status == CLAYER_OK)
        *context = c;
    else
        context_release(c);
    return status == CLAYER_ERROR_INVALID_ARGUMENT && environment ? FAIL(status, "CLAYER_PLAN: %s", clayer_last_error())
                                                                  : status;
}

void context_complete(clayer_context *c, bool profile)
{
    c->profile = profile;
    if (profile && c->opencl && opencl_profile(c->opencl) != CLAYER_OK) {
        log_write(CLAYER_LOG_WARN, "no profile: %s", clayer_last_error());
        c->profile = false;
    }
    c->target =
        (struct target){.info = &c->info, .context = c->opencl, .clblast = c->opencl && family_clblast_available()};
}

clayer_status clayer_context_create(const clayer_context_params *params, clayer_context **context)
{
    static const clayer_context_params defaults;
    REQUIRE(context != NULL);
    if (!params)
        params = &defaults;
    clayer_status status;
    clayer_context *c = NULL;
    TRY(context_allocate(params->plan, &c));
    struct device_choice choice;
    TRY_GOTO(device_choose(params->device, &choice));
    TRY_GOTO(open_device(c, &choice));
    context_complete(c, params->profile);
    *context = c;
    return CLAYER_OK;
fail:
    context_release(c);
    return status;
}

clayer_context *context_retain(clayer_context *context)
{
    atomic_fetch_add(&context->references, 1);
    return context;
}

void context_release(clayer_context *c)
{
    if (atomic_fetch_sub(&c->references, 1) != 1)
        return;
    if (c->opencl) {
        opencl_guard_release(c->opencl, &c->order);
        opencl_buffer_destroy(c->opencl, &c->stage_x);
        opencl_buffer_destroy(c->opencl, &c->stage_y);
        opencl_context_destroy(&c->opencl);
    }
    store_close(&c->store);
    pthread_mutex_destroy(&c->store_lock);
    free(c);
}

void clayer_context_destroy(clayer_context **context)
{
    if (!context || !*context)
        return;
    context_release(*context);
    *context = NULL;
}

clayer_status clayer_context_device(const clayer_context *context, clayer_device_info *info)
{
    REQUIRE(context != NULL && info != NULL);
    *info = context->info;
    return CLAYER_OK;
}

clayer_status clayer_context_finish(clayer_context *context)
{
    REQUIRE(context != NULL);
    return context->opencl ? opencl_finish(context->opencl) : CLAYER_OK;
}

clayer_status context_stage(clayer_context *context, struct opencl_buffer *stage, size_t bytes)
{
    if (stage->memory && stage->bytes >= bytes)
        return CLAYER_OK;
    struct opencl_buffer larger = {0};
    TRY(opencl_buffer_create(context->opencl, bytes, &larger));
    opencl_buffer_destroy(context->opencl, stage);
    *stage = larger;
    return CLAYER_OK;
}

struct store *context_store(clayer_context *context)
{
    if (!context->opencl)
        return NULL;
    pthread_mutex_lock(&context->store_lock);
    if (!context->store && store_open(&context->info, &context->store) != CLAYER_OK)
        log_write(CLAYER_LOG_WARN, "no tuning records are used: %s", clayer_last_error());
    pthread_mutex_unlock(&context->store_lock);
    return context->store;
}
