/* Why initialisation matters: the standard deviation of activations, layer by layer, through 20 layers of width 512
 * with ReLU, for three ways to draw the weights. docs/initialisation.md explains the table that this prints. */
#include <clayer/context.h>
#include <clayer/init.h>
#include <clayer/linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 512, BATCH = 256, DEPTH = 20 };

/* Standard deviation of all elements; infinite or NaN when one of them is. */
static double deviation(const float *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += (double)values[i] * values[i];
    }
    const double mean = sum / (double)count;
    return sqrt(squares / (double)count - mean * mean);
}

/* Runs x through DEPTH fresh layers and records the deviation after each. */
static clayer_status run(clayer_context *context, clayer_init_params init, const float *input, double *deviations)
{
    float *w = malloc(sizeof(float) * WIDTH * WIDTH), *b = malloc(sizeof(float) * WIDTH);
    float *x = malloc(sizeof(float) * BATCH * WIDTH), *y = malloc(sizeof(float) * BATCH * WIDTH);
    clayer_status status = w && b && x && y ? CLAYER_OK : CLAYER_ERROR_OUT_OF_MEMORY;
    if (status == CLAYER_OK)
        memcpy(x, input, sizeof(float) * BATCH * WIDTH);
    for (int layer = 0; layer < DEPTH && status == CLAYER_OK; layer++) {
        clayer_linear *linear = NULL;
        init.stream = (uint32_t)layer;
        status = clayer_init_linear(&init, WIDTH, WIDTH, w, b);
        const clayer_linear_params params = {
            .in_features = WIDTH, .out_features = WIDTH, .weight = w, .bias = b, .activation = CLAYER_ACTIVATION_RELU};
        if (status == CLAYER_OK)
            status = clayer_linear_create(context, &params, &linear);
        if (status == CLAYER_OK)
            status = clayer_linear_forward(linear, BATCH, x, WIDTH, y, WIDTH);
        clayer_linear_destroy(&linear);
        if (status == CLAYER_OK) {
            deviations[layer] = deviation(y, (size_t)BATCH * WIDTH);
            memcpy(x, y, sizeof(float) * BATCH * WIDTH);
        }
    }
    free(w);
    free(b);
    free(x);
    free(y);
    return status;
}

int main(void)
{
    static const struct {
        const char *name;
        clayer_init_params init;
    } schemes[3] = {{"Kaiming", {.scheme = CLAYER_INIT_KAIMING_NORMAL}},
                    {"PyTorch", {.scheme = CLAYER_INIT_PYTORCH}},
                    {"std 10", {.scheme = CLAYER_INIT_NORMAL, .std = 10}}};
    static float input[BATCH * WIDTH];
    static double deviations[3][DEPTH];
    clayer_context *context = NULL;
    clayer_init_params standard = {.scheme = CLAYER_INIT_NORMAL, .std = 1, .stream = 1000};
    clayer_status status = clayer_init_linear(&standard, WIDTH, BATCH, input, NULL);
    if (status == CLAYER_OK)
        status = clayer_context_create(NULL, &context);
    for (int s = 0; s < 3 && status == CLAYER_OK; s++)
        status = run(context, schemes[s].init, input, deviations[s]);
    clayer_context_destroy(&context);
    if (status != CLAYER_OK) {
        fprintf(stderr, "init_depth: %s: %s\n", clayer_status_string(status), clayer_last_error());
        return 1;
    }
    printf("layer %12s %12s %12s\n", schemes[0].name, schemes[1].name, schemes[2].name);
    for (int layer = 0; layer < DEPTH; layer++) {
        printf("%5d", layer + 1);
        for (int s = 0; s < 3; s++)
            isfinite(deviations[s][layer]) ? printf(" %12.4g", deviations[s][layer]) : printf(" %12s", "overflow");
        printf("\n");
    }
    for (int s = 0; s < 3; s++)
        for (int layer = 0; layer < DEPTH; layer++)
            if (!isfinite(deviations[s][layer])) {
                printf("%s: float32 overflows in layer %d\n", schemes[s].name, layer + 1);
                break;
            }
    return 0;
}
