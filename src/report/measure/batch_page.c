/* A batch on a page: see batch_page.h. */
#include "report/measure/batch_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "report/measure/thumbnail.h"
#include "report/page.h"

enum { PAIR = 360 /* px */ };

static void free_file(smp_page_file *file)
{
    smp_free_all(file->input, file->text, file->hint);
}

/* Puts a file where it belongs among at most `most`, the least keys first; the last goes. */
static void keep(smp_page_file *files, size_t *count, size_t most, const char *input, const char *text,
                 const char *hint, uint64_t key)
{
    if (*count == most && key >= files[most - 1].key)
        return;
    smp_page_file fresh = {
        .input = smp_strdup(input), .text = smp_strdup(text), .hint = hint ? smp_strdup(hint) : NULL, .key = key};
    if (!fresh.input || !fresh.text) {
        free_file(&fresh);
        return;
    }
    if (*count == most)
        free_file(&files[--*count]);
    size_t at = (*count)++;
    for (; at > 0 && files[at - 1].key > key; at--)
        files[at] = files[at - 1];
    files[at] = fresh;
}

void smp_batch_page_add(smp_batch_page *page, const smp_run_report *report, const smp_error *err)
{
    char why[32];
    page->done += report->status == SMP_OK;
    page->failed += report->status != SMP_OK;
    page->read += report->read_seconds;
    page->compute += report->device_seconds + report->upload_seconds + report->download_seconds;
    page->write += report->write_seconds;
    page->input_bytes += (double)report->input_bytes;
    if (report->status) {
        keep(page->failures, &page->failure_count, SMP_PAGE_FAILURES, report->input, report->error,
             err && err->hint[0] ? err->hint : NULL, page->failed);
        return;
    }
    snprintf(why, sizeof why, "%.0f ms", report->wall_seconds * 1e3);
    const double past = report->wall_seconds * 1e6;
    keep(page->slow, &page->slow_count, SMP_PAGE_SLOW, report->input, why, NULL, UINT64_MAX - (uint64_t)past);
    if (report->shape.kind != SMP_AUDIO && report->output)
        keep(page->pairs, &page->pair_count, SMP_PAGE_PAIRS, report->input, report->output, NULL,
             smp_hash_name(report->input));
}

static void put_pairs(smp_json *json, const smp_batch_page *page, const smp_read_options *how)
{
    smp_error err;
    smp_json_array(json, "pairs");
    for (size_t i = 0; i < page->pair_count; i++) {
        smp_small_picture before = {.samples = NULL}, after = {.samples = NULL};
        if (!smp_small_picture_read(page->pairs[i].input, how, PAIR, PAIR, &before, &err) &&
            !smp_small_picture_read(page->pairs[i].text, how, PAIR, PAIR, &after, &err)) {
            SMP_JSON_OPEN(json, NULL, ("input", page->pairs[i].input), ("output", page->pairs[i].text));
            (void)smp_small_picture_json(json, "before", &before); /* without memory it is not shown */
            (void)smp_small_picture_json(json, "after", &after);
            smp_json_end(json, '}');
        }
        smp_free_all(before.samples, after.samples);
    }
    smp_json_end(json, ']');
}

static int by_input(const void *a, const void *b)
{
    return strcmp(((const smp_page_file *)a)->input, ((const smp_page_file *)b)->input);
}

static void put_files(smp_json *json, const char *key, const char *about, const smp_page_file *files, size_t count)
{
    smp_json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        SMP_JSON_OPEN(json, NULL, ("input", files[i].input), (about, files[i].text));
        if (files[i].hint)
            smp_json_string(json, "hint", files[i].hint);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void put_data(smp_json *json, const smp_batch_page *page, const smp_page_work *work, const smp_read_options *how)
{
    smp_json_object(json, NULL);
    smp_json_string(json, "pipeline", work->pipe);
    smp_json_array(json, "steps");
    for (size_t i = 0; i < work->program->node_count; i++)
        smp_json_string(json, NULL, work->program->nodes[i].label);
    smp_json_end(json, ']');
    SMP_JSON(json, ("folder", work->folder), ("done", page->done), ("failed", page->failed), ("skipped", page->skipped),
             ("input_bytes", page->input_bytes), ("wall_seconds", work->wall_seconds), ("read_seconds", page->read),
             ("compute_seconds", page->compute), ("write_seconds", page->write));
    put_files(json, "failures", "error", page->failures, page->failure_count);
    put_files(json, "slowest", "time", page->slow, page->slow_count);
    put_pairs(json, page, how);
    smp_json_end(json, '}');
}

/* For browsers without scripts: how many files there are, and what failed. */
static void put_table(FILE *to, const smp_batch_page *page)
{
    const struct {
        const char *text;
        size_t count;
    } rows[] = {{"files done", page->done}, {"files failed", page->failed}, {"files made before", page->skipped}};
    char number[24];
    fputs("<table>\n", to);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(number, sizeof number, "%zu", rows[i].count);
        smp_page_row(to, "td", (const char *const[]){rows[i].text, number}, 2);
    }
    for (size_t i = 0; i < page->failure_count; i++)
        smp_page_row(to, "td", (const char *const[]){page->failures[i].input, page->failures[i].text}, 2);
    fputs("</table>\n", to);
}

void smp_batch_page_write(FILE *to, smp_batch_page *page, const smp_page_work *work, const smp_read_options *how)
{
    char title[48];
    smp_json json;
    if (page->failure_count) /* in the order of names, whatever ended first */
        qsort(page->failures, page->failure_count, sizeof *page->failures, by_input);
    snprintf(title, sizeof title, "%zu files", page->done + page->failed);
    smp_page_begin(to, "batch", title);
    put_table(to, page);
    smp_page_data(to, "batch", &json);
    put_data(&json, page, work, how);
    smp_page_end(to);
}

static void free_files(smp_page_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free_file(&files[i]);
}

void smp_batch_page_free(smp_batch_page *page)
{
    free_files(page->pairs, page->pair_count);
    free_files(page->slow, page->slow_count);
    free_files(page->failures, page->failure_count);
    *page = (smp_batch_page){.done = 0};
}
