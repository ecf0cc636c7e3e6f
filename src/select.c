/* The grammar of selectors; include/clayer/device.h states it. */
#include "device.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "host/device.h"
#include "opencl/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_host(const struct opencl_device_list *list, struct device_choice *choice)
{
    choice->opencl = NULL;
    host_device_describe(&choice->info);
    choice->info.index = (int32_t)list->count;
}

static void take(const struct opencl_device *device, struct device_choice *choice)
{
    choice->opencl = device;
    choice->info = device->info;
}

/* The best device of the list from index first on: the order of the list is the order of preference. */
static void take_best(const struct opencl_device_list *list, size_t first, struct device_choice *choice)
{
    for (size_t i = first; i < list->count; i++) {
        if (list->devices[i].info.usable && list->devices[i].info.type < CLAYER_DEVICE_SIMULATOR) {
            take(&list->devices[i], choice);
            return;
        }
    }
    take_host(list, choice);
}

static const char *why_best(const struct opencl_device_list *list, const struct device_choice *choice)
{
    switch (choice->info.type) {
    case CLAYER_DEVICE_GPU:
        return "the first usable GPU";
    case CLAYER_DEVICE_ACCELERATOR:
        return "no usable GPU, the first usable accelerator";
    case CLAYER_DEVICE_CPU:
        return "no usable GPU or accelerator, the first usable CPU";
    case CLAYER_DEVICE_HOST:
        return list->count ? "no OpenCL device is usable" : *list->reason ? list->reason : "OpenCL is not available";
    default:
        return "no device of a known type";
    }
}

/* "0 rtx-4090-1a2b3c4d (NVIDIA GeForce RTX 4090), 1 host": as many as fit. */
static void list_choices(const struct opencl_device_list *list, char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < list->count; i++) {
        int n = snprintf(text + length, size - length, "%zu %s (%.60s), ", i, list->devices[i].info.id,
                         list->devices[i].info.name);
        if (n < 0 || (size_t)n + 40 > size - length) { /* keep room for the rest of the sentence */
            snprintf(text + length, size - length, "%zu more, ", list->count - i);
            length += strlen(text + length);
            break;
        }
        length += (size_t)n;
    }
    snprintf(text + length, size - length, "%zu host", list->count);
}

static clayer_status no_match(const struct opencl_device_list *list, const char *selector, const char *what)
{
    char choices[800];
    list_choices(list, choices, sizeof choices);
    return FAIL(CLAYER_ERROR_NO_DEVICE,
                "device '%.60s' %s; choices: %s; or auto, gpu, cpu, PLATFORM:INDEX, part of a name", selector, what,
                choices);
}

static clayer_status take_usable(const struct opencl_device *device, const char *selector, struct device_choice *choice)
{
    if (!device->info.usable)
        return FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "device '%.60s' is %s, which cannot be used: %s", selector,
                    device->info.id, device->info.reason);
    take(device, choice);
    return CLAYER_OK;
}

/* A whole text of digits, else -1. Large numbers saturate: no list is that long. */
static long whole_number(const char *text)
{
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
        return -1;
    return strlen(text) > 9 ? 999999999 : strtol(text, NULL, 10);
}

/* Among devices that match, usable ones go first; exactly one must remain. */
struct match {
    const struct opencl_device *usable, *unusable;
    size_t usable_count, unusable_count;
};

static void add_match(struct match *match, const struct opencl_device *device)
{
    if (device->info.usable) {
        match->usable = device;
        match->usable_count++;
    } else {
        match->unusable = device;
        match->unusable_count++;
    }
}

static clayer_status take_match(const struct opencl_device_list *list, const struct match *match, const char *selector,
                                struct device_choice *choice)
{
    if (match->usable_count > 1 || (match->usable_count == 0 && match->unusable_count > 1)) {
        char what[64];
        size_t count = match->usable_count ? match->usable_count : match->unusable_count;
        snprintf(what, sizeof what, "matches %zu devices%s", count, match->usable_count ? "" : ", none of them usable");
        return no_match(list, selector, what);
    }
    if (match->usable_count == 0 && match->unusable_count == 0)
        return no_match(list, selector, "matches nothing");
    return take_usable(match->usable_count ? match->usable : match->unusable, selector, choice);
}

static clayer_status take_type(const struct opencl_device_list *list, clayer_device_type type, const char *selector,
                               struct device_choice *choice)
{
    const struct opencl_device *unusable = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (list->devices[i].info.type != type)
            continue;
        if (list->devices[i].info.usable) {
            take(&list->devices[i], choice);
            return CLAYER_OK;
        }
        if (!unusable)
            unusable = &list->devices[i];
    }
    return unusable ? take_usable(unusable, selector, choice) : no_match(list, selector, "matches nothing");
}

static bool platform_matches(const struct opencl_device_list *list, int32_t index, const char *part)
{
    const clayer_platform_info *platform = &list->platforms[index].info;
    return text_contains(platform->name, part) || text_contains(platform->vendor, part) ||
           text_equal(platform->suffix, part);
}

/* "PLATFORM:INDEX". Reaches second views of a device as well, since it says through which platform. */
static clayer_status take_in_platform(const struct opencl_device_list *list, const char *selector, const char *colon,
                                      struct device_choice *choice)
{
    char part[128];
    snprintf(part, sizeof part, "%.*s", (int)(colon - selector > 127 ? 127 : colon - selector), selector);
    long device_index = whole_number(colon + 1), platform_index = whole_number(part);
    if (device_index < 0 || *part == '\0')
        return no_match(list, selector, "is not PLATFORM:INDEX");
    struct match match = {0};
    for (size_t i = 0; i < list->count + list->hidden_count; i++) {
        const struct opencl_device *device = i < list->count ? &list->devices[i] : &list->hidden[i - list->count];
        bool here = platform_index >= 0 ? device->info.platform_index == platform_index
                                        : platform_matches(list, device->info.platform_index, part);
        if (here && device->info.platform_device_index == device_index)
            add_match(&match, device);
    }
    return take_match(list, &match, selector, choice);
}

static clayer_status resolve(const struct opencl_device_list *list, const char *selector, struct device_choice *choice)
{
    static const clayer_device_type types[] = {CLAYER_DEVICE_GPU, CLAYER_DEVICE_ACCELERATOR, CLAYER_DEVICE_CPU,
                                               CLAYER_DEVICE_SIMULATOR};
    if (text_equal(selector, "host")) {
        take_host(list, choice);
        return CLAYER_OK;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_equal(selector, clayer_device_type_string(types[i])))
            return take_type(list, types[i], selector, choice);
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(selector, list->devices[i].info.id))
            return take_usable(&list->devices[i], selector, choice);
    long index = whole_number(selector);
    if (index >= 0) {
        if ((size_t)index > list->count)
            return no_match(list, selector, "is beyond the list");
        if ((size_t)index < list->count)
            return take_usable(&list->devices[index], selector, choice);
        take_host(list, choice);
        return CLAYER_OK;
    }
    struct match match = {0};
    for (size_t i = 0; i < list->count; i++)
        if (text_contains(list->devices[i].info.name, selector))
            add_match(&match, &list->devices[i]);
    if (match.usable_count + match.unusable_count > 0)
        return take_match(list, &match, selector, choice);
    const char *colon = strrchr(selector, ':');
    if (colon)
        return take_in_platform(list, selector, colon, choice);
    for (size_t i = 0; i < list->count; i++) {
        const clayer_device_info *info = &list->devices[i].info;
        if (platform_matches(list, info->platform_index, selector) || text_contains(info->vendor, selector))
            add_match(&match, &list->devices[i]);
    }
    return take_match(list, &match, selector, choice);
}

clayer_status device_choose(const char *selector, struct device_choice *choice)
{
    const struct opencl_device_list *list;
    struct opencl_device_list empty;
    TRY(device_list(&list, &empty));
    if (!selector || !*selector)
        selector = getenv("CLAYER_DEVICE");
    choice->automatic = !selector || !*selector || text_equal(selector, "auto");
    if (!choice->automatic)
        return resolve(list, selector, choice);
    for (size_t i = 0; i < list->count; i++)
        if (!list->devices[i].info.usable)
            log_write(CLAYER_LOG_INFO, "device %zu %s (%s) skipped: %s", i, list->devices[i].info.id,
                      list->devices[i].info.name, list->devices[i].info.reason);
    take_best(list, 0, choice);
    log_write(CLAYER_LOG_INFO, "device %d %s (%s) chosen: %s", (int)choice->info.index, choice->info.id,
              choice->info.name, why_best(list, choice));
    return CLAYER_OK;
}

clayer_status device_choose_next(struct device_choice *choice, const char *reason)
{
    if (!choice->automatic || choice->info.type == CLAYER_DEVICE_HOST)
        return FAIL(CLAYER_ERROR_DEVICE_UNUSABLE, "device %s cannot be used: %s", choice->info.id, reason);
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    log_write(CLAYER_LOG_WARN, "device %d %s (%s) skipped: %s", (int)choice->info.index, choice->info.id,
              choice->info.name, reason);
    take_best(list, (size_t)choice->info.index + 1, choice);
    log_write(CLAYER_LOG_INFO, "device %d %s (%s) chosen: %s", (int)choice->info.index, choice->info.id,
              choice->info.name, why_best(list, choice));
    return CLAYER_OK;
}
