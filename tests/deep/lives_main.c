/* lives-main [NAME...]: the lives of support/lives.h, all or those named, once, on the device of index 0, without
 * Criterion: for valgrind. */
#include "support/lives.h"

#include <stdio.h>
#include <string.h>

static bool wanted(const char *name, int count, char **names)
{
    bool found = count == 0;
    for (int i = 0; i < count; i++)
        found |= strcmp(name, names[i]) == 0;
    return found;
}

int main(int argc, char **argv)
{
    int right = 0;
    lives_begin();
    for (size_t i = 0; i < life_count; i++) {
        if (!wanted(lives[i].name, argc - 1, argv + 1))
            continue;
        const clayer_status status = lives[i].run();
        if (status == CLAYER_OK)
            right++;
        else if (!lives[i].clblast) { /* which may be missing */
            printf("%s: %s\n", lives[i].name, status == LIFE_WRONG ? "a wrong result" : clayer_last_error());
            return 1;
        }
    }
    printf("%d lives ran right\n", right);
    return right == 0;
}
