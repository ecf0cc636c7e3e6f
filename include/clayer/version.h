/* clayer: which version this is. */
#ifndef CLAYER_VERSION_H
#define CLAYER_VERSION_H

#include <clayer/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. Before 1.0 a new minor version may change the ABI and then the soname changes with it
 * (libclayer.so.0.1 for every 0.1.x); a new patch version never does. */
#define CLAYER_VERSION_MAJOR 0
#define CLAYER_VERSION_MINOR 1
#define CLAYER_VERSION_PATCH 0
#define CLAYER_VERSION_STRING "0.1.0"
#define CLAYER_VERSION_NUMBER (CLAYER_VERSION_MAJOR * 10000 + CLAYER_VERSION_MINOR * 100 + CLAYER_VERSION_PATCH)

/* The version of the library that runs, as CLAYER_VERSION_NUMBER and as text (static, never freed). Thread-safe. */
CLAYER_API int clayer_version(void);
CLAYER_API const char *clayer_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
