/* Any bytes as a .npy array: read as a whole and as a stream, which must agree. */
#include "formats/rows.h"

#include <clayer/npy.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same rows in steps of three, from the middle on. */
static void check_stream(const uint8_t *data, size_t size, const float *whole, size_t count, size_t columns)
{
    const clayer_rows_params params = {.format = CLAYER_ROWS_NPY};
    clayer_rows *rows = NULL;
    if (rows_open_memory(data, size, "fuzz", &params, &rows) != CLAYER_OK)
        abort();
    if (clayer_rows_columns(rows) != columns || clayer_rows_selected(rows) != count)
        abort();
    size_t at = count / 2, got = 0;
    float *values = malloc((3 * columns + 1) * sizeof *values);
    if (clayer_rows_select(rows, at, count - at) != CLAYER_OK)
        abort();
    do {
        if (clayer_rows_read(rows, values, 3, &got) != CLAYER_OK ||
            memcmp(values, whole + at * columns, got * columns * sizeof *values) != 0)
            abort();
        at += got;
    } while (got > 0);
    if (at != count)
        abort();
    free(values);
    clayer_rows_destroy(&rows);
}

static void check_labels(const uint8_t *data, size_t size, size_t count)
{
    clayer_rows *rows = NULL;
    size_t got = 0;
    int64_t *labels = malloc((count + 1) * sizeof *labels);
    if (rows_open_memory(data, size, "fuzz.npy", &(clayer_rows_params){.format = CLAYER_ROWS_AUTO}, &rows) != CLAYER_OK)
        abort();
    if (clayer_rows_read_labels(rows, labels, count, &got) == CLAYER_OK && got != count)
        abort();
    clayer_rows_destroy(&rows);
    free(labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clayer_npy *npy = NULL;
    if (clayer_npy_open_memory(data, size, "fuzz", &npy) != CLAYER_OK) {
        clayer_rows *rows = NULL;
        const clayer_rows_params params = {.format = CLAYER_ROWS_NPY};
        if (rows_open_memory(data, size, "fuzz", &params, &rows) == CLAYER_OK)
            abort();
        return 0;
    }
    size_t count = clayer_npy_rows(npy), columns = clayer_npy_columns(npy);
    if (columns > 0) { /* without columns any number of rows fits into no bytes */
        float *values = malloc((count * columns + 1) * sizeof *values);
        int64_t *integers = malloc((count * columns + 1) * sizeof *integers);
        if (clayer_npy_read_f32(npy, 0, count, values) != CLAYER_OK)
            abort();
        const float *in_place = clayer_npy_f32(npy);
        if (in_place && memcmp(in_place, values, count * columns * sizeof *values) != 0)
            abort();
        clayer_npy_read_i64(npy, 0, count, integers);
        check_stream(data, size, values, count, columns);
        if (columns == 1)
            check_labels(data, size, count);
        free(values);
        free(integers);
    }
    clayer_npy_destroy(&npy);
    return 0;
}
