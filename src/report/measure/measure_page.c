/* A data set at a glance, as data of its page: see measure_page.h. */
#include "report/measure/measure_find.h"

#include <math.h>

#include "report/measure/thumbnail.h"
#include "report/page.h"

enum {
    MOST_CARDS = 12,   /* files that stand out, of each sort */
    MOST_SPREADS = 48, /* columns with a drawing */
    THUMBNAIL = 160    /* px */
};

typedef struct page {
    smp_json *json;
    const smp_wide *wide;
    const smp_measure_find *found;
    const smp_read_options *how;
} page;

static void put_count(smp_json *json, const char *key, size_t count)
{
    smp_json_integer(json, key, (int64_t)count);
}

/* ------------------------------------------------------------------------------------------------ first screen */

/* [least, most]; nothing where there is none. */
static void put_range(smp_json *json, const char *key, const double range[2])
{
    if (range[0] <= range[1])
        smp_json_numbers(json, key, range, 2);
}

static void widen(double range[2], double value)
{
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

static void put_sizes(const page *p)
{
    double width[2] = {INFINITY, 0}, height[2] = {INFINITY, 0}, seconds[2] = {INFINITY, 0};
    for (size_t i = 0; i < p->found->file_count; i++) {
        const smp_wide_row *row = p->found->files[i];
        if (row->rate > 0) {
            widen(seconds, (double)row->height / row->rate);
        } else {
            widen(width, (double)row->width);
            widen(height, (double)row->height);
        }
    }
    put_range(p->json, "width", width);
    put_range(p->json, "height", height);
    put_range(p->json, "seconds", seconds);
}

static void put_kinds(const page *p)
{
    smp_json_array(p->json, "kinds");
    for (size_t i = 0; i < p->found->kind_count; i++) {
        const smp_file_kind *kind = &p->found->kinds[i];
        smp_json_object(p->json, NULL);
        SMP_JSON(p->json, ("sound", kind->sound), ("format", kind->format), ("channels", kind->channels),
                 ("rate", kind->rate));
        smp_json_integer(p->json, "size", kind->size); /* -1, 1: less than a quarter, more than four times the pixels */
        put_count(p->json, "files", kind->files);
        smp_json_end(p->json, '}');
    }
    smp_json_end(p->json, ']');
}

/* Opens an object about a file; the caller ends it. */
static void begin_card(const page *p, size_t file)
{
    const smp_wide_row *row = p->found->files[file];
    smp_json_object(p->json, NULL);
    smp_json_string(p->json, "path", row->path);
    if (!(row->rate > 0))
        (void)smp_thumbnail_json(p->json, "picture", row->path, p->how, THUMBNAIL); /* may be gone */
}

/* The first files of another kind than most: which kind, and the size. */
static void put_odd(const page *p)
{
    const smp_measure_find *f = p->found;
    smp_json_array(p->json, "odd_files");
    for (size_t i = 0, shown = 0; f->odd && i < f->file_count && shown < MOST_CARDS; i++) {
        if (!f->kind_of[i])
            continue;
        begin_card(p, i);
        SMP_JSON(p->json, ("kind", f->kind_of[i]), ("width", f->files[i]->width), ("height", f->files[i]->height));
        smp_json_end(p->json, '}');
        shown++;
    }
    smp_json_end(p->json, ']');
}

/* Lists the values that lie farthest out: the column, the value, and those of the others. */
static void put_far(const page *p)
{
    const smp_measure_find *f = p->found;
    smp_json_array(p->json, "far_files");
    for (size_t i = 0; i < f->far && i < MOST_CARDS; i++) {
        const size_t file = f->ranking[i].file, column = f->worst[file];
        const smp_spread *spread = &f->groups[f->group_of[file]].spreads[column];
        begin_card(p, file);
        SMP_JSON(p->json, ("column", p->wide->columns[column]), ("value", smp_wide_value(f->files[file], column)),
                 ("q1", spread->low), ("median", spread->middle), ("q3", spread->high));
        smp_json_end(p->json, '}');
    }
    smp_json_end(p->json, ']');
}

static void put_doubles(const page *p)
{
    size_t shown = 0;
    smp_json_array(p->json, "double_files");
    for (size_t i = 0; i < p->found->file_count && shown < MOST_CARDS; i++) {
        if (p->found->twins[i] == i)
            continue;
        begin_card(p, i);
        smp_json_string(p->json, "as", p->found->files[p->found->twins[i]]->path);
        smp_json_end(p->json, '}');
        shown++;
    }
    smp_json_end(p->json, ']');
}

static void put_head(const page *p, const smp_measure_output *output, size_t failed)
{
    const smp_measure_find *f = p->found;
    SMP_JSON(p->json, ("files", f->file_count), ("failed", failed));
    smp_json_bool(p->json, "enough", f->file_count >= SMP_FIND_LEAST); /* to say what is usual */
    SMP_JSON(p->json, ("odd", f->odd), ("far", f->far), ("doubles", f->twin_count));
    put_sizes(p);
    smp_json_array(p->json, "failures");
    for (size_t i = 0; i < output->failure_count; i++)
        smp_json_string(p->json, NULL, output->failures[i]);
    smp_json_end(p->json, ']');
}

/* ------------------------------------------------------------------------------------------------ together, spreads */

/* A group of files as --json tells it, and what drawings need: colours, and which findings count bins. */
static smp_code put_total(const page *p, const smp_total *total, smp_error *err)
{
    smp_measurements measurements = {.items = NULL};
    const smp_code code = smp_total_measurements(total, &measurements, err);
    if (!code) {
        smp_json_object(p->json, NULL);
        smp_measure_total_json(p->json, "total", total, &measurements);
        SMP_JSON(p->json, ("sound", (bool)(total->kind == SMP_AUDIO)), ("colours", total->channels - total->alpha),
                 ("full", total->format == SMP_U8    ? UINT8_MAX
                          : total->format == SMP_U16 ? UINT16_MAX
                                                     : 1));
        smp_json_array(p->json, "histograms");
        for (size_t i = 0; i < measurements.count; i++)
            if (measurements.items[i].list && !measurements.items[i].values)
                put_count(p->json, NULL, i);
        smp_json_end(p->json, ']');
        smp_json_end(p->json, '}');
    }
    smp_measurements_free(&measurements);
    return code;
}

static smp_code put_totals(const page *p, const smp_totals *totals, smp_error *err)
{
    smp_code code = SMP_OK;
    smp_json_array(p->json, "together");
    for (size_t i = 0; i < totals->count && !code; i++)
        if (totals->items[i].partial) /* else it cannot be added up */
            code = put_total(p, &totals->items[i], err);
    smp_json_end(p->json, ']');
    return code;
}

/* "of": how many files have the value. "bins": drawn from least to most; of the first columns that vary. */
static void put_spread(const page *p, size_t column, const smp_spread *spread, bool drawn)
{
    double bins[SMP_SPREAD_BINS];
    for (size_t i = 0; i < SMP_SPREAD_BINS; i++)
        bins[i] = (double)spread->bins[i];
    smp_json_object(p->json, NULL);
    SMP_JSON(p->json, ("column", p->wide->columns[column]), ("minor", smp_column_is_minor(p->wide->columns[column])),
             ("grows", smp_column_grows(p->found, column)), ("of", spread->count), ("least", spread->least),
             ("median", spread->middle), ("most", spread->most));
    if (drawn)
        smp_json_numbers(p->json, "bins", bins, SMP_SPREAD_BINS);
    smp_json_end(p->json, '}');
}

static void put_groups(const page *p)
{
    size_t drawn = 0, more = 0;
    smp_json_array(p->json, "groups");
    for (size_t i = 0; i < p->found->group_count; i++) {
        const smp_file_group *g = &p->found->groups[i];
        smp_json_object(p->json, NULL);
        SMP_JSON(p->json, ("sound", g->sound), ("format", g->format), ("files", g->files));
        smp_json_array(p->json, "spreads");
        for (size_t c = 0; c < p->wide->column_count; c++) {
            const smp_spread *spread = &g->spreads[c];
            const bool varies = spread->most > spread->least && !smp_column_grows(p->found, c);
            if (!spread->count)
                continue;
            more += varies && drawn == MOST_SPREADS;
            put_spread(p, c, spread, varies && drawn < MOST_SPREADS);
            drawn += varies && drawn < MOST_SPREADS;
        }
        smp_json_end(p->json, ']');
        smp_json_end(p->json, '}');
    }
    smp_json_end(p->json, ']');
    put_count(p->json, "not_drawn", more);
}

smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err)
{
    smp_measure_find found;
    char title[32];
    smp_json json;
    const page p = {.json = &json, .wide = &output->wide, .found = &found, .how = output->read};
    smp_code code = smp_measure_find_all(&found, &output->wide, err);
    if (!code) {
        snprintf(title, sizeof title, "%zu file%s", found.file_count, found.file_count == 1 ? "" : "s");
        smp_page_begin(output->to, "measure", title);
        if (found.file_count)
            code = smp_measure_page_table(output->to, &found, err);
        smp_page_data(output->to, "measure", &json);
        smp_json_object(&json, NULL);
    }
    if (!code) {
        put_head(&p, output, failed);
        put_kinds(&p);
        put_odd(&p);
        smp_measure_page_judgements(&json, &found);
        put_far(&p);
        put_doubles(&p);
        smp_measure_page_things(&json, &found);
        code = put_totals(&p, totals, err);
    }
    if (!code) {
        put_groups(&p);
        smp_json_end(&json, '}');
        smp_page_end(output->to);
    }
    smp_measure_find_free(&found);
    return code;
}
