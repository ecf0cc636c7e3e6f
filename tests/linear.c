/* The layer's interface: what it refuses and with which words, empty shapes, layouts, replaced weights, plans. The
 * numbers themselves are the table's business (table.c). */
#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OK(call) cr_assert_eq((call), CLAYER_OK, "%s: %s", #call, clayer_last_error())
#define FAILS(status, call)                                                                                            \
    cr_assert_eq((call), (status), "%s: not %s; last error \"%s\"", #call, clayer_status_string(status),               \
                 clayer_last_error())
#define SAYS(text)                                                                                                     \
    cr_assert(strstr(clayer_last_error(), (text)), "\"%s\" does not say \"%s\"", clayer_last_error(), text)

enum { BATCH = 4, IN = 6, OUT = 5 };

static float x[BATCH * IN], w[OUT * IN], b[OUT], y[BATCH * OUT];

/* Small integers, so that every sum is exact on every path. */
static void fill(void)
{
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i % 7) - 3;
    for (int i = 0; i < OUT * IN; i++)
        w[i] = (float)(i % 5) - 2;
    for (int i = 0; i < OUT; i++)
        b[i] = (float)(100 * i);
}

static float expected(size_t m, size_t n, bool bias)
{
    float sum = bias ? b[n] : 0;
    for (size_t k = 0; k < IN; k++)
        sum += x[m * IN + k] * w[n * IN + k];
    return sum;
}

static clayer_context *open_context(const char *device, const char *plan)
{
    clayer_context *context = NULL;
    OK(clayer_context_create(&(clayer_context_params){.device = device, .plan = plan}, &context));
    return context;
}

static clayer_linear *make_layer(clayer_context *context, const char *plan)
{
    clayer_linear *linear = NULL;
    OK(clayer_linear_create(
        context, &(clayer_linear_params){.in_features = IN, .out_features = OUT, .weight = w, .bias = b, .plan = plan},
        &linear));
    return linear;
}

/* Whether the default context is an OpenCL device, on which device families can be forced. */
static bool has_device(const clayer_context *context)
{
    clayer_device_info info;
    OK(clayer_context_device(context, &info));
    return info.type != CLAYER_DEVICE_HOST;
}

static bool can_force(clayer_context *context, const char *plan)
{
    clayer_linear *linear = NULL;
    clayer_status status = clayer_linear_create(
        context, &(clayer_linear_params){.in_features = IN, .out_features = OUT, .weight = w, .plan = plan}, &linear);
    if (status == CLAYER_OK)
        status = clayer_linear_prepare(linear, BATCH);
    clayer_linear_destroy(&linear);
    return status == CLAYER_OK;
}

Test(linear, parameters_are_pytorchs_count)
{
    enum { K = 768, N = 3072 };
    clayer_context *context = open_context("host", NULL);
    float *weight = calloc((size_t)K * N, sizeof *weight), *bias = calloc(N, sizeof *bias);
    clayer_linear *linear = NULL;
    clayer_linear_info info;
    OK(clayer_linear_create(
        context, &(clayer_linear_params){.in_features = K, .out_features = N, .weight = weight, .bias = bias},
        &linear));
    OK(clayer_linear_get_info(linear, &info));
    cr_assert_eq(info.parameters, 2362368u);
    cr_assert_eq(info.in_features, (size_t)K);
    cr_assert_eq(info.out_features, (size_t)N);
    cr_assert(info.has_bias);
    cr_assert_geq(info.packed_bytes, ((size_t)K * N + N) * sizeof(float));
    static float eight[8 * K], out[8 * N];
    out[8 * N - 1] = NAN;
    OK(clayer_linear_forward(linear, 8, eight, K, out, N));
    cr_assert_eq(out[8 * N - 1], 0);
    OK(clayer_linear_set_bias(linear, NULL));
    OK(clayer_linear_get_info(linear, &info));
    cr_assert_eq(info.parameters, 2362368u - N);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    free(weight);
    free(bias);
}

Test(linear, create_refuses)
{
    fill();
    clayer_context *context = open_context(NULL, NULL);
    clayer_linear *linear = (clayer_linear *)&fill; /* must be left alone */
    const clayer_linear_params good = {.in_features = IN, .out_features = OUT, .weight = w, .bias = b};
    clayer_linear_params p;
#define CREATE_FAILS(status, text, ...)                                                                                \
    do {                                                                                                               \
        p = good;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
        FAILS(status, clayer_linear_create(context, &p, &linear));                                                     \
        SAYS(text);                                                                                                    \
        cr_assert_eq((void *)linear, (void *)&fill);                                                                   \
    } while (0)
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "weight", p.weight = NULL);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "ldw is 5, below the row length 6", p.ldw = 5);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "ldw is 4, below the row length 5",
                 (p.ldw = 4, p.weight_layout = CLAYER_WEIGHT_IN_OUT));
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "weight layout 2", p.weight_layout = (clayer_weight_layout)2);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "activation 10", p.activation = (clayer_activation)10);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "activation -1", p.activation = (clayer_activation)-1);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "clamp", p.activation = CLAYER_ACTIVATION_CLAMP);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "slope",
                 (p.activation = CLAYER_ACTIVATION_LEAKY_RELU, p.activation_alpha = NAN));
    CREATE_FAILS(CLAYER_ERROR_UNSUPPORTED, "x is F16", p.x_type = CLAYER_DTYPE_F16);
    CREATE_FAILS(CLAYER_ERROR_UNSUPPORTED, "weight is I8", p.weight_type = CLAYER_DTYPE_I8);
    CREATE_FAILS(CLAYER_ERROR_UNSUPPORTED, "y is BF16", p.y_type = CLAYER_DTYPE_BF16);
    CREATE_FAILS(CLAYER_ERROR_UNSUPPORTED, "accumulator is F64", p.accumulator_type = CLAYER_DTYPE_F64);
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "portable", p.plan = "fastest");
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "rows is one of 1, 2, 3", p.plan = "panel:rows=9");
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "rows, vectors, width", p.plan = "panel:colour=1");
    CREATE_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "rows", p.plan = "panel:rows=4x");
    CREATE_FAILS(CLAYER_ERROR_TOO_LARGE, "overflow", p.in_features = p.out_features = (size_t)1 << 32);
    CREATE_FAILS(CLAYER_ERROR_TOO_LARGE, "overflow", p.out_features = SIZE_MAX);
    CREATE_FAILS(CLAYER_ERROR_TOO_LARGE, "overflow", p.in_features = SIZE_MAX);
    CREATE_FAILS(CLAYER_ERROR_TOO_LARGE, "overflow", p.ldw = SIZE_MAX / 4);
    CREATE_FAILS(CLAYER_ERROR_TOO_LARGE, "overflow", (p.ldw = SIZE_MAX, p.weight_layout = CLAYER_WEIGHT_IN_OUT));
    p = good;
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_create(NULL, &p, &linear));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_create(context, NULL, &linear));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_create(context, &p, NULL));
    clayer_context_destroy(&context);
    clayer_linear_destroy(NULL);
    linear = NULL;
    clayer_linear_destroy(&linear);
}

Test(linear, forward_refuses)
{
    fill();
    clayer_context *context = open_context(NULL, NULL), *other = open_context(NULL, NULL);
    clayer_linear *linear = make_layer(context, NULL);
    clayer_buffer *bx, *by, *elsewhere;
    OK(clayer_buffer_create(context, BATCH * IN - 1, &bx));
    OK(clayer_buffer_create(context, BATCH * OUT, &by));
    OK(clayer_buffer_create(other, BATCH * IN, &elsewhere));
    for (int i = 0; i < BATCH * OUT; i++)
        y[i] = NAN;

    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(NULL, BATCH, x, IN, y, OUT));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, NULL, IN, y, OUT));
    SAYS("x != NULL");
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, x, IN, NULL, OUT));
    SAYS("y != NULL");
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, x, IN - 1, y, OUT));
    SAYS("ldx >=");
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, x, IN, y, OUT - 1));
    SAYS("ldy >=");
    FAILS(CLAYER_ERROR_TOO_LARGE, clayer_linear_forward(linear, SIZE_MAX / IN + 2, x, IN, y, OUT));
    FAILS(CLAYER_ERROR_TOO_LARGE, clayer_linear_forward(linear, BATCH, x, SIZE_MAX / 2, y, OUT));
    SAYS("overflows");

#define MATRIX_FAILS(status, text, mx, my)                                                                             \
    do {                                                                                                               \
        const clayer_matrix x_ = mx, y_ = my;                                                                          \
        FAILS(status, clayer_linear_forward_matrix(linear, BATCH, &x_, &y_));                                          \
        SAYS(text);                                                                                                    \
    } while (0)
#define M(...) ((clayer_matrix){__VA_ARGS__})
    const clayer_matrix gx = {.data = x}, gy = {.data = y};
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward_matrix(linear, BATCH, NULL, &gy));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward_matrix(linear, BATCH, &gx, NULL));
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "x: neither data nor buffer", M(0), gy);
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "y: neither data nor buffer", gx, M(0));
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "x: layout 2", M(.data = x, .layout = (clayer_layout)2), gy);
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "y: leading dimension 4 is below the row length 5", gx,
                 M(.data = y, .ld = 4));
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "x: leading dimension 3 is below the row length 4",
                 M(.data = x, .ld = 3, .layout = CLAYER_LAYOUT_COLUMNS), gy);
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "needs 24 elements, the buffer has 23", M(.buffer = bx), gy);
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "needs 21 elements, the buffer has 20", gx,
                 M(.buffer = by, .offset = 1));
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "needs 23 elements, the buffer has 20", gx, M(.buffer = by, .ld = 6));
    MATRIX_FAILS(CLAYER_ERROR_INVALID_ARGUMENT, "x: the buffer belongs to another context", M(.buffer = elsewhere), gy);
    MATRIX_FAILS(CLAYER_ERROR_TOO_LARGE, "overflows", M(.buffer = bx, .offset = SIZE_MAX - 3), gy);
    MATRIX_FAILS(CLAYER_ERROR_TOO_LARGE, "overflows", M(.buffer = bx, .ld = SIZE_MAX / 2), gy);
    for (int i = 0; i < BATCH * OUT; i++)
        cr_assert(isnan(y[i]), "a refused call wrote y");

    clayer_plan_info plan;
    OK(clayer_linear_last_plan(linear, &plan));
    cr_assert_str_eq(plan.family, "", "nothing ran");
    clayer_buffer_destroy(&bx);
    clayer_buffer_destroy(&by);
    clayer_buffer_destroy(&elsewhere);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    clayer_context_destroy(&other);
}

Test(linear, overlap_of_x_and_y)
{
    fill();
    clayer_context *context = open_context(NULL, NULL);
    clayer_linear *linear = make_layer(context, NULL);
    enum { LD = IN + OUT };
    float both[BATCH * LD + IN];
    for (int m = 0; m < BATCH; m++)
        for (int k = 0; k < IN; k++)
            both[m * LD + k] = x[m * IN + k];
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, both, LD, both + IN - 1, LD));
    SAYS("overlap");
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, both + OUT - 1, LD, both, LD));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward(linear, BATCH, both, IN, both, OUT));
    OK(clayer_linear_forward(linear, BATCH, both, LD, both + IN, LD)); /* side by side in one array */
    for (size_t m = 0; m < BATCH; m++)
        for (size_t n = 0; n < OUT; n++)
            cr_assert_eq(both[m * LD + IN + n], expected(m, n, true));
    clayer_buffer *buffer;
    OK(clayer_buffer_create(context, BATCH * (IN + OUT), &buffer));
    OK(clayer_buffer_write(buffer, 0, x, BATCH * IN));
    const clayer_matrix in = {.buffer = buffer}, bad = {.buffer = buffer, .offset = BATCH * IN - 1},
                        good = {.buffer = buffer, .offset = BATCH * IN};
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_forward_matrix(linear, BATCH, &in, &bad));
    OK(clayer_linear_forward_matrix(linear, BATCH, &in, &good));
    OK(clayer_buffer_read(buffer, BATCH * IN, y, BATCH * OUT));
    for (size_t i = 0; i < BATCH * OUT; i++)
        cr_assert_eq(y[i], expected(i / OUT, i % OUT, true));
    clayer_buffer_destroy(&buffer);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

/* Batch, in and out features of 0, with and without bias, in each family that there is. */
Test(linear, empty_shapes)
{
    fill();
    b[1] = -0.0f;
    b[2] = NAN;
    static const char *const plans[] = {"auto", "portable", "panel", "tiled", "skinny", "clblast", "host"};
    clayer_context *context = open_context(NULL, NULL);
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        if (!can_force(context, plans[p]))
            continue;
        for (int shape = 0; shape < 8; shape++)
            for (int bias = 0; bias < 2; bias++) {
                const size_t batch = shape & 1 ? 0 : BATCH, in = shape & 2 ? 0 : IN, out = shape & 4 ? 0 : OUT;
                clayer_linear *linear = NULL;
                OK(clayer_linear_create(context,
                                        &(clayer_linear_params){.in_features = in,
                                                                .out_features = out,
                                                                .weight = in && out ? w : NULL,
                                                                .bias = bias ? b : NULL,
                                                                .activation = CLAYER_ACTIVATION_RELU,
                                                                .plan = plans[p]},
                                        &linear));
                for (int i = 0; i < BATCH * OUT; i++)
                    y[i] = NAN;
                OK(clayer_linear_prepare(linear, batch));
                OK(clayer_linear_forward(linear, batch, batch && in ? x : NULL, in, batch && out ? y : NULL, out));
                const clayer_matrix nothing = {0}, some = {.data = y};
                const clayer_matrix mx = {.data = batch && in ? x : NULL};
                OK(clayer_linear_forward_matrix(linear, batch, &mx, batch && out ? &some : &nothing));
                for (size_t i = 0; batch && out && i < BATCH * OUT; i++) {
                    float sum = bias ? b[i % OUT] : 0;
                    if (in)
                        sum = expected(i / OUT, i % OUT, bias);
                    const float want = sum < 0 ? 0 : sum;
                    cr_assert(isnan(want) ? isnan(y[i]) : y[i] == want, "%s %zux%zux%zu: %g, not %g", plans[p], batch,
                              in, out, y[i], want);
                    if (!in && bias && i % OUT == 1)
                        cr_assert(signbit(y[i]), "relu(-0) is -0 where there is nothing to add");
                }
                if (!batch || !out)
                    cr_assert(isnan(y[0]), "an empty call wrote y");
                OK(clayer_linear_set_weight(linear, in && out ? w : NULL, 0, CLAYER_WEIGHT_OUT_IN));
                OK(clayer_linear_set_bias(linear, NULL));
                clayer_linear_destroy(&linear);
            }
    }
    clayer_context_destroy(&context);
}

/* x and y as rows or columns, W either way round, in every family that can; the others give their reason. */
Test(linear, layouts)
{
    fill();
    static const char *const plans[] = {"auto", "portable", "panel", "tiled", "skinny", "clblast", "host"};
    float wt[IN * (OUT + 2)], xt[IN * BATCH], out[(BATCH + 3) * OUT];
    for (size_t k = 0; k < IN; k++) {
        for (size_t n = 0; n < OUT; n++)
            wt[k * (OUT + 2) + n] = w[n * IN + k];
        for (size_t m = 0; m < BATCH; m++)
            xt[k * BATCH + m] = x[m * IN + k];
    }
    clayer_context *context = open_context(NULL, NULL);
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        if (!can_force(context, plans[p]))
            continue;
        clayer_linear *linear = NULL;
        OK(clayer_linear_create(context,
                                &(clayer_linear_params){.in_features = IN,
                                                        .out_features = OUT,
                                                        .weight = wt,
                                                        .ldw = OUT + 2,
                                                        .weight_layout = CLAYER_WEIGHT_IN_OUT,
                                                        .bias = b,
                                                        .plan = plans[p]},
                                &linear));
        const bool columns_too = strcmp(plans[p], "panel") && strcmp(plans[p], "tiled") && strcmp(plans[p], "skinny");
        for (int layout = 0; layout < 4; layout++) {
            const clayer_matrix in = {.data = layout & 1 ? xt : x, .layout = (clayer_layout)(layout & 1)};
            const clayer_matrix to = {.data = out, .ld = BATCH + 3, .layout = (clayer_layout)(layout >> 1)};
            for (size_t i = 0; i < (BATCH + 3) * OUT; i++)
                out[i] = NAN;
            if (layout && !columns_too) {
                FAILS(CLAYER_ERROR_UNSUPPORTED, clayer_linear_forward_matrix(linear, BATCH, &in, &to));
                SAYS("it needs x and y as rows");
                continue;
            }
            OK(clayer_linear_forward_matrix(linear, BATCH, &in, &to));
            for (size_t m = 0; m < BATCH; m++)
                for (size_t n = 0; n < OUT; n++)
                    cr_assert_eq(out[layout >> 1 ? n * (BATCH + 3) + m : m * (BATCH + 3) + n], expected(m, n, true),
                                 "%s, layout %d", plans[p], layout);
            clayer_plan_info plan;
            OK(clayer_linear_last_plan(linear, &plan));
            if (p)
                cr_assert_str_eq(plan.family, plans[p]);
        }
        clayer_linear_destroy(&linear);
    }
    clayer_context_destroy(&context);
}

Test(linear, weights_and_bias_replaced)
{
    static const char *const plans[] = {"auto", "portable", "panel", "clblast", "host"};
    clayer_context *context = open_context(NULL, NULL);
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        fill();
        if (!can_force(context, plans[p]))
            continue;
        clayer_linear *linear = make_layer(context, plans[p]);
        OK(clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
        float wt[IN * OUT];
        for (int i = 0; i < OUT * IN; i++) {
            w[i] = (float)(i % 3);
            wt[i % IN * OUT + i / IN] = w[i];
        }
        FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_set_weight(linear, NULL, 0, CLAYER_WEIGHT_OUT_IN));
        FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_linear_set_weight(linear, w, IN - 1, CLAYER_WEIGHT_OUT_IN));
        OK(clayer_linear_set_weight(linear, wt, 0, CLAYER_WEIGHT_IN_OUT));
        for (int turn = 0; turn < 3; turn++) {
            if (turn == 1)
                OK(clayer_linear_set_bias(linear, NULL));
            b[3] += 7;
            if (turn == 2)
                OK(clayer_linear_set_bias(linear, b));
            else if (turn == 0)
                b[3] -= 7;
            OK(clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
            for (size_t i = 0; i < BATCH * OUT; i++)
                cr_assert_eq(y[i], expected(i / OUT, i % OUT, turn != 1), "%s, turn %d", plans[p], turn);
        }
        clayer_linear_destroy(&linear);
    }
    clayer_context_destroy(&context);
}

Test(linear, forced_plans)
{
    fill();
    clayer_context *context = open_context(NULL, NULL), *host = open_context("host", NULL);
    clayer_linear *linear = make_layer(host, "portable");
    clayer_plan_info plan;
    FAILS(CLAYER_ERROR_UNSUPPORTED, clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
    SAYS("it needs an OpenCL device");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&host);
    if (!has_device(context)) {
        clayer_context_destroy(&context);
        cr_skip_test("no OpenCL device: plans of device families cannot be forced");
    }
    linear = make_layer(context, "portable:local=1");
    OK(clayer_linear_prepare(linear, BATCH));
    OK(clayer_linear_last_plan(linear, &plan));
    cr_assert_str_eq(plan.family, "portable");
    cr_assert_str_eq(plan.origin, "forced");
    OK(clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
    for (size_t i = 0; i < BATCH * OUT; i++)
        cr_assert_eq(y[i], expected(i / OUT, i % OUT, true));
    clayer_linear_destroy(&linear);

    linear = make_layer(context, "panel:vectors=4,width=16"); /* OUT is packed in panels of 16 */
    FAILS(CLAYER_ERROR_UNSUPPORTED, clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
    SAYS("does not divide the panel");
    SAYS("panel:vectors=4,width=16");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);

    setenv("CLAYER_PLAN", "portable", 1);
    context = open_context(NULL, NULL);
    linear = make_layer(context, NULL);
    OK(clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
    OK(clayer_linear_last_plan(linear, &plan));
    cr_assert_str_eq(plan.family, "portable", "CLAYER_PLAN is heard");
    clayer_linear_destroy(&linear);
    linear = make_layer(context, "host");
    OK(clayer_linear_forward(linear, BATCH, x, IN, y, OUT));
    OK(clayer_linear_last_plan(linear, &plan));
    cr_assert_str_eq(plan.family, "host", "the layer's own plan comes first");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    setenv("CLAYER_PLAN", "quick", 1);
    context = NULL;
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_context_create(NULL, &context));
    SAYS("the families are");
    cr_assert_null(context);
}

Test(linear, buffers_of_wrong_sizes)
{
    clayer_context *context = open_context(NULL, NULL);
    clayer_buffer *buffer = NULL;
    FAILS(CLAYER_ERROR_TOO_LARGE, clayer_buffer_create(context, SIZE_MAX / 4 + 1, &buffer));
    FAILS(CLAYER_ERROR_TOO_LARGE, clayer_buffer_create(context, SIZE_MAX, &buffer));
    cr_assert_null(buffer);
    OK(clayer_buffer_create(context, 0, &buffer));
    cr_assert_eq(clayer_buffer_count(buffer), 0u);
    OK(clayer_buffer_write(buffer, 0, NULL, 0));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_buffer_write(buffer, 0, x, 1));
    clayer_buffer_destroy(&buffer);
    OK(clayer_buffer_create(context, 7, &buffer));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_buffer_write(buffer, 4, x, 4));
    SAYS("a buffer that has 7");
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_buffer_read(buffer, SIZE_MAX, y, 2));
    FAILS(CLAYER_ERROR_INVALID_ARGUMENT, clayer_buffer_read(buffer, 0, NULL, 1));
    OK(clayer_buffer_write(buffer, 3, x, 4));
    OK(clayer_buffer_read(buffer, 3, y, 4));
    cr_assert_arr_eq(y, x, 4 * sizeof *x);
    clayer_buffer_destroy(&buffer);
    cr_assert_null(buffer);
    clayer_buffer_destroy(&buffer);
    clayer_buffer_destroy(NULL);
    cr_assert_eq(clayer_buffer_count(NULL), 0u);
    clayer_context_destroy(&context);
}

/* The objects hold on to what they need, in whichever order they go. */
Test(linear, destroyed_in_any_order)
{
    fill();
    clayer_context *context = open_context(NULL, NULL);
    clayer_linear *linear = make_layer(context, NULL);
    clayer_buffer *in, *to;
    OK(clayer_buffer_create(context, BATCH * IN, &in));
    OK(clayer_buffer_create(context, BATCH * OUT, &to));
    clayer_context_destroy(&context);
    OK(clayer_buffer_write(in, 0, x, BATCH * IN));
    const clayer_matrix mx = {.buffer = in}, my = {.buffer = to};
    OK(clayer_linear_forward_matrix(linear, BATCH, &mx, &my));
    clayer_linear_destroy(&linear);
    clayer_buffer_destroy(&in);
    OK(clayer_buffer_read(to, 0, y, BATCH * OUT));
    for (size_t i = 0; i < BATCH * OUT; i++)
        cr_assert_eq(y[i], expected(i / OUT, i % OUT, true));
    clayer_buffer_destroy(&to);
}

/* Rows further apart than 31 bits of elements can say: x in a sparse mapping, as rows and as columns. */
Test(linear, leading_dimension_beyond_31_bits)
{
    const size_t ld = ((size_t)1 << 31) + 8, bytes = ((IN - 1) * ld + IN) * sizeof(float);
    float *far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (far == MAP_FAILED)
        cr_skip_test("no %zu bytes of address space", bytes);
    fill();
    clayer_context *context = open_context(NULL, NULL);
    static const char *const plans[] = {"auto", "portable", "host"};
    for (size_t p = 0; p < 3; p++) {
        if (!can_force(context, plans[p]))
            continue;
        clayer_linear *linear = make_layer(context, plans[p]);
        for (int columns = 0; columns < 2; columns++) {
            for (size_t m = 0; m < BATCH; m++)
                for (size_t k = 0; k < IN; k++)
                    far[columns ? k * ld + m : m * ld + k] = x[m * IN + k];
            const clayer_matrix mx = {.data = far, .ld = ld, .layout = (clayer_layout)columns}, my = {.data = y};
            OK(clayer_linear_forward_matrix(linear, BATCH, &mx, &my));
            for (size_t i = 0; i < BATCH * OUT; i++)
                cr_assert_eq(y[i], expected(i / OUT, i % OUT, true), "%s", plans[p]);
        }
        clayer_linear_destroy(&linear);
    }
    munmap(far, bytes);
    clayer_context_destroy(&context);
}
