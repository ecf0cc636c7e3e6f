/* The tuner's parts, and the whole of it inside this process. */
#include "fake/client.h"
#include "fake/fake.h"

#include "context.h"
#include "host/packed.h"
#include "tune/order.h"
#include "tune/space.h"
#include "tune/trial.h"

#include <clayer/linear.h>
#include <clayer/tune.h>
#include <clayer/tuning.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A data directory of this test's own, removed by no one else: below the build's. */
static void own_data(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tune-%ld", getenv("XDG_DATA_HOME") ? getenv("XDG_DATA_HOME") : "/tmp",
             (long)getpid());
    setenv("XDG_DATA_HOME", path, 1);
    unsetenv("CLAYER_DATA_DIR");
    unsetenv("CLAYER_TUNING");
}

static clayer_context *pocl(void)
{
    clayer_context *context = NULL;
    if (clayer_context_create(&(clayer_context_params){.device = "cpu"}, &context) != CLAYER_OK)
        cr_skip_test("no OpenCL CPU device: %s", clayer_last_error());
    return context;
}

Test(tune, outcomes_survive_as_text)
{
    struct outcome outcome = {.verdict = CLAYER_VERDICT_RIGHT, .build_seconds = 0.25, .count = 3}, read;
    char text[OUTCOME_BYTES];
    outcome.seconds[0] = 1.5e-6;
    outcome.seconds[1] = 2;
    outcome.seconds[2] = 1e-12;
    snprintf(outcome.reason, sizeof outcome.reason, "two\nlines");
    outcome_write(&outcome, text);
    cr_assert(outcome_read(text, &read));
    cr_assert_eq(read.count, 3);
    for (int i = 0; i < 3; i++)
        cr_assert_float_eq(read.seconds[i], outcome.seconds[i], 1e-13);
    cr_assert_str_eq(read.reason, "two lines");
    static const char *const bad[] = {"",
                                      "right",
                                      "great 0 0 1 1 ",
                                      "right 0 0 0 ",
                                      "right 0 0 17 1 ",
                                      "right 0 0 2 1 ",
                                      "right 99 0 1 1 ",
                                      "right -1 0 1 1 ",
                                      "right 0 0 1 0 ",
                                      "right 0 0 1 99999999999999999999999 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(outcome_read(bad[i], &read), "'%s'", bad[i]);
}

Test(tune, quantiles)
{
    double values[] = {4, 1, 3, 2};
    cr_assert_eq(quantile(values, 4, 0.5), 2.5);
    cr_assert_eq(quantile(values, 4, 0), 1);
    cr_assert_eq(quantile(values, 4, 1), 4);
    cr_assert_eq(quantile(values, 0, 0.5), 0);
}

Test(tune, order_takes_the_ends_of_each_layer_first)
{
    const clayer_tune_shape shapes[] = {
        {.batch = 8, .in_features = 4, .out_features = 4},   {.batch = 1, .in_features = 5, .out_features = 4},
        {.batch = 512, .in_features = 4, .out_features = 4}, {.batch = 1, .in_features = 4, .out_features = 4},
        {.batch = 32, .in_features = 4, .out_features = 4},  {.batch = 128, .in_features = 4, .out_features = 4}};
    static const size_t expected[] = {3, 2, 4, 0, 5, 1};
    size_t *order = NULL;
    cr_assert_eq(order_shapes(shapes, 6, &order), CLAYER_OK);
    for (size_t i = 0; i < 6; i++)
        cr_assert_eq(order[i], expected[i], "place %zu is %zu", i, order[i]);
    free(order);
}

/* A GPU that is not there: predicates and the model look at its description only. */
static void gpu_space(int64_t work_group, int64_t local_memory, size_t batch, struct space *space)
{
    static clayer_device_info info;
    memset(&info, 0xff, sizeof info); /* everything unknown */
    info.type = CLAYER_DEVICE_GPU;
    info.compute_units = 32;
    info.max_work_group_size = work_group;
    info.max_work_item_sizes[0] = info.max_work_item_sizes[1] = info.max_work_item_sizes[2] = work_group;
    info.local_memory_bytes = local_memory;
    info.max_allocation_bytes = (int64_t)1 << 30;
    const struct target target = {.info = &info, .context = (struct opencl_context *)&info};
    const struct layer_shape layer = {
        .in_features = 300, .out_features = 100, .panel = packed_panel_width(100), .has_bias = true};
    const struct call_shape call = {.batch = batch, .ldx = 300, .ldy = 100};
    cr_assert_eq(space_create(&target, &layer, &call, space), CLAYER_OK, "%s", clayer_last_error());
}

Test(tune, space_is_never_empty_and_holds_legal_points_only)
{
    static const int64_t limits[] = {0, 1, 7, 24, 96, 256, 4096};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int64_t local = 0; local <= 65536; local += 16384) {
            struct space space;
            bool safe = false;
            gpu_space(limits[i], local, 128, &space);
            cr_assert_gt(space.count, 0, "work-group %ld", (long)limits[i]);
            for (size_t n = 0; n < space.count; n++) {
                struct configuration c;
                const struct point p = space.order[n];
                space_configuration(p, &c);
                cr_assert_null(families[p.family]->refuses(&space.target, &space.shape, &space.call, &c));
                cr_assert(n == 0 || space.cost[p.family][p.index] >=
                                        space.cost[space.order[n - 1].family][space.order[n - 1].index]);
                safe = safe || (families[p.family] == &family_portable && c.value[0] == 1);
            }
            cr_assert(safe, "portable with one work-item is always there");
            space_free(&space);
        }
}

Test(tune, plans_are_points_and_back)
{
    struct space space;
    struct point point, neighbours[SPACE_NEIGHBOURS];
    char plan[PLAN_BYTES];
    gpu_space(256, 32768, 128, &space);
    for (size_t n = 0; n < space.count; n += 997) {
        space_print(space.order[n], plan);
        cr_assert(space_parse(&space, plan, &point), "%s", plan);
        cr_assert_eq(point.family, space.order[n].family);
        cr_assert_eq(point.index, space.order[n].index, "%s", plan);
        const size_t count = space_neighbours(&space, point, neighbours, SPACE_NEIGHBOURS);
        for (size_t i = 0; i < count; i++)
            cr_assert_eq(space_distance(point, neighbours[i]), 1);
    }
    cr_assert_not(space_parse(&space, "panel:rows=999", &point));
    cr_assert_not(space_parse(&space, "nonesuch", &point));
    cr_assert_not(space_parse(&space, "", &point));
    space_free(&space);
}

Test(tune, trial_measures_right_plans_of_any_family)
{
    clayer_context *context = pocl();
    static const char *const plans[] = {"panel:rows=4,vectors=1,width=8,rows_first=1",
                                        "panel:rows=7,vectors=2,width=16,rows_first=1", "portable:local=4", "clblast",
                                        "host"};
    static const size_t batches[] = {1, 5, 64, 301};
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        const clayer_tune_shape shape = {.batch = batches[b],
                                         .in_features = 37,
                                         .out_features = 61,
                                         .activation = b % 2 ? CLAYER_ACTIVATION_GELU : CLAYER_ACTIVATION_CLAMP,
                                         .no_bias = b == 2};
        struct trial *trial = NULL;
        cr_assert_eq(trial_create(context, &shape, &trial), CLAYER_OK, "%s", clayer_last_error());
        for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
            struct outcome outcome;
            trial_try(trial, plans[p], 2, 0, &outcome);
            if (outcome.verdict == CLAYER_VERDICT_FAILED && outcome.status == CLAYER_ERROR_UNSUPPORTED)
                continue; /* no CLBlast, or memory apart from the host's */
            cr_assert_eq(outcome.verdict, CLAYER_VERDICT_RIGHT, "%s: %s", plans[p], outcome.reason);
            cr_assert_eq(outcome.count, 2);
            cr_assert_gt(outcome.seconds[0], 0);
            trial_confirm(trial, plans[p], &outcome);
            cr_assert_eq(outcome.verdict, CLAYER_VERDICT_RIGHT, "%s: %s", plans[p], outcome.reason);
        }
        struct outcome outcome;
        trial_try(trial, "panel:rows=4,vectors=1,width=8,rows_first=1", 3, 1e-12, &outcome);
        cr_assert_eq(outcome.verdict, CLAYER_VERDICT_SLOW);
        trial_try(trial, "panel:rows=4,vectors=9", 3, 0, &outcome);
        cr_assert_eq(outcome.verdict, CLAYER_VERDICT_FAILED);
        cr_assert(strstr(outcome.reason, "vectors"));
        trial_destroy(&trial);
    }
    clayer_context_destroy(&context);
}

/* A runtime that specializes a kernel at its first launch with each local size, as PoCL does, must not be measured
 * doing it: that it waits a second then shows in no sample. A busy machine may hold up a sample too, but not each time.
 */
Test(tune, first_launches_are_not_counted)
{
    const struct fake_control fake = client_load("pass");
    static const char *const plans[] = {"panel:rows=1", "panel:rows=2", "panel:rows=4"};
    clayer_context *context = NULL;
    struct trial *trial = NULL;
    bool short_samples = false;
    const clayer_tune_shape shape = {.batch = 64, .in_features = 37, .out_features = 61};
    cr_assert_eq(clayer_context_create(&(clayer_context_params){.device = "0"}, &context), CLAYER_OK);
    cr_assert_eq(trial_create(context, &shape, &trial), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(fake.set("clEnqueueNDRangeKernel = first:1000ms"), 0);
    for (size_t p = 0; p < sizeof plans / sizeof *plans && !short_samples; p++) {
        struct outcome outcome;
        trial_try(trial, plans[p], 3, 0, &outcome);
        cr_assert_eq(outcome.verdict, CLAYER_VERDICT_RIGHT, "%s", outcome.reason);
        cr_assert_eq(outcome.count, 3);
        cr_assert_geq(outcome.build_seconds, 1, "the launch was delayed");
        short_samples = true;
        for (size_t i = 0; i < outcome.count; i++)
            short_samples = short_samples && outcome.seconds[i] < 0.5;
    }
    cr_assert(short_samples, "samples hold the first launch");
    trial_destroy(&trial);
    clayer_context_destroy(&context);
}

struct watched {
    size_t candidates, ends, stop_after;
};

static int watch(void *user, const clayer_tune_progress *p)
{
    struct watched *watched = user;
    watched->candidates += p->event == CLAYER_TUNE_CANDIDATE;
    watched->ends += p->event == CLAYER_TUNE_END;
    cr_assert_lt(p->shape_index, p->shape_count);
    return watched->stop_after && watched->candidates >= watched->stop_after;
}

Test(tune, in_this_process_and_a_context_knows_at_once)
{
    own_data();
    clayer_context *context = pocl();
    struct watched watched = {0};
    const clayer_tune_shape shapes[] = {{.batch = 33, .in_features = 200, .out_features = 400},
                                        {.batch = 9, .in_features = 8, .out_features = 8}};
    const clayer_tune_params params = {
        .context = context, .shapes = shapes, .shape_count = 2, .refresh = true, .callback = watch, .user = &watched};
    clayer_tune_result results[2];
    cr_assert_eq(clayer_tune(&params, results), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(watched.ends, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(results[i].state, CLAYER_TUNE_TUNED, "%s", results[i].reason);
        cr_assert(results[i].stored);
        cr_assert_gt(results[i].default_seconds, 0);
        cr_assert(results[i].seconds <= results[i].default_seconds, "never worse than the default");
    }
    /* A layer of that shape now goes by the record. */
    static float w[400 * 200], x[33 * 200], y[33 * 400], bias[400];
    clayer_linear *linear = NULL;
    clayer_plan_info plan;
    const clayer_linear_params layer = {.in_features = 200, .out_features = 400, .weight = w, .bias = bias};
    cr_assert_eq(clayer_linear_create(context, &layer, &linear), CLAYER_OK);
    cr_assert_eq(clayer_linear_forward(linear, 33, x, 200, y, 400), CLAYER_OK);
    clayer_linear_last_plan(linear, &plan);
    cr_assert_str_eq(plan.origin, "record, application");
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", plan.family, *plan.configuration ? ":" : "", plan.configuration);
    cr_assert_str_eq(text, results[0].plan);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

static void count_in_force(void *user, const clayer_tuning_record *record)
{
    *(size_t *)user += record->in_force;
}

/* From one run's export into a context of another that knows nothing. */
Test(tune, exported_records_serve_a_context_that_loads_them)
{
    own_data();
    clayer_context *context = pocl();
    const clayer_tune_shape shape = {.batch = 9, .in_features = 8, .out_features = 8};
    clayer_tune_result result;
    cr_assert_eq(
        clayer_tune(&(clayer_tune_params){.context = context, .shapes = &shape, .shape_count = 1, .refresh = true},
                    &result),
        CLAYER_OK, "%s", clayer_last_error());
    char path[600];
    size_t records = 0, in_force = 0, added = 0;
    snprintf(path, sizeof path, "%s/records.json", getenv("XDG_DATA_HOME"));
    cr_assert_eq(clayer_tuning_export(NULL, path, &records), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(records, 1);
    cr_assert_eq(clayer_tuning_forget(NULL, 0, 0, 0, NULL), CLAYER_OK);
    clayer_context_destroy(&context);
    context = pocl();
    cr_assert_eq(clayer_tuning_list_context(context, count_in_force, &in_force), CLAYER_OK);
    const size_t before = in_force; /* built in */
    cr_assert_eq(clayer_tuning_load(context, path, &added), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(added, 1);
    in_force = 0;
    cr_assert_eq(clayer_tuning_list_context(context, count_in_force, &in_force), CLAYER_OK);
    cr_assert_eq(in_force, before + 1);
    cr_assert_eq(clayer_tuning_load(context, "/nonesuch/records.json", &added), CLAYER_ERROR_IO);
    clayer_context_destroy(&context);
}

Test(tune, cancelled_by_the_callback)
{
    own_data();
    clayer_context *context = pocl();
    struct watched watched = {.stop_after = 1};
    const clayer_tune_shape shapes[] = {{.batch = 64, .in_features = 256, .out_features = 256},
                                        {.batch = 64, .in_features = 255, .out_features = 256}};
    const clayer_tune_params params = {
        .context = context, .shapes = shapes, .shape_count = 2, .callback = watch, .user = &watched};
    clayer_tune_result results[2];
    cr_assert_eq(clayer_tune(&params, results), CLAYER_ERROR_CANCELLED);
    cr_assert_eq(results[0].state, CLAYER_TUNE_UNFINISHED);
    cr_assert_eq(results[1].state, CLAYER_TUNE_NOT_BEGUN);
    cr_assert_eq(watched.candidates, 1);
    clayer_context_destroy(&context);
}

Test(tune, bad_arguments_are_refused)
{
    clayer_tune_result result;
    clayer_tune_shape shape = {.batch = 0, .in_features = 1, .out_features = 1};
    clayer_tune_params params = {.device = "host", .shapes = &shape, .shape_count = 1};
    cr_assert_eq(clayer_tune(NULL, &result), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_tune(&params, &result), CLAYER_ERROR_INVALID_ARGUMENT);
    shape.batch = 1;
    cr_assert_eq(clayer_tune(&params, NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_tune(&params, &result), CLAYER_ERROR_UNSUPPORTED);
    params.time_limit = -1;
    cr_assert_eq(clayer_tune(&params, &result), CLAYER_ERROR_INVALID_ARGUMENT);
    params.time_limit = NAN;
    cr_assert_eq(clayer_tune(&params, &result), CLAYER_ERROR_INVALID_ARGUMENT);
    params.time_limit = 0;
    params.effort = (clayer_effort)3;
    cr_assert_eq(clayer_tune(&params, &result), CLAYER_ERROR_INVALID_ARGUMENT);
    clayer_effort effort;
    cr_assert_eq(clayer_effort_parse("normal", &effort), CLAYER_OK);
    cr_assert_eq(effort, CLAYER_EFFORT_NORMAL);
    cr_assert_eq(clayer_effort_parse(NULL, &effort), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_str_eq(clayer_effort_string((clayer_effort)-1), "unknown");
    cr_assert_str_eq(clayer_verdict_string(CLAYER_VERDICT_LOST), "lost");
}
