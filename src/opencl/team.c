#include "opencl/team.h"
#include "base/library.h"
#include "base/log.h"
#include "opencl/capabilities.h"

#include <fenv.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* How long a helper without work looks for more before it goes back to its driver (s). Calls in a row then find it
 * awake; after the last one, a thread of the driver's stays busy for so long. */
#define LINGER_SECONDS 100e-6
/* More helpers than this cost more to wake one by one than they save. */
#define HELPERS_MAX 7
/* How long a team that is destroyed waits for its helpers when the driver does not (s); a driver that never starts one
 * keeps the team's memory. */
#define LEAVE_SECONDS 0.5
/* How often a waiting thread looks before it gives its processor away, and then before it sleeps: a helper that was
 * put aside must get one, whatever the threads' priorities. */
#define LOOKS 2000
#define YIELDS 200

/* The shares of the job in progress: how many, and the next to be taken. The generation keeps a helper that looked at
 * an earlier job from taking a share of this one by that job's numbers. */
#define STATE(generation, count, next) ((uint64_t)(generation) << 32 | (uint64_t)(count) << 16 | (uint64_t)(next))
#define GENERATION(state) ((uint32_t)((state) >> 32))
#define COUNT(state) ((size_t)((state) >> 16 & 0xffff))
#define NEXT(state) ((size_t)((state)&0xffff))

struct opencl_team {
    atomic_flag busy; /* one call at a time */
    _Atomic uint64_t state;
    atomic_size_t done;    /* shares of the job in progress */
    atomic_size_t present; /* helpers asked for that have not left */
    atomic_bool closing;
    /* Of the job in progress. Whoever has taken a share may read it: the job then cannot end before that share. */
    opencl_share_function *function;
    const void *job;
    fenv_t environment;
    /* Used by the call that has the team. */
    size_t helpers_most;
    cl_command_queue queue;
    bool out_of_order, refused;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool left(uint64_t state)
{
    return NEXT(state) < COUNT(state);
}

static bool take(struct opencl_team *team, uint64_t *taken)
{
    uint64_t state = atomic_load_explicit(&team->state, memory_order_acquire);
    while (left(state)) {
        if (atomic_compare_exchange_weak_explicit(&team->state, &state, state + 1, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            *taken = state;
            return true;
        }
    }
    return false;
}

/* What a driver's thread runs. */
static void CL_CALLBACK help(void *argument)
{
    struct opencl_team *team = *(struct opencl_team **)argument;
    fenv_t own;
    fegetenv(&own);
    uint64_t share, last = 0;
    bool worked = false;
    double until = now() + LINGER_SECONDS;
    while (!atomic_load_explicit(&team->closing, memory_order_relaxed)) {
        if (take(team, &share)) {
            if (!worked || GENERATION(share) != GENERATION(last))
                fesetenv(&team->environment);
            worked = true;
            last = share;
            team->function(team->job, NEXT(share));
            atomic_fetch_add_explicit(&team->done, 1, memory_order_release);
            until = now() + LINGER_SECONDS;
            continue;
        }
        for (int i = 0; i < 16; i++)
            relax();
        if (now() > until)
            break;
    }
    fesetenv(&own);
    atomic_fetch_sub_explicit(&team->present, 1, memory_order_release);
}

void opencl_team_create(struct opencl_context *context)
{
    const int64_t units = opencl_limit(context->info.compute_units, 1);
    if (!context->shared_memory || !context->api->clEnqueueNativeKernel || units < 2)
        return;
    const int64_t runs = opencl_device_number(context->api, context->device, CL_DEVICE_EXECUTION_CAPABILITIES);
    const int64_t queues = opencl_device_number(context->api, context->device, CL_DEVICE_QUEUE_PROPERTIES);
    if (runs == CLAYER_UNKNOWN || !(runs & CL_EXEC_NATIVE_KERNEL))
        return;
    struct opencl_team *team = calloc(1, sizeof *team);
    if (!team)
        return; /* the calling thread works alone */
    atomic_flag_clear(&team->busy);
    team->out_of_order = queues != CLAYER_UNKNOWN && (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    /* Commands of an in-order queue come one after another. */
    team->helpers_most = !team->out_of_order ? 1 : units - 1 < HELPERS_MAX ? (size_t)units - 1 : HELPERS_MAX;
    context->team = team;
}

/* Whether every helper that was asked for has left, in time. */
static bool all_left(struct opencl_team *team)
{
    const double until = now() + LEAVE_SECONDS;
    while (atomic_load_explicit(&team->present, memory_order_acquire) > 0) {
        if (now() > until)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return true;
}

void opencl_team_destroy(struct opencl_context *context)
{
    struct opencl_team *team = context->team;
    if (!team)
        return;
    if (team->queue && !opencl_forked()) {
        atomic_store(&team->closing, true);
        /* Should the driver not wait, its threads may still come: what they look at has to stay until they have left.
         */
        const bool gone = context->api->clFinish(team->queue) == CL_SUCCESS || all_left(team);
        context->api->clReleaseCommandQueue(team->queue);
        if (!gone)
            return;
    }
    context->team = NULL;
    free(team);
}

size_t opencl_team_helpers(const struct opencl_context *context)
{
    return context->team ? context->team->helpers_most : 0;
}

static bool open_queue(struct opencl_context *context, struct opencl_team *team)
{
    if (team->queue)
        return true;
    static const char here;
    cl_int code;
    /* A helper may be on its way when the application unloads the library. */
    library_stay(&here);
    team->queue = context->api->clCreateCommandQueue(
        context->context, context->device, team->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &code);
    if (code != CL_SUCCESS)
        team->queue = NULL;
    return team->queue;
}

/* Asks the driver for helpers until so many were there, as long as there is something left for them. One may have come,
 * done it all and left before the next is asked for. */
static void call_helpers(struct opencl_context *context, struct opencl_team *team, size_t helpers)
{
    for (size_t there = atomic_load_explicit(&team->present, memory_order_acquire); there < helpers; there++) {
        if (team->refused || !left(atomic_load_explicit(&team->state, memory_order_relaxed)))
            return;
        atomic_fetch_add_explicit(&team->present, 1, memory_order_relaxed);
        if (open_queue(context, team) && context->api->clEnqueueNativeKernel(team->queue, help, &team, sizeof team, 0,
                                                                             NULL, NULL, 0, NULL, NULL) == CL_SUCCESS) {
            context->api->clFlush(team->queue); /* if it fails, the helper comes late */
            continue;
        }
        atomic_fetch_sub_explicit(&team->present, 1, memory_order_relaxed);
        team->refused = true;
        log_write(CLAYER_LOG_DEBUG, "%s: its threads cannot help the calling thread", context->info.name);
    }
}

static void wait_for_all(struct opencl_team *team, size_t count)
{
    for (int i = 0; atomic_load_explicit(&team->done, memory_order_acquire) < count; i++) {
        if (i < LOOKS)
            relax();
        else if (i < LOOKS + YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

void opencl_team_run(struct opencl_context *context, size_t helpers, opencl_share_function *function, const void *job,
                     size_t count)
{
    struct opencl_team *team = context ? context->team : NULL;
    if (!team || count < 2 || (helpers == 0 && atomic_load_explicit(&team->present, memory_order_relaxed) == 0) ||
        opencl_forked() || atomic_flag_test_and_set_explicit(&team->busy, memory_order_acquire)) {
        for (size_t share = 0; share < count; share++)
            function(job, share);
        return;
    }
    team->function = function;
    team->job = job;
    fegetenv(&team->environment);
    atomic_store_explicit(&team->done, 0, memory_order_relaxed);
    const uint64_t state = atomic_load_explicit(&team->state, memory_order_relaxed);
    atomic_store_explicit(&team->state, STATE(GENERATION(state) + 1, count, 0), memory_order_release);
    call_helpers(context, team, helpers < team->helpers_most ? helpers : team->helpers_most);
    uint64_t share;
    while (take(team, &share)) {
        function(job, NEXT(share));
        atomic_fetch_add_explicit(&team->done, 1, memory_order_release);
    }
    wait_for_all(team, count);
    atomic_flag_clear_explicit(&team->busy, memory_order_release);
}
