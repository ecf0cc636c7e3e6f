#include "store/layers.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "store/builtin.h"
#include "store/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The specification's value where XDG_DATA_DIRS is not set. */
#define SYSTEM_FOLDERS "/usr/local/share:/usr/share"

struct reading {
    const struct record_device *device;
    enum store_origin origin;
    layers_receiver receiver;
    void *user;
};

bool layers_off(void)
{
    const char *value = environment_trusted("CLAYER_TUNING");
    return value && strcmp(value, "off") == 0;
}

clayer_status layers_take(struct format_content *content, const struct record_device *device, enum store_origin origin,
                          layers_receiver receiver, void *user)
{
    for (size_t i = 0; i < content->count; i++)
        if (record_device_matches(&content->sections[i].device, device))
            TRY(receiver(user, origin, &content->sections[i]));
    return CLAYER_OK;
}

static clayer_status read_file(void *user, const char *path)
{
    struct reading *r = user;
    struct format_content content;
    clayer_status status = folder_read(path, r->device, &content, NULL, NULL, NULL);
    if (status == CLAYER_ERROR_OUT_OF_MEMORY)
        return status;
    if (status != CLAYER_OK) {
        folder_warn("%s", clayer_last_error());
        return CLAYER_OK;
    }
    folder_report(path, &content);
    status = layers_take(&content, r->device, r->origin, r->receiver, r->user);
    format_free(&content);
    return status;
}

static clayer_status read_folder(struct reading *r, const char *folder)
{
    char *path;
    TRY(folder_file(folder, r->device, &path));
    const clayer_status status = read_file(r, path);
    free(path);
    TRY(status);
    const clayer_status listed = folder_visit(folder, FOLDER_FAMILY_SUFFIX, read_file, r);
    if (listed == CLAYER_ERROR_IO)
        folder_warn("%s", clayer_last_error());
    return listed == CLAYER_ERROR_IO ? CLAYER_OK : listed;
}

static clayer_status read_environment(struct reading *r)
{
    const char *place = environment_trusted("CLAYER_TUNING");
    struct stat info;
    r->origin = STORE_ENVIRONMENT;
    if (!place || !*place)
        return CLAYER_OK;
    if (stat(place, &info) != 0) {
        folder_warn("CLAYER_TUNING names %s, which is not there", place);
        return CLAYER_OK;
    }
    return S_ISDIR(info.st_mode) ? read_folder(r, place) : read_file(r, place);
}

static clayer_status read_user(struct reading *r)
{
    char *folder;
    r->origin = STORE_USER;
    TRY(folder_user(&folder));
    const clayer_status status = folder ? read_folder(r, folder) : CLAYER_OK;
    free(folder);
    return status;
}

static clayer_status read_system(struct reading *r)
{
    const char *folders = environment_trusted("XDG_DATA_DIRS");
    r->origin = STORE_SYSTEM;
    if (!folders || !*folders)
        folders = SYSTEM_FOLDERS;
    while (*folders) {
        const size_t length = strcspn(folders, ":");
        char *folder;
        if (*folders == '/') { /* the specification: others are invalid and must be ignored */
            if (asprintf(&folder, "%.*s/clayer/tuning", (int)length, folders) < 0)
                return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path");
            const clayer_status status = read_folder(r, folder);
            free(folder);
            TRY(status);
        }
        folders += length + (folders[length] == ':');
    }
    return CLAYER_OK;
}

static clayer_status read_builtin(struct reading *r)
{
    r->origin = STORE_BUILT_IN;
    for (size_t i = 0; i < builtin_tuning_count; i++) {
        struct format_content content;
        TRY(format_read(builtin_tuning[i].text, strlen(builtin_tuning[i].text), r->device, &content));
        folder_report(builtin_tuning[i].name, &content);
        const clayer_status status = layers_take(&content, r->device, r->origin, r->receiver, r->user);
        format_free(&content);
        TRY(status);
    }
    return CLAYER_OK;
}

clayer_status layers_read(const struct record_device *device, layers_receiver receiver, void *user)
{
    struct reading reading = {.device = device, .receiver = receiver, .user = user};
    if (layers_off())
        return CLAYER_OK;
    TRY(read_environment(&reading));
    TRY(read_user(&reading));
    TRY(read_system(&reading));
    return read_builtin(&reading);
}
