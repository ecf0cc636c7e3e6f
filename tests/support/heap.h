/* Counts what this program's own code, clayer's linked in statically included, holds of the heap, and refuses one
 * allocation when told. What shared libraries allocate for themselves (the OpenCL driver, CLBlast, jansson) is not
 * seen. For programs linked with the build's `heap_wrap` arguments. Thread-safe. */
#ifndef SUPPORT_HEAP_H
#define SUPPORT_HEAP_H

#include <stddef.h>

/* Blocks allocated since the program began and not freed, and their bytes as asked for. */
size_t heap_live(void);
size_t heap_live_bytes(void);

/* Allocations asked for so far, refused ones included. */
size_t heap_calls(void);

/* Refuses the n-th allocation from now on (1: the next one), once; 0 refuses none. */
void heap_refuse(size_t n);

/* Whether the refusal has happened since heap_refuse. */
int heap_refused(void);

#endif
