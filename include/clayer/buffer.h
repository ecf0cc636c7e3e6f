/* clayer: memory on a context's device. */
#ifndef CLAYER_BUFFER_H
#define CLAYER_BUFFER_H

#include <clayer/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque: `count` float32 elements on the device. Thread-safe; what two threads do to the same elements at once is
 * ordered by the caller. Keeps its context alive. */
typedef struct clayer_buffer clayer_buffer;

/* Creates a buffer of count elements, uninitialised. count = 0 is legal. Errors: TOO_LARGE (count in bytes overflows or
 * exceeds the device's largest allocation; the detail gives both), OUT_OF_MEMORY. */
CLAYER_API clayer_status clayer_buffer_create(clayer_context *context, size_t count, clayer_buffer **buffer);
CLAYER_API void clayer_buffer_destroy(clayer_buffer **buffer);

/* Its length in elements. 0 for NULL. */
CLAYER_API size_t clayer_buffer_count(const clayer_buffer *buffer);

/* Copies count elements between host memory and the buffer, starting at element `offset` of the buffer. Waits for
 * earlier work on the context and for the copy. Errors: INVALID_ARGUMENT when offset + count exceeds the buffer. */
CLAYER_API clayer_status clayer_buffer_write(clayer_buffer *buffer, size_t offset, const float *source, size_t count);
CLAYER_API clayer_status clayer_buffer_read(clayer_buffer *buffer, size_t offset, float *target, size_t count);

#ifdef __cplusplus
}
#endif
#endif
