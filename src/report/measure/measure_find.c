/* Finds differences among measured files: see measure_find.h. */
#include "report/measure/measure_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"

static const double least_part = .1; /* of the whole spread: less is not seen in the drawing */
static const double far_out = 5;     /* scales, among many files; one of 1.7 million, were the values normal */
/* The scale of few files is a guess: over their square, so much farther must a value lie. Then one of 20 data sets of 5
 * to 40 files with nine normal columns has any that is far. */
static const double few_files = 40;
static const double usual_part = .75, far_part = .1; /* of the files */
static const double size_class = 4;                  /* times the pixels */

typedef struct twin {
    const smp_wide_row *row;
    size_t file;
} twin;

double smp_wide_value(const smp_wide_row *row, size_t column)
{
    return column < row->value_count ? row->values[column] : (double)NAN;
}

static const char *text_of(const smp_wide_row *row, size_t column)
{
    return column < row->value_count ? row->texts[column] : "";
}

bool smp_column_is(const char *column, const char *const *names)
{
    const char *dot = strrchr(column, '.'), *name = dot ? dot + 1 : column;
    for (; *names; names++) {
        const size_t length = strlen(*names);
        if (!strncmp(name, *names, length) && (!name[length] || name[length] == '_'))
            return true;
    }
    return false;
}

bool smp_column_grows(const smp_measure_find *found, size_t column)
{
    static const char *const samples[] = {"count", NULL}, *const names[] = {"sum", "frames", "pixels", NULL};
    const char *name = found->wide->columns[column];
    return smp_column_is(name, names) || (!found->has_things && smp_column_is(name, samples));
}

bool smp_column_is_minor(const char *column)
{
    static const char *const names[] = {"min", "max", "rms", "peak", "p1", "p5", "p50", "p95", "p99", NULL};
    static const char *const others[] = {"peak_dbfs", NULL};
    return smp_column_is(column, names) && !smp_column_is(column, others);
}

/* ------------------------------------------------------------------------------------------------ kinds */

static void find_groups(smp_measure_find *f)
{
    for (size_t i = 0; i < f->file_count; i++) {
        const smp_wide_row *row = f->files[i];
        size_t g = 0;
        while (g < f->group_count &&
               (f->groups[g].sound != (row->rate > 0) || strcmp(f->groups[g].format, row->format) != 0))
            g++;
        if (g == SMP_FIND_GROUPS)
            g--; /* there are fewer formats */
        else if (g == f->group_count)
            f->groups[f->group_count++] = (smp_file_group){.sound = row->rate > 0, .format = row->format};
        f->groups[g].files++;
        f->group_of[i] = g;
    }
}

/* The pixels of the picture in the middle; values: room for as many as there are files. */
static double median_pixels(const smp_measure_find *f, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < f->file_count; i++)
        if (!(f->files[i]->rate > 0))
            values[count++] = (double)f->files[i]->width * (double)f->files[i]->height;
    if (count)
        qsort(values, count, sizeof *values, smp_by_double);
    return count ? values[count / 2] : 0;
}

static bool same_kind(const smp_file_kind *a, const smp_file_kind *b)
{
    return a->sound == b->sound && !strcmp(a->format, b->format) && a->channels == b->channels && a->size == b->size &&
           !(a->rate < b->rate) && !(a->rate > b->rate);
}

static int by_files(const void *a, const void *b)
{
    const smp_file_kind *x = a, *y = b;
    return (x->files < y->files) - (x->files > y->files);
}

static void find_kinds(smp_measure_find *f, double *values)
{
    const double usual = median_pixels(f, values);
    for (int pass = 0; pass < 2; pass++) { /* the kinds; then which each file has, once they are in order */
        for (size_t i = 0; i < f->file_count; i++) {
            const smp_wide_row *row = f->files[i];
            const double pixels = (double)row->width * (double)row->height;
            smp_file_kind kind = {.sound = row->rate > 0,
                                  .format = row->format,
                                  .channels = row->channels,
                                  .rate = row->rate,
                                  .example = row};
            if (!kind.sound)
                kind.size = (pixels > size_class * usual) - (pixels * size_class < usual);
            size_t k = 0;
            while (k < f->kind_count && !same_kind(&f->kinds[k], &kind))
                k++;
            if (k == SMP_FIND_KINDS)
                k--; /* of so many, the last is any other */
            else if (k == f->kind_count)
                f->kinds[f->kind_count++] = kind;
            f->kinds[k].files += !pass;
            f->kind_of[i] = k;
        }
        if (!pass && f->kind_count)
            qsort(f->kinds, f->kind_count, sizeof *f->kinds, by_files);
    }
    if (f->kind_count && (double)f->kinds[0].files >= usual_part * (double)f->file_count)
        f->odd = f->file_count - f->kinds[0].files;
}

/* ------------------------------------------------------------------------------------------------ far from most */

static void find_spreads(smp_measure_find *f, size_t g, double *values, double *scratch)
{
    for (size_t c = 0; c < f->wide->column_count; c++) {
        size_t count = 0;
        for (size_t i = 0; i < f->file_count; i++)
            if (f->group_of[i] == g && !isnan(smp_wide_value(f->files[i], c)))
                values[count++] = smp_wide_value(f->files[i], c);
        smp_spread_find(values, count, scratch, &f->groups[g].spreads[c]);
    }
}

/* A scale below which no difference matters: a hundredth of what samples can be, or of the median of other values.
 * Without it, the smallest difference stands out where files are nearly alike. */
static double least_scale(const smp_file_group *g, const char *column, const smp_spread *spread)
{
    static const double part = .01;
    static const char *const of_samples[] = {"mean", "deviation", "min", "max", "rms", "peak", "dc",
                                             "p1",   "p5",        "p50", "p95", "p99", NULL};
    static const char *const levels[] = {"peak_dbfs", "rms_dbfs", NULL};
    const double most = !strcmp(g->format, "u8") ? UINT8_MAX : !strcmp(g->format, "u16") ? UINT16_MAX : 1;
    return part * (smp_column_is(column, of_samples) && !smp_column_is(column, levels) ? most : fabs(spread->middle));
}

/* Scale that a value of a column is judged by, in a group. */
typedef struct judge {
    const smp_spread *spread;
    double scale, limit, seen; /* seen: what is less is not seen in the drawing */
} judge;

/* False: the column says nothing of what is in a file, or of too few. */
static bool judge_of(const smp_measure_find *f, size_t group, size_t column, judge *j)
{
    const smp_file_group *g = &f->groups[group];
    const smp_spread *spread = &g->spreads[column];
    *j = (judge){.spread = spread,
                 .scale = fmax(spread->scale, least_scale(g, f->wide->columns[column], spread)),
                 .limit = far_out * (1 + few_files / ((double)spread->count * (double)spread->count)),
                 .seen = least_part * (spread->most - spread->least)};
    return spread->count >= SMP_FIND_LEAST && j->scale > 0 && !smp_column_grows(f, column);
}

/* Returns how far a value lies out; 0: it belongs to the others. */
static double far_score(const judge *j, double value)
{
    const double away = fabs(value - j->spread->middle);
    return isfinite(value) && away > j->seen && away > j->limit * j->scale ? away / j->scale : 0;
}

int smp_by_score(const void *a, const void *b)
{
    const smp_ranked_file *x = a, *y = b;
    if (x->score < y->score || x->score > y->score)
        return x->score > y->score ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Far from most: where more than a tenth of the files lie out, they are no exceptions. */
static void find_far_in(smp_measure_find *f, size_t group, size_t column)
{
    judge j;
    size_t out = 0;
    if (!judge_of(f, group, column, &j))
        return;
    for (size_t i = 0; i < f->file_count; i++)
        out += f->group_of[i] == group && far_score(&j, smp_wide_value(f->files[i], column)) > 0;
    if ((double)out > fmax(1, far_part * (double)j.spread->count))
        return;
    const bool minor = smp_column_is_minor(f->wide->columns[column]);
    for (size_t i = 0; out && i < f->file_count; i++) {
        const bool odd = f->odd && f->kind_of[i]; /* is told of as such */
        if (f->group_of[i] != group || odd || (minor && f->worst[i] < f->wide->column_count))
            continue;
        const double score = far_score(&j, smp_wide_value(f->files[i], column));
        if (score > f->ranking[i].score) {
            f->ranking[i].score = score;
            f->worst[i] = column;
        }
    }
}

static void find_far(smp_measure_find *f)
{
    for (size_t i = 0; i < f->file_count; i++) {
        f->worst[i] = f->wide->column_count;
        f->ranking[i] = (smp_ranked_file){.file = i};
    }
    for (int minor = 0; minor < 2; minor++)
        for (size_t g = 0; g < f->group_count; g++)
            for (size_t c = 0; c < f->wide->column_count; c++)
                if (smp_column_is_minor(f->wide->columns[c]) == (minor != 0))
                    find_far_in(f, g, c);
    for (size_t i = 0; i < f->file_count; i++)
        f->far += f->worst[i] < f->wide->column_count;
    if (f->file_count)
        qsort(f->ranking, f->file_count, sizeof *f->ranking, smp_by_score);
}

/* ------------------------------------------------------------------------------------------------ doubles */

static int compare_rows(const smp_wide_row *a, const smp_wide_row *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return a->width < b->width || (a->width == b->width &&
                                       (a->height < b->height || (a->height == b->height && a->channels < b->channels)))
                   ? -1
                   : 1;
    for (size_t c = 0; c < a->value_count || c < b->value_count; c++) {
        const double x = smp_wide_value(a, c), y = smp_wide_value(b, c);
        if (isnan(x) != isnan(y))
            return isnan(x) ? -1 : 1;
        if (x < y || x > y)
            return x < y ? -1 : 1;
        const int order = strcmp(text_of(a, c), text_of(b, c));
        if (order)
            return order;
    }
    return 0;
}

static int by_row(const void *a, const void *b)
{
    const twin *x = a, *y = b;
    const int order = compare_rows(x->row, y->row);
    return order ? order : x->file < y->file ? -1 : x->file > y->file;
}

/* Files of one size of which all values agree to the last digit hold, as a rule, the same picture. */
static smp_code find_twins(smp_measure_find *f, smp_error *err)
{
    bool varied = f->group_count > 1; /* some files differ: without any, all would be twins */
    for (size_t c = 0; c < f->wide->column_count && !varied && f->group_count; c++)
        varied = f->groups[0].spreads[c].most > f->groups[0].spreads[c].least;
    if (!varied || !f->file_count)
        return SMP_OK;
    twin *sorted = smp_alloc_array(f->file_count, sizeof *sorted);
    SMP_NEED(sorted, "the page", f->file_count * sizeof *sorted, err);
    for (size_t i = 0; i < f->file_count; i++)
        sorted[i] = (twin){.row = f->files[i], .file = i};
    qsort(sorted, f->file_count, sizeof *sorted, by_row);
    for (size_t i = 1, first = 0; i < f->file_count; i++) {
        if (compare_rows(sorted[i - 1].row, sorted[i].row) != 0)
            first = i;
        if (i == first)
            continue;
        f->twins[sorted[i].file] = sorted[first].file;
        f->twin_count++;
    }
    smp_free(sorted);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ all */

static void list_files(smp_measure_find *f)
{
    for (size_t i = 0; i < f->wide->row_count; i++) {
        const smp_wide_row *row = &f->wide->rows[i];
        if (row->item && f->file_count) { /* behind the row of its file */
            f->things[f->file_count - 1]++;
            f->has_things = true;
            continue;
        }
        f->twins[f->file_count] = f->file_count;
        f->things[f->file_count] = 0;
        f->files[f->file_count++] = row;
    }
}

smp_code smp_measure_find_all(smp_measure_find *f, const smp_wide *wide, smp_error *err)
{
    const size_t rows = wide->row_count, columns = wide->column_count;
    *f = (smp_measure_find){.wide = wide};
    double *values = smp_alloc_array(2 * rows + 1, sizeof *values);
    f->files = smp_alloc_array(rows, sizeof *f->files);
    f->things = smp_alloc_array(rows, sizeof *f->things);
    f->worst = smp_alloc_array(rows, sizeof *f->worst);
    f->ranking = smp_alloc_array(rows, sizeof *f->ranking);
    f->twins = smp_alloc_array(rows, sizeof *f->twins);
    f->group_of = smp_alloc_array(rows, sizeof *f->group_of);
    f->kind_of = smp_alloc_array(rows, sizeof *f->kind_of);
    smp_code code = values && f->files && f->things && f->worst && f->ranking && f->twins && f->group_of && f->kind_of
                        ? SMP_OK
                        : smp_fail_memory(err, "the page", rows * sizeof *values);
    if (!code) {
        list_files(f);
        find_groups(f);
        find_kinds(f, values);
        f->spreads = smp_alloc_array(columns * f->group_count, sizeof *f->spreads);
        if (!f->spreads)
            code = smp_fail_memory(err, "the page", columns * f->group_count * sizeof *f->spreads);
    }
    if (!code) {
        for (size_t g = 0; g < f->group_count; g++) {
            f->groups[g].spreads = f->spreads + g * columns;
            find_spreads(f, g, values, values + rows);
        }
        find_far(f);
        code = find_twins(f, err);
    }
    smp_free(values);
    return code;
}

void smp_measure_find_free(smp_measure_find *f)
{
    smp_free_all(f->spreads, f->files, f->things, f->worst, f->ranking, f->twins, f->group_of, f->kind_of);
}
