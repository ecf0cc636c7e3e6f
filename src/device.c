#include "device.h"
#include "base/error.h"
#include "host/device.h"
#include "opencl/device.h"

#include <stdio.h>

const char *clayer_device_type_string(clayer_device_type type)
{
    static const char *const names[] = {[CLAYER_DEVICE_GPU] = "gpu",
                                        [CLAYER_DEVICE_ACCELERATOR] = "accelerator",
                                        [CLAYER_DEVICE_CPU] = "cpu",
                                        [CLAYER_DEVICE_UNKNOWN] = "unknown",
                                        [CLAYER_DEVICE_SIMULATOR] = "simulator",
                                        [CLAYER_DEVICE_HOST] = "host"};
    bool known = (int)type >= CLAYER_DEVICE_GPU && (int)type <= CLAYER_DEVICE_HOST;
    return names[known ? type : CLAYER_DEVICE_UNKNOWN];
}

const char *clayer_matrix_units_string(clayer_matrix_units units)
{
    static const char *const names[] = {[CLAYER_MATRIX_NONE] = "none",
                                        [CLAYER_MATRIX_NVIDIA_MMA] = "nvidia-mma",
                                        [CLAYER_MATRIX_AMD_MFMA] = "amd-mfma",
                                        [CLAYER_MATRIX_AMD_WMMA] = "amd-wmma",
                                        [CLAYER_MATRIX_INTEL_DPAS] = "intel-dpas"};
    bool known = (int)units >= CLAYER_MATRIX_NONE && (int)units <= CLAYER_MATRIX_INTEL_DPAS;
    return known ? names[units] : "unknown";
}

clayer_status device_list(const struct opencl_device_list **list, struct opencl_device_list *empty)
{
    char before[1024]; /* the last error stays as it was: this is no failure */
    snprintf(before, sizeof before, "%s", clayer_last_error());
    clayer_status status = opencl_devices(list);
    if (status == CLAYER_ERROR_NO_OPENCL || status == CLAYER_ERROR_FORKED) {
        *empty = (struct opencl_device_list){0};
        snprintf(empty->reason, sizeof empty->reason, "%.255s", clayer_last_error());
        *list = empty;
        error_restore(before);
        return CLAYER_OK;
    }
    return status;
}

clayer_status clayer_device_count(size_t *count)
{
    REQUIRE(count != NULL);
    const struct opencl_device_list *list;
    struct opencl_device_list empty;
    TRY(device_list(&list, &empty));
    *count = list->count + 1;
    return CLAYER_OK;
}

static void describe_host(const struct opencl_device_list *list, clayer_device_info *info)
{
    host_device_describe(info);
    info->index = (int32_t)list->count;
}

clayer_status clayer_device_get(size_t index, clayer_device_info *info)
{
    REQUIRE(info != NULL);
    const struct opencl_device_list *list;
    struct opencl_device_list empty;
    TRY(device_list(&list, &empty));
    if (index > list->count)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "device index %zu: use 0 to %zu", index, list->count);
    if (index == list->count)
        describe_host(list, info);
    else
        *info = list->devices[index].info;
    return CLAYER_OK;
}

clayer_status clayer_device_try(size_t index, clayer_device_info *info)
{
    clayer_device_info local;
    if (!info)
        info = &local;
    TRY(clayer_device_get(index, info));
    if (info->type == CLAYER_DEVICE_HOST)
        return CLAYER_OK;
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    clayer_status status = opencl_device_try(&list->devices[index], &info->timers_plausible);
    if (status != CLAYER_OK) {
        info->usable = 0;
        snprintf(info->reason, sizeof info->reason, "%.255s", clayer_last_error());
        text_clean(info->reason); /* may have been cut inside a character */
    }
    return status;
}

clayer_status clayer_opencl_status(void)
{
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    if (list->count == 0)
        return FAIL(CLAYER_ERROR_NO_DEVICE, "%s", list->reason);
    return CLAYER_OK;
}

clayer_status clayer_device_select(const char *selector, clayer_device_info *info)
{
    REQUIRE(info != NULL);
    struct device_choice choice;
    TRY(device_choose(selector, &choice));
    *info = choice.info;
    return CLAYER_OK;
}

clayer_status clayer_platform_count(size_t *count)
{
    REQUIRE(count != NULL);
    const struct opencl_device_list *list;
    struct opencl_device_list empty;
    TRY(device_list(&list, &empty));
    *count = list->platform_count;
    return CLAYER_OK;
}

clayer_status clayer_platform_get(size_t index, clayer_platform_info *info)
{
    REQUIRE(info != NULL);
    const struct opencl_device_list *list;
    struct opencl_device_list empty;
    TRY(device_list(&list, &empty));
    if (index >= list->platform_count)
        return FAIL(CLAYER_ERROR_INVALID_ARGUMENT, "platform index %zu: there are %zu platforms", index,
                    list->platform_count);
    *info = list->platforms[index].info;
    return CLAYER_OK;
}

clayer_status clayer_device_properties(size_t index, clayer_property_callback callback, void *user)
{
    REQUIRE(callback != NULL);
    clayer_device_info info;
    TRY(clayer_device_get(index, &info));
    if (info.type == CLAYER_DEVICE_HOST)
        return CLAYER_OK;
    const struct opencl_device_list *list;
    TRY(opencl_devices(&list));
    return opencl_device_properties(&list->devices[index], callback, user);
}
