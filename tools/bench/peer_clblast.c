/* CLBlast as an application would use it: SGEMM (SGEMV for one row) into y, then one kernel for bias and activation,
 * with the temporary that CLBlast wants allocated once. */
#include "bench/opencl.h"
#include "bench/override.h"

#include <clblast_c.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct application application;
static const struct problem *current;
static cl_program program;
static bool tuned;

static struct layer {
    cl_mem weight, bias, temporary;
    cl_kernel epilogue;
} * layers;            /* layers of copy 0, then of copy 1, ... */
static cl_mem *values; /* x, then what each layer gives, of copy 0, then of copy 1, ... */

/* One work-item for four neighbouring outputs where the width allows it, as any application would. */
static const char epilogue_source[] =
    "float activate(float z) { return ACTIVATION; }\n"
    "kernel void epilogue(global float *y, global const float *bias, ulong columns)\n"
    "{\n"
    "    size_t n = get_global_id(0), m = get_global_id(1);\n"
    "#if WIDE\n"
    "    float4 z = vload4(m * (columns / 4) + n, y) + vload4(n, bias);\n"
    "    vstore4((float4)(activate(z.x), activate(z.y), activate(z.z), activate(z.w)), m * (columns / 4) + n, y);\n"
    "#else\n"
    "    y[m * columns + n] = activate(y[m * columns + n] + bias[n]);\n"
    "#endif\n"
    "}\n";

static const char *activation_expression(clayer_activation activation)
{
    switch (activation) {
    case CLAYER_ACTIVATION_NONE:
        return "(z)";
    case CLAYER_ACTIVATION_RELU:
        return "(z<0?0:z)";
    case CLAYER_ACTIVATION_LEAKY_RELU:
        return "(z<0?z*0x1.47ae14p-7f:z)"; /* 0.01f */
    case CLAYER_ACTIVATION_RELU6:
        return "(z<0?0:z>6?6:z)";
    case CLAYER_ACTIVATION_CLAMP:
        return "(z<-0.5f?-0.5f:z>0.5f?0.5f:z)";
    case CLAYER_ACTIVATION_SIGMOID:
        return "(1/(1+exp(-z)))";
    case CLAYER_ACTIVATION_TANH:
        return "(tanh(z))";
    case CLAYER_ACTIVATION_GELU:
        return "(0.5f*z*erfc(z*-0.70710678f))";
    case CLAYER_ACTIVATION_GELU_TANH:
        return "(0.5f*z*(1+tanh(0.79788456f*(z+0.044715f*z*z*z))))";
    case CLAYER_ACTIVATION_SILU:
        return "(z/(1+exp(-z)))";
    }
    return "(z)";
}

static size_t width(size_t layer)
{
    return current->shape.width[layer];
}

static bool wide(size_t layer)
{
    return width(layer + 1) % 4 == 0;
}

static bool clblast_open(const struct setup *setup)
{
    if (!application_open(setup, &application))
        return false;
    tuned = setup->tuned != NULL;
    return !tuned || override_apply(application.device, setup->tuned);
}

static cl_kernel create_epilogue(size_t layer)
{
    char options[256];
    snprintf(options, sizeof options, "-DWIDE=%d -DACTIVATION=%s", wide(layer),
             activation_expression(shape_activation(&current->shape, layer)));
    program = application_build(&application, epilogue_source, options);
    cl_kernel kernel = program ? application_kernel(program, "epilogue") : NULL;
    if (program)
        clReleaseProgram(program); /* the kernel keeps it */
    return kernel;
}

static bool create_layer(size_t index, struct layer *layer, cl_mem y)
{
    size_t in = width(index), out = width(index + 1), batch = current->shape.batch, temporary = 0;
    layer->weight = application_buffer(&application, in * out, current->weight[index]);
    layer->bias = application_buffer(&application, out, current->bias[index]);
    layer->epilogue = create_epilogue(index);
    if (!layer->weight || !layer->bias || !layer->epilogue)
        return false;
    if (batch > 1) {
        CLBlastStatusCode code =
            CLBlastSGemmTempBufferSize(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, batch, out, in,
                                       0, in, 0, in, 0, out, &application.queue, &temporary);
        if (code != CLBlastSuccess)
            return peer_error("CLBlastSGemmTempBufferSize: CLBlast error %d", code);
        layer->temporary = temporary ? application_buffer(&application, (temporary + 3) / 4, NULL) : NULL;
        if (temporary && !layer->temporary)
            return false;
    }
    cl_ulong columns = out;
    OPENCL(clSetKernelArg(layer->epilogue, 0, sizeof y, &y));
    OPENCL(clSetKernelArg(layer->epilogue, 1, sizeof layer->bias, &layer->bias));
    OPENCL(clSetKernelArg(layer->epilogue, 2, sizeof columns, &columns));
    return true;
}

static void clblast_release(void)
{
    size_t count = current->shape.layers;
    for (size_t i = 0; layers && i < current->copies * count; i++) {
        for (int m = 0; m < 3; m++) {
            cl_mem memory = m == 0 ? layers[i].weight : m == 1 ? layers[i].bias : layers[i].temporary;
            if (memory)
                clReleaseMemObject(memory);
        }
        if (layers[i].epilogue)
            clReleaseKernel(layers[i].epilogue);
    }
    for (size_t i = 0; values && i < current->copies * (count + 1); i++)
        if (values[i])
            clReleaseMemObject(values[i]);
    free(layers);
    free(values);
    layers = NULL;
    values = NULL;
}

/* CLBlast's sgemv adds beta times y also for beta = 0, so whoever calls it must not leave NaN in y: neither what lies
 * in fresh memory, nor as poison. */
static bool fill(cl_mem value, size_t level, float with)
{
    size_t bytes = current->shape.batch * width(level) * sizeof with;
    OPENCL(clEnqueueFillBuffer(application.queue, value, &with, sizeof with, 0, bytes, 0, NULL, NULL));
    return true;
}

static bool create_copy(size_t copy)
{
    size_t count = current->shape.layers;
    cl_mem *value = values + copy * (count + 1);
    for (size_t l = 0; l <= count; l++) {
        value[l] = application_buffer(&application, current->shape.batch * width(l), l == 0 ? current->x : NULL);
        if (!value[l] || (l > 0 && !fill(value[l], l, 0)) ||
            (l > 0 && !create_layer(l - 1, &layers[copy * count + l - 1], value[l])))
            return false;
    }
    return true;
}

static bool clblast_prepare(const struct problem *problem, struct peer_info *info)
{
    current = problem;
    layers = calloc(problem->copies * problem->shape.layers, sizeof *layers);
    values = calloc(problem->copies * (problem->shape.layers + 1), sizeof *values);
    bool fine = layers && values;
    for (size_t i = 0; i < problem->copies && fine; i++)
        fine = create_copy(i);
    snprintf(info->plan, sizeof info->plan, "%s + epilogue kernel%s", problem->shape.batch == 1 ? "sgemv" : "sgemm",
             tuned ? ", tuned" : "");
    if (!fine)
        clblast_release();
    return fine;
}

static cl_mem result(size_t copy)
{
    return values[copy * (current->shape.layers + 1) + current->shape.layers];
}

static bool clblast_poison(size_t copy)
{
    return fill(result(copy), current->shape.layers, -FLT_MAX);
}

static bool enqueue_layer(const struct layer *layer, size_t index, cl_mem x, cl_mem y)
{
    size_t in = width(index), out = width(index + 1), batch = current->shape.batch;
    CLBlastStatusCode code;
    if (batch == 1)
        code = CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, out, in, 1, layer->weight, 0, in, x, 0, 1, 0, y,
                            0, 1, &application.queue, NULL);
    else
        code = CLBlastSgemmWithTempBuffer(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, batch, out,
                                          in, 1, x, 0, in, layer->weight, 0, in, 0, y, 0, out, &application.queue, NULL,
                                          layer->temporary);
    if (code != CLBlastSuccess)
        return peer_error("%s: CLBlast error %d", batch == 1 ? "CLBlastSgemv" : "CLBlastSgemmWithTempBuffer", code);
    const size_t global[2] = {wide(index) ? out / 4 : out, batch};
    OPENCL(clEnqueueNDRangeKernel(application.queue, layer->epilogue, 2, NULL, global, NULL, 0, NULL, NULL));
    return true;
}

static bool clblast_enqueue(size_t copy)
{
    size_t count = current->shape.layers;
    cl_mem *value = values + copy * (count + 1);
    for (size_t l = 0; l < count; l++)
        if (!enqueue_layer(&layers[copy * count + l], l, value[l], value[l + 1]))
            return false;
    return true;
}

static bool clblast_wait(void)
{
    OPENCL(clFinish(application.queue));
    return true;
}

static bool clblast_call(size_t copy)
{
    return clblast_enqueue(copy) && clblast_wait();
}

static bool clblast_read(size_t copy, float *y)
{
    size_t bytes = current->shape.batch * width(current->shape.layers) * sizeof *y;
    OPENCL(clEnqueueReadBuffer(application.queue, result(copy), CL_TRUE, 0, bytes, y, 0, NULL, NULL));
    return true;
}

const struct peer peer_clblast = {.name = "clblast",
                                  .open = clblast_open,
                                  .prepare = clblast_prepare,
                                  .poison = clblast_poison,
                                  .call = clblast_call,
                                  .enqueue = clblast_enqueue,
                                  .wait = clblast_wait,
                                  .read = clblast_read,
                                  .release = clblast_release};
