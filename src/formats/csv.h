/* Rows of numbers in CSV text, read from a source. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "formats/source.h"

#include <clayer/rows.h>
#include <locale.h>

enum {
    CSV_FIELD = 4096,     /* bytes of the longest field and its final NUL; no number needs as many */
    CSV_COLUMNS = 1 << 24 /* the most that are accepted, so that a file without line ends ends in an error */
};

struct csv {
    struct source *source; /* not owned */
    locale_t c_locale;
    char separator;
    clayer_rows_header header;
    size_t columns;
    size_t line; /* of the record that was read last, counted from 1 as editors do */
    bool has_header;

    /* The first record is read when the table is opened, since it may be a header and tells the number of columns. */
    float *first;
    char *first_field; /* the text of its only field, for labels; NULL when there are more */
    bool first_pending;

    char field[CSV_FIELD]; /* the field that was read last */
};

/* Reads up to the first row of numbers. FORMAT when there is none. */
clayer_status csv_open(struct source *source, const clayer_rows_params *params, struct csv *csv);
void csv_close(struct csv *csv);

/* As clayer_rows_read and clayer_rows_read_labels. */
clayer_status csv_read(struct csv *csv, float *destination, size_t max_rows, size_t *got);
clayer_status csv_read_labels(struct csv *csv, int64_t *destination, size_t max_rows, size_t *got);

/* Passes over rows without looking at their fields; *skipped is less than rows only at the end. */
clayer_status csv_skip(struct csv *csv, size_t rows, size_t *skipped);

#endif
