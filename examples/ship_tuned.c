/* An application that ships tuning records: on devices for which it has some, layers run as measured from the first
 * start, without a file. app_tuning.h was written by
 *
 *     clayer-tune --device cpu --shape 64x256x128 && clayer-tune --header app_tuning.h
 */
#include "app_tuning.h"

#include <clayer/clayer.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { BATCH = 64, IN = 256, OUT = 128 };
    float *weight = calloc((size_t)IN * OUT, sizeof *weight), *x = calloc((size_t)BATCH * IN, sizeof *x);
    float *y = calloc((size_t)BATCH * OUT, sizeof *y);
    clayer_context *context = NULL;
    clayer_linear *linear = NULL;
    size_t added = 0;
    clayer_status status = weight && x && y ? CLAYER_OK : CLAYER_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; status == CLAYER_OK && i < (size_t)IN * OUT; i++)
        weight[i] = 1.0f / IN;
    for (size_t i = 0; status == CLAYER_OK && i < (size_t)BATCH * IN; i++)
        x[i] = 1;
    const float bias[OUT] = {0};
    const clayer_linear_params params = {
        .in_features = IN, .out_features = OUT, .weight = weight, .bias = bias, .activation = CLAYER_ACTIVATION_RELU};
    if (status == CLAYER_OK)
        status = clayer_context_create(NULL, &context);
    if (status == CLAYER_OK)
        status = clayer_tuning_ship(context, app_tuning, &added);
    if (status == CLAYER_OK)
        status = clayer_linear_create(context, &params, &linear);
    if (status == CLAYER_OK)
        status = clayer_linear_forward(linear, BATCH, x, IN, y, OUT);
    if (status == CLAYER_OK) {
        clayer_plan_info plan;
        clayer_linear_last_plan(linear, &plan);
        printf("%zu shipped records concern this device; y[0] = %g by %s (%s)\n", added, y[0], plan.family,
               plan.origin);
    } else {
        fprintf(stderr, "ship_tuned: %s: %s\n", clayer_status_string(status), clayer_last_error());
    }
    clayer_linear_destroy(&linear);
    clayer_context_destroy(&context);
    free(weight);
    free(x);
    free(y);
    return status == CLAYER_OK ? 0 : 1;
}
