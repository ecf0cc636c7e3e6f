#include "tune/worker.h"
#include "tune/trial.h"

#include <clayer/linear.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

struct worker {
    clayer_context *context;
    struct trial *trial;
};

void worker_print_shape(const clayer_tune_shape *shape, char line[WORKER_LINE])
{
    uint32_t alpha, beta;
    memcpy(&alpha, &shape->activation_alpha, sizeof alpha);
    memcpy(&beta, &shape->activation_beta, sizeof beta);
    snprintf(line, WORKER_LINE, "shape %zu %zu %zu %s %" PRIx32 " %" PRIx32 " %d", shape->batch, shape->in_features,
             shape->out_features, clayer_activation_string(shape->activation), alpha, beta, !shape->no_bias);
}

static clayer_status read_shape(const char *text, clayer_tune_shape *shape)
{
    char activation[32];
    uint32_t alpha, beta;
    int bias;
    memset(shape, 0, sizeof *shape);
    if (sscanf(text, "%zu %zu %zu %31s %" SCNx32 " %" SCNx32 " %d", &shape->batch, &shape->in_features,
               &shape->out_features, activation, &alpha, &beta, &bias) != 7)
        return CLAYER_ERROR_FORMAT;
    memcpy(&shape->activation_alpha, &alpha, sizeof alpha);
    memcpy(&shape->activation_beta, &beta, sizeof beta);
    shape->no_bias = !bias;
    return clayer_activation_parse(activation, &shape->activation);
}

static clayer_status set_device(struct worker *worker, const char *device)
{
    trial_destroy(&worker->trial);
    clayer_context_destroy(&worker->context);
    return clayer_context_create(&(clayer_context_params){.device = device}, &worker->context);
}

static clayer_status set_shape(struct worker *worker, const char *text)
{
    clayer_tune_shape shape;
    trial_destroy(&worker->trial);
    const clayer_status status = read_shape(text, &shape);
    return status == CLAYER_OK ? trial_create(worker->context, &shape, &worker->trial) : status;
}

static void run(struct worker *worker, const char *task, const char *text, struct outcome *outcome)
{
    size_t samples;
    uint64_t stop;
    char plan[PLAN_BYTES];
    if (!worker->trial || sscanf(text, "%zu %" SCNu64 " %191s", &samples, &stop, plan) != 3) {
        *outcome = (struct outcome){.verdict = CLAYER_VERDICT_FAILED, .status = CLAYER_ERROR_FORMAT};
        return;
    }
    if (strcmp(task, "try") == 0)
        trial_try(worker->trial, plan, samples, (double)stop * 1e-12, outcome);
    else if (strcmp(task, "confirm") == 0)
        trial_confirm(worker->trial, plan, outcome);
    else
        trial_time(worker->trial, plan, strcmp(task, "waited") == 0, samples, outcome);
}

static bool answer(int descriptor, const char *text)
{
    char line[WORKER_LINE];
    const int length = snprintf(line, sizeof line, "%s\n", text);
    for (int sent = 0; sent < length;) {
        const ssize_t n = write(descriptor, line + sent, (size_t)(length - sent));
        if (n <= 0)
            return false;
        sent += (int)n;
    }
    return true;
}

static bool handle(struct worker *worker, char *line)
{
    char text[WORKER_LINE - 8] = "ok";
    clayer_status status = CLAYER_OK;
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    if (strcmp(line, "device") == 0) {
        status = set_device(worker, rest);
    } else if (strcmp(line, "shape") == 0) {
        status = set_shape(worker, rest);
    } else {
        struct outcome outcome;
        run(worker, line, rest, &outcome);
        outcome_write(&outcome, text);
    }
    if (status != CLAYER_OK)
        snprintf(text, sizeof text, "error %d %.800s", (int)status, clayer_last_error());
    return answer(STDIN_FILENO, text);
}

int clayer_tune_worker(void)
{
#ifndef _WIN32
    const struct rlimit no_core = {0, 0}; /* a driver that crashes is expected here */
    setrlimit(RLIMIT_CORE, &no_core);
#endif
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a candidate that hangs must not outlive a parent that was killed */
#endif
    struct worker worker = {0};
    char line[WORKER_LINE];
    size_t used = 0;
    for (;;) {
        const ssize_t got = read(STDIN_FILENO, line + used, sizeof line - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
        char *end = memchr(line, '\n', used);
        if (!end && used == sizeof line - 1)
            break;
        if (!end)
            continue;
        *end = '\0';
        if (!handle(&worker, line))
            break;
        used = 0; /* the parent waits for an answer before it asks again */
    }
    /* Drivers that hang or crash in their destructors have done their work here. */
    _exit(0);
}
