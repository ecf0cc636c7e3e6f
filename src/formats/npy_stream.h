/* Rows of a .npy array as they come out of a source. */
#ifndef FORMATS_NPY_STREAM_H
#define FORMATS_NPY_STREAM_H

#include "formats/npy_header.h"
#include "formats/source.h"

struct npy_stream {
    struct source *source; /* not owned */
    struct npy_header header;
    size_t next;            /* the row that comes next */
    unsigned char *scratch; /* rows as they lie in the file, where they need conversion; NULL where not */
    size_t scratch_rows;
};

/* Reads the header. Where the size of the source is known it must be that of the array. An array whose rows do not lie
 * one after the other (header.column_major) is accepted from memory and from seekable files only, and read piece by
 * piece from each column. */
clayer_status npy_stream_open(struct source *source, struct npy_stream *npy);
void npy_stream_close(struct npy_stream *npy);

clayer_status npy_stream_read(struct npy_stream *npy, float *destination, size_t max_rows, size_t *got);
clayer_status npy_stream_read_labels(struct npy_stream *npy, int64_t *destination, size_t max_rows, size_t *got);

/* Passes over rows, at most those that are left. */
clayer_status npy_stream_skip(struct npy_stream *npy, size_t rows);

#endif
