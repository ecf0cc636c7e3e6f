#include "formats/mapping.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static clayer_status read_all(int fd, const char *path, struct mapping *mapping)
{
    size_t capacity = 1 << 16, size = 0;
    unsigned char *bytes = malloc(capacity);
    while (bytes) {
        ssize_t got = read(fd, bytes + size, capacity - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(bytes);
            return FAIL(CLAYER_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        }
        if (got == 0) {
            *mapping = (struct mapping){.data = bytes, .size = size, .owned = bytes};
            return CLAYER_OK;
        }
        size += (size_t)got;
        if (size == capacity) {
            unsigned char *larger = capacity <= SIZE_MAX / 2 ? realloc(bytes, capacity * 2) : NULL;
            if (!larger)
                free(bytes);
            bytes = larger;
            capacity *= 2;
        }
    }
    return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory to read %s: %zu bytes so far", path, size);
}

clayer_status mapping_open(const char *path, struct mapping *mapping)
{
    int fd;
    struct stat info;
    TRY(file_open_read(path, &fd, &info));

    clayer_status status = CLAYER_OK;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) {
        status = FAIL(CLAYER_ERROR_IO, "%s is a device, not a file or a pipe", path);
    } else {
        void *bytes = MAP_FAILED;
        if (S_ISREG(info.st_mode) && info.st_size > 0 && (uintmax_t)info.st_size <= SIZE_MAX)
            bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            *mapping = (struct mapping){bytes, (size_t)info.st_size, bytes, true};
        else
            status = read_all(fd, path, mapping);
    }
    close(fd);
    return status;
}

void mapping_borrow(const void *data, size_t size, struct mapping *mapping)
{
    *mapping = (struct mapping){.data = data ? data : (const void *)"", .size = size};
}

void mapping_release_pages(const struct mapping *mapping)
{
    if (mapping->mapped)
        madvise(mapping->owned, mapping->size, MADV_DONTNEED);
}

void mapping_close(struct mapping *mapping)
{
    if (mapping->mapped)
        munmap(mapping->owned, mapping->size);
    else
        free(mapping->owned);
    *mapping = (struct mapping){0};
}
