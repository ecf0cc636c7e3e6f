#include "formats/source.h"

#include "base/error.h"
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_BUFFER = 256 * 1024 }; /* large enough that a read's fixed cost vanishes, small beside a batch */

static clayer_status take_fd(int fd, const struct stat *info, struct source *source)
{
    source->fd = fd;
    source->buffer = malloc(SOURCE_BUFFER);
    if (!source->buffer)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to read %s", source->name);
    source->capacity = SOURCE_BUFFER;
    source->at = source->end = source->buffer;

    off_t here = S_ISREG(info->st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (here >= 0) {
        source->seekable = true;
        source->begin = (uint64_t)here;
        source->size = info->st_size > here ? (uint64_t)(info->st_size - here) : 0;
        posix_fadvise(fd, here, 0, POSIX_FADV_SEQUENTIAL);
    }
    return CLAYER_OK;
}

clayer_status source_open(const char *path, struct source *source)
{
    bool standard = strcmp(path, "-") == 0;
    struct source opened = {.fd = -1, .owned = !standard, .name = strdup(standard ? "standard input" : path)};
    if (!opened.name)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", path);
    struct stat info;
    int fd = STDIN_FILENO;
    clayer_status status = CLAYER_OK;
    if (!standard)
        TRY_GOTO(file_open_read(path, &fd, &info));
    else if (fstat(fd, &info) != 0)
        FAIL_GOTO(CLAYER_ERROR_IO, "cannot read standard input: %s", strerror(errno));
    else if (S_ISDIR(info.st_mode))
        FAIL_GOTO(CLAYER_ERROR_IO, "standard input is a directory");
    TRY_GOTO(take_fd(fd, &info, &opened));
    *source = opened;
    return CLAYER_OK;
fail:
    source_close(&opened);
    return status;
}

clayer_status source_from_memory(const void *data, size_t size, const char *name, struct source *source)
{
    struct source opened = {.fd = -1, .seekable = true, .size = size, .ended = true, .name = strdup(name)};
    if (!opened.name)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    opened.memory = opened.at = data ? data : (const void *)"";
    opened.end = opened.at + size;
    *source = opened;
    return CLAYER_OK;
}

void source_close(struct source *source)
{
    if (source->owned && source->fd >= 0)
        close(source->fd);
    free(source->buffer);
    free(source->name);
    *source = (struct source){.fd = -1};
}

/* One read; 0 bytes set `ended`. */
static clayer_status read_some(struct source *source, void *destination, size_t size, size_t *got)
{
    *got = 0;
    if (source->ended || size == 0)
        return CLAYER_OK;
    for (;;) {
        ssize_t result = read(source->fd, destination, size);
        if (result < 0 && errno == EINTR) {
            if (source->cancelled && source->cancelled(source->user))
                return FAIL(CLAYER_ERROR_CANCELLED, "%s: reading was cancelled", source->name);
            continue;
        }
        if (result < 0)
            return FAIL(CLAYER_ERROR_IO, "cannot read %s: %s", source->name, strerror(errno));
        source->ended = result == 0;
        *got = (size_t)result;
        return CLAYER_OK;
    }
}

void source_refill(struct source *source)
{
    assert(source->at == source->end);
    size_t got = 0;
    if (source->buffer) {
        source->status = read_some(source, source->buffer, source->capacity, &got);
        source->at = source->buffer;
        source->end = source->buffer + got;
    }
}

clayer_status source_peek(struct source *source, size_t wanted, size_t *have)
{
    size_t held = (size_t)(source->end - source->at);
    if (held < wanted && source->buffer && !source->ended) {
        memmove(source->buffer, source->at, held);
        if (source->capacity < wanted) {
            unsigned char *larger = realloc(source->buffer, wanted);
            source->at = source->buffer = larger ? larger : source->buffer;
            source->end = source->at + held;
            if (!larger)
                return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to read %s: %zu bytes", source->name, wanted);
            source->capacity = wanted;
        }
        source->at = source->buffer;
        source->end = source->buffer + held;
        while (held < wanted && !source->ended) {
            size_t got;
            TRY(read_some(source, source->buffer + held, source->capacity - held, &got));
            held += got;
            source->end += got;
        }
    }
    *have = held < wanted ? held : wanted;
    return CLAYER_OK;
}

clayer_status source_read(struct source *source, void *destination, size_t size, size_t *got)
{
    unsigned char *to = destination;
    size_t held = (size_t)(source->end - source->at), done = held < size ? held : size;
    if (done > 0)
        memcpy(to, source->at, done);
    source->at += done;
    while (done < size && !source->ended) {
        size_t some;
        TRY(read_some(source, to + done, size - done, &some));
        done += some;
    }
    *got = done;
    return CLAYER_OK;
}

clayer_status source_skip(struct source *source, uint64_t size, uint64_t *skipped)
{
    for (*skipped = 0; *skipped < size;) {
        if (source->at == source->end) {
            source_refill(source);
            TRY(source->status);
            if (source->at == source->end)
                break;
        }
        uint64_t held = (uint64_t)(source->end - source->at), step = size - *skipped;
        step = step < held ? step : held;
        source->at += step;
        *skipped += step;
    }
    return CLAYER_OK;
}

clayer_status source_seek(struct source *source, uint64_t offset)
{
    assert(source->seekable && offset <= source->size);
    if (source->memory) {
        source->end = source->memory + source->size;
        source->at = source->memory + offset;
        return CLAYER_OK;
    }
    if (lseek(source->fd, (off_t)(source->begin + offset), SEEK_SET) < 0)
        return FAIL(CLAYER_ERROR_IO, "cannot seek in %s: %s", source->name, strerror(errno));
    source->at = source->end = source->buffer;
    source->ended = false;
    return CLAYER_OK;
}

clayer_status source_tell(const struct source *source, uint64_t *offset)
{
    assert(source->seekable);
    if (source->memory) {
        *offset = (uint64_t)(source->at - source->memory);
        return CLAYER_OK;
    }
    off_t here = lseek(source->fd, 0, SEEK_CUR);
    if (here < 0)
        return FAIL(CLAYER_ERROR_IO, "cannot seek in %s: %s", source->name, strerror(errno));
    *offset = (uint64_t)here - source->begin - (uint64_t)(source->end - source->at);
    return CLAYER_OK;
}

clayer_status source_read_at(const struct source *source, uint64_t offset, void *destination, size_t size)
{
    assert(source->seekable && offset <= source->size && size <= source->size - offset);
    if (source->memory) {
        memcpy(destination, source->memory + offset, size);
        return CLAYER_OK;
    }
    unsigned char *to = destination;
    while (size > 0) {
        ssize_t got = pread(source->fd, to, size, (off_t)(source->begin + offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return FAIL(CLAYER_ERROR_IO, "cannot read %s: %s", source->name,
                        got < 0 ? strerror(errno) : "it has become shorter");
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return CLAYER_OK;
}
