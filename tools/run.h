/* clayer-run: a model's answers for a table of inputs. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "common.h"

#include <clayer/model.h>
#include <clayer/rows_writer.h>
#include <stdio.h>

/* Exit codes beside common.h's; --help and docs/clayer-run.md list them. */
enum { RUN_NO_DEVICE = 3 /* the device that was asked for is not there or cannot be used */ };

struct run_options {
    const char *model, *input;
    const char *output, *labels, *reference;          /* NULL: not asked for */
    const char *layers, *activations, *device, *plan; /* NULL: the library's defaults */
    clayer_rows_format input_format, output_format;
    size_t batch;         /* 0: chosen from the sizes */
    size_t shard, shards; /* part `shard`, counted from 1, of `shards`; 1 of 1 is everything */
    bool softmax, argmax, profile, json;
};

/* Reads the command line. Negative: go on; else the exit code, everything having been said. */
int run_options_read(int argc, char **argv, struct run_options *options);

/* A table of one input row per row: the input itself, labels or a reference. */
struct run_table {
    const char *path;
    clayer_rows *rows;
};

/* What comes of the rows, in order: counted, compared, written. Filled by one thread. */
struct run_results {
    const struct run_options *options;
    size_t columns; /* of the model's output */
    clayer_rows_writer *writer;
    int64_t *classes; /* of one batch */
    size_t rows;      /* so far */
    size_t correct;
    double difference;     /* largest so far; NAN once a NaN met a number */
    size_t difference_row; /* counted from 0 in the whole input */
    size_t difference_column;
    size_t first; /* row of the whole input that is row 0 here */
};

struct run_batch {
    float *x, *y;     /* batch x in_features, batch x out_features */
    int64_t *labels;  /* NULL: none were given */
    float *reference; /* NULL: none was given */
    size_t rows;
};

/* Takes one computed batch; y is changed in place. */
clayer_status run_results_take(struct run_results *results, struct run_batch *batch);

/* Seconds of each step, by a clock that never steps back. */
struct run_times {
    double load;    /* device and model */
    double compile; /* kernels for this batch size */
    double first;   /* first batch, from its first byte read to its results */
    double rest;    /* all after that */
    size_t first_rows;
};

double run_now(void);

struct run_stream {
    clayer_model *model;
    size_t in_features, out_features, batch;
    clayer_rows *input, *labels, *reference; /* the last two may be NULL */
    const char *labels_path, *reference_path;
    size_t total; /* rows to come, or CLAYER_ROWS_UNKNOWN */
    bool progress;
    struct run_results *results;
    struct run_times *times;
};

/* Reads, computes and writes until the end, three batches in flight. *stopped is the signal that ended it early or 0.
 * After a failure *why holds what went wrong. */
clayer_status run_stream(struct run_stream *stream, int *stopped, char *why, size_t why_size);

/* Before the first read: from then on SIGINT and SIGTERM end the stream, and a second one ends the process. */
bool run_cancelled(void *user);

struct run_summary {
    const struct run_options *options;
    clayer_model *model;
    clayer_device_info device;
    const char *no_opencl; /* why the host runs, or NULL */
    size_t input_columns, input_rows, first, batch;
    const struct run_results *results;
    const struct run_times *times;
};

/* What is known before the run, and what came of it. */
void run_print_chain(const struct run_summary *summary, FILE *file);
void run_print_end(const struct run_summary *summary, FILE *file);
int run_print_json(const struct run_summary *summary, FILE *file);

#endif
