#include "context.h"
#include "base/error.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* Makes the OpenCL side of a context on listed device `info`, or nothing for the host. */
static clayer_status open_device(clayer_context *c, const clayer_device_info *info)
{
    c->info = *info;
    if (info->type == CLAYER_DEVICE_HOST)
        return CLAYER_OK;
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    if (info->index < 0 || (size_t)info->index >= list->count)
        return FAIL(CLAYER_ERROR_INTERNAL, "device %d is not in the list", info->index);
    return opencl_context_create(&list->devices[info->index], &c->opencl);
}

/* The automatic choice: the first usable device whose context can be created, in the list's order. */
static clayer_status open_best(clayer_context *c)
{
    clayer_device_info info;
    TRY(clayer_device_select("auto", &info));
    size_t count;
    TRY(clayer_device_count(&count));
    for (size_t i = (size_t)info.index; i < count; i++) {
        TRY(clayer_device_get(i, &info));
        if (!info.usable || info.type == CLAYER_DEVICE_SIMULATOR)
            continue;
        if (open_device(c, &info) == CLAYER_OK)
            return CLAYER_OK;
        log_write(CLAYER_LOG_WARN, "device %s (%s) was passed over: %s", info.name, info.id, clayer_last_error());
    }
    return FAIL(CLAYER_ERROR_INTERNAL, "even the host device could not be opened");
}

clayer_status clayer_context_create(const clayer_context_params *params, clayer_context **context)
{
    static const clayer_context_params defaults;
    REQUIRE(context != NULL);
    if (!params)
        params = &defaults;
    const char *selector = params->device;
    if (!selector || !*selector)
        selector = getenv("CLAYER_DEVICE");
    const char *plan = params->plan;
    if (!plan || !*plan)
        plan = getenv("CLAYER_PLAN");

    clayer_status status;
    clayer_context *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a context");
    atomic_init(&c->references, 1);
    TRY_GOTO(plan_parse(plan, &c->request));
    if (selector && *selector && strcmp(selector, "auto") != 0) {
        clayer_device_info info;
        TRY_GOTO(clayer_device_select(selector, &info));
        status = open_device(c, &info);
        if (status != CLAYER_OK && status != CLAYER_ERROR_OUT_OF_MEMORY && status != CLAYER_ERROR_FORKED)
            status = FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "device %s (%s): %s", info.name, info.id, clayer_last_error());
        if (status != CLAYER_OK)
            goto fail;
    } else {
        TRY_GOTO(open_best(c));
    }
    c->target =
        (struct target){.info = &c->info, .context = c->opencl, .clblast = c->opencl && family_clblast_available()};
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
        opencl_buffer_destroy(c->opencl, &c->stage_x);
        opencl_buffer_destroy(c->opencl, &c->stage_y);
        opencl_context_destroy(&c->opencl);
    }
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
