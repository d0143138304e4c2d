/* match: the histogram of another picture. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/value_tables.h"

typedef struct params {
    smp_operand to;
} params;

/* Parameters of the kernels, and what finish() needs besides. */
typedef struct matching {
    smp_equalize equalize;
    float other_white; /* of the second picture */
} matching;

static const smp_param table[] = {
    SMP_PARAM_ROW(to, OPERAND, FRACTION, 0, 0, NULL, "the picture to look like: @name or \"file\"; any size", NULL,
                  SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_ANYSIZE),
    {0},
};

static smp_code plan(const void *, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    matching *k = SMP_PLAN_KERNEL(work, matching);
    const int colours = in->channels - in->alpha;
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "match needs a second picture");
    if (by->kind != SMP_IMAGE || by->channels - by->alpha != colours)
        return smp_fail(err, SMP_E_PIPE, "a picture of %d colour%s cannot get the histograms of one with %d", colours,
                        colours == 1 ? "" : "s", by->kind == SMP_IMAGE ? by->channels - by->alpha : 0),
               smp_hint(err, "'gray' brings both to one");
    const int32_t bins = in->format == SMP_U8 && by->format == SMP_U8 ? 256 : SMP_MAX_BINS;
    k->equalize.count = smp_histogram_over(bins, 0);
    k->other_white = smp_white(by->format);
    smp_count_ask(in, work);
    smp_count_ask_second(by, work);
    work->table.size = (size_t)in->channels * (size_t)(bins + 1) * sizeof(float);
    work->table.data = smp_alloc(work->table.size);
    SMP_NEED(work->table.data, "the table of match", work->table.size, err);
    memset(work->table.data, 0, work->table.size);
    work->ops = 2;
    return SMP_OK;
}

/* The value in the middle of a bin, as a fraction of full scale. For 8 and 16 bits it is the code value's own. */
static double value_of(int32_t bin, int32_t bins, double white)
{
    return white == 1 ? (bin + 0.5) / bins : (double)((int64_t)bin * ((int64_t)white + 1) / bins) / white;
}

/* A histogram that is walked up: the value in use that was reached, and the share of samples up to it. */
typedef struct walk {
    const uint64_t *counts;
    uint64_t all, sum;
    int32_t bins, at; /* at == bins: behind the last */
    double share;
} walk;

static void walk_on(walk *w)
{
    do
        w->at++;
    while (w->at < w->bins && !w->counts[w->at]);
    w->sum += w->at < w->bins ? w->counts[w->at] : 0;
    w->share = (double)w->sum / (double)w->all;
}

static walk walk_from(const uint64_t *counts, int32_t bins)
{
    walk w = {.counts = counts, .bins = bins, .at = -1};
    for (int32_t i = 0; i < bins; i++)
        w.all += counts[i];
    return w;
}

/* The second picture's values at the input's cumulative shares, on straight lines between its own (numpy.interp). */
static void matched(float *to, const uint64_t *counts, const uint64_t *others, const smp_histogram_params *k,
                    double white, double other_white)
{
    walk own = walk_from(counts, k->bins), other = walk_from(others, k->bins), before = other;
    for (int32_t i = 0; i < k->bins; i++)
        to[i] = (float)(value_of(i, k->bins, white) * white);
    to[k->bins] = NAN;
    if (!other.all)
        return;
    walk_on(&other);
    for (walk_on(&own); own.at < k->bins; walk_on(&own)) {
        while (other.share < own.share) {
            before = other;
            walk_on(&other);
        }
        double v = value_of(other.at, k->bins, other_white);
        if (before.at >= 0 && own.share != other.share) {
            const double low = value_of(before.at, k->bins, other_white);
            v = (v - low) / (other.share - before.share) * (own.share - before.share) + low;
        }
        to[own.at] = (float)(v * white);
    }
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *)
{
    const matching *m = (const matching *)(const void *)work->kernel.bytes;
    const smp_histogram_params *k = &m->equalize.count;
    const uint64_t *counts = smp_count_result(work, result);
    const uint64_t *others = (const uint64_t *)(const void *)((const char *)result + work->reduction.second_at);
    const smp_extent extent = smp_count_extent(in, work, result, 0, in->channels - in->alpha);
    smp_count_outside(extent.below || extent.above ? &extent : NULL, k, work);
    for (int c = 0; c < in->channels - in->alpha; c++) {
        const int64_t at = smp_histogram_slot(k->bins, c, 0);
        matched((float *)work->table.data + at, counts + at, others + at, k, (double)smp_white(in->format),
                (double)m->other_white);
    }
    return SMP_OK;
}

const smp_stage smp_stage_match = {
    .name = "match",
    .help = "the histogram of another picture: its brightness, contrast and colours",
    .about =
        "Of each colour by itself, a value below or at which a share of the samples lies becomes the value at which "
        "that share is reached in the other picture, on straight lines between the values that it has: scikit-image's "
        "match_histograms (which cuts fractions off; here they are rounded). Pictures may differ in size and in bits, "
        "not in colours.\n"
        "Values are told apart as 8 bits have them where both have 8 bits, otherwise as 16 bits have them; float "
        "samples have 65536 bins from 0 to 1, of which the middle counts. Alpha stays, and pixels count however "
        "transparent they are.",
    .example = "match to=@input",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_equalize_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_count_both_variants),
    SMP_ALSO({"match_histograms imhistmatch histogram_matching histmatch", "match @name"}),
};
