#include "formats/rows.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/csv.h"
#include "formats/npy_stream.h"
#include "formats/source.h"

#include <stdlib.h>
#include <string.h>

struct clayer_rows {
    struct source source;
    clayer_rows_format format;
    struct npy_stream npy;
    struct csv csv;
    size_t columns;
    size_t count; /* of the table, or CLAYER_ROWS_UNKNOWN */
    size_t left;  /* selected rows that are still to be read, or CLAYER_ROWS_UNKNOWN: up to the end */
    size_t selected;
    bool chosen; /* rows were selected, or reading has begun: it is too late for another selection */
    bool failed;
};

static clayer_status detect(struct clayer_rows *rows)
{
    size_t have;
    TRY(source_peek(&rows->source, 1, &have));
    if (have > 0 && *rows->source.at > 0x7f) /* no text: waiting for more of the magic is no waiting for another row */
        TRY(source_peek(&rows->source, NPY_PREFIX_BYTES, &have));
    bool npy = npy_has_magic(rows->source.at, have) || text_ends(rows->source.name, ".npy");
    rows->format = npy ? CLAYER_ROWS_NPY : CLAYER_ROWS_CSV;
    return CLAYER_OK;
}

/* Takes over the open source in rows, and rows itself when it fails. */
static clayer_status open_source(struct clayer_rows *opened, const clayer_rows_params *params, clayer_rows **rows)
{
    clayer_status status = CLAYER_OK;
    opened->source.cancelled = params->cancelled;
    opened->source.user = params->user;
    opened->format = params->format;
    opened->count = CLAYER_ROWS_UNKNOWN;
    if (opened->format == CLAYER_ROWS_AUTO)
        TRY_GOTO(detect(opened));
    if (opened->format == CLAYER_ROWS_NPY) {
        TRY_GOTO(npy_stream_open(&opened->source, &opened->npy));
        opened->columns = opened->npy.header.columns;
        opened->count = opened->npy.header.rows;
    } else {
        TRY_GOTO(csv_open(&opened->source, params, &opened->csv));
        opened->columns = opened->csv.columns;
    }
    opened->left = opened->selected = opened->count;
    *rows = opened;
    return CLAYER_OK;
fail:
    clayer_rows_destroy(&opened);
    return status;
}

static clayer_status check_params(const clayer_rows_params *params)
{
    char separator = params->csv_separator;
    if ((unsigned)params->format > CLAYER_ROWS_CSV)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "clayer_rows_open: format %d is unknown", (int)params->format);
    if ((unsigned)params->csv_header > CLAYER_ROWS_HEADER_YES)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "clayer_rows_open: csv_header %d is unknown",
                    (int)params->csv_header);
    if (separator != 0 && separator != ',' && separator != ';' && separator != '\t')
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "CSV separator '%c': use ',', ';' or tab", separator);
    return CLAYER_OK;
}

clayer_status clayer_rows_open(const char *path, const clayer_rows_params *params, clayer_rows **rows)
{
    REQUIRE(path != NULL);
    REQUIRE(rows != NULL);
    const clayer_rows_params defaults = {0};
    params = params ? params : &defaults;
    TRY(check_params(params));
    struct clayer_rows *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", path);
    clayer_status status = source_open(path, &opened->source);
    if (status != CLAYER_OK) {
        free(opened);
        return status;
    }
    return open_source(opened, params, rows);
}

clayer_status rows_open_memory(const void *data, size_t size, const char *name, const clayer_rows_params *params,
                               clayer_rows **rows)
{
    struct clayer_rows *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    clayer_status status = source_from_memory(data, size, name, &opened->source);
    if (status != CLAYER_OK) {
        free(opened);
        return status;
    }
    return open_source(opened, params, rows);
}

void clayer_rows_destroy(clayer_rows **rows)
{
    if (!rows || !*rows)
        return;
    struct clayer_rows *closed = *rows;
    *rows = NULL;
    npy_stream_close(&closed->npy);
    csv_close(&closed->csv);
    source_close(&closed->source);
    free(closed);
}

clayer_rows_format clayer_rows_get_format(const clayer_rows *rows)
{
    return rows ? rows->format : CLAYER_ROWS_AUTO;
}

size_t clayer_rows_columns(const clayer_rows *rows)
{
    return rows ? rows->columns : 0;
}

size_t clayer_rows_selected(const clayer_rows *rows)
{
    return rows ? rows->selected : 0;
}

/* Counts the rows of CSV text in a file, and comes back to where it was. */
static clayer_status count_csv(struct clayer_rows *rows)
{
    struct csv *csv = &rows->csv;
    bool pending = csv->first_pending;
    size_t line = csv->line, count = 0;
    uint64_t place = 0;
    TRY(source_tell(&rows->source, &place));
    TRY(csv_skip(csv, SIZE_MAX, &count));
    TRY(source_seek(&rows->source, place));
    csv->first_pending = pending;
    csv->line = line;
    rows->count = count;
    if (rows->selected == CLAYER_ROWS_UNKNOWN)
        rows->left = rows->selected = count;
    return CLAYER_OK;
}

clayer_status clayer_rows_count(clayer_rows *rows, size_t *count)
{
    REQUIRE(rows != NULL);
    REQUIRE(count != NULL);
    if (rows->count == CLAYER_ROWS_UNKNOWN && rows->source.seekable) {
        REQUIRE(!rows->chosen);
        TRY(count_csv(rows));
    }
    *count = rows->count;
    return CLAYER_OK;
}

clayer_status clayer_rows_select(clayer_rows *rows, size_t first, size_t count)
{
    REQUIRE(rows != NULL);
    REQUIRE(!rows->chosen);
    if (rows->count != CLAYER_ROWS_UNKNOWN && (first > rows->count || count > rows->count - first))
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: has %zu rows; %zu rows from %zu on are not there",
                    rows->source.name, rows->count, count, first);
    rows->chosen = true;
    if (rows->format == CLAYER_ROWS_NPY) {
        TRY(npy_stream_skip(&rows->npy, first));
    } else {
        size_t skipped = 0;
        TRY(csv_skip(&rows->csv, first, &skipped));
        if (skipped < first)
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: has %zu rows; row %zu is not there", rows->source.name,
                        skipped, first);
    }
    rows->left = rows->selected = count;
    return CLAYER_OK;
}

/* count * part / parts without overflow: whole multiples of parts first, then the rest. */
static size_t part_begin(size_t count, size_t part, size_t parts)
{
    size_t whole = count / parts, rest = count % parts;
    return whole * part + (size_t)((unsigned __int128)rest * part / parts);
}

clayer_status clayer_rows_select_part(clayer_rows *rows, size_t index, size_t parts)
{
    REQUIRE(rows != NULL);
    REQUIRE(parts > 0);
    REQUIRE(index < parts);
    size_t count = 0;
    TRY(clayer_rows_count(rows, &count));
    if (count == CLAYER_ROWS_UNKNOWN)
        return FAIL(CLAYER_ERROR_UNSUPPORTED,
                    "%s: the rows of CSV from a pipe cannot be counted beforehand, so there "
                    "is no part %zu of %zu; give the file itself",
                    rows->source.name, index + 1, parts);
    size_t begin = part_begin(count, index, parts), end = part_begin(count, index + 1, parts);
    return clayer_rows_select(rows, begin, end - begin);
}

/* What both kinds of reading have in common: the selection, and that a failed table stays failed. */
static clayer_status before_reading(clayer_rows *rows, size_t *max_rows, size_t *got)
{
    *got = 0;
    if (rows->failed)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s: reading has failed before", rows->source.name);
    rows->chosen = true;
    if (rows->left != CLAYER_ROWS_UNKNOWN && *max_rows > rows->left)
        *max_rows = rows->left;
    return CLAYER_OK;
}

static clayer_status after_reading(clayer_rows *rows, clayer_status status, size_t max_rows, size_t *got)
{
    rows->failed = status != CLAYER_OK;
    if (rows->failed) {
        *got = 0;
        return status;
    }
    if (rows->left == CLAYER_ROWS_UNKNOWN)
        return CLAYER_OK;
    rows->left -= *got;
    if (*got < max_rows) { /* a selection that goes past the end of a table whose end was not known */
        rows->selected -= rows->left;
        rows->left = 0;
    }
    return CLAYER_OK;
}

clayer_status clayer_rows_read(clayer_rows *rows, float *destination, size_t max_rows, size_t *got)
{
    REQUIRE(rows != NULL);
    REQUIRE(got != NULL);
    REQUIRE(destination != NULL || max_rows == 0 || rows->columns == 0);
    TRY(before_reading(rows, &max_rows, got));
    clayer_status status = rows->format == CLAYER_ROWS_NPY ? npy_stream_read(&rows->npy, destination, max_rows, got)
                                                           : csv_read(&rows->csv, destination, max_rows, got);
    return after_reading(rows, status, max_rows, got);
}

clayer_status clayer_rows_read_labels(clayer_rows *rows, int64_t *destination, size_t max_rows, size_t *got)
{
    REQUIRE(rows != NULL);
    REQUIRE(got != NULL);
    REQUIRE(destination != NULL || max_rows == 0);
    if (rows->columns != 1)
        return FAIL(CLAYER_ERROR_MISMATCH, "%s: has %zu columns; labels are one column of integers", rows->source.name,
                    rows->columns);
    TRY(before_reading(rows, &max_rows, got));
    clayer_status status = rows->format == CLAYER_ROWS_NPY
                               ? npy_stream_read_labels(&rows->npy, destination, max_rows, got)
                               : csv_read_labels(&rows->csv, destination, max_rows, got);
    return after_reading(rows, status, max_rows, got);
}
