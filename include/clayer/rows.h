/* clayer: rows of numbers, read one batch after the other from files of any size or from a pipe. */
#ifndef CLAYER_ROWS_H
#define CLAYER_ROWS_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table of numbers that is read from its first row to its last, in a .npy array or in CSV text. Memory does not grow
 * with the table. One thread at a time. */
typedef struct clayer_rows clayer_rows;

typedef enum clayer_rows_format {
    CLAYER_ROWS_AUTO = 0, /* reading: .npy if the content or the name says so, else CSV. Writing: by the name's end */
    CLAYER_ROWS_NPY = 1,
    CLAYER_ROWS_CSV = 2
} clayer_rows_format;

typedef enum clayer_rows_header {
    CLAYER_ROWS_HEADER_AUTO =
        0, /* the first line is a header if none of its fields is a number; a mixed one is refused */
    CLAYER_ROWS_HEADER_NO = 1,
    CLAYER_ROWS_HEADER_YES = 2
} clayer_rows_header;

/* Zero means default throughout. */
typedef struct clayer_rows_params {
    clayer_rows_format format;
    clayer_rows_header csv_header;
    char csv_separator; /* ',', ';' or '\t'; 0: ';' if the first line has one outside quotes, else tab, else ',' */
    /* Asked whenever a signal interrupts reading (the process must have installed its handler without SA_RESTART);
     * true ends the read with CANCELLED. NULL: reading goes on. */
    bool (*cancelled)(void *user);
    void *user;
} clayer_rows_params;

/* What the count is when nobody can know it before the end: CSV from a pipe. */
#define CLAYER_ROWS_UNKNOWN SIZE_MAX

/* Opens a file, or standard input for "-" (a pipe, or a file that the shell opened). params may be NULL.
 *
 * .npy: as clayer/npy.h says; a 1-d array is rows of one column. An array in Fortran order cannot come from a pipe
 * (UNSUPPORTED): its first row ends near its last byte. What follows an array in a pipe is left unread.
 *
 * CSV: RFC 4180 with numbers only. UTF-8 or ASCII, with or without byte-order mark; lines end in LF, CRLF or CR; blank
 * lines are skipped; fields may be quoted and may have spaces around them; a quoted field ends on its line. Numbers are
 * decimal with '.', whatever the locale, or nan, inf, infinity in any case; they are rounded to nearest, and one beyond
 * float32's range is refused. Every row has the same number of fields; a table without any row is refused.
 *
 * IO: cannot be read. FORMAT: malformed; the text names the file, and line and column for CSV. The caller owns *rows
 * and hands it to clayer_rows_destroy. */
CLAYER_API clayer_status clayer_rows_open(const char *path, const clayer_rows_params *params, clayer_rows **rows);

/* Closes the table and sets *rows to NULL. Accepts NULL and a pointer to NULL. */
CLAYER_API void clayer_rows_destroy(clayer_rows **rows);

/* NPY or CSV. */
CLAYER_API clayer_rows_format clayer_rows_get_format(const clayer_rows *rows);

/* Fields of each row. */
CLAYER_API size_t clayer_rows_columns(const clayer_rows *rows);

/* How many rows the table has, selected or not. CSV is counted by reading the file once through; from a pipe the answer
 * is CLAYER_ROWS_UNKNOWN. To be called before the first row is read. */
CLAYER_API clayer_status clayer_rows_count(clayer_rows *rows, size_t *count);

/* Restricts reading to `count` rows from row `first` (counted from 0) on; rows before are passed over. To be called
 * once at most, before the first row is read. INVALID_ARGUMENT when the table is known to end earlier. */
CLAYER_API clayer_status clayer_rows_select(clayer_rows *rows, size_t first, size_t count);

/* Restricts reading to the part `index` (from 0) of `parts` nearly equal ranges that together are the whole table, each
 * row in exactly one; part i is rows [count * i / parts, count * (i + 1) / parts). UNSUPPORTED when the count cannot be
 * known. Instead of clayer_rows_select. */
CLAYER_API clayer_status clayer_rows_select_part(clayer_rows *rows, size_t index, size_t parts);

/* How many rows are selected, which clayer_rows_read will deliver in all; CLAYER_ROWS_UNKNOWN as above. */
CLAYER_API size_t clayer_rows_selected(const clayer_rows *rows);

/* Reads the next rows as float32, one after the other without gaps: up to max_rows x columns values. *got is the number
 * of rows, less than max_rows only at the end, and 0 from then on. After a failure the table cannot be read further. */
CLAYER_API clayer_status clayer_rows_read(clayer_rows *rows, float *destination, size_t max_rows, size_t *got);

/* The same for a table of one column of integers: labels. MISMATCH for more columns; FORMAT names the row or line that
 * holds no integer of 64 bits. */
CLAYER_API clayer_status clayer_rows_read_labels(clayer_rows *rows, int64_t *destination, size_t max_rows, size_t *got);

#ifdef __cplusplus
}
#endif
#endif
