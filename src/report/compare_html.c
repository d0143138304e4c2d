/* The comparison as one page: what it found, bars for each step and variant, a map of the banks for each access, a
 * roofline. No script and no network. It fits a phone, follows dark mode and prints. */
#include <math.h>

#include "report/bank_map.h"
#include "report/compare.h"
#include "report/compare_html.h"
#include "report/compare_roofline.h"
#include "report/text.h"

/* ------------------------------------------------------------------------------------------------ times */

static void put_name(FILE *to, const smp_compare_variant *variant)
{
    fputs("<span title=\"", to);
    smp_text_xml(to, variant->help ? variant->help : "");
    fputs("\">", to);
    smp_text_xml(to, variant->name);
    fputs("</span>", to);
}

static void put_time_value(FILE *to, const smp_compare_step *step, const smp_compare_variant *variant)
{
    double seconds = variant->time.median;
    const char *tone = variant->verdict == SMP_VERDICT_FASTER   ? "good"
                       : variant->verdict == SMP_VERDICT_SLOWER ? "warn"
                                                                : "soft";
    fprintf(to, "<span class=\"value\">%.4g %s, %.4g GB/s", seconds < 1e-4 ? seconds * 1e6 : seconds * 1e3,
            seconds < 1e-4 ? "&micro;s" : "ms", smp_compare_gbs(step, variant));
    if (variant->verdict != SMP_VERDICT_BASE && variant->verdict != SMP_VERDICT_NONE)
        fprintf(to, " <span class=\"%s\">&times;%.3g %s</span>", tone, smp_compare_speedup(step, variant),
                smp_verdict_name(variant->verdict));
    fputs("</span>", to);
}

static void put_time_bar(FILE *to, const smp_compare_step *step, const smp_compare_variant *variant, double most)
{
    fputs("<div class=\"row\">", to);
    put_name(to, variant);
    if (variant->sample_count) {
        double scale = most > 0 ? 100 / most : 0;
        fprintf(
            to,
            "<span class=\"track\"><i%s style=\"width:%.2f%%\"></i><b style=\"left:%.2f%%;width:%.2f%%\"></b></span>",
            variant->verdict == SMP_VERDICT_BASE ? " class=\"base\"" : "", variant->time.median * scale,
            variant->time.low * scale, (variant->time.high - variant->time.low) * scale);
        put_time_value(to, step, variant);
    } else {
        fputs("<span class=\"none\"></span><span class=\"value soft\">", to);
        if (variant->check == SMP_CHECK_WRONG) {
            fputs("<b class=\"bad\">WRONG</b>, not timed: ", to);
            smp_text_xml(to, variant->wrong);
        } else if (variant->same_as) {
            fprintf(to, "here the same as %s", variant->same_as);
        } else {
            smp_text_xml(to, variant->why);
        }
        fputs("</span>", to);
    }
    fputs("</div>\n", to);
}

static void put_times(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    double most = 0;
    bool some = false;
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        some = some || variant->check != SMP_CHECK_NONE;
        if (variant->sample_count)
            most = fmax(most, fmax(variant->time.high, variant->time.median));
    }
    if (!some)
        return;
    fprintf(to, "<h3>Time on %s</h3>\n", compare->device.kind);
    for (size_t i = 0; i < step->variant_count; i++)
        put_time_bar(to, step, &step->variants[i], most * 1.001);
    const int64_t enlarge = smp_compare_enlarge(compare, step);
    if (enlarge)
        fprintf(to,
                "<p class=\"warn\">The picture is too small to fill this GPU: %.2g waves of blocks. --enlarge %lld "
                "repeats it.</p>\n",
                smp_compare_waves(compare, step), (long long)enlarge);
    if (step->timed_out)
        fputs("<p class=\"warn\">Fewer samples than asked for: the time limit had long passed.</p>\n", to);
}

/* ------------------------------------------------------------------------------------------------ counts */

/* Sources that counted the same, as "model = sass". */
static void put_sources(FILE *to, const smp_compare_variant *variant, smp_count_kind first)
{
    const smp_shared_count *total = &variant->counts[first].total;
    fprintf(to, " <span class=\"soft\">%s", smp_count_kind_name(first));
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const smp_compare_count *count = &variant->counts[kind];
        if (kind == (int)first || !count->known)
            continue;
        if (count->total.wavefronts == total->wavefronts && count->total.ideal == total->ideal)
            fprintf(to, " = %s", smp_count_kind_name((smp_count_kind)kind));
        else
            fprintf(to, "; %s %llu", smp_count_kind_name((smp_count_kind)kind),
                    (unsigned long long)count->total.wavefronts);
    }
    fputs("</span>", to);
}

static void put_count_bar(FILE *to, const smp_compare_variant *variant, smp_count_kind kind, double most)
{
    const smp_compare_count *count = &variant->counts[kind];
    const smp_shared_count *total = &count->total;
    uint64_t conflicts = total->wavefronts - total->ideal;
    fputs("<div class=\"row\">", to);
    put_name(to, variant);
    double scale = most > 0 ? 100 / most : 0, ideal = (double)total->ideal * scale;
    fprintf(
        to,
        "<span class=\"track\"><i style=\"width:%.2f%%\"></i><i class=\"more\" style=\"left:%.2f%%;width:%.2f%%\"></i>"
        "</span><span class=\"value\">%llu wavefronts",
        ideal, ideal, (double)conflicts * scale, (unsigned long long)total->wavefronts);
    if (conflicts)
        fprintf(to, " <span class=\"bad\">%.2f-way</span>", smp_compare_ways(total));
    else
        fputs(" <span class=\"good\">no conflict</span>", to);
    put_sources(to, variant, kind);
    fputs("</span></div>\n", to);
}

/* Variants that have no bar: those without shared memory in one line, each that was not counted with its reason. */
static void put_uncounted(FILE *to, const smp_compare_step *step)
{
    size_t without = 0;
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        const smp_count_kind kind = smp_compare_source(variant);
        if (kind < SMP_COUNT_KINDS && !variant->counts[kind].total.instructions)
            fprintf(to, "%s%s", without++ ? ", " : "<p class=\"soft\">No shared memory: ", variant->name);
    }
    fputs(without ? ".</p>\n" : "", to);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        const char *why = variant->counts[SMP_COUNT_MODEL].why;
        if (smp_compare_source(variant) < SMP_COUNT_KINDS || !why[0])
            continue;
        fprintf(to, "<p class=\"soft\">%s: ", variant->name);
        smp_text_xml(to, why);
        fputs("</p>\n", to);
    }
}

static void put_counts(FILE *to, const smp_compare_step *step)
{
    double most = 0;
    bool some = false;
    for (size_t i = 0; i < step->variant_count; i++)
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
            const smp_compare_count *count = &step->variants[i].counts[kind];
            some = some || count->known || count->why[0];
            most = fmax(most, (double)count->total.wavefronts);
        }
    if (!some)
        return;
    fputs("<h3>Shared memory on a GPU</h3>\n", to);
    if (most > 0)
        fputs("<p class=\"soft\">Wavefronts: <span class=\"key\">&#9632;</span> those that the width of the accesses "
              "needs, and <span class=\"bad\">&#9632; those beyond, which are bank conflicts</span>.</p>\n",
              to);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_count_kind kind = smp_compare_source(&step->variants[i]);
        if (kind < SMP_COUNT_KINDS && step->variants[i].counts[kind].total.instructions)
            put_count_bar(to, &step->variants[i], kind, most);
    }
    put_uncounted(to, step);
    char crop[120];
    if (smp_compare_crop(step, crop, sizeof crop)[0])
        fprintf(to, "<p class=\"warn\">Counts are of a crop: %s.</p>\n", crop);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        if (variant->counts[SMP_COUNT_MODEL].faults)
            fprintf(to, "<p class=\"bad\">%s: the trace saw %llu mistakes (races, uninitialised reads).</p>\n",
                    variant->name, (unsigned long long)variant->counts[SMP_COUNT_MODEL].faults);
        if (variant->counts[SMP_COUNT_SASS].known && variant->counts[SMP_COUNT_SASS].why[0]) {
            fprintf(to, "<p class=\"bad\">%s: model and sass disagree: ", variant->name);
            smp_text_xml(to, variant->counts[SMP_COUNT_SASS].why);
            fputs("</p>\n", to);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ numbers */

static void put_cell(FILE *to, const char *format, double value, bool known)
{
    fputs("<td>", to);
    if (known)
        fprintf(to, format, value);
    else
        fputs("&ndash;", to);
    fputs("</td>", to);
}

static void put_times_table(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    fputs("<div class=\"scroll\"><table>\n<tr><th>variant<th>samples<th>median ms<th>quartiles ms<th>GB/s<th>% copy"
          "<th>% peak<th>&times; naive</tr>\n",
          to);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        bool timed = variant->sample_count > 0;
        fputs("<tr><td>", to);
        smp_text_xml(to, variant->name);
        fprintf(to, "</td><td>%zu</td>", variant->sample_count);
        put_cell(to, "%.5g", variant->time.median * 1e3, timed);
        if (timed)
            fprintf(to, "<td>%.5g&hairsp;&ndash;&hairsp;%.5g</td>", variant->time.low * 1e3, variant->time.high * 1e3);
        else
            fputs("<td>&ndash;</td>", to);
        put_cell(to, "%.4g", smp_compare_gbs(step, variant), timed);
        put_cell(to, "%.1f", 100 * smp_compare_of_copy(compare, step, variant), timed && compare->copy_gbs > 0);
        put_cell(to, "%.1f", 100 * smp_compare_of_peak(compare, step, variant), timed && compare->device.peak_gbs > 0);
        put_cell(to, "%.3g", smp_compare_speedup(step, variant), timed);
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

static void put_counts_table(FILE *to, const smp_compare_step *step)
{
    fputs("<div class=\"scroll\"><table>\n<tr><th>variant<th>source<th>shared instr<th>wavefronts<th>ideal"
          "<th>conflicts<th>n-way</tr>\n",
          to);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        smp_count_kind kind = smp_compare_source(variant);
        const smp_shared_count *total = kind < SMP_COUNT_KINDS ? &variant->counts[kind].total : NULL;
        fputs("<tr><td>", to);
        smp_text_xml(to, variant->name);
        fprintf(to, "</td><td>%s</td>", total ? smp_count_kind_name(kind) : "&ndash;");
        put_cell(to, "%.0f", total ? (double)total->instructions : 0, total);
        put_cell(to, "%.0f", total ? (double)total->wavefronts : 0, total);
        put_cell(to, "%.0f", total ? (double)total->ideal : 0, total);
        put_cell(to, "%.0f", total ? (double)(total->wavefronts - total->ideal) : 0, total);
        put_cell(to, "%.2f", total ? smp_compare_ways(total) : 0, total);
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

static void put_numbers(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    fputs("<details><summary>All numbers</summary>\n", to);
    put_times_table(to, compare, step);
    put_counts_table(to, step);
    fputs("</details>\n", to);
}

/* ------------------------------------------------------------------------------------------------ banks */

static void put_site(FILE *to, const smp_compare_variant *variant, const smp_compare_site *site)
{
    enum { MOST_WAVEFRONTS = 16 };
    char title[160];
    const smp_shared_count *count = &site->count;
    smp_bank_cost cost = smp_bank_cost_of(&site->example, SMP_BANKS_CC5);
    snprintf(title, sizeof title, "%s: %s of %d byte%s at %s", variant->name, smp_shared_op_name(site->op), site->width,
             site->width == 1 ? "" : "s", site->where);
    const bool conflicts = count->wavefronts > count->ideal;
    fprintf(to, "<figure%s><figcaption><b>", conflicts ? "" : " class=\"free\"");
    smp_text_xml(to, title);
    fputs("</b> <span class=\"soft mono\">", to);
    smp_text_xml(to, site->kernel);
    fprintf(to, "</span><br>%llu instructions, %llu wavefronts, %llu ideal: ", (unsigned long long)count->instructions,
            (unsigned long long)count->wavefronts, (unsigned long long)count->ideal);
    const bool shown = !conflicts || cost.wavefronts > cost.ideal;
    if (conflicts)
        fprintf(to, "<span class=\"bad\">%.2f-way</span>. ", smp_compare_ways(count));
    else
        fputs("<span class=\"good\">no conflict</span>. Below, one of them.", to);
    if (conflicts && shown)
        fprintf(to, "Below, the worst of them: %d wavefronts where %d would do.", cost.wavefronts, cost.ideal);
    else if (conflicts)
        fputs(
            "A map of one access has no conflict to show: the ideal is that of full accesses, and in these fewer lanes "
            "or bytes are wanted.",
            to);
    fputs("</figcaption>", to);
    smp_bank_map_svg_options options = {.most_wavefronts = MOST_WAVEFRONTS};
    if (shown) {
        fputs("<div class=\"scroll\">", to);
        smp_bank_map_svg(to, &site->example, SMP_BANKS_CC5, &options);
        fputs("</div>", to);
    }
    fputs("</figure>\n", to);
}

/* The sites with conflicts, or those without. The worst is open, so that a page is read and not scrolled through. */
static void put_sites(FILE *to, const smp_compare_step *step, bool bad, size_t count)
{
    const smp_compare_site *worst = NULL;
    const smp_compare_variant *of = NULL;
    for (size_t i = 0; bad && i < step->variant_count; i++)
        for (size_t k = 0; k < step->variants[i].site_count; k++) {
            const smp_compare_site *site = &step->variants[i].sites[k];
            if (site->count.wavefronts > site->count.ideal &&
                (!worst || site->count.wavefronts - site->count.ideal > worst->count.wavefronts - worst->count.ideal)) {
                worst = site;
                of = &step->variants[i];
            }
        }
    if (worst)
        put_site(to, of, worst);
    if (count <= (worst ? 1 : 0))
        return;
    fprintf(to, "<details><summary>%zu%s %s</summary>\n", count - (worst ? 1 : 0), worst ? " more" : "",
            bad ? "with conflicts" : "without conflict");
    for (size_t i = 0; i < step->variant_count; i++)
        for (size_t k = 0; k < step->variants[i].site_count; k++) {
            const smp_compare_site *site = &step->variants[i].sites[k];
            if ((site->count.wavefronts > site->count.ideal) == bad && site != worst)
                put_site(to, &step->variants[i], site);
        }
    fputs("</details>\n", to);
}

static void put_banks(FILE *to, const smp_compare_step *step)
{
    size_t sites = 0, conflicts = 0;
    for (size_t i = 0; i < step->variant_count; i++)
        for (size_t k = 0; k < step->variants[i].site_count; k++) {
            sites++;
            conflicts += step->variants[i].sites[k].count.wavefronts > step->variants[i].sites[k].count.ideal;
        }
    if (!sites)
        return;
    fputs(
        "<h3>The banks, access by access</h3>\n<p class=\"soft\">32 banks across, a line for each wavefront; a number "
        "is the lane that the bank serves then, + more than one. <span class=\"good\">&#9632; at its first "
        "turn</span>, "
        "<span class=\"bad\">&#9632; later, since lanes want different words of a bank</span>.</p>\n",
        to);
    put_sites(to, step, true, conflicts);
    put_sites(to, step, false, sites - conflicts);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void put_step(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    fprintf(to, "<section id=\"step%d\"><h2>%d. <code>", step->number, step->number);
    smp_text_xml(to, step->label);
    fputs("</code></h2>\n<p class=\"soft\">", to);
    smp_text_xml(to, step->type_in);
    if (step->type_out[0]) {
        fputs(" &rarr; ", to);
        smp_text_xml(to, step->type_out);
    }
    fprintf(to, "; %.4g MB cross memory%s</p>\n", (double)step->bytes / 1e6,
            step->fits_cache && compare->hot ? ", all of it fits in the cache" : "");
    put_times(to, compare, step);
    put_counts(to, step);
    put_numbers(to, compare, step);
    put_banks(to, step);
    fputs("</section>\n", to);
}

void smp_compare_html(FILE *to, const smp_compare *compare)
{
    smp_compare_html_head(to, compare);
    if (!compare->step_count)
        fputs("<p>Nothing to compare.</p>\n", to);
    for (size_t i = 0; i < compare->step_count; i++)
        put_step(to, compare, &compare->steps[i]);
    smp_compare_roofline(to, compare);
    smp_compare_html_environment(to, compare);
    fputs("</body></html>\n", to);
}
