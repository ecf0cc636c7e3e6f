/* Any bytes as a model file: opened, every tensor read, names and metadata looked up. */
#include <clayer/safetensors.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clayer_safetensors *file = NULL;
    if (clayer_safetensors_open_memory(data, size, "fuzz", &file) != CLAYER_OK)
        return 0;
    clayer_safetensors_metadata_get(file, "format");
    for (size_t i = 0; i < clayer_safetensors_count(file); i++) {
        const clayer_safetensors_tensor *tensor = clayer_safetensors_at(file, i);
        size_t element = clayer_dtype_size(tensor->dtype), count = tensor->size / element, product = 1;
        for (size_t d = 0; d < tensor->ndim; d++)
            product *= tensor->shape[d];
        if (clayer_safetensors_find(file, tensor->name) != tensor || product != count || count * element > size)
            abort();
        float *values = malloc((count + 1) * sizeof *values);
        if (clayer_safetensors_read_f32(file, tensor, values, count) == CLAYER_OK && tensor->dtype > CLAYER_DTYPE_F64)
            abort();
        free(values);
    }
    clayer_safetensors_destroy(&file);
    return 0;
}
