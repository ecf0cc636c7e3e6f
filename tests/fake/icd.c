/* The library as an ICD: what the loader calls, how the real driver is found, loading and unloading. */
#include "driver.h"
#include "platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cl_icd_dispatch real;
pthread_mutex_t fake_mutex = PTHREAD_MUTEX_INITIALIZER;

const cl_icd_dispatch fake_dispatch = {
#define X(name, flag) .name = fake_##name,
    FAKE_FUNCTIONS(X)
#undef X
};

typedef cl_int icd_platforms_function(cl_uint, cl_platform_id *, cl_uint *);
typedef void *icd_address_function(const char *);

/* ---- small helpers that every file uses ---- */

void fake_log(const char *format, ...)
{
    const char *wanted = getenv("CLAYER_FAKE_LOG");
    if (!wanted || strcmp(wanted, "1") != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    fputs("fake driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void fake_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("fake driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void *fake_allocate(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

char *fake_copy(const char *text)
{
    char *copy = fake_allocate(strlen(text) + 1);
    return strcpy(copy, text);
}

long fake_number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 0) {
        fake_complain("%s=\"%s\" is no number", name, text);
        abort();
    }
    return value;
}

void fake_record(const char *format, ...)
{
    const char *path = getenv("CLAYER_FAKE_RECORD");
    if (!path || !*path)
        return;
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
    for (char *at = line; *at; at++)
        if (*at == '\n')
            *at = ' ';
    line[length] = '\n'; /* over the terminator: one write, so that lines of several processes do not mix */
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, (size_t)length + 1) != length + 1)
        fake_complain("cannot write to %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    free(line);
}

/* ---- the real driver ---- */

/* Older drivers have shorter tables: what lies behind the entries of their version must not be read. */
static void copy_dispatch(const cl_icd_dispatch *table, const char *version)
{
    int major = 1, minor = 0;
    sscanf(version, "OpenCL %d.%d", &major, &minor);
    int number = major * 10 + minor;
    size_t length = number >= 30   ? sizeof real
                    : number >= 22 ? offsetof(cl_icd_dispatch, clCreateBufferWithProperties)
                    : number >= 21 ? offsetof(cl_icd_dispatch, clSetProgramReleaseCallback)
                    : number >= 20 ? offsetof(cl_icd_dispatch, clCloneKernel)
                                   : offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties);
    memcpy(&real, table, length);
}

/* The library's name from the first line of PoCL's .icd file; free it. */
static char *pocl_library(void)
{
    char line[4096] = "";
    FILE *file = fopen("/etc/OpenCL/vendors/pocl.icd", "re");
    if (file) {
        if (!fgets(line, sizeof line, file))
            *line = 0;
        fclose(file);
    }
    line[strcspn(line, "\r\n")] = 0;
    return fake_copy(line);
}

/* The real platform, with its table in `real`; NULL with a complaint. */
static cl_platform_id open_real(void)
{
    const char *wanted = getenv("CLAYER_FAKE_REAL");
    char *path = wanted && *wanted ? fake_copy(wanted) : pocl_library();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    icd_platforms_function *get = NULL;
    if (library) {
        get = (icd_platforms_function *)dlsym(library, "clIcdGetPlatformIDsKHR");
        icd_address_function *address = (icd_address_function *)dlsym(library, "clGetExtensionFunctionAddress");
        if (!get && address)
            get = (icd_platforms_function *)address("clIcdGetPlatformIDsKHR");
    }
    cl_platform_id platform = NULL;
    char version[256] = "";
    if (!get)
        fake_complain("no OpenCL driver in \"%s\": %s", path, library ? "it has no ICD entry" : dlerror());
    else if (get(1, &platform, NULL) != CL_SUCCESS || !platform)
        fake_complain("the driver %s shows no platform", path);
    else {
        const cl_icd_dispatch *table = *(const cl_icd_dispatch **)platform;
        table->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
        copy_dispatch(table, version);
    }
    free(path);
    return platform;
}

static void start(void)
{
    rules_from_environment();
    info_from_environment();
    const char *mode = getenv("CLAYER_FAKE_MODE"), *library = getenv("CLAYER_FAKE_REAL");
    bool pass = (library && *library) || (mode && !strcmp(mode, "pass"));
    if (mode && *mode && strcmp(mode, "pass") != 0 && strcmp(mode, "standalone") != 0) {
        fake_complain("CLAYER_FAKE_MODE=\"%s\": it is standalone or pass", mode);
        abort();
    }
    if (!pass)
        real = standalone_dispatch;
    cl_platform_id platform = pass ? open_real() : standalone_platform;
    if (platform)
        platforms_open(platform, (cl_uint)fake_number("CLAYER_FAKE_PLATFORMS", 1));
}

/* ---- what the loader calls ---- */

FAKE_EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms);
FAKE_EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *on_load = getenv("CLAYER_FAKE_ON_LOAD");
    if (on_load && *on_load)
        fake_end(on_load);
    pthread_once(&once, start);
    return platforms_list(num_entries, platforms, num_platforms);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
                                                      cl_uint *num_platforms)
{
    const struct effect effect = fake_enter(FN_clGetPlatformIDs, NULL);
    if (effect.failed)
        return effect.code;
    return clIcdGetPlatformIDsKHR(num_entries, platforms, num_platforms);
}

static void *address_of(const char *name)
{
    if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
        return (void *)clIcdGetPlatformIDsKHR;
    if (!strcmp(name, "clGetPlatformInfo")) /* ocl-icd asks for it before it trusts a dispatch table */
        return (void *)fake_clGetPlatformInfo;
    if (!strcmp(name, "clGetKernelSubGroupInfoKHR") && real.clGetKernelSubGroupInfo)
        return (void *)fake_clGetKernelSubGroupInfoKHR;
    return NULL; /* the real driver's own extensions would get our handles */
}

CL_API_ENTRY void *CL_API_CALL fake_clGetExtensionFunctionAddress(const char *name)
{
    const struct effect effect = fake_enter(FN_clGetExtensionFunctionAddress, name);
    return effect.failed || effect.nonsense ? NULL : address_of(name);
}

CL_API_ENTRY void *CL_API_CALL fake_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    (void)platform;
    const struct effect effect = fake_enter(FN_clGetExtensionFunctionAddressForPlatform, name);
    return effect.failed || effect.nonsense ? NULL : address_of(name);
}

/* The loader finds its way by this name, before any rule. */
FAKE_EXPORT void *clGetExtensionFunctionAddress(const char *name)
{
    return address_of(name);
}

__attribute__((destructor)) static void unload(void)
{
    fake_record_balance();
    const char *on_unload = getenv("CLAYER_FAKE_ON_UNLOAD");
    if (on_unload && *on_unload)
        fake_end(on_unload);
}
