/* levels: black point, white point and gamma, given or found from the histogram. */
#include <math.h>

#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/elementwise.h"

enum { MANUAL, AUTO };
enum { PICTURE, CHANNEL };

typedef struct params {
    int mode, per;
    double black, white, gamma, clip;
} params;

#define DEFAULT_CLIP "0.5%"

static const smp_param table[] = {
    SMP_PARAM_ENUM(mode, "manual", "manual: black and white as given; auto: found from the picture", SMP_P_MAIN,
                   "manual", "auto"),
    SMP_PARAM_FLOAT(black, FRACTION, -10, 10, "0%", "what becomes black", SMP_P_LEVEL),
    SMP_PARAM_FLOAT(white, FRACTION, -10, 10, "100%", "what becomes white; below black makes a negative", SMP_P_LEVEL),
    SMP_PARAM_FLOAT(gamma, NONE, 0.01, 100, "1", "above 1 brightens the middle tones, below 1 darkens them", 0),
    SMP_PARAM_FLOAT(clip, FRACTION, 0, 0.49, DEFAULT_CLIP,
                    "auto: share of samples that may become black, and of those that may become white", 0),
    SMP_PARAM_ENUM(per, "picture",
                   "auto: picture keeps the colours; channel stretches each by itself, which removes a colour cast", 0,
                   "picture", "channel"),
    {0},
};

/* Points of channel c in code values. */
static void set_points(smp_levels *k, int c, double black, double white, smp_format format)
{
    k->white = smp_white(format);
    k->top = k->kind ? 1.f : k->white;
    k->black[c] = (float)black;
    k->scale[c] = (float)((double)k->top / (white - black));
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->mode == AUTO && (p->black != 0 || p->white != 1))
        return smp_fail(err, SMP_E_PIPE, "'levels auto' finds black and white itself"),
               smp_hint(err, "leave out black= and white=, or the word auto");
    if (p->mode == MANUAL && !(fabs(p->white - p->black) >= 1e-9)) /* else the scale may be infinite */
        return smp_fail(err, SMP_E_PIPE, "black and white must differ, by a billionth of full scale at least");
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = params_;
    const double full = (double)smp_white(in->format);
    smp_levels *k = SMP_PLAN_KERNEL(work, smp_levels);
    k->count = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, 0);
    k->power = (float)(1 / p->gamma);
    k->kind = k->power != 1.f;
    k->same = p->mode == MANUAL || p->per == PICTURE;
    for (int c = 0; c < in->channels; c++)
        set_points(k, c, p->black * full, p->white * full, in->format);
    work->ops = k->kind ? 40 : 4;
    if (p->mode == MANUAL) {
        work->access = SMP_POINT;
        work->values.op = k->kind ? SMP_SAMPLE_OP(levels_curve, k->black[0], k->scale[0], k->power, k->white)
                                  : SMP_SAMPLE_OP(levels_line, k->black[0], k->scale[0], k->top);
        return SMP_OK;
    }
    smp_count_ask(in, work);
    return SMP_OK;
}

/* The points of channels first .. last-1, counted together: the lowest and the highest bin such that more than `clip`
 * of the samples lie in it and beyond. False when they leave nothing between them. */
static bool find_points(const uint64_t *counts, int32_t bins, int first, int last, double clip, int32_t *low,
                        int32_t *high)
{
    uint64_t all = 0;
    for (int c = first; c < last; c++)
        for (int32_t i = 0; i < bins; i++)
            all += counts[smp_histogram_slot(bins, c, i)];
    const double most = clip * (double)all;
    uint64_t below = 0, above = 0;
    for (*low = 0; *low < bins; ++*low) {
        for (int c = first; c < last; c++)
            below += counts[smp_histogram_slot(bins, c, *low)];
        if ((double)below > most)
            break;
    }
    for (*high = bins - 1; *high >= 0; --*high) {
        for (int c = first; c < last; c++)
            above += counts[smp_histogram_slot(bins, c, *high)];
        if ((double)above > most)
            break;
    }
    return *low < *high;
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *, smp_error *)
{
    const params *p = params_;
    smp_levels *k = (smp_levels *)(void *)work->kernel.bytes;
    const int32_t bins = k->count.bins;
    const int colours = in->channels - in->alpha;
    const uint64_t *counts = smp_count_result(work, result);
    smp_count_outside(NULL, &k->count, work);
    for (int c = 0; c < colours; c++) {
        int32_t low, high;
        bool together = p->per == PICTURE;
        const int first = together ? 0 : c, last = together ? colours : c + 1;
        double black = 0, white = (double)smp_white(in->format);
        const bool found = find_points(counts, bins, first, last, p->clip, &low, &high);
        const smp_extent extent = smp_count_extent(in, work, result, first, last);
        if ((extent.below && low == 0) || (extent.above && high == bins - 1))
            smp_count_outside(&extent, &k->count, work);
        if (found) {
            bool fraction = in->format == SMP_F32; /* a bin is an interval: black is its lower end, white its upper */
            black = fraction ? (double)low / bins : low;
            white = fraction ? (double)(high + 1) / bins : high;
        }
        set_points(k, c, black, white, in->format);
    }
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(levels, tables);

const smp_stage smp_stage_levels = {
    .name = "levels",
    .help = "stretches black and white points to the full range, with gamma",
    .about =
        "out = clamp((v - black) / (white - black), 0, 1) ^ (1 / gamma), times full scale; alpha stays.\n"
        "auto: black is the lowest value such that more than `clip` of the samples are at or below it, white the "
        "highest such that more than `clip` are at or above it; all colour channels together, or each by itself. A "
        "picture without such a pair, of one value, say, is left as it is. Counted in every value of 8 and 16 bits, "
        "and in 65536 bins over 0..1 for float pictures, where what lies outside must be clipped.",
    .example = "levels gamma=1.2",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_levels_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_count_variants),
    .hints =
        SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$B $W", "black=$B white=$W"), SMP_MEANS("$B,$W", "black=$B white=$W"),
                                     SMP_MEANS("$B,$W,$G", "black=$B white=$W gamma=$G"),
                                     {.values = "$B $W $G",
                                      .say = "write black=$B white=$W gamma=$G, as ImageMagick, or "
                                             "black=$B gamma=$W white=$G"}),
                  .aliases = SMP_ALIASES(
                      {"level brightness_contrast", "levels"}, {"contrast contrast_stretch stretch", "levels auto"},
                      {"normalize", "levels auto clip=0.1%"}, {"auto_level auto-level autolevel", "levels auto clip=0"},
                      {"autocontrast auto_contrast", "levels auto clip=0 per=channel"},
                      {"autolevels auto_levels", "levels auto per=channel"})),
};
