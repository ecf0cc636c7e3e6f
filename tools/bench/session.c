/* One measurement after the other: prepares a shape in every peer's process, then takes samples in turn, round by
 * round, so that a slow spell of the machine hits all of them. */
#include "bench/bench.h"
#include "bench/clock.h"
#include "bench/process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *program;
    char *settings[3];
} peers[PEER_COUNT] = {
    [PEER_CLAYER] = {"clayer", "", {NULL}},
    [PEER_CLBLAST] = {"clblast", "clayer-bench-opencl", {NULL}},
    [PEER_ONEDNN] = {"onednn", "clayer-bench-onednn", {NULL}},
    [PEER_ONEDNN1] = {"onednn1", "clayer-bench-onednn", {"OMP_NUM_THREADS=1", NULL}},
    [PEER_OPENBLAS] = {"openblas", "clayer-bench-openblas", {NULL}},
};

const char *peer_name(enum peer_id peer)
{
    return peers[peer].name;
}

static double deadline(const struct session *session)
{
    double limit = session->options->time_limit;
    return limit > 0 ? session->started + limit : INFINITY;
}

/* The cache that cold weights must outgrow: the host's for a device in host memory, else the device's own. */
static size_t cache_bytes(const clayer_device_info *device)
{
    long host = sysconf(_SC_LEVEL3_CACHE_SIZE) > 0 ? sysconf(_SC_LEVEL3_CACHE_SIZE) : sysconf(_SC_LEVEL2_CACHE_SIZE);
    bool on_host = device->type == CLAYER_DEVICE_HOST || device->type == CLAYER_DEVICE_CPU;
    if (on_host && host > 0)
        return (size_t)host;
    if (!on_host && device->global_cache_bytes > 0)
        return (size_t)device->global_cache_bytes;
    return (size_t)64 << 20;
}

static bool start(const struct session *session, struct process *process, const char *program, const char *peer,
                  char *const settings[])
{
    const struct options *options = session->options;
    char device[32], cache[32];
    char *arguments[20];
    size_t count = 0;
    bool host = options->device.type == CLAYER_DEVICE_HOST;
    snprintf(device, sizeof device, "%d", *program ? options->device.platform_device_index : options->device.index);
    snprintf(cache, sizeof cache, "%zu", session->cache_bytes);
    arguments[count++] = "--peer";
    arguments[count++] = (char *)peer;
    arguments[count++] = "--cache";
    arguments[count++] = cache;
    if (!*program) {
        arguments[count++] = "--device";
        arguments[count++] = host ? "host" : device;
    } else if (!host) {
        arguments[count++] = "--platform";
        arguments[count++] = (char *)options->device.platform;
        arguments[count++] = "--platform-device";
        arguments[count++] = device;
    }
    if (options->tuned && !strcmp(peer, "clblast")) {
        arguments[count++] = "--tuned";
        arguments[count++] = (char *)options->tuned;
    }
    arguments[count] = NULL;
    return process_start(process, program, arguments, settings);
}

/* Sends a request and reads its one answer, which must begin with `word`; the rest of the line stays in `line`. */
static bool answer(struct session *session, struct process *process, const char *word, char *line, size_t size)
{
    if (!process_line(process, deadline(session), line, size)) {
        session->out_of_time = clock_now() >= deadline(session);
        return false;
    }
    size_t length = strlen(word);
    if (!strncmp(line, word, length)) {
        memmove(line, line + length, strlen(line + length) + 1);
        return true;
    }
    snprintf(process->error, sizeof process->error, "%s", strncmp(line, "error ", 6) ? line : line + 6);
    return false;
}

static void measure_roofline(struct session *session)
{
    struct process process;
    char line[512];
    char *none[] = {NULL};
    struct roofline *roofline = &session->roofline;
    bool host = session->options->device.type == CLAYER_DEVICE_HOST;
    bool fine = start(session, &process, host ? "" : "clayer-bench-opencl", "roofline", none) &&
                answer(session, &process, "peak ", line, sizeof line);
    if (fine) {
        roofline->peak_flops = strtod(line, NULL);
        while ((fine = answer(session, &process, "", line, sizeof line)) && strncmp(line, "done", 4) != 0) {
            double first = 0, second = 0;
            if (sscanf(line, "bandwidth %lf %lf", &first, &second) == 2 && roofline->points < MAX_POINTS) {
                roofline->working_set[roofline->points] = first;
                roofline->bytes_per_second[roofline->points++] = second;
            } else if (sscanf(line, "launch %lf", &first) == 1) {
                roofline->launch_seconds = first;
            } else {
                snprintf(process.error, sizeof process.error, "%s", strncmp(line, "error ", 6) ? line : line + 6);
                fine = false;
                break;
            }
        }
    }
    roofline->known = fine && roofline->points > 0 && roofline->peak_flops > 0;
    snprintf(roofline->error, sizeof roofline->error, "%s", fine ? "" : process.error);
    process_end(&process);
}

static bool series_add(struct series *series, double value)
{
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? 2 * series->capacity : 64;
        double *more = realloc(series->seconds, capacity * sizeof *more);
        if (!more)
            return false;
        series->seconds = more;
        series->capacity = capacity;
    }
    series->seconds[series->count++] = value;
    return true;
}

static void read_series(struct series *series, const char *text)
{
    for (;;) {
        char *end;
        double value = strtod(text, &end);
        if (end == text)
            return;
        series_add(series, value);
        text = end;
    }
}

static bool peer_ready(struct session *session, struct process *process, enum peer_id peer)
{
    char line[512];
    if (process->pid != 0)
        return true;
    if (start(session, process, peers[peer].program,
              !strncmp(peers[peer].name, "onednn", 6) ? "onednn" : peers[peer].name, peers[peer].settings) &&
        answer(session, process, "open", line, sizeof line))
        return true;
    process_end(process);
    return false;
}

static void prepare(struct session *session, struct process *process, struct result *result, const struct shape *shape)
{
    char text[SHAPE_TEXT], line[1024];
    double call_seconds;
    int at = 0;
    result->present = true;
    result->extra_bytes = NAN;
    shape_text(shape, text);
    bool fine = process_send(process, "prepare %s %d %d", text, (int)shape->activation, shape->cold) &&
                answer(session, process, "ready ", line, sizeof line);
    if (fine &&
        sscanf(line, "%zu %lf %lf %lf %lf %n", &result->copies, &result->worst, &call_seconds, &result->build_seconds,
               &result->extra_bytes, &at) == 5 &&
        at > 0) {
        snprintf(result->plan, sizeof result->plan, "%s", line + at);
        result->verified = true;
    } else {
        snprintf(result->error, sizeof result->error, "%s", fine ? "its answer was not understood" : process->error);
    }
}

static void sample(struct session *session, struct process *process, struct result *result, double seconds)
{
    char line[1024];
    if (!process_send(process, "sample %.4f", seconds)) {
        snprintf(result->error, sizeof result->error, "%s", process->error);
        return;
    }
    while (answer(session, process, "", line, sizeof line)) {
        if (!strncmp(line, "call ", 5))
            read_series(&result->call, line + 5);
        else if (!strncmp(line, "chained ", 8))
            read_series(&result->chained, line + 8);
        else if (!strncmp(line, "host ", 5))
            read_series(&result->host, line + 5);
        else if (!strcmp(line, "done")) {
            result->rounds++;
            return;
        } else {
            snprintf(result->error, sizeof result->error, "%.500s", strncmp(line, "error ", 6) ? line : line + 6);
            result->verified = false;
            return;
        }
    }
    snprintf(result->error, sizeof result->error, "%s", process->error);
}

static void summarise(struct result *result)
{
    result->call_spread = spread(result->call.seconds, result->call.count);
    result->call_median = median(result->call.seconds, result->call.count);
    result->call_min = result->call.count > 0 ? result->call.seconds[0] : NAN;
    result->chained_median = median(result->chained.seconds, result->chained.count);
    result->host_median = median(result->host.seconds, result->host.count);
}

/* The time that one row may take so that the shapes that are left fit into the time that is left. */
static double row_share(const struct session *session)
{
    double left = deadline(session) - clock_now();
    return left / (double)(session->options->shape_count - (session->row_count - 1));
}

static double sample_seconds(const struct session *session, size_t active)
{
    const struct options *options = session->options;
    enum { FIGURES = 3 };
    double share = row_share(session) / 2;
    if (isinf(share))
        return options->sample_seconds;
    double seconds = share / (double)(options->rounds * active * FIGURES);
    return seconds > options->sample_seconds ? options->sample_seconds : seconds < 0.002 ? 0.002 : seconds;
}

static void measure_row(struct session *session, struct process processes[PEER_COUNT], struct row *row)
{
    enum { LEAST_ROUNDS = 2 };
    const double most_seconds = 2; /* of sampling, for a peer whose calls are slow, once it has LEAST_ROUNDS */
    double spent[PEER_COUNT] = {0};
    double row_end = clock_now() + row_share(session);
    size_t active = 0;
    for (enum peer_id peer = 0; peer < PEER_COUNT && !session->out_of_time; peer++) {
        if (!session->options->peer[peer] || *session->missing[peer])
            continue;
        if (peer_ready(session, &processes[peer], peer))
            prepare(session, &processes[peer], &row->result[peer], &row->shape);
        else if (!session->out_of_time)
            snprintf(session->missing[peer], sizeof session->missing[peer], "%s", processes[peer].error);
        active += row->result[peer].verified;
    }
    for (size_t round = 0; round < session->options->rounds && active > 0; round++) {
        if (round > 0 && clock_now() > row_end)
            break;
        double seconds = sample_seconds(session, active);
        for (size_t turn = 0; turn < PEER_COUNT && !session->out_of_time; turn++) {
            enum peer_id peer = (enum peer_id)((turn + round) % PEER_COUNT);
            struct result *result = &row->result[peer];
            if (!result->verified || *result->error || (result->rounds >= LEAST_ROUNDS && spent[peer] > most_seconds))
                continue;
            double before = clock_now();
            sample(session, &processes[peer], result, seconds);
            spent[peer] += clock_now() - before;
        }
    }
    for (enum peer_id peer = 0; peer < PEER_COUNT; peer++) {
        char line[64];
        if (row->result[peer].verified && processes[peer].pid != 0 && !session->out_of_time &&
            process_send(&processes[peer], "release"))
            answer(session, &processes[peer], "released", line, sizeof line);
        summarise(&row->result[peer]);
    }
    row->complete = !session->out_of_time;
}

bool session_run(struct session *session)
{
    const struct options *options = session->options;
    struct process processes[PEER_COUNT] = {{0}};
    char label[SHAPE_TEXT];
    bool progress = isatty(STDERR_FILENO);
    session->started = clock_now();
    session->cache_bytes = cache_bytes(&options->device);
    session->rows = calloc(options->shape_count, sizeof *session->rows);
    if (!session->rows)
        return false;
    if (!options->no_roofline)
        measure_roofline(session);
    for (size_t i = 0; i < options->shape_count; i++) {
        session->out_of_time = session->out_of_time || clock_now() >= deadline(session);
        if (session->out_of_time)
            break;
        struct row *row = &session->rows[session->row_count++];
        row->shape = options->shapes[i];
        shape_label(&row->shape, label);
        if (progress)
            fprintf(stderr, "\r\033[K%zu of %zu: %s", i + 1, options->shape_count, label);
        measure_row(session, processes, row);
        row->bound_seconds =
            roofline_bound(&session->roofline, &row->shape, row->result[PEER_CLAYER].copies, &row->bound);
    }
    if (progress)
        fprintf(stderr, "\r\033[K");
    for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
        process_end(&processes[peer]);
    session->seconds = clock_now() - session->started;
    return true;
}

void session_free(struct session *session)
{
    for (size_t i = 0; i < session->row_count; i++) {
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++) {
            free(session->rows[i].result[peer].call.seconds);
            free(session->rows[i].result[peer].chained.seconds);
            free(session->rows[i].result[peer].host.seconds);
        }
    }
    free(session->rows);
    session->rows = NULL;
    session->row_count = 0;
}
