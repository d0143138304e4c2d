/* Shared by the outputs of a comparison: rates, and verdicts for scripts. See compare.h. */
#include "report/compare/compare.h"

#include <math.h>

#include "base/alloc.h"

void smp_compare_free(smp_compare *compare)
{
    for (size_t i = 0; i < compare->step_count; i++) {
        smp_compare_step *step = &compare->steps[i];
        for (size_t k = 0; k < step->variant_count; k++)
            smp_free_all(step->variants[k].samples, step->variants[k].launches, step->variants[k].sites);
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

static const double noisy_from = 3; /* times the lower end */

smp_share_range smp_compare_copy_range(const smp_compare *compare, const smp_compare_step *step,
                                       const smp_compare_variant *variant)
{
    const smp_spread *time = &variant->time;
    const double share = smp_compare_of_copy(compare, step, variant);
    const double shortest = fmin(time->low, time->from), longest = fmax(time->high, time->to);
    const double slow = compare->copy_low > 0 ? compare->copy_low : compare->copy_gbs;
    const double fast = compare->copy_high > 0 ? compare->copy_high : compare->copy_gbs;
    if (!(share > 0) || !(shortest > 0))
        return (smp_share_range){share, share, false};
    smp_share_range range = {share * time->median / longest * compare->copy_gbs / fast,
                             share * time->median / shortest * compare->copy_gbs / slow, false};
    range.noisy = range.to > noisy_from * range.from;
    return range;
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

double smp_compare_predicted_gbs(const smp_compare_step *step, const smp_compare_variant *variant)
{
    return variant->predicted.us > 0 ? (double)step->bytes / variant->predicted.us / 1e3 : 0;
}

double smp_compare_predicted_speedup(const smp_compare_step *step, const smp_compare_variant *variant)
{
    return variant->predicted.us > 0 ? step->variants[0].predicted.us / variant->predicted.us : 0;
}

double smp_compare_measured_us(const smp_compare *compare, const smp_compare_variant *variant)
{
    const double us = 1e6;
    return compare->predicted_here && variant->sample_count ? variant->time.median * us : 0;
}

double smp_compare_ways(const smp_shared_count *count)
{
    return count->ideal ? (double)count->wavefronts / (double)count->ideal : 1;
}

const char *smp_compare_code(const smp_compare *compare, char *text, size_t size)
{
    const int own = compare->architecture, gpu = compare->device.compute_major * 10 + compare->device.compute_minor;
    size_t used = 0;
    text[0] = '\0';
    if (own)
        used = (size_t)snprintf(text, size, "SASS of sm_%d", own);
    if (own && gpu && gpu != own && used < size)
        used += (size_t)snprintf(text + used, size - used, " (this GPU runs that of sm_%d)", gpu);
    if (compare->as_compiled && used < size)
        snprintf(text + used, size - used, "%sas the host's compiler makes them", own ? "; some " : "");
    return text;
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

/* Counts waves by threads, blocks and shared memory of compute capabilities 7.0 to 9.0, whose numbers differ little;
 * registers may leave room for fewer. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability". */
static double waves_of(const smp_device_info *device, const smp_compare_launch *launch)
{
    enum { MOST_THREADS = 2048, MOST_BLOCKS = 32 };
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
                   shared = device->shared_per_unit > 0 ? (uint64_t)device->shared_per_unit : 0;
    uint64_t beside = threads ? MOST_THREADS / threads : 1; /* blocks on an SM */
    if (shared && launch->shared_bytes && shared / launch->shared_bytes < beside)
        beside = shared / launch->shared_bytes;
    beside = beside < 1 ? 1 : beside > MOST_BLOCKS ? MOST_BLOCKS : beside;
    const double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return blocks / ((double)beside * device->units);
}

double smp_compare_waves(const smp_compare *compare, const smp_compare_step *step)
{
    double most = 0;
    char crop[120];
    if (!compare->device.compute_major || compare->device.units < 1 || smp_compare_crop(step, crop, sizeof crop)[0])
        return 0;
    for (size_t i = 0; i < step->variant_count; i++)
        for (size_t k = 0; k < step->variants[i].launch_count; k++) {
            const double waves = waves_of(&compare->device, &step->variants[i].launches[k]);
            most = waves > most ? waves : most;
        }
    return most;
}

int64_t smp_compare_enlarge(const smp_compare *compare, const smp_compare_step *step)
{
    const double ENOUGH = 4, waves = smp_compare_waves(compare, step);
    if (waves <= 0 || waves >= ENOUGH || !step->variant_count || !step->variants[0].sample_count)
        return 0;
    const double before = compare->enlarged > 1 ? (double)compare->enlarged : 1;
    return (int64_t)ceil(sqrt(ENOUGH / waves) * before);
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

static bool predicted(const smp_compare_variant *variant)
{
    return variant->predicted.us > 0;
}

bool smp_compare_any_predicted(const smp_compare *compare)
{
    return any(compare, predicted);
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
