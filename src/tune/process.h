/* A worker process and the line protocol with it, over one socket. */
#ifndef TUNE_PROCESS_H
#define TUNE_PROCESS_H

#include <clayer/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid; /* 0: none */
    int socket;
    char pending[2048]; /* read, and not yet handed out */
    size_t pending_size;
    char ended[120]; /* how it ended, for people */
};

/* Starts "PROGRAM --worker" with a socket as its standard input, nothing as its standard output, and its standard error
 * to nowhere unless CLAYER_LOG is set. UNSUPPORTED or IO when it cannot be started. */
clayer_status process_start(const char *program, struct process *process);

/* Sends one line. false when the worker is gone. */
bool process_send(struct process *process, const char *line);

enum process_answer { PROCESS_LINE, PROCESS_LATE, PROCESS_GONE, PROCESS_STOPPED };
/* Waits for a line (without its end) until the deadline on trial_clock's scale, asking tick a few times a second. */
enum process_answer process_receive(struct process *process, double deadline, bool (*tick)(void *), void *user,
                                    char *line, size_t size);

/* Kills the worker if need be, and fills `ended`. Safe when there is none. */
void process_end(struct process *process);

#endif
