/* Bars of all steps and variants on one axis for times and one for wavefronts: see compare_html.h. */
#include <math.h>

#include "lab/report/kernel_page.h"
#include "report/compare/compare_html.h"
#include "report/text.h"

typedef struct axes {
    smp_axis time, waves;
} axes;

static axes find_axes(const smp_compare *compare)
{
    double least = INFINITY, most = 0, waves = 0;
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++) {
            const smp_compare_variant *variant = &compare->steps[i].variants[k];
            const smp_count_kind kind = smp_compare_source(variant);
            if (variant->sample_count) {
                least = fmin(least, variant->time.median);
                most = fmax(most, fmax(variant->time.high, variant->time.median));
            }
            if (kind < SMP_COUNT_KINDS)
                waves = fmax(waves, (double)variant->counts[kind].total.wavefronts);
        }
    return (axes){smp_axis_for(least, most, true), smp_axis_for(0, waves, false)};
}

static void put_name(FILE *to, const smp_compare_variant *variant)
{
    fputs("<span title=\"", to);
    smp_text_xml(to, variant->help ? variant->help : "");
    fputs("\">", to);
    smp_text_xml(to, variant->name);
    fputs("</span>", to);
}

static void put_time(FILE *to, const smp_axis *axis, const smp_compare_step *step, const smp_compare_variant *variant)
{
    if (variant->sample_count) {
        const char *tone = variant->verdict == SMP_VERDICT_FASTER   ? "good"
                           : variant->verdict == SMP_VERDICT_SLOWER ? "warn"
                                                                    : "soft";
        const double low = smp_axis_at(axis, variant->time.low), high = smp_axis_at(axis, variant->time.high);
        fprintf(to,
                "<span class=\"track\"><i%s style=\"width:%.2f%%\"></i><b style=\"left:%.2f%%;width:%.2f%%\"></b>"
                "</span><span class=\"value\">",
                variant->verdict == SMP_VERDICT_BASE ? " class=\"base\"" : "", smp_axis_at(axis, variant->time.median),
                low, high - low);
        smp_page_seconds(to, variant->time.median);
        if (variant->verdict != SMP_VERDICT_BASE && variant->verdict != SMP_VERDICT_NONE)
            fprintf(to, " <span class=\"%s\">&times;%.3g%s%s</span>", tone, smp_compare_speedup(step, variant),
                    variant->verdict == SMP_VERDICT_FASTER ? "" : " ",
                    variant->verdict == SMP_VERDICT_FASTER ? "" : smp_verdict_name(variant->verdict));
        fputs("</span>", to);
        return;
    }
    fputs("<span class=\"none\"></span><span class=\"value soft\">", to);
    if (variant->check == SMP_CHECK_WRONG)
        fputs("<b class=\"bad\">WRONG</b>, not timed", to);
    else if (variant->same_as)
        fprintf(to, "here as %s", variant->same_as);
    else
        fputs("not timed", to);
    fputs("</span>", to);
}

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

static void put_waves(FILE *to, const smp_axis *axis, const smp_compare_variant *variant)
{
    const smp_count_kind kind = smp_compare_source(variant);
    const smp_shared_count *total = kind < SMP_COUNT_KINDS ? &variant->counts[kind].total : NULL;
    if (!total || !total->instructions) {
        fprintf(to, "<span class=\"none\"></span><span class=\"value count soft\">%s</span>",
                total ? "no shared memory" : "not counted");
        return;
    }
    const double ideal = smp_axis_at(axis, (double)total->ideal), all = smp_axis_at(axis, (double)total->wavefronts);
    fprintf(to,
            "<span class=\"track waves\"><i style=\"width:%.2f%%\"></i><i class=\"more\" "
            "style=\"left:%.2f%%;width:%.2f%%\"></i></span><span class=\"value count\">%llu",
            ideal, ideal, all - ideal, (unsigned long long)total->wavefronts);
    if (smp_compare_worth_telling(smp_compare_conflicts(total), total->wavefronts))
        fprintf(to, " <span class=\"bad\">%.2f-way</span>", smp_compare_ways(total));
    else if (smp_compare_conflicts(total))
        fputs(" <span class=\"soft\">under 1 %</span>", to);
    else
        fputs(" <span class=\"good\">free</span>", to);
    put_sources(to, variant, kind);
    fputs("</span>", to);
}

/* What makes a variant's numbers less than they seem: a line each. */
static void put_warnings(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    char crop[120];
    const int64_t enlarge = smp_compare_enlarge(compare, step);
    if (enlarge)
        fprintf(to,
                "<p class=\"warn small\">The picture is too small to fill this GPU: %.2g waves of blocks. --enlarge "
                "%lld repeats it.</p>\n",
                smp_compare_waves(compare, step), (long long)enlarge);
    if (step->timed_out)
        fputs("<p class=\"warn small\">Fewer samples than asked for: the time limit had long passed.</p>\n", to);
    if (smp_compare_crop(step, crop, sizeof crop)[0])
        fprintf(to, "<p class=\"warn small\">Counts are of a crop: %s.</p>\n", crop);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *v = &step->variants[i];
        const struct {
            const char *tone, *about, *text;
        } lines[] = {
            {"bad", "wrong", v->check == SMP_CHECK_WRONG ? v->wrong : ""},
            {"soft", "not timed", v->sample_count || v->same_as ? "" : v->why},
            {"soft", "not counted", smp_compare_source(v) < SMP_COUNT_KINDS ? "" : v->counts[0].why},
            {"bad", "model and sass disagree", v->counts[SMP_COUNT_SASS].known ? v->counts[SMP_COUNT_SASS].why : ""}};
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            if (lines[k].text[0]) {
                fprintf(to, "<p class=\"%s small\">%s, %s: ", lines[k].tone, v->name, lines[k].about);
                smp_text_xml(to, lines[k].text);
                fputs("</p>\n", to);
            }
        if (v->counts[SMP_COUNT_MODEL].faults)
            fprintf(to, "<p class=\"bad small\">%s: the trace saw %llu mistakes (races, uninitialised reads).</p>\n",
                    v->name, (unsigned long long)v->counts[SMP_COUNT_MODEL].faults);
    }
}

static void put_step(FILE *to, const smp_compare *compare, const smp_compare_step *step, const axes *a)
{
    fprintf(to, "<div id=\"step%d\"><h3>%d. <code>", step->number, step->number);
    smp_text_xml(to, step->label);
    fputs("</code> <span class=\"soft small\">", to);
    smp_text_xml(to, step->type_in);
    if (step->type_out[0]) {
        fputs(" &rarr; ", to);
        smp_text_xml(to, step->type_out);
    }
    fprintf(to, "; %.4g MB cross memory%s</span></h3>\n", (double)step->bytes / 1e6,
            step->fits_cache && compare->hot ? ", all of it fits in the cache" : "");
    for (size_t i = 0; i < step->variant_count; i++) {
        fputs("<div class=\"row two\">", to);
        put_name(to, &step->variants[i]);
        put_time(to, &a->time, step, &step->variants[i]);
        put_waves(to, &a->waves, &step->variants[i]);
        fputs("</div>\n", to);
    }
    put_warnings(to, compare, step);
    fputs("</div>\n", to);
}

void smp_compare_ladder(FILE *to, const smp_compare *compare)
{
    const axes a = find_axes(compare);
    fprintf(to,
            "<section class=\"ticks ticks2\" style=\"--tick:%.3f%%;--tick2:%.3f%%\"><h2>Variant by variant</h2>\n"
            "<p class=\"soft small\"><b>Time</b> is the median on %s, <span class=\"base\">&#9632; naive</span>, <span "
            "class=\"key\">&#9632; others</span>; the thin line spans the quartiles%s. <b>Wavefronts</b> are those "
            "of a GPU, <span class=\"key\">&#9632; what the accesses need</span>, <span class=\"bad\">&#9632; bank "
            "conflicts</span>. All steps share both axes.</p>\n",
            a.time.tick, a.waves.tick, compare->device.kind,
            a.time.logarithmic ? "; the axis is logarithmic: from a mark to the next, ten times as long" : "");
    smp_kernel_page_terms(to, false);
    for (size_t i = 0; i < compare->step_count; i++)
        put_step(to, compare, &compare->steps[i], &a);
    if (a.time.ticks || a.waves.ticks) {
        fputs("<div class=\"row two axes\"><span></span>", to);
        smp_axis_put(to, &a.time, true);
        fputs("<span class=\"value soft\">time</span>", to);
        smp_axis_put(to, &a.waves, false);
        fputs("<span class=\"value count soft\">wavefronts</span></div>\n", to);
    }
    fputs("</section>\n", to);
}
