/* What the stages share that scale a sound's channels. */
#include "stages/shared/gain_offset.h"

#include "stages/shared/launch_shapes.h"

const smp_variant smp_scaling_variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(gain_offset_naive), "gain_offset_naive", NULL}}},
    {.name = "tiled",
     .help = "frames as one long row, vectorised; on GPUs 16 bytes an access",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(gain_offset_tiled), "gain_offset_tiled", smp_geometry_packs}}},
    {0},
};

void smp_scaling_plan(double factor, smp_node_plan *work)
{
    work->kernel_size = sizeof(smp_gain_offset);
    work->ops = 2;
    for (int c = 0; c < SMP_MAX_CHANNELS; c++)
        smp_scaling_set(work, c, factor, 0);
    ((smp_gain_offset *)(void *)work->kernel)->same = 1;
}

void smp_scaling_set(smp_node_plan *work, int channel, double factor, double offset)
{
    smp_gain_offset *scale = (smp_gain_offset *)(void *)work->kernel;
    scale->factor[channel] = (float)factor;
    scale->offset[channel] = (float)offset;
    scale->same = 0;
}
