/* One tuning record: the best plan measured for one device, layer and batch, with where, when and how. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <clayer/device.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What decides speed on a device; texts are cleaned and stripped of driver noise. Two devices with equal keys are tuned
 * once. In records for a family of devices a text may hold '*', which stands for any characters, and a number may be
 * RECORD_ANY. */
struct record_device {
    char platform[64];
    char vendor[64];
    char name[96];
    long compute_units, max_work_group_size, local_memory_bytes; /* -1 unknown */
};
#define RECORD_ANY (-2)

/* What decides speed of a layer. */
struct record_layer {
    size_t in_features, out_features;
    char types[32]; /* "f32,f32,f32,f32": x, W, y, accumulator */
    bool bias;
    bool costly;  /* sigmoid, tanh, gelu, silu ...; false: none, relu, clamp and the like */
    bool aligned; /* rows of x and y start on whole vectors */
    size_t batch; /* the exact batch that was measured */
};

struct record {
    struct record_layer layer;
    char family[16];
    char configuration[160]; /* as family_print writes it */
    /* How it was measured, in seconds a call; kept as whole nanoseconds. */
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

/* The key of a device: "(R)", "(TM)" and runs of spaces go, and what a driver adds about itself (versions of LLVM, DRM
 * and the operating system's kernel in parentheses, modes after a colon). */
void record_device_of(const clayer_device_info *info, struct record_device *device);
bool record_device_equal(const struct record_device *a, const struct record_device *b);
/* Whether it means more than one device. */
bool record_device_is_family(const struct record_device *device);
/* Whether a device is one of those that a pattern means; equal keys match too. */
bool record_device_matches(const struct record_device *pattern, const struct record_device *device);

/* Orders by types, epilogue, alignment, in, out, then batch; 0 when they are the same layer and batch. */
int record_layer_compare(const struct record_layer *a, const struct record_layer *b);

/* Fills when, and the provenance as it is now for a plan of record->family on this device. */
void record_stamp(const clayer_device_info *info, struct record *record);
/* A hash of the kernels that a family is compiled from. */
void record_kernel_hash(const char *family, char hash[40]);

/* What is wrong with a value, or NULL. */
const char *record_wrong(const struct record *record);

/* Which of two records of one key is to be kept: whether `fresh` takes the place of `old`. Measured under another
 * driver, library or kernel: the later one. Else the one of greater effort, unless the other is faster by more than
 * both spreads; of equal effort the faster one, and within the spread the later one. */
bool record_replaces(const struct record *fresh, const struct record *old);

/* Guards against damage on disk: a hash of all that stands in the record and of the device's key. */
uint64_t record_check(const struct record_device *device, const struct record *record);

#endif
