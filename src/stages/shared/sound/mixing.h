/* Two sounds of any lengths in one: for mix, append, and add of another length. */
#pragma once

#include "stages/stage.h"

extern const smp_variant smp_mix_variants[];

typedef struct smp_mix_request {
    int64_t at;   /* the output's frame at which the second sound begins, */
    double gain;  /* times this */
    bool longest; /* the output is as long as both need, else as the first */
    bool beside;  /* the second's channels follow the first's, else they add up */
    int64_t fade; /* frames from `at` on over which the first goes and the second comes */
} smp_mix_request;

/* Plans it. Both stream. Errors (SMP_E_PIPE): other rates or channels; they say what to type. */
smp_code smp_mix_plan(const smp_mix_request *ask, const smp_shape *in, const smp_shape *by, smp_node_plan *work,
                      smp_error *err);

/* Seconds as frames of the sound; fails for a sound without a rate and for times out of range. */
smp_code smp_mix_frames(double seconds, const smp_shape *in, int64_t *frames, smp_error *err);
