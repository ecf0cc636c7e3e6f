/* The host family: every vector kernel of this processor against the float64 reference, within the stated bound. */
#include "host/linear.h"
#include "host/packed.h"
#include "host/vector.h"
#include "support/guarded.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GAP 12345.0f /* what the elements between and after the rows hold, and keep */

static uint32_t random_state = 1;

static float uniform(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (float)(random_state >> 8) * 0x1p-23f - 1.0f;
}

/* A layer with its plain weights and its packed ones; every block ends at an unreadable page. */
struct layer {
    struct host_linear host;
    struct packed_shape shape;
    float *w, *bias; /* (out, in) dense; bias NULL for none */
    size_t packed_count, bias_count;
};

static struct layer make_layer(size_t in, size_t out, bool with_bias, struct activation activation)
{
    struct layer layer = {.shape = {in, out, packed_panel_width(out)}};
    cr_assert(packed_elements(&layer.shape, &layer.packed_count));
    cr_assert(packed_bias_elements(&layer.shape, &layer.bias_count));
    layer.w = guarded_floats(in * out);
    for (size_t i = 0; i < in * out; i++)
        layer.w[i] = uniform();
    layer.bias = with_bias ? guarded_floats(out) : NULL;
    for (size_t n = 0; with_bias && n < out; n++)
        layer.bias[n] = uniform() * 4;
    layer.host = (struct host_linear){in, out, layer.shape.panel, NULL, NULL, activation};
    return layer;
}

static void pack_layer(struct layer *layer)
{
    float *packed = guarded_floats(layer->packed_count);
    packed_pack(&layer->shape, layer->w, layer->shape.in_features, 1, packed);
    layer->host.weights = packed;
    if (layer->bias) {
        float *bias = guarded_floats(layer->bias_count);
        packed_pack_bias(&layer->shape, layer->bias, 1, bias);
        layer->host.bias = bias;
    }
}

static void free_layer(struct layer *layer)
{
    guarded_free((float *)layer->host.weights, layer->packed_count);
    guarded_free(layer->w, layer->shape.in_features * layer->shape.out_features);
    if (layer->bias) {
        guarded_free((float *)layer->host.bias, layer->bias_count);
        guarded_free(layer->bias, layer->shape.out_features);
    }
}

static size_t span(size_t rows, size_t cols, size_t ld)
{
    return rows && cols ? (rows - 1) * ld + cols : 0;
}

/* y's elements hold NaN and its gaps GAP before each run, so an element that is read, left out or written too much
 * shows. */
static void poison(float *y, size_t batch, size_t out, size_t ldy)
{
    for (size_t i = 0; i < span(batch, out, ldy); i++)
        y[i] = i % ldy < out ? NAN : GAP;
}

static void check_y(const float *y, size_t ldy, size_t batch, const struct layer *layer, const double *ref,
                    const double *s)
{
    size_t in = layer->shape.in_features, out = layer->shape.out_features;
    for (size_t i = 0; i < span(batch, out, ldy); i++) {
        size_t m = i / ldy, n = i % ldy;
        if (n >= out)
            cr_assert_eq(y[i], GAP, "%s: gap written at row %zu column %zu", vector_kernels()->name, m, n);
        else
            cr_assert(host_linear_agrees(y[i], ref[m * out + n], s[m * out + n], in, &layer->host.activation, true),
                      "%s %zux%zux%zu %s: y(%zu, %zu) is %.9g, not %.9g within %.3g", vector_kernels()->name, batch, in,
                      out, clayer_activation_string(layer->host.activation.kind), m, n, y[i], ref[m * out + n],
                      host_linear_bound(in, s[m * out + n], ref[m * out + n], &layer->host.activation, true));
    }
}

/* Runs one layer over given x in every vector kernel. */
static void check_layer(const struct layer *layer, size_t batch, const float *x, size_t ldx, size_t ldy)
{
    size_t in = layer->shape.in_features, out = layer->shape.out_features;
    double *ref = malloc((batch * out + 1) * sizeof *ref), *s = malloc((batch * out + 1) * sizeof *s);
    host_linear_reference(layer->w, in, 1, layer->bias, &layer->host.activation, batch, out, in, x, ldx, 1, ref, s);
    float *y = guarded_floats(span(batch, out, ldy));
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        poison(y, batch, out, ldy);
        host_linear_forward(&layer->host, batch, x, ldx, y, ldy);
        check_y(y, ldy, batch, layer, ref, s);
    }
    vector_use(NULL);
    guarded_free(y, span(batch, out, ldy));
    free(ref);
    free(s);
}

static void check_shape(size_t batch, size_t in, size_t out, size_t pad, bool with_bias, struct activation activation)
{
    struct layer layer = make_layer(in, out, with_bias, activation);
    pack_layer(&layer);
    size_t ldx = in + pad, count = span(batch, in, ldx);
    float *x = guarded_floats(count);
    for (size_t i = 0; i < count; i++)
        x[i] = i % ldx < in ? uniform() : NAN; /* NaN in the gaps: reading them shows */
    check_layer(&layer, batch, x, ldx, out + pad);
    guarded_free(x, count);
    free_layer(&layer);
}

static const struct activation relu = {CLAYER_ACTIVATION_RELU, 0, 0}, none = {CLAYER_ACTIVATION_NONE, 0, 0};

Test(packed, panel_width)
{
    static const size_t expected[][2] = {{1, 16},  {10, 16}, {16, 16},  {17, 32},  {33, 48},  {48, 48},   {49, 64},
                                         {64, 64}, {96, 48}, {127, 64}, {255, 64}, {500, 64}, {1000, 64}, {3072, 64}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_eq(packed_panel_width(expected[i][0]), expected[i][1], "%zu outputs: %zu", expected[i][0],
                     packed_panel_width(expected[i][0]));
    for (size_t n = 1; n < 3000; n++) { /* padding stays below half, or below a narrow panel */
        size_t width = packed_panel_width(n), padding = (n + width - 1) / width * width - n;
        cr_assert(padding < 16 || padding * 2 <= n, "%zu outputs in panels of %zu", n, width);
    }
    size_t elements;
    cr_assert_not(packed_elements(&(struct packed_shape){SIZE_MAX / 64, 64, 64}, &elements));
    cr_assert_not(packed_elements(&(struct packed_shape){1, SIZE_MAX, 64}, &elements));
    cr_assert(packed_elements(&(struct packed_shape){768, 3072, 64}, &elements));
    cr_assert_eq(elements, 768u * 3072u);
    cr_assert(packed_elements(&(struct packed_shape){5, 65, 48}, &elements));
    cr_assert_eq(elements, 5u * 96u);
}

Test(packed, layout)
{
    static const size_t ins[] = {0, 1, 15, 16, 17, 50}, outs[] = {1, 7, 8, 16, 33, 64, 77, 130},
                        panels[] = {16, 32, 48, 64};
    for (size_t a = 0; a < sizeof ins / sizeof *ins; a++)
        for (size_t b = 0; b < sizeof outs / sizeof *outs; b++)
            for (size_t p = 0; p < 4; p++) {
                struct packed_shape shape = {ins[a], outs[b], panels[p]};
                size_t in = ins[a], out = outs[b], count, bias_count;
                cr_assert(packed_elements(&shape, &count) && packed_bias_elements(&shape, &bias_count));
                /* (out, in) with and without a gap, (in, out), and strides in both directions */
                size_t strides[][2] = {{in, 1}, {in + 3, 1}, {1, out}, {1, out + 5}, {2 * in + 1, 2}};
                for (size_t t = 0; t < sizeof strides / sizeof *strides; t++) {
                    size_t size = in && out ? (out - 1) * strides[t][0] + (in - 1) * strides[t][1] + 1 : 0;
                    float *w = guarded_floats(size), *packed = guarded_floats(count);
                    for (size_t i = 0; i < size; i++)
                        w[i] = (float)(i + 1);
                    for (size_t i = 0; i < count; i++)
                        packed[i] = NAN;
                    packed_pack(&shape, w, strides[t][0], strides[t][1], packed);
                    for (size_t n = 0; n < bias_count; n++)
                        for (size_t k = 0; k < in; k++)
                            cr_assert_eq(packed[(n / shape.panel * in + k) * shape.panel + n % shape.panel],
                                         n < out ? w[n * strides[t][0] + k * strides[t][1]] : 0.0f,
                                         "%zux%zu panel %zu strides %zu: n %zu k %zu", in, out, shape.panel, t, n, k);
                    guarded_free(packed, count);
                    guarded_free(w, size);
                }
                float *bias = guarded_floats(bias_count), *plain = guarded_floats(2 * out - 1);
                for (size_t i = 0; i < 2 * out - 1; i++)
                    plain[i] = (float)(i + 1);
                packed_pack_bias(&shape, plain, 2, bias);
                for (size_t n = 0; n < bias_count; n++)
                    cr_assert_eq(bias[n], n < out ? (float)(2 * n + 1) : 0.0f);
                packed_pack_bias(&shape, NULL, 1, bias);
                for (size_t n = 0; n < bias_count; n++)
                    cr_assert_eq(bias[n], 0.0f);
                guarded_free(plain, 2 * out - 1);
                guarded_free(bias, bias_count);
            }
}

Test(host, shapes, .timeout = 100)
{
    static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 16, 31, 33, 48, 61, 65, 127};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t m = 0; m < SIZES; m++)
        for (size_t k = 0; k < SIZES; k++)
            for (size_t n = 0; n < SIZES; n++)
                if (sizes[m] * sizes[k] * sizes[n] < 200000)
                    check_shape(sizes[m], sizes[k], sizes[n], (m + k + n) % 3, (m + k) % 2, n % 2 ? relu : none);
    check_shape(37, 1000, 3, 1, true, relu);
    check_shape(1, 500, 255, 0, true, relu);
    check_shape(3, 1030, 130, 5, false, none);
    check_shape(700, 600, 70, 0, true, none); /* several passes over the weights */
}

Test(host, activations)
{
    for (int kind = 0; kind < ACTIVATION_COUNT; kind++) {
        struct activation activation = {(clayer_activation)kind, -0.5f, 0.75f};
        check_shape(1, 31, 130, 1, true, activation);
        check_shape(13, 17, 77, 2, true, activation);
        check_shape(20, 9, 5, 0, false, activation);
    }
}

/* A bias along the wrong axis shows only in its values when the result is square; the activation comes after it. */
Test(host, square_with_a_bias_per_column)
{
    static const size_t sizes[] = {8, 16, 33};
    for (size_t i = 0; i < 3; i++) {
        size_t n = sizes[i];
        struct layer layer = make_layer(n, n, true, relu);
        for (size_t j = 0; j < n; j++)
            layer.bias[j] = (float)j * 100 - 400;
        pack_layer(&layer);
        float *x = guarded_floats(n * n);
        for (size_t j = 0; j < n * n; j++)
            x[j] = (float)(j / n) + uniform();
        check_layer(&layer, n, x, n, n);
        guarded_free(x, n * n);
        free_layer(&layer);
    }
}

Test(host, nan_infinity_zero_and_subnormals)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-45f, -1e-39f, 1e30f, -1e30f, 3e38f, 1.0f};
    enum { VALUES = sizeof values / sizeof *values, IN = 9, OUT = 21, BATCH = 14 };
    for (int kind = 0; kind < ACTIVATION_COUNT; kind++)
        for (int place = 0; place < 3; place++) /* in x, W or the bias */
            for (int v = 0; v < VALUES; v++) {
                struct layer layer = make_layer(IN, OUT, true, (struct activation){(clayer_activation)kind, 0.1f, 2});
                float *x = guarded_floats(IN * BATCH);
                for (int i = 0; i < IN * BATCH; i++)
                    x[i] = uniform();
                if (place == 0)
                    x[3 * IN + 4] = x[11 * IN + 8] = values[v];
                else if (place == 1)
                    layer.w[2 * IN + 4] = layer.w[20 * IN] = values[v];
                else
                    layer.bias[5] = layer.bias[20] = values[v];
                pack_layer(&layer);
                check_layer(&layer, BATCH, x, IN, OUT);
                guarded_free(x, IN * BATCH);
                free_layer(&layer);
            }
    /* Opposite infinities in one sum, and 0 times infinity: NaN through every activation. */
    struct layer layer = make_layer(2, 20, false, relu);
    for (int n = 0; n < 20; n++) {
        layer.w[2 * n] = 1;
        layer.w[2 * n + 1] = n % 2 ? -1.0f : 0.0f;
    }
    pack_layer(&layer);
    float x[2] = {INFINITY, INFINITY}, y[20] = {0};
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        host_linear_forward(&layer.host, 1, x, 2, y, 20);
        for (int n = 0; n < 20; n++)
            cr_assert(isnan(y[n]));
    }
    vector_use(NULL);
    free_layer(&layer);
}

Test(host, sums_that_overflow)
{
    struct layer layer = make_layer(8, 40, true, none);
    for (int i = 0; i < 8 * 40; i++)
        layer.w[i] = i / 8 % 2 ? -1e20f : 1e20f;
    pack_layer(&layer);
    float *x = guarded_floats(8 * 5);
    for (int i = 0; i < 8 * 5; i++)
        x[i] = 1e20f;
    check_layer(&layer, 5, x, 8, 40);
    guarded_free(x, 8 * 5);
    free_layer(&layer);
}

Test(host, empty_shapes)
{
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        struct host_linear linear = {3, 0, 16, NULL, NULL, relu};
        host_linear_forward(&linear, 5, NULL, 3, NULL, 1);
        linear.out_features = 4;
        host_linear_forward(&linear, 0, NULL, 3, NULL, 4);
        host_linear_forward_strided(&linear, 0, NULL, 1, 3, NULL, 1, 4);
    }
    vector_use(NULL);
    struct layer with_bias = make_layer(0, 150, true, relu), without = make_layer(0, 150, false, none);
    with_bias.bias[0] = -0.0f;
    with_bias.bias[149] = NAN;
    pack_layer(&with_bias);
    pack_layer(&without);
    for (size_t batch = 1; batch < 9; batch++) {
        check_layer(&with_bias, batch, NULL, 0, 153);
        check_layer(&without, batch, NULL, 7, 150);
        float columns[150 * 8], y[150 * 8];
        host_linear_forward(&with_bias.host, batch, NULL, 0, y, 150);
        cr_assert(y[0] == 0 && signbit(y[0]), "relu(-0) is -0");
        host_linear_forward_strided(&with_bias.host, batch, NULL, 1, batch, columns, 1, batch);
        for (size_t i = 0; i < 150 * batch; i++)
            cr_assert(memcmp(&columns[i % 150 * batch + i / 150], &y[i], sizeof *y) == 0);
    }
    free_layer(&with_bias);
    free_layer(&without);
}

/* One bit pattern per row, whatever rows stand beside it and in whatever order x and y are stored. */
Test(host, rows_do_not_depend_on_their_neighbours)
{
    enum { BATCH = 41, IN = 300, LDX = 303, LDY = 260 };
    static const size_t outs[] = {7, 40, 48, 64, 129, 255};
    static const int kinds[] = {CLAYER_ACTIVATION_LEAKY_RELU, CLAYER_ACTIVATION_GELU};
    static float x[BATCH * LDX], y[BATCH * LDY], one[LDY], x_columns[IN * BATCH], y_columns[LDY * BATCH];
    for (size_t i = 0; i < BATCH * LDX; i++)
        x[i] = uniform();
    for (size_t m = 0; m < BATCH; m++)
        for (size_t k = 0; k < IN; k++)
            x_columns[k * BATCH + m] = x[m * LDX + k];
    for (size_t v = 0; vector_variant(v); v++) {
        vector_use(vector_variant(v));
        for (size_t i = 0; i < 12; i++) {
            size_t out = outs[i % 6];
            struct layer layer = make_layer(IN, out, true, (struct activation){kinds[i / 6], 0, 0});
            pack_layer(&layer);
            for (size_t batch = 1; batch <= BATCH; batch += batch < 18 ? 1 : 23) {
                host_linear_forward(&layer.host, batch, x, LDX, y, LDY);
                for (size_t m = 0; m < batch; m++) {
                    host_linear_forward(&layer.host, 1, x + m * LDX, LDX, one, LDY);
                    cr_assert_arr_eq(one, y + m * LDY, out * sizeof *y, "%s: row %zu of %zu, %zu outputs",
                                     vector_kernels()->name, m, batch, out);
                }
            }
            host_linear_forward_strided(&layer.host, BATCH, x_columns, 1, BATCH, y_columns, 1, BATCH);
            for (size_t m = 0; m < BATCH; m++)
                for (size_t n = 0; n < out; n++)
                    cr_assert(memcmp(&y_columns[n * BATCH + m], &y[m * LDY + n], sizeof *y) == 0,
                              "%s: columns differ at (%zu, %zu)", vector_kernels()->name, m, n);
            host_linear_forward_strided(&layer.host, BATCH, x, LDX, 1, y_columns, 1, BATCH);
            cr_assert_eq(y_columns[(out - 1) * BATCH + 40], y[40 * LDY + out - 1]);
            free_layer(&layer);
        }
    }
    vector_use(NULL);
}

Test(host, columns_read_and_write_nothing_else)
{
    static const size_t shapes[][3] = {{1, 5, 3}, {7, 300, 20}, {13, 1, 65}, {6, 256, 1}, {2, 257, 100}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t batch = shapes[i][0], in = shapes[i][1], out = shapes[i][2], ld = batch + 2;
        struct layer layer = make_layer(in, out, true, relu);
        pack_layer(&layer);
        float *x = guarded_floats(span(in, batch, ld)), *y = guarded_floats(span(out, batch, ld));
        for (size_t j = 0; j < span(in, batch, ld); j++)
            x[j] = j % ld < batch ? uniform() : NAN;
        double *ref = malloc(batch * out * sizeof *ref), *s = malloc(batch * out * sizeof *s);
        host_linear_reference(layer.w, in, 1, layer.bias, &relu, batch, out, in, x, 1, ld, ref, s);
        for (size_t v = 0; vector_variant(v); v++) {
            vector_use(vector_variant(v));
            poison(y, out, batch, ld);
            host_linear_forward_strided(&layer.host, batch, x, 1, ld, y, 1, ld);
            for (size_t j = 0; j < span(out, batch, ld); j++) {
                size_t at = j % ld * out + j / ld;
                cr_assert(j % ld < batch ? host_linear_agrees(y[j], ref[at], s[at], in, &relu, true) : y[j] == GAP);
            }
        }
        vector_use(NULL);
        free(ref);
        free(s);
        guarded_free(x, span(in, batch, ld));
        guarded_free(y, span(out, batch, ld));
        free_layer(&layer);
    }
}

/* Rounding is the only difference between instruction sets: those that fuse multiply-add agree bit for bit, activations
 * included, and so do those that do not. */
Test(host, instruction_sets_agree)
{
    enum { BATCH = 23, IN = 130, OUT = 77 };
    static float x[BATCH * IN], first[2][BATCH * OUT], y[BATCH * OUT];
    for (size_t i = 0; i < BATCH * IN; i++)
        x[i] = uniform();
    for (int kind = 0; kind < ACTIVATION_COUNT; kind++) {
        struct layer layer = make_layer(IN, OUT, true, (struct activation){(clayer_activation)kind, -1, 2});
        pack_layer(&layer);
        bool seen[2] = {false, false};
        for (size_t v = 0; vector_variant(v); v++) {
            vector_use(vector_variant(v));
            bool fused = vector_kernels()->fused;
            host_linear_forward(&layer.host, BATCH, x, IN, y, OUT);
            if (seen[fused])
                cr_assert_arr_eq(y, first[fused], sizeof y, "%s, %s", vector_kernels()->name,
                                 clayer_activation_string(layer.host.activation.kind));
            memcpy(first[fused], y, sizeof y);
            seen[fused] = true;
        }
        free_layer(&layer);
    }
    vector_use(NULL);
}

/* The rule itself: what it must refuse and what it must let pass. */
Test(host, agreement_rule)
{
    struct activation sigmoid = {CLAYER_ACTIVATION_SIGMOID, 0, 0};
    cr_assert(host_linear_agrees(1.0f, 1.0, 10, 100, &none, true));
    double bound = host_linear_bound(100, 10, 1.0, &none, true);
    cr_assert(bound > 10 * 102 * 0x1p-24 && bound < 10 * 103 * 0x1p-24);
    cr_assert(host_linear_agrees((float)(1.0 + 0.9 * bound), 1.0, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees((float)(1.0 + 1.1 * bound), 1.0, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees((float)(1.0 - 1.1 * bound), 1.0, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees(NAN, 1.0, 10, 100, &none, true), "NaN is never close");
    cr_assert_not(host_linear_agrees(INFINITY, 1.0, 10, 100, &none, true));
    cr_assert(host_linear_agrees(NAN, NAN, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees(0, NAN, 10, 100, &relu, true), "NaN must not be swallowed");
    cr_assert_not(host_linear_agrees(INFINITY, NAN, 1e39, 100, &none, true));
    cr_assert(host_linear_agrees(-INFINITY, -INFINITY, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees(INFINITY, -INFINITY, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees(-FLT_MAX, -INFINITY, 10, 100, &none, true));
    cr_assert_not(host_linear_agrees(0.9999f, 1.0, 10, 100, &sigmoid, true) &&
                  host_linear_bound(100, 10, 1.0, &sigmoid, true) < 1e-4);
    /* Overflow: sure where all terms have one sign, open otherwise. */
    cr_assert(host_linear_agrees(INFINITY, 1e39, 1e39, 8, &none, true));
    cr_assert_not(host_linear_agrees(NAN, 1e39, 1e39, 8, &none, true));
    cr_assert_not(host_linear_agrees(FLT_MAX, 1e39, 1e39, 8, &none, true));
    cr_assert(host_linear_agrees(NAN, 1e20, 1e39, 8, &none, true));
    cr_assert(host_linear_agrees(INFINITY, 1e20, 1e39, 8, &none, true));
    /* Devices that flush subnormals. */
    cr_assert_not(host_linear_agrees(0, 1e-39, 1e-39, 1, &none, true));
    cr_assert(host_linear_agrees(0, 1e-39, 1e-39, 1, &none, false));
    cr_assert_not(host_linear_agrees(0, 1e-37, 1e-37, 1, &none, false));
}
