#include "base/paths.h"
#include "base/environment.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <pwd.h>
#endif

static bool is_absolute(const char *path)
{
#ifdef _WIN32
    return path && path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
#else
    return path && path[0] == '/';
#endif
}

/* a + b + c on the heap, slashes at the end of a left out. */
static clayer_status join(const char *a, const char *b, const char *c, char **path)
{
    size_t length = strlen(a);
    while (length > 1 && a[length - 1] == '/')
        length--;
    if (length == 1 && a[0] == '/' && (*b || *c))
        length = 0;
    size_t size = length + strlen(b) + strlen(c) + 1;
    *path = malloc(size);
    if (!*path)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for a path of %zu bytes", size);
    snprintf(*path, size, "%.*s%s%s", (int)length, a, b, c);
    return CLAYER_OK;
}

/* The home that the system knows for this user: daemons often have no HOME. */
static clayer_status home_of_database(const char *below, char **path)
{
#ifndef _WIN32
    struct passwd entry, *found = NULL;
    char *buffer = malloc(1 << 16); /* far above any real entry; getpwuid_r fails cleanly beyond */
    if (!buffer)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the password database");
    clayer_status status = CLAYER_OK;
    if (getpwuid_r(geteuid(), &entry, buffer, 1 << 16, &found) == 0 && found && is_absolute(found->pw_dir))
        status = join(found->pw_dir, below, "/clayer", path);
    free(buffer);
    return status;
#else
    (void)below;
    (void)path;
    return CLAYER_OK;
#endif
}

clayer_status paths_find(enum paths_kind kind, char **path)
{
    const char *own = environment_trusted(kind == PATHS_CACHE ? "CLAYER_CACHE" : "CLAYER_DATA_DIR");
    const char *xdg = environment_trusted(kind == PATHS_CACHE ? "XDG_CACHE_HOME" : "XDG_DATA_HOME");
#ifdef _WIN32
    const char *home = environment_trusted("LOCALAPPDATA"), *below = kind == PATHS_CACHE ? "/cache" : "/data";
#else
    const char *home = environment_trusted("HOME"), *below = kind == PATHS_CACHE ? "/.cache" : "/.local/share";
#endif
    *path = NULL;
    if (own && kind == PATHS_CACHE && strcmp(own, "off") == 0)
        return CLAYER_OK;
    if (own && *own)
        return join(own, "", "", path);
    if (is_absolute(xdg)) /* the specification: relative values are invalid and must be ignored */
        return join(xdg, "", "/clayer", path);
    if (is_absolute(home))
        return join(home, below, "/clayer", path);
    return home_of_database(below, path);
}

static int make_one(const char *path)
{
#ifdef _WIN32
    return mkdir(path);
#else
    return mkdir(path, 0700);
#endif
}

static clayer_status check(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return FAIL(CLAYER_ERROR_IO, "directory %s: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return FAIL(CLAYER_ERROR_IO, "%s is not a directory", path);
#ifndef _WIN32
    if (info.st_uid != geteuid())
        return FAIL(CLAYER_ERROR_IO, "directory %s belongs to user %lu, not to this user (%lu)", path,
                    (unsigned long)info.st_uid, (unsigned long)geteuid());
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return FAIL(CLAYER_ERROR_IO, "directory %s can be written by other users (mode %03o): use chmod 700", path,
                    (unsigned)(info.st_mode & 0777));
#endif
    return CLAYER_OK;
}

clayer_status paths_make(const char *path)
{
    char *prefix;
    TRY(join(path, "", "", &prefix));
    clayer_status status = CLAYER_OK;
    size_t length = strlen(prefix);
    for (size_t i = 1; i <= length; i++) {
        if (prefix[i] != '/' && prefix[i] != '\0')
            continue;
        char kept = prefix[i];
        prefix[i] = '\0';
        /* A parent that exists may answer EEXIST, or EROFS or EACCES before that; the last component tells. */
        int failed = make_one(prefix) != 0 ? errno : 0;
        prefix[i] = kept;
        struct stat info;
        if (kept == '\0' && failed && failed != EEXIST && stat(prefix, &info) != 0)
            FAIL_GOTO(CLAYER_ERROR_IO, "cannot make directory %s: %s", prefix, strerror(failed));
    }
    TRY_GOTO(check(prefix));
fail:
    free(prefix);
    return status;
}
