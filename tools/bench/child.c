/* A peer's process: one request a line on stdin, answers as lines on stdout. It blocks in a read between requests. */
#include "bench/clock.h"
#include "bench/peer.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char last_error[512];

bool peer_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    for (char *c = last_error; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return false;
}

const char *peer_last_error(void)
{
    return last_error;
}

int peer_channel(void)
{
    fflush(stdout);
    int channel = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return channel;
}

void peer_settle(void)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    for (int i = 0; i < 100; i++) {
        clock_t before = clock();
        nanosleep(&nap, NULL);
        if ((double)(clock() - before) / CLOCKS_PER_SEC < 0.0002)
            return;
    }
}

bool peer_setup(int argc, char **argv, struct setup *setup)
{
    static const struct option options[] = {
        {"peer", required_argument, NULL, 'p'},     {"device", required_argument, NULL, 'd'},
        {"platform", required_argument, NULL, 'l'}, {"platform-device", required_argument, NULL, 'i'},
        {"tuned", required_argument, NULL, 't'},    {"cache", required_argument, NULL, 'c'},
        {"sample", required_argument, NULL, 's'},   {0}};
    *setup = (struct setup){.sample_seconds = 0.05};
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'p':
            setup->peer = optarg;
            break;
        case 'd':
            setup->device = optarg;
            break;
        case 'l':
            setup->platform = optarg;
            break;
        case 'i':
            setup->platform_device = strtoul(optarg, NULL, 10);
            break;
        case 't':
            setup->tuned = optarg;
            break;
        case 'c':
            setup->cache_bytes = strtoull(optarg, NULL, 10);
            break;
        case 's':
            setup->sample_seconds = strtod(optarg, NULL);
            break;
        default:
            return false;
        }
    }
    return setup->peer != NULL;
}

struct state {
    const struct peer *peer;
    const struct setup *setup;
    FILE *answer;
    struct problem problem;
    bool prepared;
    struct peer_info info;
    size_t turn;         /* counts calls; copies are taken in turn */
    double call_seconds; /* a first estimate */
    float *y;
};

static size_t next_copy(struct state *state)
{
    return state->turn++ % state->problem.copies;
}

enum form { FORM_CALL, FORM_CHAINED, FORM_HOST };

static bool has_form(const struct state *state, enum form form)
{
    if (form == FORM_CALL)
        return true;
    return !state->info.call_only &&
           (form == FORM_CHAINED ? state->peer->enqueue != NULL : state->peer->host_call != NULL);
}

/* `count` calls in one form; *seconds is for one of them. */
static bool timed(struct state *state, enum form form, size_t count, double *seconds)
{
    const struct peer *peer = state->peer;
    bool fine = true;
    double start = clock_now();
    for (size_t i = 0; i < count && fine; i++) {
        size_t copy = next_copy(state);
        fine = form == FORM_CALL      ? peer->call(copy)
               : form == FORM_CHAINED ? peer->enqueue(copy)
                                      : peer->host_call(copy, state->problem.x, state->y);
    }
    fine = fine && (form != FORM_CHAINED || peer->wait());
    *seconds = (clock_now() - start) / (double)count;
    return fine;
}

/* Each form once, on poisoned y, against the reference. */
static bool verify(struct state *state, double *worst)
{
    const struct peer *peer = state->peer;
    size_t count = state->problem.shape.batch * state->problem.shape.width[state->problem.shape.layers];
    for (enum form form = FORM_CALL; form <= FORM_HOST; form++) {
        size_t copy = state->turn % state->problem.copies;
        double seconds, fraction;
        char reason[256];
        if (!has_form(state, form))
            continue;
        for (size_t i = 0; i < count; i++)
            state->y[i] = NAN;
        if (!peer->poison(copy) || !timed(state, form, 1, &seconds) ||
            (form != FORM_HOST && !peer->read(copy, state->y)))
            return false;
        if (!problem_verify(&state->problem, state->y, &fraction, reason, sizeof reason))
            return peer_error("wrong result: %s", reason);
        *worst = fraction > *worst ? fraction : *worst;
    }
    return true;
}

static void release(struct state *state)
{
    if (state->prepared)
        state->peer->release();
    state->prepared = false;
    problem_destroy(&state->problem);
    free(state->y);
    state->y = NULL;
}

/* "prepare SHAPE ACTIVATION COLD" */
static void prepare(struct state *state, char *arguments)
{
    struct shape shape = {0};
    char reason[256] = "";
    double worst = 0;
    char *text = strtok(arguments, " "), *activation = strtok(NULL, " "), *cold = strtok(NULL, " ");
    release(state);
    if (!cold || !shape_parse(text, &shape, reason, sizeof reason)) {
        fprintf(state->answer, "error the request was not understood %s\n", reason);
        return;
    }
    shape.activation = (clayer_activation)strtol(activation, NULL, 10);
    shape.cold = *cold == '1';
    state->y = malloc(shape.batch * shape.width[shape.layers] * sizeof *state->y);
    if (!state->y || !problem_create(&shape, state->setup->cache_bytes, &state->problem)) {
        fprintf(state->answer, "error out of memory\n");
        return;
    }
    struct peer_info *info = &state->info;
    *info = (struct peer_info){.extra_bytes = NAN};
    state->prepared = state->peer->prepare(&state->problem, info);
    if (!state->prepared || !verify(state, &worst) || !timed(state, FORM_CALL, 1, &state->call_seconds) ||
        (state->peer->describe && !state->peer->describe(info))) {
        fprintf(state->answer, "error %s\n", last_error);
        release(state);
        return;
    }
    peer_settle();
    fprintf(state->answer, "ready %zu %.3g %.9g %.9g %.0f %s\n", state->problem.copies, worst, state->call_seconds,
            info->build_seconds, info->extra_bytes, info->plan);
}

/* One sample of one form, in up to eight parts of equal length, each long enough for the clock: one line. */
static bool sample(struct state *state, enum form form, double budget)
{
    static const char *const names[] = {"call", "chained", "host"};
    enum { PARTS = 8, MOST_IN_FLIGHT = 256, LEAST_IN_FLIGHT = 8 };
    double values[PARTS], estimate;
    /* Caches and clocks come back to the state of a program that runs nothing else. */
    if (!timed(state, form, 1, &estimate))
        return false;
    if (estimate < budget / 20) {
        size_t warm = (size_t)(budget / 10 / estimate);
        if (!timed(state, form, form == FORM_CHAINED && warm > MOST_IN_FLIGHT ? MOST_IN_FLIGHT : warm, &estimate))
            return false;
    }
    double part = budget / PARTS;
    size_t calls = estimate < part ? (size_t)(part / estimate) : 1, parts = 0;
    if (form == FORM_CHAINED)
        calls = calls < LEAST_IN_FLIGHT ? LEAST_IN_FLIGHT : calls > MOST_IN_FLIGHT ? MOST_IN_FLIGHT : calls;
    double end = clock_now() + budget;
    do {
        if (!timed(state, form, calls, &values[parts++]))
            return false;
    } while (parts < PARTS && clock_now() < end);
    fprintf(state->answer, "%s", names[form]);
    for (size_t i = 0; i < parts; i++)
        fprintf(state->answer, " %.9g", values[i]);
    fprintf(state->answer, "\n");
    return true;
}

/* "sample SECONDS" */
static void samples(struct state *state, const char *arguments)
{
    double budget = strtod(arguments, NULL);
    bool fine = state->prepared;
    for (enum form form = FORM_CALL; form <= FORM_HOST && fine; form++) {
        /* Eight calls in flight must not take longer than the figure is worth. */
        bool affordable = form == FORM_CALL || state->call_seconds * (form == FORM_CHAINED ? 8 : 1) < 10 * budget;
        if (has_form(state, form) && affordable)
            fine = sample(state, form, budget);
        peer_settle();
    }
    if (fine)
        fprintf(state->answer, "done\n");
    else
        fprintf(state->answer, "error %s\n", state->prepared ? last_error : "nothing is prepared");
}

int peer_serve(const struct peer *peer, const struct setup *setup)
{
    char line[1024];
    struct state state = {.peer = peer, .setup = setup, .answer = fdopen(peer_channel(), "w")};
    if (!state.answer)
        return 1;
    if (peer->open(setup))
        fprintf(state.answer, "open\n");
    else
        fprintf(state.answer, "error %s\n", last_error);
    fflush(state.answer);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "prepare ", 8))
            prepare(&state, line + 8);
        else if (!strncmp(line, "sample ", 7))
            samples(&state, line + 7);
        else if (!strcmp(line, "release"))
            release(&state), fprintf(state.answer, "released\n");
        fflush(state.answer);
    }
    release(&state);
    return 0;
}
