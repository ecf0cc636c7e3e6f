/* Model files: what is read, converted, refused and written. */
#include "formats/convert.h"
#include "support/malformed.h"

#include <clayer/safetensors.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clayer_safetensors *open_data(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    clayer_safetensors *file = NULL;
    cr_assert_eq(clayer_safetensors_open(path, &file), CLAYER_OK, "%s", clayer_last_error());
    return file;
}

static float *read_f32(const clayer_safetensors *file, const char *name, size_t *count)
{
    const clayer_safetensors_tensor *tensor = clayer_safetensors_find(file, name);
    cr_assert_not_null(tensor, "no tensor %s", name);
    *count = tensor->size / clayer_dtype_size(tensor->dtype);
    float *values = malloc((*count + 1) * sizeof *values);
    cr_assert_eq(clayer_safetensors_read_f32(file, tensor, values, *count), CLAYER_OK, "%s", clayer_last_error());
    return values;
}

Test(safetensors, the_digits_model)
{
    clayer_safetensors *file = open_data("digits.safetensors");
    cr_assert_eq(clayer_safetensors_count(file), 6);
    const clayer_safetensors_tensor *weight = clayer_safetensors_find(file, "0.weight");
    cr_assert_not_null(weight);
    cr_assert_eq(weight->dtype, CLAYER_DTYPE_F32);
    cr_assert_eq(weight->ndim, 2);
    cr_assert_eq(weight->shape[0], 128);
    cr_assert_eq(weight->shape[1], 64);
    cr_assert_eq(weight->size, 128 * 64 * 4);
    cr_assert_null(clayer_safetensors_find(file, "1.weight"));
    cr_assert_null(clayer_safetensors_find(file, "__metadata__"));
    cr_assert_null(clayer_safetensors_at(file, 6));
    cr_assert_null(clayer_safetensors_metadata_get(file, "no such key"));
    clayer_safetensors_destroy(&file);
    cr_assert_null(file);
    clayer_safetensors_destroy(&file);
    clayer_safetensors_destroy(NULL);
}

Test(safetensors, unaligned_tensors_have_the_same_values)
{
    clayer_safetensors *file = open_data("digits.safetensors"), *odd = open_data("digits_odd.safetensors");
    cr_assert_eq((uintptr_t)clayer_safetensors_find(odd, "0.weight")->data % 2, 1);
    for (size_t i = 0; i < clayer_safetensors_count(file); i++) {
        const char *name = clayer_safetensors_at(file, i)->name;
        size_t count, odd_count;
        float *a = read_f32(file, name, &count), *b = read_f32(odd, name, &odd_count);
        cr_assert_eq(count, odd_count);
        cr_assert_eq(memcmp(a, b, count * sizeof *a), 0, "%s", name);
        free(a);
        free(b);
    }
    clayer_safetensors_destroy(&file);
    clayer_safetensors_destroy(&odd);
}

/* Rounding to nearest moves a value by at most half a unit in the last place: 2^-11 of it for F16, 2^-8 for BF16. */
static void check_rounded(const char *name, clayer_dtype dtype, float relative, float absolute)
{
    clayer_safetensors *file = open_data("digits.safetensors"), *narrow = open_data(name);
    for (size_t i = 0; i < clayer_safetensors_count(file); i++) {
        const char *tensor = clayer_safetensors_at(file, i)->name;
        cr_assert_eq(clayer_safetensors_find(narrow, tensor)->dtype, dtype);
        size_t count, narrow_count;
        float *a = read_f32(file, tensor, &count), *b = read_f32(narrow, tensor, &narrow_count);
        cr_assert_eq(count, narrow_count);
        size_t different = 0;
        for (size_t j = 0; j < count; j++) {
            cr_assert(fabsf(a[j] - b[j]) <= relative * fabsf(a[j]) + absolute, "%s[%zu]: %g, %g", tensor, j,
                      (double)a[j], (double)b[j]);
            different += a[j] != b[j];
        }
        cr_assert(different > count / 2, "%s: %zu of %zu rounded", tensor, different, count);
        free(a);
        free(b);
    }
    clayer_safetensors_destroy(&file);
    clayer_safetensors_destroy(&narrow);
}

Test(safetensors, f16_and_bf16_are_the_rounded_weights)
{
    check_rounded("digits_f16.safetensors", CLAYER_DTYPE_F16, 0x1p-11f, 0x1p-25f);
    check_rounded("digits_bf16.safetensors", CLAYER_DTYPE_BF16, 0x1p-8f, 0);
}

/* The value of a half by its definition, in double. */
static double f16_value(unsigned bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, (int)exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

Test(safetensors, every_half_and_bfloat16_is_widened_exactly)
{
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        double expected = f16_value(bits);
        float half = f16_to_f32((uint16_t)bits), brain = bf16_to_f32((uint16_t)bits);
        if (isnan(expected))
            cr_assert(isnan(half), "%#x", bits);
        else
            cr_assert((double)half == expected && !!signbit(half) == !!signbit(expected), "%#x: %a", bits,
                      (double)half);
        uint32_t widened;
        memcpy(&widened, &brain, sizeof widened);
        cr_assert_eq(widened, bits << 16, "%#x", bits);
    }
}

/* A file of one tensor, in memory. */
static clayer_status open_one(const char *header, const void *data, size_t size, clayer_safetensors **file)
{
    static unsigned char bytes[4096];
    size_t length = strlen(header);
    memset(bytes, 0, 8);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    if (size > 0)
        memcpy(bytes + 8 + length, data, size);
    return clayer_safetensors_open_memory(bytes, 8 + length + size, "memory", file);
}

Test(safetensors, f64_is_rounded_to_nearest)
{
    const double values[] = {1.0 / 3, 1 + 0x1p-24, 1 + 0x1.8p-24, 1e300, -0.0, NAN, 0x1p-149};
    const float expected[] = {1.0f / 3, 1, 1 + 0x1p-23f, INFINITY, -0.0f, NAN, 0x1p-149f};
    clayer_safetensors *file = NULL;
    cr_assert_eq(
        open_one("{\"a\":{\"dtype\":\"F64\",\"shape\":[7],\"data_offsets\":[0,56]}}", values, sizeof values, &file),
        CLAYER_OK, "%s", clayer_last_error());
    size_t count;
    float *read = read_f32(file, "a", &count);
    cr_assert_eq(count, 7);
    for (size_t i = 0; i < count; i++)
        cr_assert((isnan(read[i]) && isnan(expected[i])) ||
                      (read[i] == expected[i] && !!signbit(read[i]) == !!signbit(expected[i])),
                  "%zu: %a", i, (double)read[i]);
    free(read);
    clayer_safetensors_destroy(&file);
}

Test(safetensors, scalars_and_empty_tensors)
{
    const float value = 42;
    clayer_safetensors *file = NULL;
    cr_assert_eq(open_one("{\"__metadata__\":{\"k\":\"v\"},"
                          "\"e\":{\"dtype\":\"F32\",\"shape\":[3,0,9],\"data_offsets\":[0,0]},"
                          "\"s\":{\"data_offsets\":[0,4],\"shape\":[],\"dtype\":\"F32\"},"
                          "\"z\":{\"dtype\":\"I64\",\"shape\":[0],\"data_offsets\":[4,4]}}   ",
                          &value, 4, &file),
                 CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_safetensors_count(file), 3);
    cr_assert_str_eq(clayer_safetensors_metadata_get(file, "k"), "v");
    size_t count;
    float *read = read_f32(file, "s", &count);
    cr_assert_eq(count, 1);
    cr_assert_eq(read[0], 42);
    free(read);
    free(read_f32(file, "e", &count));
    cr_assert_eq(count, 0);
    const clayer_safetensors_tensor *empty = clayer_safetensors_find(file, "e");
    cr_assert_eq(empty->ndim, 3);
    cr_assert_eq(empty->shape[2], 9);
    clayer_safetensors_destroy(&file);
}

Test(safetensors, other_types_open_and_are_refused_as_weights)
{
    const int32_t values[2] = {1, 2};
    clayer_safetensors *file = NULL;
    cr_assert_eq(
        open_one("{\"n\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}", values, sizeof values, &file),
        CLAYER_OK);
    float read[2];
    cr_assert_eq(clayer_safetensors_read_f32(file, clayer_safetensors_at(file, 0), read, 2), CLAYER_ERROR_UNSUPPORTED);
    cr_assert_str_eq(clayer_last_error(), "memory: tensor 'n': has type I32; F32, F16, BF16 and F64 are accepted");
    clayer_safetensors_destroy(&file);
}

Test(safetensors, a_wrong_count_is_refused)
{
    const float values[2] = {1, 2};
    float read[3];
    clayer_safetensors *file = NULL;
    cr_assert_eq(
        open_one("{\"n\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", values, sizeof values, &file),
        CLAYER_OK);
    cr_assert_eq(clayer_safetensors_read_f32(file, clayer_safetensors_at(file, 0), read, 3), CLAYER_ERROR_MISMATCH);
    cr_assert_str_eq(clayer_last_error(), "memory: tensor 'n': has 2 elements, 3 were asked for");
    clayer_safetensors_destroy(&file);
}

/* Opens it and reads every tensor, as a model does. */
static clayer_status read_whole(const char *path)
{
    clayer_safetensors *file = NULL;
    clayer_status status = clayer_safetensors_open(path, &file);
    for (size_t i = 0; status == CLAYER_OK && i < clayer_safetensors_count(file); i++) {
        const clayer_safetensors_tensor *tensor = clayer_safetensors_at(file, i);
        size_t count = tensor->size / clayer_dtype_size(tensor->dtype);
        float *values = malloc((count + 1) * sizeof *values);
        status = clayer_safetensors_read_f32(file, tensor, values, count);
        free(values);
    }
    clayer_safetensors_destroy(&file);
    return status;
}

Test(safetensors, every_malformed_file_is_refused)
{
    /* Sound files that make no model: tests/model.c. */
    static const char *const models[] = {"no_tensors.safetensors",          "chain_broken.safetensors",
                                         "bias_length.safetensors",         "bias_2d.safetensors",
                                         "weight_1d.safetensors",           "weight_3d.safetensors",
                                         "bias_without_weight.safetensors", "tensor_not_linear.safetensors",
                                         "order_unknown.safetensors",       NULL};
    cr_assert_geq(malformed_check("safetensors", read_whole, models), 40);
    for (size_t i = 0; models[i]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/malformed/%s", TEST_DATA, models[i]);
        cr_expect_eq(read_whole(path), CLAYER_OK, "%s", clayer_last_error());
    }
}

Test(safetensors, missing_files_and_directories)
{
    clayer_safetensors *file = NULL;
    cr_assert_eq(clayer_safetensors_open("no/such.safetensors", &file), CLAYER_ERROR_IO);
    cr_assert_str_eq(clayer_last_error(), "cannot open no/such.safetensors: No such file or directory");
    cr_assert_eq(clayer_safetensors_open(TEST_DATA, &file), CLAYER_ERROR_IO);
    cr_assert(strstr(clayer_last_error(), "is a directory"), "%s", clayer_last_error());
    cr_assert_null(file);
    cr_assert_eq(clayer_safetensors_open(NULL, &file), CLAYER_ERROR_INVALID_ARGUMENT);
}

static void temporary_path(char path[64])
{
    strcpy(path, "/tmp/clayer-test-XXXXXX");
    cr_assert_not_null(mkdtemp(path));
    strcat(path, "/f");
}

static void remove_temporary(char path[64])
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    cr_assert_eq(rmdir(path), 0, "something else was left in %s", path);
}

Test(safetensors, what_is_written_is_read_back)
{
    char path[64];
    temporary_path(path);
    const float weight[6] = {1, -2, 3.5f, 0, INFINITY, 1e-45f};
    const uint16_t half[3] = {0x3c00, 0x0001, 0xfbff};
    const size_t weight_shape[2] = {2, 3}, half_shape[1] = {3};
    const clayer_safetensors_tensor tensors[] = {
        {"net.1.weight", CLAYER_DTYPE_F32, 2, weight_shape, weight, sizeof weight},
        {"net.0 \"quoted\" \xc3\xa9", CLAYER_DTYPE_F16, 1, half_shape, half, sizeof half},
        {"scalar", CLAYER_DTYPE_F32, 0, NULL, weight + 2, 4},
    };
    const clayer_safetensors_metadata metadata[] = {{"activation", "relu"}, {"format", "pt"}};
    cr_assert_eq(clayer_safetensors_write(path, tensors, 3, metadata, 2), CLAYER_OK, "%s", clayer_last_error());

    clayer_safetensors *file = NULL;
    cr_assert_eq(clayer_safetensors_open(path, &file), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_safetensors_count(file), 3);
    for (size_t i = 0; i < 3; i++) {
        const clayer_safetensors_tensor *tensor = clayer_safetensors_at(file, i);
        cr_assert_str_eq(tensor->name, tensors[i].name);
        cr_assert_eq(tensor->dtype, tensors[i].dtype);
        cr_assert_eq(tensor->ndim, tensors[i].ndim);
        cr_assert_eq(tensor->size, tensors[i].size);
        cr_assert_eq(memcmp(tensor->data, tensors[i].data, tensor->size), 0);
    }
    cr_assert_str_eq(clayer_safetensors_metadata_get(file, "activation"), "relu");
    cr_assert_eq((uintptr_t)clayer_safetensors_at(file, 0)->data % 8, 0);
    clayer_safetensors_destroy(&file);

    /* A refused write leaves what stood there. */
    const clayer_safetensors_tensor twice[] = {tensors[0], tensors[0]};
    cr_assert_eq(clayer_safetensors_write(path, twice, 2, NULL, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_str_eq(clayer_last_error(), "tensor 'net.1.weight' is given twice");
    clayer_safetensors_tensor shorter = tensors[0];
    shorter.size -= 4;
    cr_assert_eq(clayer_safetensors_write(path, &shorter, 1, NULL, 0), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_safetensors_open(path, &file), CLAYER_OK);
    cr_assert_eq(clayer_safetensors_count(file), 3);
    clayer_safetensors_destroy(&file);
    remove_temporary(path);
}

Test(safetensors, a_header_of_100_mb_is_the_limit)
{
    unsigned char bytes[16] = {0x01, 0xe1, 0xf5, 0x05, 0, 0, 0, 0, '{', '}'}; /* 100,000,001 */
    clayer_safetensors *file = NULL;
    cr_assert_eq(clayer_safetensors_open_memory(bytes, sizeof bytes, "memory", &file), CLAYER_ERROR_FORMAT);
    cr_assert(strstr(clayer_last_error(), "100000001; at most 100000000"), "%s", clayer_last_error());
    bytes[0] = 0x00;
    cr_assert_eq(clayer_safetensors_open_memory(bytes, sizeof bytes, "memory", &file), CLAYER_ERROR_FORMAT);
    cr_assert(strstr(clayer_last_error(), "passes the end of the file"), "%s", clayer_last_error());
}
