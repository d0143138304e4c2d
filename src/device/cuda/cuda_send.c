/* Copies without a detour, between device memory and pinned memory of the host, where decoders leave rows and encoders
 * find them; and marks, which say when they are done. What is sent beside the work has a stream for each direction. */
#include "base/alloc.h"
#include "device/cuda/cuda_internal.h"

/* ------------------------------------------------------------------------------------------------ marks */

static smp_code take_mark(cuda_device *gpu, smp_mark **out, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < gpu->mark_count; i++)
        if (!gpu->marks[i]->borrowed) {
            *out = gpu->marks[i];
            (*out)->borrowed = true;
            return SMP_OK;
        }
    smp_mark *mark = smp_alloc(sizeof *mark);
    if (!mark || !smp_grow(&gpu->marks, &gpu->mark_capacity, gpu->mark_count + 1, sizeof(smp_mark *))) {
        code = smp_fail_memory(err, "a mark", sizeof *mark);
        goto fail;
    }
    CUDA_TRY(gpu, cuEventCreate, &mark->event, CU_EVENT_DISABLE_TIMING);
    mark->borrowed = true;
    gpu->marks[gpu->mark_count++] = *out = mark;
    return SMP_OK;
fail:
    smp_free(mark);
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

/* ------------------------------------------------------------------------------------------------ times */

/* Two events with a time around each copy cost a quarter of the bus: 1 MB goes at 37 GB/s instead of 48 (H200). So
 * copies that follow on each other are timed together. Such a span ends behind a copy after which the bus may run dry
 * before the next one comes, and where somebody marks the end of a strip. If the bus runs dry all the same, what had
 * come since the span began counts at the speed of what was timed. */
static bool under_way(const cuda_device *gpu, const cuda_place *place)
{
    return place->mark && place->mark->number == place->number &&
           smp_cuEventQuery(gpu->driver, place->mark->event) == CUDA_ERROR_NOT_READY;
}

static smp_code end_span(cuda_device *gpu, cuda_way *way, smp_error *err)
{
    cuda_timing *span = way->span;
    way->span = NULL;
    if (!span)
        return SMP_OK;
    span->open = false;
    return cuda_timing_end(gpu, way->stream, span, span->cost, err);
}

/* In front of a copy of so many bytes. several: more than one copy that way is under way. */
static smp_code begin_span(cuda_device *gpu, cuda_way *way, double bytes, smp_cost *cost, bool several, smp_error *err)
{
    cuda_timing *span = way->span;
    smp_code code = SMP_OK;
    if (span && !several && !under_way(gpu, &way->latest[0])) {
        span->unended = true;
        span->open = false;
        way->span = NULL;
    } else if (span && span->cost != cost)
        code = end_span(gpu, way, err);
    if (!code && !way->span && cost) {
        code = cuda_timing_begin(gpu, way->stream, cost, &span, err);
        if (code)
            return code;
        span->cost = cost;
        span->way = way;
        span->bytes = 0;
        span->open = true;
        way->span = span;
    }
    if (way->span)
        way->span->bytes += bytes;
    return code;
}

void cuda_spans_drop(cuda_device *gpu)
{
    for (int i = 0; i < 2; i++) {
        cuda_way *way = &gpu->ways[i];
        if (way->span) {
            way->span->open = false;
            way->span->cost = NULL;
        }
        way->span = NULL;
        way->timed_bytes = way->timed_seconds = 0;
    }
}

/* ------------------------------------------------------------------------------------------------ the order */

smp_code cuda_mark(smp_device *device, smp_order order, smp_mark **mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUstream stream = gpu->stream;
    SMP_TRY(cuda_enter(gpu, err));
    if (order != SMP_WORK)
        SMP_TRY(open_way(gpu, order == SMP_UP, &stream, err));
    if (!*mark)
        SMP_TRY(take_mark(gpu, mark, err));
    SMP_TRY(record(gpu, *mark, stream, err));
    return order == SMP_WORK ? SMP_OK : end_span(gpu, &gpu->ways[order == SMP_UP], err);
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
        if ((code = end_span(gpu, way, err)))
            goto fail;
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
    SMP_TRY(cuda_enter(gpu, err));
    return cuda_await(gpu, mark->event, false, err);
}

void cuda_unmark(smp_device *, smp_mark *mark)
{
    if (mark)
        mark->borrowed = false;
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

/* Lets what is sent beside the work wait for the mark that the copy comes after. The wait is no time on the bus. */
static smp_code go_behind(cuda_device *gpu, cuda_way *way, const smp_mark *after, smp_error *err)
{
    smp_code code = SMP_OK;
    if (way->behind.mark == after && way->behind.number == after->number)
        return code;
    if (under_way(gpu, &way->latest[0]) && (code = end_span(gpu, way, err)))
        return code;
    CUDA_TRY(gpu, cuStreamWaitEvent, way->stream, after->event, 0);
    way->behind = (cuda_place){after, after->number};
fail:
    return code;
}

/* Beside the work. */
static smp_code send_beside(cuda_device *gpu, const smp_rows_sent *rows, smp_cost *cost, smp_mark *mark, smp_error *err)
{
    cuda_way *way = &gpu->ways[rows->up];
    const bool several = under_way(gpu, &way->latest[1]);
    SMP_TRY(go_behind(gpu, way, rows->after, err));
    SMP_TRY(begin_span(gpu, way, (double)rows->row_bytes * (double)rows->rows, cost, several, err));
    way->busy = true;
    SMP_TRY(queue(gpu, rows, way->stream, err));
    SMP_TRY(record(gpu, mark, way->stream, err));
    way->latest[1] = way->latest[0];
    way->latest[0] = (cuda_place){mark, mark->number};
    return several ? SMP_OK : end_span(gpu, way, err);
}

/* In the order of the work. */
static smp_code send_between(cuda_device *gpu, const smp_rows_sent *rows, smp_cost *cost, smp_mark *mark,
                             smp_error *err)
{
    cuda_timing *timing;
    SMP_TRY(cuda_timing_begin(gpu, gpu->stream, cost, &timing, err));
    SMP_TRY(queue(gpu, rows, gpu->stream, err));
    SMP_TRY(record(gpu, mark, gpu->stream, err));
    return cuda_timing_end(gpu, gpu->stream, timing, cost, err);
}

/* A failed call may have queued the copy, or the copy may have no mark behind it: it is over before anybody is told. */
smp_code cuda_send(smp_device *device, const smp_rows_sent *rows, smp_cost *cost, smp_mark **mark, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUstream stream = gpu->stream;
    smp_code code = cuda_enter(gpu, err);
    if (code || rows->row_bytes <= 0 || rows->rows <= 0)
        return code;
    if (rows->after)
        code = open_way(gpu, rows->up, &stream, err);
    if (!code && !*mark)
        code = take_mark(gpu, mark, err);
    if (code)
        return code;
    code = (rows->after ? send_beside : send_between)(gpu, rows, cost, *mark, err);
    if (code)
        (void)smp_cuStreamSynchronize(gpu->driver, stream);
    return code;
}

void cuda_send_close(cuda_device *gpu)
{
    for (size_t i = 0; i < gpu->mark_count; i++) {
        (void)smp_cuEventDestroy(gpu->driver, gpu->marks[i]->event);
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
