/* clayer: every public header but opencl.h, which needs OpenCL's own headers. */
#ifndef CLAYER_CLAYER_H
#define CLAYER_CLAYER_H

#include <clayer/activation.h>
#include <clayer/buffer.h>
#include <clayer/cache.h>
#include <clayer/context.h>
#include <clayer/device.h>
#include <clayer/dtype.h>
#include <clayer/init.h>
#include <clayer/linear.h>
#include <clayer/log.h>
#include <clayer/model.h>
#include <clayer/npy.h>
#include <clayer/profile.h>
#include <clayer/rows.h>
#include <clayer/rows_writer.h>
#include <clayer/safetensors.h>
#include <clayer/status.h>
#include <clayer/tune.h>
#include <clayer/tuning.h>
#include <clayer/version.h>

#endif
