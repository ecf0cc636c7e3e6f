/* Repeatable random numbers for tests: the same on every machine. */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint32_t random_next(struct random *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)(r->state >> 32);
}

/* 0 .. below - 1. */
static inline size_t random_below(struct random *r, size_t below)
{
    return (size_t)((uint64_t)random_next(r) * below >> 32);
}

/* -1 to 1, all 24 bits of a float's precision in use. */
static inline float random_uniform(struct random *r)
{
    return (float)(random_next(r) >> 8) * 0x1p-23f - 1.0f;
}

#endif
