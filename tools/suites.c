#include "suites.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

bool suite_each(const char *name, suite_callback callback, void *user)
{
    bool found = false;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        const struct suite *suite = &suites[i];
        if (strcmp(name, "all") != 0 && strcmp(name, suite->name) != 0)
            continue;
        found = true;
        for (const char *const *features = suite->features; *features; features++)
            for (const size_t *batch = suite->batches; *batch > 0; batch++) {
                char shape[64];
                snprintf(shape, sizeof shape, "%zux%s", *batch, *features);
                if (!callback(user, shape, suite->cold))
                    return false;
            }
        for (const char *const *text = suite->shapes; *text; text++)
            if (!callback(user, *text, suite->cold))
                return false;
    }
    return found;
}
