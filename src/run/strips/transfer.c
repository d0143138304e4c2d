/* Rows between endpoints and a device: see transfer.h. */
#include "run/strips/runner_internal.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"

smp_code smp_transfer_move(smp_transfer *transfer, smp_endpoint *endpoint, const smp_rows_sent *rows, bool wait,
                           smp_error *err)
{
    const smp_device_ops *ops = transfer->device->ops;
    smp_mark **mark = endpoint->stream && !wait ? smp_stream_mark(endpoint->stream) : NULL;
    if (mark)
        return ops->send(transfer->device, rows, &transfer->sent[rows->up], mark, err);
    transfer->detours |= endpoint->stream && !wait;
    double start = smp_now();
    smp_code code = (endpoint->on_device ? ops->copy
                     : rows->up          ? ops->copy_in
                                         : ops->copy_out)(transfer->device, rows->to, rows->to_stride, rows->from,
                                                 rows->from_stride, rows->row_bytes, rows->rows, err);
    transfer->seconds[rows->up] += smp_now() - start;
    return code;
}

smp_code smp_transfer_skip(smp_endpoint *endpoint, int64_t count, smp_error *err)
{
    const void *rows;
    endpoint->at += count;
    for (int64_t n; endpoint->stream && count > 0; count -= n) {
        SMP_TRY(smp_stream_take(endpoint->stream, count, &rows, &n, err));
        smp_stream_took(endpoint->stream, n);
    }
    return SMP_OK;
}

smp_code smp_staging_open(smp_device *device, int buffers, int64_t rows, int64_t stride, int64_t row_bytes,
                          smp_staging **staging, smp_error *err)
{
    size_t bytes;
    *staging = NULL;
    if (!smp_mul_size((size_t)rows, (size_t)stride, &bytes))
        return SMP_OK;
    smp_staging *made = smp_alloc(sizeof *made);
    smp_code code = made ? SMP_OK : smp_fail_memory(err, "rows on their way", sizeof *made);
    for (int i = 0; !code && i < buffers; i++)
        code = device->ops->alloc(device, bytes, &made->buffers[i].memory, err);
    if (code) {
        smp_staging_close(device, made);
        return code == SMP_E_DEVICE_MEMORY ? SMP_OK : code;
    }
    made->stride = stride;
    made->row_bytes = row_bytes;
    *staging = made;
    return SMP_OK;
}

void smp_staging_close(smp_device *device, smp_staging *staging)
{
    for (int i = 0; staging && i < 2; i++) {
        smp_staging_buffer *buffer = &staging->buffers[i];
        if (buffer->memory)
            device->ops->free(device, buffer->memory);
        if (buffer->filled)
            device->ops->unmark(device, buffer->filled);
        if (buffer->emptied)
            device->ops->unmark(device, buffer->emptied);
    }
    smp_free(staging);
}

smp_code smp_staging_begin(smp_device *device, smp_staging *staging, smp_error *err)
{
    for (int i = 0; i < 2; i++) {
        smp_staging_buffer *buffer = &staging->buffers[i];
        buffer->first = buffer->at = buffer->end = 0;
        if (buffer->memory)
            SMP_TRY(device->ops->mark(device, SMP_WORK, &buffer->emptied, err));
    }
    return SMP_OK;
}

/* Between two places of the device that have the same stride, gaps included. */
static smp_code copy(smp_device *device, const smp_staging *staging, void *to, const void *from, int64_t rows,
                     smp_error *err)
{
    return device->ops->copy(device, to, staging->stride, from, staging->stride, staging->stride, rows, err);
}

smp_code smp_staging_land(smp_device *device, smp_staging *staging, void *to, int64_t rows, smp_error *err)
{
    smp_staging_buffer *buffer = &staging->buffers[0];
    SMP_TRY(device->ops->mark(device, SMP_UP, &buffer->filled, err));
    SMP_TRY(device->ops->follow(device, buffer->filled, err));
    SMP_TRY(copy(device, staging, to, buffer->memory, rows, err));
    return device->ops->mark(device, SMP_WORK, &buffer->emptied, err);
}

smp_code smp_staging_take(smp_device *device, smp_staging *staging, const void *from, int64_t first, int64_t rows,
                          smp_error *err)
{
    smp_staging_buffer *buffer = &staging->buffers[staging->next];
    staging->next = !staging->next;
    SMP_TRY(device->ops->follow(device, buffer->emptied, err));
    SMP_TRY(copy(device, staging, buffer->memory, from, rows, err));
    SMP_TRY(device->ops->mark(device, SMP_WORK, &buffer->filled, err));
    buffer->first = buffer->at = first;
    buffer->end = first + rows;
    return SMP_OK;
}

static smp_code give_buffer(smp_transfer *transfer, smp_staging *staging, smp_staging_buffer *buffer,
                            smp_endpoint *endpoint, bool wait, smp_error *err)
{
    while (buffer->at < buffer->end && (wait || smp_stream_has_room(endpoint->stream))) {
        void *rows;
        int64_t count;
        SMP_TRY(smp_stream_room(endpoint->stream, buffer->end - buffer->at, 1, &rows, &count, err));
        SMP_TRY(smp_transfer_move(
            transfer, endpoint,
            &(smp_rows_sent){.to = rows,
                             .to_stride = smp_stream_stride(endpoint->stream),
                             .from = (char *)buffer->memory + (buffer->at - buffer->first) * staging->stride,
                             .from_stride = staging->stride,
                             .row_bytes = staging->row_bytes,
                             .rows = count,
                             .after = buffer->filled},
            false, err));
        smp_code code = SMP_OK;
        smp_stream_put(endpoint->stream, count);
        endpoint->at += count;
        buffer->at += count;
        if (buffer->at == buffer->end &&
            (code = transfer->device->ops->mark(transfer->device, SMP_DOWN, &buffer->emptied, err)))
            return code;
    }
    return SMP_OK;
}

smp_code smp_staging_give(smp_transfer *transfer, smp_staging *staging, smp_endpoint *endpoint, int wait,
                          smp_error *err)
{
    smp_staging_buffer *older = &staging->buffers[staging->next], *newer = &staging->buffers[!staging->next];
    SMP_TRY(give_buffer(transfer, staging, older, endpoint, wait > 0, err));
    return older->at < older->end ? SMP_OK : give_buffer(transfer, staging, newer, endpoint, wait > 1, err);
}
