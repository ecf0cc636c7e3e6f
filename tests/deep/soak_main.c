/* soak SECONDS [SEED [calm]]: random layers, models, shapes, plans, contexts and candidates of the tuner in several
 * threads of one process, with cache wipes and a driver that fails now and then; every result is checked, and memory
 * must stay flat. A plain main; what the threads do is in soak_work.c.
 *
 * Phases of about two seconds: in every second one the fake driver fails calls, and then a call may fail with a status
 * that has a detail; a result that comes with success must be right all the same. Between phases no thread is at work,
 * and then exactly the objects that stay must be alive.
 *
 * What the driver and its compiler hold is bounded by its known causes, each of them counted: see HEAP_*. That count
 * needs POCL_CACHE_DIR, a folder that is empty at first. */
#include "deep/soak.h"
#include "fake/fake.h"
#include "support/heap.h"
#include "support/held.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define PHASE_SECONDS 2.0

/* What PoCL 3.1 with LLVM 15 holds of the heap, in MiB (measured: docs/reliability.md). Of a program that is alive, for
 * its module: 0.6 on average. Of a compilation, for ever: 0.016, the same in a program without clayer. Besides, as long
 * as there is a context, 105 for its library of built-in functions, from the first compilation on; every comparison
 * here is between two moments with a context, or two without. */
#define HEAP_PROGRAM 1.5
#define HEAP_COMPILATION 0.05
/* What a few programs may be above the average: CLBlast's are the largest, 4 each. */
#define HEAP_SLACK 8.0

static struct fake_control fake;
static atomic_bool ending;
static bool calm; /* no phase with faults */
/* Workers share it while they act. The default kind would let them keep the writer out for ever. */
static pthread_rwlock_t phase = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *work(void *argument)
{
    struct soak_thread *t = argument;
    while (!atomic_load(&ending)) {
        pthread_rwlock_rdlock(&phase);
        soak_act(t);
        pthread_rwlock_unlock(&phase);
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is alive while no thread is at work. Kernels stay with the common context, so they may grow in number until
 * every configuration has been met; nothing else may. */
struct balance {
    long memory, queues, contexts, events, kernels, programs, compilations;
    size_t blocks;
    struct held held;
};

static struct balance take_balance(void)
{
    return (struct balance){.memory = fake.live("mem"),
                            .queues = fake.live("queue"),
                            .contexts = fake.live("context"),
                            .events = fake.live("event"),
                            .kernels = fake.live("kernel"),
                            .programs = fake.live("program"),
                            .compilations = held_compilations(),
                            .blocks = heap_live(),
                            .held = held_now()};
}

/* PoCL's workers let go of a finished command's objects a moment after the command is told to be finished. */
static struct balance take_settled(void)
{
    struct balance before = take_balance(), then;
    for (int i = 0; i < 20; i++) {
        usleep(500000);
        then = take_balance();
        if (before.held.heap_mib - then.held.heap_mib < 0.1)
            break;
        before = then;
    }
    return then;
}

static void print_balance(const char *when, const struct balance *b)
{
    printf("%s: heap %.1f MiB in use, resident %.1f MiB and %.1f MiB of files, %ld programs alive, %ld compilations, "
           "%ld threads\n",
           when, b->held.heap_mib, b->held.anonymous_mib, b->held.file_mib, b->programs, b->compilations,
           b->held.threads);
    fflush(stdout);
}

/* The heap of the whole process, drivers included, grows by what is counted and nothing else. */
static void expect_heap(const char *when, const struct balance *first, const struct balance *then)
{
    const double allowed = (then->programs ? HEAP_SLACK : 2.0) +
                           HEAP_PROGRAM * (double)(then->programs - first->programs) +
                           HEAP_COMPILATION * (double)(then->compilations - first->compilations);
    if (then->held.heap_mib - first->held.heap_mib <= allowed)
        return;
    print_balance("before", first);
    print_balance(when, then);
    soak_die("memory", "the heap grew more than its programs and compilations explain");
}

static void expect_flat(const struct balance *first, const struct balance *then)
{
    char text[200];
    if (fake.misuses())
        soak_die("memory", "a released OpenCL object was used");
    if (then->memory != first->memory || then->queues != first->queues || then->contexts != first->contexts ||
        then->events != first->events) {
        snprintf(text, sizeof text, "%ld buffers, %ld queues, %ld contexts, %ld events; at first %ld, %ld, %ld, %ld",
                 then->memory, then->queues, then->contexts, then->events, first->memory, first->queues,
                 first->contexts, first->events);
        soak_die("OpenCL objects are left", text);
    }
    if (then->held.threads != first->held.threads || then->held.descriptors != first->held.descriptors) {
        snprintf(text, sizeof text, "%ld threads and %ld file descriptors, at first %ld and %ld", then->held.threads,
                 then->held.descriptors, first->held.threads, first->held.descriptors);
        soak_die("threads or files are left", text);
    }
    /* A kernel of the common context is two blocks: itself and its name. */
    if ((long)then->blocks - (long)first->blocks > 2 * (then->kernels - first->kernels)) {
        snprintf(text, sizeof text, "%zu, at first %zu, with %ld more kernels", then->blocks, first->blocks,
                 then->kernels - first->kernels);
        soak_die("blocks of memory are left", text);
    }
    expect_heap("now", first, then);
}

static struct balance next_phase(int number, struct random *random)
{
    pthread_rwlock_wrlock(&phase);
    clayer_context_finish(soak.common);
    const struct balance balance = take_balance();
    fake.reset();
    const bool faults = number % 2 == 1 && !calm;
    atomic_store(&soak.faults_allowed, faults);
    if (faults) {
        static const int codes[] = {-4, -5, -6, -61, -30, -36, -14, -11, -54};
        char rules[400] = "";
        for (int i = 0; i < 12; i++)
            snprintf(rules + strlen(rules), sizeof rules - strlen(rules), "%s*#%zu = code:%d", i ? "; " : "",
                     1 + random_below(random, 3000), codes[random_below(random, sizeof codes / sizeof *codes)]);
        if (fake.set(rules) != 0)
            soak_die("rules", rules);
    }
    pthread_rwlock_unlock(&phase);
    return balance;
}

/* What stays with the context is there before any thread waits: CLBlast's programs, which take longest to compile, and
 * the queue on which the device's threads are asked to help. */
static void open_with(const char *plan)
{
    enum { LARGE = 3000 }; /* worth asking for help */
    static float x[LARGE * SOAK_IN], y[LARGE * SOAK_OUT];
    clayer_linear *linear = NULL;
    const clayer_status status = clayer_linear_create(
        soak.common,
        &(clayer_linear_params){.in_features = SOAK_IN, .out_features = SOAK_OUT, .weight = soak.weight, .plan = plan},
        &linear);
    if (status != CLAYER_ERROR_UNSUPPORTED && soak_good(status, plan))
        soak_good(clayer_linear_forward(linear, LARGE, x, SOAK_IN, y, SOAK_OUT), plan);
    clayer_linear_destroy(&linear);
}

static void open_all(void)
{
    clayer_status status = clayer_context_create(&(clayer_context_params){.device = "0"}, &soak.common);
    if (status != CLAYER_OK) {
        printf("skipped: %s\n", clayer_last_error());
        exit(77);
    }
    soak_good(clayer_linear_create(
                  soak.common,
                  &(clayer_linear_params){.in_features = SOAK_IN, .out_features = SOAK_OUT, .weight = soak.weight},
                  &soak.shared),
              "the shared layer");
    soak_good(clayer_linear_prepare(soak.shared, BATCH_MAX), "the shared layer's kernel");
    open_with("clblast");
    open_with("host:team=1");
}

static void close_all(void)
{
    clayer_linear_destroy(&soak.shared);
    clayer_context_destroy(&soak.common);
    held_forget_clblast();
}

static void work_for(double seconds, struct random *random, struct balance *first, struct balance *last)
{
    static struct soak_thread threads[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i].random.state = random_next(random);
        pthread_create(&ids[i], NULL, work, &threads[i]);
    }
    /* The first quarter warms up: every family has been built, every cache filled. */
    const double start = now();
    int number = 0;
    while (now() - start < seconds) {
        usleep((useconds_t)(PHASE_SECONDS * 1e6));
        *last = next_phase(++number, random);
        if (number == 1 || now() - start < seconds / 4)
            *first = *last;
        expect_flat(first, last);
    }
    atomic_store(&ending, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    fake.reset();
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    struct random random = {.state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL)};
    calm = argc == 4 && strcmp(argv[3], "calm") == 0;
    if (!(seconds > 0) || argc > 3 + calm || !getenv("POCL_CACHE_DIR")) {
        fputs("usage: POCL_CACHE_DIR=EMPTY_FOLDER soak SECONDS [SEED [calm]]\n", stderr);
        return 2;
    }
    printf("soak: %.0f s, seed %llu\n", seconds, (unsigned long long)random.state);
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    soak_fill(&random, soak.weight, SOAK_OUT * SOAK_IN);
    /* A whole life first: what a driver sets up once, its compiler above all, is no growth. */
    open_all();
    close_all();
    fake = fake_reach(FAKE_LIBRARY);
    if (!fake.library)
        soak_die("fake driver", "not loaded");
    const struct balance empty = take_settled();
    print_balance("after one life", &empty);
    open_all();
    struct balance first, last;
    work_for(seconds, &random, &first, &last);
    close_all();
    const struct balance left = take_settled();
    print_balance("after a quarter", &first);
    print_balance("at the end", &last);
    print_balance("all destroyed", &left);
    if (left.programs || left.kernels || left.contexts || left.memory || left.events || left.queues)
        soak_die("OpenCL objects are left", "after everything was destroyed");
    if (left.blocks != empty.blocks) {
        char text[100];
        snprintf(text, sizeof text, "%zu, at first %zu", left.blocks, empty.blocks);
        soak_die("blocks of memory are left after everything was destroyed", text);
    }
    expect_heap("all destroyed", &empty, &left);
    printf("%ld actions, %ld results right, %ld candidates tuned, %ld failures told, %ld compilations; %zu blocks and "
           "%.1f MiB of heap before, %zu and %.1f MiB after\n",
           atomic_load(&soak.actions), atomic_load(&soak.results), atomic_load(&soak.candidates),
           atomic_load(&soak.refusals), left.compilations, empty.blocks, empty.held.heap_mib, left.blocks,
           left.held.heap_mib);
    return 0;
}
