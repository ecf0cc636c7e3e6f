/* Every kernel family against the float64 reference: configurations x shapes x leading dimensions x offsets x
 * activations x layouts x places in memory. Each test is a loop; its last line tells how many cases each family passed.
 *
 * CLAYER_TABLE chooses how much: "small" for simulators, "deep" for all configurations, else a spread that takes
 * seconds. CLAYER_TABLE_PART=I/N runs only every N-th configuration, from the I-th on, of those in shapes.
 * CLAYER_DEVICE chooses the device, CLAYER_TABLE_WITHOUT a family to leave out, CLAYER_TABLE_PLATFORM the platform that
 * must have been met. Families come from the table in kernels/family.c. */
#include "host/linear.h"
#include "host/packed.h"
#include "table/rig.h"
#include "table/spread.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum amount { SMALL, NORMAL, DEEP };

static enum amount amount(void)
{
    const char *text = getenv("CLAYER_TABLE");
    if (!text || !*text)
        return NORMAL;
    cr_assert(strcmp(text, "small") == 0 || strcmp(text, "deep") == 0, "CLAYER_TABLE: \"small\" or \"deep\"");
    return *text == 's' ? SMALL : DEEP;
}

/* Part i of n, counted from 0; all of it is 0 of 1. */
static void part(size_t *i, size_t *n)
{
    const char *text = getenv("CLAYER_TABLE_PART");
    *i = 0;
    *n = 1;
    if (!text)
        return;
    cr_assert(sscanf(text, "%zu/%zu", i, n) == 2 && *i >= 1 && *i <= *n, "CLAYER_TABLE_PART: I/N with 1 <= I <= N");
    --*i;
}

static clayer_context *open_context(void)
{
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create(NULL, &context), CLAYER_OK, "%s", clayer_last_error());
    const char *platform = getenv("CLAYER_TABLE_PLATFORM");
    cr_assert(!platform || strcmp(context->info.platform, platform) == 0, "this is platform \"%s\", not \"%s\"",
              context->info.platform, platform);
    return context;
}

/* Why a family cannot run at all in this context, or NULL. */
static const char *absent(const clayer_context *context, const struct family *family)
{
    const char *without = getenv("CLAYER_TABLE_WITHOUT");
    if (without && strcmp(without, family->name) == 0)
        return "left out by CLAYER_TABLE_WITHOUT";
    const struct layer_shape shape = {.in_features = 64, .out_features = 64, .panel = 64, .plain = true, .host = true};
    const struct call_shape call = {.batch = 64, .ldx = 64, .ldy = 64, .host = true};
    struct configuration c = {{0}};
    family->suggest(&context->target, &shape, &call, &c);
    return family->refuses(&context->target, &shape, &call, &c);
}

/* Cases per family, added up and printed at the end of a test. */
struct tally {
    size_t cases[16], refused[16];
};

static void tally_add(struct tally *tally, const struct rig *rig)
{
    for (size_t i = 0; i < family_count; i++)
        if (families[i] == rig->family) {
            tally->cases[i] += rig->cases;
            tally->refused[i] += rig->refused;
        }
}

static void tally_print(const struct tally *tally, const clayer_context *context, const char *test)
{
    printf("cases: table %s on %s:", test, context->info.name);
    for (size_t i = 0; i < family_count; i++) {
        const char *why = absent(context, families[i]);
        if (tally->cases[i] || !why)
            printf("%s %s %zu", i ? "," : "", families[i]->name, tally->cases[i]);
        else
            printf("%s %s 0 (%s)", i ? "," : "", families[i]->name, why);
        if (tally->refused[i])
            printf(" and %zu refused with the reason", tally->refused[i]);
    }
    printf("\n");
    fflush(stdout);
}

static const struct activation relu = {CLAYER_ACTIVATION_RELU, 0, 0};
/* Keeps both signs apart, and carries a parameter. */
static const struct activation leaky = {CLAYER_ACTIVATION_LEAKY_RELU, -0.5f, 0};

static struct activation activation_of(size_t kind)
{
    struct activation a = {(clayer_activation)kind, 0, 0};
    if (kind == CLAYER_ACTIVATION_CLAMP)
        a = (struct activation){a.kind, -0.75f, 1.5f};
    if (kind == CLAYER_ACTIVATION_LEAKY_RELU)
        a.alpha = 0.01f;
    return a;
}

static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 16, 31, 33, 48, 61, 63, 65, 127, 255, 500, 1000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Shape number i: over any SIZES consecutive numbers each size occurs once as batch, once as in, once as out. Products
 * are limited by halving the batch. */
static void shape_of(size_t i, size_t most, size_t *batch, size_t *in, size_t *out)
{
    const size_t round = i / SIZES, j = i % SIZES;
    *batch = sizes[j];
    *in = sizes[(j * (3 + round) + 5 + round) % SIZES];
    *out = sizes[(j * (7 + 2 * round) + 2 + 3 * round) % SIZES];
    while (*batch > 1 && *batch * *in * *out > most)
        *batch /= 2;
}

#define LIST (SPREAD_MOST * 2)

/* The configurations of a rig's family, up to `limit`, chosen as for a call of 64x64x64, so that problems and tests
 * share compiled kernels; what does not fit a call must be refused there. Choosing looks at the whole space, so that
 * a choice is kept. */
static struct choice {
    const struct family *family;
    size_t panel, limit, count;
    enum depth depth;
    struct configuration *list;
} choices[64];

static size_t configurations(const struct rig *rig, enum depth depth, size_t limit, const struct configuration **list)
{
    struct layer_shape shape = rig->layer->shape;
    shape.in_features = shape.out_features = 64;
    struct choice *c = choices;
    while (c->family && (c->family != rig->family || c->panel != shape.panel || c->limit != limit || c->depth != depth))
        cr_assert_lt(++c - choices, (ptrdiff_t)(sizeof choices / sizeof *choices));
    if (!c->family) {
        const struct call_shape call = {.batch = 64, .ldx = 64, .ldy = 64, .host = true};
        *c = (struct choice){.family = rig->family, .panel = shape.panel, .limit = limit, .depth = depth};
        c->list = malloc(limit * sizeof *c->list);
        cr_assert_not_null(c->list);
        c->count = spread(rig->family, &rig->context->target, &shape, &call, depth, limit, c->list);
    }
    *list = c->list;
    return c->count;
}

/* How many configurations the deep table has, of all that are legal. */
static void print_choices(const clayer_context *context)
{
    for (const struct choice *c = choices; c->family; c++) {
        if (c->depth == SPREAD_VALUES)
            continue;
        const struct layer_shape shape = {
            .in_features = 64, .out_features = 64, .panel = c->panel, .plain = true, .host = true};
        const struct call_shape call = {.batch = 64, .ldx = 64, .ldy = 64, .host = true};
        printf("configurations: %s, panels of %zu: %zu of %zu\n", c->family->name, c->panel, c->count,
               spread_legal(c->family, &context->target, &shape, &call));
    }
}

/* Forces the first of them. */
static void configure_usual(struct rig *rig)
{
    const struct configuration *usual;
    if (configurations(rig, SPREAD_VALUES, 1, &usual))
        rig_configure(rig, usual);
}

/* Which of the configurations meet a problem: those whose number leaves `turn` when divided by `turns`. */
struct rota {
    size_t turn, turns;
};

/* One problem through one family, in each configuration of a spread whose turn it is. */
static void run_family(clayer_context *context, const struct problem *p, const struct family *family, enum depth depth,
                       size_t limit, struct rota rota, size_t calls, bool run_time, struct random *random,
                       struct tally *tally)
{
    const struct configuration *list;
    struct rig rig = rig_make(context, p, family, leaky, run_time, random_below(random, 2), random_below(random, 3));
    const size_t count = configurations(&rig, depth, limit, &list);
    size_t first, parts;
    part(&first, &parts);
    for (size_t i = first; i < count; i += parts) {
        if (i / parts % rota.turns != rota.turn)
            continue;
        const size_t before = rig.cases;
        rig_configure(&rig, &list[i]);
        for (size_t c = 0; c < calls; c++) {
            const struct activation a = run_time ? activation_of(random_below(random, ACTIVATION_COUNT)) : leaky;
            const struct call_case one = rig_random_call(context, family, a, random);
            rig_run(&rig, &one, 0, p->batch);
        }
        /* None of these may have been one that the family can do. */
        if (rig.cases == before)
            rig_run(&rig, &(struct call_case){{.place = PLACE_HOST}, {.place = PLACE_HOST}, leaky}, 0, p->batch);
    }
    tally_add(tally, &rig);
    rig_free(&rig);
}

/* How many configurations of a family a problem is run in. Each costs a compilation per panel width, so only the widest
 * panel, which large layers have, gets a long list. */
static size_t limit_of(enum amount much, const struct family *family, size_t out)
{
    if (much == DEEP)
        return LIST;
    if (family->parameter_count == 0 || much == SMALL)
        return 1;
    return packed_panel_width(out) == 64 ? 7 : 2;
}

/* What is legal with narrower panels is legal with panels of 64, but for the family panel's blocks of three vectors,
 * which need 48. */
static enum depth depth_of(enum amount much, const struct family *family, size_t out)
{
    const size_t widest = family == &family_panel ? 48 : 64;
    return much != DEEP ? SPREAD_VALUES : packed_panel_width(out) < widest ? SPREAD_PAIRS : SPREAD_ALL;
}

/* Problems that a configuration meets in the deep table, of those with its width of panel. */
#define DEEP_PROBLEMS 3
#define DEEP_ROUNDS 3

static void problem_shape(enum amount much, size_t i, size_t *batch, size_t *in, size_t *out)
{
    /* A simulator computes whole tiles, instruction by instruction. */
    static const size_t small[][3] = {{3, 33, 17}, {8, 16, 16}, {5, 7, 65}, {1, 61, 10}};
    if (much == SMALL) {
        *batch = small[i][0];
        *in = small[i][1];
        *out = small[i][2];
    } else {
        shape_of(i, much == DEEP ? 1000000 : 4000000, batch, in, out);
    }
}

/* Problem i's turn among the problems of its panel width, so that each configuration meets DEEP_PROBLEMS of them. */
static struct rota rota_of(size_t i, size_t problems)
{
    size_t batch, in, out, before = 0, all = 0;
    problem_shape(DEEP, i, &batch, &in, &out);
    const size_t panel = packed_panel_width(out);
    for (size_t j = 0; j < problems; j++) {
        problem_shape(DEEP, j, &batch, &in, &out);
        all += packed_panel_width(out) == panel;
        before += j < i && packed_panel_width(out) == panel;
    }
    const size_t turns = all < DEEP_PROBLEMS ? 1 : all / DEEP_PROBLEMS;
    return (struct rota){before % turns, turns};
}

Test(table, shapes, .timeout = 0)
{
    const enum amount much = amount();
    const size_t problems = much == SMALL ? 4 : much == NORMAL ? 2 * SIZES : DEEP_ROUNDS * SIZES;
    clayer_context *context = open_context();
    struct random random = {2024};
    struct tally tally = {{0}, {0}};
    for (size_t i = 0; i < problems; i++) {
        size_t batch, in, out;
        problem_shape(much, i, &batch, &in, &out);
        const struct rota rota = much == DEEP ? rota_of(i, problems) : (struct rota){0, 1};
        struct problem p = problem_make(batch, in, out, i % 3 ? BIAS_SMALL : BIAS_NONE, &random);
        for (size_t f = 0; f < family_count; f++)
            if (!absent(context, families[f]))
                run_family(context, &p, families[f], depth_of(much, families[f], out), limit_of(much, families[f], out),
                           rota,
                           much == SMALL                  ? 3
                           : families[f]->parameter_count ? 2
                                                          : 4,
                           much == DEEP, &random, &tally);
        problem_free(&p);
    }
    tally_print(&tally, context, "shapes");
    print_choices(context);
    clayer_context_destroy(&context);
}

/* A family that can run here has a suggestion that it accepts, for every width of packed panel and size of batch. */
Test(table, suggestions)
{
    clayer_context *context = open_context();
    for (size_t f = 0; f < family_count; f++)
        for (size_t n = 0; !absent(context, families[f]) && n < SIZES; n++)
            for (size_t m = 0; m < SIZES; m++)
                for (size_t k = 0; k < SIZES; k++) {
                    const struct layer_shape shape = {.in_features = sizes[k],
                                                      .out_features = sizes[n],
                                                      .panel = packed_panel_width(sizes[n]),
                                                      .plain = true,
                                                      .host = true};
                    const struct call_shape call = {.batch = sizes[m], .ldx = sizes[k], .ldy = sizes[n], .host = true};
                    struct configuration c = {{0}};
                    char text[FAMILY_MAX_TEXT], again[FAMILY_MAX_TEXT];
                    families[f]->suggest(&context->target, &shape, &call, &c);
                    const char *why = families[f]->refuses(&context->target, &shape, &call, &c);
                    family_print(families[f], &c, text, sizeof text);
                    cr_assert_null(why, "%s:%s for %zux%zux%zu: %s", families[f]->name, text, sizes[m], sizes[k],
                                   sizes[n], why);
                    cr_assert_eq(family_parse(families[f], text, &c), CLAYER_OK, "%s", clayer_last_error());
                    family_print(families[f], &c, again, sizeof again);
                    cr_assert_str_eq(again, text);
                }
    clayer_context_destroy(&context);
}

/* CLBlast counts in int, rounded up to its tiles; clayer's own kernels do not. */
Test(table, indices_beyond_31_bits)
{
    clayer_context *context = open_context();
    const struct layer_shape shape = {.in_features = 64, .out_features = 64, .panel = 64, .plain = true, .host = true};
    const struct call_shape near = {.batch = 64, .ldx = 8388096, .ldy = 64, .host = true};
    struct call_shape far[] = {near, near, near, near};
    far[0].ldx = ((size_t)1 << 31) / 256;
    far[1].ldy = far[0].ldx;
    far[2].x_offset = 1u << 30;
    far[3].batch = (size_t)1 << 25; /* x 64 outputs */
    for (size_t f = 0; f < family_count; f++) {
        struct configuration c = {{0}};
        if (absent(context, families[f]))
            continue;
        families[f]->suggest(&context->target, &shape, &near, &c);
        cr_assert_null(families[f]->refuses(&context->target, &shape, &near, &c));
        for (int i = 0; i < 4; i++) {
            const char *why = families[f]->refuses(&context->target, &shape, &far[i], &c);
            if (families[f] == family_clblast)
                cr_assert(why && strstr(why, "int"), "call %d: %s", i, why ? why : "accepted");
            else
                cr_assert_null(why, "%s, call %d: %s", families[f]->name, i, why);
        }
    }
    clayer_context_destroy(&context);
}

/* Plans chosen automatically: never an error, whatever the shape, strides and layout. */
Test(table, automatic, .timeout = 0)
{
    const enum amount much = amount();
    clayer_context *context = open_context();
    struct random random = {7};
    size_t cases = 0;
    for (size_t i = 0; i < (much == SMALL ? 3 : much == NORMAL ? 6 : 3 * SIZES); i++) {
        size_t batch, in, out;
        shape_of(5 * i, much == SMALL ? 3000 : 4000000, &batch, &in, &out);
        struct problem p = problem_make(batch, in, out, i % 2 ? BIAS_SMALL : BIAS_NONE, &random);
        struct rig rig = rig_make(context, &p, NULL, leaky, false, i % 2, i % 3);
        for (size_t c = 0; c < 6; c++) {
            const struct call_case call = rig_random_call(context, NULL, leaky, &random);
            rig_run(&rig, &call, 0, batch);
        }
        cases += rig.cases;
        rig_free(&rig);
        problem_free(&p);
    }
    printf("cases: table automatic on %s: %zu\n", context->info.name, cases);
    fflush(stdout);
    clayer_context_destroy(&context);
}

/* A result that is square hides a bias along the wrong axis, and a W that was not transposed. */
Test(table, square_with_a_steep_bias, .timeout = 0)
{
    static const size_t sides[] = {8, 16, 33};
    clayer_context *context = open_context();
    struct random random = {3};
    struct tally tally = {{0}, {0}};
    for (size_t i = 0; i < 3; i++) {
        struct problem p = problem_make(sides[i], sides[i], sides[i], BIAS_STEEP, &random);
        for (size_t m = 0; m < p.batch; m++)
            for (size_t k = 0; k < p.in; k++)
                p.x[m * p.in + k] += (float)m;
        problem_solve(&p);
        for (size_t f = 0; f < family_count; f++)
            if (!absent(context, families[f]))
                for (int in_out = 0; in_out < 2; in_out++) {
                    struct rig rig = rig_make(context, &p, families[f], leaky, false, in_out, 0);
                    configure_usual(&rig);
                    for (int columns = 0; columns < 4; columns++)
                        rig_run(&rig,
                                &(struct call_case){{.columns = columns & 1, .place = PLACE_HOST},
                                                    {.columns = columns & 2, .place = PLACE_HOST},
                                                    leaky},
                                0, p.batch);
                    tally_add(&tally, &rig);
                    rig_free(&rig);
                }
        problem_free(&p);
    }
    tally_print(&tally, context, "square");
    clayer_context_destroy(&context);
}

/* NaN, infinities, -0 and subnormals, one at a time, in x, W and b. */
Test(table, special_values, .timeout = 0)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-45f, -1e-39f, 1e30f, -3e38f};
    enum { VALUES = sizeof values / sizeof *values };
    const enum amount much = amount();
    clayer_context *context = open_context();
    struct random random = {5};
    struct tally tally = {{0}, {0}};
    for (size_t v = 0; v < VALUES; v++) {
        if (fpclassify(values[v]) == FP_SUBNORMAL && context->info.denormals != 1)
            continue;
        if (much == SMALL && v % 2)
            continue;
        for (int where = 0; where < 3; where++) {
            struct problem p = problem_make(14, 9, 53, BIAS_SMALL, &random);
            if (where == 0)
                p.x[3 * p.in + 4] = p.x[13 * p.in + 8] = values[v];
            else if (where == 1)
                p.w[2 * p.in + 4] = p.w[52 * p.in] = values[v];
            else
                p.bias[5] = p.bias[52] = values[v];
            problem_solve(&p);
            for (size_t f = 0; f < family_count; f++) {
                if (absent(context, families[f]))
                    continue;
                struct rig rig = rig_make(context, &p, families[f], relu, true, false, 0);
                configure_usual(&rig);
                for (size_t kind = 0; kind < (much == SMALL ? 1 : ACTIVATION_COUNT); kind++) {
                    const struct call_case call = rig_random_call(context, families[f], activation_of(kind), &random);
                    rig_run(&rig, &call, 0, p.batch);
                }
                tally_add(&tally, &rig);
                rig_free(&rig);
            }
            problem_free(&p);
        }
    }
    tally_print(&tally, context, "special values");
    clayer_context_destroy(&context);
}

/* Arguments at which activations are interesting: special values, limits, far tails, and a dense part. */
static size_t arguments(float *z, size_t most, struct random *random)
{
    static const float special[] = {0,     0x1p-149f, 1e-40f, 0x1p-126f, 1e-20f, 1e-4f, 0.01f, 0.5f,    0.75f,    1,
                                    1.5f,  3,         5,      5.5f,      6,      8,     10,    12.9f,   13,       13.3f,
                                    14.4f, 20,        50,     87,        88,     88.7f, 88.8f, 100,     103.9f,   104,
                                    110,   1e3f,      1e6f,   1e8f,      1e13f,  1e20f, 3e38f, FLT_MAX, INFINITY, NAN};
    size_t count = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        z[count++] = special[i];
        z[count++] = -special[i];
    }
    while (count < most) {
        z[count++] = 16 * random_uniform(random);
        if (count < most)
            z[count++] = ldexpf(random_uniform(random), (int)random_below(random, 40) - 30);
    }
    return count;
}

/* The activation's own promise: special values exactly, else within its stated accuracy. */
static void check_epilogue(const struct rig *rig, const struct activation *a, const float *z, size_t count, bool signs)
{
    const bool denormals = rig->family == &family_host || rig->context->info.denormals == 1;
    for (size_t i = 0; i < count; i++) {
        const double exact = activation_reference(a, z[i]);
        const float y = rig->result[i];
        const char *family = rig->family ? rig->family->name : "automatic";
        if (isnan(z[i]))
            cr_assert(isnan(y), "%s: %s(NaN) is %g", family, clayer_activation_string(a->kind), y);
        else if (isinf(z[i]) || isinf(exact))
            cr_assert(y == (float)exact, "%s: %s(%g) is %g", family, clayer_activation_string(a->kind), z[i], y);
        else
            cr_assert(fabs(y - exact) <= activation_error(a, z[i], exact) + (denormals ? 0 : 0x1p-126),
                      "%s: %s(%a = %.9g) is %.9g, exactly %.12g: off by %.3g, allowed are %.3g", family,
                      clayer_activation_string(a->kind), z[i], z[i], y, exact, fabs(y - exact),
                      activation_error(a, z[i], exact));
        if (signs && z[i] == 0 && (a->kind <= CLAYER_ACTIVATION_RELU6 || a->kind == CLAYER_ACTIVATION_TANH))
            cr_assert_eq(signbit(y) != 0, signbit(z[i]) != 0, "%s: the sign of %s(%g)", family,
                         clayer_activation_string(a->kind), z[i]);
    }
}

/* The epilogue alone: W and x are zero, or in_features is, so that the bias is the activation's argument. */
Test(table, epilogue, .timeout = 0)
{
    enum { MOST = 1021 };
    static float z[MOST];
    const enum amount much = amount();
    clayer_context *context = open_context();
    struct random random = {11};
    struct tally tally = {{0}, {0}};
    const size_t count = arguments(z, much == SMALL ? 82 : MOST, &random);
    for (size_t in = 0; in < 2; in++) {
        struct problem p = problem_make(1, in, count, BIAS_SMALL, &random);
        for (size_t i = 0; i < p.in * p.out; i++)
            p.w[i] = 0;
        for (size_t i = 0; i < p.in; i++)
            p.x[i] = 0;
        memcpy(p.bias, z, count * sizeof *z);
        problem_solve(&p);
        for (size_t f = 0; f < family_count; f++) {
            if (absent(context, families[f]))
                continue;
            for (int run_time = much == SMALL ? 1 : 0; run_time < 2; run_time++) {
                struct rig rig = rig_make(context, &p, families[f], relu, run_time, false, 0);
                configure_usual(&rig);
                for (size_t kind = 0; kind < ACTIVATION_COUNT; kind++) {
                    /* Compiled one by one only in portable; the text is the same in all. */
                    if (!run_time && much == NORMAL && families[f] != &family_portable && families[f] != &family_host)
                        continue;
                    rig.layer->plan_count = 0;
                    const struct call_case call = {{.place = PLACE_HOST}, {.place = PLACE_HOST}, activation_of(kind)};
                    rig.layer->shape.activation = call.activation;
                    rig_run(&rig, &call, 0, 1);
                    check_epilogue(&rig, &call.activation, z, count, in == 0);
                }
                tally_add(&tally, &rig);
                rig_free(&rig);
            }
        }
        problem_free(&p);
    }
    tally_print(&tally, context, "epilogue");
    clayer_context_destroy(&context);
}
