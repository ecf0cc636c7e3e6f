/* What stands behind clayer_buffer. */
#ifndef BUFFER_H
#define BUFFER_H

#include "context.h"

#include <clayer/buffer.h>

struct clayer_buffer {
    clayer_context *context;
    size_t count;              /* elements */
    struct opencl_buffer area; /* on the host device only area.host */
};

/* Float32 memory for the calling thread, aligned to OPENCL_ALIGNMENT; at least one byte. free() frees it. */
clayer_status host_floats(size_t count, float **memory);

#endif
