/* Writes the results of `measure`: see measure.h. */
#include "report/measure/measure.h"

#include <math.h>

#include "report/measure/measure_find.h"
#include "report/report.h"
#include "report/text.h"

static void put_field(FILE *to, const char *text)
{
    smp_text_csv(to, text);
    fputc(',', to);
}

static void put_row(FILE *to, const char *const *names, const smp_measurement *item, size_t bin)
{
    char number[SMP_NUMBER_TEXT] = "";
    double value = item->list ? item->list[bin] : item->value;
    for (int i = 0; i < 4; i++)
        put_field(to, names[i]);
    if (item->channel >= 0)
        fprintf(to, "%d", item->channel);
    fputc(',', to);
    put_field(to, item->name);
    if (item->list)
        fprintf(to, "%zu", bin);
    if (isfinite(value))
        smp_json_number_text(number, value);
    fputc(',', to);
    smp_text_csv(to, item->text[0] ? item->text : number);
    fputc('\n', to);
}

static void put_rows(FILE *to, const char *file, const char *type, const char *label, const char *name,
                     const smp_measurements *measurements)
{
    const char *const names[] = {file, type, label, name};
    for (size_t i = 0; i < measurements->count; i++)
        for (size_t k = 0; k < (measurements->items[i].list ? measurements->items[i].list_len : 1); k++)
            put_row(to, names, &measurements->items[i], k);
}

static void put_result(smp_json *json, const char *label, const char *name, const smp_measurements *measurements)
{
    smp_json_object(json, NULL);
    smp_json_string(json, "stage", label);
    if (name[0])
        smp_json_string(json, "name", name);
    smp_report_measurements_json(json, measurements);
    smp_json_end(json, '}');
}

/* Type of what was measured: a picture as it is seen. */
typedef struct type_text {
    char text[64];
} type_text;

static type_text type_of(const smp_run_report *report)
{
    type_text type;
    smp_shape_text(&report->shape, report->shape.format, type.text, sizeof type.text);
    return type;
}

static void put_file(smp_json *json, const smp_run_report *report)
{
    SMP_JSON_OPEN(json, NULL, ("input", report->input), ("type", type_of(report).text));
    smp_json_array(json, "results");
    for (size_t i = 0; i < report->step_count; i++)
        if (report->steps[i].measurements.count)
            put_result(json, report->steps[i].label, report->steps[i].name, &report->steps[i].measurements);
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

void smp_measure_total_json(smp_json *json, const char *key, const smp_total *total,
                            const smp_measurements *measurements)
{
    char type[64];
    smp_total_type(total, type, sizeof type);
    smp_json_object(json, key);
    smp_json_string(json, "stage", total->label);
    if (total->name[0])
        smp_json_string(json, "name", total->name);
    SMP_JSON(json, ("type", type), ("files", total->files));
    if (total->partial)
        smp_report_measurements_json(json, measurements);
    else
        smp_json_string(json, "findings", NULL); /* cannot be added up */
    smp_json_end(json, '}');
}

void smp_measure_begin(smp_measure_output *o)
{
    if (o->format == SMP_MEASURE_LONG)
        fputs("file,type,stage,name,channel,finding,bin,value\n", o->to);
    if (o->format != SMP_MEASURE_JSON)
        return;
    smp_json_begin(&o->json, o->to, false);
    smp_json_object(&o->json, NULL);
    if (!o->totals_only)
        smp_json_array(&o->json, "files");
}

smp_code smp_measure_file(smp_measure_output *o, const smp_run_report *report, smp_error *err)
{
    if (o->totals_only)
        return SMP_OK;
    if (o->format == SMP_MEASURE_JSON) {
        put_file(&o->json, report);
        return SMP_OK;
    }
    if (o->format == SMP_MEASURE_CSV || o->format == SMP_MEASURE_HTML)
        return smp_wide_file(&o->wide, report, err);
    smp_paint paint = smp_paint_for(o->color);
    if (o->format == SMP_MEASURE_TABLE) {
        fputs(paint.bold, o->to);
        smp_text_clean(o->to, report->input);
        fprintf(o->to, "%s (%s)\n", paint.off, type_of(report).text);
    }
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *step = &report->steps[i];
        if (!step->measurements.count)
            continue;
        if (o->format == SMP_MEASURE_LONG)
            put_rows(o->to, report->input, type_of(report).text, step->label, step->name, &step->measurements);
        else
            smp_report_measurements(o->to, step->label, &step->measurements, o->color);
    }
    return SMP_OK;
}

static smp_code put_together(smp_measure_output *o, const smp_total *total, const smp_measurements *measurements,
                             smp_error *err)
{
    char type[64];
    smp_paint paint = smp_paint_for(o->color);
    smp_total_type(total, type, sizeof type);
    if (o->format == SMP_MEASURE_JSON) {
        smp_measure_total_json(&o->json, NULL, total, measurements);
    } else if (o->format == SMP_MEASURE_CSV) {
        return smp_wide_total(&o->wide, total, measurements, err);
    } else if (o->format == SMP_MEASURE_LONG) {
        put_rows(o->to, "(together)", type, total->label, total->name, measurements);
    } else {
        fprintf(o->to, "%s%zu file%s together%s (%s)\n", paint.bold, total->files, total->files == 1 ? "" : "s",
                paint.off, type);
        if (total->partial)
            smp_report_measurements(o->to, total->label, measurements, o->color);
        else {
            fputs("  ", o->to);
            smp_text_clean(o->to, total->label);
            fputs(": these results do not add up over files\n", o->to);
        }
    }
    return SMP_OK;
}

smp_code smp_measure_end(smp_measure_output *o, const smp_totals *totals, size_t done, size_t failed, smp_error *err)
{
    smp_code code = SMP_OK;
    bool json = o->format == SMP_MEASURE_JSON, page = o->format == SMP_MEASURE_HTML,
         together = !page && (o->totals_only || json || (done > 1 && o->format != SMP_MEASURE_CSV));
    if (json) {
        if (!o->totals_only)
            smp_json_end(&o->json, ']');
        SMP_JSON(&o->json, ("done", done), ("failed", failed));
        smp_json_array(&o->json, "together");
    }
    for (size_t i = 0; together && !code && i < totals->count; i++) {
        smp_measurements measurements = {0};
        code = smp_total_measurements(&totals->items[i], &measurements, err);
        code = code ? code : put_together(o, &totals->items[i], &measurements, err);
        smp_measurements_free(&measurements);
    }
    if (json) {
        smp_json_end(&o->json, ']');
        smp_json_end(&o->json, '}');
    }
    if (page)
        smp_wide_name(&o->wide);
    if (!code && page)
        code = smp_measure_page(o, totals, failed, err);
    if (!code && o->format == SMP_MEASURE_CSV)
        code = smp_wide_write(&o->wide, o->to, o->sort, err);
    o->rows = o->wide.row_count;
    o->unsorted = o->wide.unsorted;
    smp_wide_free(&o->wide);
    return code;
}
