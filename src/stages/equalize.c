/* equalize: histogram equalisation, of the luma or of each channel. */
#include "base/alloc.h"
#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/value_tables.h"

enum { LUMA, EACH };

typedef struct params {
    int channel;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(channel, "luma", "luma: brightness, keeping colour; each: every channel by itself", SMP_P_MAIN,
                   "luma", "each"),
    {0},
};

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    smp_equalize *k = SMP_PLAN_KERNEL(work, smp_equalize);
    k->count = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, 0);
    if (p->channel == LUMA)
        smp_count_luma(in, &k->count);
    const size_t slots = (size_t)smp_histogram_planes(&k->count, in->channels) * (size_t)(k->count.bins + 1);
    smp_count_ask(in, work);
    work->table.size = slots * sizeof(float);
    work->table.data = smp_alloc(work->table.size);
    SMP_NEED(work->table.data, "the table of equalize", work->table.size, err);
    work->values.exactness = k->count.colours ? SMP_REAL : SMP_INTEGER;
    work->values.clips = k->count.colours > 0;
    work->ops = k->count.colours ? 4 : 2;
    return SMP_OK;
}

/* The new code value of every bin of one plane, as OpenCV's equalizeHist computes them, in f32:
 *   (samples in this bin and below - samples in the lowest bin in use) * (white / (all samples - those in the lowest))
 * rounded to whole code values where the format has them. When one bin holds everything, it stays where it is. */
static void equalised(float *to, const uint64_t *counts, int32_t bins, smp_format format)
{
    const float white = smp_white(format), middle = format == SMP_F32 ? 0.5f / (float)bins : 0.f;
    uint64_t all = 0, sum = 0;
    int32_t first = 0;
    for (int32_t i = 0; i < bins; i++)
        all += counts[i];
    while (first < bins - 1 && !counts[first])
        first++;
    const uint64_t rest = all - counts[first];
    const float scale = rest ? white / (float)rest : 0.f;
    for (int32_t i = 0; i < bins; i++) {
        float v = format == SMP_F32 ? (float)i / (float)bins + middle : (float)i;
        if (rest) {
            sum += i > first ? counts[i] : 0;
            v = (float)sum * scale;
            v = format == SMP_F32 ? (v < 1.f ? v : 1.f) : smp_round_to(v, white);
        }
        to[i] = v;
    }
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *)
{
    const smp_histogram_params *k = &((const smp_equalize *)(const void *)work->kernel.bytes)->count;
    const uint64_t *counts = smp_count_result(work, result);
    const smp_extent extent = smp_count_extent(in, work, result, 0, in->channels - in->alpha);
    float *to = work->table.data;
    smp_count_outside(extent.below || extent.above ? &extent : NULL, k, work);
    for (int plane = 0; plane < smp_histogram_planes(k, in->channels); plane++) {
        const int64_t at = smp_histogram_slot(k->bins, plane, 0);
        equalised(to + at, counts + at, k->bins, in->format);
        to[at + k->bins] = k->colours ? 0.f : NAN;
        for (int32_t i = 0; i < k->bins && k->colours; i++)
            to[i] -= in->format == SMP_F32 ? ((float)i + 0.5f) / (float)k->bins : (float)i;
    }
    return SMP_OK;
}

const smp_stage smp_stage_equalize = {
    .name = "equalize",
    .help = "evens out the histogram: strong contrast everywhere",
    .about =
        "A value v becomes (count(<= v) - count(lowest)) * white / (count(all) - count(lowest)): OpenCV's "
        "equalizeHist, on each channel with channel=each. Bins: every value of 8 and 16 bits; 65536 over 0..1 for "
        "float pictures, of which none may lie outside, and whose outcome is not rounded.\n"
        "channel=luma equalises Y = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601; the mean of the colours where there are "
        "not three) and adds the change of Y to every colour, which is what equalising Y of YCbCr does: chroma stays, "
        "and a strongly coloured pixel can leave the range.\n"
        "Alpha stays, and pixels count however transparent they are. Fractions between stages are looked up as the "
        "code value that a file would hold.",
    .example = "equalize each",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_equalize_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_count_variants),
    SMP_ALSO({"equalise equalize_histogram equalize_hist histeq hist_equal", "equalize"},
             {"equalizehist", "equalize each"}),
};
