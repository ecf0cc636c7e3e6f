/* clayer-run: opens what it is given, in the order in which mistakes are cheapest to find, and runs the stream. */
#include "run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without --batch: rows that fit into this many bytes over all copies, at most so many, a round number of them. */
#define AUTOMATIC_BYTES ((size_t)16 << 20)
#define AUTOMATIC_ROWS 4096

struct run {
    struct run_options options;
    clayer_rows *input, *labels, *reference;
    clayer_context *context;
    clayer_model *model;
    struct run_results results;
    struct run_times times;
    struct run_summary summary;
    size_t in_features, out_features;
    size_t selected; /* rows to run, or CLAYER_ROWS_UNKNOWN */
    char no_opencl[512];
};

/* Exit code for a failed call, after its line on stderr. */
static int failed(clayer_status status)
{
    tool_failed("%s", clayer_last_error());
    switch (status) {
    case CLAYER_ERROR_NO_OPENCL:
    case CLAYER_ERROR_NO_DEVICE:
    case CLAYER_ERROR_DEVICE_UNUSABLE:
        return RUN_NO_DEVICE;
    case CLAYER_ERROR_INVALID_ARGUMENT:
        return EXIT_CODE_USAGE;
    default:
        return EXIT_CODE_FAILED;
    }
}

static int open_table(const char *path, clayer_rows_format format, clayer_rows **rows)
{
    if (!path)
        return 0;
    const clayer_rows_params params = {.format = format, .cancelled = run_cancelled};
    const clayer_status status = clayer_rows_open(path, &params, rows);
    return status == CLAYER_OK ? 0 : failed(status);
}

static int open_tables(struct run *run)
{
    const struct run_options *o = &run->options;
    int code = open_table(o->input, o->input_format, &run->input);
    if (!code)
        code = open_table(o->labels, CLAYER_ROWS_AUTO, &run->labels);
    if (!code)
        code = open_table(o->reference, CLAYER_ROWS_AUTO, &run->reference);
    return code;
}

/* Device and model. */
static int load(struct run *run)
{
    const struct run_options *o = &run->options;
    const double start = run_now();
    const clayer_context_params context = {.device = o->device, .plan = o->plan, .profile = o->profile};
    clayer_status status = clayer_context_create(&context, &run->context);
    if (status != CLAYER_OK)
        return failed(status);
    clayer_context_device(run->context, &run->summary.device);
    if (run->summary.device.type == CLAYER_DEVICE_HOST && clayer_opencl_status() != CLAYER_OK) {
        snprintf(run->no_opencl, sizeof run->no_opencl, "%s", clayer_last_error());
        run->summary.no_opencl = run->no_opencl;
    }
    const clayer_model_load_params model = {.layers = o->layers, .activations = o->activations};
    status = clayer_model_load(run->context, o->model, &model, &run->model);
    if (status != CLAYER_OK)
        return failed(status);
    clayer_linear_info first, last;
    clayer_linear_get_info(clayer_model_layer(run->model, 0), &first);
    clayer_linear_get_info(clayer_model_layer(run->model, clayer_model_layer_count(run->model) - 1), &last);
    run->in_features = first.in_features;
    run->out_features = last.out_features;
    run->times.load = run_now() - start;
    return 0;
}

/* Whether the tables fit the model, as far as can be told before reading. */
static int check_columns(const struct run *run)
{
    const struct run_options *o = &run->options;
    if (clayer_rows_columns(run->input) != run->in_features)
        return tool_failed("%s has rows of %zu; %s takes rows of %zu", o->input, clayer_rows_columns(run->input),
                           o->model, run->in_features);
    if (run->labels && clayer_rows_columns(run->labels) != 1)
        return tool_failed("%s has %zu columns; labels are one column of class numbers", o->labels,
                           clayer_rows_columns(run->labels));
    if (run->reference && clayer_rows_columns(run->reference) != run->out_features)
        return tool_failed("%s has rows of %zu; %s gives rows of %zu", o->reference,
                           clayer_rows_columns(run->reference), o->model, run->out_features);
    if ((o->argmax || o->labels) && run->out_features == 0)
        return tool_failed("%s gives rows of 0 columns, which have no largest value", o->model);
    return 0;
}

/* Counts the rows, compares the tables' counts, and selects the shard's rows in each. */
static int select_rows(struct run *run)
{
    const struct run_options *o = &run->options;
    const struct {
        clayer_rows *rows;
        const char *path;
    } tables[] = {{run->input, o->input}, {run->labels, o->labels}, {run->reference, o->reference}};
    size_t rows = CLAYER_ROWS_UNKNOWN;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!tables[i].rows)
            continue;
        size_t count;
        clayer_status status = clayer_rows_count(tables[i].rows, &count);
        if (status != CLAYER_OK)
            return failed(status);
        if (i == 0)
            rows = count;
        if (rows != CLAYER_ROWS_UNKNOWN && count != CLAYER_ROWS_UNKNOWN && count != rows)
            return tool_failed("%s has %zu rows, but %s has %zu; one for each is accepted", tables[i].path, count,
                               o->input, rows);
        if (o->shards == 1)
            continue;
        status = clayer_rows_select_part(tables[i].rows, o->shard - 1, o->shards);
        if (status != CLAYER_OK)
            return failed(status);
    }
    run->summary.input_rows = rows;
    run->selected = clayer_rows_selected(run->input);
    /* As clayer_rows_select_part divides; the remainder is multiplied apart so that nothing overflows. */
    if (o->shards > 1)
        run->summary.first = rows / o->shards * (o->shard - 1) + rows % o->shards * (o->shard - 1) / o->shards;
    return 0;
}

/* The batch that plans are chosen for. It must not depend on the shard, so that shards give the whole's bits. */
static size_t choose_batch(const struct run *run)
{
    if (run->options.batch)
        return run->options.batch;
    size_t widest = 0;
    for (size_t i = 0; i < clayer_model_layer_count(run->model); i++) {
        clayer_linear_info info;
        clayer_linear_get_info(clayer_model_layer(run->model, i), &info);
        widest = info.out_features > widest ? info.out_features : widest;
    }
    /* Three batches in flight and their copies on the device, and two buffers between the layers. */
    const double row = 4.0 * (4.0 * ((double)run->in_features + (double)run->out_features) + 2.0 * (double)widest) + 1;
    const double fit = (double)AUTOMATIC_BYTES / row;
    size_t batch = fit > AUTOMATIC_ROWS ? AUTOMATIC_ROWS : fit < 1 ? 1 : (size_t)fit;
    if (batch > 64)
        batch = batch / 64 * 64;
    return run->summary.input_rows < batch ? (run->summary.input_rows ? run->summary.input_rows : 1) : batch;
}

static int create_writer(struct run *run)
{
    const struct run_options *o = &run->options;
    if (!o->output)
        return 0;
    const clayer_rows_writer_params params = {.format = o->output_format,
                                              .dtype = o->argmax ? CLAYER_DTYPE_I64 : CLAYER_DTYPE_F32,
                                              .one_dimension = o->argmax,
                                              .rows_known = run->selected != CLAYER_ROWS_UNKNOWN,
                                              .rows = run->selected};
    const clayer_status status =
        clayer_rows_writer_create(o->output, o->argmax ? 1 : run->out_features, &params, &run->results.writer);
    return status == CLAYER_OK ? 0 : failed(status);
}

/* Everything from the first row to the output in its place. */
static int stream(struct run *run, int *stopped)
{
    const struct run_options *o = &run->options;
    run->results.options = o;
    run->results.columns = run->out_features;
    run->results.first = run->summary.first;
    if (o->argmax || o->labels) {
        run->results.classes = malloc(run->summary.batch * sizeof *run->results.classes);
        if (!run->results.classes)
            return tool_failed("no memory for %zu classes: choose a smaller --batch", run->summary.batch);
    }
    int code = create_writer(run);
    if (code)
        return code;
    struct run_stream s = {.model = run->model,
                           .in_features = run->in_features,
                           .out_features = run->out_features,
                           .batch = run->summary.batch,
                           .input = run->input,
                           .labels = run->labels,
                           .reference = run->reference,
                           .labels_path = o->labels,
                           .reference_path = o->reference,
                           .total = run->selected,
                           .progress = isatty(STDERR_FILENO) && !o->json,
                           .results = &run->results,
                           .times = &run->times};
    char why[1024];
    clayer_status status = run_stream(&s, stopped, why, sizeof why);
    if (status == CLAYER_OK) {
        status = clayer_rows_writer_close(&run->results.writer);
        return status == CLAYER_OK ? 0 : failed(status);
    }
    clayer_rows_writer_abort(&run->results.writer);
    return *stopped ? EXIT_CODE_FAILED : tool_failed("%s", why);
}

/* The report goes where the results do not. */
static FILE *report_file(const struct run_options *o)
{
    return o->output && strcmp(o->output, "-") == 0 ? stderr : stdout;
}

static int run_all(struct run *run, int *stopped)
{
    const struct run_options *o = &run->options;
    FILE *report = report_file(o);
    int code = open_tables(run);
    if (!code)
        code = load(run);
    if (!code)
        code = check_columns(run);
    if (!code)
        code = select_rows(run);
    if (code)
        return code;
    run->summary.options = o;
    run->summary.model = run->model;
    run->summary.input_columns = run->in_features;
    run->summary.batch = choose_batch(run);
    run->summary.results = &run->results;
    run->summary.times = &run->times;
    if (!o->json)
        run_print_chain(&run->summary, report);
    const double start = run_now();
    clayer_status status = clayer_model_set_plan_batch(run->model, run->summary.batch);
    if (status == CLAYER_OK && run->selected != 0)
        status = clayer_model_prepare(run->model, run->summary.batch);
    if (status != CLAYER_OK)
        return failed(status);
    run->times.compile = run_now() - start;
    code = stream(run, stopped);
    if (code)
        return code;
    if (o->json)
        return run_print_json(&run->summary, report);
    run_print_end(&run->summary, report);
    return 0;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int stopped = 0;
    tool_start("clayer-run");
    int code = run_options_read(argc, argv, &run.options);
    if (code >= 0)
        return code;
    tool_show_warnings();
    code = run_all(&run, &stopped);
    clayer_model_destroy(&run.model);
    clayer_context_destroy(&run.context);
    clayer_rows_destroy(&run.input);
    clayer_rows_destroy(&run.labels);
    clayer_rows_destroy(&run.reference);
    free(run.results.classes);
    if (stopped) { /* the handler has put the default action back: end as if it had never been caught */
        fprintf(stderr, "%s: stopped after %zu rows\n", tool_name, run.results.rows);
        fflush(stdout);
        raise(stopped);
    }
    return tool_finish(code);
}
