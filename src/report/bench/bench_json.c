/* The results of `bench` as one JSON object with every sample. */
#include "base/version.h"
#include "report/bench/bench.h"
#include "report/json.h"
#include "report/report.h"

static void put_rate(smp_json *json, const char *key, const smp_rate *rate)
{
    if (!rate->count)
        return;
    SMP_JSON_OPEN(json, key, ("gb_per_second", rate->gbs), ("gb_per_second_low", rate->gbs_low),
                  ("gb_per_second_high", rate->gbs_high), ("bytes", rate->bytes));
    smp_json_numbers(json, "seconds", rate->seconds, (size_t)rate->count);
    smp_json_end(json, '}');
}

static void put_device(smp_json *json, const smp_bench_report *report)
{
    const smp_device_info *device = &report->device;
    SMP_JSON_OPEN(json, "device", ("kind", device->kind), ("name", device->name), ("units", device->units));
    smp_report_code_json(json, device);
    if (device->peak_gbs > 0)
        smp_json_number(json, "peak_gb_per_second", device->peak_gbs);
    if (report->driver[0])
        smp_json_string(json, "driver", report->driver);
    if (report->toolkit[0])
        smp_json_string(json, "toolkit", report->toolkit);
    if (report->sm_clock)
        smp_json_integer(json, "sm_clock_mhz", report->sm_clock);
    if (report->memory_clock)
        smp_json_integer(json, "memory_clock_mhz", report->memory_clock);
    smp_json_end(json, '}');
}

static void put_streams(smp_json *json, const smp_bench_report *report)
{
    put_rate(json, "driver_copy", &report->driver_copy);
    smp_json_array(json, "streams");
    for (size_t i = 0; i < report->stream_count; i++) {
        const smp_bench_stream *stream = &report->streams[i];
        smp_json_object(json, NULL);
        if (stream->threads)
            smp_json_integer(json, "threads", stream->threads);
        put_rate(json, "copy", &stream->copy);
        put_rate(json, "read", &stream->read);
        put_rate(json, "write", &stream->write);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    if (report->link[0].count) {
        smp_json_object(json, "bus");
        static const char *const names[SMP_BENCH_LINKS] = {"up_pinned", "down_pinned", "both_pinned",
                                                           "up_run",    "down_run",    "both_run"};
        for (int i = 0; i < SMP_BENCH_LINKS; i++)
            put_rate(json, names[i], &report->link[i]);
        smp_json_end(json, '}');
    }
    if (report->launch_each > 0)
        SMP_JSON_OBJECT(json, "launch_seconds", ("each", report->launch_each), ("waited", report->launch_waited));
}

static void put_pattern(smp_json *json, const smp_bench_pattern *row)
{
    SMP_JSON_OPEN(json, NULL, ("pattern", row->name), ("op", smp_bench_op_name(row->op)), ("width", row->width),
                  ("stride", row->stride), ("share", row->share), ("wavefronts", row->rule_wavefronts),
                  ("ideal", row->rule_ideal));
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const smp_shared_count *count = &row->counts[kind];
        if (!row->counted[kind])
            continue;
        SMP_JSON_OBJECT(json, smp_count_kind_name((smp_count_kind)kind), ("instructions", count->instructions),
                        ("wavefronts", count->wavefronts), ("ideal", count->ideal));
    }
    if (row->cycles > 0)
        SMP_JSON(json, ("cycles", row->cycles), ("gb_per_second", row->gbs));
    smp_json_end(json, '}');
}

void smp_bench_json(FILE *to, const smp_bench_report *report)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    SMP_JSON_OPEN(&json, NULL, ("smempipe", SMP_VERSION), ("report", "bench"));
    put_device(&json, report);
    if (report->stream_count)
        put_streams(&json, report);
    if (report->pattern_count) {
        smp_json_integer(&json, "counted_instructions", (int64_t)report->counted_instructions);
        smp_json_array(&json, "patterns");
        for (size_t i = 0; i < report->pattern_count; i++)
            put_pattern(&json, &report->patterns[i]);
        smp_json_end(&json, ']');
        smp_json_integer(&json, "disagreements", (int64_t)report->disagreements);
        smp_json_object(&json, "missing_sources");
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
            if (report->source_problem[kind][0])
                smp_json_string(&json, smp_count_kind_name((smp_count_kind)kind), report->source_problem[kind]);
        smp_json_end(&json, '}');
    }
    smp_json_end(&json, '}');
}
