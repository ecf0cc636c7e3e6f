#include "table/problem.h"
#include "host/linear.h"
#include "support/guarded.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct problem problem_make(size_t batch, size_t in, size_t out, enum bias bias, struct random *random)
{
    struct problem p = {.batch = batch, .in = in, .out = out};
    p.w = guarded_floats(in * out);
    p.bias = bias == BIAS_NONE ? NULL : guarded_floats(out);
    p.x = malloc((batch * in + 1) * sizeof *p.x);
    p.z = malloc((batch * out + 1) * sizeof *p.z);
    p.s = malloc((batch * out + 1) * sizeof *p.s);
    cr_assert(p.x && p.z && p.s);
    for (size_t i = 0; i < in * out; i++)
        p.w[i] = random_uniform(random);
    for (size_t n = 0; p.bias && n < out; n++)
        p.bias[n] = bias == BIAS_STEEP ? (float)n * 100 - 400 : 4 * random_uniform(random);
    for (size_t i = 0; i < batch * in; i++)
        p.x[i] = random_uniform(random);
    problem_solve(&p);
    return p;
}

void problem_solve(struct problem *p)
{
    static const struct activation none = {CLAYER_ACTIVATION_NONE, 0, 0};
    host_linear_reference(p->w, p->in, 1, p->bias, &none, p->batch, p->out, p->in, p->x, p->in, 1, p->z, p->s);
}

void problem_free(struct problem *p)
{
    guarded_free(p->w, p->in * p->out);
    if (p->bias)
        guarded_free(p->bias, p->out);
    free(p->x);
    free(p->z);
    free(p->s);
    *p = (struct problem){0};
}
