/* clayer: model files in the safetensors format. */
#ifndef CLAYER_SAFETENSORS_H
#define CLAYER_SAFETENSORS_H

#include <clayer/dtype.h>
#include <clayer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open file: its list of tensors and their bytes, mapped read-only where the system can. Everything is checked when
 * it is opened, every tensor of it, used or not. Nothing changes afterwards, so any number of threads may use one.
 * Nobody may shorten the file while it is open; replacing it by a rename is fine. */
typedef struct clayer_safetensors clayer_safetensors;

/* One tensor, row-major. */
typedef struct clayer_safetensors_tensor {
    const char *name; /* UTF-8, unique in its file */
    clayer_dtype dtype;
    size_t ndim;         /* 0 for a scalar */
    const size_t *shape; /* ndim sizes, outermost first; any may be 0 */
    const void *data;    /* size bytes, little-endian, at any alignment */
    size_t size;         /* bytes: the product of shape times clayer_dtype_size(dtype) */
} clayer_safetensors_tensor;

/* One entry of the file's __metadata__. */
typedef struct clayer_safetensors_metadata {
    const char *key;
    const char *value;
} clayer_safetensors_metadata;

/* Opens a file. IO when it cannot be read; FORMAT when it is no safetensors file or breaks any rule of the format: the
 * header is at most 100,000,000 bytes of JSON without duplicate keys, shapes and offsets are integers, the type is
 * known, begin <= end <= size of the data, product of shape x element size = end - begin, and the tensors cover the
 * data without overlap and without a hole. The error names file, tensor, what was found and what is accepted.
 * The caller owns *file and hands it to clayer_safetensors_destroy. */
CLAYER_API clayer_status clayer_safetensors_open(const char *path, clayer_safetensors **file);

/* The same from memory, which stays the caller's, is not copied, and must outlive *file. name stands for the path in
 * error texts and is copied. */
CLAYER_API clayer_status clayer_safetensors_open_memory(const void *data, size_t size, const char *name,
                                                        clayer_safetensors **file);

/* Closes the file and everything it handed out, and sets *file to NULL. Accepts NULL and a pointer to NULL. */
CLAYER_API void clayer_safetensors_destroy(clayer_safetensors **file);

/* How many tensors there are, and the one at an index below that, in the order of the header. The tensor belongs to the
 * file. NULL for an index that is not there. */
CLAYER_API size_t clayer_safetensors_count(const clayer_safetensors *file);
CLAYER_API const clayer_safetensors_tensor *clayer_safetensors_at(const clayer_safetensors *file, size_t index);

/* The tensor of that name, or NULL. */
CLAYER_API const clayer_safetensors_tensor *clayer_safetensors_find(const clayer_safetensors *file, const char *name);

/* The value of a key in __metadata__, or NULL. The text belongs to the file. */
CLAYER_API const char *clayer_safetensors_metadata_get(const clayer_safetensors *file, const char *key);

/* Writes the tensor's elements to destination as float32. F32, F16 and BF16 are exact (subnormals, infinities and NaN
 * included), F64 is rounded to nearest; any other type is UNSUPPORTED and named. count is what destination holds and
 * must be the number of elements (MISMATCH otherwise). */
CLAYER_API clayer_status clayer_safetensors_read_f32(const clayer_safetensors *file,
                                                     const clayer_safetensors_tensor *tensor, float *destination,
                                                     size_t count);

/* Writes a file with these tensors, in this order, and metadata (NULL when metadata_count is 0). The file appears at
 * path whole or not at all. INVALID_ARGUMENT when names repeat, are not UTF-8, or a size is not product x element
 * size; IO names the path. */
CLAYER_API clayer_status clayer_safetensors_write(const char *path, const clayer_safetensors_tensor *tensors,
                                                  size_t tensor_count, const clayer_safetensors_metadata *metadata,
                                                  size_t metadata_count);

#ifdef __cplusplus
}
#endif
#endif
