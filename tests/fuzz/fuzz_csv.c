/* Any bytes as CSV text: counted, read in steps, read as labels. */
#include "formats/rows.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(const uint8_t *data, size_t size, const clayer_rows_params *params)
{
    clayer_rows *rows = NULL;
    if (rows_open_memory(data, size, "fuzz", params, &rows) != CLAYER_OK)
        return;
    size_t columns = clayer_rows_columns(rows), count = 0, done = 0, got = 0;
    if (columns == 0 || clayer_rows_count(rows, &count) != CLAYER_OK)
        abort();
    float *values = malloc(3 * columns * sizeof *values);
    clayer_status status;
    do {
        status = clayer_rows_read(rows, values, 3, &got);
        done += got;
    } while (status == CLAYER_OK && got == 3);
    if (status == CLAYER_OK ? done != count : done > count)
        abort();
    free(values);
    clayer_rows_destroy(&rows);

    int64_t labels[3];
    if (columns != 1 || rows_open_memory(data, size, "fuzz", params, &rows) != CLAYER_OK)
        return;
    while (clayer_rows_read_labels(rows, labels, 3, &got) == CLAYER_OK && got == 3)
        continue;
    clayer_rows_destroy(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const clayer_rows_params variants[] = {
        {.format = CLAYER_ROWS_CSV},
        {.format = CLAYER_ROWS_CSV, .csv_header = CLAYER_ROWS_HEADER_YES, .csv_separator = ';'},
        {.format = CLAYER_ROWS_CSV, .csv_header = CLAYER_ROWS_HEADER_NO, .csv_separator = '\t'},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        read_table(data, size, &variants[i]);
    return 0;
}
