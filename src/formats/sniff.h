/* What a file is when it is not what its name says. */
#ifndef FORMATS_SNIFF_H
#define FORMATS_SNIFF_H

#include <stddef.h>

enum { SNIFF_BYTES = 512 }; /* as much of a file's beginning as sniff_foreign looks at */

/* Looks at the beginning of a file and recognises what people hand over by mistake: a Git LFS pointer, a web page, an
 * archive, another tool's format. A phrase that completes "FILE is ...", with what to do; NULL when unrecognised. */
const char *sniff_foreign(const unsigned char *data, size_t size);

#endif
