/* What the tool prints about a run, for people and as JSON. */
#include "run.h"

#include <clayer/profile.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static double rows_per_second(const struct run_summary *s)
{
    const double seconds = s->times->first + s->times->rest;
    return seconds > 0 ? (double)s->results->rows / seconds : 0;
}

/* After the first batch, whose time holds what happens once; 0 when nothing came after it. */
static double steady_rate(const struct run_summary *s)
{
    const size_t rows = s->results->rows - s->times->first_rows;
    return rows && s->times->rest > 0 ? (double)rows / s->times->rest : 0;
}

static const char *layer_name(const struct run_summary *s, size_t index)
{
    const char *name = clayer_model_layer_name(s->model, index);
    return *name ? name : "(unnamed)";
}

void run_print_chain(const struct run_summary *s, FILE *file)
{
    const size_t count = clayer_model_layer_count(s->model);
    size_t parameters = 0;
    int width = 0;
    for (size_t i = 0; i < count; i++) {
        clayer_linear_info info;
        clayer_linear_get_info(clayer_model_layer(s->model, i), &info);
        parameters += info.parameters;
        const int length = (int)strlen(layer_name(s, i));
        width = length > width ? length : width;
    }
    fprintf(file, "model      %s: %zu layer%s, %zu parameters\n", s->options->model, count, count == 1 ? "" : "s",
            parameters);
    for (size_t i = 0; i < count; i++) {
        clayer_linear_info info;
        clayer_linear_get_info(clayer_model_layer(s->model, i), &info);
        fprintf(file, "           %-*s  %zu -> %zu%s, %s\n", width, layer_name(s, i), info.in_features,
                info.out_features, info.has_bias ? "" : ", no bias", clayer_activation_string(info.activation));
    }
    if (s->no_opencl)
        fprintf(file, "opencl     not used: %s; the host does the work\n", s->no_opencl);
    fprintf(file, "device     %s%s%s%s\n", s->device.name, *s->device.platform ? " (" : "", s->device.platform,
            *s->device.platform ? ")" : "");
    fprintf(file, "input      %s: ", s->options->input);
    if (s->input_rows != CLAYER_ROWS_UNKNOWN)
        fprintf(file, "%zu rows of ", s->input_rows);
    fprintf(file, "%zu columns", s->input_columns);
    if (s->options->shards > 1)
        fprintf(file, ", part %zu of %zu from row %zu on", s->options->shard, s->options->shards, s->first);
    fprintf(file, ", %zu at a time\n", s->batch);
    fflush(file);
}

static void plan_text(const clayer_plan_info *plan, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s (%s)", plan->family, *plan->configuration ? ":" : "", plan->configuration,
             plan->origin);
}

/* One line when all layers ran the same way. */
static void print_plans(const struct run_summary *s, FILE *file)
{
    const size_t count = clayer_model_layer_count(s->model);
    char first[256], text[256];
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        clayer_plan_info plan;
        clayer_linear_last_plan(clayer_model_layer(s->model, i), &plan);
        plan_text(&plan, i ? text : first, sizeof text);
        same = same && (i == 0 || strcmp(first, text) == 0);
    }
    if (same) {
        fprintf(file, "ran        all layers by %s\n", first);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        clayer_plan_info plan;
        clayer_linear_last_plan(clayer_model_layer(s->model, i), &plan);
        plan_text(&plan, text, sizeof text);
        fprintf(file, "%s layer %s by %s\n", i ? "          " : "ran       ", layer_name(s, i), text);
    }
}

/* A layer's times in one line; per call, since batches are what a user can change. */
static void print_profile(const struct run_summary *s, FILE *file)
{
    for (size_t i = 0; i < clayer_model_layer_count(s->model); i++) {
        clayer_linear_profile p;
        if (clayer_linear_get_profile(clayer_model_layer(s->model, i), &p) != CLAYER_OK) {
            fprintf(file, "profile    %s\n", clayer_last_error());
            return;
        }
        fprintf(file, "%s layer %s: %.2f us a call", i ? "          " : "profile   ", layer_name(s, i),
                p.calls ? 1e6 * p.seconds / (double)p.calls : 0);
        if (p.seconds > 0)
            fprintf(file, ", %.3g GFLOP/s, %.3g GB/s", 1e-9 * p.flops / p.seconds, 1e-9 * p.bytes / p.seconds);
        fprintf(file, "\n");
    }
}

void run_print_end(const struct run_summary *s, FILE *file)
{
    const struct run_results *r = s->results;
    if (r->rows)
        print_plans(s, file);
    if (s->options->profile)
        print_profile(s, file);
    if (s->options->labels && r->rows)
        fprintf(file, "accuracy   %zu/%zu = %.2f %%\n", r->correct, r->rows,
                100.0 * (double)r->correct / (double)r->rows);
    if (s->options->reference && isnan(r->difference))
        fprintf(file, "reference  NaN meets a number at row %zu, column %zu\n", r->difference_row,
                r->difference_column);
    else if (s->options->reference && r->difference > 0)
        fprintf(file, "reference  largest difference %.3g, at row %zu, column %zu\n", r->difference, r->difference_row,
                r->difference_column);
    else if (s->options->reference)
        fprintf(file, "reference  no difference\n");
    if (s->options->output)
        fprintf(file, "output     %s: %zu rows\n",
                strcmp(s->options->output, "-") ? s->options->output : "standard output", r->rows);
    fprintf(file, "speed      %.0f rows/s", rows_per_second(s));
    if (steady_rate(s) > 0)
        fprintf(file, "; %.0f rows/s after the first batch", steady_rate(s));
    fprintf(file, "\ntime       load %.3f s, compile %.3f s, first batch %.4f s, rest %.3f s\n", s->times->load,
            s->times->compile, s->times->first, s->times->rest);
}

static json_t *layer_json(const struct run_summary *s, size_t index)
{
    clayer_linear *layer = clayer_model_layer(s->model, index);
    clayer_linear_info info;
    clayer_plan_info plan;
    clayer_linear_get_info(layer, &info);
    clayer_linear_last_plan(layer, &plan);
    json_t *profile = NULL;
    clayer_linear_profile p;
    if (s->options->profile && clayer_linear_get_profile(layer, &p) == CLAYER_OK)
        profile = json_pack("{s:I, s:f, s:f, s:f}", "calls", (json_int_t)p.calls, "seconds", p.seconds, "flops",
                            p.flops, "bytes", p.bytes);
    return json_pack("{s:s, s:I, s:I, s:b, s:s, s:{s:s, s:s, s:s, s:s}, s:o*}", "name",
                     clayer_model_layer_name(s->model, index), "in_features", (json_int_t)info.in_features,
                     "out_features", (json_int_t)info.out_features, "bias", info.has_bias, "activation",
                     clayer_activation_string(info.activation), "plan", "family", plan.family, "configuration",
                     plan.configuration, "origin", plan.origin, "reason", plan.reason, "profile", profile);
}

/* Numbers that JSON cannot hold become null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *summary_json(const struct run_summary *s)
{
    const struct run_options *o = s->options;
    const struct run_results *r = s->results;
    const struct run_times *t = s->times;
    json_t *layers = json_array();
    for (size_t i = 0; i < clayer_model_layer_count(s->model); i++)
        json_array_append_new(layers, layer_json(s, i));
    json_t *accuracy = NULL, *reference = NULL;
    if (o->labels)
        accuracy = json_pack("{s:I, s:I}", "correct", (json_int_t)r->correct, "total", (json_int_t)r->rows);
    if (o->reference)
        reference = json_pack("{s:o, s:I, s:I}", "largest_difference", number(r->difference), "row",
                              (json_int_t)r->difference_row, "column", (json_int_t)r->difference_column);
    return json_pack("{s:s, s:{s:s, s:o}, s:{s:s, s:s, s:s, s:s}, s:s?, s:{s:s, s:I, s:I, s:I}, s:I, s:s?, s:o?, s:o?,"
                     " s:o, s:o, s:{s:f, s:f, s:f, s:f}}",
                     "schema", "clayer-run/1", "model", "file", o->model, "layers", layers, "device", "id",
                     s->device.id, "name", s->device.name, "platform", s->device.platform, "type",
                     clayer_device_type_string(s->device.type), "opencl_unused", s->no_opencl, "input", "file",
                     o->input, "columns", (json_int_t)s->input_columns, "first", (json_int_t)s->first, "rows",
                     (json_int_t)r->rows, "batch", (json_int_t)s->batch, "output", o->output, "accuracy", accuracy,
                     "reference", reference, "rows_per_second", number(rows_per_second(s)), "steady_rows_per_second",
                     steady_rate(s) > 0 ? number(steady_rate(s)) : json_null(), "seconds", "load", t->load, "compile",
                     t->compile, "first_batch", t->first, "rest", t->rest);
}

int run_print_json(const struct run_summary *s, FILE *file)
{
    json_t *json = summary_json(s);
    if (!json) /* a file name that is not UTF-8 */
        return tool_failed("the report does not fit into JSON: is every file name UTF-8?");
    json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', file);
    json_decref(json);
    return 0;
}
