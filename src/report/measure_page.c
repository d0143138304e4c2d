/* A data set at a glance: see measure_page.h. */
#include "report/measure_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/page.h"
#include "report/spread.h"
#include "report/text.h"
#include "report/thumbnail.h"

enum {
    MOST_CARDS = 12,   /* files that stand out */
    MOST_GROUPS = 8,   /* of files whose values can be compared */
    MOST_SPREADS = 48, /* columns with a drawing */
    LEAST_FILES = 5,   /* fewer say nothing of what is usual */
    THUMBNAIL = 160    /* px */
};
static const double least_part = .1; /* of the whole spread: less is not seen in the drawing */
static const double far_out = 5; /* smp_spread_distance: one of 1.7 million, were the values of a normal distribution */

typedef struct ranked {
    double score; /* the distance in the column in which the file lies out most */
    size_t file;
} ranked;

typedef struct twin {
    const smp_wide_row *row;
    size_t file;
} twin;

/* Files of one kind and format: values of others (0..255 and -1..1) cannot be compared with theirs. */
typedef struct group {
    bool sound;
    const char *format;
    size_t files;
    smp_spread *spreads; /* of each column */
} group;

typedef struct page {
    FILE *to;
    const smp_wide *wide;
    group groups[MOST_GROUPS];
    size_t group_count, *group_of; /* of each file */
    const smp_wide_row **files;
    size_t file_count;
    size_t *worst;   /* of each file: the column in which it lies out most; column_count: none */
    ranked *ranking; /* those that lie out most first */
    size_t *twins;   /* of each file: an earlier one with the same values; its own number: none */
    size_t far, twin_count;
} page;

static double value_of(const smp_wide_row *row, size_t column)
{
    return column < row->value_count ? row->values[column] : (double)NAN;
}

static const char *text_of(const smp_wide_row *row, size_t column)
{
    return column < row->value_count ? row->texts[column] : "";
}

/* ------------------------------------------------------------------------------------------------ finding */

/* Whether a column's name, behind its label and before its channel ("light.mean_r"), is one of those. */
static bool is_one_of(const char *column, const char *const *names)
{
    const char *dot = strrchr(column, '.'), *name = dot ? dot + 1 : column;
    for (; *names; names++) {
        const size_t length = strlen(*names);
        if (!strncmp(name, *names, length) && (!name[length] || name[length] == '_'))
            return true;
    }
    return false;
}

/* Columns that grow with the size of a file say nothing of what is in it. */
static bool grows(const char *column)
{
    static const char *const names[] = {"count", "sum", "frames", "pixels", NULL};
    return is_one_of(column, names);
}

/* Those that say less than their neighbours: what is drawn first is mean, deviation, loudness, sharpness. */
static bool is_minor(const char *column)
{
    static const char *const names[] = {"min", "max", "rms", "peak", "p1", "p5", "p50", "p95", "p99", NULL};
    return is_one_of(column, names);
}

static void find_groups(page *p)
{
    for (size_t i = 0; i < p->file_count; i++) {
        const smp_wide_row *row = p->files[i];
        size_t g = 0;
        while (g < p->group_count &&
               (p->groups[g].sound != (row->rate > 0) || strcmp(p->groups[g].format, row->format) != 0))
            g++;
        if (g == MOST_GROUPS)
            g--; /* there are fewer formats */
        else if (g == p->group_count)
            p->groups[p->group_count++] = (group){.sound = row->rate > 0, .format = row->format};
        p->groups[g].files++;
        p->group_of[i] = g;
    }
}

static void find_spreads(page *p, size_t g, double *values, double *scratch)
{
    for (size_t c = 0; c < p->wide->column_count; c++) {
        size_t count = 0;
        for (size_t i = 0; i < p->file_count; i++)
            if (p->group_of[i] == g && !isnan(value_of(p->files[i], c)))
                values[count++] = value_of(p->files[i], c);
        smp_spread_find(values, count, scratch, &p->groups[g].spreads[c]);
    }
}

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->score < y->score || x->score > y->score)
        return x->score > y->score ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static void find_far(page *p)
{
    for (size_t i = 0; i < p->file_count; i++) {
        double most = 0;
        p->worst[i] = p->wide->column_count;
        for (size_t c = 0; c < p->wide->column_count; c++) {
            const smp_spread *spread = &p->groups[p->group_of[i]].spreads[c];
            if (spread->count < LEAST_FILES || grows(p->wide->columns[c]))
                continue;
            const double value = value_of(p->files[i], c), score = fabs(smp_spread_distance(spread, value));
            const bool seen = fabs(value - spread->middle) > least_part * (spread->most - spread->least);
            if (seen && score > far_out && score > most) {
                most = score;
                p->worst[i] = c;
            }
        }
        p->far += p->worst[i] < p->wide->column_count;
        p->ranking[i] = (ranked){.score = most, .file = i};
    }
    if (p->file_count)
        qsort(p->ranking, p->file_count, sizeof *p->ranking, by_score);
}

static int compare_rows(const smp_wide_row *a, const smp_wide_row *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return a->width < b->width || (a->width == b->width &&
                                       (a->height < b->height || (a->height == b->height && a->channels < b->channels)))
                   ? -1
                   : 1;
    for (size_t c = 0; c < a->value_count || c < b->value_count; c++) {
        const double x = value_of(a, c), y = value_of(b, c);
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
static smp_code find_twins(page *p, smp_error *err)
{
    bool varied = p->group_count > 1; /* some files differ: without any, all would be twins */
    for (size_t c = 0; c < p->wide->column_count && !varied; c++)
        varied = p->groups[0].spreads[c].most > p->groups[0].spreads[c].least;
    if (!varied || !p->file_count)
        return SMP_OK;
    twin *sorted = smp_alloc_array(p->file_count, sizeof *sorted);
    if (!sorted)
        return smp_fail_memory(err, "the page", p->file_count * sizeof *sorted);
    for (size_t i = 0; i < p->file_count; i++)
        sorted[i] = (twin){.row = p->files[i], .file = i};
    qsort(sorted, p->file_count, sizeof *sorted, by_row);
    for (size_t i = 1, first = 0; i < p->file_count; i++) {
        if (compare_rows(sorted[i - 1].row, sorted[i].row) != 0)
            first = i;
        if (i == first)
            continue;
        p->twins[sorted[i].file] = sorted[first].file;
        p->twin_count++;
    }
    smp_free(sorted);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ first screen */

static void put_sizes(page *p)
{
    int64_t width[2] = {INT64_MAX, 0}, height[2] = {INT64_MAX, 0};
    double seconds[2] = {INFINITY, 0};
    bool pictures = false, sounds = false;
    for (size_t i = 0; i < p->file_count; i++) {
        const smp_wide_row *row = p->files[i];
        if (row->rate > 0) {
            sounds = true;
            seconds[0] = fmin(seconds[0], (double)row->height / row->rate);
            seconds[1] = fmax(seconds[1], (double)row->height / row->rate);
            continue;
        }
        pictures = true;
        width[0] = row->width < width[0] ? row->width : width[0];
        width[1] = row->width > width[1] ? row->width : width[1];
        height[0] = row->height < height[0] ? row->height : height[0];
        height[1] = row->height > height[1] ? row->height : height[1];
    }
    if (pictures && width[0] == width[1] && height[0] == height[1])
        fprintf(p->to, " Pictures are %lld x %lld.", (long long)width[0], (long long)height[0]);
    else if (pictures)
        fprintf(p->to, " Pictures are %lld to %lld wide and %lld to %lld high.", (long long)width[0],
                (long long)width[1], (long long)height[0], (long long)height[1]);
    if (sounds && seconds[0] < seconds[1])
        fprintf(p->to, " Sounds are %.3g to %.3g seconds long.", seconds[0], seconds[1]);
    else if (sounds)
        fprintf(p->to, " Sounds are %.3g seconds long.", seconds[0]);
}

static void put_head(page *p, size_t failed)
{
    char title[64];
    snprintf(title, sizeof title, "smempipe measure: %zu file%s", p->file_count, p->file_count == 1 ? "" : "s");
    smp_page_begin(p->to, title, "");
    fputs("<h1>", p->to);
    smp_page_count(p->to, p->file_count, "file", "files");
    fputs("</h1>\n<p>", p->to);
    if (!p->file_count) {
        fputs("There is nothing to show.", p->to);
    } else if (p->far) {
        smp_page_count(p->to, p->far, "file stands", "files stand");
        fputs(" out.", p->to);
    } else {
        fputs(p->file_count < LEAST_FILES ? "Too few to say what is usual." : "None stands out.", p->to);
    }
    if (p->twin_count) {
        fputs(" ", p->to);
        smp_page_count(p->to, p->twin_count, "is a double", "are doubles");
        fputs(" of another.", p->to);
    }
    if (failed) {
        fputs(" <span class=\"bad\">", p->to);
        smp_page_count(p->to, failed, p->file_count ? "more file" : "file", p->file_count ? "more files" : "files");
        fputs(" could not be measured.</span>", p->to);
    }
    put_sizes(p);
    fputs("</p>\n", p->to);
}

/* "deviation 3.1, far below the others (mostly 35 to 48)" */
static void put_why(page *p, size_t file)
{
    const size_t column = p->worst[file];
    const smp_spread *spread = &p->groups[p->group_of[file]].spreads[column];
    const double value = value_of(p->files[file], column);
    smp_text_xml(p->to, p->wide->columns[column]);
    fputs(" ", p->to);
    smp_page_number(p->to, value);
    fprintf(p->to, ", far %s the others (half of them ", value < spread->middle ? "below" : "above");
    smp_page_number(p->to, spread->low);
    fputs(" to ", p->to);
    smp_page_number(p->to, spread->high);
    fputs(")", p->to);
}

static void put_card(page *p, size_t file, const smp_limits *limits)
{
    const smp_wide_row *row = p->files[file];
    fputs("<figure class=\"card\">", p->to);
    if (!(row->rate > 0))
        (void)smp_thumbnail(p->to, row->path, limits, THUMBNAIL, &(smp_error){.code = SMP_OK}); /* may be gone */
    fputs("<figcaption><b>", p->to);
    smp_text_xml(p->to, row->path);
    fputs("</b><span class=\"soft\">", p->to);
}

static void put_far(page *p, const smp_limits *limits)
{
    const size_t shown = p->far < MOST_CARDS ? p->far : MOST_CARDS;
    if (!shown)
        return;
    fputs("<h2>What stands out</h2>\n", p->to);
    if (shown < p->far)
        fprintf(p->to, "<p class=\"soft\">The %zu that lie farthest out, of %zu.</p>\n", shown, p->far);
    fputs("<div class=\"grid\">\n", p->to);
    for (size_t i = 0; i < shown; i++) {
        put_card(p, p->ranking[i].file, limits);
        put_why(p, p->ranking[i].file);
        fputs("</span></figcaption></figure>\n", p->to);
    }
    fputs("</div>\n", p->to);
}

static void put_twins(page *p, const smp_limits *limits)
{
    size_t shown = 0;
    if (!p->twin_count)
        return;
    fputs("<h2>Doubles</h2>\n<p class=\"soft\">Of one size, and all values agree to the last digit.</p>\n"
          "<div class=\"grid\">\n",
          p->to);
    for (size_t i = 0; i < p->file_count && shown < MOST_CARDS; i++) {
        if (p->twins[i] == i)
            continue;
        put_card(p, i, limits);
        fputs("as ", p->to);
        smp_text_xml(p->to, p->files[p->twins[i]]->path);
        fputs("</span></figcaption></figure>\n", p->to);
        shown++;
    }
    fputs("</div>\n", p->to);
}

/* ------------------------------------------------------------------------------------------------ together */

static const char *tone_of(const smp_total *total, int channel)
{
    static const char *const colours[] = {"r", "g", "b"};
    const int count = total->channels - total->alpha;
    return total->kind != SMP_AUDIO && count == 3 && channel >= 0 && channel < 3 ? colours[channel] : "gray";
}

/* The lists of one name and length, a channel each. */
static void put_histogram(page *p, const smp_total *total, const smp_findings *findings, size_t first)
{
    enum { MOST = 8 };
    const smp_finding *head = &findings->items[first];
    const double *counts[MOST];
    const char *tones[MOST];
    size_t channels = 0;
    for (size_t i = first; i < findings->count && channels < MOST; i++) {
        const smp_finding *item = &findings->items[i];
        if (!item->list || item->values || item->list_len != head->list_len || strcmp(item->name, head->name) != 0)
            continue;
        tones[channels] = tone_of(total, item->channel);
        counts[channels++] = item->list;
    }
    fputs("<p class=\"soft\">", p->to);
    smp_text_xml(p->to, head->name);
    fprintf(p->to, ", %zu bins</p>\n", head->list_len);
    smp_histogram_svg(p->to, counts, tones, channels, head->list_len);
    const char *end = total->format == SMP_U8 ? "255" : total->format == SMP_U16 ? "65535" : "1";
    fprintf(p->to, "<div class=\"soft ends\"><span>%s</span><span>%s</span></div>\n",
            total->kind == SMP_AUDIO ? "-1" : "0", end);
}

/* Whether no earlier list has the name and length of this one: one drawing shows all of them. */
static bool is_first_channel(const smp_findings *findings, size_t at)
{
    const smp_finding *item = &findings->items[at];
    for (size_t i = 0; i < at; i++) {
        const smp_finding *other = &findings->items[i];
        if (other->list && other->list_len == item->list_len && !strcmp(other->name, item->name))
            return false;
    }
    return true;
}

/* A row for each name, a column for each channel. */
static void put_scalars(page *p, const smp_total *total, const smp_findings *findings)
{
    bool open = false;
    for (size_t i = 0; i < findings->count; i++) {
        const smp_finding *item = &findings->items[i];
        bool told = item->list != NULL;
        for (size_t k = 0; k < i && !told; k++)
            told = !findings->items[k].list && !strcmp(findings->items[k].name, item->name);
        if (told)
            continue;
        if (!open) {
            fputs("<div class=\"scroll\"><table>\n<tr><th></th>", p->to);
            for (size_t k = i; k < findings->count; k++) {
                if (findings->items[k].list || strcmp(findings->items[k].name, item->name) != 0)
                    continue;
                const char *tone = tone_of(total, findings->items[k].channel);
                if (findings->items[k].channel < 0)
                    fputs("<th>all</th>", p->to);
                else if (tone[1])
                    fprintf(p->to, "<th>channel %d</th>", findings->items[k].channel);
                else
                    fprintf(p->to, "<th>%s</th>", *tone == 'r' ? "red" : *tone == 'g' ? "green" : "blue");
            }
            fputs("</tr>\n", p->to);
        }
        fputs("<tr><td>", p->to);
        open = true;
        smp_text_xml(p->to, item->name);
        for (size_t k = i; k < findings->count; k++)
            if (!findings->items[k].list && !strcmp(findings->items[k].name, item->name)) {
                fputs("</td><td>", p->to);
                smp_page_number(p->to, findings->items[k].value);
            }
        fputs("</td></tr>\n", p->to);
    }
    if (open)
        fputs("</table></div>\n", p->to);
}

static smp_code put_total(page *p, const smp_total *total, smp_error *err)
{
    smp_findings findings = {.items = NULL};
    char type[64];
    smp_code code = smp_total_findings(total, &findings, err);
    if (!code) {
        smp_total_type(total, type, sizeof type);
        bool drawn = false;
        for (size_t i = 0; i < findings.count; i++)
            drawn = drawn || (findings.items[i].list && !findings.items[i].values);
        fprintf(p->to, "<section%s><h3>", drawn ? " class=\"drawn\"" : "");
        smp_text_xml(p->to, total->name[0] ? total->name : total->label);
        fprintf(p->to, " <span class=\"soft\">%s, %zu file%s</span></h3>\n", type, total->files,
                total->files == 1 ? "" : "s");
        for (size_t i = 0; i < findings.count; i++) {
            const smp_finding *item = &findings.items[i];
            if (item->list && !item->values && is_first_channel(&findings, i))
                put_histogram(p, total, &findings, i);
        }
        put_scalars(p, total, &findings);
        fputs("</section>\n", p->to);
    }
    smp_findings_free(&findings);
    return code;
}

/* ------------------------------------------------------------------------------------------------ spreads, table */

static void put_spread(page *p, const char *name, const smp_spread *spread)
{
    fputs("<figure class=\"card\"><figcaption><b>", p->to);
    smp_text_xml(p->to, name);
    fputs("</b></figcaption>", p->to);
    smp_spread_svg(p->to, spread);
    fputs("<div class=\"soft ends\"><span>", p->to);
    smp_page_number(p->to, spread->least);
    fputs("</span><span>median ", p->to);
    smp_page_number(p->to, spread->middle);
    fputs("</span><span>", p->to);
    smp_page_number(p->to, spread->most);
    fputs("</span></div></figure>\n", p->to);
}

/* Draws the columns of one sort; minor ones are folded. Counts those past the most that are drawn. */
static void put_spreads_of(page *p, const group *g, bool minor, size_t *shown, size_t *more)
{
    size_t all = 0;
    for (size_t c = 0; c < p->wide->column_count; c++) {
        const char *name = p->wide->columns[c];
        if (!(g->spreads[c].most > g->spreads[c].least) || grows(name) || is_minor(name) != minor)
            continue;
        if (*shown == MOST_SPREADS) {
            ++*more;
            continue;
        }
        if (!all++)
            fputs(minor ? "<details><summary>Extremes, and other values that say less</summary>\n<div class=\"grid\">\n"
                        : "<div class=\"grid\">\n",
                  p->to);
        ++*shown;
        put_spread(p, name, &g->spreads[c]);
    }
    if (all)
        fputs(minor ? "</div></details>\n" : "</div>\n", p->to);
}

/* What all files of a group have, and alike. */
static void put_same(page *p, const group *g)
{
    size_t same = 0;
    for (size_t c = 0; c < p->wide->column_count; c++) {
        const smp_spread *spread = &g->spreads[c];
        if (spread->count < g->files || spread->most > spread->least)
            continue;
        fputs(same++ ? ", " : "<p class=\"soft\">The same in all of them: ", p->to);
        smp_text_xml(p->to, p->wide->columns[c]);
        fputs(" ", p->to);
        smp_page_number(p->to, spread->middle);
    }
    fputs(same ? ".</p>\n" : "", p->to);
}

static void put_spreads(page *p)
{
    size_t shown = 0, more = 0, groups = 0;
    for (size_t i = 0; i < p->group_count; i++) {
        const group *g = &p->groups[i];
        bool any = false; /* two files may have no value in common: one of colours, one gray */
        for (size_t c = 0; c < p->wide->column_count && !any; c++)
            any = g->spreads[c].count > 1 && (!grows(p->wide->columns[c]) || g->spreads[c].count == g->files);
        if (!any)
            continue;
        if (!groups++)
            fputs("<h2>Over the files</h2>\n<p class=\"soft\">A bar is how many files have such a value; the line is "
                  "the median.</p>\n",
                  p->to);
        if (p->group_count > 1)
            fprintf(p->to, "<h3>%zu %s <span class=\"soft\">of %s</span></h3>\n", g->files,
                    g->sound ? "sounds" : "pictures", g->format);
        put_spreads_of(p, g, false, &shown, &more);
        put_spreads_of(p, g, true, &shown, &more);
        put_same(p, g);
    }
    if (more)
        fprintf(p->to, "<p class=\"soft\">%zu more columns are in the table.</p>\n", more);
}

static smp_code put_totals(page *p, const smp_totals *totals, smp_error *err)
{
    smp_code code = SMP_OK;
    size_t shown = 0;
    for (size_t i = 0; i < totals->count && !code; i++) {
        if (!totals->items[i].partial) /* cannot be added up */
            continue;
        if (!shown++)
            fputs("<h2>All files together</h2>\n<div class=\"together\">\n", p->to);
        code = put_total(p, &totals->items[i], err);
    }
    fputs(shown ? "</div>\n" : "", p->to);
    return code;
}

smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err)
{
    const smp_wide *wide = &output->wide;
    const smp_limits *limits = output->limits;
    FILE *to = output->to;
    page p = {.to = to, .wide = wide};
    const size_t rows = wide->row_count, columns = wide->column_count;
    double *values = smp_alloc_array(2 * rows + 1, sizeof *values);
    p.files = smp_alloc_array(rows, sizeof *p.files);
    p.worst = smp_alloc_array(rows, sizeof *p.worst);
    p.ranking = smp_alloc_array(rows, sizeof *p.ranking);
    p.twins = smp_alloc_array(rows, sizeof *p.twins);
    p.group_of = smp_alloc_array(rows, sizeof *p.group_of);
    smp_spread *spreads = NULL;
    smp_code code = values && p.files && p.worst && p.ranking && p.twins && p.group_of
                        ? SMP_OK
                        : smp_fail_memory(err, "the page", rows * sizeof *values);
    for (size_t i = 0; !code && i < rows; i++)
        if (!wide->rows[i].item) /* things within files have no place here */
            p.files[p.file_count++] = &wide->rows[i];
    for (size_t i = 0; !code && i < p.file_count; i++)
        p.twins[i] = i;
    if (!code) {
        find_groups(&p);
        spreads = smp_alloc_array(columns * p.group_count, sizeof *spreads);
        if (!spreads)
            code = smp_fail_memory(err, "the page", columns * p.group_count * sizeof *spreads);
    }
    if (!code) {
        for (size_t g = 0; g < p.group_count; g++) {
            p.groups[g].spreads = spreads + g * columns;
            find_spreads(&p, g, values, values + rows);
        }
        find_far(&p);
        code = find_twins(&p, err);
    }
    if (!code) {
        put_head(&p, failed);
        smp_measure_page_failures(output, failed);
        put_far(&p, limits);
        put_twins(&p, limits);
        code = put_totals(&p, totals, err);
    }
    if (!code) {
        put_spreads(&p);
        if (p.file_count)
            smp_measure_page_table(to, wide, p.files, p.file_count);
        smp_page_end(to);
    }
    smp_free(values);
    smp_free(spreads);
    smp_free(p.group_of);
    smp_free(p.files);
    smp_free(p.worst);
    smp_free(p.ranking);
    smp_free(p.twins);
    return code;
}
