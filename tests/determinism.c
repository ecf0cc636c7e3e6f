/* The same plan gives the same bits: run after run, context after context, and whichever rows stand beside a row. */
#include "host/packed.h"
#include "table/rig.h"
#include "table/spread.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 1000, TRIES = 4 * CASES, CONFIGURATIONS = 2 };

static const struct activation leaky = {CLAYER_ACTIVATION_LEAKY_RELU, -0.5f, 0};

static uint64_t hash(const float *values, size_t count)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < count * sizeof *values; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

/* Rows alone and in the middle of others, with the configuration that the rig holds: the bits of the whole batch. */
static void check_neighbours(struct rig *rig, const struct call_case *call, struct random *random)
{
    const size_t batch = rig->problem->batch, out = rig->problem->out;
    float *whole = malloc(batch * out * sizeof *whole);
    memcpy(whole, rig->result, batch * out * sizeof *whole);
    for (int turn = 0; turn < 2; turn++) {
        const size_t first = random_below(random, batch), count = turn ? 1 + random_below(random, batch - first) : 1;
        rig_run(rig, call, first, count);
        cr_assert(memcmp(rig->result, whole + first * out, count * out * sizeof *whole) == 0,
                  "%s:%s %zux%zux%zu: rows %zu to %zu depend on the rows beside them", rig->family->name,
                  rig->layer->request.configuration, batch, rig->problem->in, out, first, first + count - 1);
    }
    free(whole);
}

/* CASES random cases in a context of their own; hashes[i] gets try i's bits, 0 where the family refuses it. Returns the
 * number of tries. */
static size_t run_all(uint64_t *hashes, bool neighbours)
{
    static const size_t outs[] = {5, 10, 20, 31, 48, 61, 64, 129};
    clayer_context *context = NULL;
    cr_assert_eq(clayer_context_create(NULL, &context), CLAYER_OK, "%s", clayer_last_error());
    struct random random = {99};
    size_t done = 0, i = 0;
    for (; done < CASES && i < TRIES; i++) {
        const struct family *family = families[i % family_count];
        const size_t batch = 1 + random_below(&random, 40), in = 1 + random_below(&random, 90);
        struct problem p = problem_make(batch, in, outs[random_below(&random, 8)], BIAS_SMALL, &random);
        struct layer_shape shape = {
            .in_features = 64, .out_features = 64, .panel = packed_panel_width(p.out), .plain = true, .host = true};
        const struct call_shape usual = {.batch = 64, .ldx = 64, .ldy = 64, .host = true};
        struct configuration list[CONFIGURATIONS];
        const size_t count = spread(family, &context->target, &shape, &usual, SPREAD_VALUES, CONFIGURATIONS, list);
        const size_t chosen = random_below(&random, CONFIGURATIONS);
        const struct call_case call = rig_random_call(context, family, leaky, &random);
        struct random own = random; /* the same in both passes */
        hashes[i] = 0;
        if (count) {
            struct rig rig = rig_make(context, &p, family, leaky, false, false, 0);
            rig_configure(&rig, &list[chosen < count ? chosen : 0]);
            rig_run(&rig, &call, 0, batch);
            if (rig.cases) {
                hashes[i] = hash(rig.result, batch * p.out);
                done++;
                /* CLBlast chooses its kernels by shape. */
                if (neighbours && family != family_clblast)
                    check_neighbours(&rig, &call, &own);
            }
            rig_free(&rig);
        }
        problem_free(&p);
    }
    clayer_context_destroy(&context);
    cr_assert_eq(done, CASES, "only %zu of %d tries fit their family", done, TRIES);
    return i;
}

Test(determinism, a_thousand_cases_twice)
{
    static uint64_t first[TRIES], second[TRIES];
    const size_t tries = run_all(first, true);
    cr_assert_eq(run_all(second, false), tries);
    for (size_t i = 0; i < tries; i++)
        cr_assert_eq(first[i], second[i], "try %zu (%s) has other bits the second time", i,
                     families[i % family_count]->name);
    printf("cases: determinism: %d run twice, %zu more refused by their family\n", CASES, tries - CASES);
    fflush(stdout);
}
