/* Shared by stages that mix a pixel's channels. */
#pragma once

#include "elementwise/channel_mix.h"
#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_channel_mix_variants[];

/* Fills the plan of a stage that mixes as `mix` says: the number of output channels, what is exact, what can clip.
 * work: preset to the input's shape; out.alpha is left to the caller. */
void smp_channel_mixing_plan(const smp_channel_mix *mix, smp_node_plan *work);
