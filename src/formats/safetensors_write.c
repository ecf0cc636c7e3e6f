#include <clayer/safetensors.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Where a tensor's bytes end; refuses one whose size is not what its shape and type need. */
static clayer_status tensor_end(const clayer_safetensors_tensor *tensor, size_t begin, size_t *end)
{
    size_t bytes = clayer_dtype_size(tensor->dtype);
    if (bytes == 0)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "tensor '%.200s': has no known type", tensor->name);
    for (size_t i = 0; i < tensor->ndim; i++)
        if (!size_mul(bytes, tensor->shape[i], &bytes))
            return FAIL(CLAYER_ERROR_TOO_LARGE, "tensor '%.200s': the product of its shape overflows", tensor->name);
    if (bytes != tensor->size)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "tensor '%.200s': its shape of %s needs %zu bytes, it has %zu",
                    tensor->name, clayer_dtype_name(tensor->dtype), bytes, tensor->size);
    if (!size_add(begin, bytes, end))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "tensor '%.200s': the file's size overflows", tensor->name);
    return CLAYER_OK;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [begin, end]} or NULL. */
static json_t *describe(const clayer_safetensors_tensor *tensor, size_t begin, size_t end)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < tensor->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i]));
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", clayer_dtype_name(tensor->dtype), "shape", shape,
                              "data_offsets", (json_int_t)begin, (json_int_t)end);
    if (entry && json_array_size(shape) != tensor->ndim) { /* an append ran out of memory */
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* Adds key: value to an object that does not have the key yet. Takes value over. */
static clayer_status add(json_t *object, const char *what, const char *key, json_t *value)
{
    if (key && json_object_get(object, key)) {
        json_decref(value);
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s '%.200s' is given twice", what, key);
    }
    if (!key || !value || json_object_set_new(object, key, value) != 0)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "%s '%.200s': needs a name and text in UTF-8", what,
                    key ? key : "(null)");
    return CLAYER_OK;
}

/* The header as JSON text, which the caller frees. */
static clayer_status header_text(const clayer_safetensors_tensor *tensors, size_t tensor_count,
                                 const clayer_safetensors_metadata *metadata, size_t metadata_count, char **text)
{
    clayer_status status = CLAYER_OK;
    json_t *header = json_object(), *texts = NULL;
    if (!header)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a header of %zu tensors", tensor_count);
    if (metadata_count > 0) {
        texts = json_object();
        for (size_t i = 0; i < metadata_count; i++)
            TRY_GOTO(add(texts, "metadata", metadata[i].key, json_string(metadata[i].value)));
        TRY_GOTO(add(header, "metadata", "__metadata__", json_incref(texts)));
    }
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < tensor_count; i++, begin = end) {
        TRY_GOTO(tensor_end(&tensors[i], begin, &end));
        TRY_GOTO(add(header, "tensor", tensors[i].name, describe(&tensors[i], begin, end)));
    }
    *text = json_dumps(header, JSON_COMPACT);
    if (!*text)
        FAIL_GOTO(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a header of %zu tensors", tensor_count);
fail:
    json_decref(texts);
    json_decref(header);
    return status;
}

static clayer_status write_parts(int fd, const char *path, const char *text, const clayer_safetensors_tensor *tensors,
                                 size_t tensor_count)
{
    /* Spaces pad the header, so that the data begins at a multiple of 8 bytes. */
    size_t length = strlen(text), padded = 0;
    if (!size_round_up(length, 8, &padded))
        return FAIL(CLAYER_ERROR_TOO_LARGE, "%s: the header's length overflows", path);
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)((unsigned long long)padded >> (8 * i));
    TRY(file_write_all(fd, prefix, sizeof prefix, path));
    TRY(file_write_all(fd, text, length, path));
    TRY(file_write_all(fd, "       ", padded - length, path));
    for (size_t i = 0; i < tensor_count; i++)
        TRY(file_write_all(fd, tensors[i].data, tensors[i].size, path));
    return CLAYER_OK;
}

clayer_status clayer_safetensors_write(const char *path, const clayer_safetensors_tensor *tensors, size_t tensor_count,
                                       const clayer_safetensors_metadata *metadata, size_t metadata_count)
{
    REQUIRE(path != NULL);
    REQUIRE(tensors != NULL || tensor_count == 0);
    REQUIRE(metadata != NULL || metadata_count == 0);

    struct staged_file file = {.fd = -1};
    char *text = NULL;
    clayer_status status = CLAYER_OK;
    TRY_GOTO(header_text(tensors, tensor_count, metadata, metadata_count, &text));
    TRY_GOTO(staged_file_open(path, 0666, &file));
    TRY_GOTO(write_parts(file.fd, path, text, tensors, tensor_count));
    TRY_GOTO(staged_file_commit(&file));
fail:
    staged_file_abort(&file);
    free(text);
    return status;
}
