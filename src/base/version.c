#include <clayer/version.h>

int clayer_version(void)
{
    return CLAYER_VERSION_NUMBER;
}

const char *clayer_version_string(void)
{
    return CLAYER_VERSION_STRING;
}
