/* Finding an element type by its name. */
#ifndef FORMATS_DTYPE_H
#define FORMATS_DTYPE_H

#include <clayer/dtype.h>
#include <stdbool.h>

/* The type that safetensors calls name; false when there is none. */
bool dtype_find(const char *name, clayer_dtype *dtype);

#endif
