/* Activations on the host: what each is exactly, how far any path may be from it, and the vectorised form. */
#ifndef HOST_ACTIVATION_H
#define HOST_ACTIVATION_H

#include <clayer/activation.h>
#include <stddef.h>

#define ACTIVATION_COUNT 10

/* alpha and beta as in clayer/activation.h; checked by activation_check before anything else here sees them. */
struct activation {
    clayer_activation kind;
    float alpha, beta;
};

/* Refuses an unknown kind, a leaky slope that is not finite, and limits of clamp that are not alpha < beta. */
clayer_status activation_check(clayer_activation kind, float alpha, float beta);

/* The slope below zero of leaky_relu, its default applied; 1 for the other kinds. */
float activation_slope(const struct activation *activation);

/* The limits of relu, relu6 and clamp; -Inf and Inf for the other kinds. Together with the slope they describe the
 * kinds that activation_is_cheap names completely: t = z < 0 ? slope * z : z, then t < low ? low : t > high ? high : t,
 * in comparisons that let NaN and -0 pass. */
float activation_low(const struct activation *activation);
float activation_high(const struct activation *activation);

/* Whether the activation costs next to nothing beside a store: none, relu, leaky_relu, relu6 and clamp. */
int activation_is_cheap(clayer_activation kind);

/* The exact function in float64, special values as in docs/numerics.md. Tests and tuning measure against it. */
double activation_reference(const struct activation *activation, double z);

/* The largest slope of the function: how much an error of z can grow. */
double activation_lipschitz(const struct activation *activation);

/* The accuracy that every path promises: max(ulps of the exact value, floor * 2^-24 * max(1, |z|)). */
struct activation_accuracy {
    double ulps, floor;
};
struct activation_accuracy activation_accuracy(clayer_activation kind);

/* That bound for an argument z whose exact value is `exact`; 0 where either is not finite. */
double activation_error(const struct activation *activation, double z, double exact);

/* The float32 form that the host family uses: the same bits as activation_rows gives. */
float activation_apply(const struct activation *activation, float z);

/* Applies it in place to rows x cols elements, ldy elements from row to row. An element's bits depend on its value
 * only, not on its place. */
void activation_rows(const struct activation *activation, float *y, size_t rows, size_t cols, size_t ldy);

#endif
