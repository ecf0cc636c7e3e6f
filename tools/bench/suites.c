#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool shape_append(struct options *options, const struct shape *shape)
{
    struct shape *more = realloc(options->shapes, (options->shape_count + 1) * sizeof *more);
    if (!more)
        return false;
    options->shapes = more;
    more[options->shape_count++] = *shape;
    return true;
}

struct suite {
    const char *name;
    size_t batches[6];       /* ends with 0 */
    const char *features[6]; /* "INxOUT", ends with NULL; with these batches */
    const char *shapes[6];   /* or whole shapes */
    bool cold;
};

/* Where the same layer is listed warm and cold, cold is a row of its own. */
static const struct suite suites[] = {
    {"transformer", {1, 8, 32, 128, 512}, {"768x3072", "3072x768", "1024x4096"}, {NULL}, false},
    {"mlp", {1, 64, 1024, 16384}, {"64x64", "256x256", "512x512"}, {NULL}, false},
    {"tabular", {1, 128, 4096}, {"13x512", "512x256", "256x64", "64x1"}, {NULL}, false},
    {"odd", {0}, {NULL}, {"61x255x127", "1000x500x10", "37x1000x3", "5x5x5", "2048x64x64"}, false},
    {"square", {0}, {NULL}, {"256x256x256", "1024x1024x1024", "2048x2048x2048"}, false},
    {"cold", {1}, {"768x3072", "3072x768", "1024x4096", "4096x4096"}, {NULL}, true},
    {"chain", {0}, {NULL}, {"1x64x64x64x64x10", "256x256x256x256x256x256x256x256x256x256"}, false},
};

static bool append(struct options *options, const char *text, size_t batch, clayer_activation activation, bool cold)
{
    char whole[SHAPE_TEXT], error[256];
    struct shape shape = {.activation = activation, .cold = cold};
    if (batch > 0)
        snprintf(whole, sizeof whole, "%zux%s", batch, text);
    else
        snprintf(whole, sizeof whole, "%s", text);
    return shape_parse(whole, &shape, error, sizeof error) && shape_append(options, &shape);
}

bool suite_append(struct options *options, const char *name, clayer_activation activation, bool cold)
{
    bool found = false;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        const struct suite *suite = &suites[i];
        if (strcmp(name, "all") != 0 && strcmp(name, suite->name) != 0)
            continue;
        found = true;
        for (const char *const *features = suite->features; *features; features++)
            for (const size_t *batch = suite->batches; *batch > 0; batch++)
                found = found && append(options, *features, *batch, activation, cold || suite->cold);
        for (const char *const *text = suite->shapes; *text; text++)
            found = found && append(options, *text, 0, activation, cold);
    }
    return found;
}
