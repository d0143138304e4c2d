/* A data set at a glance: see measure_page.h. */
#include "report/measure/measure_page.h"

#include <math.h>
#include <string.h>

#include "report/measure/thumbnail.h"
#include "report/page.h"
#include "report/text.h"

enum {
    MOST_CARDS = 12,   /* files that stand out */
    MOST_SPREADS = 48, /* columns with a drawing */
    THUMBNAIL = 160    /* px */
};

typedef struct page {
    FILE *to;
    const smp_wide *wide;
    const smp_measure_find *found;
} page;

/* ------------------------------------------------------------------------------------------------ first screen */

static void put_sizes(page *p)
{
    int64_t width[2] = {INT64_MAX, 0}, height[2] = {INT64_MAX, 0};
    double seconds[2] = {INFINITY, 0};
    bool pictures = false, sounds = false;
    for (size_t i = 0; i < p->found->file_count; i++) {
        const smp_wide_row *row = p->found->files[i];
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
    snprintf(title, sizeof title, "smempipe measure: %zu file%s", p->found->file_count,
             p->found->file_count == 1 ? "" : "s");
    smp_page_begin(p->to, title, "");
    fputs("<h1>", p->to);
    smp_page_count(p->to, p->found->file_count, "file", "files");
    fputs("</h1>\n<p>", p->to);
    if (p->found->odd) {
        smp_page_count(p->to, p->found->odd, "file is", "files are");
        fputs(" of another kind than the others. ", p->to);
    }
    if (!p->found->file_count) {
        fputs("There is nothing to show.", p->to);
    } else if (p->found->far) {
        smp_page_count(p->to, p->found->far, p->found->odd ? "other stands" : "file stands",
                       p->found->odd ? "others stand" : "files stand");
        fputs(" out.", p->to);
    } else if (p->found->odd) {
        fputs("No other stands out.", p->to);
    } else {
        fputs(p->found->file_count < SMP_FIND_LEAST ? "Too few to say what is usual." : "None stands out.", p->to);
    }
    if (p->found->twin_count) {
        fputs(" ", p->to);
        smp_page_count(p->to, p->found->twin_count, "is a double", "are doubles");
        fputs(" of another.", p->to);
    }
    if (failed) {
        fputs(" <span class=\"bad\">", p->to);
        smp_page_count(p->to, failed, p->found->file_count ? "more file" : "file",
                       p->found->file_count ? "more files" : "files");
        fputs(" could not be measured.</span>", p->to);
    }
    smp_measure_page_judged(p->to, p->found);
    put_sizes(p);
    fputs("</p>\n", p->to);
}

/* "deviation 3.1, far below the others (mostly 35 to 48)" */
static void put_why(page *p, size_t file)
{
    const size_t column = p->found->worst[file];
    const smp_spread *spread = &p->found->groups[p->found->group_of[file]].spreads[column];
    const double value = smp_wide_value(p->found->files[file], column);
    smp_text_xml(p->to, p->wide->columns[column]);
    fputs(" ", p->to);
    smp_page_number(p->to, value);
    fprintf(p->to, ", far %s the others (half of them ", value < spread->middle ? "below" : "above");
    smp_page_number(p->to, spread->low);
    fputs(" to ", p->to);
    smp_page_number(p->to, spread->high);
    fputs(")", p->to);
}

static void put_card(page *p, size_t file, const smp_read_options *how)
{
    const smp_wide_row *row = p->found->files[file];
    fputs("<figure class=\"card\">", p->to);
    if (!(row->rate > 0))
        (void)smp_thumbnail(p->to, row->path, how, THUMBNAIL, &(smp_error){.code = SMP_OK}); /* may be gone */
    fputs("<figcaption><b>", p->to);
    smp_text_xml(p->to, row->path);
    fputs("</b><span class=\"soft\">", p->to);
}

/* "pictures of 3 channels, u8" */
static void put_kind(page *p, const smp_file_kind *kind)
{
    fprintf(p->to, "%s%s%s of ", kind->size ? kind->size < 0 ? "small " : "large " : "",
            kind->sound ? "sound" : "picture", kind->files == 1 ? "" : "s");
    smp_page_count(p->to, (size_t)kind->channels, "channel", "channels");
    fprintf(p->to, ", %s", kind->format);
    if (kind->sound)
        fprintf(p->to, ", %.10g Hz", kind->rate);
}

/* "1 channel, the others have 3; 64 x 48 px, much smaller" */
static void put_difference(page *p, const smp_wide_row *row, const smp_file_kind *kind, const smp_file_kind *usual)
{
    const char *between = "";
    if (kind->sound != usual->sound) {
        fprintf(p->to, "a %s, the others are %s", kind->sound ? "sound" : "picture",
                usual->sound ? "sounds" : "pictures");
        return;
    }
    if (row->channels != usual->channels) {
        smp_page_count(p->to, (size_t)row->channels, "channel", "channels");
        fprintf(p->to, ", the others have %lld", (long long)usual->channels);
        between = "; ";
    }
    if (strcmp(row->format, usual->format) != 0) {
        fprintf(p->to, "%s%s, the others are %s", between, row->format, usual->format);
        between = "; ";
    }
    if (row->rate < usual->rate || row->rate > usual->rate) {
        fprintf(p->to, "%s%.10g Hz, the others have %.10g", between, row->rate, usual->rate);
        between = "; ";
    }
    if (kind->size != usual->size)
        fprintf(p->to, "%s%lld x %lld px, much %s", between, (long long)row->width, (long long)row->height,
                kind->size < usual->size ? "smaller" : "larger");
}

/* Files that do not belong to the others; where no kind is the usual one, what kinds there are. */
static void put_kinds(page *p, const smp_read_options *how)
{
    const smp_measure_find *f = p->found;
    if (f->kind_count < 2)
        return;
    fputs(f->odd ? "<h2>Of another kind</h2>\n<p class=\"soft\">" : "<p class=\"soft\">Of several kinds: ", p->to);
    for (size_t i = 0; i < (f->odd ? 1 : f->kind_count); i++) {
        fprintf(p->to, "%s%zu %s", i ? "; " : "", f->kinds[i].files, f->odd ? "are " : "");
        put_kind(p, &f->kinds[i]);
    }
    fputs(".", p->to);
    if (f->odd > MOST_CARDS)
        fprintf(p->to, " The first %d of %zu others.", MOST_CARDS, f->odd);
    fputs("</p>\n", p->to);
    if (!f->odd)
        return;
    fputs("<div class=\"grid\">\n", p->to);
    for (size_t i = 0, shown = 0; i < f->file_count && shown < MOST_CARDS; i++) {
        if (!f->kind_of[i])
            continue;
        put_card(p, i, how);
        put_difference(p, f->files[i], &f->kinds[f->kind_of[i]], &f->kinds[0]);
        fputs("</span></figcaption></figure>\n", p->to);
        shown++;
    }
    fputs("</div>\n", p->to);
}

static void put_far(page *p, const smp_read_options *how)
{
    const size_t shown = p->found->far < MOST_CARDS ? p->found->far : MOST_CARDS;
    if (!shown)
        return;
    fputs("<h2>What stands out</h2>\n", p->to);
    if (shown < p->found->far)
        fprintf(p->to, "<p class=\"soft\">The %zu that lie farthest out, of %zu.</p>\n", shown, p->found->far);
    fputs("<div class=\"grid\">\n", p->to);
    for (size_t i = 0; i < shown; i++) {
        put_card(p, p->found->ranking[i].file, how);
        put_why(p, p->found->ranking[i].file);
        fputs("</span></figcaption></figure>\n", p->to);
    }
    fputs("</div>\n", p->to);
}

static void put_twins(page *p, const smp_read_options *how)
{
    size_t shown = 0;
    if (!p->found->twin_count)
        return;
    fputs("<h2>Doubles</h2>\n<p class=\"soft\">Of one size, and all values agree to the last digit.</p>\n"
          "<div class=\"grid\">\n",
          p->to);
    for (size_t i = 0; i < p->found->file_count && shown < MOST_CARDS; i++) {
        if (p->found->twins[i] == i)
            continue;
        put_card(p, i, how);
        fputs("as ", p->to);
        smp_text_xml(p->to, p->found->files[p->found->twins[i]]->path);
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
static void put_histogram(page *p, const smp_total *total, const smp_measurements *measurements, size_t first)
{
    enum { MOST = 8 };
    const smp_measurement *head = &measurements->items[first];
    const double *counts[MOST];
    const char *tones[MOST];
    size_t channels = 0;
    for (size_t i = first; i < measurements->count && channels < MOST; i++) {
        const smp_measurement *item = &measurements->items[i];
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
static bool is_first_channel(const smp_measurements *measurements, size_t at)
{
    const smp_measurement *item = &measurements->items[at];
    for (size_t i = 0; i < at; i++) {
        const smp_measurement *other = &measurements->items[i];
        if (other->list && other->list_len == item->list_len && !strcmp(other->name, item->name))
            return false;
    }
    return true;
}

/* A row for each name, a column for each channel. */
static void put_scalars(page *p, const smp_total *total, const smp_measurements *measurements)
{
    bool open = false;
    for (size_t i = 0; i < measurements->count; i++) {
        const smp_measurement *item = &measurements->items[i];
        bool told = item->list != NULL;
        for (size_t k = 0; k < i && !told; k++)
            told = !measurements->items[k].list && !strcmp(measurements->items[k].name, item->name);
        if (told)
            continue;
        if (!open) {
            fputs("<div class=\"scroll\"><table>\n<tr><th></th>", p->to);
            for (size_t k = i; k < measurements->count; k++) {
                if (measurements->items[k].list || strcmp(measurements->items[k].name, item->name) != 0)
                    continue;
                const char *tone = tone_of(total, measurements->items[k].channel);
                if (measurements->items[k].channel < 0)
                    fputs("<th>all</th>", p->to);
                else if (tone[1])
                    fprintf(p->to, "<th>channel %d</th>", measurements->items[k].channel);
                else
                    fprintf(p->to, "<th>%s</th>", *tone == 'r' ? "red" : *tone == 'g' ? "green" : "blue");
            }
            fputs("</tr>\n", p->to);
        }
        fputs("<tr><td>", p->to);
        open = true;
        smp_text_xml(p->to, item->name);
        for (size_t k = i; k < measurements->count; k++)
            if (!measurements->items[k].list && !strcmp(measurements->items[k].name, item->name)) {
                fputs("</td><td>", p->to);
                smp_page_number(p->to, measurements->items[k].value);
            }
        fputs("</td></tr>\n", p->to);
    }
    if (open)
        fputs("</table></div>\n", p->to);
}

static smp_code put_total(page *p, const smp_total *total, smp_error *err)
{
    smp_measurements measurements = {.items = NULL};
    char type[64];
    smp_code code = smp_total_measurements(total, &measurements, err);
    if (!code) {
        smp_total_type(total, type, sizeof type);
        bool drawn = false;
        for (size_t i = 0; i < measurements.count; i++)
            drawn = drawn || (measurements.items[i].list && !measurements.items[i].values);
        fprintf(p->to, "<section%s><h3>", drawn ? " class=\"drawn\"" : "");
        smp_text_xml(p->to, total->name[0] ? total->name : total->label);
        fprintf(p->to, " <span class=\"soft\">%s, %zu file%s</span></h3>\n", type, total->files,
                total->files == 1 ? "" : "s");
        for (size_t i = 0; i < measurements.count; i++) {
            const smp_measurement *item = &measurements.items[i];
            if (item->list && !item->values && is_first_channel(&measurements, i))
                put_histogram(p, total, &measurements, i);
        }
        put_scalars(p, total, &measurements);
        fputs("</section>\n", p->to);
    }
    smp_measurements_free(&measurements);
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
static void put_spreads_of(page *p, const smp_file_group *g, bool minor, size_t *shown, size_t *more)
{
    size_t all = 0;
    for (size_t c = 0; c < p->wide->column_count; c++) {
        const char *name = p->wide->columns[c];
        if (!(g->spreads[c].most > g->spreads[c].least) || smp_column_grows(p->found, c) ||
            smp_column_is_minor(name) != minor)
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
static void put_same(page *p, const smp_file_group *g)
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
    for (size_t i = 0; i < p->found->group_count; i++) {
        const smp_file_group *g = &p->found->groups[i];
        bool any = false; /* two files may have no value in common: one of colours, one gray */
        for (size_t c = 0; c < p->wide->column_count && !any; c++)
            any = g->spreads[c].count > 1 && (!smp_column_grows(p->found, c) || g->spreads[c].count == g->files);
        if (!any)
            continue;
        if (!groups++)
            fputs("<h2>Over the files</h2>\n<p class=\"soft\">A bar is how many files have such a value; the line is "
                  "the median.</p>\n",
                  p->to);
        if (p->found->group_count > 1)
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
    smp_measure_find found;
    smp_code code = smp_measure_find_all(&found, wide, err);
    page p = {.to = output->to, .wide = wide, .found = &found};
    if (!code) {
        put_head(&p, failed);
        smp_measure_page_failures(output, failed);
        put_kinds(&p, output->read);
        smp_measure_page_judgements(output->to, &found);
        put_far(&p, output->read);
        put_twins(&p, output->read);
        smp_measure_page_things(output->to, &found);
        code = put_totals(&p, totals, err);
    }
    if (!code) {
        put_spreads(&p);
        if (found.file_count)
            smp_measure_page_table(output->to, &found);
        smp_page_end(output->to);
    }
    smp_measure_find_free(&found);
    return code;
}
