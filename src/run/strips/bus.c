/* Rows between endpoints and a device: see bus.h. */
#include "run/strips/bus.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"

smp_code smp_bus_move(smp_bus *bus, smp_endpoint *endpoint, const smp_rows_sent *rows, bool wait, smp_error *err)
{
    const smp_device_ops *ops = bus->device->ops;
    smp_mark **mark = endpoint->stream && !wait ? smp_stream_mark(endpoint->stream) : NULL;
    if (mark)
        return ops->send(bus->device, rows, &bus->sent[rows->up], mark, err);
    bus->detours |= endpoint->stream && !wait;
    double start = smp_now();
    smp_code code = (endpoint->on_device ? ops->copy
                     : rows->up          ? ops->copy_in
                                : ops->copy_out)(bus->device, rows->to, rows->to_stride, rows->from, rows->from_stride,
                                                 rows->row_bytes, rows->rows, err);
    bus->seconds[rows->up] += smp_now() - start;
    return code;
}

smp_code smp_bus_skip(smp_endpoint *endpoint, int64_t count, smp_error *err)
{
    const void *rows;
    endpoint->at += count;
    for (int64_t n; endpoint->stream && count > 0; count -= n) {
        smp_code code = smp_stream_take(endpoint->stream, count, &rows, &n, err);
        if (code)
            return code;
        smp_stream_took(endpoint->stream, n);
    }
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- docks */

smp_code smp_dock_open(smp_device *device, int berths, int64_t rows, int64_t stride, int64_t row_bytes, smp_dock **dock,
                       smp_error *err)
{
    size_t bytes;
    *dock = NULL;
    if (!smp_mul_size((size_t)rows, (size_t)stride, &bytes))
        return SMP_OK;
    smp_dock *made = smp_alloc(sizeof *made);
    smp_code code = made ? SMP_OK : smp_fail_memory(err, "rows on their way", sizeof *made);
    for (int i = 0; !code && i < berths; i++)
        code = device->ops->alloc(device, bytes, &made->berths[i].memory, err);
    if (code) {
        smp_dock_close(device, made);
        return code == SMP_E_DEVICE_MEMORY ? SMP_OK : code;
    }
    made->stride = stride;
    made->row_bytes = row_bytes;
    *dock = made;
    return SMP_OK;
}

void smp_dock_close(smp_device *device, smp_dock *dock)
{
    for (int i = 0; dock && i < 2; i++) {
        smp_berth *berth = &dock->berths[i];
        if (berth->memory)
            device->ops->free(device, berth->memory);
        if (berth->filled)
            device->ops->unmark(device, berth->filled);
        if (berth->emptied)
            device->ops->unmark(device, berth->emptied);
    }
    smp_free(dock);
}

smp_code smp_dock_begin(smp_device *device, smp_dock *dock, smp_error *err)
{
    smp_code code = SMP_OK;
    for (int i = 0; !code && i < 2; i++) {
        smp_berth *berth = &dock->berths[i];
        berth->first = berth->at = berth->end = 0;
        if (berth->memory)
            code = device->ops->mark(device, SMP_WORK, &berth->emptied, err);
    }
    return code;
}

/* Between two places of the device that have the same stride, gaps included. */
static smp_code copy(smp_device *device, const smp_dock *dock, void *to, const void *from, int64_t rows, smp_error *err)
{
    return device->ops->copy(device, to, dock->stride, from, dock->stride, dock->stride, rows, err);
}

smp_code smp_dock_land(smp_device *device, smp_dock *dock, void *to, int64_t rows, smp_error *err)
{
    smp_berth *berth = &dock->berths[0];
    smp_code code = device->ops->mark(device, SMP_UP, &berth->filled, err);
    if (!code)
        code = device->ops->follow(device, berth->filled, err);
    if (!code)
        code = copy(device, dock, to, berth->memory, rows, err);
    return code ? code : device->ops->mark(device, SMP_WORK, &berth->emptied, err);
}

smp_code smp_dock_take(smp_device *device, smp_dock *dock, const void *from, int64_t first, int64_t rows,
                       smp_error *err)
{
    smp_berth *berth = &dock->berths[dock->next];
    dock->next = !dock->next;
    smp_code code = device->ops->follow(device, berth->emptied, err);
    if (!code)
        code = copy(device, dock, berth->memory, from, rows, err);
    if (!code)
        code = device->ops->mark(device, SMP_WORK, &berth->filled, err);
    if (code)
        return code;
    berth->first = berth->at = first;
    berth->end = first + rows;
    return SMP_OK;
}

static smp_code give_berth(smp_bus *bus, smp_dock *dock, smp_berth *berth, smp_endpoint *endpoint, bool wait,
                           smp_error *err)
{
    while (berth->at < berth->end && (wait || smp_stream_has_room(endpoint->stream))) {
        void *rows;
        int64_t count;
        smp_code code = smp_stream_room(endpoint->stream, berth->end - berth->at, 1, &rows, &count, err);
        if (!code)
            code =
                smp_bus_move(bus, endpoint,
                             &(smp_rows_sent){.to = rows,
                                              .to_stride = smp_stream_stride(endpoint->stream),
                                              .from = (char *)berth->memory + (berth->at - berth->first) * dock->stride,
                                              .from_stride = dock->stride,
                                              .row_bytes = dock->row_bytes,
                                              .rows = count,
                                              .after = berth->filled},
                             false, err);
        if (code)
            return code;
        smp_stream_put(endpoint->stream, count);
        endpoint->at += count;
        berth->at += count;
        if (berth->at == berth->end && (code = bus->device->ops->mark(bus->device, SMP_DOWN, &berth->emptied, err)))
            return code;
    }
    return SMP_OK;
}

smp_code smp_dock_give(smp_bus *bus, smp_dock *dock, smp_endpoint *endpoint, int wait, smp_error *err)
{
    smp_berth *older = &dock->berths[dock->next], *newer = &dock->berths[!dock->next];
    smp_code code = give_berth(bus, dock, older, endpoint, wait > 0, err);
    return code || older->at < older->end ? code : give_berth(bus, dock, newer, endpoint, wait > 1, err);
}
