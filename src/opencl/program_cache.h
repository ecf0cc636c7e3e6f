/* Compiled programs kept between processes (base/cache.h): one per source, options, device, driver and clayer version.
 */
#ifndef OPENCL_PROGRAM_CACHE_H
#define OPENCL_PROGRAM_CACHE_H

#include "opencl/context.h"

/* Everything that decides what the compiler makes, as one text that also stands inside the entry. */
struct program_key {
    char *text; /* NULL: this program is not cached */
    size_t length;
};

/* name is the source's, text the whole of it. Without memory, and for simulators, whose checks are compiled in by the
 * environment, there is no key. */
void program_key_make(struct opencl_context *context, const char *name, const char *text, const char *options,
                      struct program_key *key);
void program_key_free(struct program_key *key);

/* A program from the cache, built for the context's device. False is a miss; so is a binary that the driver refuses. */
bool program_cache_find(struct opencl_context *context, const struct program_key *key, const char *name,
                        const char *options, cl_program *program);

/* Keeps a program that was just built from source. */
void program_cache_keep(struct opencl_context *context, const struct program_key *key, const char *name,
                        const char *options, cl_program program);

#endif
