/* threshold: black below a level, white from it on; the level is given or found by Otsu's method. */
#include <float.h>
#include <stdio.h>

#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/elementwise.h"

enum { FIXED, OTSU };
enum { WHITE, BLACK };

typedef struct params {
    double value;
    int method, flat;
} params;

static const double default_value = 0.5;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(value, FRACTION, -10, 10, "50%", "the level: white from here on", SMP_P_MAIN | SMP_P_LEVEL),
    SMP_PARAM_ENUM(method, "fixed", "fixed: the value given; otsu: found, so that it parts dark from bright best", 0,
                   "fixed", "otsu"),
    SMP_PARAM_ENUM(
        flat, "white",
        "otsu: what a channel of one value, with nothing to part, becomes; white: black stays black, as OpenCV does", 0,
        "white", "black"),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->method != OTSU && p->flat != WHITE)
        return smp_fail(err, SMP_E_PIPE, "flat belongs to method=otsu, which finds a level");
    if (p->method != OTSU || p->value == default_value)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "method=otsu finds the level itself");
    return smp_hint(err, "leave out the value, or method=otsu");
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = params_;
    smp_threshold *k = SMP_PLAN_KERNEL(work, smp_threshold);
    k->count = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, 0);
    k->white = smp_white(in->format);
    for (int c = 0; c < in->channels; c++)
        k->level[c] = (float)(p->value * (double)k->white);
    work->values.exactness = SMP_INTEGER;
    work->ops = 1;
    k->same = p->method == FIXED;
    if (k->same) {
        work->access = SMP_POINT;
        work->values.op = SMP_SAMPLE_OP(threshold_step, k->level[0], k->white);
        return SMP_OK;
    }
    smp_count_ask(in, work);
    return SMP_OK;
}

/* The last bin of the dark class: the one that makes q1 q2 (mean1 - mean2)^2 largest (Otsu 1979), the first of equals,
 * with the order of operations of OpenCV's THRESH_OTSU, so that ties fall the same way. 0 when all bins but one are
 * empty. */
static int32_t otsu(const uint64_t *counts, int32_t bins)
{
    double all = 0, mean = 0, mean1 = 0, q1 = 0, best = 0;
    int32_t found = 0;
    for (int32_t i = 0; i < bins; i++) {
        all += (double)counts[i];
        mean += (double)i * (double)counts[i];
    }
    const double scale = 1 / all;
    mean *= scale;
    for (int32_t i = 0; i < bins && all > 0; i++) {
        const double p = (double)counts[i] * scale;
        mean1 *= q1;
        q1 += p;
        const double q2 = 1 - q1;
        if ((q1 < q2 ? q1 : q2) < (double)FLT_EPSILON || (q1 < q2 ? q2 : q1) > 1 - (double)FLT_EPSILON)
            continue;
        mean1 = (mean1 + i * p) / q1;
        const double mean2 = (mean - q1 * mean1) / q2, between = q1 * q2 * (mean1 - mean2) * (mean1 - mean2);
        if (between > best) {
            best = between;
            found = i;
        }
    }
    return found;
}

static bool has_one_value(const uint64_t *counts, int32_t bins)
{
    int32_t filled = 0;
    for (int32_t i = 0; i < bins && filled < 2; i++)
        filled += counts[i] > 0;
    return filled < 2;
}

static void warn_of_flat(int flat, int colors, int outcome, smp_measurements *measurements)
{
    char which[40] = "";
    if (colors > 1)
        snprintf(which, sizeof which, " in %d of %d channels", flat, colors);
    snprintf(measurements->warning, sizeof measurements->warning,
             "'threshold' finds no level: all samples have one value%s, which comes out %s", which,
             outcome == BLACK ? "black" : "white unless it is black; flat=black makes it black");
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *)
{
    const params *p = params_;
    const int colors = in->channels - in->alpha;
    int flat = 0;
    smp_threshold *k = (smp_threshold *)(void *)work->kernel.bytes;
    const int32_t bins = k->count.bins;
    const uint64_t *counts = smp_count_result(work, result);
    const smp_extent extent = smp_count_extent(in, work, result, 0, colors);
    smp_count_outside(extent.below || extent.above ? &extent : NULL, &k->count, work);
    for (int c = 0; c < in->channels; c++) {
        const uint64_t *own = counts + smp_histogram_slot(bins, c, 0);
        const int32_t dark = otsu(own, bins);
        /* Half a code value above the last dark one; float bins end where the next begins. */
        k->level[c] = in->format == SMP_F32 ? (float)(dark + 1) / (float)bins : (float)dark + 0.5f;
        if (c < colors && has_one_value(own, bins)) {
            flat++;
            if (p->flat == BLACK)
                k->level[c] = 2 * k->white;
        }
    }
    if (flat)
        warn_of_flat(flat, colors, p->flat, measurements);
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(threshold, tables);

const smp_stage smp_stage_threshold = {
    .name = "threshold",
    .help = "black below a level, white from it on",
    .about =
        "out = full scale where v >= level, else 0 (NaN: 0), on every channel by itself; alpha stays.\n"
        "method=otsu takes the level that makes the variance between dark and bright largest (Otsu 1979), from every "
        "value of 8 and 16 bits or 65536 bins over 0..1 of float pictures, of which none may lie outside: for 8 bits "
        "exactly OpenCV's THRESH_OTSU. A picture of one value has nothing to part: it comes out white, unless it is "
        "black, as OpenCV's does, with a warning; flat=black makes it black.",
    .example = "threshold method=otsu",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_threshold_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_count_variants),
    .hints =
        SMP_HINTS(.forms = SMP_FORMS({.values = "auto", .say = "write method=otsu"}),
                  .aliases = SMP_ALIASES({"otsu", "threshold method=otsu"}, {"binarize binarise binary", "threshold"})),
};
