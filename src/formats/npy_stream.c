#include "formats/npy_stream.h"

#include "base/checked.h"
#include "base/error.h"
#include "formats/convert.h"

#include <assert.h>
#include <stdlib.h>

enum { SCRATCH_BYTES = 1 << 20 };

static clayer_status check_size(const struct npy_stream *npy)
{
    const struct npy_header *header = &npy->header;
    const struct source *source = npy->source;
    uint64_t held = source->size - header->data_offset;
    if (source->seekable && held != header->data_bytes)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: its shape (%zu, %zu) of %s needs %zu bytes of data, the file holds %llu",
                    source->name, header->rows, header->columns, clayer_dtype_name(header->dtype), header->data_bytes,
                    (unsigned long long)held);
    if (!source->seekable && header->column_major)
        return FAIL(CLAYER_ERROR_UNSUPPORTED,
                    "%s: is in Fortran order, which cannot be read row by row from a pipe; "
                    "give the file itself, or save it with numpy.ascontiguousarray",
                    source->name);
    return CLAYER_OK;
}

clayer_status npy_stream_open(struct source *source, struct npy_stream *npy)
{
    *npy = (struct npy_stream){.source = source};
    size_t have, size = 0;
    TRY(source_peek(source, NPY_PREFIX_BYTES, &have));
    TRY(npy_header_size(source->at, have, source->name, &size));
    TRY(source_peek(source, size, &have));
    TRY(npy_header_parse(source->at, have, source->name, &npy->header));
    source->at += size;
    return check_size(npy);
}

void npy_stream_close(struct npy_stream *npy)
{
    free(npy->scratch);
    *npy = (struct npy_stream){.source = NULL};
}

static clayer_status prepare_scratch(struct npy_stream *npy)
{
    size_t row_bytes = npy->header.row_bytes;
    if (npy->scratch || row_bytes == 0)
        return CLAYER_OK;
    npy->scratch_rows = row_bytes < SCRATCH_BYTES ? SCRATCH_BYTES / row_bytes : 1;
    npy->scratch = malloc(npy->scratch_rows * row_bytes);
    if (!npy->scratch)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%s: no memory for a row of %zu columns", npy->source->name,
                    npy->header.columns);
    return CLAYER_OK;
}

static clayer_status read_bytes(struct npy_stream *npy, void *destination, size_t rows)
{
    size_t got = 0, wanted = rows * npy->header.row_bytes;
    TRY(source_read(npy->source, destination, wanted, &got));
    if (got < wanted)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: ends within row %zu (counted from 0); its shape has %zu rows",
                    npy->source->name, npy->next + got / npy->header.row_bytes, npy->header.rows);
    return CLAYER_OK;
}

/* Brings the next rows into the scratch memory, row after row, or column after column where the file is so. */
static clayer_status fill_scratch(struct npy_stream *npy, size_t rows)
{
    const struct npy_header *header = &npy->header;
    if (!header->column_major)
        return read_bytes(npy, npy->scratch, rows);
    size_t size = clayer_dtype_size(header->dtype);
    for (size_t column = 0; column < header->columns; column++) {
        uint64_t offset = header->data_offset + ((uint64_t)column * header->rows + npy->next) * size;
        TRY(source_read_at(npy->source, offset, npy->scratch + column * rows * size, rows * size));
    }
    return CLAYER_OK;
}

/* Row `row` of the `rows` in the scratch memory. */
static struct elements scratch_row(const struct npy_stream *npy, size_t row, size_t rows)
{
    const struct npy_header *header = &npy->header;
    size_t size = clayer_dtype_size(header->dtype);
    return (struct elements){
        .data = npy->scratch + row * (header->column_major ? size : header->row_bytes),
        .stride = header->column_major ? rows * size : size,
        .count = header->columns,
        .dtype = header->dtype,
        .swapped = header->swapped,
    };
}

/* How many rows the next step takes. */
static size_t step_rows(const struct npy_stream *npy, size_t wanted, size_t limit)
{
    size_t left = npy->header.rows - npy->next;
    wanted = wanted < left ? wanted : left;
    return wanted < limit ? wanted : limit;
}

clayer_status npy_stream_read(struct npy_stream *npy, float *destination, size_t max_rows, size_t *got)
{
    const struct npy_header *header = &npy->header;
    *got = 0;
    if (header->columns == 0) {
        *got = step_rows(npy, max_rows, SIZE_MAX);
        npy->next += *got;
        return CLAYER_OK;
    }
    if (header->dtype == CLAYER_DTYPE_F32 && !header->swapped && !header->column_major) {
        size_t rows = step_rows(npy, max_rows, SIZE_MAX);
        TRY(read_bytes(npy, destination, rows));
        npy->next += rows;
        *got = rows;
        return CLAYER_OK;
    }
    TRY(prepare_scratch(npy));
    for (size_t rows; (rows = step_rows(npy, max_rows - *got, npy->scratch_rows)) > 0; *got += rows) {
        TRY(fill_scratch(npy, rows));
        for (size_t row = 0; row < rows; row++) {
            struct elements elements = scratch_row(npy, row, rows);
            elements_to_f32(&elements, destination + (*got + row) * header->columns);
        }
        npy->next += rows;
    }
    return CLAYER_OK;
}

clayer_status npy_stream_read_labels(struct npy_stream *npy, int64_t *destination, size_t max_rows, size_t *got)
{
    assert(npy->header.columns == 1);
    *got = 0;
    TRY(prepare_scratch(npy));
    for (size_t rows; (rows = step_rows(npy, max_rows - *got, npy->scratch_rows)) > 0; *got += rows) {
        TRY(fill_scratch(npy, rows));
        struct elements column = scratch_row(npy, 0, rows);
        column.count = rows; /* a single column, so its elements lie side by side */
        size_t good = elements_to_i64(&column, destination + *got);
        if (good < rows)
            return FAIL(CLAYER_ERROR_FORMAT, "%s: row %zu (counted from 0) is no integer of 64 bits", npy->source->name,
                        npy->next + good);
        npy->next += rows;
    }
    return CLAYER_OK;
}

clayer_status npy_stream_skip(struct npy_stream *npy, size_t rows)
{
    const struct npy_header *header = &npy->header;
    rows = step_rows(npy, rows, SIZE_MAX);
    npy->next += rows;
    if (header->column_major)
        return CLAYER_OK;
    if (npy->source->seekable)
        return source_seek(npy->source, header->data_offset + (uint64_t)npy->next * header->row_bytes);
    uint64_t wanted = (uint64_t)rows * header->row_bytes, skipped = 0;
    TRY(source_skip(npy->source, wanted, &skipped));
    if (skipped < wanted)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: ends before row %zu (counted from 0); its shape has %zu rows",
                    npy->source->name, npy->next, header->rows);
    return CLAYER_OK;
}
