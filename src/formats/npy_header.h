/* The header of a .npy file: what the bytes after it mean. */
#ifndef FORMATS_NPY_HEADER_H
#define FORMATS_NPY_HEADER_H

#include <clayer/dtype.h>
#include <clayer/status.h>
#include <stdbool.h>

enum {
    NPY_PREFIX_BYTES = 12,         /* magic, version and length, in the longer of the two forms */
    NPY_HEADER_LIMIT = 1024 * 1024 /* far above any array of numbers; only structured types have long headers */
};

struct npy_header {
    clayer_dtype dtype;
    bool swapped;      /* elements are in the byte order that this host does not use */
    bool column_major; /* Fortran order, and it makes a difference: at least two rows and two columns */
    size_t ndim;       /* 1 or 2 */
    size_t rows, columns;
    size_t row_bytes, data_bytes; /* columns x element size; rows x that */
    size_t data_offset;           /* from the beginning of the file */
};

bool npy_has_magic(const unsigned char *data, size_t size);

/* How many bytes from the beginning of the file the header takes, told from its first NPY_PREFIX_BYTES (or fewer, at
 * the end of a short file). */
clayer_status npy_header_size(const unsigned char *data, size_t size, const char *name, size_t *header_size);

/* Parses a header that lies in memory whole. name is the file's, for error texts. */
clayer_status npy_header_parse(const unsigned char *data, size_t size, const char *name, struct npy_header *header);

#endif
