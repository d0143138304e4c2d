/* The comparison as one page: bars for each step and variant, a roofline, a map of the banks for each access. No script
 * and no network. It fits a phone, follows dark mode and prints. */
#include <math.h>
#include <string.h>

#include "report/bank_map.h"
#include "report/compare.h"
#include "report/compare_roofline.h"
#include "report/text.h"

static const char style[] =
    ":root{--ink:#1d2330;--soft:#586172;--line:#d8dce3;--paper:#fff;--track:#eef0f4;--bar:#3a6ac4;--base:#8a93a3;\n"
    "--good:#257a3e;--bad:#b3261e;--warn:#8a5a00}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaee;--soft:#a5adba;--line:#3a404b;--paper:#15181d;\n"
    "--track:#262b33;--bar:#6d9bf0;--base:#8a93a3;--good:#6fcf8b;--bad:#ff8a80;--warn:#e6b450}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;padding:1rem;\n"
    "max-width:60rem;overflow-wrap:anywhere;-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2.2rem 0 .2rem;border-top:1px solid var(--line);\n"
    "padding-top:1.2rem}h3{font-size:1rem;margin:1.2rem 0 .4rem}\n"
    "p{margin:.3rem 0}.soft{color:var(--soft)}.bad{color:var(--bad)}.good{color:var(--good)}.warn{color:var(--warn)}\n"
    "code,.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em}\n"
    ".row{display:grid;grid-template-columns:7em 1fr 19em;gap:.1rem .8rem;align-items:center;margin:.3rem 0}\n"
    ".row .value{font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".track{position:relative;height:1.3rem;background:var(--track);border-radius:3px;overflow:hidden}\n"
    ".track i{position:absolute;top:0;bottom:0;left:0;background:var(--bar)}.track i.base{background:var(--base)}\n"
    ".track i.more{background:var(--bad)}\n"
    ".track b{position:absolute;top:50%;height:2px;margin-top:-1px;background:var(--ink);min-width:2px}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem}\n"
    "th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}dl{display:grid;grid-template-columns:auto 1fr;\n"
    "gap:.1rem .8rem;font-size:.9rem;margin:.6rem 0}dt{color:var(--soft)}dd{margin:0}\n"
    "figure{margin:.8rem 0;break-inside:avoid}figcaption{font-size:.9rem}\n"
    "figure .scroll svg.bank-map{min-width:34rem}summary{cursor:pointer;margin:.6rem 0}\n"
    "svg.roofline{width:100%;height:auto;font:13px system-ui,sans-serif}svg.roofline text{fill:var(--ink)}\n"
    "svg.roofline .grid{stroke:var(--line)}svg.roofline .roof{stroke:var(--bad);stroke-width:2;fill:none}\n"
    "svg.roofline .peak{stroke-dasharray:6 4}svg.roofline .label{fill:var(--soft)}\n"
    "@media(max-width:40rem){body{padding:.8rem}.row{grid-template-columns:1fr auto}.row .track{grid-column:1/3;\n"
    "grid-row:2}.row .value{font-size:.85rem;text-align:right;white-space:normal}.row .none{display:none}\n"
    "svg.roofline{font-size:19px}}\n"
    "@media "
    "print{body{max-width:none;padding:0;font-size:11pt}h2,h3,summary{break-after:avoid}.row{break-inside:avoid}\n"
    "figure .scroll svg.bank-map{min-width:0;width:100%}.scroll{overflow:visible}}\n";

/* ------------------------------------------------------------------------------------------------ head */

static void put_pair(FILE *to, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(to, "<dt>%s</dt><dd>", name);
    smp_text_xml(to, text);
    fputs("</dd>\n", to);
}

static void put_head(FILE *to, const smp_compare *compare)
{
    const smp_device_info *device = &compare->device;
    char text[200];
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>smempipe compare: ",
          to);
    smp_text_xml(to, compare->pipe ? compare->pipe : compare->input ? compare->input : "");
    fprintf(to, "</title>\n<style>\n%s%s</style></head>\n<body>\n<h1>", style, smp_bank_map_css());
    smp_text_xml(to, compare->pipe ? compare->pipe : "stages");
    fputs(" on ", to);
    smp_text_xml(to, compare->input ? compare->input : "?");
    fputs(
        "</h1>\n<p class=\"soft\">Every step ran by itself on its real input, once in each variant of its stage. Times "
        "are medians; the thin line across a bar's end spans the quartiles.</p>\n<dl>\n",
        to);
    put_pair(to, "input", compare->input_type);
    put_pair(to, "SHA-256", compare->input_hash);
    snprintf(text, sizeof text, "%s: %s", device->kind, device->name);
    put_pair(to, "device", text);
    put_pair(to, "note", compare->device_note);
    if (!device->compute_major) {
        snprintf(text, sizeof text, "%d", compare->threads);
        put_pair(to, "threads", text);
        put_pair(to, "instructions", device->isa);
    } else {
        put_pair(to, "host", compare->host);
    }
    put_pair(to, "driver", compare->driver);
    put_pair(to, "CUDA toolkit", compare->toolkit);
    if (compare->sm_clock) {
        snprintf(text, sizeof text, "%d MHz; %lld samples left out as throttled", compare->sm_clock,
                 (long long)compare->dropped);
        put_pair(to, "SM clock", text);
    }
    if (compare->copy_gbs > 0) {
        snprintf(text, sizeof text, "%.4g GB/s (quartiles %.4g to %.4g)", compare->copy_gbs, compare->copy_low,
                 compare->copy_high);
        put_pair(to, "copy here", text);
    }
    if (device->peak_gbs > 0) {
        snprintf(text, sizeof text, "%.4g GB/s", device->peak_gbs);
        put_pair(to, "datasheet", text);
    }
    put_pair(to, "caches", compare->hot ? "left as they are between samples" : "emptied before each sample");
    put_pair(to, "counts for", compare->counter_device);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (compare->source_note[kind][0]) {
            snprintf(text, sizeof text, "no %s counts", smp_count_kind_name((smp_count_kind)kind));
            put_pair(to, text, compare->source_note[kind]);
        }
    put_pair(to, "smempipe", SMP_VERSION);
    fputs("</dl>\n", to);
}

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
    if (step->timed_out)
        fputs("<p class=\"warn\">Fewer samples than asked for: the time limit had long passed.</p>\n", to);
}

/* ------------------------------------------------------------------------------------------------ counts */

static void put_count_bar(FILE *to, const smp_compare_variant *variant, smp_count_kind kind, double most)
{
    const smp_compare_count *count = &variant->counts[kind];
    const smp_shared_count *total = &count->total;
    uint64_t conflicts = total->wavefronts - total->ideal;
    fputs("<div class=\"row\">", to);
    put_name(to, variant);
    if (!count->known || !total->instructions) {
        fputs("<span class=\"none\"></span><span class=\"value soft\">", to);
        smp_text_xml(to, count->known ? "uses no shared memory" : count->why);
        fputs("</span></div>\n", to);
        return;
    }
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
    fprintf(to, " <span class=\"soft\">%s</span></span></div>\n", smp_count_kind_name(kind));
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
    fputs("<h3>Shared memory on a GPU</h3>\n<p class=\"soft\">Wavefronts: those that the width of the accesses needs, "
          "and "
          "<span class=\"bad\">those beyond, which are bank conflicts</span>.</p>\n",
          to);
    for (size_t i = 0; i < step->variant_count; i++)
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
            const smp_compare_count *count = &step->variants[i].counts[kind];
            if (count->known || (kind == SMP_COUNT_MODEL && count->why[0]))
                put_count_bar(to, &step->variants[i], (smp_count_kind)kind, most);
        }
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

static void put_numbers(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    fputs(
        "<details><summary>All numbers</summary><div class=\"scroll\"><table>\n<tr><th>variant<th>samples<th>median ms"
        "<th>quartiles ms<th>GB/s<th>% copy<th>% peak<th>&times; naive<th>source<th>shared instr<th>wavefronts<th>ideal"
        "<th>conflicts<th>n-way</tr>\n",
        to);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        bool timed = variant->sample_count > 0;
        smp_count_kind kind = smp_compare_source(variant);
        const smp_shared_count *total = kind < SMP_COUNT_KINDS ? &variant->counts[kind].total : NULL;
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
        fprintf(to, "<td>%s</td>", total ? smp_count_kind_name(kind) : "&ndash;");
        put_cell(to, "%.0f", total ? (double)total->instructions : 0, total);
        put_cell(to, "%.0f", total ? (double)total->wavefronts : 0, total);
        put_cell(to, "%.0f", total ? (double)total->ideal : 0, total);
        put_cell(to, "%.0f", total ? (double)(total->wavefronts - total->ideal) : 0, total);
        put_cell(to, "%.2f", total ? smp_compare_ways(total) : 0, total);
        fputs("</tr>\n", to);
    }
    fputs("</table></div></details>\n", to);
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
    fputs("<figure><figcaption><b>", to);
    smp_text_xml(to, title);
    fputs("</b> <span class=\"soft mono\">", to);
    smp_text_xml(to, site->kernel);
    fprintf(to, "</span><br>%llu instructions, %llu wavefronts, %llu ideal: ", (unsigned long long)count->instructions,
            (unsigned long long)count->wavefronts, (unsigned long long)count->ideal);
    if (count->wavefronts > count->ideal)
        fprintf(to, "<span class=\"bad\">%.2f-way</span>. Below, the worst of them: %d wavefronts where %d would do.",
                smp_compare_ways(count), cost.wavefronts, cost.ideal);
    else
        fputs("<span class=\"good\">no conflict</span>. Below, one of them.", to);
    fputs("</figcaption><div class=\"scroll\">", to);
    smp_bank_map_svg_options options = {.most_wavefronts = MOST_WAVEFRONTS};
    smp_bank_map_svg(to, &site->example, SMP_BANKS_CC5, &options);
    fputs("</div></figure>\n", to);
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
    fprintf(to,
            "<details%s><summary>The banks, access by access (%zu, %zu with conflicts)</summary>\n<p class=\"soft\">32 "
            "banks "
            "across, a line for each wavefront; a number is the lane that the bank serves then, + more than one.</p>\n",
            conflicts ? " open" : "", sites, conflicts);
    for (int bad = 1; bad >= 0; bad--) /* those with conflicts first */
        for (size_t i = 0; i < step->variant_count; i++)
            for (size_t k = 0; k < step->variants[i].site_count; k++) {
                const smp_compare_site *site = &step->variants[i].sites[k];
                if ((site->count.wavefronts > site->count.ideal) == bad)
                    put_site(to, &step->variants[i], site);
            }
    fputs("</details>\n", to);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void put_step(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    fprintf(to, "<section><h2>%d. <code>", step->number);
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
    put_head(to, compare);
    if (!compare->step_count)
        fputs("<p>Nothing to compare.</p>\n", to);
    for (size_t i = 0; i < compare->step_count; i++)
        put_step(to, compare, &compare->steps[i]);
    smp_compare_roofline(to, compare);
    fputs("</body></html>\n", to);
}
