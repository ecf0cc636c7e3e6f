/* clayer: a chain of linear layers. */
#ifndef CLAYER_MODEL_H
#define CLAYER_MODEL_H

#include <clayer/linear.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. Owns its layers. Intermediate results stay on the device in two buffers that all layers share and that grow
 * to the largest batch seen. Thread-safe; calls on one model run one after the other. */
typedef struct clayer_model clayer_model;

/* Creates a model from `count` >= 1 layers; each layer's in_features must be the one before's out_features (MISMATCH
 * names both). Errors as for clayer_linear_create. */
CLAYER_API clayer_status clayer_model_create(clayer_context *context, const clayer_linear_params *layers, size_t count,
                                             clayer_model **model);

typedef struct clayer_model_load_params {
    /* Layer names in order, comma-separated, as in "encoder,decoder" for encoder.weight, encoder.bias,
     * decoder.weight... NULL: by the number in the names (0.weight, 2.weight; net.fc1.weight, net.fc2.weight). Names
     * that differ by more than one number need this, or the file's metadata entry "clayer.layers". */
    const char *layers;
    /* Activations, comma-separated, one for each layer or one for all but the last, as in "relu,relu,none".
     * NULL: the file's metadata entry "clayer.activations", or relu between layers and none at the end. */
    const char *activations;
    const char *plan;  /* as in clayer_linear_params */
    void *reserved[6]; /* must be zero */
} clayer_model_load_params;

/* Loads a chain of layers from a safetensors file (as PyTorch's nn.Sequential state_dict gives it): F32, F16, BF16 and
 * F64 tensors, NAME.weight (out, in) and NAME.bias (out). params may be NULL. Errors: IO, FORMAT (file, tensor, what
 * was found, what is accepted; the metadata's lists included), MISMATCH (shapes that do not chain, with both tensors'
 * names and shapes), INVALID_ARGUMENT (a list in params). */
CLAYER_API clayer_status clayer_model_load(clayer_context *context, const char *path,
                                           const clayer_model_load_params *params, clayer_model **model);
CLAYER_API void clayer_model_destroy(clayer_model **model);

CLAYER_API size_t clayer_model_layer_count(const clayer_model *model);
/* Layer `index`; belongs to the model. NULL when out of range. */
CLAYER_API clayer_linear *clayer_model_layer(clayer_model *model, size_t index);
/* The layer's name in the file ("" for models made by clayer_model_create); belongs to the model. */
CLAYER_API const char *clayer_model_layer_name(const clayer_model *model, size_t index);

/* y (batch, last out_features) from x (batch, first in_features), rows, host memory. Enqueues every layer and waits
 * once at the end. Rules for pointers and leading dimensions as in clayer_linear_forward. */
CLAYER_API clayer_status clayer_model_forward(clayer_model *model, size_t batch, const float *x, size_t ldx, float *y,
                                              size_t ldy);

/* Calls with fewer rows than `batch` run with the plan for `batch` rows. A program that streams batches sets its batch
 * size, so that the rows of a short last batch get the same bits as in a full one (by the clblast family only the same
 * bound: CLBlast chooses by shape). 0, the default: every call has the plan for its own size. */
CLAYER_API clayer_status clayer_model_set_plan_batch(clayer_model *model, size_t batch);

/* Compiles what a batch of this size needs and allocates the intermediates. */
CLAYER_API clayer_status clayer_model_prepare(clayer_model *model, size_t batch);

#ifdef __cplusplus
}
#endif
#endif
