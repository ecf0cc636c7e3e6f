/* A contender: one way to compute the layer, in a process of its own. */
#ifndef TOOLS_BENCH_PEER_H
#define TOOLS_BENCH_PEER_H

#include "bench/problem.h"

/* What the child's command line said. */
struct setup {
    const char *peer;
    const char *device;     /* clayer: a selector */
    const char *platform;   /* OpenCL: the platform's name */
    const char *tuned;      /* CLBlast: the file or folder of its tuners' results, or NULL */
    size_t platform_device; /* OpenCL: the device's place within its platform */
    size_t cache_bytes;     /* the last-level cache */
    double sample_seconds;  /* how long one sample of one figure should take */
};

/* What a peer says about itself once a problem is prepared. */
struct peer_info {
    char plan[256];       /* how it computes, for people */
    double build_seconds; /* building the layer a second time, programs cached; 0: not told */
    double extra_bytes;   /* device memory beyond W and bias; NAN: not told */
    bool call_only;       /* this problem can be run by `call` alone */
};

/* Every function returns false after peer_error. A peer has one problem at a time. */
struct peer {
    const char *name;
    bool (*open)(const struct setup *setup);
    bool (*prepare)(const struct problem *problem, struct peer_info *info);
    bool (*poison)(size_t copy);  /* fills that copy's y with NaN, or what else no result is */
    bool (*call)(size_t copy);    /* one whole call, complete on return */
    bool (*enqueue)(size_t copy); /* NULL where nothing can be left in flight */
    bool (*wait)(void);           /* for all that was enqueued */
    bool (*host_call)(size_t copy, const float *x, float *y); /* a call on host memory, NULL where `call` is that */
    bool (*read)(size_t copy, float *y);
    bool (*describe)(struct peer_info *info); /* after the first calls; NULL: prepare said everything */
    void (*release)(void);
};

extern const struct peer peer_clayer;  /* clayer */
extern const struct peer peer_clblast; /* CLBlast's SGEMM, then an epilogue kernel */

/* Keeps the reason and returns false. */
bool peer_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *peer_last_error(void);

/* Serves the parent over stdin and stdout until it closes them: the main function of every peer's program. setup has
 * been read from the command line by peer_setup. Returns the exit code. */
int peer_serve(const struct peer *peer, const struct setup *setup);
bool peer_setup(int argc, char **argv, struct setup *setup);

/* The answer channel, for the roofline's process, which serves other requests: stdout as it was before anything that a
 * library prints was turned to stderr. */
int peer_channel(void);

/* Waits until no thread of this process is spinning any more, 0.2 s at most: OpenMP's and others' workers look for
 * work for some milliseconds after a call, which would take a processor from the next peer. */
void peer_settle(void);

#endif
