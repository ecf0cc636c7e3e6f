#include "base/library.h"
#include "base/error.h"

#include <stdio.h>

#ifdef _WIN32
#include <string.h>
#include <windows.h>

void *library_open(const char *name, char *why, size_t why_size)
{
    HMODULE library = LoadLibraryA(name);
    if (!library)
        snprintf(why, why_size, "%s: Windows error %lu", name, GetLastError());
    return (void *)library;
}

void *library_symbol(void *library, const char *symbol)
{
    FARPROC found = GetProcAddress((HMODULE)library, symbol);
    void *address = NULL;
    memcpy(&address, &found, sizeof address);
    return address;
}

void library_stay(const void *address)
{
    HMODULE library;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, address, &library);
}

#else
#include <dlfcn.h>

void *library_open(const char *name, char *why, size_t why_size)
{
    /* LOCAL: a second OpenCL or BLAS in the application must not see our symbols, nor we its. */
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, why_size, "%s", reason ? reason : "unknown reason");
        text_clean(why);
    }
    return library;
}

void *library_symbol(void *library, const char *symbol)
{
    return dlsym(library, symbol);
}

void library_stay(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) != 0 && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); /* the program itself stays anyway */
}

#endif
