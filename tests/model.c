/* Chains of layers: the digits model against PyTorch, by every family; what is refused; streams of batches. */
#include "support/malformed.h"

#include <clayer/model.h>
#include <clayer/npy.h>
#include <clayer/safetensors.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGES 360
#define PIXELS 64
#define DIGITS 10
#define WIDEST 128

static const char *const digits_layers[] = {"0", "2", "4"};

/* A context for the device, or a skipped test when there is none. */
static clayer_context *context_on(const char *device, const char *plan)
{
    clayer_context *context = NULL;
    const clayer_context_params params = {.device = device, .plan = plan ? plan : "auto"};
    const clayer_status status = clayer_context_create(&params, &context);
    if (status == CLAYER_ERROR_NO_DEVICE || status == CLAYER_ERROR_NO_OPENCL)
        cr_skip_test("no such device: %s", clayer_last_error());
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    return context;
}

static clayer_model *load(clayer_context *context, const char *name, const clayer_model_load_params *params)
{
    char path[4096];
    clayer_model *model = NULL;
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    cr_assert_eq(clayer_model_load(context, path, params, &model), CLAYER_OK, "%s", clayer_last_error());
    return model;
}

static float *read_npy(const char *name, size_t columns)
{
    char path[4096];
    clayer_npy *npy = NULL;
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    cr_assert_eq(clayer_npy_open(path, &npy), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_npy_rows(npy), IMAGES);
    cr_assert_eq(clayer_npy_columns(npy), columns);
    float *values = malloc(IMAGES * columns * sizeof *values);
    cr_assert_eq(clayer_npy_read_f32(npy, 0, IMAGES, values), CLAYER_OK);
    clayer_npy_destroy(&npy);
    return values;
}

static float *tensor_of(const clayer_safetensors *file, const char *layer, const char *part, size_t *rows, size_t *cols)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    const clayer_safetensors_tensor *tensor = clayer_safetensors_find(file, name);
    cr_assert_not_null(tensor);
    *rows = tensor->shape[0];
    *cols = tensor->ndim > 1 ? tensor->shape[1] : 1;
    float *values = malloc(*rows * *cols * sizeof *values);
    cr_assert_eq(clayer_safetensors_read_f32(file, tensor, values, *rows * *cols), CLAYER_OK);
    return values;
}

/* The logits of a digits file in float64, and how far a float32 chain may be from them: what one layer adds is
 * gamma(K + 2) S, and what came before passes through |W|; ReLU enlarges nothing (docs/numerics.md). */
static void reference(const char *name, const float *x, double *logits, double *bound)
{
    char path[4096];
    clayer_safetensors *file = NULL;
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    cr_assert_eq(clayer_safetensors_open(path, &file), CLAYER_OK, "%s", clayer_last_error());
    float *w[3], *b[3];
    size_t out[3], in[3], length, one;
    for (size_t l = 0; l < 3; l++) {
        w[l] = tensor_of(file, digits_layers[l], "weight", &out[l], &in[l]);
        b[l] = tensor_of(file, digits_layers[l], "bias", &length, &one);
    }
    for (size_t row = 0; row < IMAGES; row++) {
        double value[WIDEST], error[WIDEST] = {0};
        for (size_t k = 0; k < PIXELS; k++)
            value[k] = x[row * PIXELS + k];
        for (size_t l = 0; l < 3; l++) {
            double next[WIDEST], next_error[WIDEST];
            const double u = 0x1p-24 * (double)(in[l] + 2), gamma = u / (1 - u);
            for (size_t n = 0; n < out[l]; n++) {
                double sum = b[l][n], size = fabs(sum), passed = 0;
                for (size_t k = 0; k < in[l]; k++) {
                    const double weight = w[l][n * in[l] + k];
                    sum += weight * value[k];
                    size += fabs(weight) * (fabs(value[k]) + error[k]);
                    passed += fabs(weight) * error[k];
                }
                next[n] = l < 2 && sum < 0 ? 0 : sum;
                next_error[n] = gamma * size + passed + (double)in[l] * 0x1p-149;
            }
            memcpy(value, next, sizeof next);
            memcpy(error, next_error, sizeof next_error);
        }
        memcpy(logits + row * DIGITS, value, DIGITS * sizeof *logits);
        memcpy(bound + row * DIGITS, error, DIGITS * sizeof *bound);
    }
    for (size_t l = 0; l < 3; l++) {
        free(w[l]);
        free(b[l]);
    }
    clayer_safetensors_destroy(&file);
}

static size_t count_correct(const float *logits)
{
    float *labels = read_npy("digits_labels.npy", 1);
    size_t correct = 0;
    for (size_t i = 0; i < IMAGES; i++) {
        size_t best = 0;
        for (size_t c = 1; c < DIGITS; c++)
            best = logits[i * DIGITS + c] > logits[i * DIGITS + best] ? c : best;
        correct += (float)best == labels[i];
    }
    free(labels);
    return correct;
}

/* Runs a digits file, with y poisoned and rows further apart than they are long, and checks every logit. */
static void check_digits(const char *file, const char *device, const char *plan)
{
    const size_t ldx = PIXELS + 3, ldy = DIGITS + 5;
    clayer_context *context = context_on(device, plan);
    clayer_model *model = load(context, file, NULL);
    float *images = read_npy("digits_test.npy", PIXELS), *torch = read_npy("digits_logits.npy", DIGITS);
    float *x = malloc(IMAGES * ldx * sizeof *x), *y = malloc(IMAGES * ldy * sizeof *y);
    double *logits = malloc(IMAGES * DIGITS * sizeof *logits), *bound = malloc(IMAGES * DIGITS * sizeof *bound);
    for (size_t i = 0; i < IMAGES * ldx; i++)
        x[i] = NAN;
    for (size_t i = 0; i < IMAGES; i++)
        memcpy(x + i * ldx, images + i * PIXELS, PIXELS * sizeof *x);
    memset(y, 0xff, IMAGES * ldy * sizeof *y);
    const clayer_status status = clayer_model_forward(model, IMAGES, x, ldx, y, ldy);
    if (status == CLAYER_ERROR_UNSUPPORTED && plan && strcmp(plan, "clblast") == 0)
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());

    reference(file, images, logits, bound);
    const bool same_weights = strcmp(file, "digits.safetensors") == 0 || strcmp(file, "digits_odd.safetensors") == 0;
    float dense[IMAGES * DIGITS];
    for (size_t i = 0; i < IMAGES; i++) {
        for (size_t c = 0; c < DIGITS; c++) {
            const size_t at = i * DIGITS + c;
            dense[at] = y[i * ldy + c];
            cr_assert(fabs(dense[at] - logits[at]) <= bound[at], "image %zu, logit %zu: %.9g, exactly %.9g +- %.2g", i,
                      c, dense[at], logits[at], bound[at]);
            if (same_weights) /* PyTorch may be as far on the other side */
                cr_assert(fabs((double)dense[at] - torch[at]) <= 2 * bound[at]);
        }
        for (size_t c = DIGITS; c < ldy; c++)
            cr_assert(isnan(y[i * ldy + c]), "image %zu: a value beyond the row was written", i);
    }
    cr_assert_eq(count_correct(dense), 352);
    for (size_t l = 0; l < clayer_model_layer_count(model); l++) {
        clayer_plan_info info;
        cr_assert_eq(clayer_linear_last_plan(clayer_model_layer(model, l), &info), CLAYER_OK);
        cr_assert_str_eq(clayer_model_layer_name(model, l), digits_layers[l]);
        if (plan) {
            cr_assert_str_eq(info.family, plan);
            cr_assert_str_eq(info.origin, "forced");
        } else {
            cr_assert_str_neq(info.origin, "forced");
            cr_assert_neq(info.family[0], '\0');
        }
    }
    free(images);
    free(torch);
    free(x);
    free(y);
    free(logits);
    free(bound);
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
}

Test(model, digits_on_the_host)
{
    check_digits("digits.safetensors", "host", NULL);
    check_digits("digits_odd.safetensors", "host", NULL);
    check_digits("digits_f16.safetensors", "host", NULL);
    check_digits("digits_bf16.safetensors", "host", NULL);
}

Test(model, digits_on_a_device)
{
    check_digits("digits.safetensors", "cpu", NULL);
    check_digits("digits_odd.safetensors", "cpu", NULL);
    check_digits("digits_f16.safetensors", "cpu", NULL);
    check_digits("digits_bf16.safetensors", "cpu", NULL);
}

Test(model, digits_by_portable)
{
    check_digits("digits.safetensors", "cpu", "portable");
}

Test(model, digits_by_panel)
{
    check_digits("digits.safetensors", "cpu", "panel");
}

Test(model, digits_by_host)
{
    check_digits("digits.safetensors", "cpu", "host");
}

Test(model, digits_by_clblast)
{
    check_digits("digits.safetensors", "cpu", "clblast");
}

static void forward(clayer_model *model, size_t batch, const float *x, float *y)
{
    memset(y, 0xff, batch * DIGITS * sizeof *y);
    cr_assert_eq(clayer_model_forward(model, batch, x, PIXELS, y, DIGITS), CLAYER_OK, "%s", clayer_last_error());
}

/* The same plans in the same order give the same bits, whether the model or the caller strings the layers together. */
static void check_layer_by_layer(const char *device, const char *plan)
{
    clayer_context *context = context_on(device, plan);
    clayer_model *model = load(context, "digits.safetensors", NULL);
    float *x = read_npy("digits_test.npy", PIXELS), y[IMAGES * DIGITS], alone[IMAGES * DIGITS];
    float *first = malloc(IMAGES * 128 * sizeof *first), *second = malloc(IMAGES * 64 * sizeof *second);
    forward(model, IMAGES, x, y);
    cr_assert_eq(clayer_linear_forward(clayer_model_layer(model, 0), IMAGES, x, 64, first, 128), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(clayer_model_layer(model, 1), IMAGES, first, 128, second, 64), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(clayer_model_layer(model, 2), IMAGES, second, 64, alone, DIGITS), CLAYER_OK);
    cr_assert_eq(memcmp(y, alone, sizeof y), 0);
    free(x);
    free(first);
    free(second);
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
}

Test(model, a_chain_is_its_layers_on_the_host)
{
    check_layer_by_layer("host", NULL);
}

Test(model, a_chain_is_its_layers_on_a_device)
{
    check_layer_by_layer("cpu", "panel");
}

/* With a plan batch, a row's bits do not depend on how many rows its batch has. */
static void check_plan_batch(const char *device, const char *plan)
{
    clayer_context *context = context_on(device, plan);
    clayer_model *model = load(context, "digits.safetensors", NULL);
    float *x = read_npy("digits_test.npy", PIXELS), y[IMAGES * DIGITS], part[IMAGES * DIGITS];
    if (clayer_linear_prepare(clayer_model_layer(model, 0), IMAGES) == CLAYER_ERROR_UNSUPPORTED)
        cr_skip_test("%s", clayer_last_error());
    cr_assert_eq(clayer_model_set_plan_batch(model, IMAGES), CLAYER_OK);
    forward(model, IMAGES, x, y);
    clayer_plan_info whole, small;
    clayer_linear_last_plan(clayer_model_layer(model, 0), &whole);
    static const size_t batches[] = {1, 7, 100};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const size_t from = IMAGES - batches[i];
        forward(model, batches[i], x + from * PIXELS, part);
        cr_assert_eq(memcmp(part, y + from * DIGITS, batches[i] * DIGITS * sizeof *y), 0, "%zu rows", batches[i]);
        clayer_linear_last_plan(clayer_model_layer(model, 0), &small);
        cr_assert_str_eq(small.family, whole.family);
        cr_assert_str_eq(small.configuration, whole.configuration);
    }
    free(x);
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
}

Test(model, a_short_batch_keeps_the_plan_on_the_host)
{
    check_plan_batch("host", NULL);
}

Test(model, a_short_batch_keeps_the_plan_on_a_device)
{
    check_plan_batch("cpu", NULL);
    check_plan_batch("cpu", "panel");
    check_plan_batch("cpu", "portable");
    check_plan_batch("cpu", "tiled");
    check_plan_batch("cpu", "skinny");
}

Test(model, an_empty_batch_does_nothing)
{
    clayer_context *context = context_on(NULL, NULL);
    clayer_model *model = load(context, "digits.safetensors", NULL);
    float untouched = 5;
    cr_assert_eq(clayer_model_forward(model, 0, NULL, PIXELS, NULL, DIGITS), CLAYER_OK);
    cr_assert_eq(clayer_model_forward(model, 0, NULL, PIXELS, &untouched, DIGITS), CLAYER_OK);
    cr_assert_eq(untouched, 5);
    cr_assert_eq(clayer_model_prepare(model, 0), CLAYER_OK);
    cr_assert_eq(clayer_model_forward(model, 1, NULL, PIXELS, &untouched, DIGITS), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_model_forward(model, 0, NULL, PIXELS - 1, NULL, DIGITS), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_null(clayer_model_layer(model, 3));
    cr_assert_eq(clayer_model_layer_count(NULL), 0);
    clayer_model_destroy(&model);
    cr_assert_null(model);
    clayer_model_destroy(&model);
    clayer_model_destroy(NULL);
    clayer_context_destroy(&context);
}
