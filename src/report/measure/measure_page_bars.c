/* Files side by side as bars on a data set's page: recordings that are too soft or clipped, how many things were found
 * in each. See measure_page.h. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/measure/measure_page.h"
#include "report/page.h"
#include "report/text.h"

enum { MOST_BARS = 40 };

/* What numbers say of any file, whatever the others have. */
typedef struct judgement {
    const char *column;                 /* of all channels, or the sum of its channels */
    double bound;                       /* a value beyond it is told */
    bool below;                         /* beyond is below */
    const char *one, *many;             /* "file is too soft" */
    const char *title, *about, *digits; /* digits: of printf */
} judgement;

static const judgement judgements[] = {
    {"lufs", -23, true, "file is too soft", "files are too soft", "Too soft",
     "Below -23 LUFS, the loudness of broadcasts (EBU R 128); podcasts have -16, music services -14. The bar is what "
     "is missing to -16. <code>smempipe run podcast</code> brings them there.",
     "%.1f LUFS"},
    {"clipped", 0, false, "file has clipped samples", "files have clipped samples", "Clipped",
     "Samples at full scale and beyond, of all channels.", "%.0f"},
};
enum { JUDGEMENTS = sizeof judgements / sizeof judgements[0] };
static const double aim = -16; /* LUFS: of podcast.pipe */

/* Of the column, or the sum over its channels; NaN: none. */
static double sum_of(const smp_measure_find *f, size_t file, const char *name)
{
    const char *const names[] = {name, NULL};
    double sum = (double)NAN;
    for (size_t c = 0; c < f->wide->column_count; c++) {
        const double value =
            smp_column_is(f->wide->columns[c], names) ? smp_wide_value(f->files[file], c) : (double)NAN;
        if (!isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static bool is_beyond(const judgement *j, double value)
{
    return j->below ? value < j->bound : value > j->bound;
}

void smp_measure_page_judged(FILE *to, const smp_measure_find *f)
{
    for (int k = 0; k < JUDGEMENTS; k++) {
        size_t measured = 0, beyond = 0;
        for (size_t i = 0; i < f->file_count; i++) {
            const double value = sum_of(f, i, judgements[k].column);
            measured += isnan(value) ? 0 : 1;
            beyond += is_beyond(&judgements[k], value);
        }
        if (!measured)
            continue;
        fputs(" ", to);
        if (beyond)
            smp_page_count(to, beyond, judgements[k].one, judgements[k].many);
        else
            fprintf(to, "No %s", judgements[k].one);
        fputs(".", to);
    }
}

static void put_bar(FILE *to, const smp_wide_row *row, double part, const char *text)
{
    fputs("<tr><td>", to);
    smp_text_xml(to, row->path);
    fprintf(to, "</td><td><span style=\"width:%.1f%%\"></span></td><td>%s</td></tr>\n", 100 * part, text);
}

void smp_measure_page_judgements(FILE *to, const smp_measure_find *f)
{
    smp_ranked_file *beyond = smp_alloc_array(f->file_count, sizeof *beyond);
    for (int k = 0; k < JUDGEMENTS && beyond; k++) {
        const judgement *j = &judgements[k];
        size_t count = 0;
        for (size_t i = 0; i < f->file_count; i++) {
            const double value = sum_of(f, i, j->column);
            if (is_beyond(j, value))
                beyond[count++] = (smp_ranked_file){j->below ? aim - value : value, i};
        }
        if (!count)
            continue;
        qsort(beyond, count, sizeof *beyond, smp_by_score);
        fprintf(to, "<h2>%s</h2>\n<p class=\"soft\">%s", j->title, j->about);
        if (count > MOST_BARS)
            fprintf(to, " The first %d of %zu.", MOST_BARS, count);
        fputs("</p>\n<div class=\"scroll\"><table class=\"bars\">\n", to);
        double most = 1; /* silence lacks more than can be drawn */
        for (size_t i = 0; i < count && i < MOST_BARS; i++)
            most = isfinite(beyond[i].score) ? fmax(most, beyond[i].score) : most;
        for (size_t i = 0; i < count && i < MOST_BARS; i++) {
            char text[48];
            const double value = sum_of(f, beyond[i].file, j->column);
            snprintf(text, sizeof text, isfinite(value) ? j->digits : "silence", value);
            put_bar(to, f->files[beyond[i].file], fmin(1, beyond[i].score / most), text);
        }
        fputs("</table></div>\n", to);
    }
    smp_free(beyond);
}

void smp_measure_page_things(FILE *to, const smp_measure_find *f)
{
    smp_ranked_file *sorted = f->has_things ? smp_alloc_array(f->file_count, sizeof *sorted) : NULL;
    if (!sorted)
        return;
    size_t all = 0;
    for (size_t i = 0; i < f->file_count; i++) {
        sorted[i] = (smp_ranked_file){(double)f->things[i], i};
        all += f->things[i];
    }
    qsort(sorted, f->file_count, sizeof *sorted, smp_by_score);
    fprintf(to, "<h2>How many in each</h2>\n<p class=\"soft\">%zu in all.", all);
    if (f->file_count > MOST_BARS)
        fprintf(to, " The %d files with most of them.", MOST_BARS);
    fputs("</p>\n<div class=\"scroll\"><table class=\"bars\">\n", to);
    for (size_t i = 0; i < f->file_count && i < MOST_BARS; i++) {
        char text[24];
        snprintf(text, sizeof text, "%.0f", sorted[i].score);
        put_bar(to, f->files[sorted[i].file], sorted[i].score / fmax(1, sorted[0].score), text);
    }
    fputs("</table></div>\n", to);
    smp_free(sorted);
}
