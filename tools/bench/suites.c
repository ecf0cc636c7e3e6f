#include "bench/bench.h"
#include "suites.h"

#include <stdlib.h>

bool shape_append(struct options *options, const struct shape *shape)
{
    struct shape *more = realloc(options->shapes, (options->shape_count + 1) * sizeof *more);
    if (!more)
        return false;
    options->shapes = more;
    more[options->shape_count++] = *shape;
    return true;
}

struct wish {
    struct options *options;
    clayer_activation activation;
    bool cold;
};

static bool append(void *user, const char *text, bool cold)
{
    const struct wish *wish = user;
    char error[256];
    struct shape shape = {.activation = wish->activation, .cold = cold || wish->cold};
    return shape_parse(text, &shape, error, sizeof error) && shape_append(wish->options, &shape);
}

bool suite_append(struct options *options, const char *name, clayer_activation activation, bool cold)
{
    return suite_each(name, append, &(struct wish){options, activation, cold});
}
