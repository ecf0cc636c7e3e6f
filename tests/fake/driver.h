/* What the fake driver's files share: the hook that every call passes, the wrapped objects, and the real driver. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "fake.h"
#include "functions.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

enum function {
#define X(name, flag) FN_##name,
    FAKE_FUNCTIONS(X)
#undef X
        FUNCTION_COUNT
};

/* The driver's own entry points, with the types of the dispatch table's fields. */
#define X(name, flag) extern __typeof__(*(cl_api_##name)0) fake_##name;
FAKE_FUNCTIONS(X)
#undef X

/* ---- the real driver (icd.c): a library, or standalone.c. Entries it lacks are NULL. ---- */

extern cl_icd_dispatch real;
extern const cl_icd_dispatch fake_dispatch;
extern const cl_icd_dispatch standalone_dispatch;
extern const cl_platform_id standalone_platform;

/* One lock for the registry, the rules and all counts. Never held across a call of the real driver. */
extern pthread_mutex_t fake_mutex;

/* To stderr, only with CLAYER_FAKE_LOG=1. */
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* To stderr always: for what makes a test meaningless. */
void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* malloc of zeroed memory and strdup; an exhausted host ends the process, since this is a test tool. */
void *fake_allocate(size_t size);
char *fake_copy(const char *text);
long fake_number(const char *name, long otherwise);

/* ---- the hook (rules.c) ---- */

enum corruption { CORRUPT_NONE, CORRUPT_NAN, CORRUPT_SKIP, CORRUPT_LASTROW };
enum timer { TIMER_TRUE, TIMER_ZERO, TIMER_BACKWARDS, TIMER_SCALE, TIMER_NOISE };

/* What the rules want of one call. */
struct effect {
    bool failed; /* return code without doing anything */
    cl_int code;
    bool nonsense; /* succeed with a useless answer, bytes of `fill` */
    int fill;
    enum corruption corruption;
    int arg;     /* the output argument, -1: find it */
    long floats; /* how many to corrupt, -1: the corruption's default */
    long end;    /* bytes from the buffer's start, -1: its size */
    long log;    /* length of the build log, -1: the true one */
    long first;  /* milliseconds added to a kernel's first launch */
    enum timer timer;
    double factor;
};

/* Counts the call, then delays, hangs, aborts or exits if a rule says so; otherwise returns what else they want.
 * text: what `?substring` is matched against, may be NULL. */
struct effect fake_enter(enum function function, const char *text);

/* Sleeps; ends the process or never returns, by word: hang, spin, abort, segv, exit:STATUS. */
void fake_wait(long milliseconds);
void fake_end(const char *word) __attribute__((noreturn));

/* For functions that return a status. */
#define ENTER(name, text)                                                                                              \
    const struct effect effect = fake_enter(FN_##name, (text));                                                        \
    if (effect.failed || effect.nonsense)                                                                              \
        return effect.failed ? effect.code : CL_SUCCESS;                                                               \
    if (!real.name)                                                                                                    \
    return CL_INVALID_OPERATION

/* For functions that return an object and have a parameter errcode_ret. */
#define ENTER_CREATE(name, text)                                                                                       \
    const struct effect effect = fake_enter(FN_##name, (text));                                                        \
    if (effect.failed || effect.nonsense || !real.name) {                                                              \
        if (errcode_ret)                                                                                               \
            *errcode_ret = effect.failed ? effect.code : effect.nonsense ? CL_SUCCESS : CL_INVALID_OPERATION;          \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    cl_int code = CL_SUCCESS

/* For queries: a nonsense rule spoils the answer afterwards (scrub). */
#define ENTER_QUERY(name, text)                                                                                        \
    const struct effect effect = fake_enter(FN_##name, (text));                                                        \
    if (effect.failed)                                                                                                 \
        return effect.code;                                                                                            \
    if (!real.name)                                                                                                    \
    return CL_INVALID_OPERATION

/* ---- wrapped objects (objects.c) ---- */

enum kind {
    KIND_PLATFORM,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_MEM,
    KIND_SAMPLER,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT,
    KIND_COUNT
};

enum { FAKE_ARGUMENTS = 64, FAKE_LOCAL_SIZES = 32 };

/* What is known of a kernel, to corrupt its output and to slow down its first launches. */
struct kernel_state {
    struct object *arguments[FAKE_ARGUMENTS]; /* mem objects, checked for life before use */
    size_t locals[FAKE_LOCAL_SIZES];          /* hashes of the local sizes that were launched */
    int local_count;
};

struct object {
    const cl_icd_dispatch *dispatch; /* first: the loader reads it from every handle */
    enum kind kind;
    int index; /* of a platform or root device; -1 for others */
    bool registered;
    void *real;
    long references; /* the application's */
    long holds;      /* by children and pending callbacks */
    struct object *next;
    struct object *context;
    struct object *owner; /* platform of a device, queue of an event, program of a kernel, parent of a mem or device */
    struct object **devices;
    cl_uint device_count;
    cl_context_properties *properties; /* a context's, as the application gave them */
    cl_uint property_count;
    char *text; /* program: options; kernel and its events: "name options" */
    struct kernel_state *kernel;
    struct callback *callbacks; /* freed with the object */
};

/* Wraps a real handle with one reference of the application's; NULL for NULL. context and owner may be NULL. */
struct object *object_wrap(enum kind kind, void *handle, struct object *context, struct object *owner);
/* The live object behind a handle of the application's; NULL, counted as a misuse, if it is none of that kind. */
struct object *object_find(enum kind kind, const void *handle);
/* The real handle, or NULL: the real driver then says which argument is invalid. */
void *object_real(enum kind kind, const void *handle);
/* For an argument's 8 bytes: the live mem, sampler or queue that they are, or NULL. *stale: they name a dead one. */
struct object *object_guess(const void *bytes, bool *stale);
/* Counts one reference more or less of the application's and returns the real handle, on which the caller makes the
 * real call; NULL, a misuse, if the application holds none. */
void *object_retain(enum kind kind, const void *handle);
void *object_release(enum kind kind, const void *handle);
/* The application's references, for CL_*_REFERENCE_COUNT. */
cl_uint object_references(const struct object *object);
/* Gives a platform or a root device its index and takes it out of the counts: it is never released. */
void object_make_root(struct object *object, int index);
void object_hold(struct object *object);
void object_drop(struct object *object);
/* Replaces the object's text. */
void object_describe(struct object *object, const char *text);
/* A copy of the object's text; free it. */
char *object_text(const struct object *object);

#define REAL_DEVICE(handle) ((cl_device_id)object_real(KIND_DEVICE, (handle)))
#define REAL_CONTEXT(handle) ((cl_context)object_real(KIND_CONTEXT, (handle)))
#define REAL_QUEUE(handle) ((cl_command_queue)object_real(KIND_QUEUE, (handle)))
#define REAL_MEM(handle) ((cl_mem)object_real(KIND_MEM, (handle)))
#define REAL_SAMPLER(handle) ((cl_sampler)object_real(KIND_SAMPLER, (handle)))
#define REAL_PROGRAM(handle) ((cl_program)object_real(KIND_PROGRAM, (handle)))
#define REAL_KERNEL(handle) ((cl_kernel)object_real(KIND_KERNEL, (handle)))
#define REAL_EVENT(handle) ((cl_event)object_real(KIND_EVENT, (handle)))

/* clRetain* and clRelease*. A rule that fails a release is obeyed in the return value only: the object is released
 * all the same, so that the balance shows the application's leaks and not the rule's. */
#define RETAIN_RELEASE(Name, type, kind, invalid)                                                                      \
    CL_API_ENTRY cl_int CL_API_CALL fake_clRetain##Name(type handle)                                                   \
    {                                                                                                                  \
        ENTER(clRetain##Name, NULL);                                                                                   \
        void *target = object_retain(kind, handle);                                                                    \
        return target ? real.clRetain##Name(target) : invalid;                                                         \
    }                                                                                                                  \
    CL_API_ENTRY cl_int CL_API_CALL fake_clRelease##Name(type handle)                                                  \
    {                                                                                                                  \
        const struct effect effect = fake_enter(FN_clRelease##Name, NULL);                                             \
        void *target = object_release(kind, handle);                                                                   \
        cl_int code = target ? real.clRelease##Name(target) : invalid;                                                 \
        return effect.failed ? effect.code : code;                                                                     \
    }                                                                                                                  \
    struct object /* takes the semicolon */

/* Gives the code and the wrapper of a create; for functions with ENTER_CREATE. */
#define GIVE(type, kind, handle, parent, owner)                                                                        \
    do {                                                                                                               \
        type made = (handle);                                                                                          \
        if (errcode_ret)                                                                                               \
            *errcode_ret = code;                                                                                       \
        return (type)object_wrap(kind, made, (parent), (owner));                                                       \
    } while (0)
#define CONTEXT_OF(object) ((object) ? (cl_context)(object)->real : NULL)

/* ---- queries (info.c) ---- */

/* The usual answer of a clGet*Info: value's bytes, with the checks of OpenCL. */
cl_int info_give(const void *bytes, size_t length, size_t size, void *value, size_t *size_ret);
/* True if an override, a hostile string or a standalone default answers; *code is then the call's result.
 * device: the root device's index, -1 for a platform. */
bool info_override(cl_uint query, int device, size_t size, void *value, size_t *size_ret, cl_int *code);
/* The standalone driver's answers. */
cl_int info_standalone(cl_uint query, size_t size, void *value, size_t *size_ret);
/* Overwrites a successful answer as a nonsense rule asks, and returns code. */
cl_int info_scrub(const struct effect *effect, cl_int code, size_t size, void *value, const size_t *size_ret);

/* ---- callbacks (objects.c) ---- */

/* The application's callback and the handle it expects, in place of the real one. Held by the object until it is
 * freed: the real driver may call it late, or never. */
struct callback {
    struct callback *next;
    struct object *object;
    void (*function)(void);
    void *user_data;
};
struct callback *callback_new(struct object *object, void (*function)(void), void *user_data);

/* ---- events (event.c) ---- */

struct wait_list {
    cl_event few[16];
    cl_event *events; /* few, or allocated */
};
/* Unwraps a wait list; false if one of its events is none. Close it in either case. *list_out is what the real call
 * takes. */
bool wait_list_open(struct wait_list *list, cl_uint count, const cl_event *waits, const cl_event **list_out);
void wait_list_close(struct wait_list *list);
/* Wraps the event of an enqueue that returned code, and returns code. text may be NULL. */
cl_int enqueue_end(cl_int code, cl_command_queue queue, cl_event made, cl_event *event, const char *text);

/* CLAYER_FAKE_RECORD (rules.c): appends one line. */
void fake_record(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sets creates, retains, releases and misuses to 0; what is live stays (objects.c). */
void object_counts_reset(void);
/* The counts per kind, appended to the record when the driver is unloaded (objects.c). */
void fake_record_balance(void);

/* Reads CLAYER_FAKE_RULES, _INFO and _STRINGS; a mistake in them ends the process with a message. */
void rules_from_environment(void);
void info_from_environment(void);
void info_reset(void);

#endif
