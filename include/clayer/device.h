/* clayer: which devices there are, what they can do, and which one a selector names.
 *
 * Listing starts OpenCL at the first call. A driver that hangs or takes the process down while it loads does so here as
 * in any OpenCL program; docs/devices.md says how to step around it. All functions are thread-safe. */
#ifndef CLAYER_DEVICE_H
#define CLAYER_DEVICE_H

#include <clayer/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the order in which the automatic choice prefers them. */
typedef enum clayer_device_type {
    CLAYER_DEVICE_GPU = 1,
    CLAYER_DEVICE_ACCELERATOR = 2,
    CLAYER_DEVICE_CPU = 3,       /* an OpenCL device; also one that claims several types, the CPU's among them */
    CLAYER_DEVICE_UNKNOWN = 4,   /* the driver does not tell */
    CLAYER_DEVICE_SIMULATOR = 5, /* Oclgrind and FPGA emulators: never chosen automatically */
    CLAYER_DEVICE_HOST = 6 /* clayer's own code on the calling thread, without OpenCL: always there, always last */
} clayer_device_type;

/* Units that multiply small matrices, as far as they can be told from the device's properties. */
typedef enum clayer_matrix_units {
    CLAYER_MATRIX_UNKNOWN = -1,
    CLAYER_MATRIX_NONE = 0,
    CLAYER_MATRIX_NVIDIA_MMA = 1, /* compute capability 7.0 and later, except the GTX 16 series */
    CLAYER_MATRIX_AMD_MFMA = 2,   /* gfx908, gfx90a, gfx94x, gfx950 */
    CLAYER_MATRIX_AMD_WMMA = 3,   /* gfx11xx, gfx12xx */
    CLAYER_MATRIX_INTEL_DPAS = 4  /* extension cl_intel_subgroup_matrix_multiply_accumulate */
} clayer_matrix_units;

/* The value of every int64_t below that the driver does not tell, or that has no meaning for this device. */
#define CLAYER_UNKNOWN (-1)

/* One device. Texts are UTF-8 without control characters, cut to their array, "" where unknown. The source of each
 * value is given as OpenCL's name for it (CL_DEVICE_ left out). int64_t values may be CLAYER_UNKNOWN; those marked
 * "flag" are 1, 0 or CLAYER_UNKNOWN. */
typedef struct clayer_device_info {
    int32_t index;          /* place in this process's list; changes when drivers come or go */
    int32_t platform_index; /* place of the platform in the list of platforms; -1 for the host */
    int32_t
        platform_device_index; /* place of the device within its platform, as the driver lists it; -1 for the host */
    int32_t usable;            /* 1, or 0 and then reason says why */
    clayer_device_type type;   /* TYPE, and the name for simulators */
    clayer_matrix_units matrix_units; /* from the compute capability, the gfx name or the extensions */

    char id[64];               /* stable name, kept when drivers are added or change order, for selectors and files */
    char name[128];            /* NAME, without outer spaces */
    char vendor[128];          /* VENDOR */
    char platform[128];        /* PLATFORM_NAME */
    char driver_version[128];  /* DRIVER_VERSION */
    char opencl_version[128];  /* VERSION */
    char opencl_c_version[64]; /* OPENCL_C_VERSION */
    char reason[256];          /* why it is not usable */
    char also_through[128]; /* other platforms that show the same device (same UUID or PCI address), comma-separated */
    char pci[24];           /* PCI_BUS_INFO_KHR or the vendor's: domain:bus:device.function in hexadecimal */
    char uuid[40];          /* UUID_KHR in hexadecimal */
    char architecture[32];  /* "gfx1100" (AMD), "sm_80" (NVIDIA's compute capability), else "" */

    int64_t compute_units;                 /* MAX_COMPUTE_UNITS; of the host: 1, the calling thread */
    int64_t clock_mhz;                     /* MAX_CLOCK_FREQUENCY */
    int64_t address_bits;                  /* ADDRESS_BITS */
    int64_t max_work_group_size;           /* MAX_WORK_GROUP_SIZE; a kernel's own limit may be lower */
    int64_t max_work_item_sizes[3];        /* MAX_WORK_ITEM_SIZES */
    int64_t max_parameter_size;            /* MAX_PARAMETER_SIZE, bytes */
    int64_t global_memory_bytes;           /* GLOBAL_MEM_SIZE */
    int64_t max_allocation_bytes;          /* MAX_MEM_ALLOC_SIZE */
    int64_t global_cache_bytes;            /* GLOBAL_MEM_CACHE_SIZE */
    int64_t global_cache_line_bytes;       /* GLOBAL_MEM_CACHELINE_SIZE */
    int64_t constant_memory_bytes;         /* MAX_CONSTANT_BUFFER_SIZE */
    int64_t local_memory_bytes;            /* LOCAL_MEM_SIZE */
    int64_t local_memory_is_real;          /* flag: LOCAL_MEM_TYPE is CL_LOCAL, not a part of global memory */
    int64_t memory_base_alignment;         /* MEM_BASE_ADDR_ALIGN, in bytes */
    int64_t unified_memory;                /* flag: HOST_UNIFIED_MEMORY, the host shares the device's memory */
    int64_t preferred_vector_width_float;  /* PREFERRED_VECTOR_WIDTH_FLOAT */
    int64_t native_vector_width_float;     /* NATIVE_VECTOR_WIDTH_FLOAT */
    int64_t native_vector_width_half;      /* NATIVE_VECTOR_WIDTH_HALF */
    int64_t fp16;                          /* flag: extension cl_khr_fp16 */
    int64_t fp64;                          /* flag: DOUBLE_FP_CONFIG is not empty, or extension cl_khr_fp64 */
    int64_t denormals;                     /* flag: SINGLE_FP_CONFIG has CL_FP_DENORM */
    int64_t correctly_rounded_divide_sqrt; /* flag: SINGLE_FP_CONFIG has CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT */
    int64_t sub_groups;              /* flag: extension cl_khr_subgroups or cl_intel_subgroups, or MAX_NUM_SUB_GROUPS */
    int64_t sub_group_size;          /* WARP_SIZE_NV, WAVEFRONT_WIDTH_AMD, or the largest of SUB_GROUP_SIZES_INTEL */
    int64_t smallest_sub_group_size; /* the smallest of SUB_GROUP_SIZES_INTEL */
    int64_t integer_dot_product;     /* flag: extension cl_khr_integer_dot_product */
    int64_t image_support;           /* flag: IMAGE_SUPPORT */
    int64_t out_of_order_queues;     /* flag: QUEUE_PROPERTIES */
    int64_t svm;                     /* flag: SVM_CAPABILITIES has coarse-grain buffers */
    int64_t timer_resolution_ns;     /* PROFILING_TIMER_RESOLUTION */
    int64_t timers_plausible;        /* flag: event times agree with the wall clock; only after a trial */

    int64_t reserved[23]; /* CLAYER_UNKNOWN; later versions put new values here, so the size stays */
} clayer_device_info;

/* How many devices there are, unusable ones and the host included: at least 1. The order is fixed: usable ones by type
 * (see clayer_device_type), separate memory before memory shared with the host, more compute units x clock first, then
 * by platform name; then unusable ones; the host last. No OpenCL is no error here: see clayer_opencl_status. */
CLAYER_API clayer_status clayer_device_count(size_t *count);

/* Describes device number index. INVALID_ARGUMENT beyond the list. */
CLAYER_API clayer_status clayer_device_get(size_t index, clayer_device_info *info);

/* The device that a selector names, and nothing else happens to it. selector is, regardless of case:
 *   "auto"                   the first usable gpu, else accelerator, else cpu, else the host; never a simulator
 *   "gpu", "accelerator", "cpu", "simulator", "host"    the first usable device of that type
 *   an id, or an index       as clayer-query prints them
 *   "PLATFORM:INDEX"         PLATFORM a platform's index or a part of its name, INDEX the device's place within it
 *   any other text           a part of one device's name, else of one device's platform or vendor
 * NULL or "" means the environment variable CLAYER_DEVICE, and when that is not set, "auto".
 * NO_DEVICE when nothing or more than one device matches (the detail lists the choices), DEVICE_UNUSABLE with the
 * reason when only devices that cannot be used match. */
CLAYER_API clayer_status clayer_device_select(const char *selector, clayer_device_info *info);

/* Tries device number index out: creates a context and a queue, compiles a small kernel, runs it and checks its result
 * and its event times. Takes from milliseconds to a second. OK means that it works; DEVICE_UNUSABLE with the reason in
 * the detail and in info->reason otherwise. info is filled in both cases (also timers_plausible) and may be NULL. The
 * list keeps its order and its entries. */
CLAYER_API clayer_status clayer_device_try(size_t index, clayer_device_info *info);

/* One OpenCL platform: what one driver shows. Texts as in clayer_device_info. */
typedef struct clayer_platform_info {
    int32_t index;        /* by name, so that it does not depend on the order of the drivers */
    int32_t device_count; /* devices it shows, unusable ones and second views of other platforms' devices included */
    char name[128];       /* PLATFORM_NAME */
    char vendor[128];     /* PLATFORM_VENDOR */
    char version[128];    /* PLATFORM_VERSION */
    char suffix[32];      /* PLATFORM_ICD_SUFFIX_KHR, such as "POCL"; selectors take it for the platform's name */
    char reason[256];     /* why it shows no device */
    int64_t reserved[8];  /* CLAYER_UNKNOWN */
} clayer_platform_info;

/* How many platforms there are, possibly 0; and platform number index, INVALID_ARGUMENT beyond the list. */
CLAYER_API clayer_status clayer_platform_count(size_t *count);
CLAYER_API clayer_status clayer_platform_get(size_t index, clayer_platform_info *info);

/* Receives one property: OpenCL's name such as "CL_DEVICE_MAX_COMPUTE_UNITS", and its value as text or NULL when the
 * driver refuses it. Both are valid during the call only. */
typedef void (*clayer_property_callback)(void *user, const char *name, const char *value);

/* Asks the driver for every standard property of device number index, up to OpenCL 3.0. The host has none. */
CLAYER_API clayer_status clayer_device_properties(size_t index, clayer_property_callback callback, void *user);

/* OK when OpenCL is there and shows at least one device; NO_OPENCL or NO_DEVICE with the reason in the detail
 * otherwise. */
CLAYER_API clayer_status clayer_opencl_status(void);

/* "gpu", "accelerator", "cpu", "unknown", "simulator" or "host". Never NULL, never freed. */
CLAYER_API const char *clayer_device_type_string(clayer_device_type type);

/* "none", "nvidia-mma", "amd-mfma", "amd-wmma", "intel-dpas" or "unknown". Never NULL, never freed. */
CLAYER_API const char *clayer_matrix_units_string(clayer_matrix_units units);

#ifdef __cplusplus
}
#endif
#endif
