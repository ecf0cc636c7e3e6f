/* What comes of computed rows: probabilities, classes, counts, differences, output. */
#include "run.h"

#include <math.h>

/* exp(y - max) / sum, summed in double. A NaN, +Inf or nothing but -Inf makes the row NaN, as in PyTorch. */
static void softmax(float *row, size_t columns)
{
    float most = -INFINITY;
    for (size_t c = 0; c < columns; c++)
        most = row[c] > most ? row[c] : most;
    double sum = 0;
    for (size_t c = 0; c < columns; c++)
        sum += exp((double)row[c] - (double)most);
    for (size_t c = 0; c < columns; c++)
        row[c] = (float)(exp((double)row[c] - (double)most) / sum);
}

/* The first column of the largest value; a NaN counts as larger than any number, as in PyTorch. */
static size_t argmax(const float *row, size_t columns)
{
    size_t best = 0;
    for (size_t c = 0; c < columns; c++) {
        if (isnan(row[c]))
            return c;
        if (row[c] > row[best])
            best = c;
    }
    return best;
}

static void compare(struct run_results *r, const float *row, const float *reference)
{
    for (size_t c = 0; c < r->columns; c++) {
        /* Equal infinities and two NaN are no difference. */
        if (row[c] == reference[c] || (isnan(row[c]) && isnan(reference[c])))
            continue;
        const double difference = fabs((double)row[c] - (double)reference[c]);
        if (!isnan(r->difference) && !(difference <= r->difference)) {
            r->difference = difference;
            r->difference_row = r->first + r->rows;
            r->difference_column = c;
        }
    }
}

clayer_status run_results_take(struct run_results *r, struct run_batch *batch)
{
    for (size_t i = 0; i < batch->rows; i++, r->rows++) {
        float *row = batch->y + i * r->columns;
        if (r->classes)
            r->classes[i] = (int64_t)argmax(row, r->columns);
        if (batch->labels)
            r->correct += r->classes[i] == batch->labels[i];
        if (r->options->softmax)
            softmax(row, r->columns);
        if (batch->reference)
            compare(r, row, batch->reference + i * r->columns);
    }
    if (!r->writer)
        return CLAYER_OK;
    return r->options->argmax ? clayer_rows_writer_write_i64(r->writer, r->classes, batch->rows)
                              : clayer_rows_writer_write(r->writer, batch->y, batch->rows);
}
