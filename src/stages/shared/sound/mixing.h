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

/* A parameter of stages that lay a second sound on this one, or behind it. */
#define SMP_MIX_FIT(params)                                                                                            \
    SMP_PARAM_OF(params, "fit", fit, BOOL, NONE, 0, 0, "no",                                                           \
                 "yes: the second is brought to this one's rate and number of channels first", NULL, 0)

/* Wishes (smp_node_plan.second) for a second sound that fits. False: it does as it is, or nobody knows how. */
bool smp_mix_fits(const smp_shape *in, const smp_shape *by, bool beside, smp_node_plan *work);

/* Seconds as frames of the sound; fails for a sound without a rate and for times out of range. */
smp_code smp_mix_frames(double seconds, const smp_shape *in, int64_t *frames, smp_error *err);
