/* The wrapped objects: what the application holds instead of the real driver's handles.
 *
 * A wrapper lives while the application holds a reference or a child (a queue of a context, a kernel of a program) or a
 * pending callback needs it. Dead wrappers stay allocated for a while in a quarantine, so that a handle used too late
 * is recognised and counted instead of being read from freed memory. */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, QUARANTINE = 1024 };

static struct object *buckets[BUCKETS];
static struct object *quarantine[QUARANTINE];
static size_t quarantined;
static struct {
    long created, retained, released, live;
} counts[KIND_COUNT];
static long misuses;

static const char *const kind_names[KIND_COUNT] = {"platform", "device",  "context", "queue", "mem",
                                                   "sampler",  "program", "kernel",  "event"};

static struct object **bucket_of(const void *handle)
{
    return &buckets[((uintptr_t)handle >> 4) % BUCKETS];
}

/* The mutex is held. */
static struct object *find(const void *handle)
{
    struct object *object = *bucket_of(handle);
    while (object && (const void *)object != handle)
        object = object->next;
    return object;
}

static void misuse(enum kind kind, const void *handle)
{
    misuses++;
    fake_log("%p is no live %s", handle, kind_names[kind]);
}

static void destroy(struct object *object)
{
    while (object->callbacks) {
        struct callback *callback = object->callbacks;
        object->callbacks = callback->next;
        free(callback);
    }
    free(object->devices);
    free(object->properties);
    free(object->text);
    free(object->kernel);
    free(object);
}

/* Puts an object that nobody needs any more, and then its parents, into the quarantine. The mutex is held. */
static void retire(struct object *object)
{
    while (object && object->references <= 0 && object->holds <= 0 && object->registered &&
           object->kind != KIND_PLATFORM && !(object->kind == KIND_DEVICE && object->index >= 0)) {
        struct object **link = bucket_of(object);
        while (*link != object)
            link = &(*link)->next;
        *link = object->next;
        object->registered = false;
        struct object **slot = &quarantine[quarantined++ % QUARANTINE];
        if (*slot)
            destroy(*slot);
        *slot = object;

        struct object *context = object->context, *owner = object->owner;
        if (context) {
            context->holds--;
            if (owner)
                retire(context);
        }
        if (owner)
            owner->holds--;
        object = owner ? owner : context;
    }
}

struct object *object_wrap(enum kind kind, void *handle, struct object *context, struct object *owner)
{
    if (!handle)
        return NULL;
    struct object *object = fake_allocate(sizeof *object);
    object->dispatch = &fake_dispatch;
    object->kind = kind;
    object->index = -1;
    object->registered = true;
    object->real = handle;
    object->references = 1;
    object->context = context;
    object->owner = owner;
    if (kind == KIND_KERNEL)
        object->kernel = fake_allocate(sizeof *object->kernel);

    pthread_mutex_lock(&fake_mutex);
    struct object **bucket = bucket_of(object);
    object->next = *bucket;
    *bucket = object;
    if (context)
        context->holds++;
    if (owner)
        owner->holds++;
    counts[kind].created++;
    counts[kind].live++;
    pthread_mutex_unlock(&fake_mutex);
    return object;
}

struct object *object_find(enum kind kind, const void *handle)
{
    if (!handle)
        return NULL;
    pthread_mutex_lock(&fake_mutex);
    struct object *object = find(handle);
    if (!object || object->kind != kind) {
        misuse(kind, handle);
        object = NULL;
    }
    pthread_mutex_unlock(&fake_mutex);
    return object;
}

void *object_real(enum kind kind, const void *handle)
{
    struct object *object = object_find(kind, handle);
    return object ? object->real : NULL;
}

struct object *object_guess(const void *bytes, bool *stale)
{
    const void *handle;
    memcpy(&handle, bytes, sizeof handle);
    *stale = false;
    if (!handle)
        return NULL;
    pthread_mutex_lock(&fake_mutex);
    struct object *object = find(handle);
    if (object && object->kind != KIND_MEM && object->kind != KIND_SAMPLER && object->kind != KIND_QUEUE)
        object = NULL;
    for (size_t i = 0; !object && i < QUARANTINE; i++)
        if (quarantine[i] == handle) {
            misuse(quarantine[i]->kind, handle);
            *stale = true;
        }
    pthread_mutex_unlock(&fake_mutex);
    return object;
}

void *object_retain(enum kind kind, const void *handle)
{
    struct object *object = object_find(kind, handle);
    if (!object)
        return NULL;
    pthread_mutex_lock(&fake_mutex);
    object->references++;
    counts[kind].retained++;
    counts[kind].live++;
    pthread_mutex_unlock(&fake_mutex);
    return object->real;
}

void *object_release(enum kind kind, const void *handle)
{
    struct object *object = object_find(kind, handle);
    if (!object)
        return NULL;
    void *target = NULL;
    pthread_mutex_lock(&fake_mutex);
    if (object->references > 0) {
        target = object->real;
        object->references--;
        counts[kind].released++;
        counts[kind].live--;
        retire(object);
    } else {
        misuse(kind, handle);
    }
    pthread_mutex_unlock(&fake_mutex);
    return target;
}

cl_uint object_references(const struct object *object)
{
    pthread_mutex_lock(&fake_mutex);
    cl_uint references = (cl_uint)object->references;
    pthread_mutex_unlock(&fake_mutex);
    return references;
}

void object_hold(struct object *object)
{
    pthread_mutex_lock(&fake_mutex);
    object->holds++;
    pthread_mutex_unlock(&fake_mutex);
}

void object_drop(struct object *object)
{
    pthread_mutex_lock(&fake_mutex);
    object->holds--;
    retire(object);
    pthread_mutex_unlock(&fake_mutex);
}

void object_describe(struct object *object, const char *text)
{
    char *copy = fake_copy(text);
    pthread_mutex_lock(&fake_mutex);
    char *old = object->text;
    object->text = copy;
    pthread_mutex_unlock(&fake_mutex);
    free(old);
}

char *object_text(const struct object *object)
{
    pthread_mutex_lock(&fake_mutex);
    char *copy = fake_copy(object && object->text ? object->text : "");
    pthread_mutex_unlock(&fake_mutex);
    return copy;
}

struct callback *callback_new(struct object *object, void (*function)(void), void *user_data)
{
    struct callback *callback = fake_allocate(sizeof *callback);
    callback->object = object;
    callback->function = function;
    callback->user_data = user_data;
    pthread_mutex_lock(&fake_mutex);
    callback->next = object->callbacks;
    object->callbacks = callback;
    pthread_mutex_unlock(&fake_mutex);
    return callback;
}

/* ---- counts ---- */

/* KIND_COUNT for "*", -1 for an unknown word. */
static int kind_named(const char *word)
{
    if (!strcmp(word, "*"))
        return KIND_COUNT;
    for (int kind = KIND_DEVICE; kind < KIND_COUNT; kind++)
        if (!strcmp(word, kind_names[kind]))
            return kind;
    return -1;
}

FAKE_EXPORT fake_live_function fake_live;
FAKE_EXPORT long fake_live(const char *word)
{
    int wanted = kind_named(word);
    long live = wanted < 0 ? -1 : 0;
    pthread_mutex_lock(&fake_mutex);
    for (int kind = KIND_DEVICE; wanted >= 0 && kind < KIND_COUNT; kind++)
        if (wanted == kind || wanted == KIND_COUNT)
            live += counts[kind].live;
    pthread_mutex_unlock(&fake_mutex);
    return live;
}

FAKE_EXPORT fake_created_function fake_created;
FAKE_EXPORT long fake_created(const char *word)
{
    int wanted = kind_named(word);
    long created = wanted < 0 ? -1 : 0;
    pthread_mutex_lock(&fake_mutex);
    for (int kind = KIND_DEVICE; wanted >= 0 && kind < KIND_COUNT; kind++)
        if (wanted == kind || wanted == KIND_COUNT)
            created += counts[kind].created;
    pthread_mutex_unlock(&fake_mutex);
    return created;
}

FAKE_EXPORT fake_misuses_function fake_misuses;
FAKE_EXPORT long fake_misuses(void)
{
    pthread_mutex_lock(&fake_mutex);
    long result = misuses;
    pthread_mutex_unlock(&fake_mutex);
    return result;
}

void object_counts_reset(void)
{
    pthread_mutex_lock(&fake_mutex);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        counts[kind].created = counts[kind].retained = counts[kind].released = 0;
    misuses = 0;
    pthread_mutex_unlock(&fake_mutex);
}

void object_make_root(struct object *device, int index)
{
    pthread_mutex_lock(&fake_mutex);
    device->index = index;
    counts[device->kind].created--;
    counts[device->kind].live--;
    pthread_mutex_unlock(&fake_mutex);
}

void fake_record_balance(void)
{
    for (int kind = KIND_DEVICE; kind < KIND_COUNT; kind++) {
        pthread_mutex_lock(&fake_mutex);
        long created = counts[kind].created, retained = counts[kind].retained;
        long released = counts[kind].released, live = counts[kind].live;
        pthread_mutex_unlock(&fake_mutex);
        fake_record("%s created %ld retained %ld released %ld live %ld", kind_names[kind], created, retained, released,
                    live);
    }
}
