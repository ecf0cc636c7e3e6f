/* Kernel launches, and the kernels that go wrong: output of NaN, nothing written, the last row wrong. */
#include "driver.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* True the first time a kernel object is launched with this local size: where real drivers compile once more. */
static bool first_launch(struct kernel_state *state, cl_uint dimensions, const size_t *local)
{
    size_t hash = 17;
    for (cl_uint i = 0; i < dimensions; i++)
        hash = hash * 1000003 + local[i];
    bool first = true;
    pthread_mutex_lock(&fake_mutex);
    for (int i = 0; i < state->local_count; i++)
        first = first && state->locals[i] != hash;
    if (first && state->local_count < FAKE_LOCAL_SIZES)
        state->locals[state->local_count++] = hash;
    pthread_mutex_unlock(&fake_mutex);
    return first;
}

/* The kernel's last mem argument that it may write: no pointer to const, or, where the driver does not tell (programs
 * from binaries), no read-only buffer. -1: there is none. */
static int output_argument(const struct object *kernel)
{
    int found = -1;
    for (int i = 0; i < FAKE_ARGUMENTS; i++) {
        cl_kernel_arg_type_qualifier qualifier = 0;
        cl_mem_flags flags = 0;
        const struct object *mem = kernel->kernel->arguments[i];
        if (!mem || !object_find(KIND_MEM, mem))
            continue;
        bool told =
            real.clGetKernelArgInfo && real.clGetKernelArgInfo(kernel->real, (cl_uint)i, CL_KERNEL_ARG_TYPE_QUALIFIER,
                                                               sizeof qualifier, &qualifier, NULL) == CL_SUCCESS;
        real.clGetMemObjectInfo(mem->real, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
        if (told ? !(qualifier & CL_KERNEL_ARG_TYPE_CONST) : !(flags & CL_MEM_READ_ONLY))
            found = i;
    }
    return found;
}

static void spoil(const struct effect *effect, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = effect->corruption == CORRUPT_NAN ? NAN : values[i] + 1 + fabsf(values[i]);
}

/* Spoils the finished kernel's output. What can't be done is said on stderr, since the test relies on it. */
static void corrupt(const struct effect *effect, cl_command_queue queue, const struct object *kernel)
{
    int index = effect->arg >= 0 ? effect->arg : output_argument(kernel);
    struct object *mem = index >= 0 && index < FAKE_ARGUMENTS ? kernel->kernel->arguments[index] : NULL;
    mem = mem ? object_find(KIND_MEM, mem) : NULL;
    if (!mem) {
        fake_complain("argument %d of \"%s\" is no live buffer: nothing to corrupt", index, kernel->text);
        return;
    }
    size_t size = 0;
    real.clGetMemObjectInfo(mem->real, CL_MEM_SIZE, sizeof size, &size, NULL);
    size_t end = effect->end >= 0 && (size_t)effect->end < size ? (size_t)effect->end : size;
    size_t count = end / sizeof(float);
    size_t wanted = effect->floats >= 0 ? (size_t)effect->floats : effect->corruption == CORRUPT_LASTROW ? 1 : count;
    count = wanted < count ? wanted : count;
    if (!count)
        return;
    size_t offset = end / sizeof(float) * sizeof(float) - count * sizeof(float);
    float *values = fake_allocate(count * sizeof *values);
    cl_int code =
        real.clEnqueueReadBuffer(queue, mem->real, CL_TRUE, offset, count * sizeof *values, values, 0, NULL, NULL);
    spoil(effect, values, count);
    if (code == CL_SUCCESS)
        code =
            real.clEnqueueWriteBuffer(queue, mem->real, CL_TRUE, offset, count * sizeof *values, values, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        fake_complain("cannot corrupt argument %d of \"%s\": %d", index, kernel->text, code);
    free(values);
}

struct launch {
    bool task;
    cl_uint dimensions;
    const size_t *offset, *global, *local;
};

static cl_int launch_real(cl_command_queue queue, cl_kernel kernel, const struct launch *launch, cl_uint count,
                          const cl_event *waits, cl_event *made)
{
    if (launch->task)
        return real.clEnqueueTask ? real.clEnqueueTask(queue, kernel, count, waits, made) : CL_INVALID_OPERATION;
    return real.clEnqueueNDRangeKernel ? real.clEnqueueNDRangeKernel(queue, kernel, launch->dimensions, launch->offset,
                                                                     launch->global, launch->local, count, waits, made)
                                       : CL_INVALID_OPERATION;
}

static cl_int launch_with(const struct effect *effect, cl_command_queue queue, struct object *kernel,
                          const struct launch *launch, cl_uint count, const cl_event *waits, cl_event *event)
{
    cl_command_queue own_queue = REAL_QUEUE(queue);
    struct wait_list list;
    const cl_event *own;
    cl_event made = NULL;
    cl_int code = CL_INVALID_EVENT_WAIT_LIST;
    if (effect->first && first_launch(kernel->kernel, launch->local ? launch->dimensions : 0, launch->local))
        fake_wait(effect->first);
    bool spoils = effect->corruption == CORRUPT_NAN || effect->corruption == CORRUPT_LASTROW;
    if (!wait_list_open(&list, count, waits, &own))
        ;
    else if (effect->corruption == CORRUPT_SKIP)
        code = real.clEnqueueMarkerWithWaitList(own_queue, count, own, event ? &made : NULL);
    else
        code = launch_real(own_queue, kernel->real, launch, count, own, event || spoils ? &made : NULL);
    wait_list_close(&list);
    if (code == CL_SUCCESS && spoils) {
        real.clWaitForEvents(1, &made);
        corrupt(effect, own_queue, kernel);
        if (!event)
            real.clReleaseEvent(made);
    }
    return enqueue_end(code, queue, made, event, kernel->text);
}

static cl_int launch_entered(enum function function, cl_command_queue queue, cl_kernel handle,
                             const struct launch *launch, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct object *kernel = object_find(KIND_KERNEL, handle);
    const struct effect effect = fake_enter(function, kernel ? kernel->text : NULL);
    if (effect.failed || effect.nonsense)
        return effect.failed ? effect.code : CL_SUCCESS;
    return kernel ? launch_with(&effect, queue, kernel, launch, count, waits, event) : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                            cl_uint dimensions, const size_t *offset,
                                                            const size_t *global, const size_t *local, cl_uint count,
                                                            const cl_event *waits, cl_event *event)
{
    const struct launch launch = {false, dimensions, offset, global, local};
    return launch_entered(FN_clEnqueueNDRangeKernel, queue, kernel, &launch, count, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                                   const cl_event *waits, cl_event *event)
{
    const struct launch launch = {true, 0, NULL, NULL, NULL};
    return launch_entered(FN_clEnqueueTask, queue, kernel, &launch, count, waits, event);
}
