/* What a comparison's numbers say of each step: see compare_html.h. */
#include "report/compare/compare_html.h"

uint64_t smp_compare_conflicts(const smp_shared_count *count)
{
    return count->wavefronts > count->ideal ? count->wavefronts - count->ideal : 0;
}

static const smp_compare_variant *fastest_of(const smp_compare_step *step)
{
    const smp_compare_variant *best = NULL;
    for (size_t i = 0; i < step->variant_count; i++)
        if (step->variants[i].sample_count && (!best || step->variants[i].time.median < best->time.median))
            best = &step->variants[i];
    return best;
}

bool smp_compare_worth_telling(uint64_t conflicts, uint64_t wavefronts)
{
    return conflicts && conflicts >= wavefronts / 100;
}

uint64_t smp_compare_wavefronts(const smp_compare_variant *variant)
{
    const smp_count_kind kind = smp_compare_source(variant);
    return kind < SMP_COUNT_KINDS ? variant->counts[kind].total.wavefronts : 0;
}

static const smp_compare_site *worst_site(const smp_compare_variant *variant)
{
    const smp_compare_site *worst = NULL;
    for (size_t i = 0; i < variant->site_count; i++) {
        const uint64_t conflicts = smp_compare_conflicts(&variant->sites[i].count);
        if (smp_compare_worth_telling(conflicts, smp_compare_wavefronts(variant)) &&
            (!worst || conflicts > smp_compare_conflicts(&worst->count)))
            worst = &variant->sites[i];
    }
    return worst;
}

uint64_t smp_compare_most_conflicts(const smp_compare_step *step, uint64_t least)
{
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_site *site = worst_site(&step->variants[i]);
        if (site && smp_compare_conflicts(&site->count) > least)
            least = smp_compare_conflicts(&site->count);
    }
    return least;
}

/* The total that is shown; null: not counted, or no shared memory. */
static const smp_shared_count *total_of(const smp_compare_variant *variant)
{
    const smp_count_kind kind = smp_compare_source(variant);
    return kind < SMP_COUNT_KINDS && variant->counts[kind].total.instructions ? &variant->counts[kind].total : NULL;
}

smp_compare_finding smp_compare_find(const smp_compare *compare, const smp_compare_step *step)
{
    smp_compare_finding found = {.fastest = fastest_of(step)};
    double others = 0, least = 0, most = 0; /* seconds of the other steps */
    for (size_t i = 0; i < compare->step_count; i++) {
        const smp_compare_variant *best = &compare->steps[i] == step ? NULL : fastest_of(&compare->steps[i]);
        others += best ? best->time.median : 0;
        least += best ? best->time.low : 0;
        most += best ? best->time.high : 0;
    }
    if (found.fastest && found.fastest->time.median > 0) {
        const smp_spread *time = &found.fastest->time;
        found.share = time->median / (time->median + others);
        found.share_from = time->low / (time->low + most);
        found.share_to = time->high / (time->high + least);
    }
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        const smp_shared_count *total = total_of(variant);
        found.uncounted = found.uncounted || smp_compare_source(variant) == SMP_COUNT_KINDS;
        found.wrong = found.wrong || variant->check == SMP_CHECK_WRONG;
        if (total && (!found.least || smp_compare_conflicts(total) < smp_compare_conflicts(total_of(found.least))))
            found.least = variant;
    }
    /* On a GPU the variant that is fastest is the one to use; its own line counts. */
    if (compare->device.compute_major && found.fastest && total_of(found.fastest))
        found.least = found.fastest;
    if (found.least && (found.site = worst_site(found.least)))
        found.of = found.least;
    for (size_t i = 0; !found.of && i < step->variant_count; i++)
        if ((found.site = worst_site(&step->variants[i])))
            found.of = &step->variants[i];
    return found;
}
