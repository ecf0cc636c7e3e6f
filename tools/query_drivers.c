/* Which drivers the loader will find: .icd files, each naming a library. */
#include "query.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_place[] = "/etc/OpenCL/vendors";

static bool ends_in_icd(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

/* The first line of an .icd file is the library's name or path. */
static void read_icd(struct driver *driver)
{
    FILE *file = fopen(driver->file, "re");
    if (!file) {
        snprintf(driver->status, sizeof driver->status, "unreadable");
        snprintf(driver->reason, sizeof driver->reason, "the file cannot be read: %s", strerror(errno));
        return;
    }
    char line[sizeof driver->library] = "";
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    size_t length = strcspn(line, "\r\n");
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    line[length] = '\0';
    snprintf(driver->library, sizeof driver->library, "%s", line + strspn(line, " \t"));
    if (!*driver->library) {
        snprintf(driver->status, sizeof driver->status, "empty");
        snprintf(driver->reason, sizeof driver->reason, "the file names no library");
    }
}

static struct driver *add_driver(struct driver_list *list)
{
    struct driver *grown = realloc(list->drivers, (list->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    list->drivers = grown;
    memset(&grown[list->count], 0, sizeof *grown);
    return &grown[list->count++];
}

static void add_icd(struct driver_list *list, const char *directory, const char *name)
{
    struct driver *driver = add_driver(list);
    if (!driver)
        return;
    int length = directory ? snprintf(driver->file, sizeof driver->file, "%s/%s", directory, name)
                           : snprintf(driver->file, sizeof driver->file, "%s", name);
    if (length < (int)sizeof driver->file) {
        read_icd(driver);
    } else {
        snprintf(driver->status, sizeof driver->status, "unreadable");
        snprintf(driver->reason, sizeof driver->reason, "the file's path is too long");
    }
}

static int compare_drivers(const void *a, const void *b)
{
    return strcmp(((const struct driver *)a)->file, ((const struct driver *)b)->file);
}

void find_drivers(struct driver_list *list)
{
    /* The order of ocl-icd, the loader of most systems; Khronos' own loader reads the same directory by default. */
    const char *place = getenv("OCL_ICD_VENDORS");
    bool own = place && *place;
    if (!own)
        place = getenv("OPENCL_VENDOR_PATH");
    if (!place || !*place)
        place = default_place;
    snprintf(list->place, sizeof list->place, "%s", place);

    DIR *directory = opendir(place);
    if (directory) {
        for (struct dirent *entry; (entry = readdir(directory));)
            if (ends_in_icd(entry->d_name))
                add_icd(list, place, entry->d_name);
        closedir(directory);
        if (list->count > 1)
            qsort(list->drivers, list->count, sizeof *list->drivers, compare_drivers);
        if (list->count == 0)
            snprintf(list->reason, sizeof list->reason, "it has no .icd file");
    } else if (own && errno == ENOTDIR && ends_in_icd(place)) {
        add_icd(list, NULL, place);
    } else if (own && errno == ENOTDIR) {
        struct driver *driver = add_driver(list);
        if (driver)
            snprintf(driver->library, sizeof driver->library, "%s", place);
    } else {
        snprintf(list->reason, sizeof list->reason, "%s", strerror(errno));
    }
}

void release_drivers(struct driver_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        json_decref(list->drivers[i].devices);
        json_decref(list->drivers[i].platforms);
    }
    free(list->drivers);
}

/* DIRECTORY/NUMBER.icd, which names the driver's library. Written anew rather than linked: the loaders take the text.
 */
static bool write_icd(const char *directory, size_t number, const char *library)
{
    char path[160];
    snprintf(path, sizeof path, "%.90s/%zu.icd", directory, number);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    bool written = fprintf(file, "%s\n", library) > 0;
    return fclose(file) == 0 && written;
}

bool make_views(struct driver_list *list, char *root, size_t root_size)
{
    const char *temporary = getenv("TMPDIR");
    if (!temporary || *temporary != '/' || strlen(temporary) > 30)
        temporary = "/tmp";
    snprintf(root, root_size, "%s/clayer-query-XXXXXX", temporary);
    if (!mkdtemp(root)) {
        *root = '\0';
        return false;
    }
    char good[96];
    snprintf(good, sizeof good, "%s/good", root);
    if (mkdir(good, 0700) != 0)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        struct driver *driver = &list->drivers[i];
        if (*driver->status)
            continue;
        snprintf(driver->vendors_dir, sizeof driver->vendors_dir, "%.50s/%zu", root, i);
        if (mkdir(driver->vendors_dir, 0700) != 0 || !write_icd(driver->vendors_dir, i, driver->library))
            return false;
    }
    return true;
}

void add_to_view(const char *root, const struct driver *driver)
{
    char good[96];
    snprintf(good, sizeof good, "%s/good", root);
    write_icd(good, strtoul(strrchr(driver->vendors_dir, '/') + 1, NULL, 10), driver->library);
}

void remove_views(const char *root, const struct driver_list *list)
{
    char path[160];
    for (size_t i = 0; i < list->count; i++) {
        snprintf(path, sizeof path, "%.90s/good/%zu.icd", root, i);
        unlink(path);
        snprintf(path, sizeof path, "%.90s/%zu/%zu.icd", root, i, i);
        unlink(path);
        snprintf(path, sizeof path, "%.90s/%zu", root, i);
        rmdir(path);
    }
    snprintf(path, sizeof path, "%.90s/good", root);
    rmdir(path);
    rmdir(root);
}
