/* Measuring peaks: see peaks.h. The kernels are those of kernels/bench/bench.*, launched like any stage's. */
#include "run/peaks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "device/cuda/cuda.h"
#include "run/strips/stream.h"

enum {
    WARM_UP = 2, /* passes before the first that is measured */
    MIN_SAMPLES = 5,
    LAUNCHES = 1000, /* in a row */
    WAITED_LAUNCHES = 101
};
static const double sample_seconds = 1; /* limit for one rate, once there are MIN_SAMPLES */
static const int64_t row_bytes = BENCH_ROW_SAMPLES * 4;

static bool is_gpu(const smp_device *device)
{
    return !device->host_memory && strcmp(device->info.kind, "simt") != 0;
}

/* Buffers are far larger than any cache and small against the memory. The emulator's rates mean nothing, so it gets
 * small ones. */
static size_t chosen_size(const smp_device *device, size_t size)
{
    int64_t want = (int64_t)size, most = device->info.memory / 16;
    if (!want) {
        want = is_gpu(device) ? INT64_C(2) << 30 : INT64_C(256) << 20;
        want = most > 0 && want > most ? most : want;
        if (!is_gpu(device) && !device->host_memory)
            want = 1 << 20;
    }
    return (size_t)(smp_max_i64(1, want / row_bytes) * row_bytes);
}

/* ------------------------------------------------------------------------------------------------ streams */

static void stream_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    const smp_view *data = io->out.stride == row_bytes ? &io->out : &io->in;
    int64_t words = data->rows * data->stride / 16, blocks = (words + 256 * 8 - 1) / (256 * 8);
    grid->block[0] = 256;
    grid->grid[0] = (unsigned)smp_min_i64(smp_max_i64(blocks, 1), 1 << 20);
}

static void nothing_geometry(const smp_io *, const void *, smp_grid *grid)
{
    grid->block[0] = 32;
}

static const smp_variant streams[SMP_STREAM_OPS] = {
    [SMP_STREAM_COPY] = {.name = "copy",
                         .launches = {{SMP_IN, SMP_OUT, SMP_CPU(bench_copy), "bench_copy", stream_geometry}}},
    [SMP_STREAM_READ] = {.name = "read",
                         .launches = {{SMP_IN, SMP_OUT, SMP_CPU(bench_read), "bench_read", stream_geometry}}},
    [SMP_STREAM_WRITE] = {.name = "write",
                          .launches = {{SMP_IN, SMP_OUT, SMP_CPU(bench_write), "bench_write", stream_geometry}}},
};
static const smp_variant nothing = {
    .name = "nothing", .launches = {{SMP_IN, SMP_OUT, SMP_CPU(bench_nothing), "bench_nothing", nothing_geometry}}};

static smp_view rows_view(void *data, int64_t stride, int64_t rows)
{
    return (smp_view){.data = data,
                      .stride = stride,
                      .width = stride / 4,
                      .height = rows,
                      .rows = rows,
                      .channels = 1,
                      .format = SMP_F32,
                      .white = 1};
}

static smp_code zeroed(smp_device *device, size_t size, void **out, smp_error *err)
{
    SMP_TRY(device->ops->alloc(device, size, out, err));
    return device->ops->zero(device, *out, size, err); /* touches every page before it is timed */
}

enum { SUM_STRIDE = 8 }; /* bytes: the read kernel stores one sum a row */

size_t smp_peak_sums(size_t size)
{
    return (size / (size_t)row_bytes + 1) * SUM_STRIDE;
}

smp_code smp_peak_touch(smp_device *device, void *buffer, size_t size, void *sums, smp_error *err)
{
    const smp_variant *read = &streams[SMP_STREAM_READ];
    int64_t rows = (int64_t)size / row_bytes;
    smp_io io = {.in = rows_view(buffer, row_bytes, rows), .out = rows_view(sums, SUM_STRIDE, rows)};
    smp_node_plan plan = {.reduction.kind = SMP_RESULT_NONE};
    smp_cost cost = {0};
    SMP_TRY(device->ops->launch(device, read, &read->launches[0], &io, &plan, &cost, err));
    return device->ops->sync(device, err); /* cost is on this stack */
}

static bool enough(const smp_rate *rate, double began)
{
    return rate->count == SMP_RATE_SAMPLES || (rate->count >= MIN_SAMPLES && smp_now() - began > sample_seconds);
}

smp_code smp_peak_stream(smp_device *device, smp_stream_op op, size_t size, smp_rate *rate, smp_error *err)
{
    *rate = (smp_rate){0};
    size = chosen_size(device, size);
    int64_t rows = (int64_t)size / row_bytes;
    void *in = NULL, *out = NULL;
    smp_node_plan *plan = smp_alloc(sizeof *plan);
    SMP_NEED(plan, "a launch", sizeof *plan, err);
    bool reads = op == SMP_STREAM_READ;
    smp_code code = op == SMP_STREAM_WRITE ? SMP_OK : zeroed(device, size, &in, err);
    if (!code)
        code = zeroed(device, reads ? smp_peak_sums(size) : size, &out, err);
    smp_io io = {.in = rows_view(in, row_bytes, rows), .out = rows_view(out, reads ? SUM_STRIDE : row_bytes, rows)};
    double began = smp_now();
    for (int pass = 0; !code && !enough(rate, began); pass++) {
        smp_cost cost = {0};
        code = device->ops->launch(device, &streams[op], &streams[op].launches[0], &io, plan, &cost, err);
        code = code ? code : device->ops->sync(device, err);
        if (!code && pass >= WARM_UP)
            rate->seconds[rate->count++] = cost.seconds;
    }
    rate->bytes = (double)size * (op == SMP_STREAM_COPY ? 2 : 1);
    smp_rate_settle(rate);
    if (in)
        device->ops->free(device, in);
    if (out)
        device->ops->free(device, out);
    smp_free(plan);
    return code;
}

/* ------------------------------------------------------------------------------------------------ copies */

smp_code smp_peak_copy(smp_device *device, size_t size, smp_rate *rate, smp_error *err)
{
    if (device->host_memory)
        return smp_peak_stream(device, SMP_STREAM_COPY, size, rate, err);
    *rate = (smp_rate){0};
    size = chosen_size(device, size);
    void *in = NULL, *out = NULL;
    smp_code code = zeroed(device, size, &in, err);
    code = code ? code : zeroed(device, size, &out, err);
    double began = smp_now();
    for (int pass = 0; !code && !enough(rate, began); pass++) {
        double seconds;
        code = smp_cuda_time_copy(device, out, in, size, &seconds, err);
        if (!code && pass >= WARM_UP)
            rate->seconds[rate->count++] = seconds;
    }
    rate->bytes = 2.0 * (double)size;
    smp_rate_settle(rate);
    if (in)
        device->ops->free(device, in);
    if (out)
        device->ops->free(device, out);
    return code;
}

/* Copies in one direction: from or to slots that are used in turn, or one of all bytes. */
typedef struct traffic {
    bool up;
    int slots;
    size_t slot_bytes, at; /* at: bytes of this pass so far */
    void *there, *slot[SMP_GPU_SLOTS];
    smp_mark *mark[SMP_GPU_SLOTS];
    smp_cost cost;
} traffic;

static smp_code open_traffic(smp_device *device, traffic *t, size_t size, smp_error *err)
{
    SMP_TRY(zeroed(device, size, &t->there, err));
    for (int i = 0; i < t->slots; i++) {
        SMP_NEED(t->slot[i] = device->ops->pinned_alloc(device, t->slot_bytes), "pinned memory", t->slot_bytes, err);
        memset(t->slot[i], 0, t->slot_bytes);
    }
    return SMP_OK;
}

static void close_traffic(smp_device *device, traffic *t)
{
    for (int i = 0; i < t->slots; i++) {
        device->ops->unmark(device, t->mark[i]);
        device->ops->pinned_free(device, t->slot[i]);
    }
    if (t->there)
        device->ops->free(device, t->there);
}

/* Sends the next slot, when what it was used for before is done. */
static smp_code send_next(smp_device *device, traffic *t, size_t size, const smp_mark *after, smp_error *err)
{
    const size_t slot = t->at / t->slot_bytes % (size_t)t->slots;
    char *device_at = (char *)t->there + t->at;
    const size_t n = (size_t)smp_min_u64(size - t->at, t->slot_bytes);
    const smp_rows_sent part = {.up = t->up,
                                .to = t->up ? device_at : t->slot[slot],
                                .from = t->up ? t->slot[slot] : device_at,
                                .row_bytes = (int64_t)n,
                                .rows = 1,
                                .after = after};
    t->at += n;
    SMP_TRY(device->ops->reach(device, t->mark[slot], err));
    return device->ops->send(device, &part, &t->cost, &t->mark[slot], err);
}

/* Copies in all directions, beside the work, as a run makes them. */
static smp_code pass_over(smp_device *device, traffic *ways, int count, size_t size, const smp_mark *after,
                          double *seconds, smp_error *err)
{
    smp_code code = SMP_OK;
    const double began = smp_now();
    for (int i = 0; i < count; i++)
        ways[i].at = 0;
    while (!code && ways[0].at < size)
        for (int i = 0; !code && i < count; i++)
            code = send_next(device, &ways[i], size, after, err);
    const smp_code waited = device->ops->sync(device, code ? NULL : err);
    *seconds = smp_now() - began;
    return code ? code : waited;
}

smp_code smp_peak_link(smp_device *device, smp_link_way way, bool in_slots, size_t size, smp_rate *rate, smp_error *err)
{
    *rate = (smp_rate){0};
    if (device->host_memory)
        return SMP_OK;
    if (!size)
        size = is_gpu(device) ? 256 << 20 : 1 << 20;
    const int count = way == SMP_LINK_BOTH ? 2 : 1;
    traffic ways[2] = {{.up = way != SMP_LINK_DOWN}, {.up = false}};
    smp_mark *after = NULL;
    smp_code code = device->ops->mark(device, SMP_WORK, &after, err);
    for (int i = 0; i < count; i++) {
        ways[i].slots = in_slots ? SMP_GPU_SLOTS : 1;
        ways[i].slot_bytes = in_slots ? SMP_GPU_SLOT_BYTES : size;
        code = code ? code : open_traffic(device, &ways[i], size, err);
    }
    double began = smp_now();
    for (int pass = 0; !code && !enough(rate, began); pass++) {
        double seconds;
        code = pass_over(device, ways, count, size, after, &seconds, err);
        if (!code && pass >= WARM_UP)
            rate->seconds[rate->count++] = seconds;
    }
    rate->bytes = count * (double)size;
    smp_rate_settle(rate);
    for (int i = 0; i < count; i++)
        close_traffic(device, &ways[i]);
    device->ops->unmark(device, after);
    return code;
}

/* ------------------------------------------------------------------------------------------------ launches */

static smp_code launch_nothing(smp_device *device, const smp_io *io, const smp_node_plan *plan, smp_error *err)
{
    smp_cost cost = {0}; /* without a cost a GPU records no events, which take longer than the launch */
    return device->ops->launch(device, &nothing, &nothing.launches[0], io, plan, device->host_memory ? &cost : NULL,
                               err);
}

smp_code smp_peak_launch(smp_device *device, double *each, double *waited, smp_error *err)
{
    void *memory = NULL;
    *each = *waited = 0;
    smp_node_plan *plan = smp_alloc(sizeof *plan);
    SMP_NEED(plan, "a launch", sizeof *plan, err);
    smp_code code = zeroed(device, (size_t)row_bytes, &memory, err);
    smp_io io = {.in = rows_view(memory, 256, 256), .out = rows_view(memory, 256, 256)};
    for (int i = 0; !code && i < WARM_UP; i++)
        code = launch_nothing(device, &io, plan, err);
    code = code ? code : device->ops->sync(device, err);
    double began = smp_now();
    for (int i = 0; !code && i < LAUNCHES; i++)
        code = launch_nothing(device, &io, plan, err);
    code = code ? code : device->ops->sync(device, err);
    *each = (smp_now() - began) / LAUNCHES;
    began = smp_now();
    for (int i = 0; !code && i < WAITED_LAUNCHES; i++) {
        code = launch_nothing(device, &io, plan, err);
        code = code ? code : device->ops->sync(device, err);
    }
    *waited = (smp_now() - began) / WAITED_LAUNCHES;
    if (memory)
        device->ops->free(device, memory);
    smp_free(plan);
    return code;
}
