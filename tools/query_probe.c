/* Running children side by side, each within a time limit, whatever a driver does to them. */
#include "query.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    LIST_LIMIT_MS = 4000,  /* to load and list: an ordinary driver needs 0.01 to 0.5 s */
    TOTAL_LIMIT_MS = 9000, /* with all trials: a first compilation takes a second, on a slow or busy machine several */
    TOGETHER_LIMIT_MS = 14000,   /* of everything, so that the tool answers within 15 s */
    STARVED_LIMIT_MS = 45000,    /* on top at most, for what a child waited for a processor */
    LINE_LIMIT = 4 * 1024 * 1024 /* a hostile driver can't make the parent's memory grow without bound */
};

struct running {
    struct child *child;
    pid_t pid;
    int events, errors; /* pipes; -1 when closed */
    char *line;         /* what came of the current event */
    size_t line_length;
    long long started;
};

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void take_tried(struct child *child, const json_t *value)
{
    const char *id = json_string_value(json_object_get(value, "id"));
    size_t i;
    json_t *device;
    json_array_foreach(child->devices, i, device)
    {
        const char *other = json_string_value(json_object_get(device, "id"));
        if (!id || !other || strcmp(id, other) != 0)
            continue;
        const char *reason = json_string_value(json_object_get(value, "reason"));
        json_int_t timers = json_integer_value(json_object_get(value, "timers_plausible"));
        json_object_set(device, "usable", json_object_get(value, "usable"));
        json_object_set_new(device, "reason", reason && *reason ? json_string(reason) : json_null());
        json_object_set_new(device, "timers_plausible", timers < 0 ? json_null() : json_boolean(timers));
    }
    child->trying[0] = '\0';
}

static void take_event(struct running *r, const char *line)
{
    struct child *child = r->child;
    json_t *event = json_loads(line, 0, NULL);
    const char *name = json_string_value(json_object_get(event, "event"));
    json_t *value = json_object_get(event, "value");
    if (!name)
        snprintf(child->reason, sizeof child->reason, "its probe sent a malformed line");
    else if (strcmp(name, "missing") == 0) {
        snprintf(child->status, sizeof child->status, "missing");
        snprintf(child->reason, sizeof child->reason, "its library cannot be opened: %.400s", json_string_value(value));
    } else if (strcmp(name, "opencl") == 0)
        child->opencl = json_incref(value);
    else if (strcmp(name, "platform") == 0)
        json_array_append(child->platforms, value);
    else if (strcmp(name, "device") == 0)
        json_array_append(child->devices, value);
    else if (strcmp(name, "selected") == 0)
        child->selected = json_incref(value);
    else if (strcmp(name, "explanation") == 0)
        child->explanation = json_incref(value);
    else if (strcmp(name, "listed") == 0)
        child->listed = true;
    else if (strcmp(name, "try") == 0)
        snprintf(child->trying, sizeof child->trying, "%s", json_string_value(value));
    else if (strcmp(name, "tried") == 0)
        take_tried(child, value);
    else if (strcmp(name, "end") == 0)
        child->finished = true;
    json_decref(event);
}

/* Reads what is there; closes the pipe at its end. */
static void read_events(struct running *r)
{
    char bytes[4096];
    ssize_t count = read(r->events, bytes, sizeof bytes);
    if (count <= 0) {
        if (count == 0 || errno != EINTR) {
            close(r->events);
            r->events = -1;
        }
        return;
    }
    char *grown =
        r->line_length + (size_t)count > LINE_LIMIT ? NULL : realloc(r->line, r->line_length + (size_t)count + 1);
    if (!grown) {
        close(r->events);
        r->events = -1;
        return;
    }
    r->line = grown;
    memcpy(r->line + r->line_length, bytes, (size_t)count);
    r->line_length += (size_t)count;
    r->line[r->line_length] = '\0';
    for (char *end; (end = memchr(r->line, '\n', r->line_length));) {
        *end = '\0';
        take_event(r, r->line);
        size_t used = (size_t)(end + 1 - r->line);
        memmove(r->line, end + 1, r->line_length - used + 1);
        r->line_length -= used;
    }
}

/* Keeps the last line that is not empty: mostly the reason of an abort. */
static void read_errors(struct running *r)
{
    char bytes[4096];
    ssize_t count = read(r->errors, bytes, sizeof bytes - 1);
    if (count <= 0) {
        if (count == 0 || errno != EINTR) {
            close(r->errors);
            r->errors = -1;
        }
        return;
    }
    bytes[count] = '\0';
    for (char *line = strtok(bytes, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
                *c = '?';
        if (line[strspn(line, " ?")])
            snprintf(r->child->last_words, sizeof r->child->last_words, "%s", line);
    }
}

/* The environment with OCL_ICD_VENDORS replaced; entries are borrowed but for the first. */
static char **child_environment(const char *vendors)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **environment = calloc(count + 2, sizeof *environment);
    if (!environment)
        return NULL;
    size_t used = 0;
    if (vendors) {
        size_t size = strlen(vendors) + 20;
        environment[used] = malloc(size);
        if (environment[used])
            snprintf(environment[used++], size, "OCL_ICD_VENDORS=%s", vendors);
    }
    for (size_t i = 0; i < count; i++)
        if (!vendors ||
            (strncmp(environ[i], "OCL_ICD_VENDORS=", 16) != 0 && strncmp(environ[i], "OCL_ICD_FILENAMES=", 18) != 0 &&
             strncmp(environ[i], "OPENCL_VENDOR_PATH=", 19) != 0))
            environment[used++] = environ[i];
    return environment;
}

static bool start(struct running *r)
{
    static const char *const tasks[] = {[CHILD_TRY] = "try", [CHILD_LIST] = "list", [CHILD_BOTH] = "both"};
    struct child *child = r->child;
    const char *arguments[12] = {"clayer-query", "--probe", tasks[child->task]};
    int count = 3;
    if (child->library) {
        arguments[count++] = "--probe-library";
        arguments[count++] = child->library;
    }
    if (child->selector) {
        arguments[count++] = "--device";
        arguments[count++] = child->selector;
    }
    if (child->properties)
        arguments[count++] = "--all";
    if (child->explain)
        arguments[count++] = "--explain";

    int events[2], errors[2];
    if (pipe2(events, O_CLOEXEC) != 0)
        return false;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(events[0]);
        close(events[1]);
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, events[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* helpers of a driver are stopped with it */
    posix_spawnattr_setpgroup(&attributes, 0);
    char **environment = child_environment(child->vendors);
    int failed = environment
                     ? posix_spawn(&r->pid, "/proc/self/exe", &actions, &attributes, (char **)arguments, environment)
                     : ENOMEM;
    if (environment && child->vendors)
        free(environment[0]);
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(events[1]);
    close(errors[1]);
    if (failed) {
        close(events[0]);
        close(errors[0]);
        snprintf(child->status, sizeof child->status, "exited");
        snprintf(child->reason, sizeof child->reason, "no process could be started for it: %s", strerror(failed));
        return false;
    }
    r->events = events[0];
    r->errors = errors[0];
    r->started = now_ms();
    return true;
}

static const char *doing(const struct child *child)
{
    return !child->listed   ? "while it was loaded and its devices were listed"
           : *child->trying ? "while a small kernel was tried on it"
                            : "at its end";
}

/* After the child is gone: what that says of the driver. */
static void judge(struct running *r, bool stopped, int state)
{
    struct child *child = r->child;
    if (child->finished) { /* whatever came after that happened to nobody */
        if (!*child->status)
            snprintf(child->status, sizeof child->status, "ok");
        return;
    }
    if (stopped) {
        snprintf(child->status, sizeof child->status, "hung");
        snprintf(child->reason, sizeof child->reason, "it hung %s: no answer within %d s", doing(child),
                 (int)((now_ms() - r->started + 500) / 1000));
    } else if (WIFSIGNALED(state)) {
        int number = WTERMSIG(state);
        snprintf(child->status, sizeof child->status, number == SIGABRT ? "aborted" : "crashed");
        snprintf(child->reason, sizeof child->reason, "it %s %s (signal %d, %s)",
                 number == SIGABRT ? "aborted" : "crashed", doing(child), number, strsignal(number));
    } else {
        snprintf(child->status, sizeof child->status, "exited");
        snprintf(child->reason, sizeof child->reason, "it ended the process %s (exit code %d)", doing(child),
                 WIFEXITED(state) ? WEXITSTATUS(state) : -1);
    }
    if (*child->last_words) {
        size_t length = strlen(child->reason);
        snprintf(child->reason + length, sizeof child->reason - length, "; its last words: %s", child->last_words);
    }
}

/* How long one of the child's threads has been kept waiting for a processor, in ms; 0 where the system does not tell.
 * On an overloaded machine that is no fault of the driver's, which sleeps or works while it hangs. */
static long long starved_ms(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    long long most = 0;
    struct dirent *task;
    while (tasks && (task = readdir(tasks))) {
        char file[sizeof path + sizeof task->d_name + 16];
        long long ran = 0, waited = 0;
        snprintf(file, sizeof file, "%s/%s/schedstat", path, task->d_name);
        FILE *stat = *task->d_name == '.' ? NULL : fopen(file, "re");
        if (stat && fscanf(stat, "%lld %lld", &ran, &waited) == 2 && waited / 1000000 > most)
            most = waited / 1000000;
        if (stat)
            fclose(stat);
    }
    if (tasks)
        closedir(tasks);
    return most < STARVED_LIMIT_MS ? most : STARVED_LIMIT_MS;
}

static long long time_left(const struct running *r)
{
    static long long together; /* when the tool must be done */
    if (!together)
        together = r->started + TOGETHER_LIMIT_MS;
    long long limit = r->started + (r->child->listed ? TOTAL_LIMIT_MS : LIST_LIMIT_MS);
    long long left = (limit < together ? limit : together) - now_ms();
    if (left <= 0)
        left += starved_ms(r->pid);
    return left > 0 ? left : 0;
}

/* One round of waiting for one child or all of them; true while somebody is still running. */
static bool serve(struct running *running, size_t count)
{
    struct pollfd *polls = calloc(2 * count, sizeof *polls);
    if (!polls)
        return false;
    long long wait = LIST_LIMIT_MS;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct running *r = &running[i];
        polls[2 * i] = (struct pollfd){.fd = r->pid > 0 ? r->events : -1, .events = POLLIN};
        polls[2 * i + 1] = (struct pollfd){.fd = r->pid > 0 ? r->errors : -1, .events = POLLIN};
        if (r->pid > 0) {
            any = true;
            wait = time_left(r) < wait ? time_left(r) : wait;
            if (r->events < 0 && wait > 20) /* it closed its pipe, but may still be there */
                wait = 20;
        }
    }
    if (any)
        poll(polls, 2 * count, (int)wait);
    for (size_t i = 0; any && i < count; i++) {
        struct running *r = &running[i];
        if (r->pid <= 0)
            continue;
        if (polls[2 * i + 1].revents)
            read_errors(r);
        if (polls[2 * i].revents)
            read_events(r);
        siginfo_t info = {
            0}; /* looked at, not reaped: the process group must not be freed for others before it is killed */
        bool gone = waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == r->pid;
        bool over = r->child->finished || (gone && r->events < 0), stopped = !over && time_left(r) == 0;
        if (!over && !stopped)
            continue;
        kill(-r->pid, SIGKILL);
        int state = 0;
        while (waitpid(r->pid, &state, 0) < 0 && errno == EINTR)
            continue;
        if (r->errors >= 0 && fcntl(r->errors, F_SETFL, O_NONBLOCK) == 0)
            read_errors(r);
        judge(r, stopped, state);
        r->pid = 0;
    }
    free(polls);
    return any;
}

void run_children(struct child *children, size_t count)
{
    struct running *running = calloc(count + 1, sizeof *running);
    if (!running)
        return;
    for (size_t i = 0; i < count; i++) {
        running[i] = (struct running){.child = &children[i], .events = -1, .errors = -1};
        children[i].devices = json_array();
        children[i].platforms = json_array();
        start(&running[i]);
    }
    while (serve(running, count))
        continue;
    for (size_t i = 0; i < count; i++) {
        if (running[i].events >= 0)
            close(running[i].events);
        if (running[i].errors >= 0)
            close(running[i].errors);
        free(running[i].line);
    }
    free(running);
}

void release_child(struct child *child)
{
    json_decref(child->devices);
    json_decref(child->platforms);
    json_decref(child->selected);
    json_decref(child->opencl);
    json_decref(child->explanation);
}
