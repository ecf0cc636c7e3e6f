#include "tune/runner.h"
#include "base/error.h"
#include "tune/process.h"
#include "tune/worker.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct runner {
    char *program; /* NULL: this process */
    char device[64];
    runner_tick tick;
    void *user;
    clayer_tune_shape shape;
    bool shaped;        /* the worker, or the trial, is about this shape */
    bool stopped, late; /* why the last task was lost */
    struct process process;
    clayer_context *context; /* in this process */
    struct trial *trial;
};

clayer_status runner_create(const char *program, const char *device, runner_tick tick, void *user,
                            struct runner **runner)
{
    struct runner *r = calloc(1, sizeof *r);
    char *copy = program ? strdup(program) : NULL;
    if (!r || (program && !copy)) {
        free(r);
        free(copy);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the tuner");
    }
    r->program = copy;
    snprintf(r->device, sizeof r->device, "%s", device);
    r->tick = tick;
    r->user = user;
    *runner = r;
    return CLAYER_OK;
}

void runner_destroy(struct runner **runner)
{
    struct runner *r = *runner;
    if (!r)
        return;
    *runner = NULL;
    process_end(&r->process);
    trial_destroy(&r->trial);
    clayer_context_destroy(&r->context);
    free(r->program);
    free(r);
}

void runner_shape(struct runner *runner, const clayer_tune_shape *shape)
{
    runner->shape = *shape;
    runner->shaped = false;
}

void runner_restart(struct runner *runner)
{
    process_end(&runner->process);
    trial_destroy(&runner->trial);
    clayer_context_destroy(&runner->context);
    runner->shaped = false;
}

bool runner_stopped(const struct runner *runner)
{
    return runner->stopped;
}

bool runner_late(const struct runner *runner)
{
    return runner->late;
}

/* Sends a line and takes the answer; *lost says, in words, that there is none and never will be. */
static bool ask(struct runner *r, const char *line, double deadline, char answer[WORKER_LINE], char *lost, size_t size)
{
    const double begun = trial_clock();
    enum process_answer got = PROCESS_GONE;
    if (process_send(&r->process, line))
        got = process_receive(&r->process, deadline, r->tick, r->user, answer, WORKER_LINE);
    if (got == PROCESS_LINE)
        return true;
    r->stopped = got == PROCESS_STOPPED;
    r->late = got == PROCESS_LATE;
    runner_restart(r);
    if (got == PROCESS_LATE)
        snprintf(lost, size, "it had not ended after %.1f s and was killed", trial_clock() - begun);
    else
        snprintf(lost, size, "%s", r->stopped ? "stopped" : r->process.ended);
    return false;
}

/* Asks for what is no candidate. */
static clayer_status command(struct runner *r, const char *line, double deadline)
{
    char answer[WORKER_LINE], lost[160];
    if (!ask(r, line, deadline, answer, lost, sizeof lost))
        return FAIL(r->stopped ? CLAYER_ERROR_CANCELLED : CLAYER_ERROR_DEVICE_UNUSABLE, "worker for device %s: %s",
                    r->device, lost);
    int status, text = 0;
    if (strcmp(answer, "ok") == 0)
        return CLAYER_OK;
    if (sscanf(answer, "error %d %n", &status, &text) == 1 && text && status > 0 && status <= CLAYER_ERROR_INTERNAL)
        return FAIL((clayer_status)status, "%s", answer + text);
    return FAIL(CLAYER_ERROR_INTERNAL, "the worker %s answered '%.80s'", r->program, answer);
}

clayer_status runner_start(struct runner *r, double deadline)
{
    char line[WORKER_LINE];
    r->stopped = r->late = false;
    if (!r->program)
        return r->context ? CLAYER_OK
                          : clayer_context_create(&(clayer_context_params){.device = r->device}, &r->context);
    if (r->process.pid != 0)
        return CLAYER_OK;
    TRY(process_start(r->program, &r->process));
    snprintf(line, sizeof line, "device %s", r->device);
    return command(r, line, deadline);
}

clayer_status runner_ready(struct runner *r, double deadline)
{
    TRY(runner_start(r, deadline));
    if (!r->program) {
        if (!r->shaped) {
            trial_destroy(&r->trial);
            TRY(trial_create(r->context, &r->shape, &r->trial));
        }
        r->shaped = true;
        return CLAYER_OK;
    }
    char line[WORKER_LINE];
    if (!r->shaped) {
        worker_print_shape(&r->shape, line);
        TRY(command(r, line, deadline));
    }
    r->shaped = true;
    return CLAYER_OK;
}

clayer_status runner_run(struct runner *r, enum runner_task task, const char *plan, size_t samples, double stop,
                         double deadline, struct outcome *outcome)
{
    static const char *const words[] = {"try", "time", "waited", "confirm"};
    TRY(runner_ready(r, deadline));
    if (!r->program) {
        if (r->tick && !r->tick(r->user)) {
            r->stopped = true;
            *outcome = (struct outcome){.verdict = CLAYER_VERDICT_LOST, .reason = "stopped"};
        } else if (task == RUNNER_TRY) {
            trial_try(r->trial, plan, samples, stop, outcome);
        } else if (task == RUNNER_CONFIRM) {
            trial_confirm(r->trial, plan, outcome);
        } else {
            trial_time(r->trial, plan, task == RUNNER_TIME_WAITED, samples, outcome);
        }
        return CLAYER_OK;
    }
    char line[WORKER_LINE], answer[WORKER_LINE], lost[160];
    snprintf(line, sizeof line, "%s %zu %llu %s", words[task], samples, (unsigned long long)(stop * 1e12), plan);
    if (!ask(r, line, deadline, answer, lost, sizeof lost)) {
        *outcome = (struct outcome){.verdict = CLAYER_VERDICT_LOST};
        snprintf(outcome->reason, sizeof outcome->reason, "%s", lost);
    } else if (!outcome_read(answer, outcome)) {
        return FAIL(CLAYER_ERROR_INTERNAL, "the worker %s answered '%.80s'", r->program, answer);
    }
    return CLAYER_OK;
}
