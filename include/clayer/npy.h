/* clayer: arrays in NumPy's .npy files, read as a whole. For inputs of any size, row by row, see clayer/rows.h. */
#ifndef CLAYER_NPY_H
#define CLAYER_NPY_H

#include <clayer/dtype.h>
#include <clayer/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open array of one or two dimensions, mapped read-only where the system can. An array of shape (n,) is n rows of
 * one column. Either byte order, C and Fortran order; the rows are the same
 * whichever way they lie in the file. Nothing changes after opening, so any number of threads may use one. Nobody may
 * shorten the file while it is open. */
typedef struct clayer_npy clayer_npy;

/* Opens a file of format 1.0, 2.0 or 3.0 with elements of type f2, f4, f8, i1 to i8, u1 to u8 or bool. IO when it
 * cannot be read; FORMAT when it is damaged (longer or shorter than its shape needs included) or something else (.npz,
 * a web page); UNSUPPORTED, with a hint, for object, structured, complex and text arrays; MISMATCH for no
 * dimension and for three or more. The caller owns *npy and hands it to clayer_npy_destroy. */
CLAYER_API clayer_status clayer_npy_open(const char *path, clayer_npy **npy);

/* The same from memory, which stays the caller's, is not copied, and must outlive *npy. name stands for the path in
 * error texts and is copied. */
CLAYER_API clayer_status clayer_npy_open_memory(const void *data, size_t size, const char *name, clayer_npy **npy);

/* Closes the array and sets *npy to NULL. Accepts NULL and a pointer to NULL. */
CLAYER_API void clayer_npy_destroy(clayer_npy **npy);

/* Number of rows, of columns, and of dimensions in the file (1 or 2); element type. */
CLAYER_API size_t clayer_npy_rows(const clayer_npy *npy);
CLAYER_API size_t clayer_npy_columns(const clayer_npy *npy);
CLAYER_API size_t clayer_npy_ndim(const clayer_npy *npy);
CLAYER_API clayer_dtype clayer_npy_dtype(const clayer_npy *npy);

/* The elements themselves where they lie in the file as they are needed: float32 of this host's byte order, row after
 * row, aligned. NULL otherwise: read them. The memory belongs to the array. */
CLAYER_API const float *clayer_npy_f32(const clayer_npy *npy);

/* Reads rows [first, first + count) as float32, count x columns values, row after row. Types are widened exactly where
 * float32 holds them; F64 and wide integers are rounded to nearest. INVALID_ARGUMENT for rows that are not there. */
CLAYER_API clayer_status clayer_npy_read_f32(const clayer_npy *npy, size_t first, size_t count, float *destination);

/* The same as integers, for labels. FORMAT names the row that holds no integer of 64 bits. */
CLAYER_API clayer_status clayer_npy_read_i64(const clayer_npy *npy, size_t first, size_t count, int64_t *destination);

#ifdef __cplusplus
}
#endif
#endif
