#include "bench/bench.h"

#include <math.h>
#include <stdio.h>

/* Weights, x and y lie in a cache when their working set is small: then the bandwidth measured for a working set of
 * that size counts. */
double roofline_bound(const struct roofline *roofline, const struct shape *shape, size_t copies, const char **bound)
{
    *bound = "";
    if (!roofline->known)
        return NAN;
    double bytes = shape_bytes(shape), set = bytes * (double)(copies > 0 ? copies : 1);
    size_t point = 0, last = roofline->points - 1;
    while (point < last && roofline->working_set[point] < set)
        point++;
    double moving = bytes / roofline->bytes_per_second[point], computing = shape_flops(shape) / roofline->peak_flops;
    *bound = computing >= moving ? "compute" : point == last ? "memory" : "cache";
    return computing >= moving ? computing : moving;
}

double ratio(const struct row *row, enum peer_id peer)
{
    return row->result[peer].call_median / row->result[PEER_CLAYER].call_median;
}

double geometric_mean(const struct session *session, enum peer_id peer, bool (*take)(const struct row *), size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < session->row_count; i++) {
        const struct row *row = &session->rows[i];
        double one =
            row->result[peer].call.count > 0 && row->result[PEER_CLAYER].call.count > 0 ? ratio(row, peer) : NAN;
        if (one > 0 && (!take || take(row))) {
            sum += log(one);
            ++*count;
        }
    }
    return *count > 0 ? exp(sum / (double)*count) : NAN;
}
