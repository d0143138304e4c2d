/* One row for each file: see measure_wide.h. */
#include "report/measure/measure_wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/text.h"

static smp_code no_memory(smp_error *err, size_t count)
{
    return smp_fail_memory(err, "the table", count * sizeof(double));
}

static smp_wide_row *add_row(smp_wide *wide, const char *path, const char *format)
{
    if (!smp_grow(&wide->rows, &wide->row_capacity, wide->row_count + 1, sizeof *wide->rows))
        return NULL;
    smp_wide_row *row = &wide->rows[wide->row_count++];
    *row = (smp_wide_row){.path = smp_strdup(path), .format = smp_strdup(format)};
    return row->path && row->format ? row : NULL;
}

/* The index of a column; adds a missing one. False: out of memory. */
static bool find_column(smp_wide *wide, const char *name, size_t *at)
{
    for (*at = 0; *at < wide->column_count; ++*at)
        if (!strcmp(wide->columns[*at], name))
            return true;
    char *copy = smp_strdup(name);
    if (!copy || !smp_grow(&wide->columns, &wide->column_capacity, wide->column_count + 1, sizeof *wide->columns)) {
        smp_free(copy);
        return false;
    }
    wide->columns[wide->column_count++] = copy;
    return true;
}

/* Makes room for column `at`. False: out of memory. */
static bool reach_column(smp_wide_row *row, size_t at)
{
    if (!smp_grow(&row->values, &row->value_capacity, at + 1, sizeof *row->values) ||
        !smp_grow(&row->texts, &row->text_capacity, at + 1, sizeof *row->texts))
        return false;
    for (; row->value_count <= at; row->value_count++) {
        row->values[row->value_count] = (double)NAN;
        row->texts[row->value_count][0] = '\0';
    }
    return true;
}

/* Whether the row has anything in column `at`. */
static bool has_value(const smp_wide_row *row, size_t at)
{
    return at < row->value_count && (!isnan(row->values[at]) || row->texts[at][0]);
}

/* Stores a value, or a text, in its column. A second value of that name in the row gets its own column: "mean_r.2". */
static bool put_value(smp_wide *wide, smp_wide_row *row, const char *name, double value, const char *text)
{
    char numbered[160];
    size_t at;
    snprintf(numbered, sizeof numbered, "%s", name);
    for (int n = 2;; n++) {
        if (!find_column(wide, numbered, &at))
            return false;
        if (!has_value(row, at))
            break;
        snprintf(numbered, sizeof numbered, "%.140s.%d", name, n);
    }
    if (!reach_column(row, at))
        return false;
    row->values[at] = value;
    snprintf(row->texts[at], sizeof row->texts[at], "%s", text);
    return true;
}

/* "_r", "_g", "_b", "_a" for colour pictures, "_0", "_1" for other channels; "" for a single channel. */
static void channel_suffix(char text[16], const smp_shape *shape, int channel)
{
    const bool picture = shape->kind != SMP_AUDIO, alpha = picture && shape->alpha && channel == shape->channels - 1;
    const int colours = shape->channels - (picture && shape->alpha);
    text[0] = '\0';
    if (channel < 0 || (colours == 1 && !alpha))
        return;
    if (alpha)
        snprintf(text, 16, "_a");
    else if (picture && colours == 3)
        snprintf(text, 16, "_%c", "rgb"[channel]);
    else
        snprintf(text, 16, "_%d", channel);
}

static smp_code put_measurements(smp_wide *wide, smp_wide_row *row, const char *name, const smp_shape *shape,
                                 const smp_measurements *measurements, smp_error *err)
{
    for (size_t i = 0; i < measurements->count; i++) {
        const smp_measurement *item = &measurements->items[i];
        char column[160], suffix[16];
        wide->lists |= item->list && !item->values;
        if (item->list)
            continue;
        channel_suffix(suffix, shape, item->channel);
        snprintf(column, sizeof column, "%s%s%.60s%s", name, name[0] ? "." : "", item->name, suffix);
        if (!put_value(wide, row, column, item->value, item->text))
            return no_memory(err, wide->column_count);
    }
    return SMP_OK;
}

static smp_wide_row *add_file_row(smp_wide *wide, const smp_run_report *report)
{
    const smp_shape *shape = &report->shape;
    smp_wide_row *row = add_row(wide, report->input, smp_format_name(shape->format));
    if (!row)
        return NULL;
    row->width = shape->kind == SMP_AUDIO ? 0 : shape->width;
    row->height = shape->height;
    row->channels = shape->channels;
    row->rate = shape->kind == SMP_AUDIO ? shape->rate : 0;
    return row;
}

static bool is_field(const char *name);

/* The rows of what a step found one by one: from its first list on, those of the same length. */
static smp_code put_items(smp_wide *wide, const smp_run_report *report, const smp_step_report *step, smp_error *err)
{
    const smp_measurements *measurements = &step->measurements;
    size_t first = 0;
    while (first < measurements->count && !(measurements->items[first].list && measurements->items[first].values))
        first++;
    const size_t length = first < measurements->count ? measurements->items[first].list_len : 0;
    for (size_t k = 0; k < length; k++) {
        smp_wide_row *row = add_file_row(wide, report);
        if (!row)
            return no_memory(err, wide->row_count);
        row->item = k + 1;
        for (size_t i = first; i < measurements->count; i++) {
            const smp_measurement *list = &measurements->items[i];
            char column[160];
            if (!list->list || !list->values || list->list_len != length)
                continue;
            snprintf(column, sizeof column, "%s%s%s%.60s", step->name, step->name[0] ? "." : "",
                     is_field(list->name) ? "item_" : "", list->name);
            if (!put_value(wide, row, column, list->list[k], ""))
                return no_memory(err, wide->column_count);
        }
    }
    return SMP_OK;
}

smp_code smp_wide_file(smp_wide *wide, const smp_run_report *report, smp_error *err)
{
    smp_wide_row *row = add_file_row(wide, report);
    if (!row)
        return no_memory(err, wide->row_count);
    for (size_t i = 0; i < report->step_count; i++)
        SMP_TRY(put_measurements(wide, row, report->steps[i].name, &report->steps[i].in, &report->steps[i].measurements,
                                 err));
    for (size_t i = 0; i < report->step_count; i++)
        SMP_TRY(put_items(wide, report, &report->steps[i], err));
    return SMP_OK;
}

smp_code smp_wide_total(smp_wide *wide, const smp_total *total, const smp_measurements *measurements, smp_error *err)
{
    if (!total->partial) /* what does not add up has no row */
        return SMP_OK;
    const smp_shape shape = {
        .kind = total->kind, .channels = total->channels, .alpha = total->alpha, .format = total->format};
    smp_wide_row *row = add_row(wide, "(together)", smp_format_name(total->format));
    if (!row)
        return no_memory(err, wide->row_count);
    row->channels = total->channels;
    return put_measurements(wide, row, total->name, &shape, measurements, err);
}

/* ------------------------------------------------------------------------------------------------ writing */

typedef enum field { PATH, WIDTH, HEIGHT, FRAMES, RATE, CHANNELS, FORMAT, ITEM, FIELDS } field;
static const char *const field_names[FIELDS] = {"path", "width",    "height", "frames",
                                                "rate", "channels", "format", "item"};

static bool is_field(const char *name)
{
    for (int f = 0; f < FIELDS; f++)
        if (!strcmp(field_names[f], name))
            return true;
    return false;
}

static double field_value(const smp_wide_row *row, field which)
{
    const bool sound = row->rate > 0;
    double value = which == WIDTH    ? (sound ? 0 : (double)row->width)
                   : which == HEIGHT ? (sound ? 0 : (double)row->height)
                   : which == FRAMES ? (sound ? (double)row->height : 0)
                   : which == RATE   ? row->rate
                   : which == ITEM   ? (double)row->item
                                     : (double)row->channels;
    return value > 0 ? value : (double)NAN;
}

/* Writes the columns for pictures, for sounds, or for both, depending on the files. */
static bool has_field(const smp_wide *wide, field which)
{
    if (which == PATH || which == CHANNELS || which == FORMAT)
        return true;
    for (size_t i = 0; i < wide->row_count; i++)
        if (!isnan(field_value(&wide->rows[i], which)))
            return true;
    return false;
}

typedef struct key {
    double value;
    const char *text; /* where texts are compared */
    size_t at;
    bool down;
} key;

static int by_key(const void *a_, const void *b_)
{
    const key *a = a_, *b = b_;
    int order = 0;
    if (!a->text != !b->text) /* rows without a text come last in both orders */
        return a->text ? -1 : 1;
    if (a->text)
        order = strcmp(a->text, b->text);
    else if (isnan(a->value) || isnan(b->value)) /* rows without a value come last in both orders */
        return isnan(a->value) != isnan(b->value) ? (isnan(a->value) ? 1 : -1) : (a->at > b->at) - (a->at < b->at);
    else
        order = (a->value > b->value) - (a->value < b->value);
    if (order)
        return a->down ? -order : order;
    return (a->at > b->at) - (a->at < b->at);
}

static smp_code fail_column(const smp_wide *wide, const char *name, smp_error *err)
{
    enum { MOST = 200 /* characters */ };
    char all[MOST + 40] = "";
    size_t used = 0;
    for (size_t i = 0; i < wide->column_count; i++) {
        if (used + strlen(wide->columns[i]) + 2 > MOST) {
            snprintf(all + used, sizeof all - used, ", and %zu more", wide->column_count - i);
            break;
        }
        used += (size_t)snprintf(all + used, sizeof all - used, ", %s", wide->columns[i]);
    }
    smp_fail(err, SMP_E_USAGE, "there is no column '%s' to sort by", name);
    for (size_t i = 0; i < wide->column_count; i++) {
        const size_t length = strlen(name);
        const char *rest = strncmp(wide->columns[i], name, length) ? "" : wide->columns[i] + length;
        if (rest[0] == '_' && rest[1] && !rest[2])
            return smp_hint(err, "the files have more than one channel: did you mean '%s'?", wide->columns[i]);
    }
    return smp_hint(err, "columns: path, width, height, channels%s", all);
}

static smp_code sorted(smp_wide *wide, const char *sort, key *keys, smp_error *err)
{
    size_t column = wide->column_count, which = FIELDS;
    const bool down = sort && sort[0] == '-';
    const char *name = sort ? sort + down : NULL;
    for (size_t i = 0; name && i < FIELDS; i++)
        which = strcmp(field_names[i], name) ? which : i;
    for (size_t i = 0; name && i < wide->column_count; i++)
        column = strcmp(wide->columns[i], name) ? column : i;
    if (name && which == FIELDS && column == wide->column_count)
        return fail_column(wide, name, err);
    for (size_t i = 0; i < wide->row_count; i++) {
        const smp_wide_row *row = &wide->rows[i];
        keys[i] = (key){.at = i, .down = down, .value = (double)NAN};
        if (which == PATH || which == FORMAT)
            keys[i].text = which == PATH ? row->path : row->format;
        else if (which < FIELDS)
            keys[i].value = field_value(row, (field)which);
        else if (column < row->value_count) {
            keys[i].value = row->values[column];
            keys[i].text = row->texts[column][0] ? row->texts[column] : NULL;
        }
        if (row->item && !keys[i].text && isnan(keys[i].value))
            keys[i].value = keys[i - 1].value, keys[i].text = keys[i - 1].text; /* stays with its file */
    }
    wide->unsorted = 0;
    for (size_t i = 0; name && i < wide->row_count; i++)
        wide->unsorted += !keys[i].text && isnan(keys[i].value);
    if (name && wide->row_count)
        qsort(keys, wide->row_count, sizeof *keys, by_key);
    return SMP_OK;
}

static void put_number(FILE *to, double value)
{
    char number[SMP_NUMBER_TEXT] = "";
    if (isfinite(value))
        smp_json_number_text(number, value);
    fputs(number, to);
}

static void put_row(const smp_wide *wide, FILE *to, const smp_wide_row *row, const bool has[FIELDS])
{
    for (int f = 0; f < FIELDS; f++) {
        if (!has[f])
            continue;
        if (f)
            fputc(',', to);
        if (f == PATH || f == FORMAT)
            smp_text_csv(to, f == PATH ? row->path : row->format);
        else
            put_number(to, field_value(row, (field)f));
    }
    for (size_t i = 0; i < wide->column_count; i++) {
        fputc(',', to);
        if (i < row->value_count && row->texts[i][0])
            smp_text_csv(to, row->texts[i]);
        else
            put_number(to, i < row->value_count ? row->values[i] : (double)NAN);
    }
    fputc('\n', to);
}

static void remove_column(smp_wide *wide, size_t at)
{
    smp_free(wide->columns[at]);
    memmove(wide->columns + at, wide->columns + at + 1, (wide->column_count - at - 1) * sizeof *wide->columns);
    wide->column_count--;
    for (size_t i = 0; i < wide->row_count; i++) {
        smp_wide_row *row = &wide->rows[i];
        if (at >= row->value_count)
            continue;
        memmove(row->values + at, row->values + at + 1, (row->value_count - at - 1) * sizeof *row->values);
        memmove(row->texts + at, row->texts + at + 1, (row->value_count - at - 1) * sizeof *row->texts);
        row->value_count--;
    }
}

/* Whether column `at` is of a single channel, "peak", beside which others have "peak_0": *other. */
static bool single_channel(const smp_wide *wide, size_t at, size_t *other)
{
    const size_t length = strlen(wide->columns[at]);
    for (*other = 0; *other < wide->column_count; ++*other)
        if (!strncmp(wide->columns[*other], wide->columns[at], length) && !strcmp(wide->columns[*other] + length, "_0"))
            return true;
    return false;
}

/* Whether a row has values in both columns: the first is then of all channels together. */
static bool beside(const smp_wide *wide, size_t a, size_t b)
{
    for (size_t i = 0; i < wide->row_count; i++) {
        const smp_wide_row *row = &wide->rows[i];
        if (has_value(row, a) && has_value(row, b))
            return true;
    }
    return false;
}

/* Sounds of one channel beside others of several: their only channel is channel 0, and has its columns. */
static void join_channels(smp_wide *wide)
{
    for (size_t at = 0; at < wide->column_count;) {
        size_t other;
        if (!single_channel(wide, at, &other) || beside(wide, at, other)) {
            at++;
            continue;
        }
        bool joined = true;
        for (size_t i = 0; i < wide->row_count; i++) {
            smp_wide_row *row = &wide->rows[i];
            if (!has_value(row, at))
                continue;
            if (!reach_column(row, other)) {
                joined = false; /* the columns stay apart */
                break;
            }
            row->values[other] = row->values[at];
            memcpy(row->texts[other], row->texts[at], sizeof row->texts[other]);
            row->values[at] = (double)NAN;
            row->texts[at][0] = '\0';
        }
        if (!joined)
            return;
        remove_column(wide, at);
    }
}

static void shorten(smp_wide *wide)
{
    const char *dot = wide->column_count ? strchr(wide->columns[0], '.') : NULL;
    size_t length = dot ? (size_t)(dot + 1 - wide->columns[0]) : 0;
    for (size_t i = 1; i < wide->column_count; i++)
        if (strncmp(wide->columns[i], wide->columns[0], length) != 0)
            return;
    for (size_t i = 0; length && i < wide->column_count; i++)
        memmove(wide->columns[i], wide->columns[i] + length, strlen(wide->columns[i] + length) + 1);
}

void smp_wide_name(smp_wide *wide)
{
    shorten(wide);
    join_channels(wide);
}

smp_code smp_wide_write(smp_wide *wide, FILE *to, const char *sort, smp_error *err)
{
    smp_wide_name(wide);
    key *keys = smp_alloc_array(wide->row_count, sizeof *keys);
    smp_code code = keys ? sorted(wide, sort, keys, err) : no_memory(err, wide->row_count);
    bool has[FIELDS];
    if (!code) {
        for (int f = 0; f < FIELDS; f++) {
            has[f] = has_field(wide, (field)f);
            if (has[f])
                fprintf(to, "%s%s", f ? "," : "", field_names[f]);
        }
        for (size_t i = 0; i < wide->column_count; i++) {
            fputc(',', to);
            smp_text_csv(to, wide->columns[i]);
        }
        fputc('\n', to);
    }
    for (size_t i = 0; !code && i < wide->row_count; i++)
        put_row(wide, to, &wide->rows[keys[i].at], has);
    smp_free(keys);
    return code;
}

void smp_wide_free(smp_wide *wide)
{
    for (size_t i = 0; i < wide->row_count; i++)
        smp_free_all(wide->rows[i].path, wide->rows[i].format, wide->rows[i].values, wide->rows[i].texts);
    for (size_t i = 0; i < wide->column_count; i++)
        smp_free(wide->columns[i]);
    smp_free_all(wide->rows, wide->columns);
    *wide = (smp_wide){0};
}
