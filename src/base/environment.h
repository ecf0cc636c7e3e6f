/* Environment variables. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdlib.h>

/* A variable that names a library or a directory: ignored (NULL) in a set-user-id program, where the environment
 * belongs to a less trusted user. */
static inline const char *environment_trusted(const char *name)
{
#ifdef __GLIBC__
    return secure_getenv(name);
#else
    return getenv(name);
#endif
}

#endif
