/* Looking records up: against a plain search through all of them, and in a store of 10,000. */
#include "store/format.h"
#include "store/index.h"
#include "store/merge.h"
#include "support/records.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned seed = 7;

static unsigned below(unsigned limit)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % limit;
}

static struct record random_record(void)
{
    struct record r = records_make(1u << below(6), 8 + 8 * below(5), 8 + 8 * below(5), "panel", "", 1e-3);
    r.layer.batch += below(3);
    r.layer.bias = below(4) > 0;
    r.layer.costly = below(4) == 0;
    r.layer.aligned = below(4) > 0;
    if (below(8) == 0)
        strcpy(r.layer.types, "f16,f32,f32,f32");
    return r;
}

/* The rank that store.h promises, as one number: the device first, then the kind of match, then the distance. */
static double rank(const struct record_layer *asked, const struct record_layer *l, bool family)
{
    const int other = (l->bias != asked->bias) + (l->costly != asked->costly) + (l->aligned != asked->aligned);
    const bool same = l->in_features == asked->in_features && l->out_features == asked->out_features;
    const double distance = fabs(log2((double)l->batch / (double)asked->batch)) +
                            fabs(log2((double)l->in_features / (double)asked->in_features)) +
                            fabs(log2((double)l->out_features / (double)asked->out_features)) + 0.25 * other;
    return 1000 * (3 * family + (same ? other > 0 : 2)) + distance;
}

/* As far as store.h says: a quarter to four times the batch, and three octaves in all. */
static bool in_reach(const struct record_layer *asked, const struct record_layer *l)
{
    return l->batch <= 4 * asked->batch && asked->batch <= 4 * l->batch && fmod(rank(asked, l, false), 1000) <= 3;
}

static int compare_doubles(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

Test(store_lookup, as_a_plain_search)
{
    enum { COUNT = 300, ROUNDS = 30, QUESTIONS = 20 };
    static struct record records[COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        struct index index = {.count = 0};
        const size_t count = round < 4 ? (size_t)round : 1 + below(COUNT);
        for (size_t i = 0; i < count; i++) {
            records[i] = random_record();
            const struct index_entry entry = {
                .record = &records[i], .origin = below(STORE_ORIGINS), .family = below(5) == 0, .order = (long)i};
            cr_assert_eq(index_add(&index, &entry), CLAYER_OK);
        }
        cr_assert_eq(index_build(&index), CLAYER_OK);
        for (int question = 0; question < QUESTIONS; question++) {
            const struct record asked = random_record();
            double ranks[COUNT];
            size_t fitting = 0;
            for (size_t i = 0; i < index.count; i++) {
                const struct index_entry *e = &index.entries[i];
                if (strcmp(e->record->layer.types, asked.layer.types) == 0 && in_reach(&asked.layer, &e->record->layer))
                    ranks[fitting++] = rank(&asked.layer, &e->record->layer, e->family);
            }
            qsort(ranks, fitting, sizeof *ranks, compare_doubles);
            struct store_answer answers[STORE_ANSWERS];
            const size_t found = index_find(&index, &asked.layer, answers);
            cr_assert_eq(found, fitting < STORE_ANSWERS ? fitting : STORE_ANSWERS);
            for (size_t i = 0; i < found; i++) {
                const struct record_layer *l = &answers[i].record->layer;
                cr_assert_float_eq(rank(&asked.layer, l, answers[i].family), ranks[i], 1e-4, "answer %zu", i);
                cr_assert_eq(answers[i].exact, record_layer_compare(l, &asked.layer) == 0);
                if (i > 0 && record_layer_compare(l, &answers[i - 1].record->layer) == 0 &&
                    answers[i].family == answers[i - 1].family)
                    cr_assert_gt(answers[i].origin, answers[i - 1].origin);
            }
        }
        index_free(&index);
    }
}

Test(store_lookup, rejected_records_are_passed_over)
{
    records_start();
    const clayer_device_info info = records_device();
    struct store *store;
    struct store_answer answers[STORE_ANSWERS];
    const struct record both[2] = {records_make(8, 64, 64, "panel", "", 1e-3),
                                   records_make(16, 64, 64, "tiled", "", 1e-3)};
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_assert_eq(store_add(store, STORE_API, both, 2), CLAYER_OK);
    cr_assert_eq(store_lookup(store, &both[0].layer, answers), 2);
    cr_expect_str_eq(answers[0].record->family, "panel");
    cr_expect(store_names_family(store, &both[0].layer, "tiled"));
    store_reject(store, answers[0].record, "for the test");
    store_reject(store, answers[0].record, "for the test");
    cr_expect_eq(records_lines, 1);
    struct store_item item;
    cr_assert(store_at(store, 0, &item));
    cr_assert_eq(store_lookup(store, &both[0].layer, answers), 1);
    cr_expect_str_eq(answers[0].record->family, "tiled");
    cr_expect_not(store_names_family(store, &both[0].layer, "panel"));

    /* Measured anew it is back; the newest of one origin counts. */
    struct record again = both[0];
    again.seconds = 2e-3;
    cr_assert_eq(store_add(store, STORE_API, &again, 1), CLAYER_OK);
    cr_assert_eq(store_lookup(store, &both[0].layer, answers), 2);
    cr_expect_eq(answers[0].record->seconds, 2e-3);
    cr_expect_str_eq(item.rejected, "for the test"); /* whose entry has gone */
    cr_expect_eq(store_count(store), 2);
    store_close(&store);
    records_stop();
}

/* A record of the same layer that is too far away does not hide another layer's that is near. */
Test(store_lookup, what_is_out_of_reach_hides_nothing)
{
    records_start();
    const clayer_device_info info = records_device();
    struct store *store;
    struct store_answer answers[STORE_ANSWERS];
    struct record records[STORE_ANSWERS + 2];
    for (size_t i = 0; i < STORE_ANSWERS + 1; i++)
        records[i] = records_make(4096 + i, 320, 336, "panel", "", 1e-3);
    records[STORE_ANSWERS + 1] = records_make(64, 320, 336, "tiled", "", 1e-3);
    records[STORE_ANSWERS + 1].layer.costly = true;
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_assert_eq(store_add(store, STORE_API, records, STORE_ANSWERS + 2), CLAYER_OK);
    struct record_layer asked = records[0].layer;
    static const struct {
        size_t batch, answers;
    } cases[] = {{64, 1}, {16, 1}, {256, 1}, {15, 0}, {257, 0}, {1023, 0}, {1024, 1}, {1025, 5}, {16384, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        asked.batch = cases[i].batch;
        cr_expect_eq(store_lookup(store, &asked, answers), cases[i].answers, "batch %zu", asked.batch);
    }
    asked.batch = 64;
    store_lookup(store, &asked, answers);
    cr_expect_str_eq(answers[0].record->family, "tiled");
    store_close(&store);
    records_stop();
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Prints times, which decide nothing: the targets are 50 ms and 50 us. */
Test(store_lookup, ten_thousand_records)
{
    enum { COUNT = 10000, QUESTIONS = 2000 };
    records_start();
    const clayer_device_info info = records_device();
    struct record_device device;
    record_device_of(&info, &device);
    struct record *records = malloc(COUNT * sizeof *records);
    for (size_t i = 0; i < COUNT; i++)
        records[i] = records_make(1u << i % 4, 64 + 16 * (i / 4 % 50), 64 + 16 * (i / 200), "tiled",
                                  "threads_m=8,threads_n=16,item_m=8,item_n=4,tile_k=16,local_x=1,local_w=1", 1e-3);
    cr_assert_eq(store_merge(&device, records, COUNT, STORE_KEEP_BETTER, NULL), CLAYER_OK);

    struct store *store;
    const double start = processor_seconds();
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    const double loaded = processor_seconds();
    cr_expect_eq(store_count(store), COUNT);
    struct store_answer answers[STORE_ANSWERS];
    for (size_t i = 0; i < QUESTIONS; i++) {
        cr_assert_eq(store_lookup(store, &records[i * 5].layer, answers), STORE_ANSWERS);
        cr_assert(answers[0].exact);
    }
    const double exact = processor_seconds();
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct record_layer other = records[i * 5].layer;
        other.out_features += 3;
        cr_assert_eq(store_lookup(store, &other, answers), STORE_ANSWERS);
        cr_assert_not(answers[0].exact);
    }
    const double nearest = processor_seconds();
    printf("10,000 records: loading %.1f ms, exact lookup %.1f us, nearest %.1f us\n", (loaded - start) * 1e3,
           (exact - loaded) / QUESTIONS * 1e6, (nearest - exact) / QUESTIONS * 1e6);
    store_close(&store);
    free(records);
    records_stop();
}
