#include "buffer.h"
#include "base/checked.h"
#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

clayer_status host_floats(size_t count, float **memory)
{
    size_t bytes;
    if (!size_mul(count, sizeof(float), &bytes) || !size_round_up(bytes ? bytes : 1, OPENCL_ALIGNMENT, &bytes))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%zu float32 elements overflow", count);
    float *fresh = aligned_alloc(OPENCL_ALIGNMENT, bytes);
    if (!fresh)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "%zu bytes of host memory", bytes);
    *memory = fresh;
    return CLAYER_OK;
}

clayer_status clayer_buffer_create(clayer_context *context, size_t count, clayer_buffer **buffer)
{
    REQUIRE(context != NULL && buffer != NULL);
    if (count > SIZE_MAX / sizeof(float))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "a buffer of %zu float32 elements overflows", count);
    clayer_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a buffer");
    float *memory = NULL;
    const clayer_status status = context->opencl
                                     ? opencl_buffer_create(context->opencl, count * sizeof(float), &b->area)
                                     : host_floats(count, &memory);
    if (status != CLAYER_OK) {
        free(b);
        return status;
    }
    if (!context->opencl)
        b->area.host = memory;
    b->count = count;
    b->context = context_retain(context);
    *buffer = b;
    return CLAYER_OK;
}

void clayer_buffer_destroy(clayer_buffer **buffer)
{
    if (!buffer || !*buffer)
        return;
    clayer_buffer *b = *buffer;
    *buffer = NULL;
    if (b->context->opencl)
        opencl_buffer_destroy(b->context->opencl, &b->area);
    else
        free(b->area.host);
    context_release(b->context);
    free(b);
}

size_t clayer_buffer_count(const clayer_buffer *buffer)
{
    return buffer ? buffer->count : 0;
}

static clayer_status check_range(const clayer_buffer *buffer, size_t offset, size_t count)
{
    if (offset > buffer->count || count > buffer->count - offset)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "elements %zu to %zu + %zu of a buffer that has %zu", offset, offset,
                    count, buffer->count);
    return CLAYER_OK;
}

clayer_status clayer_buffer_write(clayer_buffer *buffer, size_t offset, const float *source, size_t count)
{
    REQUIRE(buffer != NULL && (source != NULL || count == 0));
    TRY(check_range(buffer, offset, count));
    const size_t bytes = count * sizeof(float);
    if (buffer->context->opencl)
        return opencl_buffer_write(buffer->context->opencl, &buffer->area, offset * sizeof(float), source, bytes, bytes,
                                   1);
    if (bytes)
        memcpy((float *)buffer->area.host + offset, source, bytes);
    return CLAYER_OK;
}

clayer_status clayer_buffer_read(clayer_buffer *buffer, size_t offset, float *target, size_t count)
{
    REQUIRE(buffer != NULL && (target != NULL || count == 0));
    TRY(check_range(buffer, offset, count));
    const size_t bytes = count * sizeof(float);
    if (buffer->context->opencl)
        return opencl_buffer_read(buffer->context->opencl, &buffer->area, offset * sizeof(float), target, bytes, bytes,
                                  1);
    if (bytes)
        memcpy(target, (float *)buffer->area.host + offset, bytes);
    return CLAYER_OK;
}
