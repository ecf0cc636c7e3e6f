/* The tuner's decision, on samples that this test makes up: noise, interruptions and plans that prove wrong at the end
 * must not choose. The linker sends the finals' search_task here. */
#include "support/random.h"
#include "tune/session.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLANS = 4, RUNS = 200 };

/* What the plans take in truth, in seconds a call; the first is the default. */
static double truth[PLANS];
static int wrong;           /* this plan's results are wrong on the whole batch; -1: none */
static double interruption; /* the chance that a sample takes ten times as long */
static struct random random_numbers;

static double uniform(void)
{
    return (double)random_next(&random_numbers) * 0x1p-32;
}

bool __wrap_search_task(struct search *search, enum runner_task task, const char *plan, size_t samples, double stop,
                        struct outcome *outcome);
bool __wrap_search_task(struct search *search, enum runner_task task, const char *plan, size_t samples, double stop,
                        struct outcome *outcome)
{
    (void)search, (void)stop;
    const int number = plan[strlen(plan) - 1] - '0';
    memset(outcome, 0, sizeof *outcome);
    if (task == RUNNER_CONFIRM && number == wrong)
        outcome->verdict = CLAYER_VERDICT_WRONG;
    /* Noise of 10 % each way. */
    for (; outcome->count < samples; outcome->count++)
        outcome->seconds[outcome->count] =
            truth[number] * (0.9 + 0.2 * uniform()) * (uniform() < interruption ? 10 : 1);
    return true;
}

/* The number of the plan that is chosen where `incumbent` runs now. */
static int decide_beside(int incumbent, clayer_effort effort)
{
    static struct search search;
    struct contender contenders[PLANS] = {0};
    clayer_tune_result result = {0};
    const clayer_tune_params params = {.effort = effort};
    struct session session = {.params = &params, .end = INFINITY, .results = &result};
    bool beats_incumbent = false;
    size_t panel = 0;
    while (families[panel] != &family_panel)
        panel++;
    cr_assert_eq(journal_open(NULL, "device", "provenance", &session.journal), CLAYER_OK);
    for (int i = 0; i < PLANS; i++) {
        contenders[i].point = (struct point){(unsigned)panel, (unsigned)i};
        contenders[i].median = truth[i];
        snprintf(contenders[i].plan, sizeof contenders[i].plan, "panel:%d", i);
    }
    memset(&search, 0, sizeof search);
    search.session = &session;
    session.current = &search;
    search.result = &result;
    search.contenders = contenders;
    search.count = PLANS;
    search.end = INFINITY;
    search.standard = contenders[0].point;
    search.incumbent = contenders[incumbent].point;
    snprintf(search.key, sizeof search.key, "shape");
    cr_assert(finals_run(&search, &beats_incumbent));
    cr_assert_eq(result.state, CLAYER_TUNE_TUNED);
    journal_close(&session.journal);
    const int chosen = result.plan[strlen(result.plan) - 1] - '0';
    cr_assert(!beats_incumbent || chosen != incumbent);
    return chosen;
}

static int decide(clayer_effort effort)
{
    return decide_beside(0, effort);
}

static void set_truth(double standard, double a, double b, double c)
{
    const double values[PLANS] = {standard, a, b, c};
    memcpy(truth, values, sizeof truth);
    wrong = -1;
}

/* How many of the runs choose this plan. */
static int runs_that_choose(int plan, int incumbent, clayer_effort effort)
{
    int count = 0;
    for (int run = 0; run < RUNS; run++)
        count += decide_beside(incumbent, effort) == plan;
    return count;
}

/* Medians of plans that are equally fast differ by more than the samples' spread once in dozens of runs; no harm is
 * done then. */
#define NEARLY_ALL (RUNS * 95 / 100)

Test(tune_finals, plans_as_fast_as_the_default_do_not_replace_it)
{
    random_numbers.state = 1;
    set_truth(100e-6, 100e-6, 100e-6, 99.5e-6);
    for (clayer_effort effort = CLAYER_EFFORT_QUICK; effort <= CLAYER_EFFORT_EXHAUSTIVE; effort++)
        cr_assert_geq(runs_that_choose(0, 0, effort), NEARLY_ALL);
}

Test(tune_finals, what_runs_now_stays_unless_it_is_beaten)
{
    random_numbers.state = 5;
    set_truth(150e-6, 100e-6, 100e-6, 99e-6);
    cr_assert_geq(runs_that_choose(2, 2, CLAYER_EFFORT_QUICK), NEARLY_ALL);
}

/* Whatever the noise, the choice is never among the slow. */
Test(tune_finals, a_faster_plan_wins_in_spite_of_noise)
{
    random_numbers.state = 2;
    set_truth(100e-6, 75e-6, 76e-6, 99e-6);
    for (int run = 0; run < RUNS; run++) {
        const int chosen = decide(CLAYER_EFFORT_QUICK);
        cr_assert(chosen == 1 || chosen == 2, "run %d takes plan %d", run, chosen);
    }
}

Test(tune_finals, interrupted_samples_decide_nothing)
{
    random_numbers.state = 3;
    interruption = 0.05;
    set_truth(100e-6, 100e-6, 60e-6, 100e-6);
    cr_assert_geq(runs_that_choose(2, 0, CLAYER_EFFORT_QUICK), NEARLY_ALL);
}

Test(tune_finals, the_fastest_right_plan_wins)
{
    random_numbers.state = 4;
    set_truth(100e-6, 60e-6, 65e-6, 95e-6); /* not so far behind that it leaves before the end */
    cr_assert_eq(decide(CLAYER_EFFORT_QUICK), 1);
    wrong = 1;
    cr_assert_eq(decide(CLAYER_EFFORT_QUICK), 2);
}
