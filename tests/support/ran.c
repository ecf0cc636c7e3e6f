/* Linked into every Criterion program, because Criterion says nothing of skipped tests and exits with 0 when none ran.
 *
 * Each skipped test gets a line with its reason. A program without any test fails; one where all were skipped (a
 * missing device, or a --filter that matches nothing) exits with 77, which meson reports as a skip. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>

#include <stdio.h>
#include <unistd.h>

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    /* What a --filter leaves out is counted as skipped too, but has no message. */
    for (struct criterion_suite_stats *suite = stats->suites; suite; suite = suite->next)
        for (struct criterion_test_stats *test = suite->tests; test; test = test->next)
            if (test->test_status == CR_STATUS_SKIPPED && test->message)
                fprintf(stderr, "[SKIP] %s::%s: %s\n", test->test->category, test->test->name, test->message);
    if (stats->nb_tests > stats->tests_skipped)
        return;
    fprintf(stderr, "no test ran in this program, %zu skipped\n", stats->tests_skipped);
    _exit(stats->nb_tests == 0 ? 1 : 77);
}
