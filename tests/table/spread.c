#include "table/spread.h"

#include <stdlib.h>
#include <string.h>

/* Strides through a space in a mixed-up order; prime, so that every point is met once. */
#define STRIDE 1000003u

/* Which values, pairs or triples of them have occurred; a repeated value makes a triple hold a pair or a single value.
 */
struct seen {
    const struct family *family;
    int strength;                     /* 1, 2 or 3 */
    int first[FAMILY_MAX_PARAMETERS]; /* number of each parameter's first value among all values */
    size_t count;
    char *marks; /* count x count x count */
};

static struct seen seen_make(const struct family *family, int strength)
{
    struct seen seen = {.family = family, .strength = strength};
    for (int p = 0; p < family->parameter_count; p++) {
        seen.first[p] = (int)seen.count;
        seen.count += (size_t)family->parameters[p].count;
    }
    seen.marks = calloc(seen.count * seen.count * seen.count + 1, 1);
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

/* How much of a configuration has not occurred yet; marks it if told to. */
static int fresh(struct seen *seen, const struct configuration *configuration, bool mark)
{
    const int parameters = seen->family->parameter_count;
    int count = 0;
    size_t number[FAMILY_MAX_PARAMETERS];
    for (int a = 0; a < parameters; a++)
        number[a] = (size_t)value_number(seen, configuration, a);
    for (int a = 0; a < parameters; a++)
        for (int b = seen->strength > 1 ? 0 : a; b <= a; b++)
            for (int c = seen->strength > 2 ? 0 : b; c <= b; c++) {
                char *is = &seen->marks[(number[a] * seen->count + number[b]) * seen->count + number[c]];
                count += !*is;
                if (mark)
                    *is = 1;
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

size_t spread(const struct family *family, const struct target *target, const struct layer_shape *shape,
              const struct call_shape *call, enum depth depth, size_t limit, struct configuration *list)
{
    struct configuration c = {{0}};
    family->suggest(target, shape, call, &c);
    if (limit == 0 || family->refuses(target, shape, call, &c))
        return 0;
    const bool all = depth == SPREAD_ALL && spread_legal(family, target, shape, call) <= SPREAD_MOST;
    struct seen seen = seen_make(family, depth == SPREAD_VALUES ? 1 : depth == SPREAD_PAIRS ? 2 : 3);
    size_t count = 0;
    list[count++] = c;
    int most = fresh(&seen, &c, true); /* everything in the first one is new */
    const size_t total = space(family);
    /* Those with the most news first, so that few are needed. */
    for (int wanted = most; count < limit && wanted > 0; wanted = all ? 0 : wanted / 2) {
        for (size_t i = 0; i < total && count < limit; i++) {
            c = point(family, i, total);
            if (family->refuses(target, shape, call, &c) || memcmp(&c, &list[0], sizeof c) == 0 ||
                (!all && fresh(&seen, &c, false) < wanted))
                continue;
            fresh(&seen, &c, true);
            list[count++] = c;
        }
    }
    free(seen.marks);
    return count;
}
