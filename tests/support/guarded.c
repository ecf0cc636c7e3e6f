#include "support/guarded.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t data_bytes(size_t count, size_t page)
{
    return (count * sizeof(float) + page - 1) / page * page;
}

float *guarded_floats(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = data_bytes(count, page);
    char *start = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(start != MAP_FAILED);
    cr_assert_eq(mprotect(start + bytes, page, PROT_NONE), 0);
    return (float *)(start + bytes) - count;
}

void guarded_free(float *floats, size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = data_bytes(count, page);
    munmap((char *)(floats + count) - bytes, bytes + page);
}
