/* CSV text: what numbers it may hold, how it may be laid out, and where errors say they are. */
#include "formats/rows.h"
#include "support/malformed.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clayer_status open_text(const char *text, const clayer_rows_params *params, clayer_rows **rows)
{
    static const clayer_rows_params defaults = {0};
    return rows_open_memory(text, strlen(text), "text.csv", params ? params : &defaults, rows);
}

/* Reads the whole text and compares it with what is expected; NaN equals NaN. */
static void check_rows(const char *text, const clayer_rows_params *params, size_t columns, size_t count,
                       const float *expected)
{
    clayer_rows *rows = NULL;
    cr_assert_eq(open_text(text, params, &rows), CLAYER_OK, "'%s': %s", text, clayer_last_error());
    cr_assert_eq(clayer_rows_get_format(rows), CLAYER_ROWS_CSV);
    cr_assert_eq(clayer_rows_columns(rows), columns, "'%s': %zu columns", text, clayer_rows_columns(rows));
    float values[64];
    size_t got = 0;
    cr_assert_eq(clayer_rows_read(rows, values, 64 / columns, &got), CLAYER_OK, "'%s': %s", text, clayer_last_error());
    cr_assert_eq(got, count, "'%s': %zu rows", text, got);
    for (size_t i = 0; i < count * columns; i++)
        cr_assert((isnan(values[i]) && isnan(expected[i])) ||
                      (values[i] == expected[i] && !!signbit(values[i]) == !!signbit(expected[i])),
                  "'%s': value %zu is %a", text, i, (double)values[i]);
    cr_assert_eq(clayer_rows_read(rows, values, 1, &got), CLAYER_OK);
    cr_assert_eq(got, 0);
    clayer_rows_destroy(&rows);
}

#define VALUES(...) ((const float[]){__VA_ARGS__})

Test(csv, layouts)
{
    const float *six = VALUES(1, 2, 3, 4, 5, 6);
    check_rows("1,2,3\n4,5,6\n", NULL, 3, 2, six);
    check_rows("1,2,3\n4,5,6", NULL, 3, 2, six);
    check_rows("1,2,3\r\n4,5,6\r\n", NULL, 3, 2, six);
    check_rows("1,2,3\r4,5,6\r", NULL, 3, 2, six);
    check_rows("\xef\xbb\xbf"
               "1,2,3\n4,5,6\n",
               NULL, 3, 2, six);
    check_rows("\n  \n1,2,3\n\n4,5,6\n \n\n", NULL, 3, 2, six);
    check_rows(" 1 , 2,3 \n4,\t5 ,6\n", NULL, 3, 2, six);
    check_rows("\"1\",\"2\" , \"3\"\n4,\"5\",6\n", NULL, 3, 2, six);
    check_rows("1;2;3\n4;5;6\n", NULL, 3, 2, six);
    check_rows("1\t2\t3\n4\t5\t6\n", NULL, 3, 2, six);
    check_rows("1\t 2\t3 \n4\t5\t6\n", NULL, 3, 2, six);
    check_rows("1\n2\n3\n", NULL, 1, 3, six);
    check_rows("1 ,2 ,3", &(clayer_rows_params){.csv_separator = ','}, 3, 1, six);
}

Test(csv, headers)
{
    const float *four = VALUES(1, 2, 3, 4);
    check_rows("a,b\n1,2\n3,4\n", NULL, 2, 2, four);
    check_rows("\"a;b\",\"c \"\"d\"\"\"\n1,2\n3,4\n", NULL, 2, 2, four);
    check_rows("# a;b\n1;2\n3;4\n", NULL, 2, 2, four);
    check_rows("label\n1\n2\n", NULL, 1, 2, four);
    check_rows("0,1\n1,2\n3,4\n", &(clayer_rows_params){.csv_header = CLAYER_ROWS_HEADER_YES}, 2, 2, four);
    check_rows("1,2\n3,4\n", &(clayer_rows_params){.csv_header = CLAYER_ROWS_HEADER_NO}, 2, 2, four);
    check_rows("a,7\n1,2\n3,4\n", &(clayer_rows_params){.csv_header = CLAYER_ROWS_HEADER_YES}, 2, 2, four);
}

Test(csv, numbers)
{
    check_rows("+1,-2.5,.5,5.,1e3,1E-2,-0,0.1\n", NULL, 8, 1, VALUES(1, -2.5f, 0.5f, 5, 1000, 0.01f, -0.0f, 0.1f));
    check_rows("nan,NaN,-nan,inf,-Inf,+INFINITY\n", NULL, 6, 1, VALUES(NAN, NAN, NAN, INFINITY, -INFINITY, INFINITY));
    check_rows("3.4028235e38,1e-45,1e-60,1.17549435e-38\n", NULL, 4, 1, VALUES(FLT_MAX, 0x1p-149f, 0, FLT_MIN));
    /* Rounded once: over double, 1 + 2^-24 + 2^-60 would come out as 1. */
    check_rows("1.000000059604644776,1.0000000596046447763\n", NULL, 2, 1, VALUES(1 + 0x1p-23f, 1 + 0x1p-23f));
    check_rows("1.000000059604644775\n", NULL, 1, 1, VALUES(1));
}

static void check_refused(const char *text, const clayer_rows_params *params, const char *error)
{
    clayer_rows *rows = NULL;
    clayer_status status = open_text(text, params, &rows);
    size_t got = 1;
    float values[64];
    while (status == CLAYER_OK && got > 0)
        status = clayer_rows_read(rows, values, 8, &got);
    cr_expect_eq(status, CLAYER_ERROR_FORMAT, "'%s'", text);
    cr_expect_str_eq(clayer_last_error(), error);
    clayer_rows_destroy(&rows);
}

Test(csv, errors_name_line_and_column)
{
    check_refused("1,2\n3,x\n", NULL, "text.csv: line 2, column 2: 'x'; a float32 number is needed");
    check_refused("1,2\n\n\n3,\n", NULL, "text.csv: line 4, column 2: is empty; a float32 number is needed");
    check_refused("a,b\n1,2\n3\n", NULL, "text.csv: line 3: has 1 columns; the header has 2");
    check_refused("1,2\r\n3,4,5\r\n", NULL, "text.csv: line 2: has more than 2 columns; the first row has 2");
    check_refused("1;2\n0,5;1\n", NULL,
                  "text.csv: line 2, column 1: '0,5'; a float32 number is needed, with a point as decimal sign");
    check_refused("a,2\n1,2\n", NULL,
                  "text.csv: line 1, column 1: 'a'; a line has numbers only, or none: then it is the header");
    check_refused("1,2\n3,1e39\n", NULL, "text.csv: line 2, column 2: '1e39' is too large; a float32 number is needed");
    check_refused("1,2\n3,0x10\n", NULL, "text.csv: line 2, column 2: '0x10'; a float32 number is needed");
    check_refused("1,2\n\"3,4\n", NULL,
                  "text.csv: line 2, column 1: a quote that is not closed on its line; a field ends on its line");
    check_refused("1,2\n\"3\"4,5\n", NULL,
                  "text.csv: line 2, column 1: text after a closing quote; a separator or the line's end is accepted "
                  "there");
    check_refused("1,2\n3,4\x01\n", NULL, "text.csv: line 2, column 2: byte 0x01; CSV is text in UTF-8");
    check_refused("", NULL, "text.csv: is empty; a table of numbers has at least one row");
    check_refused("a,b\n", NULL, "text.csv: has a header and no row after it");
    check_refused("a,b\n1,2\n", &(clayer_rows_params){.csv_header = CLAYER_ROWS_HEADER_NO},
                  "text.csv: line 1, column 1: 'a'; a float32 number is needed");
}

Test(csv, long_lines_and_fields)
{
    /* Longer than the reader's buffer: 200,000 columns, one row of them twice. */
    enum { COLUMNS = 200000 };
    char *text = malloc(2 * COLUMNS * 12 + 1);
    size_t used = 0;
    for (size_t i = 0; i < 2 * COLUMNS; i++)
        used += (size_t)sprintf(text + used, "%zu%c", i, i % COLUMNS == COLUMNS - 1 ? '\n' : ',');
    clayer_rows *rows = NULL;
    cr_assert_eq(open_text(text, NULL, &rows), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_columns(rows), COLUMNS);
    float *values = malloc(2 * COLUMNS * sizeof *values);
    size_t got = 0;
    cr_assert_eq(clayer_rows_read(rows, values, 2, &got), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(got, 2);
    for (size_t i = 0; i < 2 * COLUMNS; i++)
        cr_assert_eq(values[i], (float)i);
    clayer_rows_destroy(&rows);

    memset(text, '1', 5000);
    strcpy(text + 5000, "\n");
    cr_assert_eq(open_text(text, NULL, &rows), CLAYER_ERROR_FORMAT);
    cr_assert_str_eq(clayer_last_error(),
                     "text.csv: line 1, column 1: a field of more than 4095 bytes; a number is shorter");
    memset(text, '0', 4000);
    strcpy(text + 4000, "7\n"); /* still a number */
    check_rows(text, NULL, 1, 1, VALUES(7));
    free(text);
    free(values);
}

Test(csv, labels)
{
    clayer_rows *rows = NULL;
    int64_t labels[8];
    size_t got = 0;
    cr_assert_eq(open_text("digit\n3\n-7\n9223372036854775807\n4.000000000000000000e+00\n", NULL, &rows), CLAYER_OK);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 8, &got), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(got, 4);
    cr_assert(labels[0] == 3 && labels[1] == -7 && labels[2] == INT64_MAX && labels[3] == 4);
    clayer_rows_destroy(&rows);

    cr_assert_eq(open_text("3\n2.5\n", NULL, &rows), CLAYER_OK);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 8, &got), CLAYER_ERROR_FORMAT);
    cr_assert_str_eq(clayer_last_error(), "text.csv: line 2, column 1: '2.5'; an integer of 64 bits is needed");
    cr_assert_eq(got, 0);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 8, &got), CLAYER_ERROR_INVALID_ARGUMENT);
    clayer_rows_destroy(&rows);

    cr_assert_eq(open_text("3\n9223372036854775808\n", NULL, &rows), CLAYER_OK);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 8, &got), CLAYER_ERROR_FORMAT);
    clayer_rows_destroy(&rows);

    cr_assert_eq(open_text("3,4\n", NULL, &rows), CLAYER_OK);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 8, &got), CLAYER_ERROR_MISMATCH);
    cr_assert_str_eq(clayer_last_error(), "text.csv: has 2 columns; labels are one column of integers");
    clayer_rows_destroy(&rows);
}

static clayer_status read_whole(const char *path)
{
    clayer_rows *rows = NULL;
    clayer_status status = clayer_rows_open(path, NULL, &rows);
    float *values = malloc((clayer_rows_columns(rows) * 16 + 1) * sizeof *values);
    size_t got = 1;
    while (status == CLAYER_OK && got > 0)
        status = clayer_rows_read(rows, values, 16, &got);
    free(values);
    clayer_rows_destroy(&rows);
    return status;
}

Test(csv, every_malformed_file_is_refused)
{
    cr_assert_geq(malformed_check("csv", read_whole, NULL), 13);
}

Test(csv, malformed_npy_files_are_refused_in_the_stream_too)
{
    cr_assert_geq(malformed_check("npy", read_whole, NULL), 30);
}
