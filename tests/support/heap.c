#include "support/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker sends calls of NAME to __wrap_NAME, and those of __real_NAME to NAME. */
#define WRAPPED(type, name, ...)                                                                                       \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);
WRAPPED(void *, malloc, size_t size)
WRAPPED(void *, calloc, size_t count, size_t size)
WRAPPED(void *, realloc, void *block, size_t size)
WRAPPED(void *, aligned_alloc, size_t alignment, size_t size)
WRAPPED(char *, strdup, const char *text)
WRAPPED(char *, strndup, const char *text, size_t length)
WRAPPED(int, vasprintf, char **text, const char *format, va_list arguments)
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
WRAPPED(void, free, void *block)

/* The live blocks: open addressing, at most half full. A free of an unknown block came from a shared library. */
enum { SLOTS = 1 << 16 };
static struct {
    void *block;
    size_t bytes;
} slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t live, live_bytes, calls, countdown;
static int refused;

static size_t home(const void *block)
{
    return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
}

static void insert(void *block, size_t bytes)
{
    if (live >= SLOTS / 2) {
        fputs("heap.c: too many live blocks\n", stderr);
        abort();
    }
    size_t i = home(block);
    while (slots[i].block)
        i = (i + 1) % SLOTS;
    slots[i].block = block;
    slots[i].bytes = bytes;
    live++;
    live_bytes += bytes;
}

/* The bytes of the removed block; what stood behind it moves up, so that no search ends early. */
static size_t remove_block(const void *block)
{
    size_t i = home(block);
    while (slots[i].block != block) {
        if (!slots[i].block)
            return 0;
        i = (i + 1) % SLOTS;
    }
    const size_t bytes = slots[i].bytes;
    live--;
    live_bytes -= bytes;
    for (size_t j = (i + 1) % SLOTS; slots[j].block; j = (j + 1) % SLOTS) {
        const size_t wanted = home(slots[j].block);
        if ((j - wanted + SLOTS) % SLOTS >= (j - i + SLOTS) % SLOTS) {
            slots[i] = slots[j];
            i = j;
        }
    }
    slots[i].block = NULL;
    return bytes;
}

/* Whether this allocation is to be refused. */
static int refuse_now(void)
{
    pthread_mutex_lock(&lock);
    calls++;
    const int now = countdown && --countdown == 0;
    refused |= now;
    if (now)
        errno = ENOMEM;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *keep(void *block, size_t bytes)
{
    if (block) {
        pthread_mutex_lock(&lock);
        insert(block, bytes);
        pthread_mutex_unlock(&lock);
    }
    return block;
}

void *__wrap_malloc(size_t size)
{
    return refuse_now() ? NULL : keep(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse_now() ? NULL : keep(__real_calloc(count, size), count * size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse_now() ? NULL : keep(__real_aligned_alloc(alignment, size), size);
}

void *__wrap_realloc(void *block, size_t size)
{
    if (refuse_now())
        return NULL;
    /* Under the lock, so that no other thread is given the old address before it is forgotten. */
    pthread_mutex_lock(&lock);
    const size_t bytes = block ? remove_block(block) : 0;
    void *grown = __real_realloc(block, size);
    if (grown || block)
        insert(grown ? grown : block, grown ? size : bytes);
    pthread_mutex_unlock(&lock);
    return grown;
}

char *__wrap_strdup(const char *text)
{
    return refuse_now() ? NULL : keep(__real_strdup(text), strlen(text) + 1);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return refuse_now() ? NULL : keep(__real_strndup(text, length), strnlen(text, length) + 1);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    if (refuse_now())
        return -1; /* *text is undefined then, as after the real one */
    const int length = __real_vasprintf(text, format, arguments);
    if (length >= 0)
        keep(*text, (size_t)length + 1);
    return length;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

void __wrap_free(void *block)
{
    if (block) {
        pthread_mutex_lock(&lock);
        remove_block(block);
        pthread_mutex_unlock(&lock);
    }
    __real_free(block);
}

size_t heap_live(void)
{
    pthread_mutex_lock(&lock);
    const size_t now = live;
    pthread_mutex_unlock(&lock);
    return now;
}

size_t heap_live_bytes(void)
{
    pthread_mutex_lock(&lock);
    const size_t now = live_bytes;
    pthread_mutex_unlock(&lock);
    return now;
}

size_t heap_calls(void)
{
    pthread_mutex_lock(&lock);
    const size_t now = calls;
    pthread_mutex_unlock(&lock);
    return now;
}

void heap_refuse(size_t n)
{
    pthread_mutex_lock(&lock);
    countdown = n;
    refused = 0;
    pthread_mutex_unlock(&lock);
}

int heap_refused(void)
{
    pthread_mutex_lock(&lock);
    const int now = refused;
    pthread_mutex_unlock(&lock);
    return now;
}
