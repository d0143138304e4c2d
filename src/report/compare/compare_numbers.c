/* All numbers of a comparison as one table that a click sorts, folded. */
#include "lab/report/kernel_page.h"
#include "report/compare/compare_html.h"
#include "report/text.h"

static void put_cell(FILE *to, const char *format, double value, bool known)
{
    fputs("<td>", to);
    if (known)
        fprintf(to, format, value);
    else
        fputs("&ndash;", to);
    fputs("</td>", to);
}

static void put_row(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                    const smp_compare_variant *variant)
{
    const bool timed = variant->sample_count > 0;
    const smp_count_kind kind = smp_compare_source(variant);
    const smp_shared_count *total = kind < SMP_COUNT_KINDS ? &variant->counts[kind].total : NULL;
    fprintf(to, "<tr><td>%d. ", step->number);
    smp_text_xml(to, step->label);
    fputs("</td><td class=\"text\">", to);
    smp_text_xml(to, variant->name);
    fprintf(to, "</td><td>%zu</td>", variant->sample_count);
    put_cell(to, "%.5g", variant->time.median * 1e3, timed);
    if (timed)
        fprintf(to, "<td>%.4g&hairsp;&ndash;&hairsp;%.4g</td>", variant->time.low * 1e3, variant->time.high * 1e3);
    else
        fputs("<td>&ndash;</td>", to);
    put_cell(to, "%.4g", smp_compare_gbs(step, variant), timed);
    put_cell(to, "%.1f", 100 * smp_compare_of_copy(compare, step, variant), timed && compare->copy_gbs > 0);
    put_cell(to, "%.1f", 100 * smp_compare_of_peak(compare, step, variant), timed && compare->device.peak_gbs > 0);
    put_cell(to, "%.3g", smp_compare_speedup(step, variant), timed);
    fprintf(to, "<td>%s</td>", total ? smp_count_kind_name(kind) : "&ndash;");
    put_cell(to, "%.0f", total ? (double)total->instructions : 0, total);
    put_cell(to, "%.0f", total ? (double)total->wavefronts : 0, total);
    put_cell(to, "%.0f", total ? (double)total->ideal : 0, total);
    put_cell(to, "%.0f", total ? (double)smp_compare_conflicts(total) : 0, total);
    put_cell(to, "%.2f", total ? smp_compare_ways(total) : 0, total);
    fputs("</tr>\n", to);
}

void smp_compare_numbers(FILE *to, const smp_compare *compare)
{
    static const char *const heads[] = {
        "step",          "<variant", "samples",      "median ms",  "quartiles ms", "GB/s",      "% copy", "% peak",
        "&times; naive", "source",   "shared instr", "wavefronts", "ideal",        "conflicts", "n-way",  NULL};
    fputs("<section id=\"numbers\"><h2>All numbers</h2>\n<details><summary>a row a variant; a click on a head sorts"
          "</summary>\n<div class=\"scroll\"><table class=\"sorted\">",
          to);
    smp_kernel_page_heads(to, heads);
    fputs("<tbody>\n", to);
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            put_row(to, compare, &compare->steps[i], &compare->steps[i].variants[k]);
    fputs("</tbody></table></div></details></section>\n", to);
}
