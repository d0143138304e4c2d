/* The first screen of a comparison's page, which says what to look at; and last, on what it was measured. */
#include <string.h>

#include "report/bank_words.h"
#include "report/compare_html.h"
#include "report/kernel_page.h"
#include "report/text.h"

static const double FROM_CACHE = 1.1; /* of the copy rate: what is faster was not all in memory */
static const double NEAR_COPY = 0.7;  /* of the copy rate: from there on memory is what limits a kernel */

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
    if (cost.conflicts && smp_bank_advice_text(text, sizeof text, &site->example, cost.ideal, NULL)) {
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
        if (smp_compare_conflicts(total))
            fprintf(to, " %s has <span class=\"bad\">%.3g-way conflicts</span>, and its lines are not known.",
                    found->least->name, smp_compare_ways(total));
        else
            fputs(" <span class=\"good\">No bank conflicts.</span>", to);
    } else if (found->of == found->least) {
        fprintf(to, " Look, %sat ", where);
        put_site_sentence(to, found);
    } else {
        const smp_shared_count *total = &found->least->counts[smp_compare_source(found->least)].total;
        fprintf(to, " %s%s ", compare->device.compute_major ? "" : "On a GPU, ", found->least->name);
        if (smp_compare_conflicts(total))
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

static void put_step_sentence(FILE *to, const smp_compare *compare, const smp_compare_step *step)
{
    const smp_compare_finding found = smp_compare_find(compare, step);
    fprintf(to, "<li value=\"%d\"><a href=\"#step%d\"><code>", step->number, step->number);
    smp_text_xml(to, step->label);
    fputs("</code></a>: ", to);
    if (found.wrong)
        fputs("<b class=\"bad\">a variant is WRONG.</b> ", to);
    if (found.fastest) {
        const double copy = smp_compare_of_copy(compare, step, found.fastest);
        smp_page_seconds(to, found.fastest->time.median);
        fprintf(to, ", %.0f %% of all steps, by %s", 100 * found.share, found.fastest->name);
        if (found.fastest != &step->variants[0] && smp_compare_speedup(step, found.fastest) > 0)
            fprintf(to, " (&times;%.3g naive)", smp_compare_speedup(step, found.fastest));
        if (copy > FROM_CACHE)
            fprintf(to, ", faster than a copy in memory (%.0f %%): a cache helps.", 100 * copy);
        else if (copy >= NEAR_COPY)
            fprintf(to, ", limited by memory (%.0f %% of a copy's rate).", 100 * copy);
        else if (copy > 0)
            fprintf(to, ", at %.0f %% of a copy's rate.", 100 * copy);
        else
            fputs(".", to);
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
    if (most.share > 0 && compare->step_count > 1)
        fprintf(to, ": it takes %.0f %% of the time", 100 * most.share);
    fputs(".", to);
    const double copy = most.fastest ? smp_compare_of_copy(compare, dearest, most.fastest) : 0;
    if (copy >= NEAR_COPY)
        fputs(" It moves its bytes as fast as a copy does: only moving less would help.", to);
    else if (copy > 0)
        fprintf(to, " It reaches %.0f %% of the rate of a copy, so there is something to win.", 100 * copy);
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
