#include "formats/csv.h"

#include "base/error.h"
#include "formats/number.h"
#include "formats/sniff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOAT "a float32 number"

enum { LINE_PEEKED = 1 << 16 }; /* of the first line, to find the separator */

/* What a field ends in. */
enum ending { END_SEPARATOR, END_LINE };

static bool is_space(const struct csv *csv, int byte)
{
    return byte == ' ' || (byte == '\t' && csv->separator != '\t');
}

/* Consumes the rest of a line end whose first byte was `byte`: LF, CR LF, or CR alone. -1, the end, is one too. */
static bool is_line_end(struct csv *csv, int byte)
{
    if (byte == '\r') {
        int next = source_byte(csv->source);
        if (next >= 0 && next != '\n')
            csv->source->at--;
    }
    return byte == '\n' || byte == '\r' || byte < 0;
}

static clayer_status refuse(const struct csv *csv, size_t column, const char *found, const char *accepted)
{
    return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu, column %zu: %s; %s", csv->source->name, csv->line, column + 1,
                found, accepted);
}

static clayer_status refuse_byte(const struct csv *csv, size_t column, int byte)
{
    return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu, column %zu: byte 0x%02x; CSV is text in UTF-8", csv->source->name,
                csv->line, column + 1, (unsigned)byte);
}

/* Reads field `column` into csv->field, without quotes and without spaces around it. */
static clayer_status read_field(struct csv *csv, size_t column, enum ending *ending)
{
    size_t length = 0;
    int byte = source_byte(csv->source);
    while (is_space(csv, byte))
        byte = source_byte(csv->source);

    bool quoted = byte == '"';
    if (quoted) {
        for (;;) {
            byte = source_byte(csv->source);
            if (byte == '"') {
                byte = source_byte(csv->source);
                if (byte != '"')
                    break;
            } else if (byte < 0 || byte == '\n' || byte == '\r') {
                TRY(csv->source->status);
                return refuse(csv, column, "a quote that is not closed on its line", "a field ends on its line");
            } else if (byte < ' ' && byte != '\t') {
                return refuse_byte(csv, column, byte);
            }
            if (length + 1 < CSV_FIELD)
                csv->field[length] = (char)byte;
            length++;
        }
        while (is_space(csv, byte))
            byte = source_byte(csv->source);
    } else {
        while (byte >= 0 && byte != csv->separator && byte != '\n' && byte != '\r') {
            if (byte < ' ' && byte != '\t')
                return refuse_byte(csv, column, byte);
            if (length + 1 < CSV_FIELD)
                csv->field[length] = (char)byte;
            length++;
            byte = source_byte(csv->source);
        }
    }
    if (length >= CSV_FIELD)
        return refuse(csv, column, "a field of more than 4095 bytes", "a number is shorter");
    while (!quoted && length > 0 && is_space(csv, csv->field[length - 1]))
        length--;
    csv->field[length] = '\0';

    if (byte == csv->separator)
        *ending = END_SEPARATOR;
    else if (is_line_end(csv, byte))
        *ending = END_LINE;
    else
        return refuse(csv, column, "text after a closing quote", "a separator or the line's end is accepted there");
    return csv->source->status;
}

/* Goes to the next line that is not blank. *there is false at the end of the text. */
static clayer_status next_record(struct csv *csv, bool *there)
{
    for (;;) {
        csv->line++;
        int byte = source_byte(csv->source);
        while (is_space(csv, byte))
            byte = source_byte(csv->source);
        if (byte < 0) {
            *there = false;
            return csv->source->status;
        }
        if (!is_line_end(csv, byte)) {
            csv->source->at--; /* it was just read from the buffer, so it is still there */
            *there = true;
            return CLAYER_OK;
        }
    }
}

static clayer_status number_refused(const struct csv *csv, size_t column, const char *field, enum number_result result,
                                    const char *needed)
{
    int shown = strlen(field) > 40 ? 40 : (int)strlen(field);
    const char *name = csv->source->name;
    if (shown == 0)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu, column %zu: is empty; %s is needed", name, csv->line,
                    column + 1, needed);
    if (result == NUMBER_TOO_LARGE)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu, column %zu: '%.*s' is too large; %s is needed", name, csv->line,
                    column + 1, shown, field, needed);
    bool comma = csv->separator != ',' && strchr(field, ',');
    return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu, column %zu: '%.*s'; %s is needed%s", name, csv->line, column + 1,
                shown, field, needed, comma ? ", with a point as decimal sign" : "");
}

static clayer_status wrong_columns(const struct csv *csv, size_t found)
{
    return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu: has %s%zu columns; the %s has %zu", csv->source->name, csv->line,
                found > csv->columns ? "more than " : "", found > csv->columns ? csv->columns : found,
                csv->has_header ? "header" : "first row", csv->columns);
}

/* Reads one row whose number of columns is known. */
static clayer_status read_row(struct csv *csv, float *values)
{
    enum ending ending = END_SEPARATOR;
    size_t column = 0;
    for (; ending == END_SEPARATOR; column++) {
        TRY(read_field(csv, column, &ending));
        if (column == csv->columns)
            return wrong_columns(csv, column + 1);
        enum number_result result = number_parse_f32(csv->field, csv->c_locale, &values[column]);
        if (result != NUMBER_OK)
            return number_refused(csv, column, csv->field, result, FLOAT);
    }
    return column == csv->columns ? CLAYER_OK : wrong_columns(csv, column);
}

static clayer_status grow(const struct csv *csv, float **values, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return CLAYER_OK;
    if (count >= CSV_COLUMNS)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: line %zu: has more than %d columns", csv->source->name, csv->line,
                    CSV_COLUMNS);
    size_t larger = *capacity ? *capacity * 2 : 64;
    float *moved = realloc(*values, larger * sizeof *moved);
    if (!moved)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%s: no memory for a row of %zu columns", csv->source->name, larger);
    *values = moved;
    *capacity = larger;
    return CLAYER_OK;
}

/* The first row has been read into csv->first, and its last field into csv->field. */
static clayer_status keep_first(struct csv *csv)
{
    csv->first_pending = true;
    if (csv->columns > 1)
        return CLAYER_OK;
    csv->first_field = strdup(csv->field);
    if (!csv->first_field)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to read %s", csv->source->name);
    return CLAYER_OK;
}

/* Reads the first record and decides whether it is a header: only where none of its fields is a number. */
static clayer_status read_first(struct csv *csv)
{
    size_t capacity = 0, texts = 0, first_text = 0, large = SIZE_MAX;
    char text[48];
    enum ending ending = END_SEPARATOR;
    for (size_t column = 0; ending == END_SEPARATOR; column++) {
        TRY(read_field(csv, column, &ending));
        TRY(grow(csv, &csv->first, column, &capacity));
        enum number_result one = number_parse_f32(csv->field, csv->c_locale, &csv->first[column]);
        if (one != NUMBER_OK && csv->header == CLAYER_ROWS_HEADER_NO)
            return number_refused(csv, column, csv->field, one, FLOAT);
        if (one == NUMBER_TOO_LARGE && large == SIZE_MAX) /* a number all the same, and no header's name */
            large = column;
        if (one == NUMBER_MALFORMED && texts++ == 0) {
            first_text = column;
            snprintf(text, sizeof text, "'%.40s'", csv->field);
        }
        csv->columns = column + 1;
    }
    csv->has_header = csv->header == CLAYER_ROWS_HEADER_YES || texts == csv->columns;
    if (csv->has_header)
        return CLAYER_OK;
    if (texts > 0)
        return refuse(csv, first_text, text, "a line has numbers only, or none: then it is the header");
    if (large != SIZE_MAX)
        return refuse(csv, large, "a number that is too large", FLOAT " is needed");
    return keep_first(csv);
}

/* ';' wins over tab and ',', because ',' then is a decimal sign; it is looked for in the first line. */
static char find_separator(const unsigned char *text, size_t size)
{
    bool quoted = false, tab = false;
    for (size_t i = 0; i < size && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == ';')
            return ';';
        else if (!quoted && text[i] == '\t')
            tab = true;
    }
    return tab ? '\t' : ',';
}

/* Looks at the first line, up to a limit, and at no more: who writes into a pipe may wait for what comes of it. */
static clayer_status peek_line(struct source *source, size_t *have)
{
    for (;;) {
        const size_t held = *have = (size_t)(source->end - source->at);
        if (held >= LINE_PEEKED || memchr(source->at, '\n', held) || memchr(source->at, '\r', held))
            return CLAYER_OK;
        TRY(source_peek(source, held + 1, have));
        if (*have == held)
            return CLAYER_OK;
    }
}

static clayer_status start(struct csv *csv, const clayer_rows_params *params)
{
    size_t have;
    bool there;
    TRY(peek_line(csv->source, &have));
    const char *foreign = sniff_foreign(csv->source->at, have);
    if (foreign)
        return FAIL(CLAYER_ERROR_FORMAT, "%s is %s", csv->source->name, foreign);
    if (have >= 3 && memcmp(csv->source->at, "\xef\xbb\xbf", 3) == 0) {
        csv->source->at += 3;
        have -= 3;
    }
    csv->separator = params->csv_separator ? params->csv_separator : find_separator(csv->source->at, have);
    csv->header = params->csv_header;
    TRY(number_locale_create(&csv->c_locale));
    TRY(next_record(csv, &there));
    if (!there)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: is empty; a table of numbers has at least one row", csv->source->name);
    TRY(read_first(csv));
    if (!csv->has_header)
        return CLAYER_OK;

    /* The first row, so that a table without any is known at once. */
    TRY(next_record(csv, &there));
    if (!there)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: has a header and no row after it", csv->source->name);
    TRY(read_row(csv, csv->first));
    return keep_first(csv);
}

clayer_status csv_open(struct source *source, const clayer_rows_params *params, struct csv *csv)
{
    *csv = (struct csv){.source = source};
    clayer_status status = start(csv, params);
    if (status != CLAYER_OK)
        csv_close(csv);
    return status;
}

void csv_close(struct csv *csv)
{
    if (csv->c_locale)
        freelocale(csv->c_locale);
    free(csv->first);
    free(csv->first_field);
    *csv = (struct csv){.source = NULL};
}

clayer_status csv_read(struct csv *csv, float *destination, size_t max_rows, size_t *got)
{
    size_t row = 0;
    bool there;
    if (csv->first_pending && max_rows > 0) {
        memcpy(destination, csv->first, csv->columns * sizeof *destination);
        csv->first_pending = false;
        row = 1;
    }
    for (; row < max_rows; row++) {
        TRY(next_record(csv, &there));
        if (!there)
            break;
        TRY(read_row(csv, destination + row * csv->columns));
    }
    *got = row;
    return CLAYER_OK;
}

static clayer_status parse_label(const struct csv *csv, const char *text, int64_t *label)
{
    enum number_result result = number_parse_i64(text, csv->c_locale, label);
    return result == NUMBER_OK ? CLAYER_OK : number_refused(csv, 0, text, result, "an integer of 64 bits");
}

clayer_status csv_read_labels(struct csv *csv, int64_t *destination, size_t max_rows, size_t *got)
{
    size_t row = 0;
    bool there;
    if (csv->first_pending && max_rows > 0) {
        TRY(parse_label(csv, csv->first_field, &destination[0]));
        csv->first_pending = false;
        row = 1;
    }
    for (; row < max_rows; row++) {
        enum ending ending;
        TRY(next_record(csv, &there));
        if (!there)
            break;
        TRY(read_field(csv, 0, &ending));
        if (ending != END_LINE)
            return wrong_columns(csv, 2);
        TRY(parse_label(csv, csv->field, &destination[row]));
    }
    *got = row;
    return CLAYER_OK;
}

/* Quoted fields end on their line, so a line's end is the row's. */
static clayer_status pass_line(struct csv *csv)
{
    struct source *source = csv->source;
    for (;;) {
        while (source->at < source->end && *source->at != '\n' && *source->at != '\r')
            source->at++;
        if (source->at < source->end)
            break;
        source_refill(source);
        if (source->at == source->end)
            return source->status;
    }
    is_line_end(csv, source_byte(source));
    return source->status;
}

clayer_status csv_skip(struct csv *csv, size_t rows, size_t *skipped)
{
    bool there;
    *skipped = 0;
    if (csv->first_pending && rows > 0) {
        csv->first_pending = false;
        *skipped = 1;
    }
    while (*skipped < rows) {
        TRY(next_record(csv, &there));
        if (!there)
            break;
        TRY(pass_line(csv));
        ++*skipped;
    }
    return CLAYER_OK;
}
