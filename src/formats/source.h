/* Bytes that come in order: from a file, from a pipe, or from memory. */
#ifndef FORMATS_SOURCE_H
#define FORMATS_SOURCE_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
    char *name;     /* for error texts */
    int fd;         /* -1: memory, or closed */
    bool owned;     /* fd is closed with the source */
    bool seekable;  /* a regular file, or memory: size is known and source_seek works */
    uint64_t size;  /* bytes from the beginning, if seekable */
    uint64_t begin; /* where in the file the source's byte 0 lies: a shell may hand over a file that was read from */

    unsigned char *buffer;
    size_t capacity;
    const unsigned char *memory;   /* the beginning of borrowed memory */
    const unsigned char *at, *end; /* bytes that are read and not yet consumed */
    bool ended;                    /* nothing follows `end` */
    clayer_status status;          /* of the last refill, for source_byte */
    bool (*cancelled)(void *user); /* asked when a signal interrupted a read; may be NULL */
    void *user;
};

/* Opens path, or standard input for "-". */
clayer_status source_open(const char *path, struct source *source);

/* Somebody else's bytes, which must outlive the source. */
clayer_status source_from_memory(const void *data, size_t size, const char *name, struct source *source);

void source_close(struct source *source);

/* Shows the next `wanted` bytes at source->at without consuming them; *have is less only at the end. */
clayer_status source_peek(struct source *source, size_t wanted, size_t *have);

/* Copies the next bytes; *got is less than size only at the end. */
clayer_status source_read(struct source *source, void *destination, size_t size, size_t *got);

/* Consumes bytes unseen; *skipped is less than size only at the end. */
clayer_status source_skip(struct source *source, uint64_t size, uint64_t *skipped);

/* Continues at that byte from the beginning, at most size. Only where seekable. */
clayer_status source_seek(struct source *source, uint64_t offset);

/* The offset of the next byte. Only where seekable. */
clayer_status source_tell(const struct source *source, uint64_t *offset);

/* Copies bytes from anywhere, whatever comes next; all of them must be there. Only where seekable. */
clayer_status source_read_at(const struct source *source, uint64_t offset, void *destination, size_t size);

/* Refills the empty buffer; source->at == source->end afterwards at the end, or after a failure in source->status. */
void source_refill(struct source *source);

/* The next byte, consumed, or -1 at the end and after a failure, which source->status tells apart. */
static inline int source_byte(struct source *source)
{
    if (source->at == source->end)
        source_refill(source);
    return source->at == source->end ? -1 : *source->at++;
}

#endif
