/* Results of CLBlast's own tuners, applied to this process. */
#ifndef TOOLS_BENCH_OVERRIDE_H
#define TOOLS_BENCH_OVERRIDE_H

#include "bench/opencl.h"

/* path: one JSON file of a CLBlast tuner, or a folder of them. For each kernel the fastest result of float32 is
 * applied. False after peer_error, also when there was none. */
bool override_apply(cl_device_id device, const char *path);

#endif
