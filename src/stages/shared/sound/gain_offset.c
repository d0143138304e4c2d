/* Shared by stages that scale a sound's channels. */
#include "stages/shared/sound/gain_offset.h"

#include "stages/shared/samples/elementwise.h"

SMP_ELEMENTWISE_VARIANTS(gain_offset, packs);

void smp_gain_offset_plan(double factor, smp_node_plan *work)
{
    work->kernel.size = sizeof(smp_gain_offset);
    work->ops = 2;
    for (int c = 0; c < SMP_MAX_CHANNELS; c++)
        smp_gain_offset_set(work, c, factor, 0);
    ((smp_gain_offset *)(void *)work->kernel.bytes)->same = 1;
}

void smp_gain_offset_set(smp_node_plan *work, int channel, double factor, double offset)
{
    smp_gain_offset *scale = (smp_gain_offset *)(void *)work->kernel.bytes;
    scale->factor[channel] = (float)factor;
    scale->offset[channel] = (float)offset;
    scale->same = 0;
}
