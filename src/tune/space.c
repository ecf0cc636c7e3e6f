#include "tune/space.h"
#include "base/error.h"
#include "tune/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter that needs no compilation and is not as the rule of thumb has it: the climb comes to it, the sample is to
 * see as many kernels as it can. */
#define ARGUMENT_PENALTY 1.3f

/* Many configurations are equal to the model. This much of chance, the same in every run, makes the sample one of all
 * of them and not of those that stand side by side. */
#define CHANCE 0.15f

static float chance_of(const struct point point)
{
    uint64_t z = ((uint64_t)point.family << 32 | point.index) + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64's mixing, by Sebastiano Vigna (public domain) */
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
}

static size_t combinations(const struct family *family)
{
    size_t count = 1;
    for (int i = 0; i < family->parameter_count; i++)
        count *= (size_t)family->parameters[i].count;
    return count;
}

void space_configuration(struct point point, struct configuration *configuration)
{
    const struct family *family = families[point.family];
    uint32_t rest = point.index;
    memset(configuration, 0, sizeof *configuration);
    for (int i = family->parameter_count - 1; i >= 0; i--) {
        configuration->value[i] = family->parameters[i].values[rest % (uint32_t)family->parameters[i].count];
        rest /= (uint32_t)family->parameters[i].count;
    }
}

void space_print(struct point point, char plan[PLAN_BYTES])
{
    const struct family *family = families[point.family];
    struct configuration configuration;
    char text[FAMILY_MAX_TEXT];
    space_configuration(point, &configuration);
    family_print(family, &configuration, text, sizeof text);
    snprintf(plan, PLAN_BYTES, "%s%s%s", family->name, *text ? ":" : "", text);
}

static void count_refusal(struct space *space, const struct family *family, const char *reason)
{
    struct refusal *refusals = space->refusals;
    size_t i = 0;
    while (i < space->refusal_count && (refusals[i].family != family || strcmp(refusals[i].reason, reason) != 0))
        i++;
    if (i == SPACE_REFUSALS)
        return;
    if (i == space->refusal_count)
        refusals[space->refusal_count++] = (struct refusal){family, reason, 0};
    refusals[i].count++;
}

/* Costs of one family's configurations. */
static clayer_status enumerate(struct space *space, size_t f)
{
    const struct family *family = families[f];
    struct configuration suggested = {{0}};
    family->suggest(&space->target, &space->shape, &space->call, &suggested);
    space->size[f] = combinations(family);
    assert(space->size[f] <= UINT32_MAX);
    space->cost[f] = malloc(space->size[f] * sizeof *space->cost[f]);
    space->taken[f] = calloc(space->size[f], sizeof *space->taken[f]);
    if (!space->cost[f] || !space->taken[f])
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu configurations", space->size[f]);
    for (size_t i = 0; i < space->size[f]; i++) {
        struct configuration configuration;
        const struct point point = {(uint16_t)f, (uint32_t)i};
        space_configuration(point, &configuration);
        const char *reason = family->refuses(&space->target, &space->shape, &space->call, &configuration);
        if (reason) {
            space->cost[f][i] = -1;
            count_refusal(space, family, reason);
            continue;
        }
        float cost = model_cost(&space->target, &space->shape, &space->call, family, &configuration);
        for (int p = 0; p < family->parameter_count; p++)
            if (family->parameters[p].argument && configuration.value[p] != suggested.value[p])
                cost *= ARGUMENT_PENALTY;
        space->cost[f][i] = cost * (1 + CHANCE * chance_of(point));
        space->legal[f]++;
    }
    return CLAYER_OK;
}

struct ranked {
    float cost;
    struct point point;
};

static int by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->point.family != y->point.family)
        return x->point.family < y->point.family ? -1 : 1;
    return x->point.index < y->point.index ? -1 : x->point.index > y->point.index;
}

clayer_status space_create(const struct target *target, const struct layer_shape *shape, const struct call_shape *call,
                           struct space *space)
{
    memset(space, 0, sizeof *space);
    space->target = *target;
    space->shape = *shape;
    space->call = *call;
    assert(family_count <= SPACE_FAMILIES);
    clayer_status status;
    size_t count = 0;
    struct ranked *ranked = NULL;
    for (size_t f = 0; f < family_count; f++) {
        TRY_GOTO(enumerate(space, f));
        space->count += space->legal[f];
    }
    ranked = malloc((space->count + 1) * sizeof *ranked);
    space->order = malloc((space->count + 1) * sizeof *space->order);
    if (!ranked || !space->order)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu configurations", space->count);
    for (size_t f = 0; f < family_count; f++)
        for (size_t i = 0; i < space->size[f]; i++)
            if (space->cost[f][i] >= 0)
                ranked[count++] = (struct ranked){space->cost[f][i], {(uint16_t)f, (uint32_t)i}};
    qsort(ranked, count, sizeof *ranked, by_cost);
    for (size_t i = 0; i < count; i++)
        space->order[i] = ranked[i].point;
    free(ranked);
    return CLAYER_OK;
fail:
    free(ranked);
    space_free(space);
    return status;
}

void space_free(struct space *space)
{
    for (size_t f = 0; f < SPACE_FAMILIES; f++) {
        free(space->cost[f]);
        free(space->taken[f]);
    }
    free(space->order);
    memset(space, 0, sizeof *space);
}

bool space_find(const struct space *space, const struct family *family, const struct configuration *configuration,
                struct point *point)
{
    size_t f = 0;
    while (f < family_count && families[f] != family)
        f++;
    if (f == family_count)
        return false;
    uint32_t index = 0;
    for (int i = 0; i < family->parameter_count; i++) {
        const struct parameter *p = &family->parameters[i];
        int v = 0;
        while (v < p->count && p->values[v] != configuration->value[i])
            v++;
        if (v == p->count)
            return false;
        index = index * (uint32_t)p->count + (uint32_t)v;
    }
    *point = (struct point){(uint16_t)f, index};
    return space->cost[f][index] >= 0;
}

bool space_parse(const struct space *space, const char *plan, struct point *point)
{
    struct plan_request request;
    struct configuration configuration = {{0}};
    if (plan_parse(plan, &request) != CLAYER_OK || !request.family)
        return false;
    request.family->suggest(&space->target, &space->shape, &space->call, &configuration);
    return family_parse(request.family, request.configuration, &configuration) == CLAYER_OK &&
           space_find(space, request.family, &configuration, point);
}

static size_t around(const struct space *space, struct point point, bool siblings, struct point *neighbours,
                     size_t most)
{
    const struct family *family = families[point.family];
    size_t count = 0;
    uint32_t stride = 1;
    for (int i = family->parameter_count - 1; i >= 0; i--) {
        const struct parameter *p = &family->parameters[i];
        const int at = (int)(point.index / stride % (uint32_t)p->count);
        if (siblings && !p->argument) {
            stride *= (uint32_t)p->count;
            continue;
        }
        for (int step = -1; step <= 1; step += 2)
            for (int v = at + step; v >= 0 && v < p->count && count < most; v += step) {
                const struct point other = {point.family, point.index + (uint32_t)(v - at) * stride};
                if (space->cost[other.family][other.index] < 0)
                    continue;
                neighbours[count++] = other;
                if (!p->argument)
                    break;
            }
        stride *= (uint32_t)p->count;
    }
    return count;
}

size_t space_neighbours(const struct space *space, struct point point, struct point *neighbours, size_t most)
{
    return around(space, point, false, neighbours, most);
}

size_t space_siblings(const struct space *space, struct point point, struct point *siblings, size_t most)
{
    return around(space, point, true, siblings, most);
}

int space_distance(struct point a, struct point b)
{
    if (a.family != b.family)
        return 99;
    struct configuration x, y;
    int distance = 0;
    space_configuration(a, &x);
    space_configuration(b, &y);
    for (int i = 0; i < families[a.family]->parameter_count; i++)
        distance += x.value[i] != y.value[i];
    return distance;
}
