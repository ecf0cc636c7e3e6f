/* Kernels and their arguments. The driver remembers which mem objects an argument holds, so that launch.c can spoil
 * the output. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names the kernel for rules: "name options". */
static void describe(struct object *kernel)
{
    size_t length = 0;
    real.clGetKernelInfo(kernel->real, CL_KERNEL_FUNCTION_NAME, 0, NULL, &length);
    char *options = object_text(kernel->owner);
    char *text = fake_allocate(length + strlen(options) + 2);
    if (length)
        real.clGetKernelInfo(kernel->real, CL_KERNEL_FUNCTION_NAME, length, text, NULL);
    strcat(strcat(text, " "), options);
    object_describe(kernel, text);
    free(options);
    free(text);
}

static cl_kernel wrap(cl_kernel kernel, struct object *program)
{
    struct object *object = object_wrap(KIND_KERNEL, kernel, program->context, program);
    if (object)
        describe(object);
    return (cl_kernel)object;
}

CL_API_ENTRY cl_kernel CL_API_CALL fake_clCreateKernel(cl_program program, const char *name, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateKernel, name);
    struct object *owner = object_find(KIND_PROGRAM, program);
    cl_kernel kernel = owner ? real.clCreateKernel(owner->real, name, &code) : NULL;
    if (errcode_ret)
        *errcode_ret = owner ? code : CL_INVALID_PROGRAM;
    return owner ? wrap(kernel, owner) : NULL;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
                                                              cl_kernel *kernels, cl_uint *num_ret)
{
    ENTER(clCreateKernelsInProgram, NULL);
    struct object *owner = object_find(KIND_PROGRAM, program);
    cl_uint count = 0;
    cl_int code = owner ? real.clCreateKernelsInProgram(owner->real, num_kernels, kernels, &count) : CL_INVALID_PROGRAM;
    for (cl_uint i = 0; code == CL_SUCCESS && kernels && i < count; i++)
        kernels[i] = wrap(kernels[i], owner);
    if (code == CL_SUCCESS && num_ret)
        *num_ret = count;
    return code;
}

CL_API_ENTRY cl_kernel CL_API_CALL fake_clCloneKernel(cl_kernel source, cl_int *errcode_ret)
{
    ENTER_CREATE(clCloneKernel, NULL);
    const struct object *from = object_find(KIND_KERNEL, source);
    struct object *clone = NULL;
    if (from)
        clone = (struct object *)wrap(real.clCloneKernel(from->real, &code), from->owner);
    if (clone)
        memcpy(clone->kernel->arguments, from->kernel->arguments, sizeof clone->kernel->arguments);
    if (errcode_ret)
        *errcode_ret = from ? code : CL_INVALID_KERNEL;
    return (cl_kernel)clone;
}

RETAIN_RELEASE(Kernel, cl_kernel, KIND_KERNEL, CL_INVALID_KERNEL);

CL_API_ENTRY cl_int CL_API_CALL fake_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    const struct object *object = object_find(KIND_KERNEL, kernel);
    char *text = object_text(object);
    const struct effect effect = fake_enter(FN_clSetKernelArg, text);
    free(text);
    if (effect.failed || effect.nonsense)
        return effect.failed ? effect.code : CL_SUCCESS;
    if (!object)
        return CL_INVALID_KERNEL;
    struct object *argument = NULL;
    bool stale = false;
    if (value && size == sizeof(void *))
        argument = object_guess(value, &stale);
    if (stale)
        return CL_INVALID_MEM_OBJECT;
    cl_int code = real.clSetKernelArg(object->real, index, size, argument ? &argument->real : value);
    if (code == CL_SUCCESS && index < FAKE_ARGUMENTS) {
        pthread_mutex_lock(&fake_mutex);
        object->kernel->arguments[index] = argument && argument->kind == KIND_MEM ? argument : NULL;
        pthread_mutex_unlock(&fake_mutex);
    }
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
    ENTER(clSetKernelArgSVMPointer, NULL);
    return real.clSetKernelArgSVMPointer(REAL_KERNEL(kernel), index, value);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info query, size_t size,
                                                         const void *value)
{
    ENTER(clSetKernelExecInfo, NULL);
    return real.clSetKernelExecInfo(REAL_KERNEL(kernel), query, size, value);
}

/* ---- queries ---- */

CL_API_ENTRY cl_int CL_API_CALL fake_clGetKernelInfo(cl_kernel kernel, cl_kernel_info query, size_t size, void *value,
                                                     size_t *size_ret)
{
    ENTER_QUERY(clGetKernelInfo, NULL);
    const struct object *object = object_find(KIND_KERNEL, kernel);
    if (!object)
        return CL_INVALID_KERNEL;
    cl_int code;
    cl_uint references = object_references(object);
    if (query == CL_KERNEL_CONTEXT)
        code = info_give(&object->context, sizeof object->context, size, value, size_ret);
    else if (query == CL_KERNEL_PROGRAM)
        code = info_give(&object->owner, sizeof object->owner, size, value, size_ret);
    else if (query == CL_KERNEL_REFERENCE_COUNT)
        code = info_give(&references, sizeof references, size, value, size_ret);
    else
        code = real.clGetKernelInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info query,
                                                        size_t size, void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetKernelArgInfo, NULL);
    cl_int code = real.clGetKernelArgInfo(REAL_KERNEL(kernel), index, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                              cl_kernel_work_group_info query, size_t size, void *value,
                                                              size_t *size_ret)
{
    ENTER_QUERY(clGetKernelWorkGroupInfo, NULL);
    const struct object *object = object_find(KIND_KERNEL, kernel);
    const struct object *on = device ? object_find(KIND_DEVICE, device) : NULL;
    if (!object || (device && !on))
        return object ? CL_INVALID_DEVICE : CL_INVALID_KERNEL;
    cl_int code;
    if (!info_override(query, on ? on->index : -1, size, value, size_ret, &code))
        code = real.clGetKernelWorkGroupInfo(object->real, on ? on->real : NULL, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                             cl_kernel_sub_group_info query, size_t input_size,
                                                             const void *input, size_t size, void *value,
                                                             size_t *size_ret)
{
    ENTER_QUERY(clGetKernelSubGroupInfo, NULL);
    cl_int code = real.clGetKernelSubGroupInfo(REAL_KERNEL(kernel), device ? REAL_DEVICE(device) : NULL, query,
                                               input_size, input, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device,
                                                                cl_kernel_sub_group_info query, size_t input_size,
                                                                const void *input, size_t size, void *value,
                                                                size_t *size_ret)
{
    ENTER_QUERY(clGetKernelSubGroupInfoKHR, NULL);
    cl_int code = real.clGetKernelSubGroupInfoKHR(REAL_KERNEL(kernel), device ? REAL_DEVICE(device) : NULL, query,
                                                  input_size, input, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}
