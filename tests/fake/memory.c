/* Buffers, images, samplers and shared virtual memory. */
#include "driver.h"

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                                                    cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateBuffer, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_mem, KIND_MEM, real.clCreateBuffer(CONTEXT_OF(parent), flags, size, host_ptr, &code), parent, NULL);
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateBufferWithProperties(cl_context context,
                                                                  const cl_mem_properties *properties,
                                                                  cl_mem_flags flags, size_t size, void *host_ptr,
                                                                  cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateBufferWithProperties, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_mem, KIND_MEM,
         real.clCreateBufferWithProperties(CONTEXT_OF(parent), properties, flags, size, host_ptr, &code), parent, NULL);
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                                       const void *info, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateSubBuffer, NULL);
    struct object *parent = object_find(KIND_MEM, buffer);
    GIVE(cl_mem, KIND_MEM, real.clCreateSubBuffer(parent ? parent->real : NULL, flags, type, info, &code),
         parent ? parent->context : NULL, parent);
}

/* The description with its own mem object unwrapped. */
static cl_image_desc unwrap_desc(const cl_image_desc *desc)
{
    cl_image_desc own = *desc;
    if (own.mem_object)
        own.mem_object = REAL_MEM(own.mem_object);
    return own;
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateImage(cl_context context, cl_mem_flags flags,
                                                   const cl_image_format *format, const cl_image_desc *desc,
                                                   void *host_ptr, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateImage, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    struct object *owner = desc && desc->mem_object ? object_find(KIND_MEM, desc->mem_object) : NULL;
    cl_image_desc own = desc ? unwrap_desc(desc) : (cl_image_desc){0};
    GIVE(cl_mem, KIND_MEM, real.clCreateImage(CONTEXT_OF(parent), flags, format, desc ? &own : NULL, host_ptr, &code),
         parent, owner);
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateImageWithProperties(cl_context context,
                                                                 const cl_mem_properties *properties,
                                                                 cl_mem_flags flags, const cl_image_format *format,
                                                                 const cl_image_desc *desc, void *host_ptr,
                                                                 cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateImageWithProperties, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    struct object *owner = desc && desc->mem_object ? object_find(KIND_MEM, desc->mem_object) : NULL;
    cl_image_desc own = desc ? unwrap_desc(desc) : (cl_image_desc){0};
    GIVE(cl_mem, KIND_MEM,
         real.clCreateImageWithProperties(CONTEXT_OF(parent), properties, flags, format, desc ? &own : NULL, host_ptr,
                                          &code),
         parent, owner);
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                     const cl_image_format *format, size_t width, size_t height,
                                                     size_t pitch, void *host_ptr, cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateImage2D, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_mem, KIND_MEM,
         real.clCreateImage2D(CONTEXT_OF(parent), flags, format, width, height, pitch, host_ptr, &code), parent, NULL);
}

CL_API_ENTRY cl_mem CL_API_CALL fake_clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                     const cl_image_format *format, size_t width, size_t height,
                                                     size_t depth, size_t row_pitch, size_t slice_pitch, void *host_ptr,
                                                     cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateImage3D, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_mem, KIND_MEM,
         real.clCreateImage3D(CONTEXT_OF(parent), flags, format, width, height, depth, row_pitch, slice_pitch, host_ptr,
                              &code),
         parent, NULL);
}

RETAIN_RELEASE(MemObject, cl_mem, KIND_MEM, CL_INVALID_MEM_OBJECT);

CL_API_ENTRY cl_int CL_API_CALL fake_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                                cl_mem_object_type type, cl_uint num_entries,
                                                                cl_image_format *formats, cl_uint *num_formats)
{
    ENTER(clGetSupportedImageFormats, NULL);
    return real.clGetSupportedImageFormats(REAL_CONTEXT(context), flags, type, num_entries, formats, num_formats);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetMemObjectInfo(cl_mem mem, cl_mem_info query, size_t size, void *value,
                                                        size_t *size_ret)
{
    ENTER_QUERY(clGetMemObjectInfo, NULL);
    const struct object *object = object_find(KIND_MEM, mem);
    if (!object)
        return CL_INVALID_MEM_OBJECT;
    cl_int code;
    cl_uint references = object_references(object);
    if (query == CL_MEM_CONTEXT)
        code = info_give(&object->context, sizeof object->context, size, value, size_ret);
    else if (query == CL_MEM_ASSOCIATED_MEMOBJECT)
        code = info_give(&object->owner, sizeof object->owner, size, value, size_ret);
    else if (query == CL_MEM_REFERENCE_COUNT)
        code = info_give(&references, sizeof references, size, value, size_ret);
    else
        code = real.clGetMemObjectInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clGetImageInfo(cl_mem image, cl_image_info query, size_t size, void *value,
                                                    size_t *size_ret)
{
    ENTER_QUERY(clGetImageInfo, NULL);
    const struct object *object = object_find(KIND_MEM, image);
    if (!object)
        return CL_INVALID_MEM_OBJECT;
    cl_int code = query == CL_IMAGE_BUFFER ? info_give(&object->owner, sizeof object->owner, size, value, size_ret)
                                           : real.clGetImageInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

static void CL_CALLBACK mem_destroyed(cl_mem mem, void *data)
{
    (void)mem;
    const struct callback *callback = data;
    ((void(CL_CALLBACK *)(cl_mem, void *))callback->function)((cl_mem)callback->object, callback->user_data);
}

CL_API_ENTRY cl_int CL_API_CALL fake_clSetMemObjectDestructorCallback(cl_mem mem,
                                                                      void(CL_CALLBACK *notify)(cl_mem, void *),
                                                                      void *user_data)
{
    ENTER(clSetMemObjectDestructorCallback, NULL);
    struct object *object = object_find(KIND_MEM, mem);
    if (!object || !notify)
        return object ? CL_INVALID_VALUE : CL_INVALID_MEM_OBJECT;
    struct callback *callback = callback_new(object, (void (*)(void))notify, user_data);
    return real.clSetMemObjectDestructorCallback(object->real, mem_destroyed, callback);
}

/* ---- samplers ---- */

CL_API_ENTRY cl_sampler CL_API_CALL fake_clCreateSampler(cl_context context, cl_bool normalized,
                                                         cl_addressing_mode addressing, cl_filter_mode filter,
                                                         cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateSampler, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_sampler, KIND_SAMPLER, real.clCreateSampler(CONTEXT_OF(parent), normalized, addressing, filter, &code),
         parent, NULL);
}

CL_API_ENTRY cl_sampler CL_API_CALL fake_clCreateSamplerWithProperties(cl_context context,
                                                                       const cl_sampler_properties *properties,
                                                                       cl_int *errcode_ret)
{
    ENTER_CREATE(clCreateSamplerWithProperties, NULL);
    struct object *parent = object_find(KIND_CONTEXT, context);
    GIVE(cl_sampler, KIND_SAMPLER, real.clCreateSamplerWithProperties(CONTEXT_OF(parent), properties, &code), parent,
         NULL);
}

RETAIN_RELEASE(Sampler, cl_sampler, KIND_SAMPLER, CL_INVALID_SAMPLER);

CL_API_ENTRY cl_int CL_API_CALL fake_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info query, size_t size,
                                                      void *value, size_t *size_ret)
{
    ENTER_QUERY(clGetSamplerInfo, NULL);
    const struct object *object = object_find(KIND_SAMPLER, sampler);
    if (!object)
        return CL_INVALID_SAMPLER;
    cl_int code = query == CL_SAMPLER_CONTEXT
                      ? info_give(&object->context, sizeof object->context, size, value, size_ret)
                      : real.clGetSamplerInfo(object->real, query, size, value, size_ret);
    return info_scrub(&effect, code, size, value, size_ret);
}

/* ---- shared virtual memory: plain pointers, so only the context is unwrapped ---- */

CL_API_ENTRY void *CL_API_CALL fake_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                               cl_uint alignment)
{
    const struct effect effect = fake_enter(FN_clSVMAlloc, NULL);
    if (effect.failed || effect.nonsense || !real.clSVMAlloc)
        return NULL;
    return real.clSVMAlloc(REAL_CONTEXT(context), flags, size, alignment);
}

CL_API_ENTRY void CL_API_CALL fake_clSVMFree(cl_context context, void *pointer)
{
    (void)fake_enter(FN_clSVMFree, NULL);
    if (real.clSVMFree)
        real.clSVMFree(REAL_CONTEXT(context), pointer);
}
