/* balance: white balance by the picture itself. */
#include "elementwise/balance.h"
#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/elementwise.h"

enum { GRAY, WHITE };

typedef struct params {
    int method;
    double percentile;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(method, "gray",
                   "gray: every colour gets the same mean; white: the brightest of every colour become full scale",
                   SMP_P_MAIN, "gray", "white"),
    SMP_PARAM_FLOAT(percentile, NONE, 50, 100, "99",
                    "white: so many percent of the samples lie at or below what becomes full scale", 0),
    {0},
};

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_balance *k = SMP_PLAN_KERNEL(work, smp_balance);
    k->count = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, 0);
    for (int c = 0; c < in->channels; c++)
        k->gain[c] = 1;
    work->ops = 1;
    work->values.clips = true;
    work->reduction.kind = SMP_RESULT_COUNTS;
    work->reduction.size = (size_t)in->channels * (size_t)(k->count.bins + 1) * sizeof(uint64_t);
    return SMP_OK;
}

/* Fractions of full scale: the mean of a channel, or the least value with `share` of the samples at or below it. */
static double measured(const uint64_t *counts, int32_t bins, double share, bool mean, bool fraction)
{
    double all = 0, sum = 0, below = 0;
    for (int32_t i = 0; i < bins; i++) {
        all += (double)counts[i];
        sum += (double)counts[i] * (fraction ? (i + 0.5) / bins : i / (bins - 1.));
    }
    if (mean)
        return all > 0 ? sum / all : 0;
    int32_t i = 0;
    while (i < bins - 1 && (below += (double)counts[i]) < share * all)
        i++;
    return fraction ? (i + 1.) / bins : i / (bins - 1.);
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    smp_balance *k = (smp_balance *)(void *)work->kernel.bytes;
    const int colours = in->channels - in->alpha;
    double level[SMP_MAX_CHANNELS], middle = 0;
    for (int c = 0; c < colours; c++) {
        const uint64_t *counts = (const uint64_t *)result + smp_histogram_slot(k->count.bins, c, 0);
        level[c] = measured(counts, k->count.bins, p->percentile / 100, p->method == GRAY, in->format == SMP_F32);
        middle += level[c] / colours;
    }
    for (int c = 0; c < colours; c++) {
        const double gain = level[c] > 0 ? (p->method == GRAY ? middle : 1) / level[c] : 1;
        k->gain[c] = (float)gain;
        SMP_TRY(smp_measurements_add(measurements, "gain", c, gain, err));
    }
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(balance, packs);

const smp_stage smp_stage_balance = {
    .name = "balance",
    .help = "white balance: takes out a colour cast",
    .about =
        "Every colour is multiplied by a factor. gray: the mean of all colours / the mean of this one (gray world). "
        "white: full scale / the least value of this colour with `percentile` percent of its samples at or below it "
        "(white patch). Colours without light keep theirs. Measured in every value of 8 and 16 bits, and in 65536 bins "
        "over 0..1 for float pictures. Alpha stays.",
    .example = "balance white",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_balance_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_count_variants),
    SMP_ALSO({"white_balance whitebalance awb wb temperature", "balance"}, {"grayworld greyworld", "balance gray"},
             {"autowhite", "balance white"}),
};
