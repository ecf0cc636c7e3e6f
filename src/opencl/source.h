/* The OpenCL C sources that the build embeds (cl/embed.py makes the table). */
#ifndef OPENCL_SOURCE_H
#define OPENCL_SOURCE_H

#include <stddef.h>

struct embedded_source {
    const char *name; /* the file's stem: "panel" for cl/panel.cl */
    const char *text; /* complete: includes are resolved */
};

extern const struct embedded_source embedded_sources[];
extern const size_t embedded_source_count;

#endif
