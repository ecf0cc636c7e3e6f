#include "opencl/capabilities.h"
#include "opencl/error.h"
#include "base/error.h"
#include "base/text.h"

#include <CL/cl_ext.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 1 << 20 }; /* longer texts count as refused: no real list of extensions comes near */

/* Copies outer-trimmed, cleaned text; cuts between characters, not inside one. */
static void copy_text(char *out, size_t size, const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memmove(out, text, length);
    out[length] = '\0';
    text_clean(out);
}

void opencl_platform_text(const struct opencl_api *api, cl_platform_id platform, cl_platform_info property, char *text,
                          size_t size)
{
    text[0] = '\0';
    size_t length = 0;
    if (api->clGetPlatformInfo(platform, property, 0, NULL, &length) != CL_SUCCESS || length == 0)
        return;
    if (length > TEXT_LIMIT)
        return;
    char *raw = calloc(1, length + 1); /* one more: some drivers do not terminate */
    if (raw && api->clGetPlatformInfo(platform, property, length, raw, NULL) == CL_SUCCESS)
        copy_text(text, size, raw);
    free(raw);
}

char *opencl_device_text(const struct opencl_api *api, cl_device_id device, cl_device_info property)
{
    size_t length = 0;
    if (api->clGetDeviceInfo(device, property, 0, NULL, &length) != CL_SUCCESS || length == 0 || length > TEXT_LIMIT)
        return NULL;
    char *raw = calloc(1, length + 1);
    if (raw && api->clGetDeviceInfo(device, property, length, raw, NULL) != CL_SUCCESS) {
        free(raw);
        return NULL;
    }
    return raw;
}

static void text(const struct opencl_api *api, cl_device_id device, cl_device_info property, char *out, size_t size)
{
    char *raw = opencl_device_text(api, device, property);
    copy_text(out, size, raw ? raw : "");
    free(raw);
}

/* A number of the width that the driver itself gives: cl_uint and cl_bool have 4 bytes, size_t and bit fields mostly 8.
 */
int64_t opencl_device_number(const struct opencl_api *api, cl_device_id device, cl_device_info property)
{
    size_t width = 0;
    if (api->clGetDeviceInfo(device, property, 0, NULL, &width) != CL_SUCCESS)
        return CLAYER_UNKNOWN;
    if (width == sizeof(cl_uint)) {
        cl_uint value = 0;
        if (api->clGetDeviceInfo(device, property, sizeof value, &value, NULL) == CL_SUCCESS)
            return value;
    } else if (width == sizeof(cl_ulong)) {
        cl_ulong value = 0;
        if (api->clGetDeviceInfo(device, property, sizeof value, &value, NULL) == CL_SUCCESS)
            return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    return CLAYER_UNKNOWN;
}

/* Whether a bit is set in a bit field property. */
static int64_t bit(const struct opencl_api *api, cl_device_id device, cl_device_info property, int64_t mask)
{
    int64_t value = opencl_device_number(api, device, property);
    return value == CLAYER_UNKNOWN ? CLAYER_UNKNOWN : (value & mask) != 0;
}

static const struct {
    size_t offset;
    cl_device_info property;
} plain_numbers[] = {
#define NUMBER(member, property)                                                                                       \
    {                                                                                                                  \
        offsetof(clayer_device_info, member), property                                                                 \
    }
    NUMBER(compute_units, CL_DEVICE_MAX_COMPUTE_UNITS),
    NUMBER(clock_mhz, CL_DEVICE_MAX_CLOCK_FREQUENCY),
    NUMBER(address_bits, CL_DEVICE_ADDRESS_BITS),
    NUMBER(max_work_group_size, CL_DEVICE_MAX_WORK_GROUP_SIZE),
    NUMBER(max_parameter_size, CL_DEVICE_MAX_PARAMETER_SIZE),
    NUMBER(global_memory_bytes, CL_DEVICE_GLOBAL_MEM_SIZE),
    NUMBER(max_allocation_bytes, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
    NUMBER(global_cache_bytes, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
    NUMBER(global_cache_line_bytes, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
    NUMBER(constant_memory_bytes, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE),
    NUMBER(local_memory_bytes, CL_DEVICE_LOCAL_MEM_SIZE),
    NUMBER(unified_memory, CL_DEVICE_HOST_UNIFIED_MEMORY),
    NUMBER(preferred_vector_width_float, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT),
    NUMBER(native_vector_width_float, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
    NUMBER(native_vector_width_half, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF),
    NUMBER(image_support, CL_DEVICE_IMAGE_SUPPORT),
    NUMBER(timer_resolution_ns, CL_DEVICE_PROFILING_TIMER_RESOLUTION),
#undef NUMBER
};

/* Whether a space-separated list holds the whole word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

int opencl_version_number(const char *version)
{
    int major = 0, minor = 0;
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major < 0 || major > 99 || minor < 0 || minor > 99)
        return 0;
    return major * 100 + minor;
}

static void device_type(const struct opencl_api *api, cl_device_id device, clayer_device_info *info)
{
    int64_t type = opencl_device_number(api, device, CL_DEVICE_TYPE);
    info->type = CLAYER_DEVICE_UNKNOWN;
    if (type != CLAYER_UNKNOWN && (type & CL_DEVICE_TYPE_CPU))
        info->type = CLAYER_DEVICE_CPU;
    else if (type != CLAYER_UNKNOWN && (type & CL_DEVICE_TYPE_GPU))
        info->type = CLAYER_DEVICE_GPU;
    else if (type != CLAYER_UNKNOWN && (type & CL_DEVICE_TYPE_ACCELERATOR))
        info->type = CLAYER_DEVICE_ACCELERATOR;
    static const char *const simulators[] = {"oclgrind", "simulator", "emulation", "emulator"};
    for (size_t i = 0; i < sizeof simulators / sizeof *simulators; i++)
        if (text_contains(info->name, simulators[i]))
            info->type = CLAYER_DEVICE_SIMULATOR;
}

static void sub_groups(const struct opencl_api *api, cl_device_id device, const char *extensions,
                       clayer_device_info *info)
{
    info->sub_groups = has_word(extensions, "cl_khr_subgroups") || has_word(extensions, "cl_intel_subgroups") ||
                       (opencl_version_number(info->opencl_version) >= 201 &&
                        opencl_device_number(api, device, CL_DEVICE_MAX_NUM_SUB_GROUPS) > 0);
    if (has_word(extensions, "cl_nv_device_attribute_query"))
        info->sub_group_size = opencl_device_number(api, device, CL_DEVICE_WARP_SIZE_NV);
    if (has_word(extensions, "cl_amd_device_attribute_query"))
        info->sub_group_size = opencl_device_number(api, device, CL_DEVICE_WAVEFRONT_WIDTH_AMD);
    if (has_word(extensions, "cl_intel_required_subgroup_size")) {
        size_t sizes[16] = {0}, bytes = 0;
        if (api->clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
            for (size_t i = 0; i < bytes / sizeof *sizes && i < 16; i++) {
                const int64_t size = sizes[i] <= 1024 ? (int64_t)sizes[i] : 0;
                if (size > info->sub_group_size)
                    info->sub_group_size = size;
                if (size > 0 && (info->smallest_sub_group_size <= 0 || size < info->smallest_sub_group_size))
                    info->smallest_sub_group_size = size;
            }
    }
}

static void architecture(const struct opencl_api *api, cl_device_id device, const char *extensions,
                         clayer_device_info *info)
{
    info->matrix_units = CLAYER_MATRIX_NONE;
    if (has_word(extensions, "cl_intel_subgroup_matrix_multiply_accumulate"))
        info->matrix_units = CLAYER_MATRIX_INTEL_DPAS;
    if (has_word(extensions, "cl_nv_device_attribute_query")) {
        int64_t major = opencl_device_number(api, device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
        int64_t minor = opencl_device_number(api, device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
        if (major < 0 || major > 99 || minor < 0 || minor > 9) {
            info->matrix_units = CLAYER_MATRIX_UNKNOWN;
            return;
        }
        snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", (int)major, (int)minor);
        /* TU116 and TU117 are 7.5 without tensor cores. */
        if (major >= 7 && !strstr(info->name, "GTX 16"))
            info->matrix_units = CLAYER_MATRIX_NVIDIA_MMA;
        return;
    }
    /* ROCm: CL_DEVICE_NAME is "gfx90a:sramecc+:xnack-". Other drivers for AMD give a marketing name. */
    const char *gfx = strncmp(info->name, "gfx", 3) == 0 ? info->name : NULL;
    if (gfx) {
        size_t length = strspn(gfx, "gfx0123456789abc");
        snprintf(info->architecture, sizeof info->architecture, "%.*s", (int)(length > 16 ? 16 : length), gfx);
        static const char *const mfma[] = {"gfx908", "gfx90a", "gfx94", "gfx950"};
        for (size_t i = 0; i < sizeof mfma / sizeof *mfma; i++)
            if (strncmp(gfx, mfma[i], strlen(mfma[i])) == 0)
                info->matrix_units = CLAYER_MATRIX_AMD_MFMA;
        if (strlen(info->architecture) == 7 && (strncmp(gfx, "gfx11", 5) == 0 || strncmp(gfx, "gfx12", 5) == 0))
            info->matrix_units = CLAYER_MATRIX_AMD_WMMA;
    } else if (info->type == CLAYER_DEVICE_GPU &&
               (strstr(info->vendor, "AMD") || strstr(info->vendor, "Advanced Micro Devices"))) {
        info->matrix_units = CLAYER_MATRIX_UNKNOWN;
    }
}

static void identity(const struct opencl_api *api, cl_device_id device, const char *extensions,
                     clayer_device_info *info)
{
    if (has_word(extensions, "cl_khr_device_uuid")) {
        cl_uchar uuid[CL_UUID_SIZE_KHR] = {0}, any = 0;
        size_t bytes = 0;
        if (api->clGetDeviceInfo(device, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, &bytes) == CL_SUCCESS &&
            bytes == sizeof uuid) {
            for (size_t i = 0; i < sizeof uuid; i++) {
                snprintf(info->uuid + 2 * i, 3, "%02x", uuid[i]);
                any |= uuid[i];
            }
            if (!any) /* all zeros stand for nothing */
                info->uuid[0] = '\0';
        }
    }
    unsigned address[4] = {0}; /* domain, bus, device, function */
    if (has_word(extensions, "cl_khr_pci_bus_info")) {
        cl_device_pci_bus_info_khr pci = {0};
        if (api->clGetDeviceInfo(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof pci, &pci, NULL) == CL_SUCCESS) {
            address[0] = pci.pci_domain;
            address[1] = pci.pci_bus;
            address[2] = pci.pci_device;
            address[3] = pci.pci_function;
        }
    } else if (has_word(extensions, "cl_nv_device_attribute_query")) {
        /* Numbers of NVIDIA's that the public headers leave out: PCI bus, slot (device * 8 + function) and domain. */
        int64_t bus = opencl_device_number(api, device, 0x4008), slot = opencl_device_number(api, device, 0x4009),
                domain = opencl_device_number(api, device, 0x400A);
        if (bus >= 0 && slot >= 0) {
            address[0] = domain > 0 ? (unsigned)domain : 0;
            address[1] = (unsigned)bus;
            address[2] = (unsigned)slot >> 3;
            address[3] = (unsigned)slot & 7;
        }
    } else if (has_word(extensions, "cl_amd_device_attribute_query")) {
        cl_device_topology_amd topology = {{0}};
        if (api->clGetDeviceInfo(device, CL_DEVICE_TOPOLOGY_AMD, sizeof topology, &topology, NULL) == CL_SUCCESS &&
            topology.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD) {
            address[1] = (cl_uchar)topology.pcie.bus;
            address[2] = (cl_uchar)topology.pcie.device;
            address[3] = (cl_uchar)topology.pcie.function;
        }
    }
    if (address[0] || address[1] || address[2] || address[3])
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", address[0] & 0xffffff, address[1] & 0xff,
                 address[2] & 0xff, address[3] & 0xf);
}

static void usability(const struct opencl_api *api, cl_device_id device, clayer_device_info *info)
{
    const char *reason = NULL;
    int version = opencl_version_number(info->opencl_version);
    if (opencl_device_number(api, device, CL_DEVICE_AVAILABLE) == 0)
        reason = "not available: its driver says so (CL_DEVICE_AVAILABLE is false)";
    else if (opencl_device_number(api, device, CL_DEVICE_COMPILER_AVAILABLE) == 0)
        reason = "has no compiler (CL_DEVICE_COMPILER_AVAILABLE is false)";
    else if (version != 0 && version < 102)
        reason = "supports OpenCL 1.1 or older, 1.2 is needed";
    info->usable = reason == NULL;
    snprintf(info->reason, sizeof info->reason, "%s", reason ? reason : "");
}

void opencl_capabilities(const struct opencl_api *api, struct opencl_device *out)
{
    clayer_device_info *info = &out->info;
    cl_device_id device = out->device;
    memset(info, 0, sizeof *info);
    info->index = -1;
    /* All numbers stand at the end, and all bits set is CLAYER_UNKNOWN. */
    memset((char *)info + offsetof(clayer_device_info, compute_units), 0xff,
           sizeof *info - offsetof(clayer_device_info, compute_units));

    text(api, device, CL_DEVICE_NAME, info->name, sizeof info->name);
    text(api, device, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    text(api, device, CL_DRIVER_VERSION, info->driver_version, sizeof info->driver_version);
    text(api, device, CL_DEVICE_VERSION, info->opencl_version, sizeof info->opencl_version);
    text(api, device, CL_DEVICE_OPENCL_C_VERSION, info->opencl_c_version, sizeof info->opencl_c_version);
    if (!*info->name)
        snprintf(info->name, sizeof info->name, "unnamed device");
    device_type(api, device, info);

    for (size_t i = 0; i < sizeof plain_numbers / sizeof *plain_numbers; i++)
        *(int64_t *)((char *)info + plain_numbers[i].offset) =
            opencl_device_number(api, device, plain_numbers[i].property);
    int64_t alignment = opencl_device_number(api, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN); /* given in bits */
    info->memory_base_alignment = alignment > 0 ? alignment / 8 : CLAYER_UNKNOWN;
    int64_t local = opencl_device_number(api, device, CL_DEVICE_LOCAL_MEM_TYPE);
    info->local_memory_is_real = local == CLAYER_UNKNOWN ? CLAYER_UNKNOWN : local == CL_LOCAL;
    size_t sizes[16] = {0}, bytes = 0;
    if (api->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
        for (size_t i = 0; i < 3 && i < bytes / sizeof *sizes; i++)
            info->max_work_item_sizes[i] = sizes[i] > INT64_MAX ? INT64_MAX : (int64_t)sizes[i];

    info->denormals = bit(api, device, CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_DENORM);
    info->correctly_rounded_divide_sqrt =
        bit(api, device, CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    info->out_of_order_queues = bit(api, device, CL_DEVICE_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    info->svm = opencl_version_number(info->opencl_version) < 200
                    ? 0
                    : bit(api, device, CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);

    char *extensions = opencl_device_text(api, device, CL_DEVICE_EXTENSIONS);
    if (extensions) {
        int64_t doubles = opencl_device_number(api, device, CL_DEVICE_DOUBLE_FP_CONFIG);
        info->fp16 = has_word(extensions, "cl_khr_fp16");
        info->fp64 = doubles > 0 || has_word(extensions, "cl_khr_fp64");
        info->integer_dot_product = has_word(extensions, "cl_khr_integer_dot_product");
        sub_groups(api, device, extensions, info);
        architecture(api, device, extensions, info);
        identity(api, device, extensions, info);
    } else {
        info->matrix_units = CLAYER_MATRIX_UNKNOWN;
    }
    free(extensions);
    usability(api, device, info);
}
