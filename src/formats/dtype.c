#include "formats/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [CLAYER_DTYPE_F32] = {"F32", 4},         [CLAYER_DTYPE_F16] = {"F16", 2},
    [CLAYER_DTYPE_BF16] = {"BF16", 2},       [CLAYER_DTYPE_F64] = {"F64", 8},
    [CLAYER_DTYPE_I8] = {"I8", 1},           [CLAYER_DTYPE_I16] = {"I16", 2},
    [CLAYER_DTYPE_I32] = {"I32", 4},         [CLAYER_DTYPE_I64] = {"I64", 8},
    [CLAYER_DTYPE_U8] = {"U8", 1},           [CLAYER_DTYPE_U16] = {"U16", 2},
    [CLAYER_DTYPE_U32] = {"U32", 4},         [CLAYER_DTYPE_U64] = {"U64", 8},
    [CLAYER_DTYPE_BOOL] = {"BOOL", 1},       [CLAYER_DTYPE_F8_E4M3] = {"F8_E4M3", 1},
    [CLAYER_DTYPE_F8_E5M2] = {"F8_E5M2", 1}, [CLAYER_DTYPE_F8_E8M0] = {"F8_E8M0", 1},
    [CLAYER_DTYPE_C64] = {"C64", 8},
};

enum { TYPE_COUNT = sizeof types / sizeof *types };

const char *clayer_dtype_name(clayer_dtype dtype)
{
    return (unsigned)dtype < TYPE_COUNT ? types[dtype].name : "?";
}

size_t clayer_dtype_size(clayer_dtype dtype)
{
    return (unsigned)dtype < TYPE_COUNT ? types[dtype].size : 0;
}

bool dtype_find(const char *name, clayer_dtype *dtype)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *dtype = (clayer_dtype)i;
            return true;
        }
    }
    return false;
}
