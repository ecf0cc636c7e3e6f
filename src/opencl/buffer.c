#include "opencl/buffer.h"
#include "base/checked.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

clayer_status opencl_buffer_create(struct opencl_context *c, size_t bytes, struct opencl_buffer *buffer)
{
    struct opencl_buffer fresh = {.bytes = bytes};
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    const size_t largest = opencl_limit(c->info.max_allocation_bytes, SIZE_MAX);
    if (bytes > largest)
        return FAIL(CLAYER_ERROR_TOO_LARGE, "a buffer of %zu bytes: device %s allocates at most %zu at once", bytes,
                    c->info.name, largest);
    size_t padded;
    if (!size_round_up(bytes ? bytes : 1, OPENCL_ALIGNMENT, &padded))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "a buffer of %zu bytes overflows", bytes);
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (c->shared_memory) {
        fresh.host = aligned_alloc(OPENCL_ALIGNMENT, padded);
        if (!fresh.host)
            return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "a buffer of %zu bytes", bytes);
        flags |= CL_MEM_USE_HOST_PTR;
    }
    cl_int code;
    fresh.memory = c->api->clCreateBuffer(c->context, flags, bytes ? bytes : 1, fresh.host, &code);
    if (code != CL_SUCCESS || !fresh.memory) {
        free(fresh.host);
        return CL_FAIL(code, "clCreateBuffer", "%zu bytes", bytes);
    }
    *buffer = fresh;
    return CLAYER_OK;
}

void opencl_buffer_destroy(struct opencl_context *c, struct opencl_buffer *buffer)
{
    if (buffer->memory && !opencl_forked()) {
        /* Work in flight may still use memory that the host is about to free. */
        if (buffer->host && opencl_pending(c))
            opencl_finish(c);
        c->api->clReleaseMemObject(buffer->memory);
    }
    free(buffer->host);
    memset(buffer, 0, sizeof *buffer);
}

/* Waits for pending work, after which the host may touch shared memory. */
static clayer_status settle(struct opencl_context *c)
{
    if (opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "this process was forked after OpenCL had started");
    return opencl_pending(c) ? opencl_finish(c) : CLAYER_OK;
}

static void copy_rows(char *target, size_t target_pitch, const char *source, size_t source_pitch, size_t row_bytes,
                      size_t rows)
{
    if (target_pitch == row_bytes && source_pitch == row_bytes) {
        memcpy(target, source, row_bytes * rows);
        return;
    }
    for (size_t r = 0; r < rows; r++)
        memcpy(target + r * target_pitch, source + r * source_pitch, row_bytes);
}

clayer_status opencl_buffer_write(struct opencl_context *c, struct opencl_buffer *buffer, size_t offset,
                                  const void *source, size_t pitch, size_t row_bytes, size_t rows)
{
    if (rows == 0 || row_bytes == 0)
        return CLAYER_OK;
    TRY(settle(c));
    if (buffer->host) {
        copy_rows((char *)buffer->host + offset, row_bytes, source, pitch, row_bytes, rows);
        return CLAYER_OK;
    }
    if (pitch == row_bytes || rows == 1) {
        CL_TRY(c->api->clEnqueueWriteBuffer(c->queue, buffer->memory, CL_TRUE, offset, row_bytes * rows, source, 0,
                                            NULL, NULL));
        return CLAYER_OK;
    }
    const size_t buffer_origin[3] = {offset, 0, 0}, host_origin[3] = {0, 0, 0}, region[3] = {row_bytes, rows, 1};
    CL_TRY(c->api->clEnqueueWriteBufferRect(c->queue, buffer->memory, CL_TRUE, buffer_origin, host_origin, region,
                                            row_bytes, 0, pitch, 0, source, 0, NULL, NULL));
    return CLAYER_OK;
}

clayer_status opencl_buffer_read(struct opencl_context *c, const struct opencl_buffer *buffer, size_t offset,
                                 void *target, size_t pitch, size_t row_bytes, size_t rows)
{
    if (rows == 0 || row_bytes == 0)
        return CLAYER_OK;
    if (buffer->host) {
        TRY(settle(c));
        copy_rows(target, pitch, (const char *)buffer->host + offset, row_bytes, row_bytes, rows);
        return CLAYER_OK;
    }
    /* A blocking read on an in-order queue waits for everything before it. */
    if (c->out_of_order)
        TRY(settle(c));
    if (pitch == row_bytes || rows == 1) {
        CL_TRY(c->api->clEnqueueReadBuffer(c->queue, buffer->memory, CL_TRUE, offset, row_bytes * rows, target, 0, NULL,
                                           NULL));
    } else {
        const size_t buffer_origin[3] = {offset, 0, 0}, host_origin[3] = {0, 0, 0}, region[3] = {row_bytes, rows, 1};
        CL_TRY(c->api->clEnqueueReadBufferRect(c->queue, buffer->memory, CL_TRUE, buffer_origin, host_origin, region,
                                               row_bytes, 0, pitch, 0, target, 0, NULL, NULL));
    }
    return CLAYER_OK;
}
