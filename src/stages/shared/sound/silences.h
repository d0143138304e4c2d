/* Finds silences of a sound, for stages that report them or cut them out. */
#pragma once

#include "stages/stage.h"

extern const smp_variant smp_silence_variants[];

/* Plans the reduction: a bit a frame (kernels/audio/silence.h). threshold: dBFS. Fails for a sound without a rate. */
smp_code smp_silence_plan(double threshold, const smp_shape *in, smp_node_plan *work, smp_error *err);

/* The first run of silent frames, from .. to - 1, that begins at frame `at` or later. False: there is none. */
bool smp_silence_next(const void *result, const smp_shape *in, int64_t at, int64_t *from, int64_t *to);
