/* clayer-tune's own parts. */
#ifndef TOOLS_TUNE_H
#define TOOLS_TUNE_H

#include "common.h"

#include <clayer/tune.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    EXIT_CODE_NOT_STORED = 4, /* tuned and printed, and not, or not wholly, stored */
    EXIT_CODE_TIME = 5        /* the time limit came before any shape was done */
};

enum tune_task { TASK_TUNE, TASK_DRY_RUN, TASK_SHOW, TASK_FORGET, TASK_EXPORT, TASK_IMPORT, TASK_HEADER, TASK_WORKER };

struct tune_options {
    enum tune_task task;
    const char *device, *file; /* file: of --export, --import, --header */
    char array[64];            /* its name in --header's file */
    clayer_effort effort;
    double time_limit;
    clayer_activation activation;
    bool refresh, json;
    clayer_tune_shape *shapes;
    size_t shape_count;
    const char **models;
    size_t model_count;
};

/* -1 to go on, else the exit code. */
int tune_options_read(int argc, char **argv, struct tune_options *options);
void tune_options_free(struct tune_options *options);

/* What the array in a header is called, after its file. 0 or an exit code after an error line. */
int tune_header_name(const char *path, char name[64]);

/* Appends "BATCHxINxOUT" (or a chain's layers) with the activation; a shape that is there already is left out. 0 or an
 * exit code after an error line. */
int tune_shapes_text(struct tune_options *options, const char *text);
int tune_shapes_suite(struct tune_options *options, const char *name);
/* The layers of a model file, at the batches that --model tunes for. */
int tune_shapes_model(struct tune_options *options, const char *path);
/* Every shape that the user's records for this device hold. */
int tune_shapes_records(struct tune_options *options, const clayer_device_info *device);

/* The devices that the selector means: one, or with "all" every usable OpenCL device, equal ones once. *devices on the
 * heap. 0 or an exit code. */
int tune_devices(const char *selector, clayer_device_info **devices, size_t *count);

/* Draws what happens while it happens. */
struct tune_progress {
    const struct tune_options *options;
    const clayer_device_info *device;
    bool bar, drawn;
    double drawn_at;
};
extern volatile sig_atomic_t tune_interrupts;                              /* how often Ctrl-C was pressed */
int tune_progress_event(void *user, const clayer_tune_progress *progress); /* a clayer_tune_callback */
void tune_progress_clear(struct tune_progress *progress);

/* The closing table, and the JSON lines of an end. */
void tune_table(const struct tune_options *options, const clayer_device_info *device, const clayer_tune_result *results,
                const char *place);
json_t *tune_shape_json(const clayer_tune_shape *shape);
void tune_json_line(json_t *object); /* takes it */
void tune_json_result(const clayer_device_info *device, const clayer_tune_shape *shape,
                      const clayer_tune_result *result);

/* "1.234 ms" */
void tune_print_time(double seconds, char text[24]);

/* Reports the last error; of the host, which is taken where there is no other device, also why there is none. */
int tune_failed(const clayer_device_info *device);

int tune_dry_run(const struct tune_options *options, const clayer_device_info *device);
int tune_records(struct tune_options *options);

#endif
