/* Where a smaller rectangle lies in a larger one: at a corner, the middle of a side, or the centre. */
#ifndef SMP_STAGES_SHARED_ANCHOR_H
#define SMP_STAGES_SHARED_ANCHOR_H

#include "stages/stage.h"

enum { SMP_ANCHOR_CENTRE = 4 }; /* of smp_anchor_names */

/* Words for an enumeration: "auto", then the nine places in reading order, which begin at smp_anchor_names. */
extern const char *const smp_anchor_auto_names[];
#define smp_anchor_names (smp_anchor_auto_names + 1)

/* How far in a part of that length begins: floor((whole - part) * a), a = 0, 1/2, 1 for place 0, 1, 2. */
int64_t smp_anchored(int64_t whole, int64_t part, int place);

/* The nearest whole number of pixels, at least 1. */
int64_t smp_pixels(double v);

#endif
