/* Any bytes as an entry of the program cache: a miss, or exactly what was put there; and pruning gets rid of it. */
#include "base/cache.h"
#include "base/cache_folder.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/clayer-fuzz-cache-XXXXXX";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char key[] = "key";
    struct cache_key named;
    char path[200];
    if (!getenv("CLAYER_CACHE") && (!mkdtemp(folder) || setenv("CLAYER_CACHE", folder, 1) != 0))
        abort();
    cache_key_make(key, sizeof key, &named);
    snprintf(path, sizeof path, "%s/%s", getenv("CLAYER_CACHE"), named.name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
    void *value = NULL;
    size_t length = 0;
    if (cache_find(key, sizeof key, &value, &length)) {
        /* The checksum was right, so these are the bytes behind header and key. */
        if (length + sizeof key > size || memcmp(value, data + size - length, length) != 0)
            abort();
        free(value);
    }
    size_t removed;
    uint64_t bytes;
    if (cache_prune(0, &removed, &bytes) != CLAYER_OK || removed != 1)
        abort();
    return 0;
}
