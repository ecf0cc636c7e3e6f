/* Every standard property of a device, for people who ask what the driver says. */
#include "opencl/device.h"
#include "opencl/capabilities.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, NUMBER, BITS, FLAG, SIZES };

static const struct property {
    const char *name;
    cl_device_info property;
    enum kind kind;
} properties[] = {
#define PROPERTY(kind, name)                                                                                           \
    {                                                                                                                  \
        "CL_" #name, CL_##name, kind                                                                                   \
    }
    PROPERTY(TEXT, DEVICE_NAME),
    PROPERTY(TEXT, DEVICE_VENDOR),
    PROPERTY(NUMBER, DEVICE_VENDOR_ID),
    PROPERTY(BITS, DEVICE_TYPE),
    PROPERTY(TEXT, DEVICE_VERSION),
    PROPERTY(TEXT, DRIVER_VERSION),
    PROPERTY(TEXT, DEVICE_OPENCL_C_VERSION),
    PROPERTY(TEXT, DEVICE_PROFILE),
    PROPERTY(FLAG, DEVICE_AVAILABLE),
    PROPERTY(FLAG, DEVICE_COMPILER_AVAILABLE),
    PROPERTY(FLAG, DEVICE_LINKER_AVAILABLE),
    PROPERTY(FLAG, DEVICE_ENDIAN_LITTLE),
    PROPERTY(NUMBER, DEVICE_ADDRESS_BITS),
    PROPERTY(NUMBER, DEVICE_MAX_COMPUTE_UNITS),
    PROPERTY(NUMBER, DEVICE_MAX_CLOCK_FREQUENCY),
    PROPERTY(NUMBER, DEVICE_MAX_WORK_GROUP_SIZE),
    PROPERTY(NUMBER, DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
    PROPERTY(NUMBER, DEVICE_MAX_WORK_ITEM_DIMENSIONS),
    PROPERTY(SIZES, DEVICE_MAX_WORK_ITEM_SIZES),
    PROPERTY(NUMBER, DEVICE_MAX_NUM_SUB_GROUPS),
    PROPERTY(FLAG, DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_CHAR),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_SHORT),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_INT),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_LONG),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_HALF),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT),
    PROPERTY(NUMBER, DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_CHAR),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_SHORT),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_INT),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_LONG),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_HALF),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
    PROPERTY(NUMBER, DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE),
    PROPERTY(BITS, DEVICE_SINGLE_FP_CONFIG),
    PROPERTY(BITS, DEVICE_DOUBLE_FP_CONFIG),
    PROPERTY(NUMBER, DEVICE_GLOBAL_MEM_SIZE),
    PROPERTY(NUMBER, DEVICE_MAX_MEM_ALLOC_SIZE),
    PROPERTY(NUMBER, DEVICE_GLOBAL_MEM_CACHE_TYPE),
    PROPERTY(NUMBER, DEVICE_GLOBAL_MEM_CACHE_SIZE),
    PROPERTY(NUMBER, DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
    PROPERTY(FLAG, DEVICE_ERROR_CORRECTION_SUPPORT),
    PROPERTY(FLAG, DEVICE_HOST_UNIFIED_MEMORY),
    PROPERTY(NUMBER, DEVICE_MEM_BASE_ADDR_ALIGN),
    PROPERTY(NUMBER, DEVICE_MIN_DATA_TYPE_ALIGN_SIZE),
    PROPERTY(NUMBER, DEVICE_MAX_CONSTANT_BUFFER_SIZE),
    PROPERTY(NUMBER, DEVICE_MAX_CONSTANT_ARGS),
    PROPERTY(NUMBER, DEVICE_MAX_PARAMETER_SIZE),
    PROPERTY(NUMBER, DEVICE_LOCAL_MEM_TYPE),
    PROPERTY(NUMBER, DEVICE_LOCAL_MEM_SIZE),
    PROPERTY(BITS, DEVICE_SVM_CAPABILITIES),
    PROPERTY(BITS, DEVICE_ATOMIC_MEMORY_CAPABILITIES),
    PROPERTY(FLAG, DEVICE_IMAGE_SUPPORT),
    PROPERTY(NUMBER, DEVICE_IMAGE2D_MAX_WIDTH),
    PROPERTY(NUMBER, DEVICE_IMAGE2D_MAX_HEIGHT),
    PROPERTY(NUMBER, DEVICE_IMAGE_MAX_BUFFER_SIZE),
    PROPERTY(BITS, DEVICE_QUEUE_ON_HOST_PROPERTIES),
    PROPERTY(BITS, DEVICE_EXECUTION_CAPABILITIES),
    PROPERTY(NUMBER, DEVICE_PROFILING_TIMER_RESOLUTION),
    PROPERTY(NUMBER, DEVICE_PRINTF_BUFFER_SIZE),
    PROPERTY(NUMBER, DEVICE_REFERENCE_COUNT),
    PROPERTY(NUMBER, DEVICE_PARTITION_MAX_SUB_DEVICES),
    PROPERTY(TEXT, DEVICE_BUILT_IN_KERNELS),
    PROPERTY(TEXT, DEVICE_IL_VERSION),
    PROPERTY(TEXT, DEVICE_LATEST_CONFORMANCE_VERSION_PASSED),
    PROPERTY(TEXT, DEVICE_EXTENSIONS),
#undef PROPERTY
};

/* The value as text, or NULL when refused. The caller frees it. */
static char *value_text(const struct opencl_api *api, cl_device_id device, const struct property *p)
{
    if (p->kind == TEXT) {
        char *text = opencl_device_text(api, device, p->property);
        if (text)
            text_clean(text);
        return text;
    }
    enum { SIZE = 96 };
    char *text = malloc(SIZE);
    if (!text)
        return NULL;
    if (p->kind == SIZES) {
        size_t sizes[16] = {0}, bytes = 0;
        if (api->clGetDeviceInfo(device, p->property, sizeof sizes, sizes, &bytes) == CL_SUCCESS &&
            bytes >= 3 * sizeof *sizes) {
            snprintf(text, SIZE, "%zu %zu %zu", sizes[0], sizes[1], sizes[2]);
            return text;
        }
    } else {
        int64_t value = opencl_device_number(api, device, p->property);
        if (value != CLAYER_UNKNOWN) {
            if (p->kind == FLAG)
                snprintf(text, SIZE, "%s", value ? "yes" : "no");
            else
                snprintf(text, SIZE, p->kind == BITS ? "0x%" PRIx64 : "%" PRId64, value);
            return text;
        }
    }
    free(text);
    return NULL;
}

clayer_status opencl_device_properties(const struct opencl_device *device, clayer_property_callback callback,
                                       void *user)
{
    const struct opencl_api *api;
    TRY(opencl_load(&api));
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        char *text = value_text(api, device->device, &properties[i]);
        callback(user, properties[i].name, text);
        free(text);
    }
    return CLAYER_OK;
}
