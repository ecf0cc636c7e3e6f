/* Programs: creating, building, and what they tell of themselves. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* The list unwrapped, NULL for NULL; free it. An invalid device becomes NULL, which the real driver refuses. */
static cl_device_id *unwrap_devices(cl_uint count, const cl_device_id *devices)
{
    cl_device_id *unwrapped = devices ? fake_allocate(sizeof *unwrapped * count) : NULL;
    for (cl_uint i = 0; devices && i < count; i++)
        unwrapped[i] = REAL_DEVICE(devices[i]);
    return unwrapped;
}

static cl_program *unwrap_programs(cl_uint count, const cl_program *programs)
{
    cl_program *unwrapped = programs ? fake_allocate(sizeof *unwrapped * count) : NULL;
    for (cl_uint i = 0; programs && i < count; i++)
        unwrapped[i] = REAL_PROGRAM(programs[i]);
    return unwrapped;
}

/* ---- creating ---- */

/* All pieces as one text, for rules; free it. */
static char *join(cl_uint count, const char *const *strings, const size_t *lengths)
{
    size_t total = 0;
    for (cl_uint i = 0; strings && i < count; i++)
        total += !strings[i] ? 0 : lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    char *text = fake_allocate(total + 1);
    total = 0;
    for (cl_uint i = 0; strings && i < count; i++) {
        size_t length = !strings[i] ? 0 : lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(text + total, strings[i] ? strings[i] : "", length);
        total += length;
    }
    return text;
}

static cl_program create_with_source(const char *text, cl_context context, cl_uint count, const char **strings,
                                     const size_t *lengths, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateProgramWithSource, text);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_program, KIND_PROGRAM, real.clCreateProgramWithSource(CONTEXT_OF(parent), count, strings, lengths, &code),
         parent, NULL);
}

CL_API_ENTRY cl_program CL_API_CALL fake_clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                   const char **strings, const size_t *lengths,
                                                                   cl_int *errcode_ret)
{
    char *text = join(count, strings, lengths);
    cl_program program = create_with_source(text, context, count, strings, lengths, errcode_ret);
    free(text);
    return program;
}

CL_API_ENTRY cl_program CL_API_CALL fake_clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
                                                                   const cl_device_id *devices, const size_t *lengths,
                                                                   const unsigned char **binaries, cl_int *status,
                                                                   cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateProgramWithBinary, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    cl_device_id *own = unwrap_devices(num_devices, devices);
    cl_program program =
        real.clCreateProgramWithBinary(CONTEXT_OF(parent), num_devices, own, lengths, binaries, status, &code);
    free(own);
    GIVE(cl_program, KIND_PROGRAM, program, parent, NULL);
}

CL_API_ENTRY cl_program CL_API_CALL fake_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                                                           const cl_device_id *devices,
                                                                           const char *kernel_names,
                                                                           cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateProgramWithBuiltInKernels, kernel_names);
    struct object *parent = object_find(KIND_CONTEXT, context);
    cl_device_id *own = unwrap_devices(num_devices, devices);
    cl_program program =
        real.clCreateProgramWithBuiltInKernels(CONTEXT_OF(parent), num_devices, own, kernel_names, &code);
    free(own);
    GIVE(cl_program, KIND_PROGRAM, program, parent, NULL);
}

CL_API_ENTRY cl_program CL_API_CALL fake_clCreateProgramWithIL(cl_context context, const void *il, size_t length,
                                                               cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateProgramWithIL, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_program, KIND_PROGRAM, real.clCreateProgramWithIL(CONTEXT_OF(parent), il, length, &code), parent, NULL);
}

RETAIN_RELEASE(Program, cl_program, KIND_PROGRAM, CL_INVALID_PROGRAM);

/* ---- building ---- */

static void CL_CALLBACK program_done(cl_program program, void *data)
{
    (void)program;
    const struct callback *callback = data;
    ((void(CL_CALLBACK *)(cl_program, void *))callback->function)((cl_program)callback->object, callback->user_data);
}

/* The options for the real driver: with argument information, by which launch.c knows a kernel's output; free it. */
static char *with_arg_info(const char *options)
{
    static const char more[] = " -cl-kernel-arg-info";
    char *text = fake_allocate((options ? strlen(options) : 0) + sizeof more);
    return strcat(strcpy(text, options ? options : ""), more);
}

typedef void(CL_CALLBACK program_callback)(cl_program, void *);

CL_API_ENTRY cl_int CL_API_CALL fake_clBuildProgram(cl_program program, cl_uint num_devices,
                                                    const cl_device_id *devices, const char *options,
                                                    program_callback *notify, void *user_data)
{
    struct object *object = object_find(KIND_PROGRAM, program);
    fake_record("clBuildProgram %s", options ? options : "");
    if (object)
        object_describe(object, options ? options : "");
    ENTER(clBuildProgram, options ? options : "");
    if (!object)
        return CL_INVALID_PROGRAM;
    char *own_options = with_arg_info(options);
    cl_device_id *own = unwrap_devices(num_devices, devices);
    struct callback *callback = notify ? callback_new(object, (void (*)(void))notify, user_data) : NULL;
    cl_int code =
        real.clBuildProgram(object->real, num_devices, own, own_options, notify ? program_done : NULL, callback);
    free(own);
    free(own_options);
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clCompileProgram(cl_program program, cl_uint num_devices,
                                                      const cl_device_id *devices, const char *options,
                                                      cl_uint num_headers, const cl_program *headers,
                                                      const char **names, program_callback *notify, void *user_data)
{
    struct object *object = object_find(KIND_PROGRAM, program);
    fake_record("clCompileProgram %s", options ? options : "");
    if (object)
        object_describe(object, options ? options : "");
    ENTER(clCompileProgram, options ? options : "");
    if (!object)
        return CL_INVALID_PROGRAM;
    char *own_options = with_arg_info(options);
    cl_device_id *own = unwrap_devices(num_devices, devices);
    cl_program *own_headers = unwrap_programs(num_headers, headers);
    struct callback *callback = notify ? callback_new(object, (void (*)(void))notify, user_data) : NULL;
    cl_int code = real.clCompileProgram(object->real, num_devices, own, own_options, num_headers, own_headers, names,
                                        notify ? program_done : NULL, callback);
    free(own);
    free(own_options);
    free(own_headers);
    return code;
}

/* A callback would need the wrapper of a program that does not exist yet: it is called here, once linking is done. */
CL_API_ENTRY cl_program CL_API_CALL fake_clLinkProgram(cl_context context, cl_uint num_devices,
                                                       const cl_device_id *devices, const char *options,
                                                       cl_uint num_inputs, const cl_program *inputs,
                                                       program_callback *notify, void *user_data, cl_int *errcode_ret)
{
    ENTER_CREATE(clLinkProgram, options ? options : "");
    struct object *parent = object_find(KIND_CONTEXT, context);
    cl_device_id *own = unwrap_devices(num_devices, devices);
    cl_program *own_inputs = unwrap_programs(num_inputs, inputs);
    cl_program made =
        real.clLinkProgram(CONTEXT_OF(parent), num_devices, own, options, num_inputs, own_inputs, NULL, NULL, &code);
    struct object *object = object_wrap(KIND_PROGRAM, made, parent, NULL);
    free(own);
    free(own_inputs);
    if (object)
        object_describe(object, options ? options : "");
    if (errcode_ret)
        *errcode_ret = code;
    if (object && notify)
        notify((cl_program)object, user_data);
    return (cl_program)object;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size,
                                                                        const void *value)
{
    ENTER(clSetProgramSpecializationConstant, NULL);
    return real.clSetProgramSpecializationConstant(REAL_PROGRAM(program), id, size, value);
}

/* ---- queries ---- */

/* The program's devices as the context's wrappers. */
static cl_int give_devices(const struct object *program, size_t size, void *value, size_t *size_ret)
{
    size_t bytes = 0;
    cl_int code = real.clGetProgramInfo(program->real, CL_PROGRAM_DEVICES, 0, NULL, &bytes);
    if (code != CL_SUCCESS)
        return code;
    void **devices = fake_allocate(bytes);
    code = real.clGetProgramInfo(program->real, CL_PROGRAM_DEVICES, bytes, devices, NULL);
    for (size_t i = 0; i < bytes / sizeof *devices; i++)
        for (cl_uint d = 0; d < program->context->device_count; d++)
            if (program->context->devices[d]->real == devices[i]) {
                devices[i] = program->context->devices[d];
                break;
            }
    if (code == CL_SUCCESS)
        code = info_give(devices, bytes, size, value, size_ret);
    free(devices);
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetProgramInfo(cl_program program, cl_program_info query, size_t size,
                                                      void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetProgramInfo, NULL);
    const struct object *object = object_find(KIND_PROGRAM, program);
    if (!object)
        return CL_INVALID_PROGRAM;
    cl_int code;
    cl_uint references = object_references(object);
    switch (query) {
    case CL_PROGRAM_CONTEXT:
        code = info_give(&object->context, sizeof object->context, size, value, size_ret);
        break;
    case CL_PROGRAM_DEVICES:
        code = give_devices(object, size, value, size_ret);
        break;
    case CL_PROGRAM_REFERENCE_COUNT:
        code = info_give(&references, sizeof references, size, value, size_ret);
        break;
    case CL_PROGRAM_BINARIES: /* the answer goes where value's pointers point: nothing here to spoil */
        return real.clGetProgramInfo(object->real, query, size, value, size_ret);
    default:
        code = real.clGetProgramInfo(object->real, query, size, value, size_ret);
    }
    return info_scrub(&effect, code, size, value, size_ret);
}

/* A build log of the wanted length; length 0 is an answer of no bytes, not even the terminator. */
static cl_int give_log(size_t length, size_t size, void *value, size_t *size_ret)
{
    static const char line[] = "fake.cl:1:1: warning: this log is long, %s and %n in it are text\n";
    char *text = fake_allocate(length + 1);
    for (size_t i = 0; i + 1 < length; i++)
        text[i] = line[i % (sizeof line - 1)];
    cl_int code = info_give(text, length, size, value, size_ret);
    free(text);
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                           cl_program_build_info query, size_t size, void *value,
                                                           size_t *size_ret)
{
    const struct object *object = object_find(KIND_PROGRAM, program);
    char *text = object_text(object);
    const struct effect effect = fake_enter(FN_clGetProgramBuildInfo, text);
    cl_int code = effect.failed ? effect.code : object ? CL_SUCCESS : CL_INVALID_PROGRAM;
    if (code == CL_SUCCESS && query == CL_PROGRAM_BUILD_OPTIONS) /* the real ones are not the application's */
        code = info_give(text, strlen(text) + 1, size, value, size_ret);
    free(text);
    if (code != CL_SUCCESS || query == CL_PROGRAM_BUILD_OPTIONS)
        return code;
    if (query == CL_PROGRAM_BUILD_LOG && effect.log >= 0)
        return give_log((size_t)effect.log, size, value, size_ret);
    code = real.clGetProgramBuildInfo
               ? real.clGetProgramBuildInfo(object->real, REAL_DEVICE(device), query, size, value, size_ret)
               : CL_INVALID_OPERATION;
    return info_scrub(&effect, code, size, value, size_ret);
}
