/* clayer: element types of tensors in files. */
#ifndef CLAYER_DTYPE_H
#define CLAYER_DTYPE_H

#include <clayer/export.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Named as safetensors names them. New ones may be added at the end. */
typedef enum clayer_dtype {
    CLAYER_DTYPE_F32 = 0,
    CLAYER_DTYPE_F16 = 1,
    CLAYER_DTYPE_BF16 = 2,
    CLAYER_DTYPE_F64 = 3,
    CLAYER_DTYPE_I8 = 4,
    CLAYER_DTYPE_I16 = 5,
    CLAYER_DTYPE_I32 = 6,
    CLAYER_DTYPE_I64 = 7,
    CLAYER_DTYPE_U8 = 8,
    CLAYER_DTYPE_U16 = 9,
    CLAYER_DTYPE_U32 = 10,
    CLAYER_DTYPE_U64 = 11,
    CLAYER_DTYPE_BOOL = 12, /* one byte, 0 or 1 */
    CLAYER_DTYPE_F8_E4M3 = 13,
    CLAYER_DTYPE_F8_E5M2 = 14,
    CLAYER_DTYPE_F8_E8M0 = 15,
    CLAYER_DTYPE_C64 = 16 /* two F32: real, imaginary */
} clayer_dtype;

/* "F32" and so on; "?" for other values. Never NULL, never freed. Thread-safe. */
CLAYER_API const char *clayer_dtype_name(clayer_dtype dtype);

/* Bytes of one element; 0 for other values. Thread-safe. */
CLAYER_API size_t clayer_dtype_size(clayer_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
