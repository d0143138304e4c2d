/* Shared by stages that scale a sound's channels. */
#pragma once

#include "audio/gain_offset.h"
#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_gain_offset_variants[];

/* The kernel parameters for one factor and no offset. */
void smp_gain_offset_plan(double factor, smp_node_plan *work);

/* Sets channel c's factor and offset in a plan made by smp_gain_offset_plan. */
void smp_gain_offset_set(smp_node_plan *work, int channel, double factor, double offset);
