#include "bench/bench.h"

#include <clayer/version.h>
#include <math.h>
#include <stdio.h>

static void print_seconds(double seconds)
{
    if (!(seconds >= 0))
        printf("%11s", "-");
    else if (seconds < 1e-3)
        printf("%8.2f us", seconds * 1e6);
    else if (seconds < 1)
        printf("%8.3f ms", seconds * 1e3);
    else
        printf("%8.3f s ", seconds);
}

static void print_result(const struct session *session, const struct row *row, enum peer_id peer)
{
    const struct result *result = &row->result[peer];
    printf("  %-9s", peer_name(peer));
    if (result->call.count == 0) {
        printf(" %s\n", *result->error ? result->error : "not measured: time is up");
        return;
    }
    print_seconds(result->call_median);
    printf(" %4.0f%%", 100 * result->call_spread);
    print_seconds(result->chained_median);
    print_seconds(result->host_median);
    bool compute = !row->bound || *row->bound != 'm';
    printf(" %8.1f %s", (compute ? shape_flops(&row->shape) : shape_bytes(&row->shape)) / result->call_median * 1e-9,
           compute ? "GFLOP/s" : "GB/s   ");
    if (session->roofline.known)
        printf(" %4.0f%%", 100 * row->bound_seconds / result->call_median);
    else
        printf("    - ");
    if (peer == PEER_CLAYER || row->result[PEER_CLAYER].call.count == 0)
        printf(" %8s", "");
    else
        printf(" %7.2fx", ratio(row, peer));
    printf("  %s%s\n", result->plan, *result->error ? ", then failed" : "");
}

static void print_rows(const struct session *session)
{
    printf("\n  %-9s%11s %5s%11s%11s %16s %5s %8s  %s\n", "", "call", "+-", "chained", "host mem.", "speed", "roof",
           "clayer is", "plan");
    for (size_t i = 0; i < session->row_count; i++) {
        const struct row *row = &session->rows[i];
        char label[SHAPE_TEXT];
        shape_label(&row->shape, label);
        printf("%s %s%s%s%s\n", label, clayer_activation_string(row->shape.activation),
               row->shape.cold ? ", weights from memory" : "", row->bound && *row->bound ? ", bound by " : "",
               row->bound ? row->bound : "");
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
            if (row->result[peer].present)
                print_result(session, row, peer);
    }
}

static void print_roofline(const struct session *session)
{
    const struct roofline *roofline = &session->roofline;
    if (!roofline->known) {
        printf("roofline: not measured%s%s\n", *roofline->error ? ": " : "", roofline->error);
        return;
    }
    size_t last = roofline->points - 1;
    printf("roofline: %.1f GFLOP/s, %.1f GB/s from memory", roofline->peak_flops * 1e-9,
           roofline->bytes_per_second[last] * 1e-9);
    if (last > 0)
        printf(", %.1f GB/s in %.0f KiB", roofline->bytes_per_second[0] * 1e-9, roofline->working_set[0] / 1024);
    if (roofline->launch_seconds > 0)
        printf("; an empty kernel with its wait takes %.1f us", roofline->launch_seconds * 1e6);
    printf("\n");
}

static void print_summary(const struct session *session)
{
    struct target targets[MAX_TARGETS];
    printf("\n");
    for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++) {
        size_t count;
        double mean = geometric_mean(session, peer, NULL, &count);
        if (count > 0)
            printf("clayer against %-9s %6.2fx geometric mean of %zu shape%s\n", peer_name(peer), mean, count,
                   count == 1 ? "" : "s");
        else if (*session->missing[peer])
            printf("%s was left out: %s\n", peer_name(peer), session->missing[peer]);
    }
    if (*session->missing[PEER_CLAYER])
        printf("clayer could not start: %s\n", session->missing[PEER_CLAYER]);
    size_t count = targets_judge(session, targets), judged = 0;
    for (size_t i = 0; i < count; i++)
        judged += targets[i].rows > 0;
    if (judged > 0)
        printf("\ntargets\n");
    for (size_t i = 0; i < count; i++)
        if (targets[i].rows > 0)
            printf("  %-6s %7.2f %s %.2f  %s%s%s%s\n", targets[i].met ? "met" : "MISSED", targets[i].worst,
                   targets[i].at_most ? "<=" : ">=", targets[i].goal, targets[i].text, *targets[i].where ? " (" : "",
                   targets[i].where, *targets[i].where ? ")" : "");
}

void table_print(const struct session *session)
{
    const struct options *options = session->options;
    printf("clayer %s on %s (%s)\n", clayer_version_string(), options->device.name,
           clayer_device_type_string(options->device.type));
    print_roofline(session);
    print_rows(session);
    print_summary(session);
    if (session->row_count < options->shape_count || session->out_of_time)
        printf("\nthe time limit of %g s came first: %zu of %zu shapes were begun\n", options->time_limit,
               session->row_count, options->shape_count);
    printf("\n%.0f s. Times are medians; +- is half the distance between the quartiles; docs/benchmarks.md explains "
           "the rest.\n",
           session->seconds);
}
