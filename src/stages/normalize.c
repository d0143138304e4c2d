/* normalize: to a wanted peak or rms level. */
#include <math.h>
#include <stdio.h>

#include "stages/shared/reduce/reduction_chunks.h"
#include "stages/shared/sound/gain_offset.h"
#include "stages/shared/sound/loudness.h"

enum { TOGETHER, EACH };
#define DEFAULT_TRUE_PEAK -1. /* dBTP */
#define DEFAULT_PEAK      -1. /* dBFS: written as 16 bits nothing clips */

typedef struct params {
    double peak, rms, lufs, true_peak;
    int channels;
    double within;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(peak, DB, -120, 120, "auto",
                    "level of the largest sample, dBFS; auto: -1dBFS, where no rms is given", SMP_P_AUTO),
    SMP_PARAM_FLOAT(rms, DB, -120, 120, "auto",
                    "level of the root of the mean square, dBFS; may drive peaks beyond full scale", SMP_P_AUTO),
    SMP_PARAM_FLOAT(lufs, DB, -70, 0, "auto", "loudness by EBU R 128 instead of a level", SMP_P_AUTO | SMP_P_LOUDNESS),
    {"true-peak", offsetof(params, true_peak), SMP_T_FLOAT, SMP_UNIT_DB, -60, 20, "auto",
     "with lufs, what no value at or between samples may pass, dBTP; auto: -1dBTP", NULL, SMP_P_AUTO},
    SMP_PARAM_FLOAT(within, DB, 0, 60, "0LU", "with lufs: a sound that is so close to it already stays as it is", 0),
    SMP_PARAM_ENUM(channels, "together",
                   "together: one factor for all, which keeps the balance; each: a factor a channel", 0, "together",
                   "each"),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (isnan(p->lufs) && p->within > 0)
        return smp_fail(err, SMP_E_PIPE, "within is how close to lufs a sound stays, which is not given"),
               smp_hint(err, "normalize lufs=-16LUFS within=%.6gLU", p->within);
    if (isnan(p->lufs) && !isnan(p->true_peak))
        return smp_fail(err, SMP_E_PIPE, "true-peak bounds what lufs wants, which is not given"),
               smp_hint(err, "normalize lufs=-16LUFS true-peak=%.6gdBTP", p->true_peak);
    if (!isnan(p->lufs) && p->channels == EACH)
        return smp_fail(err, SMP_E_PIPE, "loudness is that of all channels together: channels=each has none");
    if (!isnan(p->peak) + !isnan(p->rms) + !isnan(p->lufs) <= 1)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "%s and %s cannot both be given", !isnan(p->peak) ? "peak" : "rms",
             !isnan(p->lufs) ? "lufs" : "rms");
    return smp_hint(err, "a sound has one level: normalize peak=-1dBFS, rms=-20dBFS or lufs=-16LUFS");
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    smp_gain_offset_plan(1, work);
    work->values.clips = true;
    if (!isnan(p->lufs)) {
        work->reduction.reducers = smp_loudness_variants;
        return smp_loudness_plan(in, work, err);
    }
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = smp_chunk_bytes(in);
    return SMP_OK;
}

static const double TOLD = 0.05; /* LU: of less nobody is told */

/* A factor for all channels, less where the peaks would pass their ceiling. */
static smp_code reach_loudness(const params *p, const smp_shape *in, const void *result, smp_node_plan *work,
                               smp_measurements *measurements, smp_error *err)
{
    smp_loudness_levels found;
    SMP_TRY(smp_loudness_levels_of(in, work, result, &found, err));
    const double most = (isnan(p->true_peak) ? DEFAULT_TRUE_PEAK : p->true_peak) - found.true_peak;
    const bool silent = !isfinite(found.integrated);
    const bool level = fabs(p->lufs - found.integrated) <= p->within && most >= 0;
    const double wanted = silent || level ? 0 : p->lufs - found.integrated, gain = silent ? 0 : fmin(wanted, most);
    smp_gain_offset_plan(pow(10, gain / 20), work);
    if (silent)
        snprintf(measurements->warning, sizeof measurements->warning,
                 "'normalize' leaves it as it is: silence, and what is shorter than 0.4 s, has no loudness");
    else if (wanted - gain >= TOLD)
        snprintf(measurements->warning, sizeof measurements->warning,
                 "'normalize' leaves it %.1f LU quieter than asked, since its true peak would pass the ceiling: "
                 "true-peak=20dBTP, and `limit` behind it, give the rest",
                 wanted - gain);
    smp_loudness_tell_spoiled("normalize", in, work, found.spoiled, measurements);
    SMP_TRY(smp_measurements_add(measurements, "lufs", -1, found.integrated, err));
    SMP_TRY(smp_measurements_add(measurements, "true_peak", -1, found.true_peak, err));
    SMP_TRY(smp_measurements_add(measurements, "gain_db", -1, gain, err));
    return smp_measurements_add(measurements, "missing_lu", -1, wanted - gain, err);
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = params_;
    if (!isnan(p->lufs))
        return reach_loudness(p, in, result, work, measurements, err);
    const bool rms = !isnan(p->rms);
    const double wanted = pow(10, (rms ? p->rms : isnan(p->peak) ? DEFAULT_PEAK : p->peak) / 20);
    double levels[SMP_MAX_CHANNELS], squares = 0, samples = 0, most = 0;
    for (int c = 0; c < in->channels; c++) {
        const smp_stats_chunk all = smp_chunks_fold(result, in, c);
        const double n = (double)all.count, energy = n > 0 ? all.squares + all.sum * all.sum / n : 0;
        const double peak = n > 0 ? fmax(fabs((double)all.min), fabs((double)all.max)) : 0;
        levels[c] = rms ? (n > 0 ? sqrt(energy / n) : 0) : peak;
        squares += energy;
        samples += n;
        most = fmax(most, peak);
    }
    const double unmeasured = (double)in->height * in->channels - samples;
    if (unmeasured > 0)
        snprintf(measurements->warning, sizeof measurements->warning,
                 "'normalize' measures without %.0f sample%s that %s not finite (NaN, infinity); the sound keeps them",
                 unmeasured, unmeasured > 1 ? "s" : "", unmeasured > 1 ? "are" : "is");
    const double level = rms ? (samples > 0 ? sqrt(squares / samples) : 0) : most;
    bool same = p->channels == TOGETHER || in->channels == 1;
    double factor = level > 0 ? wanted / level : 1; /* silence stays silence */
    smp_gain_offset_plan(factor, work);
    for (int c = 0; c < in->channels && !same; c++)
        smp_gain_offset_set(work, c, levels[c] > 0 ? wanted / levels[c] : 1, 0);
    for (int c = 0; c < in->channels && (c == 0 || !same); c++) {
        double used = same ? factor : levels[c] > 0 ? wanted / levels[c] : 1;
        SMP_TRY(smp_measurements_add(measurements, "gain_db", same ? -1 : c, 20 * log10(used), err));
    }
    return SMP_OK;
}

const smp_stage smp_stage_normalize = {
    .name = "normalize",
    .help = "bring a sound to a peak, an rms level or a loudness",
    .about =
        "Measures the whole sound first, then multiplies: peak makes the largest magnitude that level, rms the root of "
        "the mean square (a sine of full scale has -3.01 dBFS). channels=each treats every channel by itself. lufs "
        "reaches a loudness by EBU R 128 (see `loudness`), as far as true-peak lets it: missing_lu in the report says "
        "how much is missing, which `limit` can give; within=0.5LU leaves sounds that are level already, and whose "
        "true peak is below the ceiling, as they are. Silence stays silence; sounds under 0.4 s have no loudness and "
        "stay as they are. Samples that are not finite are left out of the measure.",
    .example = "normalize peak=-3dBFS",
    SMP_PLANNED(SMP_AUDIO, SMP_ADJUST, table, params, smp_gain_offset_variants),
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_chunk_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("-$AdBFS", "peak=-$A"), SMP_MEANS("-$AdB", "peak=-$A"),
                                          SMP_MEANS("0dBFS", "peak=0"), SMP_MEANS("0dB", "peak=0"),
                                          SMP_MEANS("-$ALUFS", "lufs=-$A")),
                       .aliases = SMP_ALIASES({"norm normalise dynaudnorm", "normalize"},
                                              {"loudnorm", "normalize lufs=-16LUFS"},
                                              {"replaygain", "normalize lufs=-18LUFS"})),
};
