/* The table of `smempipe tune`: see tune.h. */
#include "report/tune.h"

#include <string.h>

#include "base/alloc.h"
#include "report/text.h"

enum { LABEL = 31, TRIED = 5, CHOSEN = 22, TIME = 10, FASTER = 7, WHY = 20 };

void smp_tune_report_free(smp_tune_report *report)
{
    for (size_t i = 0; report->rows && i < report->count; i++)
        smp_free(report->rows[i].tries);
    smp_free(report->rows);
    *report = (smp_tune_report){.rows = NULL};
}

bool smp_tune_report_keeps(const smp_tune_report *report)
{
    bool some = false;
    for (size_t i = 0; i < report->count; i++)
        some = some || report->rows[i].changed;
    return some && !report->discarded;
}

/* Two blanks and text flush right; "-" where the number is not known. */
static void put_number(FILE *to, int columns, const char *format, double value, bool known)
{
    char text[32] = "-";
    if (known)
        snprintf(text, sizeof text, format, value);
    fputs("  ", to);
    smp_text_column(to, text, -columns);
}

static void put_tries(FILE *to, const smp_tune_row *row, const smp_paint *paint)
{
    for (size_t i = 0; i < row->try_count; i++) {
        const smp_tune_try *t = &row->tries[i];
        fprintf(to, "%s       ", paint->dim);
        smp_text_column(to, t->text, LABEL + TRIED + CHOSEN - 3);
        put_number(to, TIME, "%.4g", t->seconds * 1e3, t->seconds > 0);
        const char *what = t->why[0] ? t->why : smp_verdict_name(t->verdict);
        const int columns = (int)smp_text_columns(what);
        fprintf(to, "  ");
        smp_text_column(to, what, columns < WHY ? columns : WHY);
        fprintf(to, "%s\n", paint->off);
    }
}

static void put_row(FILE *to, const smp_tune_row *row, bool all, const smp_paint *paint)
{
    char number[16] = "", chosen[96];
    if (row->number)
        snprintf(number, sizeof number, "%d", row->number);
    fprintf(to, "%3s  ", number);
    smp_text_column(to, row->label, LABEL);
    put_number(to, TRIED, "%.0f", (double)row->try_count, !row->same_as);
    if (row->same_as)
        snprintf(chosen, sizeof chosen, "as step %d", row->same_as);
    else
        snprintf(chosen, sizeof chosen, "%s", row->chosen);
    fprintf(to, "  %s", row->changed ? paint->green : "");
    smp_text_column(to, chosen, CHOSEN);
    fputs(row->changed ? paint->off : "", to);
    put_number(to, TIME, "%.4g", row->before.median * 1e3, row->before.median > 0);
    put_number(to, TIME, "%.4g", row->after.median * 1e3, row->changed && row->after.median > 0);
    put_number(to, FASTER, "%.2f x", row->before.median / row->after.median, row->changed && row->after.median > 0);
    fputc('\n', to);
    if (all)
        put_tries(to, row, paint);
}

void smp_tune_table(FILE *to, const smp_tune_report *report, bool all, bool color)
{
    const smp_paint paint = smp_paint_for(color);
    smp_text_clean(to, report->input);
    fprintf(to, " (%s)\n%s: ", report->input_type, report->device.kind);
    smp_text_clean(to, report->device.name);
    if (!strcmp(report->device.kind, "cpu"))
        fprintf(to, ", %s, %d thread%s", report->device.isa, report->device.units,
                report->device.units == 1 ? "" : "s");
    fprintf(to, "\n\n%s  #  ", paint.bold);
    smp_text_column(to, "step", LABEL);
    fprintf(to, "  %*s  ", TRIED, "tried");
    smp_text_column(to, "chosen", CHOSEN);
    fprintf(to, "  %*s  %*s  %*s%s\n", TIME, "before ms", TIME, "after ms", FASTER, "faster", paint.off);
    for (size_t i = 0; i < report->count; i++)
        put_row(to, &report->rows[i], all, &paint);
    fprintf(to, "\n%s", paint.dim);
    if (report->discarded)
        smp_text_wrap(
            to, "Steps are faster by themselves, but the whole pipeline is slower with them: nothing is kept.", 0, 0);
    else if (!smp_tune_report_keeps(report))
        smp_text_wrap(to, "Nothing is faster beyond doubt than what runs anyway: the defaults stay.", 0, 0);
    else
        smp_text_wrap(
            to,
            "Medians of alternating samples. Chosen is what is faster beyond doubt (95 % confidence, 1 % at the "
            "least) and has naive's bytes.",
            0, 0);
    fputs(paint.off, to);
}
