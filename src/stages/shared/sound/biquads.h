/* Second-order filters of sounds: how they are cut into segments (kernels/audio/biquad.h). */
#pragma once

#include "audio/biquad.h"
#include "base/checked.h"
#include "stages/stage.h"

/* Computes how long filters in a row must run from rest until what came earlier has faded to 2^-32, and the segments
 * for such a warm-up. Fails where it takes more than 2^22 frames, or where a filter does not fade. */
smp_code smp_segments_of(const smp_biquad *filters, int count, smp_segments *segments, smp_error *err);

/* Frames above a frame that its segment reads, of a sound with so many. */
static inline int64_t smp_segments_reach(const smp_segments *segments, int64_t frames)
{
    return smp_min_i64(segments->warm + segments->length - 1, frames);
}
