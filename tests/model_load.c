/* Which tensors of a file become layers, in which order, with which activations; and what is refused. */
#include "support/malformed.h"

#include <clayer/model.h>
#include <clayer/safetensors.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TENSORS 8

static clayer_context *host(void)
{
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "host", .plan = "auto"}, &context), CLAYER_OK,
                 "%s", clayer_last_error());
    return context;
}

/* Every file whose header, tensors or chain is wrong, the ones that only a model can tell included. */
static clayer_context *malformed_context;

static clayer_status load_path(const char *path)
{
    clayer_model *model = NULL;
    const clayer_status status = clayer_model_load(malformed_context, path, NULL, &model);
    cr_expect_null(model, "%s", path);
    clayer_model_destroy(&model);
    return status;
}

Test(model_load, malformed_files_are_refused)
{
    malformed_context = host();
    cr_assert_geq(malformed_check("safetensors", load_path, NULL), 57);
    clayer_context_destroy(&malformed_context);
}

/* A layer whose every weight is `value`: with x = 1, one output is in * value. */
struct wanted {
    const char *name; /* of the weight */
    size_t out, in;
    float value;
};

/* Writes these weights, without biases, into a file of its own. The caller removes and frees the path. */
static char *write_model(const struct wanted *layers, size_t count, const clayer_safetensors_metadata *metadata,
                         size_t metadata_count)
{
    char *path = strdup("/tmp/clayer-test-model-XXXXXX");
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    clayer_safetensors_tensor tensors[MOST_TENSORS];
    size_t shapes[MOST_TENSORS][2];
    float *data[MOST_TENSORS];
    for (size_t i = 0; i < count; i++) {
        const size_t elements = layers[i].out * layers[i].in;
        data[i] = malloc(elements * sizeof(float));
        for (size_t e = 0; e < elements; e++)
            data[i][e] = layers[i].value;
        shapes[i][0] = layers[i].out;
        shapes[i][1] = layers[i].in;
        tensors[i] = (clayer_safetensors_tensor){.name = layers[i].name,
                                                 .dtype = CLAYER_DTYPE_F32,
                                                 .ndim = 2,
                                                 .shape = shapes[i],
                                                 .data = data[i],
                                                 .size = elements * sizeof(float)};
    }
    cr_assert_eq(clayer_safetensors_write(path, tensors, count, metadata, metadata_count), CLAYER_OK, "%s",
                 clayer_last_error());
    for (size_t i = 0; i < count; i++)
        free(data[i]);
    return path;
}

static void remove_model(char *path)
{
    unlink(path);
    free(path);
}

/* Loads the file; its layers must have these names in this order, and these activations. */
static void check_order(const char *path, const clayer_model_load_params *params, const char *const *names,
                        const clayer_activation *activations, size_t count)
{
    clayer_context *context = host();
    clayer_model *model = NULL;
    cr_assert_eq(clayer_model_load(context, path, params, &model), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_model_layer_count(model), count);
    for (size_t i = 0; i < count; i++) {
        clayer_linear_info info;
        clayer_linear_get_info(clayer_model_layer(model, i), &info);
        cr_assert_str_eq(clayer_model_layer_name(model, i), names[i]);
        cr_assert_eq(info.activation, activations[i], "layer %s: %s", names[i],
                     clayer_activation_string(info.activation));
    }
    clayer_model_destroy(&model);
    clayer_context_destroy(&context);
}

static void check_refused(const char *path, const clayer_model_load_params *params, clayer_status expected,
                          const char *says)
{
    clayer_context *context = host();
    clayer_model *model = NULL;
    cr_assert_eq(clayer_model_load(context, path, params, &model), expected, "%s", clayer_last_error());
    cr_assert(strstr(clayer_last_error(), says), "'%s' does not say '%s'", clayer_last_error(), says);
    cr_assert_null(model);
    clayer_context_destroy(&context);
}

#define RELU CLAYER_ACTIVATION_RELU
#define NONE CLAYER_ACTIVATION_NONE

/* fc10 sorts before fc2 as text; all the layers would chain in either order. */
Test(model_load, one_number_in_the_names_gives_the_order)
{
    const struct wanted layers[] = {
        {"net.fc10.weight", 2, 2, 1}, {"net.fc2.weight", 2, 2, 1}, {"net.fc1.weight", 2, 2, 1}};
    char *path = write_model(layers, 3, NULL, 0);
    check_order(path, NULL, (const char *[]){"net.fc1", "net.fc2", "net.fc10"},
                (const clayer_activation[]){RELU, RELU, NONE}, 3);
    remove_model(path);
}

Test(model_load, two_numbers_in_the_names_give_no_order)
{
    const struct wanted layers[] = {{"block0.fc1.weight", 2, 2, 1}, {"block1.fc0.weight", 2, 2, 1}};
    char *path = write_model(layers, 2, NULL, 0);
    check_refused(path, NULL, CLAYER_ERROR_FORMAT, "block0.fc1.weight and block1.fc0.weight");
    check_order(path, &(clayer_model_load_params){.layers = "block1.fc0, block0.fc1"},
                (const char *[]){"block1.fc0", "block0.fc1"}, (const clayer_activation[]){RELU, NONE}, 2);
    remove_model(path);
}

Test(model_load, equal_numbers_give_no_order)
{
    const struct wanted layers[] = {{"fc1.weight", 2, 2, 1}, {"fc01.weight", 2, 2, 1}};
    char *path = write_model(layers, 2, NULL, 0);
    check_refused(path, NULL, CLAYER_ERROR_FORMAT, "fc1.weight");
    remove_model(path);
}

Test(model_load, one_layer_needs_no_number)
{
    char *path = write_model((const struct wanted[]){{"weight", 3, 2, 1}}, 1, NULL, 0);
    check_order(path, NULL, (const char *[]){""}, (const clayer_activation[]){NONE}, 1);
    remove_model(path);
}

Test(model_load, metadata_gives_order_and_activations_and_arguments_come_first)
{
    const struct wanted layers[] = {{"decoder.weight", 2, 2, 1}, {"encoder.weight", 2, 2, 1}};
    const clayer_safetensors_metadata metadata[] = {{"clayer.layers", "encoder,decoder"},
                                                    {"clayer.activations", "gelu, sigmoid"}};
    char *path = write_model(layers, 2, metadata, 2);
    const char *const names[] = {"encoder", "decoder"}, *const other[] = {"decoder", "encoder"};
    check_order(path, NULL, names, (const clayer_activation[]){CLAYER_ACTIVATION_GELU, CLAYER_ACTIVATION_SIGMOID}, 2);
    check_order(path, &(clayer_model_load_params){.layers = "decoder,encoder", .activations = "tanh"}, other,
                (const clayer_activation[]){CLAYER_ACTIVATION_TANH, NONE}, 2);
    check_refused(path, &(clayer_model_load_params){.layers = "encoder,middle"}, CLAYER_ERROR_FORMAT, "middle.weight");
    check_refused(path, &(clayer_model_load_params){.layers = "encoder,"}, CLAYER_ERROR_INVALID_ARGUMENT, "name 2");
    check_refused(path, &(clayer_model_load_params){.activations = "relu,swoosh"}, CLAYER_ERROR_INVALID_ARGUMENT,
                  "swoosh");
    check_refused(path, &(clayer_model_load_params){.activations = "relu,relu,relu"}, CLAYER_ERROR_INVALID_ARGUMENT,
                  "3 given for 2 layers");
    check_refused(path, &(clayer_model_load_params){.activations = "clamp,none"}, CLAYER_ERROR_INVALID_ARGUMENT,
                  "clamp");
    remove_model(path);
}

/* The file's words are checked like the caller's. */
Test(model_load, wrong_metadata_is_refused)
{
    const struct wanted layers[] = {{"0.weight", 2, 2, 1}, {"1.weight", 2, 2, 1}};
    char *path = write_model(layers, 2, (const clayer_safetensors_metadata[]){{"clayer.layers", "0,2"}}, 1);
    check_refused(path, NULL, CLAYER_ERROR_FORMAT, "clayer.layers");
    remove_model(path);
    path = write_model(layers, 2, (const clayer_safetensors_metadata[]){{"clayer.activations", "tanh,frob"}}, 1);
    check_refused(path, NULL, CLAYER_ERROR_FORMAT, "frob");
    remove_model(path);
}

Test(model_load, the_order_decides_the_result)
{
    /* 1 -> 2 -> 1: the outputs of the first are 3, so the result is 2 * 3 * 5. */
    const struct wanted layers[] = {{"b.weight", 1, 2, 5}, {"a.weight", 2, 1, 3}};
    char *path = write_model(layers, 2, NULL, 0);
    clayer_context *context = host();
    clayer_model *model = NULL;
    const clayer_model_load_params params = {.layers = "a,b"};
    cr_assert_eq(clayer_model_load(context, path, &params, &model), CLAYER_OK, "%s", clayer_last_error());
    const float x = 1;
    float y = -1;
    cr_assert_eq(clayer_model_forward(model, 1, &x, 1, &y, 1), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(y, 30);
    clayer_model_destroy(&model);
    check_refused(path, &(clayer_model_load_params){.layers = "b,a,a"}, CLAYER_ERROR_MISMATCH,
                  "a.weight (2, 1) does not chain to a.weight (2, 1)");
    remove_model(path);
    clayer_context_destroy(&context);
}

Test(model_load, no_such_file)
{
    check_refused("no such file.safetensors", NULL, CLAYER_ERROR_IO, "no such file.safetensors");
}
