/* The queries that can be overridden, as X(NAME, type of the answer). Types: U32, U64, SIZE (size_t), TEXT, BYTES (hex
 * digits), and the lists SIZE_LIST and U32_LIST, written with slashes. Queries that answer with handles are left out.
 */
#ifndef FAKE_INFO_NAMES_H
#define FAKE_INFO_NAMES_H

#define FAKE_PLATFORM_INFO(X)                                                                                          \
    X(CL_PLATFORM_PROFILE, TEXT)                                                                                       \
    X(CL_PLATFORM_VERSION, TEXT)                                                                                       \
    X(CL_PLATFORM_NAME, TEXT)                                                                                          \
    X(CL_PLATFORM_VENDOR, TEXT)                                                                                        \
    X(CL_PLATFORM_EXTENSIONS, TEXT)                                                                                    \
    X(CL_PLATFORM_HOST_TIMER_RESOLUTION, U64)                                                                          \
    X(CL_PLATFORM_ICD_SUFFIX_KHR, TEXT)

#define FAKE_DEVICE_INFO(X)                                                                                            \
    X(CL_DEVICE_TYPE, U64)                                                                                             \
    X(CL_DEVICE_VENDOR_ID, U32)                                                                                        \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, U32)                                                                                \
    X(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, U32)                                                                         \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE)                                                                             \
    X(CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZE_LIST)                                                                        \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, U32)                                                                      \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, U32)                                                                     \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, U32)                                                                       \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, U32)                                                                      \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, U32)                                                                     \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, U32)                                                                    \
    X(CL_DEVICE_MAX_CLOCK_FREQUENCY, U32)                                                                              \
    X(CL_DEVICE_ADDRESS_BITS, U32)                                                                                     \
    X(CL_DEVICE_MAX_READ_IMAGE_ARGS, U32)                                                                              \
    X(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, U32)                                                                             \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, U64)                                                                               \
    X(CL_DEVICE_IMAGE2D_MAX_WIDTH, SIZE)                                                                               \
    X(CL_DEVICE_IMAGE2D_MAX_HEIGHT, SIZE)                                                                              \
    X(CL_DEVICE_IMAGE3D_MAX_WIDTH, SIZE)                                                                               \
    X(CL_DEVICE_IMAGE3D_MAX_HEIGHT, SIZE)                                                                              \
    X(CL_DEVICE_IMAGE3D_MAX_DEPTH, SIZE)                                                                               \
    X(CL_DEVICE_IMAGE_SUPPORT, U32)                                                                                    \
    X(CL_DEVICE_MAX_PARAMETER_SIZE, SIZE)                                                                              \
    X(CL_DEVICE_MAX_SAMPLERS, U32)                                                                                     \
    X(CL_DEVICE_MEM_BASE_ADDR_ALIGN, U32)                                                                              \
    X(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, U32)                                                                         \
    X(CL_DEVICE_SINGLE_FP_CONFIG, U64)                                                                                 \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, U32)                                                                            \
    X(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, U32)                                                                        \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, U64)                                                                            \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, U64)                                                                                  \
    X(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, U64)                                                                         \
    X(CL_DEVICE_MAX_CONSTANT_ARGS, U32)                                                                                \
    X(CL_DEVICE_LOCAL_MEM_TYPE, U32)                                                                                   \
    X(CL_DEVICE_LOCAL_MEM_SIZE, U64)                                                                                   \
    X(CL_DEVICE_ERROR_CORRECTION_SUPPORT, U32)                                                                         \
    X(CL_DEVICE_PROFILING_TIMER_RESOLUTION, SIZE)                                                                      \
    X(CL_DEVICE_ENDIAN_LITTLE, U32)                                                                                    \
    X(CL_DEVICE_AVAILABLE, U32)                                                                                        \
    X(CL_DEVICE_COMPILER_AVAILABLE, U32)                                                                               \
    X(CL_DEVICE_EXECUTION_CAPABILITIES, U64)                                                                           \
    X(CL_DEVICE_QUEUE_PROPERTIES, U64)                                                                                 \
    X(CL_DEVICE_NAME, TEXT)                                                                                            \
    X(CL_DEVICE_VENDOR, TEXT)                                                                                          \
    X(CL_DRIVER_VERSION, TEXT)                                                                                         \
    X(CL_DEVICE_PROFILE, TEXT)                                                                                         \
    X(CL_DEVICE_VERSION, TEXT)                                                                                         \
    X(CL_DEVICE_EXTENSIONS, TEXT)                                                                                      \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, U64)                                                                                 \
    X(CL_DEVICE_HALF_FP_CONFIG, U64)                                                                                   \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, U32)                                                                      \
    X(CL_DEVICE_HOST_UNIFIED_MEMORY, U32)                                                                              \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, U32)                                                                         \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, U32)                                                                        \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, U32)                                                                          \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, U32)                                                                         \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, U32)                                                                        \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, U32)                                                                       \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, U32)                                                                         \
    X(CL_DEVICE_OPENCL_C_VERSION, TEXT)                                                                                \
    X(CL_DEVICE_LINKER_AVAILABLE, U32)                                                                                 \
    X(CL_DEVICE_BUILT_IN_KERNELS, TEXT)                                                                                \
    X(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, SIZE)                                                                           \
    X(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, SIZE)                                                                            \
    X(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, U32)                                                                        \
    X(CL_DEVICE_PARTITION_PROPERTIES, SIZE_LIST)                                                                       \
    X(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, U64)                                                                        \
    X(CL_DEVICE_PARTITION_TYPE, SIZE_LIST)                                                                             \
    X(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, U32)                                                                      \
    X(CL_DEVICE_PRINTF_BUFFER_SIZE, SIZE)                                                                              \
    X(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, U32)                                                                            \
    X(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, U32)                                                                     \
    X(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, U32)                                                                        \
    X(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, SIZE)                                                                        \
    X(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, U64)                                                                       \
    X(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, U32)                                                                   \
    X(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, U32)                                                                         \
    X(CL_DEVICE_MAX_ON_DEVICE_QUEUES, U32)                                                                             \
    X(CL_DEVICE_MAX_ON_DEVICE_EVENTS, U32)                                                                             \
    X(CL_DEVICE_SVM_CAPABILITIES, U64)                                                                                 \
    X(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, SIZE)                                                            \
    X(CL_DEVICE_MAX_PIPE_ARGS, U32)                                                                                    \
    X(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, U32)                                                                     \
    X(CL_DEVICE_PIPE_MAX_PACKET_SIZE, U32)                                                                             \
    X(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, U32)                                                              \
    X(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, U32)                                                                \
    X(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, U32)                                                                 \
    X(CL_DEVICE_IL_VERSION, TEXT)                                                                                      \
    X(CL_DEVICE_MAX_NUM_SUB_GROUPS, U32)                                                                               \
    X(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, U32)                                                           \
    X(CL_DEVICE_NUMERIC_VERSION, U32)                                                                                  \
    X(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, U64)                                                                       \
    X(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, U64)                                                                        \
    X(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, U32)                                                                   \
    X(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, SIZE)                                                              \
    X(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, U32)                                                          \
    X(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, U32)                                                                    \
    X(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, U64)                                                                      \
    X(CL_DEVICE_PIPE_SUPPORT, U32)                                                                                     \
    X(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, TEXT)

/* Of extensions. */
#define FAKE_EXTENSION_INFO(X)                                                                                         \
    X(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR, U64)                                                             \
    X(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, U32)                                                                      \
    X(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, U32)                                                                      \
    X(CL_DEVICE_WARP_SIZE_NV, U32)                                                                                     \
    X(CL_DEVICE_BOARD_NAME_AMD, TEXT)                                                                                  \
    X(CL_DEVICE_WAVEFRONT_WIDTH_AMD, U32)                                                                              \
    X(CL_DEVICE_GFXIP_MAJOR_AMD, U32)                                                                                  \
    X(CL_DEVICE_GFXIP_MINOR_AMD, U32)                                                                                  \
    X(CL_DEVICE_SUB_GROUP_SIZES_INTEL, SIZE_LIST)                                                                      \
    X(CL_DEVICE_UUID_KHR, BYTES)                                                                                       \
    X(CL_DRIVER_UUID_KHR, BYTES)                                                                                       \
    X(CL_DEVICE_PCI_BUS_INFO_KHR, U32_LIST)

/* clGetKernelWorkGroupInfo. */
#define FAKE_KERNEL_INFO(X)                                                                                            \
    X(CL_KERNEL_WORK_GROUP_SIZE, SIZE)                                                                                 \
    X(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, SIZE_LIST)                                                                    \
    X(CL_KERNEL_LOCAL_MEM_SIZE, U64)                                                                                   \
    X(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, SIZE)                                                              \
    X(CL_KERNEL_PRIVATE_MEM_SIZE, U64)

#endif
