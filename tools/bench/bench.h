/* clayer-bench's own process: what it was asked for, what it measured. */
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

#include "bench/problem.h"

#include <clayer/device.h>

enum { MAX_PEERS = 8, MAX_POINTS = 24 };

/* The contenders, in the order of the tables. */
enum peer_id { PEER_CLAYER, PEER_CLBLAST, PEER_ONEDNN, PEER_ONEDNN1, PEER_OPENBLAS, PEER_COUNT };
const char *peer_name(enum peer_id peer);

struct options {
    struct shape *shapes;
    size_t shape_count;
    bool peer[PEER_COUNT];
    bool peers_given; /* by --peers: then a missing one is an error */
    bool no_roofline;
    size_t rounds;
    double time_limit; /* seconds; 0: none */
    double sample_seconds;
    const char *tuned, *json, *report;
    clayer_device_info device;
};

/* What the device can do at most. */
struct roofline {
    bool known;
    char error[512];
    double peak_flops, launch_seconds; /* launch: an empty kernel with a wait; 0 on the host */
    size_t points;                     /* read bandwidth for working sets of growing size, the last one from memory */
    double working_set[MAX_POINTS], bytes_per_second[MAX_POINTS];
};

/* Samples of one figure: seconds of one call. */
struct series {
    double *seconds;
    size_t count, capacity;
};

struct result {
    enum peer_id peer;
    bool present;    /* it was tried */
    bool verified;   /* its results are right; only then it is measured */
    char error[512]; /* why there are no figures */
    char plan[256];
    double worst;         /* largest error as a fraction of its bound */
    double build_seconds; /* of one layer; 0: not told */
    double extra_bytes;   /* device memory beyond W and bias; NAN: not told */
    size_t copies, rounds;
    struct series call, chained, host;
    /* From the series, NAN where there is none. */
    double call_median, call_min, call_spread, chained_median, host_median;
};

struct row {
    struct shape shape;
    bool complete; /* false when the time limit came first */
    struct result result[PEER_COUNT];
    const char *bound; /* "compute", "memory" or "cache" */
    double bound_seconds;
};

struct session {
    const struct options *options;
    struct roofline roofline;
    struct row *rows;
    size_t row_count; /* rows that were begun */
    size_t cache_bytes;
    double started, seconds;
    bool out_of_time;
    char missing[PEER_COUNT][512]; /* why a peer could not start, or "" */
};

/* Measures everything that session->options asks for, within its time limit. False after an error line on stderr. */
bool session_run(struct session *session);
void session_free(struct session *session);

/* Seconds that the roofline grants for a shape, and which roof binds. */
double roofline_bound(const struct roofline *roofline, const struct shape *shape, size_t copies, const char **bound);

/* Peer's median over clayer's: above 1 clayer is faster. NAN where either is missing. */
double ratio(const struct row *row, enum peer_id peer);

/* Geometric mean of the ratios over the rows that `take` accepts (NULL: all), and how many there were. */
double geometric_mean(const struct session *session, enum peer_id peer, bool (*take)(const struct row *),
                      size_t *count);

/* A suite's shapes are appended to options->shapes. False for an unknown name. */
bool suite_append(struct options *options, const char *name, clayer_activation activation, bool cold);
bool shape_append(struct options *options, const struct shape *shape);

/* One target of the project, judged on what was measured. */
struct target {
    char text[160];
    size_t rows;        /* that it could be judged on; 0: nothing measured that it speaks of */
    double worst, goal; /* the figure that decides, and what it must reach */
    bool at_most;       /* or must not exceed */
    bool met;
    char where[SHAPE_TEXT]; /* the row that decides */
};
enum { MAX_TARGETS = 16 };
size_t targets_judge(const struct session *session, struct target targets[MAX_TARGETS]);

void table_print(const struct session *session);
/* False after an error line. */
bool json_write(const struct session *session, const char *path);
bool report_write(const struct session *session, const char *path);

#endif
