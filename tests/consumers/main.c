/* What a consumer of the installed library does: a layer, and the version that it was built with and runs with. */
#include <clayer/clayer.h>
#ifdef WITH_OPENCL
#include <clayer/opencl.h>
#endif
#include <stdio.h>
#include <string.h>

int main(void)
{
    const float x[3] = {1, 2, 3}, w[6] = {1, 0, 1, 0, 2, 0}, b[2] = {0.5f, -5};
    float y[2] = {0, 0};
    clayer_context *context = NULL;
    clayer_linear *linear = NULL;
    clayer_linear_params params;
    memset(&params, 0, sizeof params);
    params.in_features = 3;
    params.out_features = 2;
    params.weight = w;
    params.bias = b;
    params.activation = CLAYER_ACTIVATION_RELU;
#ifdef WITH_OPENCL
    if (clayer_context_create_opencl(NULL, &context) != CLAYER_ERROR_INVALID_ARGUMENT)
        return 1;
#endif
    if (clayer_version() != CLAYER_VERSION_NUMBER || clayer_context_create(NULL, &context) != CLAYER_OK ||
        clayer_linear_create(context, &params, &linear) != CLAYER_OK ||
        clayer_linear_forward(linear, 1, x, 3, y, 2) != CLAYER_OK) {
        fprintf(stderr, "%s\n", clayer_last_error());
        return 1;
    }
    printf("clayer %s: %g %g\n", clayer_version_string(), y[0], y[1]);
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    return y[0] == 4.5f && y[1] == 0 ? 0 : 1;
}
