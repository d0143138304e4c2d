/* Kernels of the user's on a GPU: their PTX goes to the driver, which compiles it, or the cubin that was counted. They
 * get pictures without gaps, so rows are copied within device memory before and after. */
#include "device/cuda/cuda_internal.h"
#include "stages/foreign.h"

static int64_t row_bytes(const smp_view *view)
{
    return view->width * view->channels * smp_sample_size(view->format);
}

static smp_code room(cuda_device *gpu, size_t size, void **memory, size_t *has, smp_error *err)
{
    if (*has >= size)
        return SMP_OK;
    if (*memory)
        cuda_free(&gpu->base, *memory);
    *memory = NULL;
    *has = 0;
    const smp_code code = cuda_alloc(&gpu->base, size, memory, err);
    *has = code ? 0 : size;
    return code;
}

static smp_code load(cuda_device *gpu, const smp_foreign_file *file, CUmodule *out, smp_error *err)
{
    smp_code code = SMP_OK;
    const bool counted =
        file->cubin && file->cubin_arch == gpu->base.info.compute_major * 10 + gpu->base.info.compute_minor;
    const void *image = counted ? file->cubin : file->ptx;
    if (file->has_variables) /* they begin as the file has them, for each launch */
        CUDA_TRY(gpu, cuModuleLoadData, out, image);
    else
        code = cuda_load_module(gpu, image, image, out, err);
fail:
    if (code)
        smp_hint(err, "the driver cannot load the PTX of %.200s for this GPU: compile it for this GPU or an older one",
                 file->path);
    return code;
}

/* Queues it. */
static smp_code launch(cuda_device *gpu, const smp_foreign *k, CUmodule module, const uint32_t *grid,
                       unsigned char *bytes, smp_error *err)
{
    void *params[SMP_FOREIGN_PARAMS];
    CUfunction function;
    bool opted_in = false;
    smp_code code = SMP_OK;
    CUDA_TRY(gpu, cuModuleGetFunction, &function, module, k->entry->symbol);
    code = cuda_opt_in(gpu, function, k->shared, &opted_in, err);
    if (code)
        return code;
    for (size_t i = 0; i < k->entry->param_count; i++)
        params[i] = bytes + k->entry->params[i].offset;
    CUDA_TRY(gpu, cuLaunchKernel, function, grid[0], grid[1], grid[2], k->block.n[0], k->block.n[1], k->block.n[2],
             k->shared, gpu->stream, params, NULL);
fail:
    return code;
}

smp_code cuda_foreign(cuda_device *gpu, const smp_foreign *k, const smp_io *io, smp_error *err)
{
    smp_code code = SMP_OK;
    if (gpu->driver->emulated) { /* its memory is the host's, and what was queued has run */
        CUDA_TRY(gpu, cuStreamSynchronize, gpu->stream);
        return smp_foreign_run(k, io, err);
    }
    if (k->copies)
        return cuda_copy(&gpu->base, io->out.data, io->out.stride, smp_row(&io->in, io->out.y0), io->in.stride,
                         row_bytes(&io->out), io->out.rows, err);
    if (io->in.format != (int32_t)k->in || io->out.format != (int32_t)k->out)
        return smp_fail(err, SMP_E_DEVICE, "the kernel's samples are stored in another format");
    const smp_foreign_rows r = smp_foreign_rows_of(k, io);
    const int64_t in = row_bytes(&io->in), out = row_bytes(&io->out);
    uint32_t grid[3];
    CUmodule module = NULL;
    unsigned char bytes[SMP_FOREIGN_PARAM_BYTES];
    if (!smp_foreign_grid(k, io, grid))
        return smp_fail(err, SMP_E_DEVICE, "kernel %s would have more blocks than a GPU takes", k->entry->name);
    SMP_TRY(room(gpu, (size_t)(in * r.in_count), &gpu->foreign_in, &gpu->foreign_in_size, err));
    SMP_TRY(room(gpu, (size_t)(out * r.out_count), &gpu->foreign_out, &gpu->foreign_out_size, err));
    SMP_TRY(
        cuda_copy(&gpu->base, gpu->foreign_in, in, smp_row(&io->in, r.in_first), io->in.stride, in, r.in_count, err));
    SMP_TRY(load(gpu, k->file, &module, err));
    smp_foreign_fill(k, io, (uint64_t)(uintptr_t)gpu->foreign_in, (uint64_t)(uintptr_t)gpu->foreign_out, bytes);
    CUDA_TRY(gpu, cuMemsetD8Async, (CUdeviceptr)(uintptr_t)gpu->foreign_out, 0, (size_t)(out * r.out_count),
             gpu->stream);
    code = launch(gpu, k, module, grid, bytes, err);
    if (k->file->has_variables) {
        if (!code)
            CUDA_TRY(gpu, cuStreamSynchronize, gpu->stream);
        (void)smp_cuModuleUnload(gpu->driver, module);
        module = NULL;
    }
    if (code)
        return code;
    return cuda_copy(&gpu->base, io->out.data, io->out.stride,
                     (char *)gpu->foreign_out + (io->out.y0 - r.out_first) * out, out, out, io->out.rows, err);
fail:
    if (k->file->has_variables && module)
        (void)smp_cuModuleUnload(gpu->driver, module);
    return code;
}
