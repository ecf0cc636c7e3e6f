/* What stands behind clayer_model. */
#ifndef MODEL_H
#define MODEL_H

#include "linear.h"

#include <clayer/model.h>

struct model_layer {
    clayer_linear *linear;
    char *name;
};

struct clayer_model {
    clayer_context *context;
    struct model_layer *layers;
    size_t count;
    pthread_mutex_t lock;      /* one call at a time: the buffers between layers are shared */
    clayer_buffer *between[2]; /* NULL until needed */
    struct opencl_guard between_guard;
    bool host_only;    /* the device's compiler builds nothing: the calling thread does the work */
    size_t plan_batch; /* smaller calls have the plan for this many rows */
};

/* An empty model with room for count layers, and one more layer for it, checked against the one before. */
clayer_status model_allocate(clayer_context *context, size_t count, clayer_model **model);
clayer_status model_add(clayer_model *model, const clayer_linear_params *params, const char *name);

/* Runs the chain on checked operands, under the model's lock. events NULL: none, and the side is the planner's choice;
 * with an operand in host memory it then returns when y is complete. */
clayer_status model_run(clayer_model *model, size_t batch, const struct operand *x, const struct operand *y,
                        const struct call_memory *events);

#endif
