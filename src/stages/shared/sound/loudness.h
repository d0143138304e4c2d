/* The loudness of a sound: the plan of its reduction, its variants, and what the records of all pieces say. For
 * loudness, which reports it, and normalize, which reaches it. Sources: ITU-R BS.1770-4; EBU Tech 3341, 3342. */
#pragma once

#include "stages/stage.h"

extern const smp_variant smp_loudness_variants[];

/* Fills in the kernel's parameters (an smp_loudness, whose gain stays as it is), reach and result. peaks: the values
 * between the frames too. */
smp_code smp_loudness_plan(const smp_shape *in, smp_node_plan *work, smp_error *err);

/* The loudness of a mean energy, LUFS. */
double smp_lufs(double mean);

/* Blocks that levels are computed from. */
typedef struct smp_loudness_blocks {
    double *momentary, *shortterm; /* mean energies of blocks of 0.4 s and 3 s, in their order; in one block of memory:
                                      smp_free(momentary) */
    int64_t momentary_count, shortterm_count;
    double most_momentary, most_shortterm; /* of them; 0: there are none */
    double peak;                           /* the largest magnitude */
    int64_t spoiled; /* tenths of a second that samples which are not finite spoil; no block has them */
} smp_loudness_blocks;

enum { SMP_LOUDNESS_SILENCE = -70, SMP_LOUDNESS_GATE = 10, SMP_LOUDNESS_RANGE_GATE = 20 /* LUFS; LU below the mean */ };

smp_code smp_loudness_blocks_of(const smp_shape *in, const smp_node_plan *work, const void *result,
                                smp_loudness_blocks *blocks, smp_error *err);

typedef struct smp_loudness_levels {
    double integrated, range, momentary, shortterm; /* LUFS, LU; -inf where there is nothing to measure */
    double true_peak;                               /* dBTP */
    int64_t spoiled;                                /* as of the blocks */
} smp_loudness_levels;

/* Warns of spoiled tenths of a second, if there are any. stage: its name. */
void smp_loudness_tell_spoiled(const char *stage, const smp_shape *in, const smp_node_plan *work, int64_t spoiled,
                               smp_measurements *measurements);

smp_code smp_loudness_levels_of(const smp_shape *in, const smp_node_plan *work, const void *result,
                                smp_loudness_levels *levels, smp_error *err);
