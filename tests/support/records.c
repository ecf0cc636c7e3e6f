#include "support/records.h"

#include <clayer/log.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int records_lines;
char records_said[1024];
static char scratch[40];

clayer_device_info records_device(void)
{
    clayer_device_info info;
    memset(&info, 0, sizeof info);
    info.type = CLAYER_DEVICE_GPU;
    strcpy(info.platform, "Test Platform");
    strcpy(info.vendor, "Test Vendor");
    strcpy(info.name, "Test GPU (R) 9000");
    strcpy(info.driver_version, "1.2.3");
    info.compute_units = 32;
    info.max_work_group_size = 1024;
    info.local_memory_bytes = 65536;
    return info;
}

struct record records_make(size_t batch, size_t in_features, size_t out_features, const char *family,
                           const char *configuration, double seconds)
{
    const clayer_device_info info = records_device();
    struct record r = {.layer = {.batch = batch,
                                 .in_features = in_features,
                                 .out_features = out_features,
                                 .types = "f32,f32,f32,f32",
                                 .bias = true,
                                 .aligned = true},
                       .seconds = seconds,
                       .spread = seconds / 100,
                       .default_seconds = seconds * 2,
                       .candidates = 40,
                       .effort = "normal"};
    snprintf(r.family, sizeof r.family, "%s", family);
    snprintf(r.configuration, sizeof r.configuration, "%s", configuration);
    record_stamp(&info, &r);
    strcpy(r.when, "2026-11-30T17:00:00Z");
    return r;
}

static void listen(void *user, clayer_log_level level, const char *message)
{
    (void)user;
    if (level != CLAYER_LOG_WARN || !strstr(message, "tuning record"))
        return;
    records_lines++;
    snprintf(records_said, sizeof records_said, "%s", message);
}

const char *records_start(void)
{
    strcpy(scratch, "/tmp/clayer-store-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch));
    setenv("CLAYER_DATA_DIR", scratch, 1);
    setenv("XDG_DATA_DIRS", "/nowhere", 1);
    unsetenv("CLAYER_TUNING");
    records_lines = 0;
    records_said[0] = '\0';
    clayer_log_set(listen, NULL, CLAYER_LOG_WARN);
    return scratch;
}

void records_stop(void)
{
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", scratch, scratch);
    cr_expect_eq(system(command), 0);
}

const char *records_path(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

char *records_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 20);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

void records_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0, "%s", path);
}
