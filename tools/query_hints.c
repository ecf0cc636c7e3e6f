/* What a user can do when a device is missing: rights, places, environment. */
#include "query.h"

#include <errno.h>
#include <stdarg.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hint(struct query *query, const char *format, ...) CLAYER_PRINTF(2, 3);

static void hint(struct query *query, const char *format, ...)
{
    char text[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) /* names of files and libraries may hold anything; JSON wants UTF-8 */
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    json_array_append_new(query->hints, json_string(text));
}

static void add_driver_hints(struct query *query)
{
    for (size_t i = 0; i < query->list.count; i++) {
        const struct driver *d = &query->list.drivers[i];
        if (strcmp(d->status, "ok") == 0)
            continue;
        hint(query, "driver %s%s%s%s: %s", *d->file ? d->file : d->library, *d->file && *d->library ? " (" : "",
             *d->file ? d->library : "", *d->file && *d->library ? ")" : "", d->reason);
        if (!d->listed && (strcmp(d->status, "hung") == 0 || strcmp(d->status, "aborted") == 0 ||
                           strcmp(d->status, "crashed") == 0 || strcmp(d->status, "exited") == 0))
            hint(query,
                 "every OpenCL program that loads this driver fails so; remove it, or set OCL_ICD_VENDORS to a "
                 "directory "
                 "that holds only the .icd files of good drivers, or CLAYER_OPENCL=off for the host device alone");
    }
}

/* A device node that exists and can't be opened is the commonest reason for a missing GPU. */
static void add_node_hint(struct query *query, const char *node)
{
    if (access(node, F_OK) == 0 && access(node, R_OK | W_OK) != 0)
        hint(query,
             "%s: %s; a GPU behind it stays unseen until this user may read and write it (mostly: membership in "
             "the group render or video)",
             node, strerror(errno));
}

static void add_node_hints(struct query *query)
{
    add_node_hint(query, "/dev/kfd");
    add_node_hint(query, "/dev/nvidiactl");
    DIR *directory = opendir("/dev/dri");
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char node[300];
        snprintf(node, sizeof node, "/dev/dri/%s", entry->d_name);
        if (strncmp(entry->d_name, "renderD", 7) == 0)
            add_node_hint(query, node);
    }
    closedir(directory);
}

static void add_platform_hints(struct query *query)
{
    size_t i;
    json_t *platform;
    bool pocl = false;
    json_array_foreach(query->platforms, i, platform)
    {
        const char *reason = json_string_value(json_object_get(platform, "reason"));
        const char *suffix = json_string_value(json_object_get(platform, "suffix"));
        if (!reason)
            continue;
        hint(query, "platform %s: %s", json_string_value(json_object_get(platform, "name")), reason);
        pocl |= suffix && strcmp(suffix, "POCL") == 0;
    }
    const char *home = getenv("HOME");
    if (pocl)
        hint(query,
             "PoCL shows no device when its cache directory can't be made (%s%s%s), or when POCL_DEVICES names "
             "none that it has",
             home ? "HOME is " : "HOME is not set", home ? home : "",
             home && access(home, W_OK) ? ", not writable" : "");
}

void add_hints(struct query *query)
{
    add_driver_hints(query);
    add_platform_hints(query);
    const char *status = json_string_value(json_object_get(query->opencl, "status"));
    const char *detail = json_string_value(json_object_get(query->opencl, "detail"));
    if (status && strcmp(status, "ok") != 0)
        hint(query, "%s", detail ? detail : status);
    if (status && strcmp(status, "no-opencl") == 0 && !getenv("CLAYER_OPENCL"))
        hint(query, "install an OpenCL loader (Debian: ocl-icd-libopencl1) and a driver for your device");
    if (*query->list.reason)
        hint(query, "looked for drivers in %s: %s", query->list.place, query->list.reason);
    if (status && strcmp(status, "no-device") == 0 && json_array_size(query->platforms) == 0)
        hint(query, "install a driver for your device: the GPU maker's OpenCL package, or PoCL for the CPU (Debian: "
                    "pocl-opencl-icd)");
    bool gpu = false;
    size_t i;
    json_t *device;
    json_array_foreach(query->devices, i, device)
    {
        const char *type = json_string_value(json_object_get(device, "type"));
        gpu |= type && strcmp(type, "gpu") == 0;
    }
    if (!gpu)
        add_node_hints(query);
}
