#include "tune/outcome.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICO 1e12
/* Over four months; what takes longer is no measurement. */
#define MOST_SECONDS 1e7

static const char *const verdicts[] = {
    [CLAYER_VERDICT_RIGHT] = "right",    [CLAYER_VERDICT_SLOW] = "slow", [CLAYER_VERDICT_WRONG] = "wrong",
    [CLAYER_VERDICT_FAILED] = "failed",  [CLAYER_VERDICT_LOST] = "lost", [CLAYER_VERDICT_QUARANTINED] = "quarantined",
    [CLAYER_VERDICT_REFUSED] = "refused"};
#define VERDICTS (sizeof verdicts / sizeof *verdicts)

const char *clayer_verdict_string(clayer_verdict verdict)
{
    return (size_t)verdict < VERDICTS ? verdicts[verdict] : "unknown";
}

static uint64_t pico_of(double seconds)
{
    return seconds > 0 && seconds < MOST_SECONDS ? (uint64_t)(seconds * PICO + 0.5) : 0;
}

void outcome_write(const struct outcome *outcome, char text[OUTCOME_BYTES])
{
    int used = snprintf(text, OUTCOME_BYTES, "%s %d %" PRIu64 " %zu", verdicts[outcome->verdict], (int)outcome->status,
                        pico_of(outcome->build_seconds), outcome->count);
    for (size_t i = 0; i < outcome->count; i++)
        used += snprintf(text + used, OUTCOME_BYTES - (size_t)used, " %" PRIu64, pico_of(outcome->seconds[i]));
    snprintf(text + used, OUTCOME_BYTES - (size_t)used, " %s", outcome->reason);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

/* Reads a whole number and the space after it. */
static bool read_number(const char **text, uint64_t most, uint64_t *number)
{
    if (**text < '0' || **text > '9')
        return false;
    char *end;
    *number = strtoull(*text, &end, 10);
    if (*end != ' ' || *number > most)
        return false;
    *text = end + 1;
    return true;
}

bool outcome_read(const char *text, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    const size_t word = strcspn(text, " ");
    size_t verdict = 0;
    while (verdict < VERDICTS && (strlen(verdicts[verdict]) != word || strncmp(text, verdicts[verdict], word) != 0))
        verdict++;
    if (verdict == VERDICTS || text[word] != ' ')
        return false;
    outcome->verdict = (clayer_verdict)verdict;
    text += word + 1;
    uint64_t status, build, count, sample;
    if (!read_number(&text, CLAYER_ERROR_INTERNAL, &status) ||
        !read_number(&text, (uint64_t)(MOST_SECONDS * PICO), &build) || !read_number(&text, OUTCOME_SAMPLES, &count))
        return false;
    outcome->status = (clayer_status)status;
    outcome->build_seconds = (double)build / PICO;
    outcome->count = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        if (!read_number(&text, (uint64_t)(MOST_SECONDS * PICO), &sample) || sample == 0)
            return false;
        outcome->seconds[i] = (double)sample / PICO;
    }
    if (verdict == CLAYER_VERDICT_RIGHT && count == 0)
        return false;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", text);
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, size_t count, double fraction)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, ascending);
    const double place = fraction * (double)(count - 1);
    const size_t below = (size_t)place;
    return below + 1 < count ? values[below] + (place - (double)below) * (values[below + 1] - values[below])
                             : values[below];
}
