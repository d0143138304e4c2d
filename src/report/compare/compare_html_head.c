/* The first screen of a comparison's page, which says what to look at; and last, on what it was measured. */
#include <math.h>
#include <string.h>

#include "lab/report/bank_words.h"
#include "lab/report/kernel_page.h"
#include "report/compare/compare_html.h"
#include "report/text.h"

static const double FROM_CACHE = 1.1; /* of the copy rate: what is faster was not all in memory */
static const double MOST_PAD = 0.125; /* of the array's memory */
static const double NEAR_COPY = 0.7;  /* of the copy rate: from there on memory is what limits a kernel */

/* Whether advice for the worst access that is kept helps: the line's accesses are, on the whole, like it, and a pad
 * costs little memory. */
static bool advice_helps(const smp_compare_site *site, const smp_bank_cost *worst)
{
    const double ways = (double)worst->wavefronts / (double)(worst->ideal ? worst->ideal : 1);
    return worst->conflicts && 2 * (smp_compare_ways(&site->count) - 1) >= ways - 1 &&
           smp_bank_pad_share(&site->example) <= MOST_PAD;
}

/* "sobel.cu:47 of tiled: a 4-way conflict, 12288 of its 47744 wavefronts." and what avoids it. */
static void put_site_sentence(FILE *to, const smp_compare_finding *found)
{
    char text[300];
    const smp_compare_site *site = found->site;
    const smp_shared_count *all = &found->of->counts[smp_compare_source(found->of)].total;
    fputs("<b class=\"mono\">", to);
    smp_text_xml(to, site->where);
    fprintf(to, "</b> of %s, <span class=\"bad\">a %.3g-way conflict</span> that takes %.0f %% of its wavefronts",
            found->of->name, smp_compare_ways(&site->count),
            100 * (double)smp_compare_conflicts(&site->count) / (double)(all->wavefronts ? all->wavefronts : 1));
    const smp_bank_cost cost = smp_bank_cost_of(&site->example, SMP_BANKS_CC5);
    if (advice_helps(site, &cost) && smp_bank_advice_text(text, sizeof text, &site->example, cost.ideal, NULL)) {
        fputs("; to avoid it, ", to);
        smp_text_xml(to, text);
    }
    fputs(".", to);
}

static void put_banks_sentence(FILE *to, const smp_compare *compare, const smp_compare_finding *found)
{
    const char *where = compare->device.compute_major ? "" : "on a GPU, ";
    if (!found->least && found->uncounted)
        fputs(" Shared memory was not counted.", to);
    else if (!found->least)
        fputs(" It uses no shared memory.", to);
    else if (!found->site) {
        const smp_shared_count *total = &found->least->counts[smp_compare_source(found->least)].total;
        if (!smp_compare_conflicts(total))
            fputs(" <span class=\"good\">No bank conflicts.</span>", to);
        else if (!smp_compare_worth_telling(smp_compare_conflicts(total), total->wavefronts))
            fputs(" <span class=\"good\">Bank conflicts take under 1 %.</span>", to);
        else
            fprintf(to, " %s has <span class=\"bad\">%.3g-way conflicts</span>, %s.", found->least->name,
                    smp_compare_ways(total),
                    found->least->site_count ? "spread over many lines" : "and its lines are not known");
    } else if (found->of == found->least) {
        fprintf(to, " Look, %sat ", where);
        put_site_sentence(to, found);
    } else {
        const smp_shared_count *total = &found->least->counts[smp_compare_source(found->least)].total;
        fprintf(to, " %s%s ", compare->device.compute_major ? "" : "On a GPU, ", found->least->name);
        if (smp_compare_worth_telling(smp_compare_conflicts(total), total->wavefronts))
            fprintf(to, "has %.3g-way conflicts alone; it spares ", smp_compare_ways(total));
        else
            fputs("has <span class=\"good\">no bank conflicts</span>; it spares ", to);
        put_site_sentence(to, found);
    }
}

/* An earlier step in which the same line of the same variants conflicts as often; null: none. A pipeline that measures
 * several times would say the same of each. */
static const smp_compare_step *told_before(const smp_compare *compare, const smp_compare_step *step,
                                           const smp_compare_finding *found)
{
    for (const smp_compare_step *other = compare->steps; found->site && other < step; other++) {
        const smp_compare_finding before = smp_compare_find(compare, other);
        if (before.site && !strcmp(before.site->where, found->site->where) &&
            !strcmp(before.of->name, found->of->name) && !strcmp(before.least->name, found->least->name) &&
            before.site->count.wavefronts == found->site->count.wavefronts &&
            smp_compare_conflicts(&before.site->count) == smp_compare_conflicts(&found->site->count))
            return other;
    }
    return NULL;
}

/* "34 %", "3 to 6 %", "under 1 %"; shares of 1. */
static void put_percent(FILE *to, double from, double to_share)
{
    const double low = round(100 * from), high = round(100 * to_share);
    if (high < 1)
        fputs("under 1 %", to);
    else if (low < high)
        fprintf(to, "%.0f to %.0f %%", low, high);
    else
        fprintf(to, "%.0f %%", high);
}

/* How near a step comes to a copy's rate, as far as its samples say. */
static void put_copy(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                     const smp_compare_variant *variant)
{
    const smp_share_range copy = smp_compare_copy_range(compare, step, variant);
    if (!(copy.to > 0)) {
        fputs(".", to);
        return;
    }
    if (copy.noisy)
        fputs(", too noisy to relate to a copy's rate (", to);
    else if (copy.from > FROM_CACHE)
        fputs(", faster than a copy in memory (", to);
    else if (copy.from >= NEAR_COPY)
        fputs(", limited by memory (", to);
    else
        fputs(", at ", to);
    put_percent(to, copy.from, copy.to);
    fputs(copy.noisy               ? ")."
          : copy.from > FROM_CACHE ? "): a cache helps."
          : copy.from >= NEAR_COPY ? " of a copy's rate)."
                                   : " of a copy's rate.",
          to);
}

static void put_step_sentence(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    const smp_compare_finding found = smp_compare_find(compare, step);
    fprintf(to, "<li value=\"%d\"><a href=\"#step%d\"><code>", step->number, step->number);
    smp_text_xml(to, step->label);
    fputs("</code></a>: ", to);
    if (found.wrong)
        fputs("<b class=\"bad\">a variant is WRONG.</b> ", to);
    if (found.fastest) {
        smp_page_seconds(to, found.fastest->time.median);
        fputs(", ", to);
        put_percent(to, found.share_from, found.share_to);
        fprintf(to, " of all steps, by %s", found.fastest->name);
        if (found.fastest != &step->variants[0] && found.fastest->verdict == SMP_VERDICT_FASTER)
            fprintf(to, " (&times;%.3g naive)", smp_compare_speedup(step, found.fastest));
        put_copy(to, compare, step, found.fastest);
    } else {
        fputs("not timed.", to);
    }
    const smp_compare_step *before = told_before(compare, step, &found);
    if (before)
        fprintf(to, " Its banks are as in step %d.", before->number);
    else
        put_banks_sentence(to, compare, &found);
    fputs("</li>\n", to);
}

/* The line with most conflicts of those that the variants with fewest leave, or who spares them. */
static void put_worst(FILE *to, const smp_compare *compare)
{
    const smp_compare_step *step = NULL;
    smp_compare_finding worst = {.site = NULL};
    uint64_t most = 0; /* of any line of any variant */
    for (size_t i = 0; i < compare->step_count; i++) {
        const smp_compare_finding found = smp_compare_find(compare, &compare->steps[i]);
        if (found.site &&
            (!step || smp_compare_conflicts(&found.site->count) > smp_compare_conflicts(&worst.site->count))) {
            step = &compare->steps[i];
            worst = found;
        }
        most = smp_compare_most_conflicts(&compare->steps[i], most);
    }
    if (!step)
        return;
    const bool spared = worst.of != worst.least, worse = most > smp_compare_conflicts(&worst.site->count);
    fprintf(to, " Most bank conflicts%s: <a href=\"#lines\" class=\"mono\">",
            worse && !spared ? " that no variant spares" : "");
    smp_text_xml(to, worst.site->where);
    fprintf(to, "</a> of %s", worst.of->name);
    if (compare->step_count > 1)
        fprintf(to, " in step %d", step->number);
    if (spared)
        fprintf(to, "; %s spares them", worst.least->name);
    fputs(".", to);
}

/* The step that costs most, and why. */
static void put_verdict(FILE *to, const smp_compare *compare)
{
    const smp_compare_step *dearest = NULL;
    smp_compare_finding most = {.share = -1};
    bool wrong = false, conflicts = false;
    for (size_t i = 0; i < compare->step_count; i++) {
        const smp_compare_finding found = smp_compare_find(compare, &compare->steps[i]);
        wrong = wrong || found.wrong;
        const uint64_t own = found.site ? smp_compare_conflicts(&found.site->count) : 0,
                       other = most.site ? smp_compare_conflicts(&most.site->count) : 0;
        conflicts = conflicts || own > 0;
        if (found.share > most.share || (!(most.share > 0) && own > other)) {
            dearest = &compare->steps[i];
            most = found;
        }
    }
    if (wrong)
        fputs("<p class=\"verdict\"><b class=\"bad\">A variant gives other bytes than naive.</b> Mend it first: times "
              "of wrong results say nothing.</p>\n",
              to);
    if (!dearest)
        return;
    fprintf(to, "<p class=\"verdict%s\">", conflicts ? "" : " free");
    if (compare->step_count == 1)
        fputs("There is one step, <code>", to);
    else
        fprintf(to, "%s step %d, <code>", most.share > 0 ? "Begin with" : "Look at", dearest->number);
    smp_text_xml(to, dearest->label);
    fputs("</code>", to);
    if (most.share > 0 && compare->step_count > 1) {
        fputs(": it takes ", to);
        put_percent(to, most.share_from, most.share_to);
        fputs(" of the time", to);
    }
    fputs(".", to);
    const smp_share_range copy =
        most.fastest ? smp_compare_copy_range(compare, dearest, most.fastest) : (smp_share_range){0, 0, false};
    if (copy.noisy) {
        fputs(" Its share of a copy's rate is too noisy to say (", to);
        put_percent(to, copy.from, copy.to);
        fputs("); --time-limit takes more samples.", to);
    } else if (copy.from >= NEAR_COPY) {
        fputs(" It moves its bytes as fast as a copy does: only moving less would help.", to);
    } else if (copy.to > 0) {
        fputs(" It reaches ", to);
        put_percent(to, copy.from, copy.to);
        fputs(copy.to < NEAR_COPY ? " of the rate of a copy, so there is something to win." : " of the rate of a copy.",
              to);
    }
    put_worst(to, compare);
    fputs("</p>\n", to);
}

void smp_compare_html_head(FILE *to, const smp_compare *compare)
{
    smp_kernel_page_begin(to, "compare", compare->pipe ? compare->pipe : compare->input ? compare->input : "");
    fputs("<h1>", to);
    smp_text_xml(to, compare->pipe ? compare->pipe : "stages");
    fputs(" on ", to);
    smp_text_xml(to, compare->input ? compare->input : "?");
    fprintf(to, "</h1>\n<p class=\"soft\">%s, on %s: ", compare->input_type, compare->device.kind);
    smp_text_xml(to, compare->device.name);
    fputs(". Every step ran by itself on its real input, once in each variant of its stage. "
          "<a href=\"#environment\">What it was measured on</a></p>\n",
          to);
    put_verdict(to, compare);
    fputs(compare->step_count ? "<ol class=\"steps\">\n" : "<p>Nothing to compare.</p>\n", to);
    for (size_t i = 0; i < compare->step_count; i++)
        put_step_sentence(to, compare, &compare->steps[i]);
    fputs(compare->step_count ? "</ol>\n" : "", to);
}

static void put_pair(FILE *to, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(to, "<dt>%s</dt><dd>", name);
    smp_text_xml(to, text);
    fputs("</dd>\n", to);
}

void smp_compare_html_environment(FILE *to, const smp_compare *compare)
{
    const smp_device_info *device = &compare->device;
    char text[200];
    fputs(
        "<section id=\"environment\"><h2>Measured on</h2>\n<details><summary>device, input, versions</summary>\n<dl>\n",
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
    put_pair(to, "counts of", smp_compare_code(compare, text, sizeof text));
    put_pair(to, "not of SASS", compare->model_notes);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (compare->source_note[kind][0]) {
            snprintf(text, sizeof text, "no %s counts", smp_count_kind_name((smp_count_kind)kind));
            put_pair(to, text, compare->source_note[kind]);
        }
    put_pair(to, "smempipe", SMP_VERSION);
    fputs("</dl></details></section>\n", to);
}
