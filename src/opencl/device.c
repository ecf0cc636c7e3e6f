#include "opencl/device.h"
#include "opencl/capabilities.h"
#include "opencl/error.h"
#include "opencl/identity.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLATFORM_LIMIT = 256,        /* a driver that claims more than this is not believed */
    PLATFORM_DEVICE_LIMIT = 1024 /* per platform */
};

/* Global by need, like the loader: drivers are read once per process. Never freed, so no cl handle outlives it. */
static struct {
    pthread_mutex_t lock;
    atomic_bool ready;
    struct opencl_device_list list;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int compare_platforms(const void *left, const void *right)
{
    const struct opencl_platform *a = left, *b = right;
    int order = strcmp(a->info.name, b->info.name);
    return order ? order : strcmp(a->info.version, b->info.version);
}

static void drop_repeated_platforms(cl_platform_id *ids, cl_uint *count)
{
    cl_uint kept = 0;
    for (cl_uint i = 0; i < *count; i++) {
        cl_uint j = 0;
        while (j < kept && ids[j] != ids[i])
            j++;
        if (j == kept && ids[i])
            ids[kept++] = ids[i];
    }
    *count = kept;
}

/* The platforms, sorted by name so that their numbers do not depend on the order of the .icd files. */
static clayer_status list_platforms(const struct opencl_api *api, struct opencl_platform **platforms, size_t *count,
                                    char *reason, size_t reason_size)
{
    *platforms = NULL;
    *count = 0;
    cl_platform_id ids[PLATFORM_LIMIT] = {NULL};
    cl_uint found = 0;
    cl_int code = api->clGetPlatformIDs(PLATFORM_LIMIT, ids, &found);
    if (code != CL_SUCCESS || found == 0) {
        if (code == CL_SUCCESS || code == -1001 /* CL_PLATFORM_NOT_FOUND_KHR */)
            snprintf(reason, reason_size, "no OpenCL driver was found");
        else
            snprintf(reason, reason_size, "the OpenCL library lists no platform: clGetPlatformIDs failed with %s (%d)",
                     opencl_error_name(code), (int)code);
        return CLAYER_OK;
    }
    if (found > PLATFORM_LIMIT)
        found = PLATFORM_LIMIT;
    drop_repeated_platforms(ids, &found);
    struct opencl_platform *list = calloc(found + 1, sizeof *list);
    if (!list)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a list of %u platforms", (unsigned)found);
    for (cl_uint i = 0; i < found; i++) {
        struct opencl_platform *p = &list[i];
        p->platform = ids[i];
        opencl_platform_text(api, ids[i], CL_PLATFORM_NAME, p->info.name, sizeof p->info.name);
        opencl_platform_text(api, ids[i], CL_PLATFORM_VENDOR, p->info.vendor, sizeof p->info.vendor);
        opencl_platform_text(api, ids[i], CL_PLATFORM_VERSION, p->info.version, sizeof p->info.version);
        opencl_platform_text(api, ids[i], 0x0920 /* CL_PLATFORM_ICD_SUFFIX_KHR */, p->info.suffix,
                             sizeof p->info.suffix);
        if (!*p->info.name)
            snprintf(p->info.name, sizeof p->info.name, "unnamed platform");
    }
    qsort(list, found, sizeof *list, compare_platforms);
    for (cl_uint i = 0; i < found; i++) {
        list[i].info.index = (int32_t)i;
        memset(list[i].info.reserved, 0xff, sizeof list[i].info.reserved); /* CLAYER_UNKNOWN */
    }
    *platforms = list;
    *count = found;
    return CLAYER_OK;
}

/* Appends one platform's devices. A platform that fails has a reason; the others do not suffer. */
static clayer_status list_devices(const struct opencl_api *api, struct opencl_platform *platform,
                                  int32_t platform_index, struct opencl_device **devices, size_t *count)
{
    cl_device_id ids[PLATFORM_DEVICE_LIMIT] = {NULL};
    cl_uint found = 0; /* some drivers leave it untouched when there is none */
    cl_int code = api->clGetDeviceIDs(platform->platform, CL_DEVICE_TYPE_ALL, PLATFORM_DEVICE_LIMIT, ids, &found);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && found == 0)) {
        snprintf(platform->info.reason, sizeof platform->info.reason, "its driver shows no device");
        return CLAYER_OK;
    }
    if (code != CL_SUCCESS) {
        snprintf(platform->info.reason, sizeof platform->info.reason, "clGetDeviceIDs failed with %s (%d)",
                 opencl_error_name(code), (int)code);
        return CLAYER_OK;
    }
    if (found > PLATFORM_DEVICE_LIMIT)
        found = PLATFORM_DEVICE_LIMIT;
    struct opencl_device *grown = realloc(*devices, (*count + found) * sizeof **devices);
    if (!grown)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a list of %zu devices", *count + found);
    *devices = grown;
    size_t first = *count;
    for (cl_uint i = 0; i < found; i++) {
        bool repeated = ids[i] == NULL;
        for (size_t j = 0; j < *count; j++)
            repeated |= grown[j].device == ids[i];
        if (repeated)
            continue;
        struct opencl_device *device = &grown[(*count)++];
        device->platform = platform->platform;
        device->device = ids[i];
        opencl_capabilities(api, device);
        device->info.platform_index = platform_index;
        device->info.platform_device_index = (int32_t)(*count - 1 - first);
        snprintf(device->info.platform, sizeof device->info.platform, "%s", platform->info.name);
        if (text_contains(platform->info.name, "oclgrind"))
            device->info.type = CLAYER_DEVICE_SIMULATOR;
    }
    platform->info.device_count = (int32_t)(*count - first);
    return CLAYER_OK;
}

static clayer_status make_list(const struct opencl_api *api, struct opencl_device_list *list)
{
    struct opencl_platform *platforms = NULL;
    struct opencl_device *devices = NULL;
    size_t platform_count = 0, count = 0;
    clayer_status status = CLAYER_OK;
    TRY_GOTO(list_platforms(api, &platforms, &platform_count, list->reason, sizeof list->reason));
    for (size_t i = 0; i < platform_count; i++)
        TRY_GOTO(list_devices(api, &platforms[i], (int32_t)i, &devices, &count));
    list->count = opencl_identify(devices, count, platforms);
    list->devices = devices;
    list->hidden = devices + list->count;
    list->hidden_count = count - list->count;
    list->platforms = platforms;
    list->platform_count = platform_count;
    if (count == 0 && platform_count > 0)
        snprintf(list->reason, sizeof list->reason, "no OpenCL driver shows a device (%.90s: %.120s)",
                 platforms[0].info.name, platforms[0].info.reason);
    for (size_t i = 0; i < list->count; i++)
        log_write(CLAYER_LOG_DEBUG, "device %zu: %s (%s)%s%s", i, devices[i].info.id, devices[i].info.name,
                  devices[i].info.usable ? "" : ": ", devices[i].info.reason);
    return CLAYER_OK;
fail:
    free(platforms);
    free(devices);
    return status;
}

clayer_status opencl_devices(const struct opencl_device_list **list)
{
    const struct opencl_api *api;
    TRY(opencl_load(&api)); /* also tells a forked child, before it meets a lock that its parent may have held */
    if (!atomic_load_explicit(&state.ready, memory_order_acquire)) {
        clayer_status status = CLAYER_OK;
        pthread_mutex_lock(&state.lock);
        if (!atomic_load_explicit(&state.ready, memory_order_relaxed)) {
            status = make_list(api, &state.list);
            if (status == CLAYER_OK)
                atomic_store_explicit(&state.ready, true, memory_order_release);
        }
        pthread_mutex_unlock(&state.lock);
        TRY(status);
    }
    *list = &state.list;
    return CLAYER_OK;
}
