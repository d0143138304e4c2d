/* Sampling the times of a row: see gpu_measure.h. */
#include "gpu_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "device/cpu.h"
#include "device/cuda/cuda_state.h"
#include "gpu_check.h"
#include "report/samples.h"

enum {
    FEW = 5,             /* samples that every row gets, */
    ENOUGH = 10,         /* and with which it may end when they lie close together */
    FEW_SLOW = 3,        /* of a peer that takes longer than slow_seconds */
    RAGGED_MOST = 9,     /* samples of the ragged size and of the round one */
    MOST_DROPPED = 10,   /* a GPU that is slowed down all the time is measured as it is */
    SCRATCH = 640 << 20, /* bytes for the peers: 16-bit derivatives of the largest picture, and room to spare */
    TINY = 1 << 20
};
static const double slow_seconds = 0.02, close_together = 0.005, ragged_share = 0.2;

#define TRY(bench, name, ...)                                                                                          \
    do {                                                                                                               \
        CUresult result_ = smp_##name((bench)->handles.driver, __VA_ARGS__);                                           \
        if (result_ != CUDA_SUCCESS)                                                                                   \
            return smp_driver_error((bench)->handles.driver, #name, result_, err);                                     \
    } while (0)

/* ------------------------------------------------------------------------------------------------ the bench */

static smp_code take(gpu_bench *bench, size_t size, void **memory, smp_error *err)
{
    smp_code code = bench->device->ops->alloc(bench->device, size, memory, err);
    return code ? code : bench->device->ops->zero(bench->device, *memory, size, err);
}

static smp_code open_libraries(gpu_bench *bench, smp_error *err)
{
    const gpu_bench_request *request = bench->request;
    if (strcmp(bench->device->info.kind, "cuda") != 0) {
        bench->cub_why = "there is no GPU";
        return SMP_OK;
    }
    bench->libs = gpu_libs_open(bench->device, bench->handles.stream, request->cub);
    if (!bench->libs)
        return smp_fail_memory(err, "libraries", 0);
    bench->cub = gpu_libs_cub(bench->libs, &bench->cub_why);
    return SMP_OK;
}

smp_code gpu_bench_open(gpu_bench *bench, const gpu_bench_request *request, smp_error *err)
{
    enum { LEAST = 4 << 20, MOST = 512 << 20, TIMES = 4 };
    *bench = (gpu_bench){.request = request};
    const smp_device_request ask = {.spec = request->device};
    smp_code code = smp_device_open(&ask, &bench->device, NULL, 0, err);
    if (!code && bench->device->host_memory)
        code = smp_fail(err, SMP_E_USAGE, "this benchmark is of GPUs: --device cuda, or simt to try it");
    if (!code)
        code = smp_cpu_open(0, NULL, &bench->cpu, err);
    if (code)
        return code;
    bench->handles = smp_cuda_handles_of(bench->device);
    TRY(bench, cuEventCreate, &bench->begin, CU_EVENT_DEFAULT);
    TRY(bench, cuEventCreate, &bench->end, CU_EVENT_DEFAULT);
    code = open_libraries(bench, err);
    bench->block = smp_alloc_raw(GPU_BLOCK);
    if (!code && !bench->block)
        code = smp_fail_memory(err, "a block of data", GPU_BLOCK);
    if (!code && request->photo)
        code = gpu_photo_read(request->photo, &bench->photo, err);
    if (!code && bench->cub) {
        bench->lines_size = (size_t)smp_clamp_i64(TIMES * bench->device->info.cache, LEAST, MOST);
        code = take(bench, bench->lines_size, &bench->lines, err);
    } else if (!code)
        code = smp_flush_open(bench->device, &bench->flush, err);
    bench->scratch_size = request->tiny ? TINY : SCRATCH;
    if (!code)
        code = take(bench, bench->scratch_size, &bench->scratch, err);
    if (!code)
        code = take(bench, GPU_RESULTS, &bench->results, err);
    if (!code)
        code = take(bench, GPU_WEIGHTS * sizeof(float), &bench->weights, err);
    return code;
}

void gpu_bench_close(gpu_bench *bench)
{
    smp_device *device = bench->device;
    void *memory[] = {bench->source, bench->target, bench->lines, bench->scratch, bench->results, bench->weights};
    if (device)
        (void)device->ops->sync(device, NULL);
    gpu_libs_close(bench->libs);
    smp_flush_close(bench->flush);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i])
            device->ops->free(device, memory[i]);
    if (bench->begin)
        (void)smp_cuEventDestroy(bench->handles.driver, bench->begin);
    if (bench->end)
        (void)smp_cuEventDestroy(bench->handles.driver, bench->end);
    smp_device_close(device);
    smp_device_close(bench->cpu);
    smp_free(bench->block);
    smp_free(bench->photo.bytes);
    *bench = (gpu_bench){0};
}

/* Source and target large enough for the row, the source filled with its data, the block too. */
static smp_code prepare_data(gpu_bench *bench, const gpu_row *row, smp_error *err)
{
    smp_device *device = bench->device;
    const gpu_row *had = bench->data;
    size_t size = gpu_source_bytes(row, row->size);
    if (row->round.width)
        size = (size_t)smp_max_i64((int64_t)size, (int64_t)gpu_source_bytes(row, row->round));
    size += size / 8 + TINY; /* rows of a turned picture have other remainders */
    smp_code code = SMP_OK;
    if (size > bench->size) {
        if (bench->source)
            device->ops->free(device, bench->source);
        if (bench->target)
            device->ops->free(device, bench->target);
        bench->source = bench->target = NULL;
        bench->size = bench->filled = 0;
        code = take(bench, size, &bench->source, err);
        if (!code)
            code = take(bench, size, &bench->target, err);
        if (code)
            return code;
        bench->size = size;
    }
    const bool same = had && had->fill == row->fill && had->format == row->format && had->kind == row->kind &&
                      (had->channels == row->channels || row->fill == GPU_RANDOM || row->fill == GPU_CONSTANT);
    if (!same) {
        gpu_data_fill(row, &bench->photo, bench->block, bench->request->tiny ? TINY : GPU_BLOCK);
        bench->filled = 0;
    }
    bench->data = row;
    if (bench->filled >= size)
        return SMP_OK;
    const int64_t first = smp_min_i64((int64_t)size, bench->request->tiny ? TINY : GPU_BLOCK);
    code = device->ops->copy_in(device, bench->source, first, bench->block, first, first, 1, err);
    for (size_t at = (size_t)first; !code && at < size;) {
        const size_t more = at < size - at ? at : size - at;
        code = device->ops->copy(device, (char *)bench->source + at, (int64_t)more, bench->source, (int64_t)more,
                                 (int64_t)more, 1, err);
        at += more;
    }
    bench->filled = code ? 0 : size;
    return code ? code : device->ops->sync(device, err);
}

/* ------------------------------------------------------------------------------------------------ one sample */

/* Empties the L2 cache by reading. Left queued where that is possible, so that what follows is queued behind it and the
 * time of submitting it does not show. */
static smp_code flush(gpu_bench *bench, smp_error *err)
{
    if (!bench->cub)
        return smp_flush_views(bench->flush, NULL, 0, err);
    int error = bench->cub->read(bench->lines, bench->lines_size, 0, bench->results, bench->handles.stream);
    return error ? smp_fail(err, SMP_E_DEVICE, "emptying the cache: %s", bench->cub->error_text(error)) : SMP_OK;
}

typedef enum what { COPY, READ, OURS, PEER } what;

typedef struct contest { /* what is sampled for one row */
    gpu_bench *bench;
    const gpu_row *row;
    gpu_result *result;
    gpu_work ours;
    gpu_call calls[GPU_PEERS];
    const gpu_peer *peers[GPU_PEERS]; /* null: none, or it cannot run */
    size_t source_bytes;
} contest;

static smp_code queue(contest *c, what which, int index, smp_error *err)
{
    gpu_bench *bench = c->bench;
    smp_device *device = bench->device;
    smp_code code = SMP_OK;
    int error;
    switch (which) {
    case COPY:
        return device->ops->copy(device, bench->target, (int64_t)c->source_bytes, bench->source,
                                 (int64_t)c->source_bytes, (int64_t)c->source_bytes, 1, err);
    case READ:
        error =
            bench->cub->read(bench->source, c->source_bytes / 16 * 16, index, bench->results, bench->handles.stream);
        return error ? smp_fail(err, SMP_E_DEVICE, "reading: %s", bench->cub->error_text(error)) : SMP_OK;
    case OURS:
        code = gpu_work_reset(&c->ours, err);
        return code ? code : gpu_work_launch(&c->ours, err);
    default:
        if (!gpu_peer_run(c->peers[index], &c->calls[index])) { /* said in the report */
            snprintf(c->result->peers[index].why, sizeof c->result->peers[index].why, "%s", c->calls[index].why);
            c->peers[index] = NULL;
        }
        return SMP_OK;
    }
}

static smp_code sample(contest *c, what which, int index, gpu_samples *to, smp_error *err)
{
    gpu_bench *bench = c->bench;
    float milliseconds = 0;
    if (to->count >= GPU_SAMPLES)
        return SMP_OK;
    smp_code code = flush(bench, err);
    if (code)
        return code;
    TRY(bench, cuEventRecord, bench->begin, bench->handles.stream);
    code = queue(c, which, index, err);
    if (code)
        return code;
    TRY(bench, cuEventRecord, bench->end, bench->handles.stream);
    TRY(bench, cuEventSynchronize, bench->end);
    TRY(bench, cuEventElapsedTime, &milliseconds, bench->begin, bench->end);
    if (which != PEER || c->peers[index])
        to->seconds[to->count++] = (double)milliseconds * 1e-3;
    return SMP_OK;
}

static smp_code sample_ours(contest *c, gpu_samples *whole, gpu_samples *kernels, smp_error *err)
{
    double seconds = 0;
    smp_code code = sample(c, OURS, 0, whole, err);
    if (!code)
        code = gpu_work_seconds(&c->ours, &seconds, err);
    if (!code && kernels->count < GPU_SAMPLES)
        kernels->seconds[kernels->count++] = seconds;
    return code;
}

double gpu_median(const gpu_samples *samples)
{
    smp_spread spread;
    if (!samples->count || !smp_spread_of(samples->seconds, samples->count, &spread))
        return 0;
    return spread.median;
}

static bool settled(const gpu_samples *samples)
{
    smp_spread spread;
    return !samples->count ||
           (smp_spread_of(samples->seconds, samples->count, &spread) && smp_spread_width(&spread) <= close_together);
}

/* Notes the clock; true when the round that was just sampled shall be forgotten. */
static bool spoilt(contest *c)
{
    smp_gpu_state state;
    gpu_result *result = c->result;
    if (!smp_gpu_state_now(c->bench->device, &state))
        return false;
    const double clock = (double)state.sm_clock;
    if (result->sm_clock_low == 0 || clock < result->sm_clock_low)
        result->sm_clock_low = clock;
    result->sm_clock_high = clock > result->sm_clock_high ? clock : result->sm_clock_high;
    if (!state.slowed || result->dropped >= MOST_DROPPED)
        return false;
    result->dropped++;
    return true;
}

/* ------------------------------------------------------------------------------------------------ peers */

static smp_code prepare_weights(gpu_bench *bench, const gpu_row *row, smp_error *err)
{
    float weights[GPU_WEIGHTS];
    const int64_t bytes = (int64_t)(gpu_peer_weights(row, weights) * sizeof *weights);
    smp_device *device = bench->device;
    return bytes ? device->ops->copy_in(device, bench->weights, bytes, weights, bytes, bytes, 1, err) : SMP_OK;
}

/* Each peer once: what it makes against ours, which `plain` holds too (none: its plan is null). */
static smp_code prepare_peers(contest *c, const gpu_work *plain, smp_error *err)
{
    gpu_bench *bench = c->bench;
    const gpu_work *ours = &c->ours;
    smp_code code = prepare_weights(bench, c->row, err);
    for (int i = 0; !code && i < GPU_PEERS && c->row->peers[i]; i++) {
        gpu_peer_result *to = &c->result->peers[i];
        gpu_call *call = &c->calls[i];
        const gpu_peer *peer = gpu_peer_find(c->row->peers[i]);
        *to = (gpu_peer_result){.name = c->row->peers[i], .differing = -1};
        const smp_step *source = &ours->plan->steps[0];
        *call = (gpu_call){
            .libs = bench->libs,
            .row = c->row,
            .in =
                smp_view_of(&source->out, source->storage, ours->frames[0], ours->strides[0], 0, 0, source->out.height),
            .weights = bench->weights,
            .results = bench->results,
            .scratch = bench->scratch,
            .scratch_size = bench->scratch_size,
        };
        if (ours->last > 0)
            call->out = gpu_work_result(ours);
        if (!peer || !bench->libs || !bench->request->with_peers) {
            snprintf(to->why, sizeof to->why, "%s",
                     !peer         ? "unknown"
                     : bench->libs ? "not asked for"
                                   : "there is no GPU");
            continue;
        }
        if (!gpu_peer_prepare(peer, call)) {
            snprintf(to->why, sizeof to->why, "%s", call->why);
            continue;
        }
        c->peers[i] = peer;
        if (peer->picture)
            code = gpu_work_poison(&c->ours, 0xa5, err);
        if (!code)
            code = queue(c, PEER, i, err);
        if (!code)
            code = bench->device->ops->sync(bench->device, err);
        if (!code && peer->picture && c->peers[i] && plain->plan) {
            const smp_view want = gpu_work_result(plain);
            code = gpu_count_differences(bench, &call->out, &want, &to->differing, err);
        }
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ rounds */

static smp_code one_round(contest *c, smp_error *err)
{
    gpu_result *result = c->result;
    smp_code code = sample(c, COPY, 0, &result->copy, err);
    for (int way = 0; !code && c->row->reduces && c->bench->cub && way < GPU_READS; way++)
        code = sample(c, READ, way, &result->read[way], err);
    if (!code)
        code = sample_ours(c, &result->whole, &result->kernels, err);
    for (int i = 0; !code && i < GPU_PEERS; i++) {
        gpu_samples *times = &result->peers[i].times;
        if (c->peers[i] && (times->count < FEW_SLOW || gpu_median(times) < slow_seconds))
            code = sample(c, PEER, i, times, err);
    }
    return code;
}

/* Not every peer is sampled in every round, so that what was there before it says what is to go. */
static void forget_round(gpu_result *result, const gpu_result *before)
{
    result->copy.count = before->copy.count;
    result->whole.count = before->whole.count;
    result->kernels.count = before->kernels.count;
    for (int way = 0; way < GPU_READS; way++)
        result->read[way].count = before->read[way].count;
    for (int i = 0; i < GPU_PEERS; i++)
        result->peers[i].times.count = before->peers[i].times.count;
}

static smp_code sample_rounds(contest *c, smp_error *err)
{
    const gpu_result *result = c->result;
    const bool tiny = c->bench->request->tiny;
    smp_code code = SMP_OK;
    double began = smp_now();
    while (!code && result->whole.count < GPU_SAMPLES) {
        const gpu_result before = *result;
        code = one_round(c, err);
        if (!code && spoilt(c))
            forget_round(c->result, &before);
        const size_t count = result->whole.count;
        const bool late = smp_now() - began > c->bench->request->row_seconds;
        if (count >= FEW && (late || tiny))
            break;
        if (count >= ENOUGH && settled(&result->kernels) && settled(&result->copy) && settled(&result->read[0]))
            break;
    }
    return code;
}

/* The ragged size beside the round one, in turns. */
static smp_code sample_ragged(contest *c, smp_error *err)
{
    enum { ROUND, RAGGED, SIZES };
    gpu_bench *bench = c->bench;
    gpu_samples *to[SIZES] = {&c->result->round, &c->result->ragged}, whole;
    gpu_work works[SIZES] = {{0}};
    smp_code code = SMP_OK;
    for (int i = 0; !code && i < SIZES; i++)
        code = gpu_work_open(&works[i], bench->device, c->row, i == ROUND ? c->row->round : c->row->ragged, NULL,
                             bench->source, bench->target, err);
    const gpu_work kept = c->ours;
    double began = smp_now();
    const double limit = ragged_share * bench->request->row_seconds;
    for (int turn = 0; !code && turn <= RAGGED_MOST; turn++) {
        for (int i = 0; !code && i < SIZES; i++) {
            whole.count = 0;
            c->ours = works[i];
            code = sample_ours(c, &whole, to[i], err);
            works[i] = c->ours;
            if (turn == 0)
                to[i]->count = 0; /* its kernels are loaded only now */
        }
        if (turn >= FEW_SLOW && (bench->request->tiny || smp_now() - began > limit))
            break;
    }
    c->ours = kept;
    for (int i = 0; i < SIZES; i++)
        gpu_work_close(&works[i]);
    return code;
}

static bool right(const char *text)
{
    return !strcmp(text, "right");
}

static smp_code measure(contest *c, smp_error *err)
{
    gpu_bench *bench = c->bench;
    gpu_result *result = c->result;
    gpu_work plain = {0};
    smp_code code = prepare_data(bench, c->row, err);
    if (!code)
        code = gpu_check_small(bench, c->row, result->check, sizeof result->check, err);
    if (!code && !right(result->check))
        return SMP_OK;
    if (!code)
        code = gpu_work_open(&c->ours, bench->device, c->row, c->row->size, NULL, bench->source, bench->target, err);
    if (!code) {
        gpu_work_variants(&c->ours, result->variants, sizeof result->variants);
        result->bytes = c->ours.bytes;
        result->ops = c->ours.ops;
        c->source_bytes = gpu_source_bytes(c->row, c->row->size);
        code = gpu_check_large(bench, c->row, &c->ours, &plain, result->at_size, sizeof result->at_size, err);
    }
    if (!code && result->at_size[0] && !right(result->at_size)) {
        snprintf(result->check, sizeof result->check, "%s", result->at_size);
    } else if (!code) {
        code = prepare_peers(c, &plain, err);
        gpu_work_close(&plain);
        if (!code)
            code = sample_rounds(c, err);
        if (!code && c->row->ragged.width)
            code = sample_ragged(c, err);
    }
    gpu_work_close(&plain);
    return code;
}

smp_code gpu_bench_row(gpu_bench *bench, const gpu_row *row, gpu_result *result, smp_error *err)
{
    contest c = {.bench = bench, .row = row, .result = result};
    const double began = smp_now();
    *result = (gpu_result){.row = row};
    smp_code code = measure(&c, err);
    gpu_work_close(&c.ours);
    result->seconds = smp_now() - began;
    if (code == SMP_E_DEVICE_MEMORY || code == SMP_E_MEMORY) {
        snprintf(result->check, sizeof result->check, "not measured: %.200s", err ? err->message : "no memory");
        return SMP_OK;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ bars */

static const gpu_samples *faster_read(const gpu_result *result)
{
    const gpu_samples *fastest = &result->read[0];
    for (int way = 1; way < GPU_READS; way++)
        if (result->read[way].count && gpu_median(&result->read[way]) < gpu_median(fastest))
            fastest = &result->read[way];
    return fastest;
}

static double peer_seconds(const gpu_result *result, const char *name)
{
    for (int i = 0; i < GPU_PEERS; i++)
        if (result->peers[i].name && !strcmp(result->peers[i].name, name))
            return gpu_median(&result->peers[i].times);
    return 0;
}

/* f32 operations a second that the GPU can do, an fma counted as two: so many lanes an SM (CUDA C++ Programming Guide,
 * "Arithmetic Instructions"). */
static double f32_peak(const smp_device_info *info, double mhz)
{
    const int cc = info->compute_major * 10 + info->compute_minor;
    const int lanes = cc == 75 || cc == 80 ? 64 : 128;
    return 2.0 * lanes * info->units * mhz * 1e6;
}

double gpu_bar_reached(const gpu_bench *bench, const gpu_result *result, const gpu_bar *bar, bool *met)
{
    const double kernels = gpu_median(&result->kernels), whole = gpu_median(&result->whole);
    const double copy = gpu_median(&result->copy), read = gpu_median(faster_read(result));
    const double source = (double)gpu_source_bytes(result->row, result->row->size);
    double reached = (double)NAN;
    *met = false;
    if (!(kernels > 0) || strcmp(bench->device->info.kind, "cuda") != 0) /* the emulator's times mean nothing */
        return reached;
    if (bar->kind == GPU_BAR_COPY && copy > 0)
        reached = result->bytes / kernels / (2 * source / copy);
    else if (bar->kind == GPU_BAR_READ && read > 0)
        reached = result->bytes / kernels / (source / read);
    else if (bar->kind == GPU_BAR_PEER && peer_seconds(result, bar->peer) > 0)
        reached = peer_seconds(result, bar->peer) / whole;
    else if (bar->kind == GPU_BAR_FMA && result->sm_clock_high > 0)
        reached = result->ops / kernels / f32_peak(&bench->device->info, result->sm_clock_high);
    *met = reached >= bar->value;
    return reached;
}

static double work_of(const gpu_row *row, gpu_size size)
{
    const double w = (double)size.width, h = (double)size.height;
    return !strcmp(row->group, "matmul") ? w * h * w : w * h;
}

double gpu_ragged_ratio(const gpu_result *result)
{
    const double round = gpu_median(&result->round), other = gpu_median(&result->ragged);
    const gpu_row *row = result->row;
    if (!(round > 0) || !(other > 0))
        return (double)NAN;
    return other / work_of(row, row->ragged) / (round / work_of(row, row->round));
}
