/* Files side by side on a data set's page: the plain table, recordings that are too soft or clipped, how many things
 * were found in each. See measure_page.h. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/measure/measure_find.h"
#include "report/page.h"

enum {
    MOST_ROWS = 5000, /* more would make browsers slow */
    MOST_BARS = 40,
    FIXED = 7 /* columns: path, width, height, frames, rate, channels, format */
};

/* Whether any file has a value in the column: things in files have columns of their own. */
static bool has_any(const smp_measure_find *found, size_t column)
{
    for (size_t i = 0; i < found->file_count; i++)
        if (!isnan(smp_wide_value(found->files[i], column)) ||
            (column < found->files[i]->value_count && found->files[i]->texts[column][0]))
            return true;
    return false;
}

/* Texts of a row, and room for its numbers. */
typedef struct cells {
    const char **texts;
    char (*numbers)[SMP_NUMBER_TEXT];
    size_t count;
} cells;

static void add(cells *c, const char *text, double value)
{
    if (!text && isfinite(value)) {
        smp_json_number_text(c->numbers[c->count], value);
        text = c->numbers[c->count];
    }
    c->texts[c->count++] = text ? text : "";
}

static void put_file(FILE *to, const smp_measure_find *found, const smp_wide_row *row, const bool kinds[2],
                     const bool *shown, cells *c)
{
    const bool sound = row->rate > 0;
    c->count = 0;
    add(c, row->path, 0);
    if (kinds[0]) {
        add(c, sound ? "" : NULL, (double)row->width);
        add(c, sound ? "" : NULL, (double)row->height);
    }
    if (kinds[1]) {
        add(c, sound ? NULL : "", (double)row->height);
        add(c, sound ? NULL : "", row->rate);
    }
    add(c, NULL, (double)row->channels);
    add(c, row->format, 0);
    for (size_t i = 0; i < found->wide->column_count; i++) {
        const double value = smp_wide_value(row, i);
        if (shown[i])
            add(c, isfinite(value) ? NULL : i < row->value_count ? row->texts[i] : "", value);
    }
    smp_page_row(to, "td", c->texts, c->count);
}

static void put_table(FILE *to, const smp_measure_find *found, bool *shown, cells *c)
{
    bool kinds[2] = {false, false}; /* pictures, sounds */
    for (size_t i = 0; i < found->file_count; i++)
        kinds[found->files[i]->rate > 0] = true;
    const char *const fixed[FIXED] = {"path",
                                      kinds[0] ? "width" : NULL,
                                      kinds[0] ? "height" : NULL,
                                      kinds[1] ? "frames" : NULL,
                                      kinds[1] ? "rate" : NULL,
                                      "channels",
                                      "format"};
    for (int i = 0; i < FIXED; i++)
        if (fixed[i])
            add(c, fixed[i], 0);
    for (size_t i = 0; i < found->wide->column_count; i++)
        if ((shown[i] = has_any(found, i)))
            add(c, found->wide->columns[i], 0);
    fputs("<table id=\"files\"><thead>\n", to);
    smp_page_row(to, "th", c->texts, c->count);
    fputs("</thead><tbody>\n", to);
    for (size_t i = 0; i < found->file_count && i < MOST_ROWS; i++)
        put_file(to, found, found->files[i], kinds, shown, c);
    fputs("</tbody></table>\n", to);
}

smp_code smp_measure_page_table(FILE *to, const smp_measure_find *found, smp_error *err)
{
    const size_t columns = found->wide->column_count + FIXED;
    cells c = {.texts = smp_alloc_array(columns, sizeof *c.texts),
               .numbers = smp_alloc_array(columns, sizeof *c.numbers)};
    bool *shown = smp_alloc_array(columns, sizeof *shown);
    const bool made = c.texts && c.numbers && shown;
    if (made)
        put_table(to, found, shown, &c);
    smp_free_all(c.texts, c.numbers, shown);
    return made ? SMP_OK : smp_fail_memory(err, "the page", columns * sizeof *c.numbers);
}

/* Judgements of a file by its own numbers, whatever the others have. */
typedef struct judgement {
    const char *column; /* of all channels, or the sum of its channels */
    double bound;       /* a value beyond it is told */
    double aim;         /* NaN: beyond is above, by so much as the value; else beyond is below, by what lacks to it */
} judgement;

/* LUFS: the loudness of broadcasts (EBU R 128), and of podcast.pipe. */
static const judgement judgements[] = {{"lufs", -23, -16}, {"clipped", 0, (double)NAN}};
enum { JUDGEMENTS = sizeof judgements / sizeof judgements[0] };

/* Returns the value of the column, or the sum over its channels; NaN: none. */
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

static void put_bars(smp_json *json, const smp_measure_find *f, smp_ranked_file *files, size_t count)
{
    qsort(files, count, sizeof *files, smp_by_score);
    smp_json_array(json, "files");
    for (size_t i = 0; i < count && i < MOST_BARS; i++) {
        smp_json_object(json, NULL);
        smp_json_string(json, "path", f->files[files[i].file]->path);
        smp_json_number(json, "score", files[i].score); /* null: silence lacks more than can be drawn */
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

void smp_measure_page_judgements(smp_json *json, const smp_measure_find *f)
{
    smp_ranked_file *beyond = smp_alloc_array(f->file_count, sizeof *beyond);
    smp_json_array(json, "judged");
    for (int k = 0; k < JUDGEMENTS && beyond; k++) {
        const judgement *j = &judgements[k];
        size_t count = 0, measured = 0;
        for (size_t i = 0; i < f->file_count; i++) {
            const double value = sum_of(f, i, j->column);
            measured += isnan(value) ? 0 : 1;
            if (isnan(j->aim) ? value > j->bound : value < j->bound)
                beyond[count++] = (smp_ranked_file){isnan(j->aim) ? value : j->aim - value, i};
        }
        if (!measured)
            continue;
        SMP_JSON_OPEN(json, NULL, ("column", j->column), ("bound", j->bound), ("aim", j->aim), ("beyond", count));
        put_bars(json, f, beyond, count);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    smp_free(beyond);
}

void smp_measure_page_things(smp_json *json, const smp_measure_find *f)
{
    smp_ranked_file *sorted = f->has_things ? smp_alloc_array(f->file_count, sizeof *sorted) : NULL;
    if (!sorted)
        return;
    size_t all = 0;
    for (size_t i = 0; i < f->file_count; i++) {
        sorted[i] = (smp_ranked_file){(double)f->things[i], i};
        all += f->things[i];
    }
    smp_json_object(json, "things");
    smp_json_integer(json, "all", (int64_t)all);
    put_bars(json, f, sorted, f->file_count);
    smp_json_end(json, '}');
    smp_free(sorted);
}
