/* NumPy arrays as a whole: every type, order and version, and what is refused. */
#include "support/malformed.h"

#include <clayer/npy.h>
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clayer_npy *open_path(const char *path)
{
    clayer_npy *npy = NULL;
    cr_assert_eq(clayer_npy_open(path, &npy), CLAYER_OK, "%s", clayer_last_error());
    return npy;
}

/* The fixtures' value in row i and column j is i * 10 + j; in one dimension the index alone. */
static void check_fixture(const clayer_npy *npy, const char *file, size_t ndim, size_t rows, size_t columns)
{
    cr_assert_eq(clayer_npy_ndim(npy), ndim, "%s", file);
    cr_assert_eq(clayer_npy_rows(npy), rows, "%s", file);
    cr_assert_eq(clayer_npy_columns(npy), columns, "%s", file);
    float *values = malloc((rows * columns + 1) * sizeof *values);
    int64_t *integers = malloc((rows * columns + 1) * sizeof *integers);
    cr_assert_eq(clayer_npy_read_f32(npy, 0, rows, values), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_npy_read_i64(npy, 0, rows, integers), CLAYER_OK, "%s", clayer_last_error());
    const float *in_place = clayer_npy_f32(npy);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            size_t at = i * columns + j, expected = ndim == 1 ? i : i * 10 + j;
            cr_assert_eq(values[at], (float)expected, "%s: [%zu][%zu] is %g", file, i, j, (double)values[at]);
            cr_assert_eq(integers[at], (int64_t)expected, "%s: [%zu][%zu]", file, i, j);
            if (in_place)
                cr_assert_eq(in_place[at], (float)expected, "%s: [%zu][%zu] in place", file, i, j);
        }
    }
    if (rows > 1) { /* from the middle */
        cr_assert_eq(clayer_npy_read_f32(npy, rows - 1, 1, values), CLAYER_OK);
        cr_assert_eq(values[0], (float)(ndim == 1 ? rows - 1 : (rows - 1) * 10), "%s: last row", file);
    }
    free(values);
    free(integers);
}

Test(npy, every_type_order_and_version)
{
    json_error_t error;
    json_t *manifest = json_load_file(TEST_DATA "/npy/manifest.json", 0, &error), *entry;
    cr_assert_not_null(manifest, "%s", error.text);
    size_t i, in_place = 0;
    cr_assert_geq(json_array_size(manifest), 25);
    json_array_foreach(manifest, i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        const json_t *shape = json_object_get(entry, "shape");
        size_t ndim = json_array_size(shape);
        char path[4096];
        snprintf(path, sizeof path, "%s/npy/%s", TEST_DATA, file);
        clayer_npy *npy = open_path(path);
        check_fixture(npy, file, ndim, (size_t)json_integer_value(json_array_get(shape, 0)),
                      ndim > 1 ? (size_t)json_integer_value(json_array_get(shape, 1)) : 1);
        in_place += clayer_npy_f32(npy) != NULL;
        clayer_npy_destroy(&npy);
        cr_assert_null(npy);
    }
    cr_assert(in_place > 0 && in_place < i);
    json_decref(manifest);
    clayer_npy_destroy(NULL);
}

Test(npy, the_digits)
{
    clayer_npy *images = open_path(TEST_DATA "/digits_test.npy"), *labels = open_path(TEST_DATA "/digits_labels.npy");
    cr_assert_eq(clayer_npy_rows(images), 360);
    cr_assert_eq(clayer_npy_columns(images), 64);
    cr_assert_eq(clayer_npy_dtype(images), CLAYER_DTYPE_F32);
    cr_assert_not_null(clayer_npy_f32(images));
    cr_assert_eq(clayer_npy_dtype(labels), CLAYER_DTYPE_I64);
    cr_assert_null(clayer_npy_f32(labels));
    int64_t digits[360];
    cr_assert_eq(clayer_npy_read_i64(labels, 0, 360, digits), CLAYER_OK);
    for (size_t i = 0; i < 360; i++)
        cr_assert(digits[i] >= 0 && digits[i] <= 9);
    clayer_npy_destroy(&images);
    clayer_npy_destroy(&labels);
}

Test(npy, rows_that_are_not_there)
{
    clayer_npy *npy = open_path(TEST_DATA "/npy/c_3x5.npy");
    float values[15];
    cr_assert_eq(clayer_npy_read_f32(npy, 3, 0, values), CLAYER_OK);
    cr_assert_eq(clayer_npy_read_f32(npy, 4, 0, values), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_npy_read_f32(npy, 2, 2, values), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_npy_read_f32(npy, 1, SIZE_MAX, values), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert(strstr(clayer_last_error(), "has 3 rows"), "%s", clayer_last_error());
    clayer_npy_destroy(&npy);
}

/* An array in memory: its header's dictionary and its data. */
static clayer_status open_one(const char *dictionary, const void *data, size_t size, clayer_npy **npy)
{
    static unsigned char bytes[1024];
    size_t length = strlen(dictionary) + 1;
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, dictionary, length - 1);
    bytes[9 + length] = '\n';
    memcpy(bytes + 10 + length, data, size);
    return clayer_npy_open_memory(bytes, 10 + length + size, "memory", npy);
}

Test(npy, labels_that_are_no_integers)
{
    const float values[3] = {1, 2, 2.5f};
    const uint64_t large[2] = {7, UINT64_MAX};
    int64_t labels[3];
    clayer_npy *npy = NULL;
    cr_assert_eq(open_one("{'descr':'<f4','fortran_order':False,'shape':(3,)}", values, sizeof values, &npy), CLAYER_OK,
                 "%s", clayer_last_error());
    cr_assert_eq(clayer_npy_read_i64(npy, 0, 2, labels), CLAYER_OK);
    cr_assert_eq(labels[1], 2);
    cr_assert_eq(clayer_npy_read_i64(npy, 0, 3, labels), CLAYER_ERROR_FORMAT);
    cr_assert_str_eq(clayer_last_error(), "memory: row 2, column 0 (counted from 0) is no integer of 64 bits");
    clayer_npy_destroy(&npy);
    cr_assert_eq(open_one("{\"shape\" : ( 2L , ) , \"descr\" : \"<u8\" , \"fortran_order\" : True , }", large,
                          sizeof large, &npy),
                 CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_npy_read_i64(npy, 0, 1, labels), CLAYER_OK);
    cr_assert_eq(labels[0], 7);
    cr_assert_eq(clayer_npy_read_i64(npy, 1, 1, labels), CLAYER_ERROR_FORMAT);
    clayer_npy_destroy(&npy);
}

static clayer_status read_whole(const char *path)
{
    clayer_npy *npy = NULL;
    clayer_status status = clayer_npy_open(path, &npy);
    if (status == CLAYER_OK) {
        float *values = malloc((clayer_npy_rows(npy) * clayer_npy_columns(npy) + 1) * sizeof *values);
        status = clayer_npy_read_f32(npy, 0, clayer_npy_rows(npy), values);
        free(values);
    }
    clayer_npy_destroy(&npy);
    return status;
}

Test(npy, every_malformed_file_is_refused)
{
    cr_assert_geq(malformed_check("npy", read_whole, NULL), 30);
}
