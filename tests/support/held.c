#include "support/held.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fts.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long entries(const char *folder)
{
    long count = -3; /* . and .. and the one that reads */
    DIR *directory = opendir(folder);
    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

struct held held_now(void)
{
    struct held held = {.descriptors = entries("/proc/self/fd")};
    char line[200];
    long anonymous = 0, file = 0;
    malloc_trim(0);
    const struct mallinfo2 info = mallinfo2();
    held.heap_mib = (double)(info.uordblks + info.hblkhd) / 1048576;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "RssAnon: %ld", &anonymous);
        sscanf(line, "RssFile: %ld", &file);
        sscanf(line, "Threads: %ld", &held.threads);
    }
    if (status)
        fclose(status);
    held.anonymous_mib = (double)anonymous / 1024;
    held.file_mib = (double)file / 1024;
    return held;
}

long held_compilations(void)
{
    char *const folders[] = {getenv("POCL_CACHE_DIR"), NULL};
    long count = 0;
    FTS *tree = folders[0] ? fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    for (FTSENT *entry = tree ? fts_read(tree) : NULL; entry; entry = fts_read(tree)) {
        const char *ending = strrchr(entry->fts_name, '.');
        count += entry->fts_info == FTS_F && ending && (strcmp(ending, ".so") == 0 || strcmp(ending, ".bc") == 0);
    }
    if (tree)
        fts_close(tree);
    return count;
}

void held_forget_clblast(void)
{
    void *library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library) {
        int (*clear)(void) = (int (*)(void))dlsym(library, "CLBlastClearCache");
        if (clear)
            clear();
        dlclose(library);
    }
}
