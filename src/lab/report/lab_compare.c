/* Kernels side by side: the table, and the line to look at. */
#include <string.h>

#include "lab/report/lab.h"
#include "lab/time/gpu.h"
#include "report/text.h"

const char *const smp_lab_same_names[] = {"unchecked", "first", "same", "rounded", "different"};

smp_lab_total smp_lab_total_of(const smp_warp_result *result)
{
    smp_lab_total t = {0};
    for (size_t i = 0; i < result->row_count; i++) {
        const smp_warp_row *row = &result->rows[i];
        if (row->space == SMP_WARP_LOCAL)
            continue;
        t.wavefronts += row->wavefronts;
        t.ideal += row->ideal;
        t.conflicts += row->conflicts;
        t.sectors += row->sectors;
        t.sectors_ideal += row->sectors_ideal;
    }
    return t;
}

bool smp_lab_waves(const smp_warp_result *result, double *waves, const char **gpu)
{
    smp_time_gpu g;
    if (!result->fit.arch || !result->fit.blocks || !smp_time_gpu_of_arch(result->fit.arch, &g))
        return false;
    *waves = (double)result->blocks / (result->fit.blocks * g.sms);
    *gpu = g.title;
    return true;
}

enum { NAME = 20, COUNT = 9, RATIO = SMP_LAB_RATIO, REGISTERS = 4, BLOCKS = 6, AT = 17 };

void smp_lab_ratio(FILE *to, uint64_t a, uint64_t b, const char *color, const char *off)
{
    char text[32] = "-";
    if (b)
        snprintf(text, sizeof text, "%.3g", (double)a / (double)b);
    fprintf(to, " %s%*s%s", a > b ? color : "", RATIO, text, a > b ? off : "");
}

static void put_kernel(FILE *to, const smp_warp_result *r, const smp_paint *paint)
{
    static const char *const limits[] = {"shared memory", "shared"};
    const smp_lab_total t = smp_lab_total_of(r);
    char text[40] = "-";
    fputs("  ", to);
    smp_text_column(to, r->kernel, NAME);
    smp_lab_number(to, r->instructions, COUNT);
    smp_lab_number(to, t.wavefronts, COUNT);
    smp_lab_number(to, t.ideal, COUNT);
    smp_lab_number(to, t.conflicts, COUNT);
    smp_lab_ratio(to, t.wavefronts, t.ideal, paint->red, paint->off);
    smp_lab_number(to, t.sectors, COUNT);
    smp_lab_ratio(to, t.sectors, t.sectors_ideal, paint->yellow, paint->off);
    if (!r->fit.arch) {
        fprintf(to, " %*s %*s\n", REGISTERS, "-", BLOCKS, "-");
        return;
    }
    snprintf(text, sizeof text, "%u,%.0f%%", r->fit.blocks, 100 * r->fit.occupancy);
    fprintf(to, " %*u %*s %s\n", REGISTERS, r->fit.registers, BLOCKS + 1, text,
            !strcmp(r->fit.limit, limits[0]) ? limits[1] : r->fit.limit);
}

bool smp_lab_has_files(const smp_lab_report *report)
{
    bool files = false;
    for (size_t i = 0; i < report->count; i++)
        files = files || report->entries[i].number != report->entries[0].number;
    return files;
}

void smp_lab_put_file(FILE *to, const smp_lab_entry *entry, size_t *shown, const smp_paint *paint)
{
    if (*shown != entry->number) {
        fprintf(to, "  %s", paint->dim);
        smp_text_clean(to, entry->file);
        fprintf(to, "%s\n", paint->off);
    }
    *shown = entry->number;
}

static void put_group(FILE *to, const smp_lab_report *report, size_t group, const smp_paint *paint)
{
    fprintf(to, "%s  %-*s %*s %*s %*s %*s %*s %*s %*s %*s %*s limit%s\n", paint->dim, NAME, "kernel", COUNT, "instr.",
            COUNT, "wavefr.", COUNT, "ideal", COUNT, "conflicts", RATIO, "n-way", COUNT, "sectors", RATIO, "/need",
            REGISTERS, "regs", BLOCKS + 1, "blocks", paint->off);
    size_t shown = SIZE_MAX;
    const bool files = smp_lab_has_files(report);
    for (size_t i = 0; i < report->count; i++) {
        if (report->entries[i].group != group || !report->results[i].grid[0])
            continue;
        if (files)
            smp_lab_put_file(to, &report->entries[i], &shown, paint);
        put_kernel(to, &report->results[i], paint);
    }
}

static void put_differences(FILE *to, const smp_lab_report *report, const smp_paint *paint)
{
    for (size_t i = 0; i < report->count; i++) {
        const smp_lab_entry *e = &report->entries[i];
        if (e->same <= SMP_LAB_FIRST)
            continue;
        const bool bad = e->same == SMP_LAB_DIFFERENT;
        fprintf(to, "  %s%s%s  ", bad ? paint->red : paint->green, bad ? "DIFFERENT" : "results", paint->off);
        smp_text_clean(to, report->results[i].kernel);
        fputs(e->same == SMP_LAB_SAME      ? ": the same bytes as the first"
              : e->same == SMP_LAB_ROUNDED ? ": equal to the first but for rounding; "
                                           : ": ",
              to);
        smp_text_clean(to, e->difference);
        fputc('\n', to);
    }
}

/* Names the kernels of which nothing is known but costs. */
static void put_unchecked(FILE *to, const smp_lab_report *report, const smp_paint *paint)
{
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        char text[400];
        if (!r->unchecked)
            continue;
        const char *note = strstr(r->notes, "mistakes are not looked for");
        snprintf(text, sizeof text, "%.*s", note ? (int)strcspn(note, "\n") : 0, note ? note : "");
        fprintf(to, "  %snote%s  ", paint->yellow, paint->off);
        smp_text_clean(to, r->kernel);
        fputs(": ", to);
        smp_text_clean(to, note ? text : "mistakes are not looked for");
        fputc('\n', to);
    }
}

static void put_look(FILE *to, const smp_lab_report *report, const smp_paint *paint)
{
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        const smp_warp_row *row = smp_lab_dearest(r, ~0u);
        char text[SMP_LAB_ADVICE + SMP_LAB_SAVED], price[SMP_LAB_SAVED];
        if (!row)
            continue;
        smp_lab_verdict(row, text, sizeof text);
        fputs("  ", to);
        smp_text_clean(to, r->kernel);
        fprintf(to, ", %s:%u: %s%s%s\n", smp_lab_file(r, row->file), row->line,
                row->space == SMP_WARP_SHARED ? paint->red : paint->yellow, text, paint->off);
        const char *saved = smp_lab_saved(r, row, price);
        if (smp_lab_advice(r, row, text, sizeof text)) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s", saved);
            fputs("    to avoid it: ", to);
            smp_text_wrap(to, text, AT, AT);
        } else if (saved[0])
            fprintf(to, "    without it%s\n", saved);
    }
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].finding_count; k++) {
            const smp_warp_result *r = &report->results[i];
            const smp_warp_finding *f = &r->findings[k];
            fprintf(to, "  %s%s%s  ", paint->red, smp_warp_fault_name(f->fault), paint->off);
            smp_text_clean(to, r->kernel);
            fprintf(to, ", %s:%u", smp_lab_file(r, f->here.file), f->here.line);
            if (f->other.line)
                fprintf(to, " and %s:%u", smp_lab_file(r, f->other.file), f->other.line);
            fputs(": ", to);
            smp_text_clean(to, f->text);
            fputc('\n', to);
        }
}

void smp_lab_compare(FILE *to, const smp_lab_report *report, bool color)
{
    const smp_paint paint = smp_paint_for(color);
    size_t groups = 0;
    for (size_t i = 0; i < report->count; i++)
        if (report->entries[i].group >= groups)
            groups = report->entries[i].group + 1;
    for (size_t g = 0; g < groups; g++) {
        fputc('\n', to);
        put_group(to, report, g, &paint);
    }
    smp_lab_time_compare(to, report, color);
    fputc('\n', to);
    put_differences(to, report, &paint);
    put_unchecked(to, report, &paint);
    put_look(to, report, &paint);
}
