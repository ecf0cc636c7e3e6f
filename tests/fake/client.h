/* A small OpenCL application for the tests of the fake driver: c = a + b, every call checked, everything released. */
#ifndef FAKE_CLIENT_H
#define FAKE_CLIENT_H

#include "fake/driver.h"

enum { CLIENT_SIZE = 1000, CLIENT_A = 0, CLIENT_B = 1, CLIENT_C = 2 };

/* libOpenCL's entry points, looked up by name. */
extern cl_icd_dispatch cl;

struct client {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffers[3]; /* a, b: read only; c, which starts as NaN */
    cl_program program;
    cl_kernel kernel; /* add(c, a, b): the output is argument 0 */
};

/* Opens libOpenCL, with ICD_FAKE as its vendors and CLAYER_FAKE_MODE=mode, pass or standalone. NULL, or what is missing
 * on this machine. For forked children, which must not call Criterion. */
const char *client_try(const char *mode);
/* The same for a Criterion test, which is skipped where libOpenCL or, for pass, PoCL is missing. Returns the remote
 * control. */
struct fake_control client_load(const char *mode);

/* Each returns the first code that was no success; client_close releases what there is and may always be called. */
cl_int client_open(struct client *client);
cl_int client_build(struct client *client, const char *options);
cl_int client_launch(struct client *client, cl_event *event);
cl_int client_read(struct client *client, float *c);
cl_int client_close(struct client *client);

/* All of it, with the sum in c. */
cl_int client_life(float *c);

/* What c[i] must be. */
float client_sum(int i);

#endif
