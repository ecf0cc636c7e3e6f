/* The contract of a kernel family, and the table of them.
 *
 * A family is one algorithm for y = act(x . W^T + b). It states in its own file where it may run, what its parameters
 * are, which build options they turn into, and how it is launched. The planner only asks. All families read the same
 * packed weights (host/packed.h), so one layer serves them all.
 */
#ifndef KERNELS_FAMILY_H
#define KERNELS_FAMILY_H

#include "host/activation.h"
#include "opencl/buffer.h"
#include "opencl/chain.h"
#include "opencl/kernel.h"

#define FAMILY_MAX_PARAMETERS 12
#define FAMILY_MAX_VALUES 16
#define FAMILY_MAX_TEXT 160 /* of a configuration as text, the terminator included */

/* One point of a family's parameter space: values in the order of its parameters. */
struct configuration {
    int value[FAMILY_MAX_PARAMETERS];
};

struct parameter {
    const char *name; /* in capitals it is the macro in the .cl file, unless it is an argument */
    int count;        /* of accepted values */
    int values[FAMILY_MAX_VALUES];
    bool argument; /* goes into the launch, not into the build options */
};

/* The device, as far as planning is concerned. */
struct target {
    const clayer_device_info *info;
    struct opencl_context *context; /* NULL: the host device */
    bool clblast;                   /* libclblast could be opened */
};

/* What does not change between the calls of a layer. */
struct layer_shape {
    size_t in_features, out_features;
    size_t panel; /* columns in a panel of packed W */
    struct activation activation;
    bool any_activation; /* kernels choose the activation at run time: one program for all, for tests */
    bool has_bias;
    bool plain; /* a plain (out, in) copy of W is kept on the device */
    bool host;  /* the calling thread can read the packed weights */
};

/* What may change from call to call. Offsets and leading dimensions in elements. */
struct call_shape {
    size_t batch;
    size_t ldx, ldy;
    size_t x_offset, y_offset;
    bool x_columns, y_columns; /* stored as (features, batch) */
    bool host;                 /* x and y can be reached by the calling thread, and nobody asked for an event */
    size_t staged_bytes;       /* of x and y in host memory, which the device would see as copies */
};

/* Memory of a layer; what is not there is NULL. */
struct layer_memory {
    struct opencl_buffer weights, bias, plain; /* on the device */
    const float *host_weights, *host_bias;     /* the same for the calling thread */
    struct opencl_buffer workspace;            /* grown on demand under the context's lock */
    struct opencl_guard workspace_guard;       /* orders the calls that use it; for opencl_chain_begin */
};

/* Memory of a call. */
struct call_memory {
    cl_mem x, y;
    const float *host_x;
    float *host_y;
    cl_uint wait_count;
    const cl_event *wait_list;
    cl_event *event; /* NULL, or receives one that stands for the whole call */
};

/* How a configuration divides the work, for a tuner that orders candidates before it measures. */
struct geometry {
    size_t tile_rows, tile_columns; /* outputs of a work-group */
    size_t item_rows, item_columns; /* outputs of a work-item, in its registers */
    size_t vector;                  /* elements of a load or a multiplication */
    size_t local_bytes;             /* local memory of a group */
    size_t splits;                  /* parts of in_features */
    size_t k_items;                 /* work-items of a group that share an output */
};

struct family;

/* A configuration made ready on one context. Holds nothing that needs releasing. */
struct executable {
    const struct family *family;
    struct configuration configuration;
    struct opencl_kernel *kernels[2]; /* belong to the context */
};

struct family {
    const char *name;
    const char *source; /* the stem of its file in cl/, NULL without one */
    const struct parameter *parameters;
    int parameter_count;

    /* NULL when the family may run this configuration here, else the reason (static text). Cheap: asked at every call.
     */
    const char *(*refuses)(const struct target *, const struct layer_shape *, const struct call_shape *,
                           const struct configuration *);
    /* The rule of thumb: a sensible configuration for this device, layer and call. Always one that `refuses` accepts if
     * the family can run here at all. */
    void (*suggest)(const struct target *, const struct layer_shape *, const struct call_shape *,
                    struct configuration *);
    /* Builds what the configuration needs. */
    clayer_status (*prepare)(struct opencl_context *, const struct layer_shape *, struct executable *);
    /* Enqueues one call; the caller holds the context's lock. x and y offsets come with the shape. */
    clayer_status (*launch)(struct opencl_context *, const struct layer_shape *, struct layer_memory *,
                            const struct call_shape *, const struct call_memory *, const struct executable *);
    /* NULL for a family whose configurations do not differ in it. */
    void (*geometry)(const struct configuration *, struct geometry *);
};

extern const struct family family_portable, family_panel, family_tiled, family_skinny, family_host;
extern const struct family *const family_clblast; /* NULL in a build without CLBlast */

/* Whether libclblast is there. Opens it at the first call. */
bool family_clblast_available(void);

/* All families; family_count of them. */
extern const struct family *const families[];
extern const size_t family_count;

/* The family of that name, or NULL. */
const struct family *family_find(const char *name);

/* The build options of a family's kernel: types, panel, activation, its parameters, and what the device's compiler must
 * be told; with NULL for family, configuration and device only what every kernel takes. They hold -DNAME=integer and
 * -cl-std, no path and no quote. */
void family_options(const struct family *family, const clayer_device_info *device, const struct layer_shape *shape,
                    const struct configuration *configuration, char *text, size_t size);

/* Builds kernels[0] of a family from its source. */
clayer_status family_build(struct opencl_context *context, const struct layer_shape *shape,
                           struct executable *executable);

#define FAMILY_OPTIONS_BYTES 384

/* "rows=4,vectors=4" for a configuration; the form that family_parse reads. */
void family_print(const struct family *family, const struct configuration *configuration, char *text, size_t size);
/* Overwrites the named values of *configuration. INVALID_ARGUMENT names the parameter and its accepted values. */
clayer_status family_parse(const struct family *family, const char *text, struct configuration *configuration);

/* Makes the layer's workspace at least so large. A launch that uses it is a chain with the layer's workspace_guard. */
clayer_status family_workspace(struct opencl_context *context, size_t bytes, struct layer_memory *layer);

/* Strides of an operand: element (row, feature) lies at row * *row_stride + feature * *feature_stride. */
static inline void family_strides(bool columns, size_t ld, cl_ulong *row_stride, cl_ulong *feature_stride)
{
    *row_stride = columns ? 1 : ld;
    *feature_stride = columns ? ld : 1;
}

#endif
