/* clayer-tune: the tuner on the command line. docs/tuning.md describes it. */
#include "tune.h"

#include <clayer/tuning.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stopped_by;

static void interrupt(int number)
{
    stopped_by = number;
    if (++tune_interrupts > 1)
        _exit(128 + number); /* what was measured is in the journal already */
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* This program's own file, which workers are started from. */
static const char *own_path(const char *argument)
{
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return argument;
    path[length] = '\0';
    return path;
}

/* The worst of two exit codes, so that a later success hides nothing. */
static int worse(int a, int b)
{
    return a == EXIT_CODE_FAILED || b == EXIT_CODE_FAILED ? EXIT_CODE_FAILED : a > b ? a : b;
}

static int code_of(clayer_status status)
{
    switch (status) {
    case CLAYER_OK:
        return 0;
    case CLAYER_ERROR_CANCELLED:
        return 128 + (stopped_by ? (int)stopped_by : SIGINT);
    case CLAYER_ERROR_TIMEOUT:
        return EXIT_CODE_TIME;
    case CLAYER_ERROR_IO:
        return EXIT_CODE_NOT_STORED;
    case CLAYER_ERROR_NO_DEVICE:
    case CLAYER_ERROR_NO_OPENCL:
    case CLAYER_ERROR_DEVICE_UNUSABLE:
        return EXIT_CODE_NO_DEVICE;
    default:
        return EXIT_CODE_FAILED;
    }
}

int tune_failed(const clayer_device_info *device)
{
    char said[1024];
    snprintf(said, sizeof said, "%s", clayer_last_error());
    if (device->type == CLAYER_DEVICE_HOST && clayer_opencl_status() != CLAYER_OK)
        return tool_failed("%s; there is no OpenCL device: %s", said, clayer_last_error());
    return tool_failed("%s", said);
}

static int tune_device(const struct tune_options *o, const clayer_device_info *device, const char *worker,
                       double time_limit)
{
    clayer_tuning_place place;
    if (clayer_tuning_get_place(device, &place) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    clayer_tune_result *results = calloc(o->shape_count, sizeof *results);
    if (!results)
        return tool_failed("no memory for %zu results", o->shape_count);
    if (!place.writable) /* not certain: the disk's last 100 KB hold a record, and others may make room meanwhile */
        fprintf(stderr, "clayer-tune: the records may not be stored; all results are printed: %s\n", place.reason);
    struct tune_progress progress = {.options = o, .device = device, .bar = isatty(STDERR_FILENO) && !o->json};
    const clayer_tune_params params = {.device = device->id,
                                       .shapes = o->shapes,
                                       .shape_count = o->shape_count,
                                       .effort = o->effort,
                                       .time_limit = time_limit,
                                       .worker = worker,
                                       .refresh = o->refresh,
                                       .callback = tune_progress_event,
                                       .user = &progress};
    const clayer_status status = clayer_tune(&params, results);
    int code = code_of(status);
    bool some = false;
    tune_progress_clear(&progress);
    for (size_t i = 0; i < o->shape_count; i++) {
        some = some || results[i].state == CLAYER_TUNE_TUNED;
        if (results[i].state == CLAYER_TUNE_FAILED)
            code = worse(code, EXIT_CODE_FAILED);
        if (results[i].state == CLAYER_TUNE_TUNED && !results[i].stored)
            code = worse(code, EXIT_CODE_NOT_STORED);
        if (o->json)
            tune_json_result(device, &o->shapes[i], &results[i]);
    }
    if (code == EXIT_CODE_TIME && some)
        code = 0; /* as much as was asked for */
    if (!o->json)
        tune_table(o, device, results, place.path);
    if (status != CLAYER_OK && status != CLAYER_ERROR_CANCELLED)
        tune_failed(device);
    free(results);
    return code;
}

static int tune(struct tune_options *o, const char *argument)
{
    clayer_device_info *devices = NULL;
    size_t count = 0;
    int code = tune_devices(o->device, &devices, &count);
    for (size_t i = 0; code == 0 && i < o->model_count; i++)
        code = tune_shapes_model(o, o->models[i]);
    const bool records = o->refresh && o->shape_count == 0;
    if (code == 0 && o->shape_count == 0 && !records)
        code = tune_shapes_text(o, "128x768x3072");
    if (code == 0)
        catch_signals();
    int worst = code;
    for (size_t i = 0; code == 0 && i < count && !tune_interrupts; i++) {
        if (records) {
            o->shape_count = 0;
            if ((worst = worse(worst, tune_shapes_records(o, &devices[i]))) || o->shape_count == 0)
                continue;
        }
        const double limit = o->time_limit / (double)count; /* fair between devices */
        worst = worse(worst, o->task == TASK_DRY_RUN ? tune_dry_run(o, &devices[i])
                                                     : tune_device(o, &devices[i], own_path(argument), limit));
    }
    free(devices);
    return worst;
}

int main(int argc, char **argv)
{
    struct tune_options o;
    tool_start("clayer-tune");
    int code = tune_options_read(argc, argv, &o);
    if (o.task != TASK_WORKER)
        tool_show_warnings();
    if (code < 0)
        code = o.task == TASK_WORKER                           ? clayer_tune_worker()
               : o.task == TASK_TUNE || o.task == TASK_DRY_RUN ? tune(&o, argv[0])
                                                               : tune_records(&o);
    tune_options_free(&o);
    return tool_finish(code);
}
