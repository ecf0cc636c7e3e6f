#include <clayer/npy.h>

#include "base/error.h"
#include "formats/convert.h"
#include "formats/mapping.h"
#include "formats/npy_header.h"

#include <stdlib.h>
#include <string.h>

struct clayer_npy {
    char *name;
    struct mapping bytes;
    struct npy_header header;
};

static clayer_status open_bytes(struct clayer_npy *opened, const char *name, clayer_npy **npy)
{
    clayer_status status = CLAYER_OK;
    opened->name = strdup(name);
    if (!opened->name)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    TRY_GOTO(npy_header_parse(opened->bytes.data, opened->bytes.size, name, &opened->header));
    size_t held = opened->bytes.size - opened->header.data_offset;
    if (held != opened->header.data_bytes)
        FAIL_GOTO(CLAYER_ERROR_FORMAT, "%s: its shape (%zu, %zu) of %s needs %zu bytes of data, the file holds %zu",
                  name, opened->header.rows, opened->header.columns, clayer_dtype_name(opened->header.dtype),
                  opened->header.data_bytes, held);
    *npy = opened;
    return CLAYER_OK;
fail:
    clayer_npy_destroy(&opened);
    return status;
}

clayer_status clayer_npy_open(const char *path, clayer_npy **npy)
{
    REQUIRE(path != NULL);
    REQUIRE(npy != NULL);
    struct clayer_npy *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", path);
    clayer_status status = mapping_open(path, &opened->bytes);
    if (status != CLAYER_OK) {
        free(opened);
        return status;
    }
    return open_bytes(opened, path, npy);
}

clayer_status clayer_npy_open_memory(const void *data, size_t size, const char *name, clayer_npy **npy)
{
    REQUIRE(data != NULL || size == 0);
    REQUIRE(name != NULL);
    REQUIRE(npy != NULL);
    struct clayer_npy *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    mapping_borrow(data, size, &opened->bytes);
    return open_bytes(opened, name, npy);
}

void clayer_npy_destroy(clayer_npy **npy)
{
    if (!npy || !*npy)
        return;
    struct clayer_npy *closed = *npy;
    *npy = NULL;
    mapping_close(&closed->bytes);
    free(closed->name);
    free(closed);
}

size_t clayer_npy_rows(const clayer_npy *npy)
{
    return npy ? npy->header.rows : 0;
}

size_t clayer_npy_columns(const clayer_npy *npy)
{
    return npy ? npy->header.columns : 0;
}

size_t clayer_npy_ndim(const clayer_npy *npy)
{
    return npy ? npy->header.ndim : 0;
}

clayer_dtype clayer_npy_dtype(const clayer_npy *npy)
{
    return npy ? npy->header.dtype : CLAYER_DTYPE_F32;
}

const float *clayer_npy_f32(const clayer_npy *npy)
{
    if (!npy || npy->header.dtype != CLAYER_DTYPE_F32 || npy->header.swapped || npy->header.column_major)
        return NULL;
    const unsigned char *data = npy->bytes.data + npy->header.data_offset;
    return (uintptr_t)data % _Alignof(float) == 0 ? (const float *)(const void *)data : NULL;
}

/* Row `row`; its elements lie side by side, or a column's length apart in Fortran order. */
static struct elements row_elements(const struct clayer_npy *npy, size_t row)
{
    const struct npy_header *header = &npy->header;
    size_t size = clayer_dtype_size(header->dtype);
    const unsigned char *data = npy->bytes.data + header->data_offset;
    return (struct elements){
        .data = header->column_major ? data + row * size : data + row * header->row_bytes,
        .stride = header->column_major ? header->rows * size : size,
        .count = header->columns,
        .dtype = header->dtype,
        .swapped = header->swapped,
    };
}

static clayer_status check_range(const struct clayer_npy *npy, size_t first, size_t count)
{
    if (first > npy->header.rows || count > npy->header.rows - first)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: has %zu rows; %zu rows from %zu on are not there", npy->name,
                    npy->header.rows, count, first);
    return CLAYER_OK;
}

clayer_status clayer_npy_read_f32(const clayer_npy *npy, size_t first, size_t count, float *destination)
{
    REQUIRE(npy != NULL);
    TRY(check_range(npy, first, count));
    REQUIRE(destination != NULL || count == 0 || npy->header.columns == 0);
    struct elements elements = row_elements(npy, first);
    if (!npy->header.column_major) {
        elements.count = count * npy->header.columns;
        elements_to_f32(&elements, destination);
        return CLAYER_OK;
    }
    for (size_t i = 0; i < count; i++) {
        elements = row_elements(npy, first + i);
        elements_to_f32(&elements, destination + i * npy->header.columns);
    }
    return CLAYER_OK;
}

clayer_status clayer_npy_read_i64(const clayer_npy *npy, size_t first, size_t count, int64_t *destination)
{
    REQUIRE(npy != NULL);
    TRY(check_range(npy, first, count));
    REQUIRE(destination != NULL || count == 0 || npy->header.columns == 0);
    for (size_t i = 0; i < count && npy->header.columns > 0; i++) {
        struct elements elements = row_elements(npy, first + i);
        size_t good = elements_to_i64(&elements, destination + i * elements.count);
        if (good < elements.count)
            return FAIL(CLAYER_ERROR_FORMAT, "%s: row %zu, column %zu (counted from 0) is no integer of 64 bits",
                        npy->name, first + i, good);
    }
    return CLAYER_OK;
}
