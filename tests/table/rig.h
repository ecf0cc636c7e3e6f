/* One layer made ready to be called in every way, with a check of everything that a call may and may not do. */
#ifndef TABLE_RIG_H
#define TABLE_RIG_H

#include "linear.h"
#include "table/problem.h"

/* Where an operand lies. */
enum place {
    PLACE_HOST,   /* host memory that ends at an unreadable page */
    PLACE_BUFFER, /* a buffer of the context, with a guard zone before and behind */
    PLACE_EDGE    /* a buffer that is host memory and ends at an unreadable page */
};

struct operand_case {
    size_t pad, offset; /* leading dimension beyond the row length; elements before the first */
    bool columns;
    enum place place;
};

struct call_case {
    struct operand_case x, y;
    struct activation activation;
};

struct rig {
    clayer_context *context;
    const struct problem *problem;
    const struct family *family;
    clayer_linear *layer;
    struct layer_memory own; /* the layer's own memory, while guarded copies take its place */
    size_t cases;            /* run and found right */
    size_t refused;          /* calls that the family cannot do, found refused with its reason */
    float *result;           /* batch x out of the last call, dense */
};

/* A layer whose plan is forced to this family; its weights end at an unreadable page where host and device share
 * memory. in_out, pad: how W is given. Without `family` plans are automatic. run_time: kernels choose the activation
 * at run time; otherwise every case has the problem's. */
struct rig rig_make(clayer_context *context, const struct problem *problem, const struct family *family,
                    struct activation activation, bool run_time, bool in_out, size_t pad);
void rig_free(struct rig *rig);

/* Forces a configuration, as CLAYER_PLAN would. */
void rig_configure(struct rig *rig, const struct configuration *configuration);

/* Runs rows `first` .. of the problem (all: 0, problem->batch) and checks: every output against the reference, the plan
 * that ran, that nothing else of y was written, that x was left alone, that poison in y does not matter. Ends the test
 * on the first fault. */
void rig_run(struct rig *rig, const struct call_case *call, size_t first, size_t batch);

/* Whether the operand can be placed so, for this family in this context. */
bool rig_places(const clayer_context *context, const struct family *family, enum place place);

/* A random way of calling. */
struct call_case rig_random_call(const clayer_context *context, const struct family *family,
                                 struct activation activation, struct random *random);

#endif
