/* The roofs of the host device: one thread, the compiler's vector types. */
#include "bench/clock.h"
#include "bench/roofline.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef float vector __attribute__((vector_size(64), aligned(64)));

/* The widest vectors that this processor has. Choosing happens while the program is loaded, before ThreadSanitizer is
 * ready, which would crash. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define WIDEST
#endif

static vector *memory, sink;

WIDEST static void multiply_loop(size_t rounds, float seed)
{
    vector a = {0}, b = {0};
    a += seed;
    b += 1.0f - seed;
    vector c0 = a, c1 = a * 2, c2 = a * 3, c3 = a * 4, c4 = a * 5, c5 = a * 6, c6 = a * 7, c7 = a * 8;
    vector d0 = b, d1 = b * 2, d2 = b * 3, d3 = b * 4;
    for (size_t i = 0; i < rounds; i++) {
        c0 = c0 * b + a, c1 = c1 * b + a, c2 = c2 * b + a, c3 = c3 * b + a;
        c4 = c4 * b + a, c5 = c5 * b + a, c6 = c6 * b + a, c7 = c7 * b + a;
        d0 = d0 * b + a, d1 = d1 * b + a, d2 = d2 * b + a, d3 = d3 * b + a;
    }
    sink += c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + d0 + d1 + d2 + d3;
}

WIDEST static void read_loop(const vector *at, size_t count)
{
    vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (size_t i = 0; i < count; i += 4)
        s0 += at[i], s1 += at[i + 1], s2 += at[i + 2], s3 += at[i + 3];
    sink += s0 + s1 + s2 + s3;
}

static double multiply(size_t rounds, double *flops)
{
    double start = clock_now();
    multiply_loop(rounds, 0.25f);
    *flops = 2.0 * 12 * 16 * (double)rounds;
    return clock_now() - start;
}

static double read_memory(size_t bytes, size_t passes)
{
    double start = clock_now();
    for (size_t pass = 0; pass < passes; pass++)
        read_loop(memory, bytes / sizeof(vector) / 4 * 4);
    return clock_now() - start;
}

int roofline_host(const struct setup *setup)
{
    const size_t most = (size_t)1 << 30;
    size_t wanted = 2 * setup->cache_bytes < most ? 2 * setup->cache_bytes : most;
    wanted = (wanted < (size_t)1 << 20 ? (size_t)1 << 20 : wanted) / sizeof(vector) * sizeof(vector);
    const struct roofs roofs = {.multiply = multiply, .read = read_memory, .most_bytes = wanted};
    FILE *answer = fdopen(peer_channel(), "w");
    memory = aligned_alloc(sizeof(vector), wanted);
    if (!answer)
        return 1;
    for (size_t i = 0; memory && i < wanted / sizeof(float); i++)
        ((float *)memory)[i] = 1;
    if (memory)
        roofs_print(&roofs, setup->cache_bytes, answer);
    else
        fprintf(answer, "error out of memory\n");
    free(memory);
    return fclose(answer) == 0 ? 0 : 1;
}
