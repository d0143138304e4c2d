/* Memory of rows and slices (cudaMalloc3D), and copies between devices, of which there is one. */

#include "base/checked.h"
#include "lab/runtime/runtime.h"

LAB_API int cudaMalloc3D(lab_pitched *out, lab_extent extent)
{
    size_t rows;
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    if (!smp_mul_size(extent.height, extent.depth, &rows))
        return lab_error(LAB_OUT_OF_MEMORY);
    out->width = extent.width;
    out->height = extent.height;
    return cudaMallocPitch(&out->memory, &out->pitch, extent.width, rows);
}

LAB_API int cudaMemset3DAsync(lab_pitched to, int value, lab_extent extent, void *stream)
{
    int error = LAB_SUCCESS;
    for (size_t z = 0; z < extent.depth && !error; z++)
        error = cudaMemset2DAsync((char *)to.memory + z * to.height * to.pitch, to.pitch, value, extent.width,
                                  extent.height, stream);
    return error;
}
LAB_ALIAS(cudaMemset3D, (lab_pitched to, int value, lab_extent extent), cudaMemset3DAsync(to, value, extent, NULL))

LAB_ALIAS(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t size),
          to_device || from_device ? lab_error(LAB_INVALID_DEVICE) : cudaMemcpy(to, from, size, LAB_DEVICE_TO_DEVICE))
LAB_ALIAS(cudaMemcpyPeerAsync, (void *to, int to_device, const void *from, int from_device, size_t size, void *stream),
          to_device || from_device ? lab_error(LAB_INVALID_DEVICE)
                                   : cudaMemcpyAsync(to, from, size, LAB_DEVICE_TO_DEVICE, stream))
