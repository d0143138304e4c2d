/* One file among many as a line of JSON: for jq, pandas, and whoever looks for what failed or took long. */
#include <math.h>
#include <string.h>

#include "report/json.h"
#include "report/report.h"

static void put_size(smp_json *json, const smp_run_report *report)
{
    const smp_shape *shape = &report->shape;
    if (shape->kind == SMP_KIND_NONE) { /* not even its header was read */
        smp_json_string(json, "size", NULL);
        return;
    }
    bool sound = shape->kind == SMP_AUDIO;
    smp_json_object(json, "size");
    if (!sound)
        smp_json_integer(json, "width", shape->width);
    SMP_JSON(json, (sound ? "frames" : "height", shape->height), ("channels", shape->channels),
             ("format", smp_format_name(shape->format)));
    if (sound)
        smp_json_number(json, "rate", shape->rate);
    smp_json_end(json, '}');
}

/* In the form of --device. */
static void put_device(smp_json *json, const smp_device_info *device)
{
    char name[32];
    if (strcmp(device->kind, "cuda") == 0)
        snprintf(name, sizeof name, "%s:%d", device->kind, device->index);
    else
        snprintf(name, sizeof name, "%s", device->kind);
    smp_json_string(json, "device", device->kind[0] ? name : NULL);
}

static void put_ms(smp_json *json, const char *key, double seconds)
{
    smp_json_number(json, key, round(seconds * 1e6) / 1e3); /* rounded to microseconds */
}

static void put_times(smp_json *json, const smp_run_report *report)
{
    smp_json_object(json, "milliseconds");
    put_ms(json, "read", report->input_seconds);
    put_ms(json, "decode", fmax(0, report->read_seconds - report->input_seconds));
    put_ms(json, "upload", report->upload_seconds);
    smp_json_array(json, "stages");
    for (size_t i = 0; i < report->step_count; i++) {
        smp_json_object(json, NULL);
        smp_json_string(json, "stage", report->steps[i].label);
        put_ms(json, "ms", report->steps[i].seconds);
        if (report->steps[i].result_seconds > 0)
            put_ms(json, "results", report->steps[i].result_seconds);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    put_ms(json, "download", report->download_seconds);
    put_ms(json, "encode", fmax(0, report->write_seconds - report->output_seconds));
    put_ms(json, "write", report->output_seconds);
    put_ms(json, "wall", report->wall_seconds);
    smp_json_end(json, '}');
}

static void put_measured(smp_json *json, const smp_run_report *report)
{
    smp_json_array(json, "measured");
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *step = &report->steps[i];
        if (!step->measurements.count)
            continue;
        smp_json_object(json, NULL);
        smp_json_string(json, "stage", step->label);
        if (step->name[0])
            smp_json_string(json, "name", step->name);
        smp_report_measurements_json(json, &step->measurements);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

void smp_report_line(FILE *to, const smp_run_report *report, const char *status, const smp_error *err)
{
    smp_json writer, *json = &writer;
    bool failed = report->status != SMP_OK;
    smp_json_begin(json, to, true);
    SMP_JSON_OPEN(json, NULL, ("input", report->input), ("output", report->output), ("status", status),
                  ("error", failed ? report->error : NULL));
    if (failed)
        smp_json_string(json, "hint", err && err->hint[0] ? err->hint : NULL);
    put_size(json, report);
    smp_json_integer(json, "bytes", (int64_t)report->input_bytes);
    put_device(json, &report->device);
    put_times(json, report);
    put_measured(json, report);
    smp_report_drawn_json(json, report->drawn);
    smp_report_notes_json(json, report);
    smp_json_end(json, '}');
}

void smp_report_frame(FILE *to, int64_t number, const smp_run_report *report)
{
    smp_json writer, *json = &writer;
    smp_json_begin(json, to, true);
    smp_json_object(json, NULL);
    smp_json_integer(json, "frame", number);
    put_ms(json, "milliseconds", report->device_seconds);
    put_measured(json, report);
    smp_json_end(json, '}');
    fflush(to);
}
