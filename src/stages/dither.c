/* dither: noise before a sound becomes integers. */
#include "audio/dither.h"

#include "stages/stage.h"

typedef struct params {
    int64_t bits, seed;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(bits, BIT, 8, 24, "16bit", "of the integers that follow", SMP_P_MAIN),
    SMP_PARAM_INT(seed, NONE, 0, 1e15, "0", "another one gives other noise", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    smp_dither *k = SMP_PLAN_KERNEL(work, smp_dither);
    *k = (smp_dither){.seed = (uint64_t)p->seed, .step = 2.f / (float)(1 << p->bits)};
    work->values.clips = true;
    work->ops = 60;
    return SMP_OK;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(dither_naive))},
    {SMP_RUNG("tiled", "CPU: frames of a channel in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(dither_tiled, .cuda = "dither_naive"))},
    {0},
};

const smp_stage smp_stage_dither = {
    .name = "dither",
    .help = "add the noise that rounding to few bits needs",
    .about = "out = in + (u1 - u2) 2^(1 - bits): triangular noise of one step of the integers to either side, from "
             "Philox4x32-10 with the frame and the channel as counter and seed as key, so that every run and device "
             "gives the same noise. For pictures: `posterise 2 dither=bayer8`. Last in a pipeline, before a file of so "
             "many bits: faint sounds then fade into noise and not into distortion. Files are written without dither "
             "unless this is asked for.",
    .example = "dither 16bit",
    SMP_PLANNED(SMP_AUDIO, SMP_POINT, table, params, variants),
    .traits = SMP_TRAIT_SAME_LEVEL,
    SMP_ALSO({"tpdf", "dither 16bit"}),
};
