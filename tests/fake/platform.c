/* Platforms and devices: every root device is wrapped once, when the driver starts, and lives as long as the process.
 */
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 16, DEVICES = 64 };

static struct object *platforms[PLATFORMS];
static cl_uint platform_count;

void platforms_open(cl_platform_id platform, cl_uint count)
{
    cl_device_id devices[DEVICES];
    cl_uint found = 0;
    if (real.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES, devices, &found) != CL_SUCCESS)
        found = 0;
    found = found > DEVICES ? DEVICES : found;
    /* More devices than there are: the real ones again, in turn. */
    cl_uint wanted = found ? (cl_uint)fake_number("CLAYER_FAKE_DEVICES", found) : 0;
    platform_count = count > PLATFORMS ? PLATFORMS : count;
    for (cl_uint p = 0; p < platform_count; p++) {
        platforms[p] = object_wrap(KIND_PLATFORM, platform, NULL, NULL);
        object_make_root(platforms[p], (int)p);
        platforms[p]->devices = fake_allocate(sizeof(struct object *) * wanted);
        platforms[p]->device_count = wanted;
        for (cl_uint d = 0; d < wanted; d++) {
            platforms[p]->devices[d] = object_wrap(KIND_DEVICE, devices[d % found], NULL, platforms[p]);
            object_make_root(platforms[p]->devices[d], (int)d);
        }
    }
}

cl_int platforms_list(cl_uint num_entries, cl_platform_id *list, cl_uint *num_platforms)
{
    if ((list && !num_entries) || (!list && !num_platforms))
        return CL_INVALID_VALUE;
    if (!platform_count)
        return CL_PLATFORM_NOT_FOUND_KHR; /* the count stays untouched, as real drivers do */
    for (cl_uint p = 0; list && p < platform_count && p < num_entries; p++)
        list[p] = (cl_platform_id)platforms[p];
    if (num_platforms)
        *num_platforms = platform_count;
    return CL_SUCCESS;
}

struct object *platform_first(void)
{
    return platform_count ? platforms[0] : NULL;
}

/* The type as overridden, so that clGetDeviceIDs and CL_DEVICE_TYPE agree. */
static cl_device_type type_of(const struct object *device)
{
    cl_device_type type = 0;
    cl_int code;
    if (info_override(CL_DEVICE_TYPE, device->index, sizeof type, &type, NULL, &code))
        return code == CL_SUCCESS ? type : 0;
    real.clGetDeviceInfo(device->real, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return type;
}

cl_uint platform_devices(const struct object *platform, cl_device_type type, cl_uint room, struct object **list)
{
    cl_uint count = 0;
    for (cl_uint d = 0; d < platform->device_count; d++) {
        struct object *device = platform->devices[d];
        bool fits = type == CL_DEVICE_TYPE_ALL || (type & CL_DEVICE_TYPE_DEFAULT && d == 0) || (type & type_of(device));
        if (!fits)
            continue;
        if (count < room)
            list[count] = device;
        count++;
    }
    return count;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetPlatformInfo(cl_platform_id platform, cl_platform_info query, size_t size,
                                                       void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetPlatformInfo, NULL);
    const struct object *object = object_find(KIND_PLATFORM, platform);
    cl_int code;
    if (!object)
        return CL_INVALID_PLATFORM;
    if (info_override(query, -1, size, value, size_ret, &code))
        return info_scrub(&effect, code, size, value, size_ret);
    if (query == CL_PLATFORM_NAME && object->index > 0) {
        char name[300] = "";
        real.clGetPlatformInfo(object->real, query, sizeof name - 16, name, NULL);
        snprintf(name + strlen(name), 16, " %d", object->index + 1);
        return info_give(name, strlen(name) + 1, size, value, size_ret);
    }
    code = real.clGetPlatformInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries,
                                                    cl_device_id *devices, cl_uint *num_devices)
{
    ENTER_QUERY(clGetDeviceIDs, NULL);
    const struct object *object = object_find(KIND_PLATFORM, platform);
    if (!object)
        return CL_INVALID_PLATFORM;
    if ((devices && !num_entries) || (!devices && !num_devices))
        return CL_INVALID_VALUE;
    cl_uint room = devices ? num_entries : 0;
    cl_uint count = effect.nonsense ? 0 : platform_devices(object, type, room, (struct object **)devices);
    if (!count && !effect.nonsense)
        return CL_DEVICE_NOT_FOUND; /* the count stays untouched, as PoCL does */
    if (num_devices)
        *num_devices = count;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetDeviceInfo(cl_device_id device, cl_device_info query, size_t size,
                                                     void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetDeviceInfo, NULL);
    const struct object *object = object_find(KIND_DEVICE, device);
    if (!object)
        return CL_INVALID_DEVICE;
    const struct object *root = object;
    while (root->index < 0)
        root = root->owner;
    cl_int code;
    if (info_override(query, root->index, size, value, size_ret, &code))
        return info_scrub(&effect, code, size, value, size_ret);
    if (query == CL_DEVICE_PLATFORM)
        code = info_give(&root->owner, sizeof root->owner, size, value, size_ret);
    else if (query == CL_DEVICE_PARENT_DEVICE) {
        const void *parent = object == root ? NULL : object->owner;
        code = info_give(&parent, sizeof parent, size, value, size_ret);
    } else if (query == CL_DEVICE_REFERENCE_COUNT) {
        cl_uint references = object_references(object);
        code = info_give(&references, sizeof references, size, value, size_ret);
    } else
        code = real.clGetDeviceInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clCreateSubDevices(cl_device_id parent,
                                                        const cl_device_partition_property *properties,
                                                        cl_uint num_entries, cl_device_id *devices, cl_uint *num_ret)
{
    ENTER(clCreateSubDevices, NULL);
    struct object *object = object_find(KIND_DEVICE, parent);
    if (!object)
        return CL_INVALID_DEVICE;
    cl_uint count = 0;
    cl_int code = real.clCreateSubDevices(object->real, properties, num_entries, devices, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && devices && i < count; i++)
        devices[i] = (cl_device_id)object_wrap(KIND_DEVICE, devices[i], NULL, object);
    if (code == CL_SUCCESS && num_ret)
        *num_ret = count;
    return code;
}

/* A root device is not counted: OpenCL makes retaining and releasing it a no-op. */
CL_API_ENTRY cl_int CL_API_CALL fake_clRetainDevice(cl_device_id device)
{
    ENTER(clRetainDevice, NULL);
    const struct object *object = object_find(KIND_DEVICE, device);
    if (!object || object->index >= 0)
        return object ? CL_SUCCESS : CL_INVALID_DEVICE;
    void *target = object_retain(KIND_DEVICE, device);
    return target ? real.clRetainDevice(target) : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clReleaseDevice(cl_device_id device)
{
    const struct effect effect = fake_enter(FN_clReleaseDevice, NULL);
    const struct object *object = object_find(KIND_DEVICE, device);
    cl_int code = object ? CL_SUCCESS : CL_INVALID_DEVICE;
    if (object && object->index < 0) {
        void *target = object_release(KIND_DEVICE, device);
        code = target ? real.clReleaseDevice(target) : CL_INVALID_DEVICE;
    }
    return effect.failed ? effect.code : code;
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_timestamp,
                                                             cl_ulong *host_timestamp)
{
    ENTER(clGetDeviceAndHostTimer, NULL);
    return real.clGetDeviceAndHostTimer(REAL_DEVICE(device), device_timestamp, host_timestamp);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetHostTimer(cl_device_id device, cl_ulong *host_timestamp)
{
    ENTER(clGetHostTimer, NULL);
    return real.clGetHostTimer(REAL_DEVICE(device), host_timestamp);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clUnloadCompiler(void)
{
    ENTER(clUnloadCompiler, NULL);
    return real.clUnloadCompiler();
}

CL_API_ENTRY cl_int CL_API_CALL fake_clUnloadPlatformCompiler(cl_platform_id platform)
{
    ENTER(clUnloadPlatformCompiler, NULL);
    return real.clUnloadPlatformCompiler(object_real(KIND_PLATFORM, platform));
}
