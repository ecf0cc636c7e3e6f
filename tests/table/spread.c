#include "table/spread.h"

#include <stdlib.h>
#include <string.h>

/* Strides through a space in a mixed-up order; prime, so that every point is met once. */
#define STRIDE 1000003u

/* Which pairs of parameter values have occurred; a pair of a value with itself stands for the value. */
struct seen {
    const struct family *family;
    int first[FAMILY_MAX_PARAMETERS]; /* number of each parameter's first value among all values */
    int count;
    char *pairs; /* count x count */
};

static struct seen seen_make(const struct family *family)
{
    struct seen seen = {.family = family};
    for (int p = 0; p < family->parameter_count; p++) {
        seen.first[p] = seen.count;
        seen.count += family->parameters[p].count;
    }
    seen.pairs = calloc((size_t)(seen.count * seen.count + 1), 1);
    return seen;
}

static int value_number(const struct seen *seen, const struct configuration *c, int parameter)
{
    const struct parameter *p = &seen->family->parameters[parameter];
    int v = 0;
    while (v + 1 < p->count && p->values[v] != c->value[parameter])
        v++;
    return seen->first[parameter] + v;
}

/* Values, or pairs of values, of a configuration that have not occurred yet; marks them if told to. */
static int fresh(struct seen *seen, const struct configuration *c, bool pairs, bool mark)
{
    int count = 0;
    for (int a = 0; a < seen->family->parameter_count; a++)
        for (int b = pairs ? 0 : a; b <= a; b++) {
            char *pair = &seen->pairs[value_number(seen, c, a) * seen->count + value_number(seen, c, b)];
            count += !*pair;
            if (mark)
                *pair = 1;
        }
    return count;
}

static size_t space(const struct family *family)
{
    size_t total = 1;
    for (int p = 0; p < family->parameter_count; p++)
        total *= (size_t)family->parameters[p].count;
    return total;
}

/* Point `index` of the space in the mixed-up order. */
static struct configuration point(const struct family *family, size_t index, size_t total)
{
    struct configuration c = {{0}};
    index = index * STRIDE % total;
    for (int p = 0; p < family->parameter_count; p++) {
        c.value[p] = family->parameters[p].values[index % (size_t)family->parameters[p].count];
        index /= (size_t)family->parameters[p].count;
    }
    return c;
}

size_t spread_legal(const struct family *family, const struct target *target, const struct layer_shape *shape,
                    const struct call_shape *call)
{
    const size_t total = space(family);
    size_t legal = 0;
    for (size_t i = 0; i < total; i++) {
        const struct configuration c = point(family, i, total);
        legal += family->refuses(target, shape, call, &c) == NULL;
    }
    return legal;
}

static bool listed(const struct configuration *list, size_t count, const struct configuration *c)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&list[i], c, sizeof *c) == 0)
            return true;
    return false;
}

size_t spread(const struct family *family, const struct target *target, const struct layer_shape *shape,
              const struct call_shape *call, enum depth depth, size_t limit, struct configuration *list)
{
    struct configuration c = {{0}};
    family->suggest(target, shape, call, &c);
    if (limit == 0 || family->refuses(target, shape, call, &c))
        return 0;
    struct seen seen = seen_make(family);
    size_t count = 0;
    const bool pairs = depth == SPREAD_ALL;
    const bool all = pairs && spread_legal(family, target, shape, call) <= SPREAD_MOST;
    fresh(&seen, &c, pairs, true);
    list[count++] = c;
    const size_t total = space(family);
    /* Those with the most news first, so that few are needed. */
    const int most = family->parameter_count * (pairs ? family->parameter_count + 1 : 2) / 2;
    for (int wanted = all ? 0 : most; wanted >= 0 && count<limit; wanted = wanted> 1 ? wanted / 2 : wanted - 1) {
        if (wanted == 0 && !pairs)
            break;
        const size_t enough = wanted > 0 || all ? limit : limit < SPREAD_LEAST ? limit : SPREAD_LEAST;
        for (size_t i = 0; i < total && count < enough; i++) {
            c = point(family, i, total);
            if (family->refuses(target, shape, call, &c) || memcmp(&c, &list[0], sizeof c) == 0)
                continue;
            if (fresh(&seen, &c, pairs, false) < wanted || (wanted == 0 && !all && listed(list, count, &c)))
                continue;
            fresh(&seen, &c, pairs, true);
            list[count++] = c;
        }
    }
    free(seen.pairs);
    return count;
}
