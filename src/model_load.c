/* From a safetensors file to a chain of layers: which tensors are layers, in which order, with which activations. */
#include "base/error.h"
#include "model.h"

#include <clayer/safetensors.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512

/* Where a caller may name the layers; for messages. */
#define NAMES_HINT "clayer_model_load's layers, clayer-run --layers, or the file's metadata entry clayer.layers"

/* One layer as the file has it. */
struct entry {
    const clayer_safetensors_tensor *weight, *bias;
    const char *name; /* not terminated: the weight's name up to ".weight" */
    size_t length;
    unsigned long long number; /* what tells it from the others */
};

struct loading {
    const char *path;
    clayer_safetensors *file;
    struct entry *entries;
    size_t count;
    const char *activations; /* the list, or NULL */
    bool activations_in_file;
};

/* "W (3, 4)" for messages. */
static void describe(const clayer_safetensors_tensor *tensor, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%.200s (", tensor->name);
    for (size_t i = 0; i < tensor->ndim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", tensor->shape[i]);
    if (used < size)
        snprintf(text + used, size - used, ")");
}

/* The part of a tensor's name before ".weight" or ".bias"; false when it has neither ending. */
static bool split_name(const char *name, const char *ending, size_t *length)
{
    const size_t n = strlen(name), e = strlen(ending);
    if (n == e && strcmp(name, ending) == 0) {
        *length = 0;
        return true;
    }
    if (n <= e || name[n - e - 1] != '.' || strcmp(name + n - e, ending) != 0)
        return false;
    *length = n - e - 1;
    return true;
}

/* The item at the start of a comma-separated list, *length bytes up to the comma, without blanks around it. */
static const char *list_item(const char *item, size_t *length)
{
    for (; *length > 0 && item[0] == ' '; (*length)--)
        item++;
    while (*length > 0 && item[*length - 1] == ' ')
        (*length)--;
    return item;
}

/* Weight and bias of the layer with this name; `who` asks for it. */
static clayer_status find_pair(struct loading *loading, const char *name, size_t length, const char *who,
                               struct entry *entry)
{
    char full[NAME_MAX_BYTES + 16];
    if (length > NAME_MAX_BYTES)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: layer name '%.60s...' is longer than %d bytes", loading->path, name,
                    NAME_MAX_BYTES);
    snprintf(full, sizeof full, "%.*s%sweight", (int)length, name, length ? "." : "");
    entry->weight = clayer_safetensors_find(loading->file, full);
    if (!entry->weight)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: there is no tensor %s, which %s needs", loading->path, full, who);
    snprintf(full, sizeof full, "%.*s%sbias", (int)length, name, length ? "." : "");
    entry->bias = clayer_safetensors_find(loading->file, full);
    entry->name = entry->weight->name;
    entry->length = length;
    return CLAYER_OK;
}

/* Layers in the order that the caller or the metadata gives; blanks around the names do not count. */
static clayer_status take_named(struct loading *loading, const char *names, const char *who)
{
    size_t count = 1;
    for (const char *c = names; *c; c++)
        count += *c == ',';
    loading->entries = calloc(count, sizeof *loading->entries);
    if (!loading->entries)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu layers", count);
    for (size_t i = 0; i < count; i++) {
        const size_t whole = strcspn(names, ",");
        size_t length = whole;
        const char *name = list_item(names, &length);
        if (length == 0 && count > 1)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                        "%s: name %zu of %s is empty; names such as 'encoder,decoder' "
                        "are accepted",
                        loading->path, i + 1, who);
        TRY(find_pair(loading, name, length, who, &loading->entries[i]));
        names += whole + (names[whole] == ',');
    }
    loading->count = count;
    return CLAYER_OK;
}

/* Finds every NAME.weight; anything that is neither a weight nor a weight's bias is no chain of linear layers. */
static clayer_status take_all(struct loading *loading)
{
    const size_t tensors = clayer_safetensors_count(loading->file);
    loading->entries = calloc(tensors ? tensors : 1, sizeof *loading->entries);
    if (!loading->entries)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu layers", tensors);
    size_t biases = 0, used = 0;
    for (size_t i = 0; i < tensors; i++) {
        const clayer_safetensors_tensor *tensor = clayer_safetensors_at(loading->file, i);
        size_t length;
        if (split_name(tensor->name, "weight", &length)) {
            TRY(find_pair(loading, tensor->name, length, tensor->name, &loading->entries[loading->count]));
            used += loading->entries[loading->count++].bias != NULL;
        } else if (split_name(tensor->name, "bias", &length)) {
            struct entry unused;
            TRY(find_pair(loading, tensor->name, length, tensor->name, &unused));
            biases++;
        } else {
            return FAIL(CLAYER_ERROR_UNSUPPORTED,
                        "%s: tensor %s is neither NAME.weight nor NAME.bias; a model with other tensors needs the "
                        "names of its linear layers (" NAMES_HINT ")",
                        loading->path, tensor->name);
        }
    }
    if (loading->count == 0)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: there is no tensor NAME.weight; a model has at least one", loading->path);
    return used == biases ? CLAYER_OK : FAIL(CLAYER_ERROR_FORMAT, "%s: a bias belongs to no weight", loading->path);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int by_number(const void *a, const void *b)
{
    const unsigned long long x = ((const struct entry *)a)->number, y = ((const struct entry *)b)->number;
    return (x > y) - (x < y);
}

static clayer_status refuse_order(const struct loading *loading)
{
    return FAIL(CLAYER_ERROR_FORMAT,
                "%s: which of %s and %s comes first is not told by one number in their names; names in order are "
                "needed (" NAMES_HINT ")",
                loading->path, loading->entries[0].weight->name, loading->entries[1].weight->name);
}

/* Sorts layers whose names differ by one number alone; anything else would chain silently in a wrong order. */
static clayer_status sort_entries(struct loading *loading)
{
    struct entry *e = loading->entries;
    size_t prefix = e[0].length, suffix = e[0].length;
    if (loading->count < 2)
        return CLAYER_OK;
    for (size_t i = 1; i < loading->count; i++) {
        size_t same = 0;
        while (same < prefix && same < e[i].length && e[i].name[same] == e[0].name[same])
            same++;
        prefix = same;
        same = 0;
        while (same < suffix && same < e[i].length &&
               e[i].name[e[i].length - 1 - same] == e[0].name[e[0].length - 1 - same])
            same++;
        suffix = same;
    }
    /* "fc10" and "fc12" share the 1, and "fc10" and "fc20" the 0: numbers are compared whole. */
    while (prefix > 0 && is_digit(e[0].name[prefix - 1]))
        prefix--;
    while (suffix > 0 && is_digit(e[0].name[e[0].length - suffix]))
        suffix--;
    for (size_t i = 0; i < loading->count; i++) {
        if (e[i].length <= prefix + suffix || e[i].length - prefix - suffix > 18)
            return refuse_order(loading);
        e[i].number = 0;
        for (size_t c = prefix; c < e[i].length - suffix; c++) {
            if (!is_digit(e[i].name[c]))
                return refuse_order(loading);
            e[i].number = e[i].number * 10 + (unsigned long long)(e[i].name[c] - '0');
        }
    }
    qsort(e, loading->count, sizeof *e, by_number);
    for (size_t i = 1; i < loading->count; i++)
        if (e[i].number == e[i - 1].number)
            return refuse_order(loading);
    return CLAYER_OK;
}

static clayer_status check_shapes(const struct loading *loading)
{
    char one[320], other[320];
    for (size_t i = 0; i < loading->count; i++) {
        const struct entry *e = &loading->entries[i];
        describe(e->weight, one, sizeof one);
        if (e->weight->ndim != 2)
            return FAIL(CLAYER_ERROR_MISMATCH, "%s: weight %s: 2 dimensions (out_features, in_features) are accepted",
                        loading->path, one);
        if (e->bias && (e->bias->ndim != 1 || e->bias->shape[0] != e->weight->shape[0])) {
            describe(e->bias, other, sizeof other);
            return FAIL(CLAYER_ERROR_MISMATCH, "%s: bias %s does not fit weight %s: (%zu) is accepted", loading->path,
                        other, one, e->weight->shape[0]);
        }
        if (i > 0 && loading->entries[i - 1].weight->shape[0] != e->weight->shape[1]) {
            describe(loading->entries[i - 1].weight, other, sizeof other);
            return FAIL(CLAYER_ERROR_MISMATCH, "%s: %s does not chain to %s: %zu outputs, but %zu inputs",
                        loading->path, other, one, loading->entries[i - 1].weight->shape[0], e->weight->shape[1]);
        }
    }
    return CLAYER_OK;
}

/* Whose list is wrong: the caller's, or the file's. */
static clayer_status refuse_activations(const struct loading *loading, const char *why)
{
    return FAIL(loading->activations_in_file ? CLAYER_ERROR_FORMAT : CLAYER_ERROR_INVALID_ARGUMENT, "%s: %s: %s",
                loading->path,
                loading->activations_in_file ? "metadata entry clayer.activations" : "the list of activations", why);
}

/* The activation of layer `index` out of the list: one for each, or one for each but the last, or one for all but the
 * last. */
static clayer_status pick_activation(const struct loading *loading, size_t index, clayer_activation *activation)
{
    const char *list = loading->activations;
    *activation = index + 1 < loading->count ? CLAYER_ACTIVATION_RELU : CLAYER_ACTIVATION_NONE;
    if (!list)
        return CLAYER_OK;
    char name[32], why[512];
    size_t given = 1;
    for (const char *c = list; *c; c++)
        given += *c == ',';
    if (given != loading->count && given != 1 && given + 1 != loading->count) {
        snprintf(why, sizeof why,
                 "%zu given for %zu layers; one, one for each, or one for each but the last is accepted", given,
                 loading->count);
        return refuse_activations(loading, why);
    }
    const bool last_is_given = given == loading->count;
    if (index + 1 == loading->count && !last_is_given) {
        *activation = CLAYER_ACTIVATION_NONE;
        return CLAYER_OK;
    }
    for (size_t i = 0; i < index && given > 1; i++)
        list += strcspn(list, ",") + 1;
    size_t length = strcspn(list, ",");
    const char *item = list_item(list, &length);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), item);
    if (strcmp(name, "clamp") == 0)
        return refuse_activations(loading,
                                  "'clamp' needs limits, which a list of names cannot give; relu6 has its own");
    if (clayer_activation_parse(name, activation) == CLAYER_OK)
        return CLAYER_OK;
    snprintf(why, sizeof why, "%s", clayer_last_error());
    return refuse_activations(loading, why);
}

/* A tensor's elements as float32: where they lie when that is possible, else a converted copy that *owned holds. */
static clayer_status elements(const struct loading *loading, const clayer_safetensors_tensor *tensor,
                              const float **values, float **owned)
{
    *owned = NULL;
    *values = tensor->data;
    if (tensor->dtype == CLAYER_DTYPE_F32 && (uintptr_t)tensor->data % sizeof(float) == 0)
        return CLAYER_OK;
    const size_t count = tensor->size / clayer_dtype_size(tensor->dtype);
    TRY(host_floats(count, owned));
    *values = *owned;
    return clayer_safetensors_read_f32(loading->file, tensor, *owned, count);
}

static clayer_status add_layer(const struct loading *loading, clayer_model *model, size_t index,
                               const clayer_model_load_params *params)
{
    const struct entry *e = &loading->entries[index];
    float *weight = NULL, *bias = NULL;
    char name[NAME_MAX_BYTES + 1];
    snprintf(name, sizeof name, "%.*s", (int)e->length, e->name);
    clayer_linear_params layer = {
        .in_features = e->weight->shape[1], .out_features = e->weight->shape[0], .plan = params->plan};
    clayer_status status;
    TRY_GOTO(pick_activation(loading, index, &layer.activation));
    TRY_GOTO(elements(loading, e->weight, &layer.weight, &weight));
    if (e->bias)
        TRY_GOTO(elements(loading, e->bias, &layer.bias, &bias));
    status = model_add(model, &layer, name);
    if (status != CLAYER_OK) {
        char why[768];
        snprintf(why, sizeof why, "%s", clayer_last_error());
        status = FAIL(status, "%s: %s: %s", loading->path, e->weight->name, why);
    }
fail:
    free(weight);
    free(bias);
    return status;
}

clayer_status clayer_model_load(clayer_context *context, const char *path, const clayer_model_load_params *params,
                                clayer_model **model)
{
    static const clayer_model_load_params defaults;
    REQUIRE(context != NULL && path != NULL && model != NULL);
    if (!params)
        params = &defaults;
    clayer_status status;
    clayer_model *m = NULL;
    struct loading loading = {.path = path};
    TRY(clayer_safetensors_open(path, &loading.file));
    const char *names =
        params->layers ? params->layers : clayer_safetensors_metadata_get(loading.file, "clayer.layers");
    loading.activations = params->activations;
    if (!loading.activations) {
        loading.activations = clayer_safetensors_metadata_get(loading.file, "clayer.activations");
        loading.activations_in_file = true;
    }
    TRY_GOTO(names ? take_named(&loading, names, params->layers ? "the list of layers" : "metadata entry clayer.layers")
                   : take_all(&loading));
    if (!names)
        TRY_GOTO(sort_entries(&loading));
    TRY_GOTO(check_shapes(&loading));
    TRY_GOTO(model_allocate(context, loading.count, &m));
    for (size_t i = 0; i < loading.count; i++)
        TRY_GOTO(add_layer(&loading, m, i, params));
    *model = m;
    m = NULL;
fail:
    clayer_model_destroy(&m);
    free(loading.entries);
    clayer_safetensors_destroy(&loading.file);
    return status;
}
