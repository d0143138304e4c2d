/* The results of `bench` as tables of SMP_TEXT_WIDTH columns. */
#include "report/bench/bench.h"

#include <string.h>

#include "base/alloc.h"
#include "report/text.h"

const char *smp_bench_op_name(smp_bench_op op)
{
    static const char *const names[SMP_BENCH_OPS] = {"load", "store", "count"};
    return names[op];
}

void smp_bench_report_free(smp_bench_report *report)
{
    smp_free(report->patterns);
    *report = (smp_bench_report){.pattern_count = 0};
}

/* ------------------------------------------------------------------------------------------------ cells */

enum { NAME = 31, CELL = 10 };

static void put_text(FILE *to, const char *text, int columns)
{
    fputc(' ', to);
    smp_text_column(to, text, columns);
}

static void put_number(FILE *to, int columns, const char *format, double value, bool known)
{
    char text[48] = "-";
    if (known)
        snprintf(text, sizeof text, format, value);
    put_text(to, text, -columns);
}

static void put_rate(FILE *to, const char *name, const smp_rate *rate, double copy, double peak)
{
    if (!rate->count)
        return;
    char quartiles[48];
    snprintf(quartiles, sizeof quartiles, "%.1f to %.1f", rate->gbs_low, rate->gbs_high);
    put_text(to, name, NAME);
    put_number(to, CELL, "%.1f", rate->gbs, true);
    put_text(to, quartiles, -20);
    put_number(to, CELL, "%.0f %%", copy > 0 ? rate->gbs / copy * 100 : 0, copy > 0);
    put_number(to, CELL + 2, "%.0f %%", peak > 0 ? rate->gbs / peak * 100 : 0, peak > 0);
    fputc('\n', to);
}

/* ------------------------------------------------------------------------------------------------ peaks */

static void put_gpu_streams(FILE *to, const smp_bench_report *report, const smp_paint *paint)
{
    const smp_bench_stream *stream = &report->streams[0];
    double copy = report->driver_copy.gbs, peak = report->device.peak_gbs;
    fputs(paint->bold, to);
    put_text(to, "device memory", NAME);
    put_text(to, "GB/s", -CELL);
    put_text(to, "quartiles", -20);
    put_text(to, "of copy", -CELL);
    put_text(to, "of datasheet", -CELL - 2);
    fprintf(to, "%s\n", paint->off);
    put_rate(to, "copy by the driver", &report->driver_copy, copy, peak);
    put_rate(to, "copy by a kernel", &stream->copy, copy, peak);
    put_rate(to, "read by a kernel", &stream->read, copy, peak);
    put_rate(to, "write by a kernel", &stream->write, copy, peak);
    static const char *const names[SMP_BENCH_LINKS] = {
        "bus up, pinned memory",    "bus down, pinned memory",    "bus both ways, pinned memory",
        "bus up, as a run does it", "bus down, as a run does it", "bus both ways, as a run does it"};
    for (int i = 0; i < SMP_BENCH_LINKS; i++)
        put_rate(to, names[i], &report->link[i], 0, 0);
}

static void put_cpu_streams(FILE *to, const smp_bench_report *report, const smp_paint *paint)
{
    fputs(paint->bold, to);
    put_text(to, "memory, by threads", NAME);
    put_text(to, "copy GB/s", -CELL);
    put_text(to, "read GB/s", -CELL);
    put_text(to, "write GB/s", -CELL);
    fprintf(to, "%s\n", paint->off);
    for (size_t i = 0; i < report->stream_count; i++) {
        const smp_bench_stream *stream = &report->streams[i];
        char name[32];
        snprintf(name, sizeof name, "%d thread%s", stream->threads, stream->threads == 1 ? "" : "s");
        put_text(to, name, NAME);
        put_number(to, CELL, "%.2f", stream->copy.gbs, stream->copy.count);
        put_number(to, CELL, "%.2f", stream->read.gbs, stream->read.count);
        put_number(to, CELL, "%.2f", stream->write.gbs, stream->write.count);
        fputc('\n', to);
    }
}

static void put_launch(FILE *to, const smp_bench_report *report)
{
    if (report->launch_each <= 0)
        return;
    put_text(to, "a launch that does nothing", NAME);
    put_number(to, CELL, "%.2f", report->launch_each * 1e6, true);
    fprintf(to, " us each in a row, %.2f us when waited for\n", report->launch_waited * 1e6);
}

/* ------------------------------------------------------------------------------------------------ patterns */

/* One side of the table, with a column for everything known of any row. */
typedef struct columns {
    bool counted[SMP_COUNT_KINDS], timed;
} columns;

static columns known_columns(const smp_bench_report *report)
{
    columns known = {.timed = false};
    for (size_t i = 0; i < report->pattern_count; i++) {
        known.timed |= report->patterns[i].cycles > 0;
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
            known.counted[kind] |= report->patterns[i].counted[kind];
    }
    return known;
}

static void put_side_head(FILE *to, const columns *known)
{
    put_text(to, "ideal", -5);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (known->counted[kind])
            put_text(to, smp_count_kind_name((smp_count_kind)kind), -5);
    if (known->timed) {
        put_text(to, "cycles", -6);
        put_text(to, "TB/s", -5);
    }
}

static int side_columns(const columns *known)
{
    int n = 6 + (known->timed ? 13 : 0);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        n += known->counted[kind] ? 6 : 0;
    return n;
}

/* The wavefronts of one instruction by each source; red where they differ from the model's. */
static void put_side(FILE *to, const smp_bench_pattern *row, const columns *known, const smp_paint *paint)
{
    const smp_shared_count *model = &row->counts[SMP_COUNT_MODEL];
    put_number(to, 5, "%.0f", row->rule_ideal, true);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const smp_shared_count *count = &row->counts[kind];
        if (!known->counted[kind])
            continue;
        bool have = row->counted[kind] && count->instructions,
             differs = have && kind == SMP_COUNT_SASS && count->wavefronts != model->wavefronts;
        fputs(differs ? paint->red : "", to);
        put_number(to, 5, "%.4g", have ? (double)count->wavefronts / (double)count->instructions : 0, have);
        fputs(differs ? paint->off : "", to);
    }
    if (known->timed) {
        put_number(to, 6, "%.2f", row->cycles, row->cycles > 0);
        put_number(to, 5, "%.2f", row->gbs * 1e-3, row->gbs > 0);
    }
}

static const smp_bench_pattern *find_row(const smp_bench_report *report, smp_bench_op op, const smp_bench_pattern *like)
{
    for (size_t i = 0; i < report->pattern_count; i++) {
        const smp_bench_pattern *row = &report->patterns[i];
        if (row->op == op && row->width == like->width && !strcmp(row->name, like->name))
            return row;
    }
    return NULL;
}

static void put_patterns(FILE *to, const smp_bench_report *report, const smp_paint *paint)
{
    columns known = known_columns(report);
    smp_text_wrap(to,
                  "Shared memory: wavefronts that one warp instruction takes, a lane accessing so many bytes at that "
                  "stride. ideal: the fewest for that width; conflicts are the rest. multicast: four lanes an element.",
                  0, 0);
    if (known.timed)
        smp_text_wrap(to,
                      "cycles: of one instruction on an SM that does nothing else; TB/s: what all lanes of all SMs "
                      "asked for.",
                      0, 0);
    fprintf(to, "%s ", paint->bold);
    put_text(to, "", 10 + 1 + 5);
    put_text(to, " loads", side_columns(&known));
    fprintf(to, "  stores%s\n%s ", paint->off, paint->bold);
    put_text(to, "pattern", 10);
    put_text(to, "bytes", -5);
    put_side_head(to, &known);
    fputs("  ", to);
    put_side_head(to, &known);
    fprintf(to, "%s\n", paint->off);
    for (size_t i = 0; i < report->pattern_count; i++) {
        const smp_bench_pattern *load = &report->patterns[i];
        const smp_bench_pattern *store = find_row(report, SMP_BENCH_STORE, load);
        if (load->op != SMP_BENCH_LOAD || !store)
            continue;
        fputc(' ', to);
        put_text(to, load->name, 10);
        put_number(to, 5, "%.0f", load->width, true);
        put_side(to, load, &known, paint);
        fputs("  ", to);
        put_side(to, store, &known, paint);
        fputc('\n', to);
    }
    fprintf(to, "\n%s ", paint->bold);
    put_text(to, "counting", 10);
    put_text(to, "bytes", -5);
    put_side_head(to, &known);
    fprintf(to, "%s  atomicAdd(p, 1), its result unused\n", paint->off);
    for (size_t i = 0; i < report->pattern_count; i++) {
        const smp_bench_pattern *row = &report->patterns[i];
        if (row->op != SMP_BENCH_COUNT)
            continue;
        fputc(' ', to);
        put_text(to, row->name, 10);
        put_number(to, 5, "%.0f", row->width, true);
        put_side(to, row, &known, paint);
        fputc('\n', to);
    }
}

static void put_sources(FILE *to, const smp_bench_report *report, const smp_paint *paint)
{
    char text[900];
    columns known = known_columns(report);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (report->source_problem[kind][0]) {
            snprintf(text, sizeof text, "no %s counts: %s; %s", smp_count_kind_name((smp_count_kind)kind),
                     report->source_problem[kind], report->source_hint[kind]);
            smp_text_wrap(to, text, 0, 2);
        }
    if (report->disagreements)
        fprintf(to, "%s%zu of %zu patterns: sass is not what the model says%s\n", paint->red, report->disagreements,
                report->pattern_count, paint->off);
    else if (known.counted[SMP_COUNT_MODEL] && known.counted[SMP_COUNT_SASS])
        fprintf(to, "%smodel and sass agree on all %zu patterns%s\n", paint->green, report->pattern_count, paint->off);
}

void smp_bench_table(FILE *to, const smp_bench_report *report, bool color)
{
    smp_paint paint = smp_paint_for(color);
    const smp_device_info *device = &report->device;
    bool gpu = strcmp(device->kind, "cpu") != 0;
    fprintf(to, "%s: ", device->kind);
    smp_text_clean(to, device->name);
    fprintf(to, ", %d %s", device->units, gpu ? "SMs" : device->units == 1 ? "thread" : "threads");
    if (device->peak_gbs > 0)
        fprintf(to, ", datasheet %.0f GB/s", device->peak_gbs);
    if (report->driver[0])
        fprintf(to, "\ndriver %s, kernels by %s", report->driver, report->toolkit);
    if (report->sm_clock)
        fprintf(to, ", SMs at %d MHz", report->sm_clock);
    if (report->memory_clock)
        fprintf(to, ", memory at %d MHz", report->memory_clock);
    fputs("\n\n", to);
    if (report->stream_count) {
        if (gpu)
            put_gpu_streams(to, report, &paint);
        else
            put_cpu_streams(to, report, &paint);
        put_launch(to, report);
    }
    if (report->stream_count && report->pattern_count)
        fputc('\n', to);
    if (report->pattern_count) {
        put_patterns(to, report, &paint);
        put_sources(to, report, &paint);
    }
}
