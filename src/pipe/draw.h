/* Random values of a pipeline: `warp random(-15..15deg)`, `flip random`. Each is a pure function of what is drawn for
 * and of its place in the text, by Philox4x32-10 (lib/philox.h): so it is the same on any device, in any order and
 * however many run at once, and nothing has a state to be kept.
 *   key       the seed
 *   counter   the index in two words, the epoch, the place
 * A place is the how-manieth `random` or `probability` of the pipeline it is, from 1 on, in the order written, included
 * texts where they are included: a stage that draws nothing moves no other's draws. A `param` that is drawn is one
 * draw, however often it is used. */
#pragma once

#include <stdint.h>

/* What is drawn for. Zeros are what is drawn where nobody says. */
typedef struct smp_draw {
    uint64_t seed;
    uint64_t index; /* of the file in its data set: as `Feed` numbers them; of a batch a hash of its name; else 0 */
    uint64_t epoch; /* its low 32 bits count */
} smp_draw;

enum { SMP_DRAW_BITS = 53 };

/* 53 bits of the first two words; the same as a number 0 <= u < 1. */
uint64_t smp_draw_bits(const smp_draw *of, uint32_t place);
double smp_draw_uniform(const smp_draw *of, uint32_t place);
