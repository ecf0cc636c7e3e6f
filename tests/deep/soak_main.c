/* soak SECONDS [SEED [calm]]: random layers, models, shapes, plans and contexts in several threads of one process, with
 * cache wipes and a driver that fails now and then; every result is checked, and memory must stay flat. A plain main.
 *
 * Phases of about two seconds: in every second one the fake driver fails calls, and then a call may fail with a status
 * that has a detail; a result that comes with success must be right all the same. Between phases no thread is at work,
 * and then exactly the objects that stay must be alive. */
#include "fake/fake.h"
#include "support/heap.h"
#include "support/random.h"

#include <clayer/cache.h>
#include <clayer/linear.h>
#include <clayer/model.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SIZE_MAX_EACH = 150, BATCH_MAX = 200, LAYERS_MAX = 3, SHARED_IN = 96, SHARED_OUT = 80 };
#define PHASE_SECONDS 2.0

static struct fake_control fake;
static clayer_context *common;
static clayer_linear *shared;
static float shared_weight[SHARED_OUT * SHARED_IN];
static atomic_bool ending, faults_allowed;
static bool calm; /* no phase with faults */
static atomic_long actions, results, refusals;
/* Workers share it while they act. The default kind would let them keep the writer out for ever. */
static pthread_rwlock_t phase = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "soak: %s: %s\n", what, detail);
    exit(1);
}

/* Whether the work goes on; a failure outside the phases with faults ends the program. */
static bool good(clayer_status status, const char *what)
{
    if (status == CLAYER_OK)
        return true;
    if (!atomic_load(&faults_allowed))
        die(what, clayer_last_error());
    if (!*clayer_last_error())
        die(what, "a failure without a detail");
    atomic_fetch_add(&refusals, 1);
    return false;
}

/* Small integers: sums are exact in every order, so results are compared for equality. */
static void fill(struct random *random, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_below(random, 7) - 3;
}

static float activate(clayer_activation activation, float v)
{
    return activation == CLAYER_ACTIVATION_RELU && v < 0 ? 0 : v;
}

static void reference(const clayer_linear_params *p, size_t batch, const float *x, size_t ldx, float *y)
{
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < p->out_features; n++) {
            float sum = p->bias ? p->bias[n] : 0;
            for (size_t k = 0; k < p->in_features; k++)
                sum += x[m * ldx + k] * p->weight[n * p->in_features + k];
            y[m * p->out_features + n] = activate(p->activation, sum);
        }
    }
}

static void compare(const char *what, size_t batch, size_t out, const float *y, size_t ldy, const float *expected)
{
    for (size_t m = 0; m < batch; m++) {
        for (size_t n = 0; n < out; n++) {
            if (!(y[m * ldy + n] == expected[m * out + n])) {
                char text[160];
                snprintf(text, sizeof text, "row %zu of %zu, output %zu of %zu is %g, not %g", m, batch, n, out,
                         (double)y[m * ldy + n], (double)expected[m * out + n]);
                die(what, text);
            }
        }
    }
    atomic_fetch_add(&results, 1);
}

static const char *const plans[] = {"auto", "auto", "auto", "panel", "portable", "host", "skinny", "tiled", "clblast"};

static clayer_linear_params random_layer(struct random *random, size_t in, float *weight, float *bias)
{
    clayer_linear_params p = {.in_features = in,
                              .out_features = 1 + random_below(random, SIZE_MAX_EACH),
                              .weight = weight,
                              .activation = random_below(random, 2) ? CLAYER_ACTIVATION_RELU : CLAYER_ACTIVATION_NONE};
    fill(random, weight, p.out_features * in);
    fill(random, bias, p.out_features);
    if (random_below(random, 3))
        p.bias = bias;
    return p;
}

/* Memory of one thread, so that no allocation of the soak's own is counted as clayer's. */
struct thread {
    struct random random;
    float weight[LAYERS_MAX][SIZE_MAX_EACH * SIZE_MAX_EACH], bias[LAYERS_MAX][SIZE_MAX_EACH];
    float x[BATCH_MAX * (SIZE_MAX_EACH + 3)], y[BATCH_MAX * (SIZE_MAX_EACH + 3)];
    float expected[2][BATCH_MAX * SIZE_MAX_EACH];
};

static void run_layer(struct thread *t, clayer_context *context, bool own)
{
    const size_t in = 1 + random_below(&t->random, SIZE_MAX_EACH), batch = 1 + random_below(&t->random, BATCH_MAX);
    clayer_linear_params p = random_layer(&t->random, in, t->weight[0], t->bias[0]);
    /* CLBlast keeps programs for every context that it has met, so it works on the one that stays. */
    p.plan = plans[random_below(&t->random, sizeof plans / sizeof *plans - own)];
    const size_t ldx = in + random_below(&t->random, 3), ldy = p.out_features + random_below(&t->random, 3);
    fill(&t->random, t->x, batch * ldx);
    memset(t->y, 0xff, sizeof t->y);
    clayer_linear *linear = NULL;
    if (!good(clayer_linear_create(context, &p, &linear), "clayer_linear_create"))
        return;
    for (int call = 0; call < 3; call++) {
        const size_t rows = call ? 1 + random_below(&t->random, batch) : batch;
        if (!good(clayer_linear_forward(linear, rows, t->x, ldx, t->y, ldy), p.plan))
            break;
        reference(&p, rows, t->x, ldx, t->expected[0]);
        compare(p.plan, rows, p.out_features, t->y, ldy, t->expected[0]);
    }
    clayer_linear_destroy(&linear);
}

static void run_model(struct thread *t, clayer_context *context)
{
    const size_t count = 1 + random_below(&t->random, LAYERS_MAX), batch = 1 + random_below(&t->random, 40);
    clayer_linear_params layers[LAYERS_MAX];
    size_t in = 1 + random_below(&t->random, 20);
    const size_t first = in;
    for (size_t i = 0; i < count; i++) {
        layers[i] = random_layer(&t->random, in, t->weight[i], t->bias[i]);
        in = layers[i].out_features = 1 + layers[i].out_features % 20; /* 20 * 3 * 20 * ... stays below 2^24 */
    }
    fill(&t->random, t->x, batch * first);
    clayer_model *model = NULL;
    if (!good(clayer_model_create(context, layers, count, &model), "clayer_model_create"))
        return;
    if (good(clayer_model_forward(model, batch, t->x, first, t->y, in), "clayer_model_forward")) {
        const float *from = t->x;
        for (size_t i = 0; i < count; i++) {
            reference(&layers[i], batch, from, layers[i].in_features, t->expected[i % 2]);
            from = t->expected[i % 2];
        }
        compare("model", batch, in, t->y, in, from);
    }
    clayer_model_destroy(&model);
}

static void run_shared(struct thread *t)
{
    const clayer_linear_params p = {.in_features = SHARED_IN, .out_features = SHARED_OUT, .weight = shared_weight};
    const size_t batch = 1 + random_below(&t->random, BATCH_MAX);
    fill(&t->random, t->x, batch * SHARED_IN);
    if (good(clayer_linear_forward(shared, batch, t->x, SHARED_IN, t->y, SHARED_OUT), "the shared layer")) {
        reference(&p, batch, t->x, SHARED_IN, t->expected[0]);
        compare("the shared layer", batch, SHARED_OUT, t->y, SHARED_OUT, t->expected[0]);
    }
}

static void act(struct thread *t)
{
    clayer_context *context = NULL;
    size_t entries;
    uint64_t bytes;
    switch (random_below(&t->random, 10)) {
    case 0: /* a context of its own */
        if (good(clayer_context_create(&(clayer_context_params){.device = "0"}, &context), "clayer_context_create")) {
            run_layer(t, context, true);
            run_model(t, context);
        }
        clayer_context_destroy(&context);
        break;
    case 1:
        if (random_below(&t->random, 5) == 0)
            good(clayer_cache_prune(0, &entries, &bytes), "clayer_cache_prune");
        break;
    case 2:
    case 3:
        run_model(t, common);
        break;
    case 4:
    case 5:
        run_shared(t);
        break;
    default:
        run_layer(t, common, false);
    }
    atomic_fetch_add(&actions, 1);
}

static void *work(void *argument)
{
    struct thread *t = argument;
    while (!atomic_load(&ending)) {
        pthread_rwlock_rdlock(&phase);
        act(t);
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

static double resident_mib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

/* What is alive while no thread is at work. Kernels stay with the common context, so they may grow in number until
 * every configuration has been met; nothing else may. */
struct balance {
    long memory, queues, contexts, events, kernels, builds;
    size_t blocks;
    double mib;
};

static long builds;

static struct balance take_balance(void)
{
    return (struct balance){fake.live("mem"),   fake.live("queue"),  fake.live("context"),
                            fake.live("event"), fake.live("kernel"), builds,
                            heap_live(),        resident_mib()};
}

static void expect_flat(const struct balance *first, const struct balance *then)
{
    char text[200];
    if (fake.misuses())
        die("memory", "a released OpenCL object was used");
    if (then->memory != first->memory || then->queues != first->queues || then->contexts != first->contexts ||
        then->events != first->events) {
        snprintf(text, sizeof text, "%ld buffers, %ld queues, %ld contexts, %ld events; at first %ld, %ld, %ld, %ld",
                 then->memory, then->queues, then->contexts, then->events, first->memory, first->queues,
                 first->contexts, first->events);
        die("OpenCL objects are left", text);
    }
    /* A kernel of the common context is two blocks: itself and its name. */
    if ((long)then->blocks - (long)first->blocks > 2 * (then->kernels - first->kernels)) {
        snprintf(text, sizeof text, "%zu, at first %zu, with %ld more kernels", then->blocks, first->blocks,
                 then->kernels - first->kernels);
        die("blocks of memory are left", text);
    }
}

static struct balance next_phase(int number, struct random *random)
{
    pthread_rwlock_wrlock(&phase);
    clayer_context_finish(common);
    builds += fake.count("clBuildProgram");
    const struct balance balance = take_balance();
    fake.reset();
    const bool faults = number % 2 == 1 && !calm;
    atomic_store(&faults_allowed, faults);
    if (faults) {
        static const int codes[] = {-4, -5, -6, -61, -30, -36, -14, -11, -54};
        char rules[400] = "";
        for (int i = 0; i < 12; i++)
            snprintf(rules + strlen(rules), sizeof rules - strlen(rules), "%s*#%zu = code:%d", i ? "; " : "",
                     1 + random_below(random, 3000), codes[random_below(random, sizeof codes / sizeof *codes)]);
        if (fake.set(rules) != 0)
            die("rules", rules);
    }
    pthread_rwlock_unlock(&phase);
    return balance;
}

static void open_all(struct random *random)
{
    clayer_status status = clayer_context_create(&(clayer_context_params){.device = "0"}, &common);
    if (status != CLAYER_OK) {
        printf("skipped: %s\n", clayer_last_error());
        exit(77);
    }
    fake = fake_reach(FAKE_LIBRARY);
    if (!fake.library)
        die("fake driver", "not loaded");
    fill(random, shared_weight, SHARED_OUT * SHARED_IN);
    good(clayer_linear_create(
             common,
             &(clayer_linear_params){.in_features = SHARED_IN, .out_features = SHARED_OUT, .weight = shared_weight},
             &shared),
         "the shared layer");
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    struct random random = {.state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL)};
    calm = argc == 4 && strcmp(argv[3], "calm") == 0;
    if (!(seconds > 0) || argc > 3 + calm) {
        fputs("usage: soak SECONDS [SEED [calm]]\n", stderr);
        return 2;
    }
    printf("soak: %.0f s, seed %llu\n", seconds, (unsigned long long)random.state);
    setenv("OCL_ICD_VENDORS", ICD_FAKE, 1);
    setenv("CLAYER_FAKE_MODE", "pass", 1);
    open_all(&random);
    static struct thread threads[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i].random.state = random_next(&random);
        pthread_create(&ids[i], NULL, work, &threads[i]);
    }
    /* The first quarter warms up: every family has been built, every cache filled. */
    const double start = now();
    struct balance first = {0}, last = {0};
    int number = 0;
    while (now() - start < seconds) {
        usleep((useconds_t)(PHASE_SECONDS * 1e6));
        last = next_phase(++number, &random);
        if (now() - start < seconds / 4 || !first.mib)
            first = last;
        expect_flat(&first, &last);
    }
    atomic_store(&ending, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    clayer_linear_destroy(&shared);
    clayer_context_destroy(&common);
    /* PoCL leaves about 1.5 MB with each compilation (tests/suppressions/lsan.txt); what is above that is a leak. */
    const double growth = last.mib - first.mib, allowed = 64 + 3.0 * (double)(last.builds - first.builds);
    printf("%ld actions, %ld results right, %ld failures told; %zu blocks after a quarter and %zu at the end; resident "
           "%.0f "
           "MiB, then %.0f MiB after %ld more builds\n",
           atomic_load(&actions), atomic_load(&results), atomic_load(&refusals), first.blocks, last.blocks, first.mib,
           last.mib, last.builds - first.builds);
    if (growth > allowed)
        die("memory", "the process grew more than its compilations explain");
    return 0;
}
