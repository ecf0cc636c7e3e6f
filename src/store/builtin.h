/* The tuning records that are part of the library: the files of src/store/builtin, embedded by the build (embed.py). */
#ifndef STORE_BUILTIN_H
#define STORE_BUILTIN_H

#include <stddef.h>

struct builtin_tuning {
    const char *name; /* of the file */
    const char *text;
};

extern const struct builtin_tuning builtin_tuning[];
extern const size_t builtin_tuning_count;

#endif
