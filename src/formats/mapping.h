/* A file's bytes in memory: mapped read-only where possible, read otherwise. */
#ifndef FORMATS_MAPPING_H
#define FORMATS_MAPPING_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>

struct mapping {
    const unsigned char *data; /* never NULL after success, even when size is 0 */
    size_t size;
    void *owned; /* what mapping_close gives back: the mapped or allocated bytes; NULL for borrowed memory */
    bool mapped;
};

/* Regular files are mapped; what cannot be (a pipe, some special file systems) is read to its end. The caller's promise
 * is that nobody shortens a mapped file while it is in use: touching the lost part would raise SIGBUS. */
clayer_status mapping_open(const char *path, struct mapping *mapping);

/* Somebody else's bytes, which must outlive the mapping. */
void mapping_borrow(const void *data, size_t size, struct mapping *mapping);

/* Lets the system take back the pages that were touched, so that a pass over a large file does not count as memory of
 * this process; they come back by themselves when touched again. */
void mapping_release_pages(const struct mapping *mapping);

void mapping_close(struct mapping *mapping);

#endif
