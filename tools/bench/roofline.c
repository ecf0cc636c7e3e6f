#include "bench/roofline.h"

#include "bench/clock.h"

/* The best of several runs, each long enough to forget the launch: a roof is what can be reached at all. */
enum { TRIES = 20 };
static const double run_seconds = 0.01, most_seconds = 0.5;

static double best_flops(const struct roofs *roofs)
{
    double best = 0, flops = 0;
    size_t rounds = 1000;
    double seconds = roofs->multiply(rounds, &flops); /* compiles */
    double end = clock_now() + most_seconds;
    while (seconds >= 0 && (seconds = roofs->multiply(rounds, &flops)) >= 0 && seconds < run_seconds)
        rounds *= 2;
    for (int i = 0; i < TRIES && seconds >= 0 && (i == 0 || clock_now() < end); i++) {
        seconds = roofs->multiply(rounds, &flops);
        if (seconds > 0 && flops / seconds > best)
            best = flops / seconds;
    }
    return seconds >= 0 ? best : -1;
}

static double best_bandwidth(const struct roofs *roofs, size_t bytes)
{
    double best = 0;
    size_t passes = 1;
    double seconds = roofs->read(bytes, passes), end = clock_now() + most_seconds;
    while (seconds >= 0 && (seconds = roofs->read(bytes, passes)) >= 0 && seconds < run_seconds)
        passes *= 2;
    for (int i = 0; i < TRIES && seconds >= 0 && (i == 0 || clock_now() < end); i++) {
        seconds = roofs->read(bytes, passes);
        if (seconds > 0 && (double)bytes * (double)passes / seconds > best)
            best = (double)bytes * (double)passes / seconds;
    }
    return seconds >= 0 ? best : -1;
}

void roofs_print(const struct roofs *roofs, size_t cache_bytes, FILE *answer)
{
    const size_t smallest = (size_t)256 << 10;
    double peak = best_flops(roofs);
    if (peak <= 0) {
        fprintf(answer, "error %s\n", peer_last_error());
        return;
    }
    fprintf(answer, "peak %.6g\n", peak);
    /* Working sets from what a core's own cache holds to twice the last-level cache. */
    size_t largest = 2 * cache_bytes < roofs->most_bytes ? 2 * cache_bytes : roofs->most_bytes;
    largest = largest < smallest ? smallest : largest / smallest * smallest;
    for (size_t bytes = smallest;; bytes = 4 * bytes < largest ? 4 * bytes : largest) {
        double bandwidth = best_bandwidth(roofs, bytes);
        if (bandwidth <= 0) {
            fprintf(answer, "error %s\n", peer_last_error());
            return;
        }
        fprintf(answer, "bandwidth %zu %.6g\n", bytes, bandwidth);
        if (bytes == largest)
            break;
    }
    if (roofs->launch)
        fprintf(answer, "launch %.6g\n", roofs->launch());
    fprintf(answer, "done\n");
}
