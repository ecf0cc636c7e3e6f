/* The model on an application's memory objects. */
#include "base/error.h"
#include "model.h"
#include "opencl.h"

clayer_status clayer_model_forward_opencl(clayer_model *model, size_t batch, const clayer_opencl_matrix *x,
                                          const clayer_opencl_matrix *y, cl_uint wait_count, const cl_event *wait_list,
                                          cl_event *event)
{
    if (event)
        *event = NULL;
    REQUIRE(model != NULL && x != NULL && y != NULL);
    const size_t in_features = model->layers[0].linear->shape.in_features;
    const size_t out_features = model->layers[model->count - 1].linear->shape.out_features;
    struct interop call;
    TRY(interop_check(model->context, batch, in_features, out_features, x, y, wait_count, wait_list, &call));
    if (batch == 0 || out_features == 0)
        return event ? opencl_marker(model->context->opencl, wait_count, wait_list, event) : CLAYER_OK;
    const struct call_memory events = {.wait_count = wait_count, .wait_list = wait_list, .event = event};
    pthread_mutex_lock(&model->lock);
    const clayer_status status = model_run(model, batch, &call.x, &call.y, &events);
    pthread_mutex_unlock(&model->lock);
    return status;
}
