#include "bench/override.h"

#include <clblast_c.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PARAMETERS = 32, MOST_KERNELS = 16 };

/* The fastest result seen for one kernel, over all files: a kernel may have been tuned in two spaces. */
struct best {
    char kernel[64];
    double time;
    size_t count;
    char name[MOST_PARAMETERS][32];
    size_t value[MOST_PARAMETERS];
};

struct table {
    size_t count;
    struct best best[MOST_KERNELS];
};

/* The tuners name the kernel that they ran, CLBlastOverrideParameters wants the family that it stands for. */
static const char *family_of(const char *kernel)
{
    static const char *const names[][2] = {{"XgemmDirectTN", "XgemmDirect"},
                                           {"CopyMatrixFast", "Copy"},
                                           {"CopyPadMatrix", "Pad"},
                                           {"TransposeMatrixFast", "Transpose"},
                                           {"TransposePadMatrix", "Padtranspose"}};
    for (size_t i = 0; kernel && i < sizeof names / sizeof *names; i++)
        if (strcmp(kernel, names[i][0]) == 0)
            return names[i][1];
    return kernel;
}

static void consider(struct table *table, const json_t *result)
{
    const char *kernel = family_of(json_string_value(json_object_get(result, "kernel")));
    double time = json_number_value(json_object_get(result, "time"));
    json_t *parameters = json_object_get(result, "parameters"), *value;
    const char *name;
    size_t at = 0;
    if (!kernel || !(time > 0) || !json_is_object(parameters))
        return;
    while (at < table->count && strcmp(table->best[at].kernel, kernel) != 0)
        at++;
    if (at == MOST_KERNELS || (at < table->count && table->best[at].time <= time))
        return;
    struct best *best = &table->best[at];
    *best = (struct best){.time = time};
    snprintf(best->kernel, sizeof best->kernel, "%s", kernel);
    json_object_foreach(parameters, name, value)
    {
        if (strcmp(name, "PRECISION") != 0 && json_is_integer(value) && best->count < MOST_PARAMETERS) {
            snprintf(best->name[best->count], sizeof best->name[0], "%s", name);
            best->value[best->count++] = (size_t)json_integer_value(value);
        }
    }
    if (at == table->count)
        table->count++;
}

static bool read_file(struct table *table, const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error), *result;
    size_t i;
    if (!root)
        return peer_error("%s, line %d: %s", path, error.line, error.text);
    const char *precision = json_string_value(json_object_get(root, "precision"));
    if (precision && !strcmp(precision, "32"))
        json_array_foreach(json_object_get(root, "results"), i, result) consider(table, result);
    json_decref(root);
    return true;
}

static bool read_folder(struct table *table, const char *path)
{
    char file[4096];
    bool fine = true;
    DIR *folder = opendir(path);
    if (!folder)
        return peer_error("%s cannot be opened", path);
    for (const struct dirent *entry; fine && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        fine = read_file(table, file);
    }
    closedir(folder);
    return fine;
}

bool override_apply(cl_device_id device, const char *path)
{
    struct stat status;
    struct table *table = calloc(1, sizeof *table);
    if (!table || stat(path, &status) != 0) {
        free(table);
        return peer_error("%s is not there", path);
    }
    bool fine = S_ISDIR(status.st_mode) ? read_folder(table, path) : read_file(table, path);
    if (fine && table->count == 0)
        fine = peer_error("%s holds no results of CLBlast's tuners for float32", path);
    for (size_t i = 0; i < table->count && fine; i++) {
        const struct best *best = &table->best[i];
        const char *names[MOST_PARAMETERS];
        for (size_t p = 0; p < best->count; p++)
            names[p] = best->name[p];
        CLBlastStatusCode code =
            CLBlastOverrideParameters(device, best->kernel, CLBlastPrecisionSingle, best->count, names, best->value);
        if (code != CLBlastSuccess)
            fine = peer_error("CLBlastOverrideParameters(%s): CLBlast error %d", best->kernel, code);
    }
    free(table);
    return fine;
}
