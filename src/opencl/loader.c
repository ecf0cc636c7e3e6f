#include "opencl/loader.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/library.h"
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Global by need: the library is opened once per process. `opener` is set before the first attempt, so that a child
 * forked in the middle of it sees that it must not touch the lock. */
static struct {
    atomic_int phase; /* one of the values below; api and why are written before it changes */
    atomic_long opener;
    pthread_mutex_t lock;
    struct opencl_api api;
    char why[512];
} loader = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { UNTRIED, READY, ABSENT };

#ifdef CLAYER_OPENCL_LINKED
#define DEFAULT_NAMES "the linked OpenCL library"
#elif defined(_WIN32)
static const char *const names[] = {"OpenCL.dll"};
#define DEFAULT_NAMES "OpenCL.dll"
#elif defined(__APPLE__)
static const char *const names[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", "libOpenCL.dylib"};
#define DEFAULT_NAMES "the OpenCL framework"
#else
static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"}; /* .so alone comes with development files */
#define DEFAULT_NAMES "libOpenCL.so.1 and libOpenCL.so"
#endif

/* Fills the table from an opened library; names the first required entry point that is missing. */
static bool fill(struct opencl_api *api, void *library, const char *name, char *why, size_t why_size)
{
    void *address;
    _Static_assert(sizeof address == sizeof api->clFinish, "function and object pointers differ in size");
#define LOOK_UP(symbol)                                                                                                \
    address = library_symbol(library, #symbol);                                                                        \
    memcpy(&api->symbol, &address, sizeof address);
#define LOOK_UP_REQUIRED(symbol)                                                                                       \
    LOOK_UP(symbol)                                                                                                    \
    if (!address) {                                                                                                    \
        snprintf(why, why_size, "%s has no " #symbol ": OpenCL 1.2 is needed", name);                                  \
        return false;                                                                                                  \
    }
    OPENCL_REQUIRED(LOOK_UP_REQUIRED)
    OPENCL_OPTIONAL(LOOK_UP)
#undef LOOK_UP
#undef LOOK_UP_REQUIRED
    log_write(CLAYER_LOG_DEBUG, "OpenCL through %s", name);
    return true;
}

static bool open_named(const char *name, char *why, size_t why_size)
{
    void *library = library_open(name, why, why_size);
    return library && fill(&loader.api, library, name, why, why_size);
}

static bool open_default(char *why, size_t why_size)
{
#ifdef CLAYER_OPENCL_LINKED
    (void)why;
    (void)why_size;
#define ADDRESS(symbol) loader.api.symbol = symbol;
    OPENCL_REQUIRED(ADDRESS)
    OPENCL_OPTIONAL(ADDRESS)
#undef ADDRESS
    return true;
#else
    char first[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (open_named(names[i], i ? why : first, i ? why_size : sizeof first))
            return true;
    }
    snprintf(why, why_size, "%s", first); /* the reason that names the file a user would install */
    return false;
#endif
}

static int open_once(void)
{
    const char *wish = environment_trusted("CLAYER_OPENCL");
    char reason[300] = "";
    if (wish && strcmp(wish, "off") == 0) {
        snprintf(loader.why, sizeof loader.why, "OpenCL is switched off by CLAYER_OPENCL=off");
    } else if (wish && *wish) {
        if (open_named(wish, reason, sizeof reason))
            return READY;
        snprintf(loader.why, sizeof loader.why, "CLAYER_OPENCL names a library that cannot be used: %s", reason);
    } else {
        if (open_default(reason, sizeof reason))
            return READY;
        snprintf(loader.why, sizeof loader.why, "OpenCL is not there (looked for " DEFAULT_NAMES "): %s", reason);
    }
    return ABSENT;
}

bool opencl_forked(void)
{
    long opener = atomic_load_explicit(&loader.opener, memory_order_acquire);
    return opener != 0 && opener != (long)getpid();
}

clayer_status opencl_load(const struct opencl_api **api)
{
    int phase = atomic_load_explicit(&loader.phase, memory_order_acquire);
    if (phase != ABSENT && opencl_forked())
        return FAIL(CLAYER_ERROR_FORKED, "OpenCL was started before fork(); in the child use the host device");
    if (phase == UNTRIED) {
        pthread_mutex_lock(&loader.lock);
        phase = atomic_load_explicit(&loader.phase, memory_order_relaxed);
        if (phase == UNTRIED) {
            atomic_store_explicit(&loader.opener, (long)getpid(), memory_order_release);
            phase = open_once();
            atomic_store_explicit(&loader.phase, phase, memory_order_release);
        }
        pthread_mutex_unlock(&loader.lock);
    }
    if (phase == ABSENT)
        return FAIL(CLAYER_ERROR_NO_OPENCL, "%s", loader.why);
    *api = &loader.api;
    return CLAYER_OK;
}
