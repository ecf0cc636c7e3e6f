/* A peer's process as the parent sees it. */
#ifndef TOOLS_BENCH_PROCESS_H
#define TOOLS_BENCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid; /* 0: not running */
    int to, from;
    char pending[4096]; /* read, and not yet handed out */
    size_t pending_size;
    char error[512]; /* why the last function failed */
};

/* Starts `program` of this installation ("" names clayer-bench itself) with these arguments (NULL at the end, without
 * the program's name) and these environment settings "NAME=VALUE" (NULL at the end). */
bool process_start(struct process *process, const char *program, char *const arguments[], char *const settings[]);

bool process_send(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next line, without its end, before `deadline` on clock_now's scale. A process that is late, or gone, is ended. */
bool process_line(struct process *process, double deadline, char *line, size_t size);

/* Ends the process, kindly where it is idle. */
void process_end(struct process *process);

#endif
