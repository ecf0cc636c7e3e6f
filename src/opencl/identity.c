#include "opencl/identity.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t fnv1a(uint64_t hash, const char *text)
{
    do /* the terminator counts, so that ("ab", "c") and ("a", "bc") differ */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* "rtx-4090-1a2b3c4d": the name's letters and digits for people, a hash of what identifies the device for uniqueness.
 * The driver's version and every number that an update may change are left out. */
static void name_device(clayer_device_info *info)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = fnv1a(hash, info->platform);
    hash = fnv1a(hash, info->vendor);
    hash = fnv1a(hash, info->name);
    hash = fnv1a(hash, *info->uuid ? info->uuid : info->pci);

    char slug[33];
    size_t length = 0;
    for (const char *c = info->name; *c && length < sizeof slug - 1; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        bool capital = *c >= 'A' && *c <= 'Z';
        if (letter || capital)
            slug[length++] = capital ? (char)(*c + ('a' - 'A')) : *c;
        else if (length > 0 && slug[length - 1] != '-')
            slug[length++] = '-';
    }
    while (length > 0 && slug[length - 1] == '-')
        length--;
    slug[length] = '\0';
    snprintf(info->id, sizeof info->id, "%s-%08x", length ? slug : "device", (unsigned)(hash ^ hash >> 32));
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Units x clock, the roughest measure of speed; unknown or hostile values count as nothing. */
static int64_t speed(const clayer_device_info *info)
{
    int64_t units = info->compute_units, clock = info->clock_mhz;
    return units > 0 && units < 1 << 20 && clock > 0 && clock < 1 << 20 ? units * clock : 0;
}

static int compare_devices(const void *left, const void *right)
{
    const clayer_device_info *a = &((const struct opencl_device *)left)->info;
    const clayer_device_info *b = &((const struct opencl_device *)right)->info;
    int order = compare_numbers(b->usable, a->usable);
    if (!order)
        order = compare_numbers(a->type, b->type);
    if (!order)
        order = compare_numbers(a->unified_memory, b->unified_memory);
    if (!order)
        order = compare_numbers(speed(b), speed(a));
    if (!order)
        order = strcmp(a->platform, b->platform);
    if (!order)
        order = strcmp(a->id, b->id);
    if (!order)
        order = compare_numbers(a->platform_index, b->platform_index);
    return order ? order : compare_numbers(a->platform_device_index, b->platform_device_index);
}

static bool same_device(const clayer_device_info *a, const clayer_device_info *b)
{
    if (a->platform_index == b->platform_index || a->type == CLAYER_DEVICE_SIMULATOR ||
        b->type == CLAYER_DEVICE_SIMULATOR)
        return false;
    if (*a->uuid && *b->uuid)
        return strcmp(a->uuid, b->uuid) == 0;
    return *a->pci && strcmp(a->pci, b->pci) == 0;
}

/* Whether a is the better of two views of one device: usable, through the maker's own platform, of a later version. */
static bool better_view(const struct opencl_device *a, const struct opencl_device *b,
                        const struct opencl_platform *platforms)
{
    if (a->info.usable != b->info.usable)
        return a->info.usable;
    bool a_own = strcmp(a->info.vendor, platforms[a->info.platform_index].info.vendor) == 0;
    bool b_own = strcmp(b->info.vendor, platforms[b->info.platform_index].info.vendor) == 0;
    if (a_own != b_own)
        return a_own;
    int a_version = opencl_version_number(a->info.opencl_version);
    int b_version = opencl_version_number(b->info.opencl_version);
    if (a_version != b_version)
        return a_version > b_version;
    return compare_devices(a, b) < 0;
}

/* Equal devices get "-2", "-3" in the order of the list. */
static void number_equals(struct opencl_device *devices, size_t count)
{
    for (size_t i = count; i-- > 1;) {
        unsigned before = 0;
        for (size_t j = 0; j < i; j++)
            before += strcmp(devices[j].info.id, devices[i].info.id) == 0;
        if (before > 0) {
            size_t length = strlen(devices[i].info.id);
            snprintf(devices[i].info.id + length, sizeof devices[i].info.id - length, "-%u", before + 1);
        }
    }
}

size_t opencl_identify(struct opencl_device *devices, size_t count, const struct opencl_platform *platforms)
{
    if (count == 0)
        return 0; /* devices may be NULL, which qsort refuses */
    for (size_t i = 0; i < count; i++)
        name_device(&devices[i].info);
    qsort(devices, count, sizeof *devices, compare_devices);
    number_equals(devices, count);

    size_t shown = count;
    for (size_t i = 0; i < shown; i++) {
        for (size_t j = i + 1; j < shown;) {
            if (!same_device(&devices[i].info, &devices[j].info)) {
                j++;
                continue;
            }
            if (better_view(&devices[j], &devices[i], platforms)) {
                struct opencl_device other = devices[i];
                devices[i] = devices[j];
                devices[j] = other;
            }
            char *also = devices[i].info.also_through;
            size_t length = strlen(also);
            snprintf(also + length, sizeof devices[i].info.also_through - length, "%s%s", length ? ", " : "",
                     devices[j].info.platform);
            text_clean(also); /* may have been cut inside a character */
            struct opencl_device hidden = devices[j];
            memmove(devices + j, devices + j + 1, (count - j - 1) * sizeof *devices);
            devices[count - 1] = hidden;
            shown--;
        }
    }
    qsort(devices, shown, sizeof *devices, compare_devices); /* a better view may rank elsewhere */
    for (size_t i = 0; i < count; i++)
        devices[i].info.index = i < shown ? (int32_t)i : -1;
    return shown;
}
