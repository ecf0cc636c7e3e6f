/* One tuning record: the best plan measured for one device, layer and batch, with where, when and how. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

/* What decides speed on a device; texts are cleaned and stripped of driver noise. Two devices with equal keys are tuned
 * once. */
struct record_device {
    char platform[64];
    char vendor[64];
    char name[96];
    long compute_units, max_work_group_size, local_memory_bytes; /* -1 unknown */
};

/* What decides speed of a layer. */
struct record_layer {
    size_t in_features, out_features;
    char types[32];    /* "f32,f32,f32,f32": x, W, y, accumulator */
    bool bias;
    bool costly;       /* sigmoid, tanh, gelu, silu ...; false: none, relu, clamp and the like */
    bool aligned;      /* rows of x and y start on whole vectors */
    size_t batch;      /* the exact batch that was measured */
};

struct record {
    struct record_layer layer;
    char family[16];
    char configuration[112]; /* as family_print writes it */
    /* How it was measured, in seconds a call. */
    double seconds, spread; /* median, and the distance of the quartiles */
    double default_seconds; /* the rule of thumb's plan in the same run; 0 unknown */
    double clblast_seconds; /* 0 unknown or not there */
    unsigned candidates;    /* tried for this record */
    char effort[16];        /* "quick", "normal", "exhaustive" */
    char when[24];          /* UTC, "2026-11-30T17:00:00Z" */
    /* Provenance: when it differs from now the record is used and flagged. */
    char driver_version[64];
    char library_version[16];
    char kernel_hash[40];
};

#endif
