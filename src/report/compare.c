/* Shared by the outputs of a comparison: rates, and verdicts for scripts. See compare.h. */
#include "report/compare.h"

#include "base/alloc.h"

void smp_compare_free(smp_compare *compare)
{
    for (size_t i = 0; i < compare->step_count; i++) {
        smp_compare_step *step = &compare->steps[i];
        for (size_t k = 0; k < step->variant_count; k++) {
            smp_free(step->variants[k].samples);
            smp_free(step->variants[k].launches);
            smp_free(step->variants[k].sites);
        }
        smp_free(step->variants);
    }
    smp_free(compare->steps);
    compare->steps = NULL;
    compare->step_count = 0;
}

double smp_compare_gbs(const smp_compare_step *step, const smp_compare_variant *variant)
{
    return variant->time.median > 0 ? (double)step->bytes / variant->time.median / 1e9 : 0;
}

double smp_compare_of_copy(const smp_compare *compare, const smp_compare_step *step, const smp_compare_variant *variant)
{
    return compare->copy_gbs > 0 ? smp_compare_gbs(step, variant) / compare->copy_gbs : 0;
}

double smp_compare_of_peak(const smp_compare *compare, const smp_compare_step *step, const smp_compare_variant *variant)
{
    return compare->device.peak_gbs > 0 ? smp_compare_gbs(step, variant) / compare->device.peak_gbs : 0;
}

double smp_compare_speedup(const smp_compare_step *step, const smp_compare_variant *variant)
{
    double base = step->variants[0].time.median;
    return base > 0 && variant->time.median > 0 ? base / variant->time.median : 0;
}

double smp_compare_ways(const smp_shared_count *count)
{
    return count->ideal ? (double)count->wavefronts / (double)count->ideal : 1;
}

const char *smp_compare_crop(const smp_compare_step *step, char *text, size_t size)
{
    long long from = step->count_from, rows = step->count_rows, columns = step->count_columns;
    text[0] = '\0';
    if (rows && columns < step->width)
        snprintf(text, size, "the upper left %lldx%lld of %lldx%lld, planned as a picture of its own", columns, rows,
                 (long long)step->width, (long long)step->height);
    else if (rows && rows < step->height)
        snprintf(text, size, "rows %lld to %lld of %lld, all %lld column%s", from, from + rows - 1,
                 (long long)step->height, columns, columns == 1 ? "" : "s");
    return text;
}

smp_count_kind smp_compare_source(const smp_compare_variant *variant)
{
    static const smp_count_kind order[] = {SMP_COUNT_SASS, SMP_COUNT_MODEL, SMP_COUNT_HW};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (variant->counts[order[i]].known)
            return order[i];
    return SMP_COUNT_KINDS;
}

typedef bool smp_compare_test(const smp_compare_variant *variant);

static bool any(const smp_compare *compare, smp_compare_test *test)
{
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            if (test(&compare->steps[i].variants[k]))
                return true;
    return false;
}

static bool wrong(const smp_compare_variant *variant)
{
    return variant->check == SMP_CHECK_WRONG;
}

static bool slower(const smp_compare_variant *variant)
{
    return variant->verdict == SMP_VERDICT_SLOWER;
}

static bool disagrees(const smp_compare_variant *variant)
{
    return variant->counts[SMP_COUNT_SASS].known && variant->counts[SMP_COUNT_SASS].why[0];
}

bool smp_compare_any_wrong(const smp_compare *compare)
{
    return any(compare, wrong);
}

bool smp_compare_any_slower(const smp_compare *compare)
{
    return any(compare, slower);
}

bool smp_compare_any_disagreement(const smp_compare *compare)
{
    return any(compare, disagrees);
}
