/* The comparison as one page: what to look at, bars, lines by their conflicts with maps of the banks, a roofline. No
 * network; the script only sorts a table. It fits a phone, follows dark mode and prints. */
#include "report/compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lab/report/kernel_page.h"
#include "report/compare/compare_html.h"
#include "report/compare/compare_roofline.h"
#include "report/text.h"

/* ------------------------------------------------------------------------------------------------ lines */

typedef struct line {
    const smp_compare_step *step;
    const smp_compare_variant *variant;
    const smp_compare_site *site;
    size_t order; /* as steps, variants and sites follow each other */
} line;

static bool worth_telling(const line *l)
{
    return smp_compare_worth_telling(smp_compare_conflicts(&l->site->count), smp_compare_wavefronts(l->variant));
}

static int by_conflicts(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const uint64_t m = smp_compare_conflicts(&x->site->count), n = smp_compare_conflicts(&y->site->count);
    if (worth_telling(x) != worth_telling(y))
        return worth_telling(x) ? -1 : 1;
    if (m != n)
        return m < n ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void put_line(FILE *to, const line *l, uint64_t most)
{
    const smp_shared_count *count = &l->site->count;
    const uint64_t conflicts = smp_compare_conflicts(count);
    fputs("<tr><td class=\"mono\">", to);
    smp_text_xml(to, l->site->where);
    fprintf(to, "</td><td class=\"heat\" data-v=\"%llu\"><i style=\"width:%.1f%%\"></i><span>%llu</span></td>",
            (unsigned long long)conflicts, most ? fmin(100, 100 * (double)conflicts / (double)most) : 0,
            (unsigned long long)conflicts);
    fprintf(to,
            "<td>%.2f</td><td>%d</td><td class=\"text\">%s</td><td class=\"text\">%s of %d byte%s</td><td>%llu</td>",
            smp_compare_ways(count), l->step->number, l->variant->name, smp_shared_op_name(l->site->op), l->site->width,
            l->site->width == 1 ? "" : "s", (unsigned long long)count->instructions);
    fprintf(to, "<td>%llu</td></tr>\n", (unsigned long long)count->wavefronts);
}

static void put_map(FILE *to, const line *l, bool open)
{
    char summary[400];
    const smp_shared_count *count = &l->site->count;
    const uint64_t conflicts = smp_compare_conflicts(count);
    int used =
        snprintf(summary, sizeof summary, "%s, step %d, %s: %s of %d byte%s, ", l->site->where, l->step->number,
                 l->variant->name, smp_shared_op_name(l->site->op), l->site->width, l->site->width == 1 ? "" : "s");
    if (used > 0 && (size_t)used < sizeof summary) {
        if (conflicts)
            snprintf(summary + used, sizeof summary - (size_t)used, "%.2f-way: %llu of %llu wavefronts are conflicts",
                     smp_compare_ways(count), (unsigned long long)conflicts, (unsigned long long)count->wavefronts);
        else
            snprintf(summary + used, sizeof summary - (size_t)used, "no conflict");
    }
    smp_kernel_page_map(to, &l->site->example, summary, NULL, open);
}

/* Maps of those with conflicts, the worst of all open; then, behind one fold, of those without. */
static void put_maps(FILE *to, const line *lines, size_t bad, size_t count)
{
    size_t shown = 0;
    while (shown < bad && !smp_bank_cost_of(&lines[shown].site->example, SMP_BANKS_CC5).conflicts)
        shown++; /* whose one access that is kept has none to show */
    fputs("<h3>The banks of one access each</h3>\n", to);
    if (shown < bad)
        put_map(to, &lines[shown], true);
    const size_t more = shown < bad ? bad - 1 : bad;
    if (more) {
        fprintf(to, "<details><summary>%zu %swith conflicts</summary>\n", more, shown < bad ? "more " : "");
        for (size_t i = 0; i < bad; i++)
            if (i != shown)
                put_map(to, &lines[i], false);
        fputs("</details>\n", to);
    }
    if (count == bad)
        return;
    fprintf(to, "<details><summary>%zu without conflict</summary>\n", count - bad);
    for (size_t i = bad; i < count; i++)
        put_map(to, &lines[i], false);
    fputs("</details>\n", to);
}

static void put_table(FILE *to, const line *lines, size_t count)
{
    static const char *const heads[] = {"line",    "<conflicts",   "n-way",      "step", "<variant",
                                        "<access", "instructions", "wavefronts", NULL};
    const uint64_t most = count ? smp_compare_conflicts(&lines[0].site->count) : 0;
    fputs("<div class=\"scroll\"><table class=\"sorted\">", to);
    smp_kernel_page_heads(to, heads);
    fputs("<tbody>\n", to);
    for (size_t i = 0; i < count; i++)
        put_line(to, &lines[i], most);
    fputs("</tbody></table></div>\n", to);
}

void smp_compare_lines(FILE *to, const smp_compare *compare)
{
    enum { FEW = 5 };
    size_t count = 0, bad = 0, some = 0; /* bad: with conflicts worth telling */
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            count += compare->steps[i].variants[k].site_count;
    line *lines = count ? smp_alloc_array(count, sizeof *lines) : NULL;
    if (!lines)
        return;
    count = 0;
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            for (size_t s = 0; s < compare->steps[i].variants[k].site_count; s++) {
                const smp_compare_variant *variant = &compare->steps[i].variants[k];
                lines[count] = (line){&compare->steps[i], variant, &variant->sites[s], count};
                count++;
                bad += worth_telling(&lines[count - 1]);
                some += smp_compare_conflicts(&variant->sites[s].count) > 0;
            }
    qsort(lines, count, sizeof *lines, by_conflicts);
    fputs("<section id=\"lines\"><h2>Source lines by their conflicts</h2>\n", to);
    if (bad)
        put_table(to, lines, bad < FEW ? bad : FEW);
    else
        fprintf(to, "<p><span class=\"good\">No line has bank conflicts%s.</span></p>\n",
                some ? " of 1 percent and more" : "");
    if (count > (bad < FEW ? bad : FEW)) {
        fprintf(to, "<details><summary>all %zu accesses</summary>\n", count);
        put_table(to, lines, count);
        fputs("</details>\n", to);
    }
    put_maps(to, lines, some, count);
    fputs("</section>\n", to);
    smp_free(lines);
}

void smp_compare_html(FILE *to, const smp_compare *compare)
{
    smp_compare_html_head(to, compare);
    if (compare->step_count) {
        smp_compare_ladder(to, compare);
        smp_compare_lines(to, compare);
        smp_compare_roofline(to, compare);
        smp_compare_numbers(to, compare);
    }
    smp_compare_html_environment(to, compare);
    smp_kernel_page_end(to);
}
