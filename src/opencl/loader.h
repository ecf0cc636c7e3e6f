/* libOpenCL, opened at run time: the table of entry points that the rest of this room calls through. */
#ifndef OPENCL_LOADER_H
#define OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue, the queue call that every 1.2 library has */
#include <CL/cl.h>

#include <clayer/status.h>
#include <stdbool.h>

/* OpenCL 1.2: a library that lacks one of these is refused. */
#define OPENCL_REQUIRED(X)                                                                                             \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clRetainDevice)                                                                                                  \
    X(clReleaseDevice)                                                                                                 \
    X(clCreateContext)                                                                                                 \
    X(clRetainContext)                                                                                                 \
    X(clReleaseContext)                                                                                                \
    X(clGetContextInfo)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clRetainCommandQueue)                                                                                            \
    X(clReleaseCommandQueue)                                                                                           \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clCreateBuffer)                                                                                                  \
    X(clCreateSubBuffer)                                                                                               \
    X(clRetainMemObject)                                                                                               \
    X(clReleaseMemObject)                                                                                              \
    X(clGetMemObjectInfo)                                                                                              \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clRetainProgram)                                                                                                 \
    X(clReleaseProgram)                                                                                                \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramInfo)                                                                                                \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clCreateKernel)                                                                                                  \
    X(clRetainKernel)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clSetKernelArg)                                                                                                  \
    X(clGetKernelInfo)                                                                                                 \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueReadBufferRect)                                                                                         \
    X(clEnqueueWriteBufferRect)                                                                                        \
    X(clEnqueueCopyBufferRect)                                                                                         \
    X(clEnqueueFillBuffer)                                                                                             \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clCreateUserEvent)                                                                                               \
    X(clSetUserEventStatus)                                                                                            \
    X(clWaitForEvents)                                                                                                 \
    X(clGetEventInfo)                                                                                                  \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clRetainEvent)                                                                                                   \
    X(clReleaseEvent)                                                                                                  \
    X(clSetEventCallback)                                                                                              \
    X(clFlush)                                                                                                         \
    X(clFinish)

/* Later entry points: NULL where the library has none. Having one says nothing about the device: a loader for 3.0 may
 * front a 1.2 driver, so ask the device's version too before calling. */
#define OPENCL_OPTIONAL(X)                                                                                             \
    X(clCreateCommandQueueWithProperties)                                                                              \
    X(clEnqueueNativeKernel)                                                                                           \
    X(clGetKernelSubGroupInfo)                                                                                         \
    X(clGetDeviceAndHostTimer)                                                                                         \
    X(clGetHostTimer)                                                                                                  \
    X(clSVMAlloc)                                                                                                      \
    X(clSVMFree)                                                                                                       \
    X(clSetKernelArgSVMPointer)                                                                                        \
    X(clGetExtensionFunctionAddressForPlatform)

#define OPENCL_MEMBER(name) __typeof__(name) *name;
struct opencl_api {
    OPENCL_REQUIRED(OPENCL_MEMBER)
    OPENCL_OPTIONAL(OPENCL_MEMBER)
};
#undef OPENCL_MEMBER

/* The table, opened at the first call; thread-safe. CLAYER_OPENCL=off hides OpenCL, CLAYER_OPENCL=PATH opens that
 * library and no other. NO_OPENCL with the reason when there is none, the same answer for the life of the process;
 * FORKED in a child of a process that had opened it. */
clayer_status opencl_load(const struct opencl_api **api);

/* True in a child forked after its parent opened OpenCL: no cl call may be made here, not even a release. */
bool opencl_forked(void);

#endif
