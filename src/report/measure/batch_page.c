/* A batch on a page: see batch_page.h. */
#include "report/measure/batch_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "report/measure/thumbnail.h"
#include "report/page.h"
#include "report/text.h"

enum {
    PAIR = 360, /* px */
    OPEN = 12   /* failures; further ones are folded */
};

static const char style[] =
    ".pair{--x:50%}.pair div{position:relative}.pair img{width:100%;height:auto;margin:0}\n"
    ".pair img+img{position:absolute;left:0;top:0;width:100%;height:100%;clip-path:inset(0 0 0 var(--x))}\n"
    ".pair input{width:100%;height:2rem;margin:0;accent-color:var(--bar)}\n"
    ".time{display:grid;grid-template-columns:9rem 1fr 9rem;gap:.4rem .8rem;align-items:center}\n"
    ".time i{display:block;height:1.1rem;background:var(--bar);border-radius:3px}\n"
    "@media(max-width:40rem){.time{grid-template-columns:auto 1fr auto}}\n"
    ".wide{grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr))}dt{font-weight:600}\n"
    "dd{margin:0 0 .5rem}dd span{display:block}\n";

static void free_file(smp_page_file *file)
{
    smp_free(file->input);
    smp_free(file->text);
    smp_free(file->hint);
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

/* The <img> of a file; null: it cannot be shown. From open_memstream. */
static char *picture_of(const char *path, const smp_read_options *how)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    const bool made = to && !smp_thumbnail(to, path, how, PAIR, &(smp_error){.code = SMP_OK});
    if (to && fclose(to) == 0 && made)
        return text;
    free(text);
    return NULL;
}

static void put_pairs(FILE *to, const smp_batch_page *page, const smp_read_options *how)
{
    bool open = false;
    for (size_t i = 0; i < page->pair_count; i++) {
        char *before = picture_of(page->pairs[i].input, how), *after = picture_of(page->pairs[i].text, how);
        if (before && after) {
            if (!open)
                fputs("<h2>Before and after</h2>\n<div class=\"grid wide\">\n", to);
            open = true;
            fprintf(to,
                    "<figure class=\"card\"><div class=\"pair\"><div>%s%s</div><input type=\"range\" value=\"50\" "
                    "aria-label=\"how much is shown of before\" "
                    "oninput=\"this.parentNode.style.setProperty('--x',this.value+'%%')\"></div><figcaption><b>",
                    before, after);
            smp_text_xml(to, page->pairs[i].input);
            fputs("</b><span class=\"soft\">left: before; right: ", to);
            smp_text_xml(to, page->pairs[i].text);
            fputs("</span></figcaption></figure>\n", to);
        }
        free(before);
        free(after);
    }
    if (open)
        fputs("</div>\n", to);
}

static int by_input(const void *a, const void *b)
{
    return strcmp(((const smp_page_file *)a)->input, ((const smp_page_file *)b)->input);
}

/* In the order of names, whatever ended first. A hint stands once: it may be long, and many fail alike. */
static void put_failures(FILE *to, smp_batch_page *page)
{
    if (!page->failed)
        return;
    if (page->failure_count)
        qsort(page->failures, page->failure_count, sizeof *page->failures, by_input);
    fputs("<h2>What failed</h2>\n<dl>\n", to);
    for (size_t i = 0; i < page->failure_count; i++) {
        if (i == OPEN)
            fprintf(to, "</dl>\n<details><summary>%zu more</summary><dl>\n", page->failed - OPEN);
        fputs("<dt>", to);
        smp_text_xml(to, page->failures[i].input);
        fputs("</dt><dd class=\"bad\">", to);
        smp_text_xml(to, page->failures[i].text);
        const char *hint = page->failures[i].hint;
        for (size_t k = 0; k < i && hint; k++)
            if (page->failures[k].hint && !strcmp(hint, page->failures[k].hint))
                hint = NULL;
        if (hint) {
            fputs("<span class=\"soft\">", to);
            smp_text_xml(to, hint);
            fputs("</span>", to);
        }
        fputs("</dd>\n", to);
    }
    fputs("</dl>\n", to);
    if (page->failure_count < page->failed)
        fprintf(to, "<p>%zu more failed.</p>\n", page->failed - page->failure_count);
    fputs(page->failure_count > OPEN ? "</details>\n" : "", to);
}

static void put_time(FILE *to, const char *what, double seconds, double all)
{
    const double percent = all > 0 ? 100 * seconds / all : 0;
    fprintf(to, "<span>%s</span><i style=\"width:%.1f%%\"></i><span class=\"soft\">%.3g s, %.0f %%</span>\n", what,
            percent > .3 ? percent : .3, seconds, percent);
}

/* "sharpen: gaussian 2px, subtract ..., into out/" */
static void put_work(FILE *to, const char *pipe, const smp_program *program, const char *folder)
{
    fputs("<p>", to);
    if (pipe) {
        fputs("<b>", to);
        smp_text_xml(to, pipe);
        fputs("</b>: ", to);
    }
    for (size_t i = 0; i < program->node_count; i++) {
        fputs(i ? ", <code>" : "<code>", to);
        smp_text_xml(to, program->nodes[i].label);
        fputs("</code>", to);
    }
    fputs(program->node_count ? ", into " : "Converted into ", to);
    smp_text_xml(to, folder);
    fputs("</p>\n", to);
}

static void put_times(FILE *to, const smp_batch_page *page, double all)
{
    if (!(all > 0))
        return;
    fputs("<h2>Where the time went</h2>\n<p class=\"soft\">Seconds of all files added up; in several threads they "
          "overlap.</p>\n<div class=\"time\">\n",
          to);
    put_time(to, "read, decode", page->read, all);
    put_time(to, "compute", page->compute, all);
    put_time(to, "encode, write", page->write, all);
    fputs("</div>\n", to);
    if (page->slow_count)
        fputs("<h3>The slowest</h3>\n<div class=\"scroll\"><table>\n", to);
    for (size_t i = 0; i < page->slow_count; i++) {
        fputs("<tr><td><i>", to);
        smp_text_xml(to, page->slow[i].input);
        fprintf(to, "</i></td><td>%s</td></tr>\n", page->slow[i].text);
    }
    fputs(page->slow_count ? "</table></div>\n" : "", to);
}

void smp_batch_page_write(FILE *to, smp_batch_page *page, const char *pipe, const smp_program *program,
                          const char *folder, double wall_seconds, const smp_read_options *how)
{
    const double all = page->read + page->compute + page->write;
    char bytes[24], title[80];
    smp_text_bytes(bytes, sizeof bytes, page->input_bytes);
    snprintf(title, sizeof title, "smempipe batch: %zu files", page->done + page->failed);
    smp_page_begin(to, title, style);
    fputs("<h1>", to);
    smp_page_count(to, page->done, "file", "files");
    fputs(" done", to);
    if (page->failed)
        fprintf(to, ", <span class=\"bad\">%zu failed</span>", page->failed);
    fputs("</h1>\n", to);
    put_work(to, pipe, program, folder);
    fprintf(to, "<p>%s of input in %.3g seconds", bytes, wall_seconds);
    if (wall_seconds > 0 && page->done)
        fprintf(to, (double)page->done >= 100 * wall_seconds ? ", %.0f files a second" : ", %.3g files a second",
                (double)page->done / wall_seconds);
    fputs(".", to);
    if (page->skipped)
        fprintf(to, " %zu %s made before, and left.", page->skipped, page->skipped == 1 ? "was" : "were");
    fputs("</p>\n", to);
    put_failures(to, page);
    put_pairs(to, page, how);
    put_times(to, page, all);
    smp_page_end(to);
}

static void free_files(smp_page_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free_file(&files[i]);
    }
}

void smp_batch_page_free(smp_batch_page *page)
{
    free_files(page->pairs, page->pair_count);
    free_files(page->slow, page->slow_count);
    free_files(page->failures, page->failure_count);
    *page = (smp_batch_page){.done = 0};
}
