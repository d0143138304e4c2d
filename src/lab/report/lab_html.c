/* Kernels of the lab as one page, in the look of `compare --html`: what to look at, bars on one axis, the source by
 * cost, banks, findings, all numbers. No network; the one script sorts the table. */
#include <string.h>

#include "lab/report/kernel_page.h"
#include "lab/report/lab.h"
#include "report/text.h"

static double total_cost(const smp_warp_result *r)
{
    double cost = 0;
    for (size_t i = 0; i < r->row_count; i++)
        cost += smp_lab_cost(&r->rows[i]);
    return cost;
}

static const char *path_of(const smp_warp_result *r, uint32_t file)
{
    return file < r->file_count ? r->files[file] : "";
}

/* "transpose.cu: transpose", or the kernel alone where there is one file. */
static void put_title(FILE *to, const smp_lab_report *report, size_t i)
{
    for (size_t k = 0; k < report->count; k++)
        if (strcmp(report->entries[k].file, report->entries[0].file) != 0) {
            smp_text_xml(to, report->entries[i].file);
            fputs(": ", to);
            break;
        }
    smp_text_xml(to, report->results[i].kernel);
}

/* ------------------------------------------------------------------------------------------------ the first screen */

static void put_verdict(FILE *to, const smp_lab_report *report)
{
    const smp_warp_row *dearest = NULL;
    const smp_warp_result *of = NULL;
    size_t number = 0, findings = 0;
    char text[SMP_LAB_ADVICE];
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_row *row = smp_lab_dearest(&report->results[i]);
        findings += report->results[i].finding_count;
        if (row && (!dearest || smp_lab_cost(row) > smp_lab_cost(dearest))) {
            dearest = row;
            of = &report->results[i];
            number = i;
        }
    }
    if (findings)
        fprintf(to,
                "<p class=\"verdict\"><a href=\"#findings\" class=\"bad\">%zu mistake%s</a> in these kernels: mend "
                "%s first.</p>\n",
                findings, findings == 1 ? "" : "s", findings == 1 ? "it" : "them");
    if (!dearest) {
        fputs("<p class=\"verdict free\">No line has bank conflicts, and none moves more sectors than it needs.</p>\n",
              to);
        return;
    }
    smp_lab_verdict(dearest, text, sizeof text);
    fputs("<p class=\"verdict\">Look at <b>", to);
    smp_text_xml(to, smp_lab_file(of, dearest->file));
    fprintf(to, ":%u</b> of <b>", dearest->line);
    put_title(to, report, number);
    fputs("</b>: ", to);
    smp_text_xml(to, text);
    const double all = total_cost(of);
    if (all > 0)
        fprintf(to, ", %.0f %% of what this kernel wastes", 100 * smp_lab_cost(dearest) / all);
    if (smp_lab_advice(dearest, text, sizeof text)) {
        fputs(". To avoid it: ", to);
        smp_text_xml(to, text);
    }
    fputs(".</p>\n", to);
}

typedef struct ladder {
    const char *title, *unit, *bad;
    bool sectors;
} ladder;

static void lengths(const smp_warp_result *r, bool sectors, uint64_t *all, uint64_t *needed)
{
    const smp_lab_total t = smp_lab_total_of(r);
    *all = sectors ? t.sectors : t.wavefronts;
    *needed = sectors ? t.sectors_ideal : t.ideal;
    if (*needed > *all)
        *needed = *all;
}

static void put_ladder(FILE *to, const smp_lab_report *report, const ladder *l)
{
    uint64_t most = 0, all, needed;
    for (size_t i = 0; i < report->count; i++) {
        lengths(&report->results[i], l->sectors, &all, &needed);
        most = all > most ? all : most;
    }
    if (!most)
        return;
    fprintf(to,
            "<h3>%s</h3>\n<p class=\"soft\"><span class=\"key\">&#9632;</span> what the accesses need, <span "
            "class=\"bad\">&#9632; %s</span>.</p>\n",
            l->title, l->bad);
    for (size_t i = 0; i < report->count; i++) {
        lengths(&report->results[i], l->sectors, &all, &needed);
        const double scale = 100 / (double)most;
        fputs("<div class=\"row\"><span>", to);
        put_title(to, report, i);
        fprintf(to,
                "</span><span class=\"track\"><i style=\"width:%.2f%%\"></i><i class=\"more\" "
                "style=\"left:%.2f%%;width:%.2f%%\"></i></span><span class=\"value\">%llu %s",
                (double)needed * scale, (double)needed * scale, (double)(all - needed) * scale, (unsigned long long)all,
                l->unit);
        if (all > needed)
            fprintf(to, " <span class=\"bad\">&times;%.3g</span>", needed ? (double)all / (double)needed : 0);
        fputs("</span></div>\n", to);
    }
    const smp_axis axis = smp_axis_for(0, (double)most, false);
    fputs("<div class=\"row\"><span></span>", to);
    smp_axis_put(to, &axis, false);
    fprintf(to, "<span class=\"value soft\">%s</span></div>\n", l->unit);
}

static void put_ladders(FILE *to, const smp_lab_report *report)
{
    static const ladder ladders[] = {
        {"Shared memory", "wavefronts", "bank conflicts", false},
        {"Global memory", "sectors", "sectors beyond, since neighbouring threads access distant addresses", true}};
    for (size_t i = 0; i < 2; i++)
        put_ladder(to, report, &ladders[i]);
}

static void put_results(FILE *to, const smp_lab_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const smp_lab_entry *e = &report->entries[i];
        if (e->same <= SMP_LAB_FIRST)
            continue;
        const bool bad = e->same == SMP_LAB_DIFFERENT;
        fprintf(to, "<p class=\"%s\">", bad ? "bad" : "good");
        put_title(to, report, i);
        fputs(e->same == SMP_LAB_SAME      ? " leaves the same bytes as the first."
              : e->same == SMP_LAB_ROUNDED ? " leaves the values of the first, but for rounding: "
                                           : " leaves <b>other values</b> than the first: ",
              to);
        smp_text_xml(to, e->difference);
        fputs("</p>\n", to);
    }
}

/* ------------------------------------------------------------------------------------------------ source lines */

enum { AROUND = 2 }; /* lines shown above and below one that accesses memory */

static void put_heat(FILE *to, const smp_warp_result *r, uint32_t file, uint32_t line, double most)
{
    double cost = 0;
    uint64_t conflicts = 0, beyond = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const smp_warp_row *row = &r->rows[i];
        if (row->file != file || row->line != line)
            continue;
        cost += smp_lab_cost(row);
        conflicts += row->conflicts;
        beyond += row->sectors > row->sectors_ideal ? row->sectors - row->sectors_ideal : 0;
    }
    fprintf(to, "<td class=\"heat\"><i style=\"width:%.1f%%\"></i><span>", most > 0 ? 100 * cost / most : 0);
    if (conflicts)
        fprintf(to, "%llu conflicts", (unsigned long long)conflicts);
    if (beyond)
        fprintf(to, "%s%llu sectors", conflicts ? ", " : "", (unsigned long long)beyond);
    fputs("</span></td>", to);
}

static bool is_near(const smp_warp_result *r, uint32_t file, uint32_t line, uint32_t around)
{
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].file == file && line + around >= r->rows[i].line && line <= r->rows[i].line + around)
            return true;
    return false;
}

static void put_source(FILE *to, const smp_lab_report *report, const smp_warp_result *r, uint32_t file)
{
    uint32_t first = UINT32_MAX, last = 0;
    double most = 0;
    bool gap = false;
    for (size_t i = 0; i < r->row_count; i++) {
        const smp_warp_row *row = &r->rows[i];
        double cost = 0;
        if (row->file != file || !row->line)
            continue;
        first = row->line < first ? row->line : first;
        last = row->line > last ? row->line : last;
        for (size_t k = 0; k < r->row_count; k++)
            if (r->rows[k].file == file && r->rows[k].line == row->line)
                cost += smp_lab_cost(&r->rows[k]);
        most = cost > most ? cost : most;
    }
    if (!last)
        return;
    fputs("<h3>", to);
    smp_text_xml(to, smp_lab_file(r, file));
    fputs("</h3>\n<div class=\"scroll\"><table class=\"source\">\n", to);
    for (uint32_t line = first > AROUND ? first - AROUND : 1; line <= last + AROUND; line++) {
        if (!is_near(r, file, line, AROUND)) {
            if (!gap)
                fputs("<tr class=\"far\"><td></td><td>&hellip;</td><td></td></tr>\n", to);
            gap = true;
            continue;
        }
        gap = false;
        fprintf(to, "<tr><td>%u</td>", line);
        if (is_near(r, file, line, 0))
            put_heat(to, r, file, line, most);
        else
            fputs("<td></td>", to);
        fputs("<td class=\"text\"><code>", to);
        smp_text_xml(to, smp_lab_text(report->sources, path_of(r, file), line));
        fputs("</code></td>", to);
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

/* ------------------------------------------------------------------------------------------------ banks, findings */

/* The banks of each access that has conflicts; the dearest is open. */
static void put_maps(FILE *to, const smp_warp_result *r)
{
    const smp_warp_row *dearest = smp_lab_dearest(r);
    for (size_t i = 0; i < r->row_count; i++) {
        const smp_warp_row *row = &r->rows[i];
        smp_bank_access access;
        char summary[300];
        if (!smp_lab_access(row, &access))
            continue;
        snprintf(summary, sizeof summary, "The banks: %s:%u, %s of %u byte%s, the worst of its %llu instructions",
                 smp_lab_file(r, row->file), row->line, smp_lab_access_name(row), row->width,
                 row->width == 1 ? "" : "s", (unsigned long long)row->instructions);
        smp_kernel_page_map(to, &access, summary, row->array, row == dearest);
    }
}

static void put_place(FILE *to, const smp_lab_report *report, const smp_warp_result *r, const smp_warp_place *p)
{
    fputs("<br><span class=\"mono\">", to);
    smp_text_xml(to, smp_lab_file(r, p->file));
    fprintf(to, ":%u</span> thread %u,%u,%u <code>", p->line, p->thread[0], p->thread[1], p->thread[2]);
    smp_text_xml(to, smp_lab_line(report->sources, path_of(r, p->file), p->line));
    fputs("</code>", to);
}

static void put_measurements(FILE *to, const smp_lab_report *report)
{
    bool begun = false;
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        for (size_t k = 0; k < r->finding_count + r->stopped; k++) {
            const smp_warp_finding *f = k < r->finding_count ? &r->findings[k] : NULL;
            if (!begun)
                fputs("<section id=\"findings\"><h2>Mistakes</h2>\n", to);
            begun = true;
            fprintf(to, "<div class=\"found\"><b class=\"bad\">%s</b> in ",
                    f ? smp_warp_fault_name(f->fault) : "stopped");
            put_title(to, report, i);
            fputs(": ", to);
            smp_text_xml(to, f ? f->text : r->error.message);
            if (f) {
                if (f->count > 1)
                    fprintf(to, " (%llu times)", (unsigned long long)f->count);
                put_place(to, report, r, &f->here);
                if (f->other.line)
                    put_place(to, report, r, &f->other);
            }
            fputs("</div>\n", to);
        }
    }
    fputs(begun ? "</section>\n" : "", to);
}

/* ------------------------------------------------------------------------------------------------ numbers */

static void put_numbers(FILE *to, const smp_lab_report *report)
{
    static const char *const heads[] = {"kernel",     "<line",  "<access",   "bytes", "instructions",
                                        "wavefronts", "ideal",  "conflicts", "n-way", "lanes",
                                        "sectors",    "needed", NULL};
    fputs("<section><h2>All numbers</h2>\n<p class=\"soft small\">A click on a head sorts.</p>\n<div "
          "class=\"scroll\"><table class=\"sorted\">",
          to);
    smp_kernel_page_heads(to, heads);
    fputs("<tbody>\n", to);
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].row_count; k++) {
            const smp_warp_row *row = &report->results[i].rows[k];
            const bool shared = row->space == SMP_WARP_SHARED;
            fputs("<tr><td>", to);
            put_title(to, report, i);
            fputs("</td><td class=\"text\">", to);
            smp_text_xml(to, smp_lab_file(&report->results[i], row->file));
            fprintf(to, ":%u</td><td class=\"text\">%s</td><td>%u</td><td>%llu</td>", row->line,
                    smp_lab_access_name(row), row->width, (unsigned long long)row->instructions);
            if (shared)
                fprintf(to, "<td>%llu</td><td>%llu</td><td>%llu</td><td>%.3g</td>", (unsigned long long)row->wavefronts,
                        (unsigned long long)row->ideal, (unsigned long long)row->conflicts,
                        row->ideal ? (double)row->wavefronts / (double)row->ideal : 0);
            else
                fputs("<td></td><td></td><td></td><td></td>", to);
            fprintf(to, "<td>%.3g</td>", row->instructions ? (double)row->lanes / (double)row->instructions : 0);
            if (shared)
                fputs("<td></td><td></td></tr>\n", to);
            else
                fprintf(to, "<td>%llu</td><td>%llu</td></tr>\n", (unsigned long long)row->sectors,
                        (unsigned long long)row->sectors_ideal);
        }
    fputs("</tbody></table></div></section>\n", to);
}

static void put_kernel(FILE *to, const smp_lab_report *report, size_t i)
{
    const smp_warp_result *r = &report->results[i];
    fputs("<section><h2>", to);
    put_title(to, report, i);
    fprintf(to,
            "</h2>\n<p class=\"soft\">grid %ux%ux%u, block %ux%ux%u, %u bytes of shared memory, %llu warp "
            "instructions of %s",
            r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2], r->shared + r->dynamic_shared,
            (unsigned long long)r->instructions, r->code[0] == 's' ? "SASS" : "PTX");
    if (r->blocks_run < r->blocks)
        fprintf(to, "; %llu of its %llu blocks ran", (unsigned long long)r->blocks_run, (unsigned long long)r->blocks);
    if (r->fit.arch)
        fprintf(to, "; %u registers a thread; an SM of sm_%d holds %u block%s, occupancy %.0f %%, limited by %s",
                r->fit.registers, r->fit.arch, r->fit.blocks, r->fit.blocks == 1 ? "" : "s", 100 * r->fit.occupancy,
                r->fit.limit);
    fputs("</p>\n", to);
    for (const char *at = r->notes; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[400];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs("<p class=\"warn\">", to);
        smp_text_xml(to, line);
        fputs("</p>\n", to);
    }
    for (uint32_t file = 0; file < r->file_count; file++)
        put_source(to, report, r, file);
    put_maps(to, r);
    fputs("</section>\n", to);
}

void smp_lab_html(FILE *to, const smp_lab_report *report)
{
    smp_kernel_page_begin(to, "kernel", report->count ? report->entries[0].file : "");
    fputs("<h1>", to);
    for (size_t i = 0; i < report->count; i++)
        if (!i || strcmp(report->entries[i].file, report->entries[i - 1].file) != 0) {
            fputs(i ? ", " : "", to);
            smp_text_xml(to, report->entries[i].file);
        }
    fputs("</h1>\n", to);
    put_verdict(to, report);
    put_results(to, report);
    put_ladders(to, report);
    smp_kernel_page_terms(to, true);
    put_measurements(to, report);
    for (size_t i = 0; i < report->count; i++)
        put_kernel(to, report, i);
    put_numbers(to, report);
    smp_kernel_page_end(to);
}
