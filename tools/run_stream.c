/* Reading, computing and writing at the same time: a ring of batches that a reader thread fills, the calling thread
 * computes and a writer thread takes, each in order. */
#include "run.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One batch for each of the three. */
#define SLOTS 3
/* How often a waiting thread looks whether a signal came (ns). */
#define LOOK_NS 50000000

enum slot_state { SLOT_FREE, SLOT_READ, SLOT_COMPUTED };

struct slot {
    struct run_batch batch; /* 0 rows: the end */
    enum slot_state state;
};

struct ring {
    struct run_stream *stream;
    struct slot slots[SLOTS];
    pthread_mutex_t lock; /* guards what follows and the states */
    pthread_cond_t changed;
    bool failed, reader_done;
    clayer_status status; /* the first failure */
    char why[1024];
};

/* What the handlers tell; a process has one set of signals. */
static volatile sig_atomic_t stop_signal;
/* The reader is not waited for with its read complete: the run has failed elsewhere. */
static atomic_bool abandoned;

static void on_stop(int signal)
{
    stop_signal = signal;
}

static void on_wake(int signal)
{
    (void)signal; /* its only effect: a blocked read returns */
}

double run_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool run_cancelled(void *user)
{
    (void)user;
    return stop_signal != 0 || atomic_load(&abandoned);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_wake};
    sigaction(SIGURG, &action, NULL);
    action.sa_handler = on_stop;
    action.sa_flags = (int)SA_RESETHAND; /* the second one ends the process */
    const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        /* Started in the background with "ignore": stays so. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

static void fail(struct ring *ring, clayer_status status, const char *why)
{
    pthread_mutex_lock(&ring->lock);
    if (!ring->failed) {
        ring->failed = true;
        atomic_store(&abandoned, true);
        ring->status = status;
        snprintf(ring->why, sizeof ring->why, "%s", why);
    }
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

/* Waits until the slot is in this state; false when the run has failed or was stopped. */
static bool await(struct ring *ring, const struct slot *slot, enum slot_state state)
{
    pthread_mutex_lock(&ring->lock);
    while (slot->state != state && !ring->failed && !stop_signal) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&ring->changed, &ring->lock, &until);
    }
    const bool go = !ring->failed && !stop_signal;
    pthread_mutex_unlock(&ring->lock);
    return go;
}

static void pass_on(struct ring *ring, struct slot *slot, enum slot_state state)
{
    pthread_mutex_lock(&ring->lock);
    slot->state = state;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

/* Reads the rows that belong to a batch of the input from a table beside it, which must go on as long. */
static bool read_beside(struct ring *ring, const struct slot *slot, bool labels)
{
    const struct run_stream *s = ring->stream;
    const struct run_batch *batch = &slot->batch;
    const char *path = labels ? s->labels_path : s->reference_path;
    size_t got = 0;
    /* One row more would be wrong at the end of the input, so the end is asked for too. */
    const size_t want = batch->rows ? batch->rows : 1;
    const clayer_status status = labels ? clayer_rows_read_labels(s->labels, batch->labels, want, &got)
                                        : clayer_rows_read(s->reference, batch->reference, want, &got);
    char why[512];
    if (status != CLAYER_OK) {
        fail(ring, status, clayer_last_error());
        return false;
    }
    if (got != batch->rows) {
        snprintf(why, sizeof why, "%.300s has %s rows than the input; one for each is accepted", path,
                 got < batch->rows ? "fewer" : "more");
        fail(ring, CLAYER_ERROR_MISMATCH, why);
        return false;
    }
    for (size_t i = 0; labels && i < got; i++)
        if (batch->labels[i] < 0 || (uint64_t)batch->labels[i] >= s->out_features) {
            snprintf(why, sizeof why, "%.300s: label %lld; the model has classes 0 to %zu", path,
                     (long long)batch->labels[i], s->out_features - 1);
            fail(ring, CLAYER_ERROR_MISMATCH, why);
            return false;
        }
    return true;
}

static void *read_batches(void *user)
{
    struct ring *ring = user;
    const struct run_stream *s = ring->stream;
    for (size_t i = 0;; i = (i + 1) % SLOTS) {
        struct slot *slot = &ring->slots[i];
        if (!await(ring, slot, SLOT_FREE))
            break;
        const clayer_status status = clayer_rows_read(s->input, slot->batch.x, s->batch, &slot->batch.rows);
        if (status != CLAYER_OK) {
            if (status != CLAYER_ERROR_CANCELLED)
                fail(ring, status, clayer_last_error());
            break;
        }
        if ((s->labels && !read_beside(ring, slot, true)) || (s->reference && !read_beside(ring, slot, false)))
            break;
        const bool end = slot->batch.rows == 0;
        pass_on(ring, slot, SLOT_READ);
        if (end)
            break;
    }
    pthread_mutex_lock(&ring->lock);
    ring->reader_done = true;
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

static void *take_batches(void *user)
{
    struct ring *ring = user;
    for (size_t i = 0;; i = (i + 1) % SLOTS) {
        struct slot *slot = &ring->slots[i];
        if (!await(ring, slot, SLOT_COMPUTED) || slot->batch.rows == 0)
            return NULL;
        const clayer_status status = run_results_take(ring->stream->results, &slot->batch);
        if (status != CLAYER_OK) {
            fail(ring, status, clayer_last_error());
            return NULL;
        }
        pass_on(ring, slot, SLOT_FREE);
    }
}

/* One line that is written over; only on a terminal. */
static void show_progress(const struct run_stream *s, size_t rows, double start, double *shown, bool end)
{
    const double now = run_now();
    if (!s->progress || (!end && now - *shown < 0.2))
        return;
    *shown = now;
    if (end) {
        fputs("\r\033[K", stderr);
        return;
    }
    const double rate = (double)rows / (now - start);
    if (s->total == CLAYER_ROWS_UNKNOWN) {
        fprintf(stderr, "\r%zu rows, %.0f rows/s\033[K", rows, rate);
    } else {
        char bar[31] = "..............................";
        memset(bar, '#', s->total ? rows * 30 / s->total : 30);
        fprintf(stderr, "\r[%s] %zu of %zu rows, %.0f rows/s, %.0f s left\033[K", bar, rows, s->total, rate,
                (double)(s->total - rows) / rate);
    }
    fflush(stderr);
}

static void compute_batches(struct ring *ring, double start)
{
    const struct run_stream *s = ring->stream;
    double shown = 0; /* the first batch shows at once */
    size_t rows = 0;
    for (size_t i = 0;; i = (i + 1) % SLOTS) {
        struct slot *slot = &ring->slots[i];
        if (!await(ring, slot, SLOT_READ))
            break;
        struct run_batch *batch = &slot->batch;
        const size_t count = batch->rows; /* once passed on, the slot is another thread's */
        const clayer_status status =
            clayer_model_forward(s->model, count, batch->x, s->in_features, batch->y, s->out_features);
        if (status != CLAYER_OK) {
            fail(ring, status, clayer_last_error());
            break;
        }
        pass_on(ring, slot, SLOT_COMPUTED);
        if (count == 0)
            break;
        if (rows == 0) {
            s->times->first = run_now() - start;
            s->times->first_rows = count;
        }
        rows += count;
        show_progress(s, rows, start, &shown, false);
    }
    show_progress(s, rows, start, &shown, true);
}

static bool allocate_values(float **values, size_t rows, size_t columns)
{
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count) || count > SIZE_MAX / sizeof(float) - 1)
        return false;
    *values = malloc((count + 1) * sizeof(float)); /* never 0 bytes, whose NULL would look like a failure */
    return *values != NULL;
}

static bool allocate(struct ring *ring)
{
    const struct run_stream *s = ring->stream;
    for (size_t i = 0; i < SLOTS; i++) {
        struct run_batch *batch = &ring->slots[i].batch;
        if (!allocate_values(&batch->x, s->batch, s->in_features) ||
            !allocate_values(&batch->y, s->batch, s->out_features) ||
            (s->reference && !allocate_values(&batch->reference, s->batch, s->out_features)) ||
            (s->labels && !(batch->labels = malloc(s->batch * sizeof *batch->labels))))
            return false;
    }
    return true;
}

/* Waits for the reader, who may be blocked on a pipe that nobody writes to. */
static void join_reader(struct ring *ring, pthread_t reader)
{
    while (run_cancelled(NULL)) {
        pthread_mutex_lock(&ring->lock);
        const bool done = ring->reader_done;
        pthread_mutex_unlock(&ring->lock);
        if (done)
            break;
        pthread_kill(reader, SIGURG);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS / 10}, NULL);
    }
    pthread_join(reader, NULL);
}

clayer_status run_stream(struct run_stream *stream, int *stopped, char *why, size_t why_size)
{
    struct ring ring = {.stream = stream, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t reader, writer;
    const double start = run_now();
    catch_signals();
    if (!allocate(&ring)) {
        char text[128];
        snprintf(text, sizeof text, "no memory for three batches of %zu rows: choose a smaller --batch", stream->batch);
        fail(&ring, CLAYER_ERROR_OUT_OF_MEMORY, text);
    } else if (pthread_create(&reader, NULL, read_batches, &ring) != 0) {
        fail(&ring, CLAYER_ERROR_OUT_OF_MEMORY, "the system gives no thread for reading");
    } else {
        if (pthread_create(&writer, NULL, take_batches, &ring) != 0) {
            fail(&ring, CLAYER_ERROR_OUT_OF_MEMORY, "the system gives no thread for writing");
        } else {
            compute_batches(&ring, start);
            pthread_join(writer, NULL);
        }
        join_reader(&ring, reader);
    }
    stream->times->rest = run_now() - start - stream->times->first;
    for (size_t i = 0; i < SLOTS; i++) {
        struct run_batch *batch = &ring.slots[i].batch;
        free(batch->x);
        free(batch->y);
        free(batch->labels);
        free(batch->reference);
    }
    *stopped = stop_signal;
    snprintf(why, why_size, "%s", ring.why);
    return ring.failed ? ring.status : *stopped ? CLAYER_ERROR_CANCELLED : CLAYER_OK;
}
