#include "kernels/family.h"
#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CLAYER_CLBLAST
extern const struct family clblast_family;
const struct family *const family_clblast = &clblast_family;
#else
const struct family *const family_clblast = NULL;

bool family_clblast_available(void)
{
    return false;
}
#endif

const struct family *const families[] = {
    &family_panel,   &family_tiled, &family_skinny, &family_portable,
#ifdef CLAYER_CLBLAST
    &clblast_family,
#endif
    &family_host,
};
const size_t family_count = sizeof families / sizeof *families;

const struct family *family_find(const char *name)
{
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

/* Intel's GPUs whose sub-groups are of 16 or 32 (pvc and newer) get kernels of 32 lanes, for which a work-item's sums
 * are too many: without being told to compile 16 lanes, the compiler keeps them in memory. */
static bool must_be_told(const clayer_device_info *device)
{
    return device && device->type == CLAYER_DEVICE_GPU && device->smallest_sub_group_size == 16;
}

void family_options(const struct family *family, const clayer_device_info *device, const struct layer_shape *shape,
                    const struct configuration *configuration, char *text, size_t size)
{
    int used =
        snprintf(text, size, "-cl-std=CL1.2 -DX_TYPE=0 -DW_TYPE=0 -DY_TYPE=0 -DACC_TYPE=0 -DPANEL=%d -DACTIVATION=%d",
                 (int)shape->panel, shape->any_activation ? -1 : (int)shape->activation.kind);
    for (int i = 0; family && i < family->parameter_count; i++) {
        const struct parameter *p = &family->parameters[i];
        char macro[32];
        size_t c = 0;
        if (p->argument)
            continue;
        for (; p->name[c] && c + 1 < sizeof macro; c++)
            macro[c] = p->name[c] >= 'a' && p->name[c] <= 'z' ? (char)(p->name[c] - 'a' + 'A') : p->name[c];
        macro[c] = '\0';
        assert(used >= 0 && (size_t)used < size);
        used += snprintf(text + used, size - (size_t)used, " -D%s=%d", macro, configuration->value[i]);
    }
    if (must_be_told(device))
        used += snprintf(text + used, size - (size_t)used, " -DSUB_GROUP=16");
    assert(used >= 0 && (size_t)used < size);
}

clayer_status family_build(struct opencl_context *context, const struct layer_shape *shape,
                           struct executable *executable)
{
    char options[FAMILY_OPTIONS_BYTES];
    const struct family *family = executable->family;
    family_options(family, &context->info, shape, &executable->configuration, options, sizeof options);
    const clayer_status status = opencl_kernel_get(context, family->source, options, &executable->kernels[0]);
    if (status != CLAYER_ERROR_BUILD || !must_be_told(&context->info))
        return status;
    family_options(family, NULL, shape, &executable->configuration, options, sizeof options);
    return opencl_kernel_get(context, family->source, options, &executable->kernels[0]);
}

void family_print(const struct family *family, const struct configuration *configuration, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < family->parameter_count && used < size; i++) {
        const int n = snprintf(text + used, size - used, "%s%s=%d", i ? "," : "", family->parameters[i].name,
                               configuration->value[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Names of the parameters, or the values of one, as a list for people. */
static void list_accepted(const struct family *family, const struct parameter *parameter, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    const int count = parameter ? parameter->count : family->parameter_count;
    for (int i = 0; i < count && used < size; i++) {
        const int n = parameter ? snprintf(text + used, size - used, "%s%d", i ? ", " : "", parameter->values[i])
                                : snprintf(text + used, size - used, "%s%s", i ? ", " : "", family->parameters[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static clayer_status parse_one(const struct family *family, const char *text, size_t length,
                               struct configuration *configuration)
{
    char accepted[256];
    for (int i = 0; i < family->parameter_count; i++) {
        const struct parameter *p = &family->parameters[i];
        const size_t name = strlen(p->name);
        if (length <= name || strncmp(text, p->name, name) != 0 || text[name] != '=')
            continue;
        char *end;
        const long value = strtol(text + name + 1, &end, 10);
        for (int v = 0; end == text + length && end != text + name + 1 && v < p->count; v++) {
            if (p->values[v] == value) {
                configuration->value[i] = (int)value;
                return CLAYER_OK;
            }
        }
        list_accepted(family, p, accepted, sizeof accepted);
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "plan %s: '%.*s' is not accepted; %s is one of %s", family->name,
                    (int)(length < 80 ? length : 80), text, p->name, accepted);
    }
    list_accepted(family, NULL, accepted, sizeof accepted);
    return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "plan %s: no parameter in '%.*s'; it has %s", family->name,
                (int)(length < 80 ? length : 80), text, *accepted ? accepted : "none");
}

clayer_status family_parse(const struct family *family, const char *text, struct configuration *configuration)
{
    while (*text) {
        const size_t length = strcspn(text, ",");
        TRY(parse_one(family, text, length, configuration));
        text += length;
        text += *text == ',';
    }
    return CLAYER_OK;
}

clayer_status family_workspace(struct opencl_context *context, size_t bytes, struct layer_memory *layer)
{
    if (bytes <= layer->workspace.bytes)
        return CLAYER_OK;
    opencl_buffer_destroy(context, &layer->workspace);
    return opencl_buffer_create(context, bytes, &layer->workspace);
}
