/* Two sounds of any lengths in one: for mix, append, and add of another length. */
#ifndef SMP_STAGES_SHARED_MIXING_H
#define SMP_STAGES_SHARED_MIXING_H

#include "stages/stage.h"

extern const smp_variant smp_mix_variants[];

/* Plans the second sound to begin at frame `at` of the output, times gain. The output is as long as both need, or as
 * the first. Both stream. Errors (SMP_E_PIPE): other rates or channels; they say what to type. */
smp_code smp_mix_plan(int64_t at, double gain, bool longest, const smp_shape *in, const smp_shape *by,
                      smp_node_plan *work, smp_error *err);

/* Seconds as frames of the sound; fails for a sound without a rate and for times out of range. */
smp_code smp_mix_frames(double seconds, const smp_shape *in, int64_t *frames, smp_error *err);

#endif
