#include "host/device.h"
#include "base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "model name" of /proc/cpuinfo, where there is one; the architecture otherwise. */
static void processor_name(char *name, size_t size)
{
#if defined(__x86_64__) || defined(_M_X64)
    snprintf(name, size, "x86-64 processor");
#elif defined(__aarch64__)
    snprintf(name, size, "aarch64 processor");
#else
    snprintf(name, size, "processor");
#endif
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0)
            continue;
        const char *value = strchr(line, ':');
        if (value) {
            value += 1 + strspn(value + 1, " \t");
            snprintf(name, size, "%.*s", (int)strcspn(value, "\r\n"), value);
            text_clean(name);
        }
        break;
    }
    fclose(file);
}

void host_device_describe(clayer_device_info *info)
{
    memset(info, 0, sizeof *info);
    memset((char *)info + offsetof(clayer_device_info, compute_units), 0xff, /* CLAYER_UNKNOWN */
           sizeof *info - offsetof(clayer_device_info, compute_units));
    info->platform_index = info->platform_device_index = -1;
    info->usable = 1;
    info->type = CLAYER_DEVICE_HOST;
    snprintf(info->id, sizeof info->id, "host");
    snprintf(info->platform, sizeof info->platform, "clayer");
    processor_name(info->name, sizeof info->name);
    info->compute_units = 1;
    info->address_bits = 8 * (int64_t)sizeof(void *);
    info->unified_memory = 1;
    info->fp64 = 1;
    info->denormals = 1;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        info->global_memory_bytes = (int64_t)pages * page;
#endif
}
