/* The GPU's memory: buffers that are kept for reuse, and copies through pinned host memory. All work is on one stream,
 * so a freed buffer may be reused at once: its next use is queued later. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "device/cuda/cuda_internal.h"

enum { ROUND = 512 }; /* bytes: rounded sizes let nearly equal buffers be reused */

/* ------------------------------------------------------------------------------------------------ buffers */

/* Returns unused memory to the driver; false when there was none. */
static bool give_back(cuda_device *gpu)
{
    bool some = false;
    for (size_t i = gpu->block_count; i-- > 0;)
        if (!gpu->blocks[i].borrowed) {
            (void)smp_cuMemFree(gpu->driver, gpu->blocks[i].memory);
            gpu->blocks[i] = gpu->blocks[--gpu->block_count];
            some = true;
        }
    return some;
}

smp_code cuda_alloc(smp_device *device, size_t size, void **out, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    *out = NULL;
    SMP_TRY(cuda_enter(gpu, err));
    smp_code code = SMP_OK;
    size_t want = size ? size : 1;
    if (!gpu->driver->emulated && want <= SIZE_MAX - ROUND) /* the emulator's guards begin where the data ends */
        want = (want + ROUND - 1) / ROUND * ROUND;
    for (size_t i = 0; i < gpu->block_count; i++) {
        cuda_block *block = &gpu->blocks[i];
        size_t spare = gpu->driver->emulated ? 0 : want / 4;
        if (!block->borrowed && block->size >= want && block->size - want <= spare) {
            block->borrowed = true;
            *out = (void *)(uintptr_t)block->memory;
            return SMP_OK;
        }
    }
    SMP_NEED(smp_grow(&gpu->blocks, &gpu->block_capacity, gpu->block_count + 1, sizeof *gpu->blocks), "device buffers",
             sizeof *gpu->blocks, err);
    CUdeviceptr memory = 0;
    CUresult result = smp_cuMemAlloc(gpu->driver, &memory, want);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && give_back(gpu))
        result = smp_cuMemAlloc(gpu->driver, &memory, want);
    if (result != CUDA_SUCCESS) {
        code = smp_driver_error(gpu->driver, "cuMemAlloc", result, err);
        if (code == SMP_E_DEVICE_MEMORY) {
            smp_fail(err, code, "out of memory on %s (%zu bytes more were needed)", device->info.name, size);
            smp_hint(err, "use a smaller picture or smaller strips, or --device cpu");
        }
        return code;
    }
    cuda_block *block = &gpu->blocks[gpu->block_count++];
    *block = (cuda_block){.memory = memory, .size = want};
    /* Kernels read the padding of rows, which nobody need write: compute-sanitizer's initcheck would report it. The
     * emulator fills new memory with a pattern of its own. */
    if (!gpu->driver->emulated)
        CUDA_TRY(gpu, cuMemsetD8Async, memory, 0, want, gpu->stream);
    block->borrowed = true;
    *out = (void *)(uintptr_t)memory;
fail:
    return code;
}

void cuda_free(smp_device *device, void *memory)
{
    cuda_device *gpu = (cuda_device *)device;
    for (size_t i = 0; i < gpu->block_count; i++)
        if ((void *)(uintptr_t)gpu->blocks[i].memory == memory)
            gpu->blocks[i].borrowed = false;
}

smp_code cuda_zero(smp_device *device, void *memory, size_t size, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_code code = cuda_enter(gpu, err);
    if (code || !size)
        return code;
    CUDA_TRY(gpu, cuMemsetD8Async, (CUdeviceptr)(uintptr_t)memory, 0, size, gpu->stream);
fail:
    return code;
}

smp_code cuda_copy(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                   int64_t row_bytes, int64_t rows, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = (CUdeviceptr)(uintptr_t)from,
                          .srcPitch = (size_t)from_stride,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = (CUdeviceptr)(uintptr_t)to,
                          .dstPitch = (size_t)to_stride,
                          .WidthInBytes = (size_t)row_bytes,
                          .Height = (size_t)rows};
    smp_code code = cuda_enter(gpu, err);
    if (code || row_bytes <= 0 || rows <= 0)
        return code;
    if (to_stride == row_bytes && from_stride == row_bytes)
        CUDA_TRY(gpu, cuMemcpyDtoDAsync, copy.dstDevice, copy.srcDevice, (size_t)(row_bytes * rows), gpu->stream);
    else
        CUDA_TRY(gpu, cuMemcpy2DAsync, &copy, gpu->stream);
fail:
    return code;
}

/* ------------------------------------------------------------------------------------------------ copies */

/* A part of a copy that fits a pinned buffer: whole rows, or a part of one wide row. */
typedef struct piece {
    int64_t y, rows, x, bytes; /* bytes: of each row, from x on */
} piece;

static bool next_piece(piece *p, int64_t row_bytes, int64_t rows)
{
    if (row_bytes <= CUDA_STAGE_BYTES) {
        p->y += p->rows;
        p->x = 0;
        p->bytes = row_bytes;
        p->rows = smp_min_i64(rows - p->y, CUDA_STAGE_BYTES / row_bytes);
        return p->y < rows;
    }
    p->x += p->bytes;
    if (p->x >= row_bytes || !p->rows) {
        p->y += p->rows;
        p->x = 0;
    }
    p->rows = 1;
    p->bytes = smp_min_i64(row_bytes - p->x, CUDA_STAGE_BYTES);
    return p->y < rows;
}

/* If no more can be pinned, uses ordinary memory, which is slower. */
static smp_code take_stage(cuda_device *gpu, cuda_stage *stage, smp_error *err)
{
    smp_code code = SMP_OK;
    const CUresult result = smp_cuMemHostAlloc(gpu->driver, &stage->memory, CUDA_STAGE_BYTES, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        stage->memory = smp_alloc_raw(CUDA_STAGE_BYTES);
        stage->ordinary = stage->memory != NULL;
        return stage->memory ? SMP_OK : smp_fail_memory(err, "copies to the device", CUDA_STAGE_BYTES);
    }
    if (result != CUDA_SUCCESS)
        code = smp_driver_error(gpu->driver, "cuMemHostAlloc", result, err);
    return code;
}

/* A buffer that no copy uses. */
static smp_code ready(cuda_device *gpu, cuda_stage *stage, smp_error *err)
{
    SMP_TRY(stage->memory ? SMP_OK : take_stage(gpu, stage, err));
    smp_code code = SMP_OK;
    if (!stage->done)
        CUDA_TRY(gpu, cuEventCreate, &stage->done, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    if (stage->busy) {
        code = cuda_await(gpu, stage->done, true, err);
        stage->busy = code != SMP_OK;
    }
fail:
    return code;
}

static void copy_rows(char *to, int64_t to_stride, const char *from, int64_t from_stride, const piece *p)
{
    if (to_stride == p->bytes && from_stride == p->bytes) {
        memcpy(to, from, (size_t)(p->bytes * p->rows));
        return;
    }
    for (int64_t y = 0; y < p->rows; y++)
        memcpy(to + y * to_stride, from + y * from_stride, (size_t)p->bytes);
}

/* Queues the copy of a piece between a pinned buffer (rows without gaps) and device memory. */
static smp_code travel(cuda_device *gpu, cuda_stage *stage, char *device, int64_t stride, const piece *p, bool up,
                       smp_error *err)
{
    smp_code code = SMP_OK;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)(device + p->y * stride + p->x);
    if (p->rows == 1 || stride == p->bytes) {
        size_t size = (size_t)(p->bytes * p->rows);
        if (up)
            CUDA_TRY(gpu, cuMemcpyHtoDAsync, at, stage->memory, size, gpu->stream);
        else
            CUDA_TRY(gpu, cuMemcpyDtoHAsync, stage->memory, at, size, gpu->stream);
    } else {
        CUDA_MEMCPY2D copy = {.WidthInBytes = (size_t)p->bytes, .Height = (size_t)p->rows};
        copy.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        copy.dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        copy.srcHost = up ? stage->memory : NULL;
        copy.dstHost = up ? NULL : stage->memory;
        copy.srcDevice = up ? 0 : at;
        copy.dstDevice = up ? at : 0;
        copy.srcPitch = (size_t)(up ? p->bytes : stride);
        copy.dstPitch = (size_t)(up ? stride : p->bytes);
        CUDA_TRY(gpu, cuMemcpy2DAsync, &copy, gpu->stream);
    }
    stage->busy = true; /* the copy may be under way even if recording the event fails */
    CUDA_TRY(gpu, cuEventRecord, stage->done, gpu->stream);
fail:
    return code;
}

smp_code cuda_copy_in(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                      int64_t row_bytes, int64_t rows, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_code code = cuda_enter(gpu, err);
    piece p = {0, 0, 0, 0};
    while (!code && row_bytes > 0 && next_piece(&p, row_bytes, rows)) {
        cuda_stage *stage = &gpu->in[gpu->in_next++ % CUDA_STAGES];
        code = ready(gpu, stage, err);
        if (code)
            break;
        copy_rows(stage->memory, p.bytes, (const char *)from + p.y * from_stride + p.x, from_stride, &p);
        code = travel(gpu, stage, to, to_stride, &p, true, err);
    }
    return code;
}

smp_code cuda_copy_out(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                       int64_t row_bytes, int64_t rows, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    SMP_TRY(cuda_enter(gpu, err));
    piece queued = {0, 0, 0, 0}, pending[CUDA_STAGES];
    unsigned sent = 0, taken = 0;
    bool more = row_bytes > 0;
    /* One piece is on the bus while the host copies the one before. */
    while (more || taken < sent) {
        if (more && sent - taken < CUDA_STAGES) {
            more = next_piece(&queued, row_bytes, rows);
            if (!more)
                continue;
            cuda_stage *stage = &gpu->out[sent % CUDA_STAGES];
            SMP_TRY(ready(gpu, stage, err));
            SMP_TRY(travel(gpu, stage, (char *)(uintptr_t)from, from_stride, &queued, false, err));
            pending[sent++ % CUDA_STAGES] = queued;
            continue;
        }
        cuda_stage *stage = &gpu->out[taken % CUDA_STAGES];
        const piece *p = &pending[taken++ % CUDA_STAGES];
        SMP_TRY(ready(gpu, stage, err));
        copy_rows((char *)to + p->y * to_stride + p->x, to_stride, stage->memory, p->bytes, p);
    }
    return SMP_OK;
}

smp_code smp_cuda_shared_open(smp_device *device, const CUipcMemHandle *handle, void **out, smp_error *err)
{
    enum { LAZY_PEERS = 1 }; /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag there is */
    cuda_device *gpu = (cuda_device *)device;
    CUdeviceptr memory = 0;
    *out = NULL;
    smp_code code = cuda_enter(gpu, err);
    if (!code)
        CUDA_TRY(gpu, cuIpcOpenMemHandle, &memory, *handle, LAZY_PEERS);
    *out = (void *)(uintptr_t)memory;
fail:
    return code;
}

void smp_cuda_shared_close(smp_device *device, void *memory)
{
    cuda_device *gpu = (cuda_device *)device;
    if (!cuda_enter(gpu, NULL))
        (void)smp_cuIpcCloseMemHandle(gpu->driver, (CUdeviceptr)(uintptr_t)memory);
}

void cuda_memory_close(cuda_device *gpu)
{
    for (int i = 0; i < 2 * CUDA_STAGES; i++) {
        cuda_stage *stage = i < CUDA_STAGES ? &gpu->in[i] : &gpu->out[i - CUDA_STAGES];
        if (stage->done)
            (void)smp_cuEventDestroy(gpu->driver, stage->done);
        if (stage->ordinary)
            smp_free(stage->memory);
        else if (stage->memory)
            (void)smp_cuMemFreeHost(gpu->driver, stage->memory);
    }
    for (size_t i = 0; i < gpu->block_count; i++)
        (void)smp_cuMemFree(gpu->driver, gpu->blocks[i].memory);
    smp_free(gpu->blocks);
}
