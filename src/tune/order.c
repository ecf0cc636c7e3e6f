#include "tune/order.h"
#include "base/error.h"

#include <stdlib.h>

bool order_same_layer(const clayer_tune_shape *a, const clayer_tune_shape *b)
{
    return a->in_features == b->in_features && a->out_features == b->out_features && a->activation == b->activation &&
           a->no_bias == b->no_bias;
}

/* Appends members[0 .. count), which are sorted by batch: both ends, then halves between what is there, widest first.
 */
static void append(const size_t *members, size_t count, size_t *order, size_t *at, bool *done)
{
    done[0] = done[count - 1] = true;
    order[(*at)++] = members[0];
    if (count > 1)
        order[(*at)++] = members[count - 1];
    for (;;) {
        size_t begin = 0, width = 1;
        for (size_t from = 0, to = 1; to < count; to++)
            if (done[to]) {
                if (to - from > width) {
                    width = to - from;
                    begin = from;
                }
                from = to;
            }
        if (width == 1)
            return;
        const size_t middle = begin + width / 2;
        done[middle] = true;
        order[(*at)++] = members[middle];
    }
}

clayer_status order_shapes(const clayer_tune_shape *shapes, size_t count, size_t **order)
{
    size_t *result = malloc((count + 1) * sizeof *result), *members = malloc((count + 1) * sizeof *members), at = 0;
    bool *done = calloc(count + 1, sizeof *done), *used = calloc(count + 1, sizeof *used);
    const bool enough = result && members && done && used;
    for (size_t i = 0; enough && i < count; i++) {
        size_t group = 0;
        for (size_t j = i; !used[i] && j < count; j++) {
            if (used[j] || !order_same_layer(&shapes[i], &shapes[j]))
                continue;
            size_t place = group++;
            for (; place > 0 && shapes[members[place - 1]].batch > shapes[j].batch; place--)
                members[place] = members[place - 1];
            members[place] = j;
        }
        for (size_t g = 0; g < group; g++) {
            used[members[g]] = true;
            done[g] = false;
        }
        if (group)
            append(members, group, result, &at, done);
    }
    free(members);
    free(done);
    free(used);
    if (!enough) {
        free(result);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for %zu shapes", count);
    }
    *order = result;
    return CLAYER_OK;
}
