/* 64 bits of what a picture looks like, from a small gray copy of it: the same for copies in other sizes, formats and
 * qualities, or nearly. How many bits differ tells how far two pictures are apart. */
#pragma once

#include "stages/stage.h"

enum {
    SMP_DHASH_ACROSS = 9, /* pixels of the copy, of area means; */
    SMP_DHASH_DOWN = 8,
    SMP_PHASH_SIDE = 32, /* both ways, by Lanczos */
    SMP_HASH_PIXELS = SMP_PHASH_SIDE * SMP_PHASH_SIDE
};

/* A bit for each of 8 x 8 places, row by row, the first the highest: brighter than its left neighbour. */
uint64_t smp_dhash(const uint8_t *gray);

/* A bit for each of the 8 x 8 lowest frequencies of a cosine transform: above the median of all but the mean. */
uint64_t smp_phash(const uint8_t *gray);

/* A reduction to rows of `across` numbers, 32 at most, the area means of brightness, 0 to 255 (kernels/stencil/hash.h);
 * fixed: by Lanczos, in integers. Its variants. Errors (SMP_E_PIPE): other colours than gray and RGB. */
smp_code smp_hash_plan(const smp_shape *in, int32_t across, bool fixed, smp_node_plan *work, smp_error *err);
extern const smp_variant smp_hash_variants[];
