/* One run as a table for people: a line for each step, the totals, clipped samples, measurements. */
#include <math.h>
#include <string.h>

#include "report/bars.h"
#include "report/report.h"
#include "report/text.h"

/* Widths of the table's columns. With two blanks between them they fit SMP_TEXT_WIDTH. */
enum { STEP_COLUMNS = 44, VARIANT_COLUMNS = 10, TIME_COLUMNS = 10, SHARE_COLUMNS = 6, RATE_COLUMNS = 8 };
/* With counts of shared memory the statement column is narrower, and pixels are not shown. */
enum { COUNTED_STEP_COLUMNS = 24, COUNT_COLUMNS = 9, WAYS_COLUMNS = 5 };
enum { SPARK_COLUMNS = 48 };

static bool has_counts(const smp_run_report *report)
{
    for (size_t i = 0; i < report->step_count; i++)
        if (report->steps[i].counter)
            return true;
    return false;
}

static void put_head(FILE *to, const smp_run_report *report, bool counted, const smp_paint *paint)
{
    char size[24];
    smp_text_clean(to, report->input ? report->input : "?");
    fprintf(to, " (%s", report->shape_in[0] ? report->shape_in : "?");
    if (report->input_bytes) {
        smp_text_bytes(size, sizeof size, (double)report->input_bytes);
        fprintf(to, ", %s", size);
    }
    fputc(')', to);
    if (report->output) {
        fputs(" -> ", to);
        smp_text_clean(to, report->output);
        fprintf(to, " (%s)", report->shape_out[0] ? report->shape_out : "?");
    }
    fprintf(to, "\n%s: %s, %d thread%s\n", report->device.kind, report->device.name, report->threads,
            report->threads == 1 ? "" : "s");
    if (report->device_note[0])
        fprintf(to, "%s\n", report->device_note);
    fprintf(to, "%s  ", paint->bold);
    smp_text_column(to, "step", counted ? COUNTED_STEP_COLUMNS : STEP_COLUMNS);
    fputs("  ", to);
    smp_text_column(to, "variant", VARIANT_COLUMNS);
    smp_text_cell(to, "time ms", TIME_COLUMNS);
    smp_text_cell(to, "share", SHARE_COLUMNS);
    smp_text_cell(to, "GB/s", RATE_COLUMNS);
    if (counted) {
        smp_text_cell(to, "wavefr.", COUNT_COLUMNS);
        smp_text_cell(to, "conflicts", COUNT_COLUMNS);
        smp_text_cell(to, "n-way", WAYS_COLUMNS);
    } else {
        bool sound = report->step_count && report->steps[0].in.kind == SMP_AUDIO;
        smp_text_cell(to, sound ? "Mframe/s" : "Mpixel/s", RATE_COLUMNS);
    }
    fprintf(to, "%s\n", paint->off);
}

/* A number as it is, or with k, M, G where the column is narrow. */
static void put_count(FILE *to, uint64_t count, bool known)
{
    static const char *const units[] = {"%.0f", "%.1f k", "%.1f M", "%.1f G", "%.1f T"};
    double value = (double)count;
    int unit = 0;
    while (value >= (unit ? 99999.5 : 999999999.5) && unit < 4)
        value /= 1000, unit++;
    smp_text_number(to, COUNT_COLUMNS, units[unit], value, known);
}

static void put_step(FILE *to, const smp_step_report *step, double all_seconds, bool counted, const smp_paint *paint)
{
    bool inserted = step->node<0, timed = step->seconds> 0;
    fprintf(to, "%s  ", inserted ? paint->dim : "");
    smp_text_column(to, step->label, counted ? COUNTED_STEP_COLUMNS : STEP_COLUMNS);
    fputs("  ", to);
    smp_text_column(to, step->variant[0] ? step->variant : "-", VARIANT_COLUMNS);
    smp_text_number(to, TIME_COLUMNS, "%.3f", step->seconds * 1e3, true);
    smp_text_number(to, SHARE_COLUMNS, "%.0f %%", all_seconds > 0 ? step->seconds / all_seconds * 100 : 0,
                    all_seconds > 0);
    smp_text_number(to, RATE_COLUMNS, "%.2f", timed ? (double)step->bytes / step->seconds / 1e9 : 0,
                    timed && step->bytes);
    if (counted) {
        const smp_shared_count *count = &step->shared;
        bool known = step->counter && count->instructions;
        put_count(to, count->wavefronts, known);
        put_count(to, count->wavefronts - count->ideal, known);
        smp_text_number(to, WAYS_COLUMNS, "%.2f", known ? (double)count->wavefronts / (double)count->ideal : 0, known);
    } else {
        smp_text_number(to, RATE_COLUMNS, "%.0f", timed ? (double)step->pixels / step->seconds / 1e6 : 0,
                        timed && step->pixels);
    }
    fprintf(to, "%s\n", inserted ? paint->off : "");
}

static void put_total(FILE *to, const char *name, double seconds, bool counted, const char *remark)
{
    fputs("  ", to);
    smp_text_column(to, name, (counted ? COUNTED_STEP_COLUMNS : STEP_COLUMNS) + 2 + VARIANT_COLUMNS);
    smp_text_number(to, TIME_COLUMNS, "%.3f", seconds * 1e3, true);
    fprintf(to, "%s%s\n", remark[0] ? "  " : "", remark);
}

/* Prints the time that the processor took for a device's results, if any. */
static void put_results(FILE *to, const smp_step_report *step, double wall, bool counted)
{
    if (step->result_seconds >= 0.01 * wall)
        put_total(to, "  (its results)", step->result_seconds, counted, "by a thread of the processor");
}

static void put_totals(FILE *to, const smp_run_report *report, bool counted)
{
    const char *way = report->detours ? "by way of other memory: no more can be pinned" : "";
    char rate[48] = "", size[24];
    put_total(to, "all steps", report->device_seconds, counted, "");
    if (report->upload_seconds > 0)
        put_total(to, "upload", report->upload_seconds, counted, way);
    if (report->download_seconds > 0)
        put_total(to, "download", report->download_seconds, counted, way);
    if (report->input_bytes && report->read_seconds > 0)
        snprintf(rate, sizeof rate, "%.1f MB/s of file", (double)report->input_bytes / report->read_seconds / 1e6);
    put_total(to, "read and decode", report->read_seconds, counted, rate);
    if (report->output)
        put_total(to, "encode and write", report->write_seconds, counted, "");
    put_total(to, "wall", report->wall_seconds, counted, "in which these overlap");
    smp_text_bytes(size, sizeof size, (double)report->peak_bytes);
    fprintf(to, "  %lld strip%s of %lld row%s, peak memory %s\n", (long long)report->strips,
            report->strips == 1 ? "" : "s", (long long)report->strip_rows, report->strip_rows == 1 ? "" : "s", size);
}

/* Says what the counts are of: on a CPU they are not of the kernels that were timed. */
static void put_counted(FILE *to, const smp_run_report *report, const smp_paint *paint)
{
    const char *counter = "", *code = "";
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *step = &report->steps[i];
        counter = step->counter ? step->counter : counter;
        code = step->counter ? step->counted_code : code;
        if (step->counter && step->crop[0]) {
            fprintf(to, "  %scounts of '", paint->yellow);
            smp_text_clean(to, step->label);
            fprintf(to, "' are of a crop: %s%s\n", step->crop, paint->off);
        }
    }
    fprintf(to, "  wavefronts and conflicts: shared memory of the GPU kernels of these variants (%s)\n", counter);
    if (code[0])
        fprintf(to, "  %s: %s\n", counter, code);
}

/* ------------------------------------------------------------------------------------------------ measurements */

/* Whole numbers as they are, others to six digits, or fewer where the column is narrow. */
static void number_text(char *text, size_t size, double value, int columns)
{
    if (isfinite(value) && value == floor(value) && fabs(value) < 1e15)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.6g", value);
    for (int digits = 5; digits > 0 && strlen(text) > (size_t)columns; digits--)
        snprintf(text, size, "%.*g", digits, value);
}

static const smp_measurement *find_value(const smp_measurements *measurements, const char *name, int channel)
{
    for (size_t i = 0; i < measurements->count; i++)
        if (!measurements->items[i].list && measurements->items[i].channel == channel &&
            !strcmp(measurements->items[i].name, name))
            return &measurements->items[i];
    return NULL;
}

/* Whether this is the first single value of its name, which gets the row of that name. */
static bool begins_row(const smp_measurements *measurements, size_t at)
{
    if (measurements->items[at].list)
        return false;
    for (size_t i = 0; i < at; i++)
        if (!measurements->items[i].list && !strcmp(measurements->items[i].name, measurements->items[at].name))
            return false;
    return true;
}

/* Single values: a row for each name, a column for each channel (-1: the whole picture). */
static void put_values(FILE *to, const smp_measurements *measurements)
{
    int first = SMP_MAX_CHANNELS, last = -2, name_columns = 8;
    for (size_t i = 0; i < measurements->count; i++) {
        const smp_measurement *item = &measurements->items[i];
        if (item->list)
            continue;
        first = item->channel < first ? item->channel : first;
        last = item->channel > last ? item->channel : last;
        int columns = (int)smp_text_columns(item->name);
        name_columns = columns > name_columns ? columns : name_columns;
    }
    if (last < -1)
        return;
    int columns = last - first >= 5 ? 8 : 12;
    for (size_t i = 0; i < measurements->count; i++) {
        const int length = (int)strlen(measurements->items[i].text);
        columns = length > columns ? length : columns;
    }
    if (last >= 0) {
        fprintf(to, "    %*s", name_columns, "");
        for (int channel = first; channel <= last; channel++) {
            char text[16] = "all";
            if (channel >= 0)
                snprintf(text, sizeof text, columns < 12 ? "ch %d" : "channel %d", channel);
            smp_text_cell(to, text, columns);
        }
        fputc('\n', to);
    }
    for (size_t i = 0; i < measurements->count; i++) {
        if (!begins_row(measurements, i))
            continue;
        fputs("    ", to);
        smp_text_column(to, measurements->items[i].name, name_columns);
        for (int channel = first; channel <= last; channel++) {
            const smp_measurement *item = find_value(measurements, measurements->items[i].name, channel);
            char text[48] = "";
            if (item && item->text[0])
                snprintf(text, sizeof text, "%s", item->text);
            else if (item)
                number_text(text, sizeof text, item->value, columns);
            smp_text_cell(to, text, columns);
        }
        fputc('\n', to);
    }
}

/* A list as a line: the number of entries, their sum, which are not zero, and a small bar chart of up to SPARK_COLUMNS
 * bars, as many as the terminal has room for. A bar is the mean of its entries: bars of five and of six make no comb.
 */
static void put_list(FILE *to, const smp_measurement *item)
{
    enum { VALUES = 8 };
    if (item->values) {
        fputs("    ", to);
        smp_text_column(to, item->name, 8);
        for (size_t k = 0; k < item->list_len && k < VALUES; k++) {
            char value[48];
            number_text(value, sizeof value, item->list[k], 6);
            fprintf(to, "  %s", value);
        }
        if (item->list_len > VALUES)
            fprintf(to, "  and %zu more", item->list_len - VALUES);
        fputc('\n', to);
        return;
    }
    size_t n = item->list_len, low = n, high = 0, sizes[SPARK_COLUMNS] = {0};
    double sum = 0, most = 0, groups[SPARK_COLUMNS] = {0};
    for (size_t i = 0; i < n; i++) {
        sum += item->list[i];
        if (item->list[i] > 0) {
            low = low < n ? low : i;
            high = i;
        }
    }
    char number[48], tail[120], channel[24] = "";
    number_text(number, sizeof number, sum, 15);
    int length = snprintf(tail, sizeof tail, "|  %zu bins, sum %s", n, number);
    if (low < n)
        length += snprintf(tail + length, sizeof tail - (size_t)length, ", %zu..%zu", low, high);
    if (item->channel >= 0)
        snprintf(channel, sizeof channel, " channel %d", item->channel);
    const size_t room = (size_t)smp_bars_fit(to, SPARK_COLUMNS, 4 + 8 + (int)strlen(channel) + 3 + length),
                 shown = n < room ? n : room;
    for (size_t i = 0; i < n; i++) {
        groups[i * shown / n] += item->list[i] > 0 ? item->list[i] : 0;
        sizes[i * shown / n]++;
    }
    for (size_t i = 0; i < shown; i++) {
        groups[i] /= (double)sizes[i];
        most = groups[i] > most ? groups[i] : most;
    }
    fputs("    ", to);
    smp_text_column(to, item->name, 8);
    fprintf(to, "%s  |", channel);
    for (size_t i = 0; i < shown; i++) /* any value above 0 shows as the lowest bar */
        smp_bar_put(to, groups[i] > 0 && most > 0 ? 1 + (int)(groups[i] / most * 7.0) : 0);
    fprintf(to, "%s\n", tail);
}

void smp_report_measurements(FILE *to, const char *label, const smp_measurements *measurements, bool color)
{
    smp_paint paint = smp_paint_for(color);
    fprintf(to, "  %s", paint.bold);
    smp_text_clean(to, label);
    fprintf(to, "%s\n", paint.off);
    put_values(to, measurements);
    for (size_t i = 0; i < measurements->count; i++)
        if (measurements->items[i].list)
            put_list(to, &measurements->items[i]);
}

void smp_report_table(FILE *to, const smp_run_report *report, bool color)
{
    smp_paint paint = smp_paint_for(color);
    bool counted = has_counts(report);
    put_head(to, report, counted, &paint);
    for (size_t i = 0; i < report->step_count; i++) {
        put_step(to, &report->steps[i], report->device_seconds, counted, &paint);
        put_results(to, &report->steps[i], report->wall_seconds, counted);
    }
    put_totals(to, report, counted);
    smp_report_drawn(to, report->drawn);
    if (counted)
        put_counted(to, report, &paint);
    for (size_t i = 0; i < report->step_count; i++)
        if (report->steps[i].measurements.count)
            smp_report_measurements(to, report->steps[i].label, &report->steps[i].measurements, color);
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *step = &report->steps[i];
        if (!step->clipped)
            continue;
        fprintf(to, "%swarning:%s '", paint.yellow, paint.off);
        smp_text_clean(to, step->label);
        fprintf(to, "' clipped %llu sample%s to the range of its format\n", (unsigned long long)step->clipped,
                step->clipped == 1 ? "" : "s");
    }
    if (report->output_clipped)
        fprintf(to, "%swarning:%s %llu sample%s beyond full scale or NaN when written\n", paint.yellow, paint.off,
                (unsigned long long)report->output_clipped, report->output_clipped == 1 ? " was" : "s were");
    if (report->status)
        fprintf(to, "%sfailed%s before the end; the times cover what was done\n", paint.red, paint.off);
}
