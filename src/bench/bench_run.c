/* Everything that `bench` measures, in order: see bench_run.h. */
#include "bench/bench_run.h"

#include <string.h>

#include "base/checked.h"
#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_state.h"
#include "device/simt/simt.h"
#include "run/peaks.h"

typedef struct steps {
    const smp_bench_request *request;
    int64_t done, total;
} steps;

static smp_code step(steps *at, smp_error *err)
{
    at->done++;
    if (!at->request->progress)
        return SMP_OK;
    smp_code code = at->request->progress(at->request->progress_context, at->done, at->total);
    return code ? smp_fail(err, code, "stopped") : SMP_OK;
}

static smp_code measure_streams(const smp_bench_request *request, smp_device *device, int threads,
                                smp_bench_report *report, steps *at, smp_error *err)
{
    smp_bench_stream *stream = &report->streams[report->stream_count++];
    stream->threads = threads;
    smp_rate *rates[SMP_STREAM_OPS] = {
        [SMP_STREAM_COPY] = &stream->copy, [SMP_STREAM_READ] = &stream->read, [SMP_STREAM_WRITE] = &stream->write};
    for (int op = 0; op < SMP_STREAM_OPS; op++) {
        SMP_TRY(smp_peak_stream(device, (smp_stream_op)op, request->size, rates[op], err));
        SMP_TRY(step(at, err));
    }
    return SMP_OK;
}

/* 1, 2, 4, ... threads, and all. */
static smp_code cpu_streams(const smp_bench_request *request, smp_bench_report *report, steps *at, smp_error *err)
{
    smp_code code = SMP_OK;
    for (int threads = 1; !code && report->stream_count < SMP_BENCH_STREAMS; threads *= 2) {
        smp_device *device;
        int now = (int)smp_min_i64(threads, request->threads);
        code = smp_cpu_open(now, request->isa, &device, err);
        if (code)
            break;
        code = measure_streams(request, device, now, report, at, err);
        smp_device_close(device);
        if (now >= request->threads)
            break;
    }
    return code;
}

static smp_code gpu_streams(const smp_bench_request *request, smp_bench_report *report, steps *at, smp_error *err)
{
    smp_device *device = request->device;
    smp_code code = smp_peak_copy(device, request->size, &report->driver_copy, err);
    smp_gpu_state state;
    smp_gpu_state_now(device, &state); /* right after work, before the clocks drop */
    report->sm_clock = state.sm_clock;
    report->memory_clock = state.memory_clock;
    code = code ? code : measure_streams(request, device, 0, report, at, err);
    for (int i = 0; !code && i < SMP_BENCH_LINKS; i++)
        code = smp_peak_link(device, (smp_link_way)(i % SMP_LINK_WAYS), i >= SMP_LINK_WAYS, 0, &report->link[i], err);
    return code ? code : step(at, err);
}

static smp_code model_patterns(smp_bench_report *report, smp_error *err)
{
    smp_device *emulator = NULL;
    smp_code code = smp_cuda_open(smp_driver_simt(), 0, &emulator, err);
    code = code ? code : smp_patterns_count(emulator, SMP_COUNT_MODEL, report, err);
    smp_device_close(emulator);
    return code;
}

static void compare_sources(smp_bench_report *report)
{
    report->disagreements = 0;
    for (size_t i = 0; i < report->pattern_count; i++) {
        const smp_bench_pattern *row = &report->patterns[i];
        const smp_shared_count *model = &row->counts[SMP_COUNT_MODEL], *sass = &row->counts[SMP_COUNT_SASS];
        if (row->counted[SMP_COUNT_MODEL] && row->counted[SMP_COUNT_SASS])
            report->disagreements += model->instructions != sass->instructions ||
                                     model->wavefronts != sass->wavefronts || model->ideal != sass->ideal;
    }
}

static smp_code measure_patterns(const smp_bench_request *request, smp_bench_report *report, steps *at, smp_error *err)
{
    bool gpu = !strcmp(request->device->info.kind, "cuda");
    SMP_TRY(smp_patterns_list(report, err));
    SMP_TRY(model_patterns(report, err));
    SMP_TRY(step(at, err));
    if (gpu)
        SMP_TRY(smp_patterns_time(request->device, report, err));
    SMP_TRY(step(at, err));
    /* Counting comes last: once a profiler is active it may slow the rest of the process. */
    for (int kind = SMP_COUNT_SASS; gpu && kind <= SMP_COUNT_HW; kind++) {
        SMP_TRY(smp_patterns_count(request->device, (smp_count_kind)kind, report, err));
        SMP_TRY(step(at, err));
    }
    compare_sources(report);
    return SMP_OK;
}

smp_code smp_bench_run(const smp_bench_request *request, smp_bench_report *report, smp_error *err)
{
    smp_device *device = request->device;
    steps at = {request, 0, 4 * SMP_STREAM_OPS + 4};
    *report = (smp_bench_report){.device = device->info};
    smp_gpu_driver_text(device, report->driver, sizeof report->driver);
    if (!strcmp(device->info.kind, "cuda"))
        snprintf(report->toolkit, sizeof report->toolkit, "%s", smp_gpu_toolkit());
    smp_code code = SMP_OK;
    if (request->streams) {
        code = smp_peak_launch(device, &report->launch_each, &report->launch_waited, err);
        if (!code)
            code =
                device->host_memory ? cpu_streams(request, report, &at, err) : gpu_streams(request, report, &at, err);
    }
    if (!code && request->patterns)
        code = measure_patterns(request, report, &at, err);
    return code;
}
