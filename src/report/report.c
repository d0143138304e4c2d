/* One run as JSON for programs. table.c shows the same structure to people. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/version.h"

bool smp_report_clips_much(const smp_run_report *report, const smp_step_report *step)
{
    const bool floats = report->shape.kind == SMP_IMAGE && report->shape.format == SMP_F32;
    return step->clipped > (floats ? 0 : step->samples / 20);
}

/* The user's statements in a step's label: those in parentheses are the planner's. */
static void own_label(const char *label, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = label; *at && used < size;) {
        const char *end = strstr(at, " + ");
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        if (at[0] != '(')
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? " + " : "", (int)length, at);
        at += length + (end ? 3 : 0);
    }
}

void smp_report_clipping_text(const smp_run_report *report, const smp_step_report *step, char *text, size_t size)
{
    char label[sizeof step->label];
    const double percent = step->samples ? 100.0 * (double)step->clipped / (double)step->samples : 0.0;
    const bool one = step->clipped == 1;
    own_label(step->label, label, sizeof label);
    if (step->clipped <= step->samples / 20 && label[0])
        snprintf(text, size, "'%s' clipped %llu sample%s NaN (stored as 0) or beyond full scale", label,
                 (unsigned long long)step->clipped, one ? ": it was" : "s: they were");
    else if (step->clipped <= step->samples / 20)
        snprintf(text, size, "%llu sample%s of %s %s NaN (stored as 0) or beyond full scale and clipped",
                 (unsigned long long)step->clipped, one ? "" : "s", report->input, one ? "was" : "were");
    else if (label[0])
        snprintf(text, size, "'%s' clipped %.3g %% of the samples to the range of its format", label, percent);
    else
        snprintf(text, size, "writing clipped %.3g %% of the samples to what the file holds: NaN, or beyond full scale",
                 percent);
}

void smp_report_code_json(smp_json *json, const smp_device_info *device)
{
    if (device->isa[0])
        smp_json_string(json, "isa", device->isa);
    if (device->compute_major)
        SMP_JSON(json, ("compute_major", device->compute_major), ("compute_minor", device->compute_minor));
}

static void put_device(smp_json *json, const smp_run_report *report)
{
    const smp_device_info *device = &report->device;
    SMP_JSON_OPEN(json, "device", ("kind", device->kind), ("name", device->name), ("index", device->index));
    smp_report_code_json(json, device);
    smp_json_integer(json, "threads", report->threads);
    if (report->device_note[0])
        smp_json_string(json, "note", report->device_note);
    smp_json_end(json, '}');
}

void smp_report_measurements_json(smp_json *json, const smp_measurements *measurements)
{
    smp_json_array(json, "findings");
    for (size_t i = 0; i < measurements->count; i++) {
        const smp_measurement *item = &measurements->items[i];
        smp_json_object(json, NULL);
        smp_json_string(json, "name", item->name);
        if (item->channel >= 0)
            smp_json_integer(json, "channel", item->channel);
        if (item->list)
            smp_json_numbers(json, "values", item->list, item->list_len);
        else if (item->text[0])
            smp_json_string(json, "value", item->text);
        else
            smp_json_number(json, "value", item->value);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void put_step(smp_json *json, const smp_step_report *step)
{
    bool timed = step->seconds > 0;
    SMP_JSON_OPEN(json, NULL, ("step", step->label), ("inserted", (bool)(step->node < 0)));
    if (step->line)
        smp_json_integer(json, "line", step->line);
    if (step->variant[0])
        smp_json_string(json, "variant", step->variant);
    SMP_JSON(json, ("output", step->type), ("seconds", step->seconds));
    if (step->result_seconds > 0)
        smp_json_number(json, "result_seconds", step->result_seconds);
    SMP_JSON(json, ("bytes", step->bytes), ("pixels", step->pixels), ("operations", step->ops),
             ("gb_per_second", timed ? (double)step->bytes / step->seconds / 1e9 : NAN),
             ("mpixel_per_second", timed ? (double)step->pixels / step->seconds / 1e6 : NAN));
    if (step->counts_clipping)
        smp_json_integer(json, "clipped", (int64_t)step->clipped);
    if (step->counter) {
        const smp_shared_count *count = &step->shared;
        smp_json_object(json, "shared_memory");
        smp_json_string(json, "source", step->counter);
        if (step->counted_code[0])
            smp_json_string(json, "code", step->counted_code);
        SMP_JSON(json, ("instructions", count->instructions), ("wavefronts", count->wavefronts),
                 ("ideal", count->ideal), ("conflicts", (int64_t)(count->wavefronts - count->ideal)),
                 ("crop", step->crop[0] ? step->crop : NULL));
        smp_json_end(json, '}');
    }
    if (step->measurements.count) {
        if (step->name[0])
            smp_json_string(json, "name", step->name);
        smp_report_measurements_json(json, &step->measurements);
    }
    smp_json_end(json, '}');
}

static void put_notes(smp_json *json, const char *name, const smp_notes *notes)
{
    if (!notes->count)
        return;
    smp_json_array(json, name);
    for (int i = 0; i < notes->count; i++)
        smp_json_string(json, NULL, notes->items[i]);
    smp_json_end(json, ']');
}

void smp_report_drawn_json(smp_json *json, const char *drawn)
{
    char line[400];
    if (!drawn)
        return;
    smp_json_array(json, "drawn");
    for (const char *at = drawn; *at; at += *at == '\n') {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        smp_json_string(json, NULL, line);
        at += length;
    }
    smp_json_end(json, ']');
}

void smp_report_drawn(FILE *to, const char *drawn)
{
    for (const char *at = drawn ? drawn : ""; *at; at += *at == '\n') {
        const int length = (int)strcspn(at, "\n");
        fprintf(to, "%s%.*s\n", at == drawn ? "  drawn: " : "         ", length, at);
        at += length;
    }
}

void smp_report_notes_json(smp_json *json, const smp_run_report *report)
{
    put_notes(json, "input_notes", &report->input_notes);
    put_notes(json, "output_notes", &report->output_notes);
}

void smp_report_json(FILE *to, const smp_run_report *report, bool compact)
{
    smp_json writer, *json = &writer;
    smp_json_begin(json, to, compact);
    SMP_JSON_OPEN(json, NULL, ("input", report->input), ("output", report->output),
                  ("status", report->status ? "failed" : "done"), ("exit_status", smp_exit_status(report->status)));
    if (report->status)
        smp_json_string(json, "error", report->error);
    smp_json_string(json, "version", SMP_VERSION);
    put_device(json, report);
    SMP_JSON(json, ("input_type", report->shape_in), ("output_type", report->shape_out[0] ? report->shape_out : NULL),
             ("input_bytes", report->input_bytes));
    if (report->output_clipped)
        smp_json_integer(json, "output_clipped", (int64_t)report->output_clipped);
    smp_report_notes_json(json, report);
    SMP_JSON(json, ("strip_rows", report->strip_rows), ("strips", report->strips), ("peak_bytes", report->peak_bytes));
    SMP_JSON_OBJECT(json, "seconds", ("read", report->read_seconds), ("upload", report->upload_seconds),
                    ("steps", report->device_seconds), ("download", report->download_seconds),
                    ("write", report->write_seconds), ("wall", report->wall_seconds));
    smp_report_drawn_json(json, report->drawn);
    smp_json_array(json, "steps");
    for (size_t i = 0; i < report->step_count; i++)
        put_step(json, &report->steps[i]);
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}
