#include "formats/safetensors.h"

#include "base/error.h"
#include "formats/convert.h"

#include <stdlib.h>
#include <string.h>

static clayer_status open_bytes(struct clayer_safetensors *opened, const char *name, clayer_safetensors **file)
{
    clayer_status status = CLAYER_OK;
    opened->path = strdup(name);
    if (!opened->path)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    TRY_GOTO(safetensors_parse(opened));
    *file = opened;
    return CLAYER_OK;
fail:
    clayer_safetensors_destroy(&opened);
    return status;
}

clayer_status clayer_safetensors_open(const char *path, clayer_safetensors **file)
{
    REQUIRE(path != NULL);
    REQUIRE(file != NULL);
    struct clayer_safetensors *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", path);
    clayer_status status = mapping_open(path, &opened->bytes);
    if (status != CLAYER_OK) {
        free(opened);
        return status;
    }
    return open_bytes(opened, path, file);
}

clayer_status clayer_safetensors_open_memory(const void *data, size_t size, const char *name, clayer_safetensors **file)
{
    REQUIRE(data != NULL || size == 0);
    REQUIRE(name != NULL);
    REQUIRE(file != NULL);
    struct clayer_safetensors *opened = calloc(1, sizeof *opened);
    if (!opened)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    mapping_borrow(data, size, &opened->bytes);
    return open_bytes(opened, name, file);
}

void clayer_safetensors_destroy(clayer_safetensors **file)
{
    if (!file || !*file)
        return;
    struct clayer_safetensors *closed = *file;
    *file = NULL;
    json_decref(closed->index);
    json_decref(closed->header);
    free(closed->tensors);
    free(closed->shapes);
    mapping_close(&closed->bytes);
    free(closed->path);
    free(closed);
}

/* ---- what callers ask ---- */

size_t clayer_safetensors_count(const clayer_safetensors *file)
{
    return file ? file->count : 0;
}

const clayer_safetensors_tensor *clayer_safetensors_at(const clayer_safetensors *file, size_t index)
{
    return file && index < file->count ? &file->tensors[index] : NULL;
}

const clayer_safetensors_tensor *clayer_safetensors_find(const clayer_safetensors *file, const char *name)
{
    const json_t *position = file && name ? json_object_get(file->index, name) : NULL;
    return position ? &file->tensors[json_integer_value(position)] : NULL;
}

const char *clayer_safetensors_metadata_get(const clayer_safetensors *file, const char *key)
{
    return file && key ? json_string_value(json_object_get(file->metadata, key)) : NULL;
}

clayer_status clayer_safetensors_read_f32(const clayer_safetensors *file, const clayer_safetensors_tensor *tensor,
                                          float *destination, size_t count)
{
    REQUIRE(file != NULL);
    REQUIRE(tensor != NULL);
    REQUIRE(destination != NULL || count == 0);
    if (tensor->dtype != CLAYER_DTYPE_F32 && tensor->dtype != CLAYER_DTYPE_F16 && tensor->dtype != CLAYER_DTYPE_BF16 &&
        tensor->dtype != CLAYER_DTYPE_F64)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "%s: tensor " NAME ": has type %s; F32, F16, BF16 and F64 are accepted",
                    file->path, tensor->name, clayer_dtype_name(tensor->dtype));
    size_t stride = clayer_dtype_size(tensor->dtype);
    if (tensor->size / stride != count)
        return FAIL(CLAYER_ERROR_MISMATCH, "%s: tensor " NAME ": has %zu elements, %zu were asked for", file->path,
                    tensor->name, tensor->size / stride, count);
    elements_to_f32(&(struct elements){tensor->data, stride, count, tensor->dtype, HOST_BIG_ENDIAN}, destination);
    return CLAYER_OK;
}
