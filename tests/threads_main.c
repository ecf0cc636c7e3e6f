/* Sixteen threads on one shared layer and one of their own each, the first call at the same moment, while another
 * thread replaces the weights of a third. Each result is compared with the reference. A plain main, so that it runs
 * under ThreadSanitizer too, where Criterion does not. */
#include "host/linear.h"
#include "support/random.h"

#include <clayer/clayer.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 16, ROUNDS = 6, BATCH = 60, IN = 96, OUT = 400 };

static const struct activation relu = {CLAYER_ACTIVATION_RELU, 0, 0};

struct weights {
    float w[OUT * IN], b[OUT];
};

static struct weights common, old_weights, new_weights;
static clayer_context *context;
static clayer_linear *shared, *replaced;
static pthread_barrier_t start;
static atomic_int failures, checked;
static int rounds = ROUNDS, stride = 1; /* every stride-th round is compared with the reference */

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const clayer_status status_ = (call);                                                                          \
        if (status_ != CLAYER_OK) {                                                                                    \
            fprintf(stderr, "%s: %s: %s\n", #call, clayer_status_string(status_), clayer_last_error());                \
            atomic_fetch_add(&failures, 1);                                                                            \
        }                                                                                                              \
    } while (0)

static void fill(struct weights *weights, struct random *random)
{
    for (int i = 0; i < OUT * IN; i++)
        weights->w[i] = random_uniform(random);
    for (int i = 0; i < OUT; i++)
        weights->b[i] = random_uniform(random);
}

static clayer_linear *layer_of(const struct weights *weights)
{
    clayer_linear *linear = NULL;
    CHECK(clayer_linear_create(
        context,
        &(clayer_linear_params){
            .in_features = IN, .out_features = OUT, .weight = weights->w, .bias = weights->b, .activation = relu.kind},
        &linear));
    return linear;
}

static bool agrees(const struct weights *weights, size_t batch, const float *x, const float *y, int round)
{
    if (round % stride != 0)
        return true;
    double ref[BATCH * OUT], s[BATCH * OUT];
    host_linear_reference(weights->w, IN, 1, weights->b, &relu, batch, OUT, IN, x, IN, 1, ref, s);
    atomic_fetch_add(&checked, 1);
    for (size_t i = 0; i < batch * OUT; i++)
        if (!host_linear_agrees(y[i], ref[i], s[i], IN, &relu, true))
            return false;
    return true;
}

static void expect(bool right, const char *what, size_t thread, int round)
{
    if (!right) {
        fprintf(stderr, "thread %zu, round %d: %s is wrong\n", thread, round, what);
        atomic_fetch_add(&failures, 1);
    }
}

static void through_buffers(clayer_linear *linear, size_t batch, const float *x, float *y)
{
    clayer_buffer *in = NULL, *out = NULL;
    CHECK(clayer_buffer_create(context, batch * IN, &in));
    CHECK(clayer_buffer_create(context, batch * OUT, &out));
    const clayer_matrix mx = {.buffer = in}, my = {.buffer = out};
    CHECK(clayer_buffer_write(in, 0, x, batch * IN));
    CHECK(clayer_linear_forward_matrix(linear, batch, &mx, &my));
    CHECK(clayer_buffer_read(out, 0, y, batch * OUT));
    clayer_buffer_destroy(&in);
    clayer_buffer_destroy(&out);
}

static void *work(void *argument)
{
    const size_t thread = (size_t)(uintptr_t)argument;
    struct random random = {thread};
    static _Thread_local struct weights own;
    float x[BATCH * IN], y[BATCH * OUT];
    fill(&own, &random);
    pthread_barrier_wait(&start);
    clayer_linear *mine = layer_of(&own);
    for (int round = 0; round < rounds; round++) {
        /* The calls of many rounds are small, so that there are many; some are worth asking others for help. */
        const bool large = round < ROUNDS || round % 16 == 0;
        const size_t batch = round ? 1 + random_below(&random, large ? BATCH : 4) : BATCH;
        for (size_t i = 0; i < batch * IN; i++)
            x[i] = random_uniform(&random);
        for (size_t i = 0; i < batch * OUT; i++)
            y[i] = NAN;
        CHECK(clayer_linear_forward(shared, batch, x, IN, y, OUT));
        expect(agrees(&common, batch, x, y, round), "the shared layer's result", thread, round);
        through_buffers(mine, batch, x, y);
        expect(agrees(&own, batch, x, y, round), "the own layer's result", thread, round);
        through_buffers(shared, batch, x, y);
        expect(agrees(&common, batch, x, y, round), "the shared layer's result in buffers", thread, round);
        CHECK(clayer_linear_forward(replaced, batch, x, IN, y, OUT));
        expect(agrees(&old_weights, batch, x, y, round) || agrees(&new_weights, batch, x, y, round),
               "a layer whose weights are replaced", thread, round);
        clayer_linear_info info;
        clayer_plan_info plan;
        CHECK(clayer_linear_get_info(shared, &info));
        CHECK(clayer_linear_last_plan(shared, &plan));
    }
    clayer_linear_destroy(&mine);
    return NULL;
}

/* Weights and bias are replaced one after the other, so both sets share the bias. */
static void *replace(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&start);
    for (int i = 0; i < 4 * rounds; i++) {
        CHECK(clayer_linear_set_weight(replaced, i % 2 ? old_weights.w : new_weights.w, IN, CLAYER_WEIGHT_OUT_IN));
        CHECK(clayer_linear_set_bias(replaced, new_weights.b));
    }
    return NULL;
}

static void run_on(const char *device, const char *plan)
{
    struct random random = {1};
    context = NULL;
    CHECK(clayer_context_create(&(clayer_context_params){.device = device, .plan = plan}, &context));
    if (!context)
        return;
    fill(&common, &random);
    fill(&old_weights, &random);
    fill(&new_weights, &random);
    for (int i = 0; i < OUT; i++)
        new_weights.b[i] = old_weights.b[i];
    shared = layer_of(&common);
    replaced = layer_of(&old_weights);
    pthread_t threads[THREADS + 1];
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (size_t i = 0; i <= THREADS; i++)
        if (pthread_create(&threads[i], NULL, i < THREADS ? work : replace, (void *)(uintptr_t)i) != 0)
            abort();
    for (size_t i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    clayer_plan_info info = {{0}, {0}, {0}, {0}};
    clayer_device_info where;
    CHECK(clayer_linear_last_plan(shared, &info));
    CHECK(clayer_context_device(context, &where));
    printf("cases: threads on %s, plan %s (%s): %d results\n", where.name, plan, info.family, atomic_load(&checked));
    atomic_store(&checked, 0);
    clayer_linear_destroy(&shared);
    clayer_linear_destroy(&replaced);
    clayer_context_destroy(&context);
}

/* threads [ROUNDS]: each round is four forward calls a thread. */
int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 1)
        return 2;
    stride = rounds > ROUNDS ? rounds / ROUNDS : 1;
    clayer_device_info best;
    CHECK(clayer_device_select("auto", &best));
    run_on("host", "auto");
    if (best.type != CLAYER_DEVICE_HOST) {
        run_on("auto", "auto");
        run_on("auto", "panel");
        run_on("auto", "portable");
        if (best.type == CLAYER_DEVICE_CPU && best.compute_units > 1)
            run_on("auto", "host:team=1");
    } else {
        printf("[SKIP] threads on a device: no OpenCL device\n");
    }
    return atomic_load(&failures) != 0;
}
