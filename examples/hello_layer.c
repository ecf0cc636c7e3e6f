/* One fused layer, y = relu(x . W^T + b), on the best OpenCL device there is, or on the host. */
#include <clayer/context.h>
#include <clayer/linear.h>
#include <stdio.h>

int main(void)
{
    const float x[2][3] = {{1, 0, -1}, {0.5f, 0.5f, 0.5f}};           /* (batch, in_features) */
    const float w[2][3] = {{0.1f, -0.2f, 0.3f}, {0.4f, 0.5f, -0.6f}}; /* (out_features, in_features) */
    const float b[2] = {0.05f, -0.1f};
    float y[2][2];

    clayer_context *context = NULL;
    clayer_linear *linear = NULL;
    const clayer_linear_params params = {
        .in_features = 3, .out_features = 2, .weight = w[0], .bias = b, .activation = CLAYER_ACTIVATION_RELU};
    clayer_status status = clayer_context_create(NULL, &context);
    if (status == CLAYER_OK)
        status = clayer_linear_create(context, &params, &linear);
    if (status == CLAYER_OK)
        status = clayer_linear_forward(linear, 2, x[0], 3, y[0], 2);

    if (status == CLAYER_OK) {
        clayer_plan_info plan;
        clayer_device_info device;
        clayer_linear_last_plan(linear, &plan);
        clayer_context_device(context, &device);
        for (int i = 0; i < 2; i++)
            printf("%g %g\n", y[i][0], y[i][1]);
        printf("computed on %s by family %s\n", device.name, plan.family);
    } else {
        fprintf(stderr, "hello_layer: %s: %s\n", clayer_status_string(status), clayer_last_error());
    }
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    return status == CLAYER_OK ? 0 : 1;
}
