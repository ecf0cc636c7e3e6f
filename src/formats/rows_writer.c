#include <clayer/rows_writer.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "formats/convert.h"
#include "formats/number.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NPY_HEADER = 128, /* room for any number of rows, so that it can be filled in at the end */
    CSV_BUFFER = 256 * 1024
};

struct clayer_rows_writer {
    char *path; /* for error texts */
    bool standard;
    struct staged_file file;
    clayer_rows_format format;
    clayer_dtype dtype;
    bool one_dimension, rows_known, header_final;
    size_t columns, rows, expected;
    char separator;
    locale_t c_locale;
    char *buffer; /* CSV text on its way out */
    size_t used;
};

/* ---- .npy ---- */

static clayer_status write_npy_header(struct clayer_rows_writer *writer, size_t rows)
{
    char header[NPY_HEADER + 1], shape[64];
    if (writer->one_dimension)
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, writer->columns);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10); /* 0x76 bytes follow these ten */
    int length = snprintf(header + 10, sizeof header - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          writer->dtype == CLAYER_DTYPE_F32 ? "<f4" : "<i8", shape);
    memset(header + 10 + length, ' ', (size_t)(NPY_HEADER - 10 - length));
    header[NPY_HEADER - 1] = '\n';
    return file_write_all(writer->file.fd, header, NPY_HEADER, writer->path);
}

/* Elements as they lie in memory; the file is little-endian. */
static clayer_status write_npy(struct clayer_rows_writer *writer, const void *values, size_t bytes, size_t element)
{
    if (!HOST_BIG_ENDIAN)
        return file_write_all(writer->file.fd, values, bytes, writer->path);
    const unsigned char *from = values;
    unsigned char swapped[4096];
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < sizeof swapped ? bytes - done : sizeof swapped;
        for (size_t i = 0; i < part; i++)
            swapped[i] = from[done + i - i % element + (element - 1 - i % element)];
        TRY(file_write_all(writer->file.fd, swapped, part, writer->path));
    }
    return CLAYER_OK;
}

/* ---- CSV ---- */

static clayer_status flush(struct clayer_rows_writer *writer)
{
    size_t used = writer->used;
    writer->used = 0;
    return file_write_all(writer->file.fd, writer->buffer, used, writer->path);
}

static clayer_status put(struct clayer_rows_writer *writer, char byte)
{
    if (writer->used == CSV_BUFFER)
        TRY(flush(writer));
    writer->buffer[writer->used++] = byte;
    return CLAYER_OK;
}

/* Column names are quoted where RFC 4180 asks for it. */
static clayer_status write_csv_header(struct clayer_rows_writer *writer, const char *const *names)
{
    const char special[] = {writer->separator, '"', ' ', '\0'};
    for (size_t i = 0; i < writer->columns; i++) {
        bool quoted = names[i][strcspn(names[i], special)] != '\0';
        if (names[i][strcspn(names[i], "\r\n")] != '\0')
            return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "name of column %zu: has a line break", i);
        if (quoted)
            TRY(put(writer, '"'));
        for (const char *c = names[i]; *c; c++) {
            if (*c == '"')
                TRY(put(writer, '"'));
            TRY(put(writer, *c));
        }
        if (quoted)
            TRY(put(writer, '"'));
        TRY(put(writer, i + 1 < writer->columns ? writer->separator : '\n'));
    }
    return CLAYER_OK;
}

/* Exactly one of floats and integers is given. */
static clayer_status write_csv(struct clayer_rows_writer *writer, const float *floats, const int64_t *integers,
                               size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < writer->columns; column++) {
            if (CSV_BUFFER - writer->used < NUMBER_TEXT + 1)
                TRY(flush(writer));
            char *text = writer->buffer + writer->used;
            size_t at = row * writer->columns + column;
            writer->used += floats ? number_print_f32(floats[at], writer->c_locale, text)
                                   : (size_t)snprintf(text, NUMBER_TEXT, "%" PRId64, integers[at]);
            TRY(put(writer, column + 1 < writer->columns ? writer->separator : '\n'));
        }
    }
    return CLAYER_OK;
}

/* ---- both ---- */

static clayer_status choose_format(struct clayer_rows_writer *writer, clayer_rows_format format)
{
    writer->format = format;
    if (format == CLAYER_ROWS_AUTO && text_ends(writer->path, ".npy"))
        writer->format = CLAYER_ROWS_NPY;
    else if (format == CLAYER_ROWS_AUTO && text_ends(writer->path, ".csv"))
        writer->format = CLAYER_ROWS_CSV;
    else if (format == CLAYER_ROWS_AUTO)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT,
                    "%s: its name does not tell the format; end it in .npy or .csv, or "
                    "say the format",
                    writer->path);
    return CLAYER_OK;
}

static clayer_status check_params(const clayer_rows_writer_params *params, size_t columns)
{
    char separator = params->csv_separator;
    if ((unsigned)params->format > CLAYER_ROWS_CSV)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "clayer_rows_writer_create: format %d is unknown",
                    (int)params->format);
    if (params->dtype != CLAYER_DTYPE_F32 && params->dtype != CLAYER_DTYPE_I64)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "rows of type %s cannot be written; F32 and I64 are accepted",
                    clayer_dtype_name(params->dtype));
    if (params->one_dimension && columns != 1)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "one dimension means one column; there are %zu", columns);
    if (separator != 0 && separator != ',' && separator != ';' && separator != '\t')
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "CSV separator '%c': use ',', ';' or tab", separator);
    return CLAYER_OK;
}

static clayer_status open_output(struct clayer_rows_writer *writer, const char *path)
{
    if (!writer->standard)
        return staged_file_open(path, 0666, &writer->file);
    writer->file.fd = STDOUT_FILENO; /* as it is, even when the shell made it a file: it may be appended to */
    return CLAYER_OK;
}

clayer_status clayer_rows_writer_create(const char *path, size_t columns, const clayer_rows_writer_params *params,
                                        clayer_rows_writer **writer)
{
    REQUIRE(path != NULL);
    REQUIRE(columns > 0);
    REQUIRE(writer != NULL);
    const clayer_rows_writer_params defaults = {0};
    params = params ? params : &defaults;
    TRY(check_params(params, columns));

    bool standard = strcmp(path, "-") == 0;
    clayer_status status = CLAYER_OK;
    struct clayer_rows_writer *created = calloc(1, sizeof *created);
    if (!created)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to write %s", path);
    *created = (struct clayer_rows_writer){
        .path = strdup(standard ? "standard output" : path),
        .standard = standard,
        .file = {.fd = -1},
        .dtype = params->dtype,
        .one_dimension = params->one_dimension,
        .rows_known = params->rows_known,
        .columns = columns,
        .expected = params->rows,
        .separator = params->csv_separator ? params->csv_separator : ',',
        .buffer = malloc(CSV_BUFFER),
    };
    if (!created->path || !created->buffer)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to write %s", path);
    TRY_GOTO(choose_format(created, params->format));
    TRY_GOTO(number_locale_create(&created->c_locale));
    TRY_GOTO(open_output(created, path));
    if (created->format == CLAYER_ROWS_NPY) {
        created->header_final = !staged_file_seekable(&created->file);
        if (created->header_final && !created->rows_known)
            FAIL_GOTO(CLAYER_ERROR_UNSUPPORTED,
                      "%s: .npy begins with the number of rows, which is not known yet; "
                      "write to a file, or as CSV",
                      created->path);
        TRY_GOTO(write_npy_header(created, created->expected));
    } else if (params->csv_header) {
        TRY_GOTO(write_csv_header(created, params->csv_header));
    }
    *writer = created;
    return CLAYER_OK;
fail:
    clayer_rows_writer_abort(&created);
    return status;
}

/* Exactly one of floats and integers is given, or none for no rows. */
static clayer_status append(struct clayer_rows_writer *writer, const float *floats, const int64_t *integers,
                            size_t rows)
{
    const void *values = floats ? (const void *)floats : integers;
    size_t element = clayer_dtype_size(writer->dtype), bytes = 0;
    if (!size_mul(rows, writer->columns, &bytes) || !size_mul(bytes, element, &bytes) || rows > SIZE_MAX - writer->rows)
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%s: %zu rows of %zu columns do not fit into memory", writer->path, rows,
                    writer->columns);
    if (rows == 0)
        return CLAYER_OK;
    if (writer->format == CLAYER_ROWS_NPY) {
        TRY(write_npy(writer, values, bytes, element));
    } else {
        locale_t before = uselocale(writer->c_locale); /* of this thread only */
        clayer_status status = write_csv(writer, floats, integers, rows);
        uselocale(before);
        TRY(status);
        if (!staged_file_seekable(&writer->file)) /* who reads a pipe waits for the rows */
            TRY(flush(writer));
    }
    writer->rows += rows;
    return CLAYER_OK;
}

clayer_status clayer_rows_writer_write(clayer_rows_writer *writer, const float *values, size_t rows)
{
    REQUIRE(writer != NULL);
    REQUIRE(writer->dtype == CLAYER_DTYPE_F32);
    REQUIRE(values != NULL || rows == 0);
    return append(writer, values, NULL, rows);
}

clayer_status clayer_rows_writer_write_i64(clayer_rows_writer *writer, const int64_t *values, size_t rows)
{
    REQUIRE(writer != NULL);
    REQUIRE(writer->dtype == CLAYER_DTYPE_I64);
    REQUIRE(values != NULL || rows == 0);
    return append(writer, NULL, values, rows);
}

static clayer_status finish(struct clayer_rows_writer *writer)
{
    if (writer->format == CLAYER_ROWS_CSV) {
        TRY(flush(writer));
    } else if (!writer->header_final) {
        if (lseek(writer->file.fd, 0, SEEK_SET) != 0)
            return FAIL(CLAYER_ERROR_IO, "cannot write the header of %s", writer->path);
        TRY(write_npy_header(writer, writer->rows));
    } else if (writer->rows != writer->expected) {
        return FAIL(CLAYER_ERROR_MISMATCH, "%s: %zu rows were announced, %zu came", writer->path, writer->expected,
                    writer->rows);
    }
    return writer->standard ? CLAYER_OK : staged_file_commit(&writer->file);
}

clayer_status clayer_rows_writer_close(clayer_rows_writer **writer)
{
    REQUIRE(writer != NULL);
    if (!*writer)
        return CLAYER_OK;
    clayer_status status = finish(*writer);
    clayer_rows_writer_abort(writer); /* after a commit there is nothing left to undo */
    return status;
}

void clayer_rows_writer_abort(clayer_rows_writer **writer)
{
    if (!writer || !*writer)
        return;
    struct clayer_rows_writer *closed = *writer;
    *writer = NULL;
    if (!closed->standard)
        staged_file_abort(&closed->file);
    if (closed->c_locale)
        freelocale(closed->c_locale);
    free(closed->buffer);
    free(closed->path);
    free(closed);
}
