/* Device memory, and the host's view of it where both are the same memory. */
#ifndef OPENCL_BUFFER_H
#define OPENCL_BUFFER_H

#include "opencl/context.h"

/* What clayer's own host allocations for a device are aligned to; a multiple of every base alignment seen. */
#define OPENCL_ALIGNMENT 4096

struct opencl_buffer {
    cl_mem memory;
    void *host; /* the same memory for the host, or NULL; see opencl_context.shared_memory */
    size_t bytes;
};

/* Allocates at least one byte, so that empty shapes have a buffer too. TOO_LARGE with both sizes when bytes exceeds the
 * device's largest allocation. */
clayer_status opencl_buffer_create(struct opencl_context *context, size_t bytes, struct opencl_buffer *buffer);
/* Frees it; waits first if something is pending that may use shared memory. Safe on a zeroed struct. */
void opencl_buffer_destroy(struct opencl_context *context, struct opencl_buffer *buffer);

/* Blocking copies between host memory and a buffer, ordered after everything enqueued before: `rows` rows of row_bytes
 * each, `pitch` bytes apart on the host and tightly packed in the buffer from byte `offset` on. Bytes between the rows
 * are neither read nor written. */
clayer_status opencl_buffer_write(struct opencl_context *context, struct opencl_buffer *buffer, size_t offset,
                                  const void *source, size_t pitch, size_t row_bytes, size_t rows);
clayer_status opencl_buffer_read(struct opencl_context *context, const struct opencl_buffer *buffer, size_t offset,
                                 void *target, size_t pitch, size_t row_bytes, size_t rows);

#endif
