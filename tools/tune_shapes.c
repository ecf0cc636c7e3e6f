#include "suites.h"
#include "tune.h"

#include <clayer/model.h>
#include <clayer/tuning.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTHS = 17 };
#define MOST_SIZE ((size_t)1 << 31)

static int append(struct tune_options *o, const clayer_tune_shape *shape)
{
    for (size_t i = 0; i < o->shape_count; i++) {
        const clayer_tune_shape *s = &o->shapes[i];
        if (s->batch == shape->batch && s->in_features == shape->in_features &&
            s->out_features == shape->out_features && s->activation == shape->activation &&
            s->no_bias == shape->no_bias)
            return 0;
    }
    clayer_tune_shape *more = realloc(o->shapes, (o->shape_count + 1) * sizeof *more);
    if (!more)
        return tool_failed("no memory for %zu shapes", o->shape_count + 1);
    o->shapes = more;
    more[o->shape_count++] = *shape;
    return 0;
}

int tune_shapes_text(struct tune_options *o, const char *text)
{
    size_t widths[MOST_WIDTHS], count = 0;
    const char *c = text;
    for (; count < MOST_WIDTHS; c++) {
        char *end;
        const unsigned long long number = *c >= '1' && *c <= '9' ? strtoull(c, &end, 10) : 0;
        if (number == 0 || number > MOST_SIZE)
            break;
        widths[count++] = (size_t)number;
        c = end;
        if (*c != 'x')
            break;
    }
    if (*c || count < 3 || c[-1] == 'x')
        return tool_usage("--shape '%.60s': use BATCHxINxOUT, such as 128x768x3072, each number from 1 to 2147483648",
                          text);
    for (size_t layer = 1; layer + 1 < count; layer++) {
        const clayer_tune_shape shape = {.batch = widths[0],
                                         .in_features = widths[layer],
                                         .out_features = widths[layer + 1],
                                         /* In a chain the last layer has none, as in clayer-bench. */
                                         .activation =
                                             count > 3 && layer + 2 == count ? CLAYER_ACTIVATION_NONE : o->activation};
        const int code = append(o, &shape);
        if (code)
            return code;
    }
    return 0;
}

static bool append_text(void *user, const char *shape, bool cold)
{
    (void)cold; /* a record holds for both */
    return tune_shapes_text(user, shape) == 0;
}

int tune_shapes_suite(struct tune_options *o, const char *name)
{
    if (suite_each(name, append_text, o))
        return 0;
    return tool_usage("--suite '%.40s': use " SUITE_NAMES, name);
}

int tune_shapes_model(struct tune_options *o, const char *path)
{
    /* Records answer for a quarter to four times their batch. */
    static const size_t batches[] = {1, 64, 1024};
    clayer_context *context = NULL;
    clayer_model *model = NULL;
    int code = 0;
    /* The host reads a model without any driver. */
    clayer_status status = clayer_context_create(&(clayer_context_params){.device = "host"}, &context);
    if (status == CLAYER_OK)
        status = clayer_model_load(context, path, NULL, &model);
    if (status != CLAYER_OK)
        code = tool_failed("--model: %s", clayer_last_error());
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
        for (size_t i = 0; code == 0 && i < clayer_model_layer_count(model); i++) {
            clayer_linear_info info;
            clayer_linear_get_info(clayer_model_layer(model, i), &info);
            if (info.in_features && info.out_features)
                code = append(o, &(clayer_tune_shape){.batch = batches[b],
                                                      .in_features = info.in_features,
                                                      .out_features = info.out_features,
                                                      .activation = info.activation,
                                                      .no_bias = !info.has_bias});
        }
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
    return code;
}

struct listing {
    struct tune_options *options;
    int code;
};

static void append_record(void *user, const clayer_tuning_record *record)
{
    struct listing *listing = user;
    if (record->origin != CLAYER_TUNING_USER || record->related || listing->code)
        return;
    listing->code = append(listing->options, &(clayer_tune_shape){.batch = record->batch,
                                                                  .in_features = record->in_features,
                                                                  .out_features = record->out_features,
                                                                  .activation = record->costly ? CLAYER_ACTIVATION_GELU
                                                                                               : CLAYER_ACTIVATION_RELU,
                                                                  .no_bias = !record->bias});
}

int tune_shapes_records(struct tune_options *o, const clayer_device_info *device)
{
    struct listing listing = {o, 0};
    if (clayer_tuning_list(device, append_record, &listing) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    return listing.code;
}

/* Whether a record of one device is a record of the other. */
static bool equal(const clayer_device_info *a, const clayer_device_info *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->vendor, b->vendor) == 0 &&
           strcmp(a->platform, b->platform) == 0 && a->compute_units == b->compute_units &&
           a->max_work_group_size == b->max_work_group_size && a->local_memory_bytes == b->local_memory_bytes;
}

int tune_devices(const char *selector, clayer_device_info **devices, size_t *count)
{
    size_t all = 1;
    *count = 0;
    if (clayer_device_count(&all) != CLAYER_OK || !(*devices = calloc(all, sizeof **devices)))
        return tool_failed("%s", clayer_last_error());
    if (!selector || strcmp(selector, "all") != 0) {
        if (clayer_device_select(selector, *devices) != CLAYER_OK) {
            tool_failed("%s", clayer_last_error());
            return EXIT_CODE_NO_DEVICE;
        }
        *count = 1;
        return 0;
    }
    for (size_t i = 0; i < all; i++) {
        clayer_device_info info;
        bool known = false;
        if (clayer_device_get(i, &info) != CLAYER_OK || !info.usable || info.type == CLAYER_DEVICE_HOST)
            continue;
        for (size_t j = 0; j < *count; j++)
            known = known || equal(&info, &(*devices)[j]);
        if (!known)
            (*devices)[(*count)++] = info;
    }
    if (*count)
        return 0;
    tool_failed("--device all: there is no usable OpenCL device; clayer-query says why");
    return EXIT_CODE_NO_DEVICE;
}
