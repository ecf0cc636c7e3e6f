/* A program that ends with everything still in use: from main, and from another thread while main runs a layer. Its
 * exit code must arrive, whatever drivers and the library have registered for the end. A plain main: an exit() in a
 * child of Criterion's would run Criterion's own handlers. */
#include <clayer/clayer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IN = 64, OUT = 32, CODE = 7 };

/* LeakSanitizer asks this at exit: what a program keeps until its end is no leak. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static float weight[OUT * IN], x[IN], y[OUT];

static void *leave(void *argument)
{
    (void)argument;
    usleep(20000);
    exit(CODE);
}

/* The child's whole life. */
static void live(const char *device, bool from_thread)
{
    clayer_context *context = NULL;
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = weight};
    if (clayer_context_create(&(clayer_context_params){.device = device}, &context) != CLAYER_OK ||
        clayer_linear_create(context, &params, &linear) != CLAYER_OK ||
        clayer_linear_forward(linear, 1, x, IN, y, OUT) != CLAYER_OK) {
        fprintf(stderr, "%s\n", clayer_last_error());
        _exit(1);
    }
    pthread_t thread;
    if (from_thread && pthread_create(&thread, NULL, leave, NULL) == 0)
        for (;;)
            if (clayer_linear_forward(linear, 1, x, IN, y, OUT) != CLAYER_OK)
                _exit(2);
    exit(CODE);
}

int main(void)
{
    int failures = 0;
    static const char *const devices[] = {"host", "auto"};
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        if (child == 0)
            live(devices[i / 2], i % 2);
        int state = 0;
        if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state) || WEXITSTATUS(state) != CODE) {
            fprintf(stderr, "%s, exit %s: ended with state 0x%x\n", devices[i / 2],
                    i % 2 ? "from another thread" : "from main", state);
            failures++;
        }
    }
    printf("4 ways to leave, %d wrong\n", failures);
    return failures != 0;
}
