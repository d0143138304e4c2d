/* Copies without a detour, between device memory and pinned memory of the host, where decoders leave rows and encoders
 * find them; and marks, which say when they are done. What is sent beside the work has a stream for each direction. */
#include "base/alloc.h"
#include "device/cuda/cuda_internal.h"

/* ------------------------------------------------------------------------------------------------ marks */

/* Adds the time of the copy that a mark is behind, which is done. */
static smp_code resolve(cuda_device *gpu, smp_mark *mark, smp_error *err)
{
    smp_code code = SMP_OK;
    smp_cost *cost = mark->cost;
    float milliseconds = 0;
    mark->cost = NULL;
    CUDA_TRY(gpu, cuEventElapsedTime, &milliseconds, mark->begin, mark->event);
    cost->seconds += (double)milliseconds * 1e-3;
fail:
    return code;
}

smp_code cuda_marks_resolve(cuda_device *gpu, bool failed, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < gpu->mark_count; i++) {
        smp_mark *mark = gpu->marks[i];
        if (failed || code) /* after a failure times mean nothing, and their owners may be gone */
            mark->cost = NULL;
        else if (mark->cost)
            code = resolve(gpu, mark, err);
    }
    return code;
}

/* A mark whose copy's time is not known yet is not recorded anew: that would lose it. */
static smp_code take_mark(cuda_device *gpu, smp_mark **out, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < gpu->mark_count; i++)
        if (!gpu->marks[i]->borrowed && !gpu->marks[i]->cost) {
            *out = gpu->marks[i];
            (*out)->borrowed = true;
            return SMP_OK;
        }
    smp_mark *mark = smp_alloc(sizeof *mark);
    if (!mark || !smp_grow(&gpu->marks, &gpu->mark_capacity, gpu->mark_count + 1, sizeof(smp_mark *))) {
        code = smp_fail_memory(err, "a mark", sizeof *mark);
        goto fail;
    }
    CUDA_TRY(gpu, cuEventCreate, &mark->event, CU_EVENT_BLOCKING_SYNC);
    mark->borrowed = true;
    gpu->marks[gpu->mark_count++] = *out = mark;
    return SMP_OK;
fail:
    smp_free(mark);
    return code;
}

/* *mark can be recorded: it is a new one where it was null, or has a time that is not known yet. */
static smp_code fresh_mark(cuda_device *gpu, smp_mark **mark, smp_error *err)
{
    smp_mark *old = *mark;
    if (old && old->cost && smp_cuEventQuery(gpu->driver, old->event) == CUDA_SUCCESS) {
        const smp_code code = resolve(gpu, old, err);
        if (code)
            return code;
    }
    if (old && !old->cost)
        return SMP_OK;
    const smp_code code = take_mark(gpu, mark, err);
    if (!code && old)
        old->borrowed = false;
    return code;
}

static smp_code record(cuda_device *gpu, smp_mark *mark, CUstream stream, smp_error *err)
{
    smp_code code = SMP_OK;
    CUDA_TRY(gpu, cuEventRecord, mark->event, stream);
    mark->number = ++gpu->records;
fail:
    return code;
}

/* The stream of what is sent one way beside the work. */
static smp_code open_way(cuda_device *gpu, bool up, CUstream *stream, smp_error *err)
{
    smp_code code = SMP_OK;
    cuda_way *way = &gpu->ways[up];
    if (!way->stream)
        CUDA_TRY(gpu, cuStreamCreate, &way->stream, CU_STREAM_NON_BLOCKING);
    *stream = way->stream;
fail:
    return code;
}

smp_code cuda_mark(smp_device *device, smp_order order, smp_mark **mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUstream stream = gpu->stream;
    smp_code code = cuda_enter(gpu, err);
    if (!code && order != SMP_WORK)
        code = open_way(gpu, order == SMP_UP, &stream, err);
    if (!code)
        code = fresh_mark(gpu, mark, err);
    return code ? code : record(gpu, *mark, stream, err);
}

smp_code cuda_follow(smp_device *device, const smp_mark *mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_code code = cuda_enter(gpu, err);
    if (!code)
        CUDA_TRY(gpu, cuStreamWaitEvent, gpu->stream, mark->event, 0);
fail:
    return code;
}

smp_code cuda_join_ways(cuda_device *gpu, smp_error *err)
{
    smp_code code = SMP_OK;
    for (int i = 0; i < 2; i++) {
        cuda_way *way = &gpu->ways[i];
        if (!way->busy)
            continue;
        if (!way->end)
            CUDA_TRY(gpu, cuEventCreate, &way->end, CU_EVENT_DISABLE_TIMING);
        CUDA_TRY(gpu, cuEventRecord, way->end, way->stream);
        CUDA_TRY(gpu, cuStreamWaitEvent, gpu->stream, way->end, 0);
        way->busy = false;
    }
fail:
    return code;
}

smp_code cuda_reach(smp_device *device, const smp_mark *mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    if (!mark)
        return SMP_OK;
    const smp_code code = cuda_enter(gpu, err);
    return code ? code : cuda_await(gpu, mark->event, err);
}

void cuda_unmark(smp_device *device, smp_mark *mark)
{
    (void)device;
    if (!mark)
        return;
    mark->borrowed = false;
    mark->cost = NULL; /* after a failure; else sync has added it */
}

/* ------------------------------------------------------------------------------------------------ copies */

/* With equal strides the padding of rows goes along: one long copy is faster than many short ones. */
static smp_code queue(cuda_device *gpu, const smp_rows_sent *rows, CUstream stream, smp_error *err)
{
    smp_code code = SMP_OK;
    const CUdeviceptr there = (CUdeviceptr)(uintptr_t)(rows->up ? rows->to : rows->from);
    if (rows->to_stride == rows->from_stride || rows->rows == 1) {
        const size_t size = (size_t)((rows->rows - 1) * rows->to_stride + rows->row_bytes);
        if (rows->up)
            CUDA_TRY(gpu, cuMemcpyHtoDAsync, there, rows->from, size, stream);
        else
            CUDA_TRY(gpu, cuMemcpyDtoHAsync, rows->to, there, size, stream);
        return SMP_OK;
    }
    CUDA_MEMCPY2D copy = {.WidthInBytes = (size_t)rows->row_bytes,
                          .Height = (size_t)rows->rows,
                          .srcPitch = (size_t)rows->from_stride,
                          .dstPitch = (size_t)rows->to_stride};
    copy.srcMemoryType = rows->up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = rows->up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcHost = rows->up ? rows->from : NULL;
    copy.dstHost = rows->up ? NULL : rows->to;
    copy.srcDevice = rows->up ? 0 : there;
    copy.dstDevice = rows->up ? there : 0;
    CUDA_TRY(gpu, cuMemcpy2DAsync, &copy, stream);
fail:
    return code;
}

/* The stream of a copy beside the work, which waits for the mark that the copy comes after. */
static smp_code go_beside(cuda_device *gpu, const smp_rows_sent *rows, CUstream *stream, smp_error *err)
{
    cuda_way *way = &gpu->ways[rows->up];
    smp_code code = open_way(gpu, rows->up, stream, err);
    if (code || (way->behind == rows->after && way->behind_number == rows->after->number))
        return code;
    CUDA_TRY(gpu, cuStreamWaitEvent, *stream, rows->after->event, 0);
    way->behind = rows->after;
    way->behind_number = rows->after->number;
fail:
    return code;
}

/* A failed call may have queued the copy, or the copy may have no mark behind it: it is over before anybody is told. */
smp_code cuda_send(smp_device *device, const smp_rows_sent *rows, smp_cost *cost, smp_mark **mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUstream stream = gpu->stream;
    smp_code code = cuda_enter(gpu, err);
    if (code || rows->row_bytes <= 0 || rows->rows <= 0)
        return code;
    code = fresh_mark(gpu, mark, err);
    if (!code && rows->after)
        code = go_beside(gpu, rows, &stream, err);
    if (code)
        return code;
    if (cost && !(*mark)->begin)
        CUDA_TRY(gpu, cuEventCreate, &(*mark)->begin, CU_EVENT_DEFAULT);
    if (cost)
        CUDA_TRY(gpu, cuEventRecord, (*mark)->begin, stream);
    gpu->ways[rows->up].busy |= rows->after != NULL;
    code = queue(gpu, rows, stream, err);
    if (!code)
        code = record(gpu, *mark, stream, err);
    if (!code)
        (*mark)->cost = cost;
fail:
    if (code)
        (void)smp_cuStreamSynchronize(gpu->driver, stream);
    return code;
}

void cuda_send_close(cuda_device *gpu)
{
    for (size_t i = 0; i < gpu->mark_count; i++) {
        (void)smp_cuEventDestroy(gpu->driver, gpu->marks[i]->event);
        if (gpu->marks[i]->begin)
            (void)smp_cuEventDestroy(gpu->driver, gpu->marks[i]->begin);
        smp_free(gpu->marks[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (gpu->ways[i].end)
            (void)smp_cuEventDestroy(gpu->driver, gpu->ways[i].end);
        if (gpu->ways[i].stream)
            (void)smp_cuStreamDestroy(gpu->driver, gpu->ways[i].stream);
    }
    smp_free(gpu->marks);
}
