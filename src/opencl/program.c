#include "opencl/program.h"
#include "base/error.h"
#include "base/log.h"
#include "opencl/program_cache.h"
#include "opencl/source.h"

#include <stdlib.h>
#include <string.h>

/* Some compilers write megabytes; the start says what is wrong. */
#define LOG_MAX ((size_t)64 * 1024)

static const char *find_source(const char *name)
{
    for (size_t i = 0; i < embedded_source_count; i++)
        if (strcmp(embedded_sources[i].name, name) == 0)
            return embedded_sources[i].text;
    return NULL;
}

/* The build log as text, at most LOG_MAX bytes; NULL when there is none. The caller frees it. */
static char *build_log(struct opencl_context *c, cl_program program)
{
    size_t size = 0;
    if (c->api->clGetProgramBuildInfo(program, c->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
        size < 2 || size > (size_t)64 * 1024 * 1024)
        return NULL;
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    if (c->api->clGetProgramBuildInfo(program, c->device, CL_PROGRAM_BUILD_LOG, size, text, NULL) != CL_SUCCESS) {
        free(text);
        return NULL;
    }
    text[size < LOG_MAX ? size : LOG_MAX] = '\0';
    return text;
}

/* Each line of the log as one message; returns the first that speaks of an error, or the first, in `text`. */
static const char *report_log(const char *source, char *text)
{
    const char *first = NULL;
    for (char *save = NULL, *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        log_write(CLAYER_LOG_DEBUG, "%s.cl: %s", source, line);
        if (!first || (strstr(line, "error") && !strstr(first, "error")))
            first = line;
    }
    return first;
}

clayer_status opencl_program_compile(struct opencl_context *c, const char *source, const char *options,
                                     cl_program *program)
{
    const char *text = find_source(source);
    if (!text)
        return FAIL(CLAYER_ERROR_INTERNAL, "no embedded source named %s", source);
    cl_int code;
    cl_program fresh = c->api->clCreateProgramWithSource(c->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS || !fresh)
        return CL_FAIL(code, "clCreateProgramWithSource", "%s.cl", source);
    code = c->api->clBuildProgram(fresh, 1, &c->device, options, NULL, NULL);
    char *log = code == CL_SUCCESS && !log_wants(CLAYER_LOG_DEBUG) ? NULL : build_log(c, fresh);
    const char *first = log ? report_log(source, log) : NULL;
    clayer_status status = CLAYER_OK;
    if (code == CL_SUCCESS) {
        log_write(CLAYER_LOG_DEBUG, "built %s.cl %s", source, options);
        *program = fresh;
    } else {
        status = CL_FAIL(code, "clBuildProgram", "%s.cl %s: %.200s", source, options, first ? first : "no build log");
        c->api->clReleaseProgram(fresh);
    }
    free(log);
    return status;
}

clayer_status opencl_program_build(struct opencl_context *c, const char *source, const char *options,
                                   cl_program *program)
{
    const char *text = find_source(source);
    struct program_key key = {0};
    if (text)
        program_key_make(c, source, text, options, &key);
    clayer_status status = CLAYER_OK;
    if (!program_cache_find(c, &key, source, options, program)) {
        status = opencl_program_compile(c, source, options, program);
        if (status == CLAYER_OK)
            program_cache_keep(c, &key, source, options, *program);
    }
    program_key_free(&key);
    return status;
}
