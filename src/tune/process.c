#include "tune/process.h"
#include "base/error.h"
#include "tune/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* How often a wait looks up (ms). */
#define TICK 100

clayer_status process_start(const char *program, struct process *process)
{
    int pair[2];
    memset(process, 0, sizeof *process);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return FAIL(CLAYER_ERROR_IO, "no socket for a worker: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!getenv("CLAYER_LOG")) /* compilers and dying drivers write there */
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    /* A group of its own: Ctrl-C is for the parent, which knows what to keep. */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    char *const arguments[] = {(char *)program, "--worker", NULL};
    pid_t pid = 0;
    const int code = posix_spawnp(&pid, program, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(pair[1]);
    if (code != 0) {
        close(pair[0]);
        return FAIL(CLAYER_ERROR_IO, "cannot start the worker program %s: %s", program, strerror(code));
    }
    process->pid = pid;
    process->socket = pair[0];
    return CLAYER_OK;
}

bool process_send(struct process *process, const char *line)
{
    char text[1024];
    const int length = snprintf(text, sizeof text, "%s\n", line);
    if (process->pid == 0 || length < 0 || (size_t)length >= sizeof text)
        return false;
    for (int sent = 0; sent < length;) {
        const ssize_t n = send(process->socket, text + sent, (size_t)(length - sent), MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        sent += n > 0 ? (int)n : 0;
    }
    return true;
}

static bool take_line(struct process *process, char *line, size_t size)
{
    char *end = memchr(process->pending, '\n', process->pending_size);
    if (!end)
        return false;
    const size_t length = (size_t)(end - process->pending);
    snprintf(line, size, "%.*s", (int)length, process->pending);
    process->pending_size -= length + 1;
    memmove(process->pending, end + 1, process->pending_size);
    return true;
}

enum process_answer process_receive(struct process *process, double deadline, bool (*tick)(void *), void *user,
                                    char *line, size_t size)
{
    for (;;) {
        if (take_line(process, line, size))
            return PROCESS_LINE;
        if (process->pid == 0 || process->pending_size == sizeof process->pending)
            return PROCESS_GONE;
        const double left = deadline - trial_clock();
        if (left <= 0)
            return PROCESS_LATE;
        struct pollfd ready = {.fd = process->socket, .events = POLLIN};
        const int answer = poll(&ready, 1, left * 1000 < TICK ? (int)(left * 1000) + 1 : TICK);
        if (answer == 0 || (answer < 0 && errno == EINTR)) {
            if (tick && !tick(user))
                return PROCESS_STOPPED;
            continue;
        }
        const ssize_t got = read(process->socket, process->pending + process->pending_size,
                                 sizeof process->pending - process->pending_size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return PROCESS_GONE;
        process->pending_size += (size_t)got;
    }
}

/* Gives a process that closed its socket a moment to end by itself, so that its own end can be told. */
static bool reap(struct process *process, int *status)
{
    for (int i = 0; i < 100; i++) {
        const pid_t got = waitpid(process->pid, status, WNOHANG);
        if (got != 0 && !(got < 0 && errno == EINTR))
            return got == process->pid;
        poll(NULL, 0, 10);
    }
    kill(process->pid, SIGKILL);
    pid_t got;
    do
        got = waitpid(process->pid, status, 0);
    while (got < 0 && errno == EINTR);
    return false;
}

void process_end(struct process *process)
{
    int status = 0;
    if (process->pid == 0)
        return;
    char byte;
    const bool closed = recv(process->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    if (!closed)
        kill(process->pid, SIGKILL);
    close(process->socket);
    const bool told = reap(process, &status);
    if (closed && told && WIFSIGNALED(status))
        snprintf(process->ended, sizeof process->ended, "its process was ended by signal %d", WTERMSIG(status));
    else if (closed && told)
        snprintf(process->ended, sizeof process->ended, "its process ended with exit code %d", WEXITSTATUS(status));
    else
        snprintf(process->ended, sizeof process->ended, "its process was ended");
    process->pid = 0;
    process->pending_size = 0;
}

#else

clayer_status process_start(const char *program, struct process *process)
{
    memset(process, 0, sizeof *process);
    return FAIL(CLAYER_ERROR_UNSUPPORTED, "worker program %s: this system has no worker processes yet", program);
}

bool process_send(struct process *process, const char *line)
{
    (void)process;
    (void)line;
    return false;
}

enum process_answer process_receive(struct process *process, double deadline, bool (*tick)(void *), void *user,
                                    char *line, size_t size)
{
    (void)process, (void)deadline, (void)tick, (void)user, (void)line, (void)size;
    return PROCESS_GONE;
}

void process_end(struct process *process)
{
    (void)process;
}
#endif
