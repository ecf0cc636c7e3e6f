/* Plans from tuning records, on a real device: what is chosen, what gives way, and that results stay right. */
#include "kernels/family.h"
#include "context.h"
#include "fake/fake.h"
#include "plan/record.h"
#include "store/merge.h"
#include "support/records.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX = 130, IN_MAX = 130, OUT_MAX = 130 };

static float x[BATCH_MAX * IN_MAX], w[OUT_MAX * IN_MAX], b[OUT_MAX], y[BATCH_MAX * OUT_MAX];

static clayer_context *open_device(const char *plan)
{
    clayer_context *context = NULL;
    const clayer_context_params params = {.device = "cpu", .plan = plan};
    if (clayer_context_create(&params, &context) != CLAYER_OK)
        cr_skip_test("no OpenCL device of type cpu: %s", clayer_last_error());
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < sizeof w / sizeof *w; i++)
        w[i] = (float)(i % 5) - 2;
    for (size_t i = 0; i < OUT_MAX; i++)
        b[i] = (float)(i % 3);
    return context;
}

static clayer_linear *layer_of(clayer_context *context, size_t in, size_t out)
{
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = in, .out_features = out, .weight = w, .bias = b};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    return linear;
}

/* Runs the layer on host memory with rows of ld elements more than needed and checks each output: the numbers are small
 * integers, so every sum is exact. Columns: x as (in, batch). */
static clayer_plan_info run(clayer_linear *linear, size_t batch, size_t in, size_t out, bool columns)
{
    const clayer_matrix from = {.data = x, .layout = columns ? CLAYER_LAYOUT_COLUMNS : CLAYER_LAYOUT_ROWS},
                        to = {.data = y};
    clayer_plan_info plan;
    memset(y, 0xff, sizeof y);
    cr_assert_eq(clayer_linear_forward_matrix(linear, batch, &from, &to), CLAYER_OK, "%s", clayer_last_error());
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < out; n++) {
            float sum = b[n];
            for (size_t k = 0; k < in; k++)
                sum += (columns ? x[k * batch + m] : x[m * in + k]) * w[n * in + k];
            cr_assert_eq(y[m * out + n], sum, "%zux%zux%zu row %zu, output %zu", batch, in, out, m, n);
        }
    }
    cr_assert_eq(clayer_linear_last_plan(linear, &plan), CLAYER_OK);
    return plan;
}

/* A record for the device in use. */
static struct record record_for(clayer_context *context, size_t batch, size_t in, size_t out, const char *family,
                                const char *configuration)
{
    clayer_device_info info;
    struct record r = records_make(batch, in, out, family, configuration, 1e-3);
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    record_stamp(&info, &r);
    r.layer.aligned = in % 4 == 0 && out % 4 == 0;
    return r;
}

static void keep(clayer_context *context, const struct record *record)
{
    clayer_device_info info;
    struct record_device device;
    cr_assert_eq(clayer_context_device(context, &info), CLAYER_OK);
    record_device_of(&info, &device);
    cr_assert_eq(store_merge(&device, record, 1, STORE_REPLACE, NULL), CLAYER_OK, "%s", clayer_last_error());
}

/* A legal configuration of a family: what the rule of thumb gives a layer. */
static const char *usual(const char *family, size_t batch, size_t in, size_t out)
{
    static clayer_plan_info plan;
    clayer_context *context = open_device(family);
    clayer_linear *linear = layer_of(context, in, out);
    cr_assert_eq(clayer_linear_prepare(linear, batch), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_linear_last_plan(linear, &plan), CLAYER_OK);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    return plan.configuration;
}

/* Keeps a record, then opens a context that reads it. */
static clayer_context *with_record(size_t batch, size_t in, size_t out, const char *family, const char *configuration)
{
    clayer_context *context = open_device(NULL);
    const struct record record = record_for(context, batch, in, out, family, configuration);
    keep(context, &record);
    return context; /* it has made no plan yet, so it has read nothing */
}

#define EXPECT_TEXT(text, part) cr_expect(strstr(text, part), "'%s' in: %s", part, text)

Test(plan, the_record_is_used)
{
    records_start();
    clayer_context *context = with_record(100, 128, 96, "portable", usual("portable", 100, 128, 96));
    clayer_linear *linear = layer_of(context, 128, 96);
    const clayer_plan_info plan = run(linear, 100, 128, 96, false);
    cr_expect_str_eq(plan.family, "portable");
    cr_expect_str_eq(plan.origin, "record, user store");
    EXPECT_TEXT(plan.reason, "100x128x96 took 1 ms, normal");
    cr_expect_not(strstr(plan.reason, "stale"), "%s", plan.reason);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

Test(plan, the_nearest_record_within_reach)
{
    records_start();
    clayer_context *context = with_record(64, 128, 96, "portable", usual("portable", 64, 128, 96));
    clayer_linear *linear = layer_of(context, 128, 96);
    const clayer_plan_info near = run(linear, 128, 128, 96, false), far = run(linear, 1, 128, 96, false);
    cr_expect_str_eq(near.family, "portable");
    cr_expect_str_eq(near.origin, "nearest record, user store");
    cr_expect_not(strstr(far.origin, "user store"), "%s: a 64th of the batch is another matter", far.origin);
    clayer_linear *other = layer_of(context, 120, 96);
    const clayer_plan_info similar = run(other, 64, 120, 96, false);
    cr_expect_str_eq(similar.origin, "nearest record, user store");
    clayer_linear_destroy(&other);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

Test(plan, a_forced_plan_is_stronger)
{
    records_start();
    clayer_context *context = with_record(100, 128, 96, "portable", usual("portable", 100, 128, 96));
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {
        .in_features = 128, .out_features = 96, .weight = w, .bias = b, .plan = "panel"};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK);
    const clayer_plan_info plan = run(linear, 100, 128, 96, false);
    cr_expect_str_eq(plan.family, "panel");
    cr_expect_str_eq(plan.origin, "forced");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

Test(plan, a_record_that_does_not_fit_gives_way)
{
    records_start();
    clayer_context *context = with_record(100, 128, 96, "panel", usual("panel", 100, 128, 96));
    clayer_linear *linear = layer_of(context, 128, 96);
    const clayer_plan_info rows = run(linear, 100, 128, 96, false), columns = run(linear, 100, 128, 96, true);
    cr_expect_str_eq(rows.origin, "record, user store");
    cr_expect_str_neq(columns.family, "panel"); /* which reads rows only */
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

Test(plan, a_record_without_sense_is_named_once)
{
    static const char *const plans[][2] = {{"warp", "rows=4"}, {"panel", "rows=4096"}, {"panel", "height=2"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        records_start();
        clayer_context *context = with_record(100, 128, 96, plans[i][0], plans[i][1]);
        const struct record second = record_for(context, 120, 128, 96, "portable", usual("portable", 120, 128, 96));
        keep(context, &second);
        for (int layer = 0; layer < 2; layer++) {
            clayer_linear *linear = layer_of(context, 128, 96);
            const clayer_plan_info plan = run(linear, 100, 128, 96, false);
            cr_expect_str_eq(plan.family, "portable");
            cr_expect_str_eq(plan.origin, "nearest record, user store");
            clayer_linear_destroy(&linear);
        }
        cr_expect_eq(records_lines, 1, "%d lines: %s", records_lines, records_said);
        EXPECT_TEXT(records_said, "100x128x96");
        clayer_context_destroy(&context);
        records_stop();
    }
}

Test(plan, a_record_is_not_to_blame_for_a_lack_of_memory)
{
    records_start();
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    setenv("CLAYER_CACHE", "off", 1);
    clayer_context *context = with_record(100, 128, 96, "panel", usual("panel", 100, 128, 96));
    const struct fake_control fake = fake_reach(FAKE_LIBRARY);
    cr_assert_eq(fake.set("clBuildProgram#1 = code:-6"), 0);
    clayer_linear *poor = layer_of(context, 128, 96), *rich = layer_of(context, 128, 96);
    cr_expect_str_neq(run(poor, 100, 128, 96, false).family, "panel");
    cr_expect_str_eq(run(rich, 100, 128, 96, false).origin, "record, user store");
    clayer_linear_destroy(&poor);
    clayer_linear_destroy(&rich);
    clayer_context_destroy(&context);
    records_stop();
}

static int plan_lines;

static void count_plans(void *user, clayer_log_level level, const char *message)
{
    (void)user, (void)level;
    plan_lines += strncmp(message, "plan 100x128x96 ", 16) == 0;
}

Test(plan, one_plan_for_two_kinds_of_calls_is_told_once)
{
    clayer_context *context = open_device("portable");
    clayer_linear *linear = layer_of(context, 128, 96);
    clayer_log_set(count_plans, NULL, CLAYER_LOG_INFO);
    /* For calls on host memory, and for calls on buffers. */
    cr_assert_eq(clayer_linear_prepare(linear, 100), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(plan_lines, 1);
    run(linear, 100, 128, 96, false);
    cr_expect_eq(plan_lines, 1);
    clayer_log_set(NULL, NULL, CLAYER_LOG_INFO);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

Test(plan, changed_since_it_was_measured)
{
    for (int what = 0; what < 3; what++) {
        records_start();
        clayer_context *context = open_device(NULL);
        struct record record = record_for(context, 100, 128, 96, "portable", usual("portable", 100, 128, 96));
        strcpy(what == 0 ? record.driver_version : what == 1 ? record.library_version : record.kernel_hash, "other");
        keep(context, &record);
        clayer_linear *linear = layer_of(context, 128, 96);
        const clayer_plan_info plan = run(linear, 100, 128, 96, false);
        cr_expect_str_eq(plan.origin, "record, user store"); /* used and flagged */
        EXPECT_TEXT(plan.reason, "stale");
        clayer_linear_destroy(&linear);
        clayer_context_destroy(&context);
        records_stop();
    }
}

Test(plan, clblast_by_record)
{
    records_start();
    clayer_context *context = with_record(100, 128, 96, "clblast", "");
    clayer_linear *linear = layer_of(context, 128, 96);
    clayer_linear_info info;
    cr_assert_eq(clayer_linear_get_info(linear, &info), CLAYER_OK);
    clayer_device_info device;
    cr_assert_eq(clayer_context_device(context, &device), CLAYER_OK);
    const bool kept = family_clblast_available(), there = kept && device.max_work_group_size >= 64;
    cr_expect_eq(info.plain_bytes, kept ? 128 * 96 * sizeof(float) : 0);
    const clayer_plan_info plan = run(linear, 100, 128, 96, false);
    cr_expect_eq(strcmp(plan.family, "clblast") == 0, there, "%s", plan.family);
    clayer_linear_destroy(&linear);
    linear = layer_of(context, 124, 96); /* not named by a record: no copy, and the nearest record gives way */
    cr_assert_eq(clayer_linear_get_info(linear, &info), CLAYER_OK);
    cr_expect_eq(info.plain_bytes, 0);
    cr_expect_str_neq(run(linear, 100, 124, 96, false).family, "clblast");
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

Test(plan, given_by_the_application)
{
    records_start();
    clayer_context *context = with_record(100, 128, 96, "panel", usual("panel", 100, 128, 96));
    static const char *const lines[] = {
        "{\"schema\": \"clayer-tuning/1\", \"devices\": [\n",
        "{\"device\": {}, \"records\": [\n", /* any device */
        "{\"layer\": \"100x64x32\", \"plan\": \"portable\", \"types\": \"f32,f32,f32,f32\", \"bias\": true, ",
        "\"costly\": false, \"aligned\": true, \"ns\": 1000}\n",
        "]}\n]}\n",
        NULL};
    char text[1024] = "";
    for (size_t i = 0; lines[i]; i++)
        strcat(text, lines[i]);
    size_t added;
    cr_assert_eq(clayer_tuning_ship(context, lines, &added), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(added, 1);
    clayer_linear *linear = layer_of(context, 64, 32);
    clayer_plan_info plan = run(linear, 100, 64, 32, false);
    cr_expect_str_eq(plan.origin, "record, shipped");
    EXPECT_TEXT(plan.reason, "related device");
    clayer_linear_destroy(&linear);
    cr_assert_eq(clayer_tuning_add(context, text, strlen(text), &added), CLAYER_OK);
    linear = layer_of(context, 64, 32);
    plan = run(linear, 100, 64, 32, false);
    cr_expect_str_eq(plan.origin, "record, application");
    cr_expect_eq(clayer_tuning_add(context, "junk", 4, &added), CLAYER_ERROR_FORMAT);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    records_stop();
}

/* Every parameter's first or last value. */
static void extreme(const struct family *family, bool last, char *text, size_t size)
{
    struct configuration configuration;
    for (int i = 0; i < family->parameter_count; i++)
        configuration.value[i] = family->parameters[i].values[last ? family->parameters[i].count - 1 : 0];
    family_print(family, &configuration, text, size);
}

/* A file in which every shape has the largest tiles, or the smallest, of some family: whatever fits is run and right,
 * and nothing fails. */
Test(plan, extreme_tiles_on_odd_shapes)
{
    static const size_t sizes[] = {1, 7, 33, 65};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    records_start();
    size_t by_record = 0;
    for (size_t f = 0; f < family_count; f++) {
        for (int last = 0; last < 2; last++) {
            clayer_context *context = open_device(NULL);
            char configuration[160];
            struct record records[SIZES * SIZES * SIZES];
            size_t count = 0;
            extreme(families[f], last, configuration, sizeof configuration);
            for (size_t i = 0; i < SIZES * SIZES * SIZES; i++)
                records[count++] = record_for(context, sizes[i % SIZES], sizes[i / SIZES % SIZES],
                                              sizes[i / SIZES / SIZES], families[f]->name, configuration);
            cr_assert_eq(store_add(context_store(context), STORE_API, records, count), CLAYER_OK);
            for (size_t i = 0; i < SIZES * SIZES; i++) {
                const size_t in = sizes[i % SIZES], out = sizes[i / SIZES];
                clayer_linear *linear = layer_of(context, in, out);
                for (size_t m = 0; m < SIZES; m++) {
                    const clayer_plan_info plan = run(linear, sizes[m], in, out, false);
                    by_record += strcmp(plan.origin, "record, application") == 0;
                }
                clayer_linear_destroy(&linear);
            }
            clayer_context_destroy(&context);
        }
    }
    cr_expect_gt(by_record, 2 * SIZES * SIZES * SIZES, "%zu calls by their record", by_record);
    records_stop();
}
