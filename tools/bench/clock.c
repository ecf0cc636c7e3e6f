#include "bench/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double fraction)
{
    double place = fraction * (double)(count - 1);
    size_t below = (size_t)place;
    double above = below + 1 < count ? sorted[below + 1] : sorted[below];
    return sorted[below] + (place - (double)below) * (above - sorted[below]);
}

double median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, ascending);
    return quantile(values, count, 0.5);
}

double spread(double *values, size_t count)
{
    double middle = median(values, count);
    return count == 0 ? NAN : (quantile(values, count, 0.75) - quantile(values, count, 0.25)) / 2 / middle;
}
