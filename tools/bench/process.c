#include "bench/process.h"

#include "bench/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 24, MOST_SETTINGS = 4 };

static bool wrong(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct process *process, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(process->error, sizeof process->error, format, arguments);
    va_end(arguments);
    return false;
}

/* As in a build folder, or where it is installed. */
static bool find_program(const char *program, char *path, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    if (!*program)
        return (size_t)snprintf(path, size, "%s", self) < size;
    char *slash = strrchr(self, '/');
    *slash = 0;
    static const char *const places[] = {"/tools/bench/", "/../libexec/clayer/", "/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int written = snprintf(path, size, "%s%s%s", self, places[i], program);
        if (written > 0 && (size_t)written < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* This process's environment with the settings in front; what they name is left out of the rest. */
static char **environment_with(char *const settings[])
{
    extern char **environ;
    size_t count = 0, at = 0;
    while (environ[count])
        count++;
    char **result = malloc((count + MOST_SETTINGS + 1) * sizeof *result);
    if (!result)
        return NULL;
    for (size_t i = 0; settings[i] && i < MOST_SETTINGS; i++)
        result[at++] = settings[i];
    for (size_t i = 0; i < count; i++) {
        bool named = false;
        for (size_t s = 0; settings[s]; s++)
            named = named || !strncmp(environ[i], settings[s], strcspn(settings[s], "=") + 1);
        if (!named)
            result[at++] = environ[i];
    }
    result[at] = NULL;
    return result;
}

bool process_start(struct process *process, const char *program, char *const arguments[], char *const settings[])
{
    char path[4200];
    char *argv[MOST_ARGUMENTS + 2];
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    *process = (struct process){0};
    if (!find_program(program, path, sizeof path))
        return wrong(process, "%s is not there: it was not built, since its library was not found", program);
    size_t count = 0;
    argv[0] = path;
    while (arguments[count] && count < MOST_ARGUMENTS) {
        argv[count + 1] = arguments[count];
        count++;
    }
    argv[count + 1] = NULL;
    char **environment = environment_with(settings);
    if (!environment)
        return wrong(process, "out of memory");
    int code = pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0 ? errno : 0;
    if (code == 0) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
        code = posix_spawn(&process->pid, path, &actions, NULL, argv, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    close(down[0]);
    close(up[1]);
    process->to = down[1];
    process->from = up[0];
    if (code != 0) {
        process->pid = 0;
        close(down[1]);
        close(up[0]);
        return wrong(process, "cannot start %s: %s", path, strerror(code));
    }
    return true;
}

static void reap(struct process *process, bool by_force)
{
    int status = 0;
    if (process->pid == 0)
        return;
    if (by_force)
        kill(process->pid, SIGKILL);
    close(process->to);
    close(process->from);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    process->pid = 0;
    if (by_force)
        return;
    if (WIFSIGNALED(status))
        wrong(process, "its process was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        wrong(process, "its process ended with exit code %d", WEXITSTATUS(status));
}

bool process_send(struct process *process, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (process->pid == 0)
        return wrong(process, "its process is not running");
    line[length++] = '\n';
    if (write(process->to, line, (size_t)length) == length) /* shorter than PIPE_BUF, so whole or not at all */
        return true;
    reap(process, false);
    return false;
}

bool process_line(struct process *process, double deadline, char *line, size_t size)
{
    for (;;) {
        char *end = memchr(process->pending, '\n', process->pending_size);
        if (end) {
            size_t length = (size_t)(end - process->pending);
            snprintf(line, size, "%.*s", (int)length, process->pending);
            process->pending_size -= length + 1;
            memmove(process->pending, end + 1, process->pending_size);
            return true;
        }
        if (process->pid == 0)
            return wrong(process, "its process is not running");
        double left = deadline - clock_now();
        struct pollfd ready = {.fd = process->from, .events = POLLIN};
        int answer = left > 0 ? poll(&ready, 1, left < 1e6 ? (int)(left * 1000) + 1 : 1000000000) : 0;
        if (answer < 0 && errno == EINTR)
            continue;
        if (answer <= 0 || process->pending_size == sizeof process->pending) {
            reap(process, true);
            return wrong(process, answer <= 0 ? "time is up" : "its process sent no line");
        }
        ssize_t got = read(process->from, process->pending + process->pending_size,
                           sizeof process->pending - process->pending_size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            reap(process, false);
            return false;
        }
        process->pending_size += (size_t)got;
    }
}

void process_end(struct process *process)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    if (process->pid == 0)
        return;
    close(process->to);
    process->to = -1;
    for (int i = 0; i < 200; i++) { /* drivers take their time to go; two seconds are enough */
        if (waitpid(process->pid, NULL, WNOHANG) == process->pid) {
            close(process->from);
            process->pid = 0;
            return;
        }
        nanosleep(&nap, NULL);
    }
    reap(process, true);
}
