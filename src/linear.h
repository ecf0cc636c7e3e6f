/* What stands behind clayer_linear, and the one way a call is run. */
#ifndef LINEAR_H
#define LINEAR_H

#include "buffer.h"
#include "opencl/timer.h"

#include <clayer/linear.h>
#include <pthread.h>
#include <stdint.h>

#define LINEAR_PLANS 32

/* A plan made ready for one kind of call. */
struct planned {
    struct call_shape call;
    struct plan plan;
    struct executable executable;
};

struct clayer_linear {
    clayer_context *context;
    struct layer_shape shape;
    struct layer_memory memory;
    bool owns_host_weights;        /* host_weights is not the device buffers' own memory */
    struct plan_request request;   /* forced for this layer */
    pthread_rwlock_t weights_lock; /* read by calls, written by set_weight and set_bias */
    pthread_mutex_t plans_lock;    /* guards all that follows */
    struct planned plans[LINEAR_PLANS];
    size_t plan_count; /* ever planned; the newest replaces the oldest when the table is full */
    size_t last;       /* the plan of the most recent call */
    struct {
        uint64_t calls;
        double seconds, flops, bytes; /* seconds on the calling thread; the device's are the timer's */
        struct opencl_timer timer;    /* under the context's lock */
    } profile;
};

/* One operand of a call, resolved: where the calling thread and the device find it, NULL where they cannot. */
struct operand {
    const struct opencl_buffer *buffer;
    float *host;
    size_t offset, ld; /* elements; ld at least the row length */
    bool columns;
    bool staged; /* host memory that the device does not see */
};

/* Checks one matrix of batch x features; `what` is "x" or "y", ld 0 means tight. Sets everything of *operand but where
 * its memory is; *extent is how many elements its memory must have, offset included, 0 for an empty matrix. */
clayer_status operand_check(const char *what, clayer_layout layout, size_t ld, size_t offset, size_t batch,
                            size_t features, struct operand *operand, size_t *extent);
/* Refuses a buffer of `count` elements that is too small, with both sizes. */
clayer_status operand_fits(const char *what, const struct operand *operand, size_t batch, size_t features,
                           size_t extent, size_t count);
/* Refuses x and y that overlap in one memory. Bases in elements; offsets are added to them. */
clayer_status operands_apart(size_t batch, size_t x_features, uintptr_t x_base, const struct operand *x,
                             size_t y_features, uintptr_t y_base, const struct operand *y);
/* The x of a layer with in_features = 0: never read, but kernels want an address and a legal leading dimension. */
void operand_empty_x(const clayer_linear *linear, size_t batch, struct operand *x);

/* Where a call may run. A model decides for all its layers at once, since each change of side costs a wait. */
enum where { RUN_ANYWHERE, RUN_ON_DEVICE, RUN_ON_HOST };

/* Runs y = act(x . W^T + b) for checked arguments and batch > 0, out_features > 0, with the plan for plan_batch >=
 * batch rows. With an operand in host memory it returns when y is complete, else when all is enqueued. wait_count,
 * wait_list and event as in struct call_memory. */
clayer_status linear_run(clayer_linear *linear, size_t batch, size_t plan_batch, const struct operand *x,
                         const struct operand *y, enum where where, const struct call_memory *events);

/* clayer_linear_prepare for calls that will run there. */
clayer_status linear_prepare(clayer_linear *linear, size_t batch, enum where where);

/* Forces another plan from the next call on, or with NULL none, and forgets the plans made so far. For the tuner, which
 * measures many plans over one copy of the weights. No call may be in progress. */
clayer_status linear_force(clayer_linear *linear, const char *plan);

/* The plan for a call, found or made. Unless the batch is to have a plan of its `own`, it shares the configuration of a
 * larger one of the same family, so that no call after the first compiles anything for a smaller batch. */
clayer_status linear_plan(clayer_linear *linear, const struct call_shape *call, bool own, struct planned *planned);

/* A call for the layer's profile, with its time on the calling thread (0 for the device's work); and a clock for that.
 */
void profile_count(clayer_linear *linear, size_t batch, double seconds);
double profile_now(void);

/* FLOP of one forward call: a multiplication and an addition per weight and row. */
double linear_flops(const clayer_linear *linear, size_t batch);

#endif
