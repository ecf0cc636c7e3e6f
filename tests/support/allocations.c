#include "support/allocations.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long made, live;

long allocations_made(void)
{
    return atomic_load(&made);
}

long allocations_live(void)
{
    return atomic_load(&live);
}

static void *counted(void *block)
{
    atomic_fetch_add(&made, 1);
    if (block)
        atomic_fetch_add(&live, 1);
    return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **text, const char *format, ...);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size)
{
    return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    atomic_fetch_add(&made, 1);
    void *grown = __real_realloc(block, size);
    if (!block && grown)
        atomic_fetch_add(&live, 1);
    return grown;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return counted(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    const int failed = __real_posix_memalign(block, alignment, size);
    counted(failed ? NULL : *block);
    return failed;
}

char *__wrap_strdup(const char *text)
{
    return counted(__real_strdup(text));
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(text, format, arguments);
    va_end(arguments);
    counted(length < 0 ? NULL : *text);
    return length;
}

void __wrap_free(void *block)
{
    if (block)
        atomic_fetch_sub(&live, 1);
    __real_free(block);
}
