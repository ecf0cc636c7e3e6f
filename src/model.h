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
    bool host_only;            /* the device's compiler builds nothing: the calling thread does the work */
    size_t plan_batch;         /* smaller calls have the plan for this many rows */
};

/* An empty model with room for count layers, and one more layer for it, checked against the one before. */
clayer_status model_allocate(clayer_context *context, size_t count, clayer_model **model);
clayer_status model_add(clayer_model *model, const clayer_linear_params *params, const char *name);

#endif
