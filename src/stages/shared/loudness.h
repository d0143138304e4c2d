/* The loudness of a sound: the plan of its reduction, its variants, and what the records of all pieces say. For
 * loudness, which reports it, and normalize, which reaches it. Sources: ITU-R BS.1770-4; EBU Tech 3341, 3342. */
#ifndef SMP_STAGES_SHARED_LOUDNESS_H
#define SMP_STAGES_SHARED_LOUDNESS_H

#include "stages/stage.h"

extern const smp_variant smp_loudness_variants[];

/* Fills in the kernel's parameters (an smp_loudness, whose gain stays as it is), reach and result. peaks: the values
 * between the frames too. */
smp_code smp_loudness_plan(const smp_shape *in, smp_node_plan *work, smp_error *err);

typedef struct smp_loudness_levels {
    double integrated, range, momentary, shortterm; /* LUFS, LU; -inf where there is nothing to measure */
    double true_peak;                               /* dBTP */
} smp_loudness_levels;

smp_code smp_loudness_levels_of(const smp_shape *in, const smp_node_plan *work, const void *result,
                                smp_loudness_levels *levels, smp_error *err);

#endif
