/* clayer: rows of numbers, written one batch after the other. */
#ifndef CLAYER_ROWS_WRITER_H
#define CLAYER_ROWS_WRITER_H

#include <clayer/dtype.h>
#include <clayer/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table that is being written, as a .npy array or as CSV. A file appears at its path only when it is closed, whole;
 * what was written before an abort is gone. Pipes and standard output are written as the rows come. One thread at a
 * time. */
typedef struct clayer_rows_writer clayer_rows_writer;

/* Zero means default throughout. */
typedef struct clayer_rows_writer_params {
    clayer_rows_format format; /* AUTO: by the path's end, .npy or .csv; any other needs it said */
    clayer_dtype dtype;        /* F32 (0), written with clayer_rows_writer_write, or I64, with ..._write_i64 */
    bool one_dimension;        /* .npy with one column: shape (rows,) in place of (rows, 1) */
    bool rows_known;           /* `rows` is how many will be written; needed for .npy to a pipe, where it comes first */
    size_t rows;
    char csv_separator;            /* ',' (0), ';' or '\t' */
    const char *const *csv_header; /* a name per column, or NULL: no header */
} clayer_rows_writer_params;

/* Opens path, or standard output for "-", for rows of `columns` values. params may be NULL. INVALID_ARGUMENT when the
 * format cannot be told; UNSUPPORTED for .npy to a pipe without rows_known; IO names the path.
 *
 * .npy: version 1.0, little-endian, C order. CSV: RFC 4180 with LF; each float32 as the shortest of 6 to 9 significant
 * digits that reads back as the same value, whatever the locale; nan, inf and -inf.
 *
 * The caller owns *writer and ends it with clayer_rows_writer_close or clayer_rows_writer_abort. */
CLAYER_API clayer_status clayer_rows_writer_create(const char *path, size_t columns,
                                                   const clayer_rows_writer_params *params,
                                                   clayer_rows_writer **writer);

/* Appends rows of float32 or of integers, one after the other without gaps. */
CLAYER_API clayer_status clayer_rows_writer_write(clayer_rows_writer *writer, const float *values, size_t rows);
CLAYER_API clayer_status clayer_rows_writer_write_i64(clayer_rows_writer *writer, const int64_t *values, size_t rows);

/* Finishes the table with the rows written so far, puts it in place, and sets *writer to NULL, on failure too (nothing
 * is then left of a file). MISMATCH when rows_known was given, the header is already out, and another number of rows
 * came. Accepts a pointer to NULL. */
CLAYER_API clayer_status clayer_rows_writer_close(clayer_rows_writer **writer);

/* Gives up: nothing is left at or beside the path (what a pipe has swallowed stays swallowed), what stood there before
 * stands. Sets *writer to NULL; accepts NULL and a pointer to NULL. */
CLAYER_API void clayer_rows_writer_abort(clayer_rows_writer **writer);

#ifdef __cplusplus
}
#endif
#endif
