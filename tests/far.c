/* Elements beyond 2^31 in kernels that run. No test machine has buffers of 8 GiB and more, but PoCL gives a kernel
 * plain pointers: a small buffer over the beginning of a large, mostly empty mapping lets it reach all of that. */
#include "base/error.h"
#include "linear.h"
#include "opencl/context.h"

#include <clayer/clayer.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BATCH = 6, IN = 24, OUT = 40 };
/* Rows that lie more than 2^31 elements apart, on whole vectors, and a first element as far. */
#define FAR (((size_t)1 << 31) + 64)
#define BYTES ((FAR * IN + FAR * OUT) * sizeof(float))

static float w[OUT * IN], b[OUT];

struct far {
    float *memory;
    struct opencl_buffer buffer;
};

static clayer_context *open_pocl(void)
{
    clayer_context *context = NULL;
    const clayer_status status = clayer_context_create(NULL, &context);
    if (status != CLAYER_OK)
        cr_skip_test("%s", clayer_last_error());
    if (!context->opencl || !context->opencl->shared_memory ||
        !strstr(context->info.platform, "Portable Computing Language"))
        cr_skip_test("%s may check where a kernel reads", context->info.platform);
    return context;
}

static struct far far_make(struct opencl_context *c)
{
    struct far far = {
        .memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)};
    cl_int code;
    if (far.memory == MAP_FAILED)
        cr_skip_test("no %zu bytes of address space", BYTES);
    far.buffer.bytes = 1 << 20;
    far.buffer.memory = c->api->clCreateBuffer(c->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, far.buffer.bytes,
                                               far.memory, &code);
    cr_assert_eq(code, CL_SUCCESS);
    return far;
}

static void far_free(struct opencl_context *c, struct far *far)
{
    c->api->clReleaseMemObject(far->buffer.memory);
    munmap(far->memory, BYTES);
}

static size_t place(size_t row, size_t column, size_t offset, bool columns)
{
    return offset + (columns ? column * FAR + row : row * FAR + column);
}

/* One call; its sums of small integers are exact. False when the family has no kernel for this layout. */
static bool run(clayer_linear *linear, const struct far *x, const struct far *y, size_t offset, bool columns)
{
    for (size_t m = 0; m < BATCH; m++) {
        for (size_t k = 0; k < IN; k++)
            x->memory[place(m, k, offset, columns)] = (float)((m + 3 * k + offset) % 7) - 3;
        for (size_t n = 0; n < OUT; n++)
            y->memory[place(m, n, offset, columns)] = -1e30f;
    }
    const struct operand in = {.buffer = &x->buffer, .ld = FAR, .offset = offset, .columns = columns},
                         out = {.buffer = &y->buffer, .ld = FAR, .offset = offset, .columns = columns};
    const clayer_status status = linear_run(linear, BATCH, BATCH, &in, &out, RUN_ON_DEVICE, NULL);
    if (status == CLAYER_ERROR_UNSUPPORTED)
        return false;
    cr_assert_eq(status, CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(opencl_finish(linear->context->opencl), CLAYER_OK);
    for (size_t m = 0; m < BATCH; m++) {
        for (size_t n = 0; n < OUT; n++) {
            float sum = b[n];
            for (size_t k = 0; k < IN; k++)
                sum += x->memory[place(m, k, offset, columns)] * w[n * IN + k];
            cr_assert_eq(y->memory[place(m, n, offset, columns)], sum, "row %zu, output %zu", m, n);
        }
    }
    return true;
}

static void check(const char *plan)
{
    clayer_context *context = open_pocl();
    for (size_t i = 0; i < OUT * IN; i++)
        w[i] = (float)(i % 5) - 2;
    for (size_t i = 0; i < OUT; i++)
        b[i] = (float)i;
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {.in_features = IN, .out_features = OUT, .weight = w, .bias = b, .plan = plan};
    cr_assert_eq(clayer_linear_create(context, &params, &linear), CLAYER_OK, "%s", clayer_last_error());
    struct far x = far_make(context->opencl), y = far_make(context->opencl);
    if (!run(linear, &x, &y, 0, false))
        cr_skip_test("%s", clayer_last_error());
    cr_assert(run(linear, &x, &y, FAR, false));
    const bool columns = strcmp(plan, "portable") == 0;
    cr_assert_eq(run(linear, &x, &y, 0, true), columns);
    cr_assert_eq(run(linear, &x, &y, FAR, true), columns);
    far_free(context->opencl, &x);
    far_free(context->opencl, &y);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
}

Test(far, portable)
{
    check("portable");
}

Test(far, panel)
{
    check("panel");
}

Test(far, skinny)
{
    check("skinny");
}

Test(far, skinny_in_parts)
{
    check("skinny:splits=2");
}

Test(far, tiled)
{
    check("tiled");
}

Test(far, tiled_in_parts)
{
    check("tiled:splits=2");
}
