#include "opencl/program_cache.h"
#include "base/cache.h"
#include "base/error.h"
#include "base/log.h"
#include "opencl/capabilities.h"

#include <clayer/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables by which drivers let a user change what their compilers make, without a trace in any property. */
static const char *const compiler_variables[] = {"AMD_OCL_BUILD_OPTIONS", "AMD_OCL_BUILD_OPTIONS_APPEND",
                                                 "POCL_WORK_GROUP_METHOD"};

static void platform_version(struct opencl_context *c, char *text, size_t size)
{
    cl_platform_id platform = NULL;
    text[0] = '\0';
    if (c->api->clGetDeviceInfo(c->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS)
        opencl_platform_text(c->api, platform, CL_PLATFORM_VERSION, text, size);
}

void program_key_make(struct opencl_context *c, const char *name, const char *text, const char *options,
                      struct program_key *key)
{
    *key = (struct program_key){0};
    if (c->info.type == CLAYER_DEVICE_SIMULATOR)
        return;
    char version[256], variables[1024] = "";
    platform_version(c, version, sizeof version);
    size_t used = 0;
    for (size_t i = 0; i < sizeof compiler_variables / sizeof *compiler_variables && used < sizeof variables; i++) {
        const char *value = getenv(compiler_variables[i]);
        used += (size_t)snprintf(variables + used, sizeof variables - used, "%s=%s\n", compiler_variables[i],
                                 value ? value : "");
    }
    if (used >= sizeof variables)
        return;
    char *made;
    const int length = asprintf(&made,
                                "clayer: %s\nplatform: %s\nplatform version: %s\ndevice: %s\ndevice version: %s\n"
                                "driver: %s\n%soptions: %s\nsource: %s\n%s",
                                CLAYER_VERSION_STRING, c->info.platform, version, c->info.name, c->info.opencl_version,
                                c->info.driver_version, variables, options, name, text);
    if (length < 0)
        return;
    key->text = made;
    key->length = (size_t)length;
}

void program_key_free(struct program_key *key)
{
    free(key->text);
    key->text = NULL;
}

bool program_cache_find(struct opencl_context *c, const struct program_key *key, const char *name, const char *options,
                        cl_program *program)
{
    void *binary;
    size_t length;
    if (!key->text || !cache_find(key->text, key->length, &binary, &length))
        return false;
    const unsigned char *bytes = binary;
    const char *call = "clCreateProgramWithBinary";
    cl_int loaded = CL_SUCCESS, code;
    cl_program fresh = c->api->clCreateProgramWithBinary(c->context, 1, &c->device, &length, &bytes, &loaded, &code);
    if (code == CL_SUCCESS)
        code = loaded;
    if (code == CL_SUCCESS && fresh) {
        call = "clBuildProgram";
        code = c->api->clBuildProgram(fresh, 1, &c->device, options, NULL, NULL);
    }
    free(binary);
    if (code == CL_SUCCESS && fresh) {
        log_write(CLAYER_LOG_DEBUG, "program cache: found %s.cl %s", name, options);
        *program = fresh;
        return true;
    }
    char why[160];
    snprintf(why, sizeof why, "the driver refuses it: %s gives %s (%d)", call, opencl_error_name(code), (int)code);
    cache_disown(name, why);
    if (fresh)
        c->api->clReleaseProgram(fresh);
    return false;
}

/* The binary for the context's device; an application's context may hold others, for which nothing was built. */
static unsigned char *get_binary(struct opencl_context *c, cl_program program, size_t *length)
{
    cl_uint count = 0;
    if (c->api->clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL) != CL_SUCCESS ||
        count == 0 || count > 1024)
        return NULL;
    cl_device_id *devices = calloc(count, sizeof *devices);
    size_t *sizes = calloc(count, sizeof *sizes);
    unsigned char **binaries = calloc(count, sizeof *binaries), *binary = NULL;
    cl_uint own = 0;
    if (!devices || !sizes || !binaries ||
        c->api->clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof *devices, devices, NULL) != CL_SUCCESS ||
        c->api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL) != CL_SUCCESS)
        goto done;
    while (own < count && devices[own] != c->device)
        own++;
    if (own == count || sizes[own] == 0 || sizes[own] > CACHE_ENTRY_LIMIT)
        goto done;
    binary = malloc(sizes[own]);
    binaries[own] = binary; /* NULL for the others: the driver passes over them */
    if (binary && c->api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries, binaries, NULL) !=
                      CL_SUCCESS) {
        free(binary);
        binary = NULL;
    }
    *length = sizes[own];
done:
    free(devices);
    free(sizes);
    free(binaries);
    return binary;
}

void program_cache_keep(struct opencl_context *c, const struct program_key *key, const char *name, const char *options,
                        cl_program program)
{
    if (!key->text || !cache_usable()) /* PoCL compiles a second form when it is asked for a binary */
        return;
    size_t length = 0;
    unsigned char *binary = get_binary(c, program, &length);
    if (binary) {
        char what[400];
        snprintf(what, sizeof what, "%s.cl %s", name, options);
        cache_put(key->text, key->length, binary, length, what);
    } else {
        log_write(CLAYER_LOG_DEBUG, "program cache: %s.cl is not kept: the driver gives no binary for it", name);
    }
    free(binary);
}
