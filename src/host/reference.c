/* What every kernel is compared with, and the one rule of how close it must come. */
#include "host/linear.h"

#include <float.h>
#include <math.h>

void host_linear_reference(const float *w, size_t w_row, size_t w_col, const float *bias,
                           const struct activation *activation, size_t batch, size_t out_features, size_t in_features,
                           const float *x, size_t x_row, size_t x_col, double *y_ref, double *s_abs)
{
    for (size_t m = 0; m < batch; m++)
        for (size_t n = 0; n < out_features; n++) {
            double z = bias ? bias[n] : 0.0;
            double s = isfinite(z) ? fabs(z) : 0.0;
            for (size_t k = 0; k < in_features; k++) {
                double term = (double)x[m * x_row + k * x_col] * w[n * w_row + k * w_col];
                z += term;
                s += isfinite(term) ? fabs(term) : 0.0;
            }
            y_ref[m * out_features + n] = activation_reference(activation, z);
            if (s_abs)
                s_abs[m * out_features + n] = s;
        }
}

/* gamma(n) = n u / (1 - n u) with u = 2^-24: how much n roundings can add up to. */
static double gamma_of(double n)
{
    double nu = n * 0x1p-24;
    return nu < 0.5 ? nu / (1.0 - nu) : INFINITY;
}

double host_linear_bound(size_t in_features, double s, double ref, const struct activation *activation, bool denormals)
{
    double k = (double)in_features;
    double sum = gamma_of(k + 2) * s + k * 0x1p-149;
    if (!denormals)
        sum += (k + 1) * 0x1p-126; /* each product, and the sum with the bias, may be flushed */
    double grown = activation_lipschitz(activation) * sum;
    /* The activation sees the float32 sum: at most s + sum in size, with a value at most `grown` from ref. */
    double own = activation_error(activation, s + sum, fabs(ref) + grown);
    return grown + own + (denormals ? 0.0 : 0x1p-126);
}

bool host_linear_agrees(float y, double ref, double s, size_t in_features, const struct activation *activation,
                        bool denormals)
{
    if (isnan(ref)) /* from NaN, Inf - Inf or 0 * Inf among the terms, in any order */
        return isnan(y);
    if (s >= FLT_MAX / 2) {
        /* A partial sum may overflow and meet its opposite. Only where the terms all have one sign is the result sure;
         * an infinite term, which S leaves out, then gives Inf or NaN as well. */
        bool one_sign = isfinite(ref) && fabs(ref) >= s * (1.0 - 1e-9);
        bool overflows = s > FLT_MAX * (1.0 + gamma_of((double)in_features + 2));
        return !(one_sign && overflows) || (isinf(y) && (y > 0) == (ref > 0));
    }
    if (isinf(ref))
        return isinf(y) && (y > 0) == (ref > 0);
    return fabs((double)y - ref) <= host_linear_bound(in_features, s, ref, activation, denormals);
}
