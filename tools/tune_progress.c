/* What is seen while it tunes: a bar on a terminal, a JSON line for each event, nothing else. */
#include "tune.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* How often the bar is drawn (s). */
#define REDRAW 0.1

volatile sig_atomic_t tune_interrupts;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tune_print_time(double seconds, char text[24])
{
    if (seconds <= 0)
        snprintf(text, 24, "-");
    else if (seconds < 1e-3)
        snprintf(text, 24, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, 24, "%.3f ms", seconds * 1e3);
    else
        snprintf(text, 24, "%.3f s", seconds);
}

void tune_json_line(json_t *object)
{
    if (object) {
        json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
        putchar('\n');
        fflush(stdout);
    }
    json_decref(object);
}

json_t *tune_shape_json(const clayer_tune_shape *s)
{
    return json_pack("{s:I, s:I, s:I, s:s, s:b}", "batch", (json_int_t)s->batch, "in_features",
                     (json_int_t)s->in_features, "out_features", (json_int_t)s->out_features, "activation",
                     clayer_activation_string(s->activation), "bias", !s->no_bias);
}

static json_t *seconds_or_null(double seconds)
{
    return seconds > 0 ? json_real(seconds) : json_null();
}

static void send_event(const struct tune_progress *t, const clayer_tune_progress *p)
{
    if (p->event == CLAYER_TUNE_BEGIN)
        tune_json_line(json_pack("{s:s, s:s, s:o, s:I, s:I, s:I}", "event", "begin", "device", t->device->id, "shape",
                                 tune_shape_json(p->shape), "index", (json_int_t)p->shape_index, "of",
                                 (json_int_t)p->shape_count, "total", (json_int_t)p->total));
    else if (p->event == CLAYER_TUNE_CANDIDATE)
        tune_json_line(json_pack(
            "{s:s, s:I, s:I, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o}", "event", "candidate", "done",
            (json_int_t)p->done, "total", (json_int_t)p->total, "plan", p->candidate, "verdict",
            clayer_verdict_string(p->verdict), "seconds", seconds_or_null(p->candidate_seconds), "reason", p->reason,
            "best_plan", p->plan, "best_seconds", seconds_or_null(p->best_seconds), "default_seconds",
            seconds_or_null(p->default_seconds), "clblast_seconds", seconds_or_null(p->clblast_seconds)));
}

void tune_progress_clear(struct tune_progress *t)
{
    if (t->drawn)
        fputs("\r\033[K", stderr);
    t->drawn = false;
}

static void draw(struct tune_progress *t, const clayer_tune_progress *p)
{
    char best[24], standard[24], clblast[24], left[24] = "", line[256];
    struct winsize window = {0};
    const double time = now();
    if (t->drawn && p->event == CLAYER_TUNE_WAITING && time - t->drawn_at < REDRAW)
        return;
    t->drawn_at = time;
    const size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
    char bar[17] = "";
    const size_t total = p->total > p->done ? p->total : p->done ? p->done : 1, width = columns < 110 ? 6 : 16;
    for (size_t i = 0; i < width; i++)
        bar[i] = i * total < width * p->done ? '#' : '.';
    tune_print_time(p->best_seconds, best);
    tune_print_time(p->default_seconds, standard);
    tune_print_time(p->clblast_seconds, clblast);
    if (p->seconds_left >= 0)
        snprintf(left, sizeof left, ", %.0f s left", p->seconds_left);
    snprintf(line, sizeof line, "%zu/%zu %zux%zux%zu [%s] %zu/%zu%s  best %s, default %s%s%s", p->shape_index + 1,
             p->shape_count, p->shape->batch, p->shape->in_features, p->shape->out_features, bar, p->done, total,
             tune_interrupts ? ", stopping" : left, best, standard, p->clblast_seconds > 0 ? ", clblast " : "",
             p->clblast_seconds > 0 ? clblast : "");
    if (strlen(line) >= columns)
        line[columns - 1] = '\0';
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    t->drawn = true;
}

int tune_progress_event(void *user, const clayer_tune_progress *p)
{
    struct tune_progress *t = user;
    if (t->options->json)
        send_event(t, p);
    const bool bad =
        p->event == CLAYER_TUNE_CANDIDATE && (p->verdict == CLAYER_VERDICT_WRONG || p->verdict == CLAYER_VERDICT_LOST ||
                                              p->verdict == CLAYER_VERDICT_FAILED);
    if (bad && !t->options->json) {
        tune_progress_clear(t);
        fprintf(stderr, "%s: %s for %zux%zux%zu: %s\n", clayer_verdict_string(p->verdict), p->candidate,
                p->shape->batch, p->shape->in_features, p->shape->out_features, p->reason);
    }
    if (t->bar)
        draw(t, p);
    return tune_interrupts != 0;
}
