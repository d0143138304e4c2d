/* Recursions side by side on a CPU: a vector's lane has a segment and a channel of its own (biquad.h), since a
 * recursion by itself waits for each of its operations. Frames of the lanes lie apart in memory: a tile of them is
 * turned, so that one frame of all lanes is a vector. */
#pragma once

#include "audio/biquad.h"

/* Lanes of a vector of doubles: as many as the instruction set has, since compilers keep wider ones in memory. */
#if defined(__AVX512F__)
enum { SMP_LANE_VECTOR = 8 };
#elif defined(__AVX2__)
enum { SMP_LANE_VECTOR = 4 };
#else
enum { SMP_LANE_VECTOR = 2 };
#endif
typedef double smp_lanes __attribute__((vector_size(SMP_LANE_VECTOR * 8)));

/* a * b + c where the product is exact in double, so that fused and separate operations give the same. */
#if defined(__AVX512F__)
#define SMP_LANES_EXACT(a, b, c) ((smp_lanes)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif defined(__AVX2__) && defined(__FMA__)
#define SMP_LANES_EXACT(a, b, c) ((smp_lanes)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define SMP_LANES_EXACT(a, b, c) ((a) * (b) + (c))
#endif
typedef float smp_lanes_f32 __attribute__((vector_size(SMP_LANE_VECTOR * 4)));

/* Frames from .. to-1 of a channel that a lane computes, of which the first ones warm it up. */
typedef struct smp_lane {
    int64_t from, to;
    int channel;
} smp_lane;

/* Lane `index` of those that compute rows y0 .. y1-1: segments in order, the channels of a segment side by side. False:
 * past the last. */
SMP_INLINE int smp_lane_of(smp_lane *lane, const smp_segments *l, int64_t y0, int64_t y1, int channels, int64_t index)
{
    const int64_t start = (y0 / l->length + index / channels) * l->length;
    lane->channel = (int)(index % channels);
    lane->from = start - l->warm;
    lane->to = start + l->length < y1 ? start + l->length : y1;
    return start < y1;
}

/* count frames of a channel from y on to every `lanes`-th place; zeros where frames are not there. */
SMP_INLINE void smp_lane_load(float *restrict tile, const smp_view *in, int64_t y, int channel, int count, int lanes)
{
    if (y >= in->y0 && y + count <= in->y0 + in->rows) {
        const float *restrict from = (const float *)smp_row(in, y) + channel;
        const int64_t step = in->stride / (int64_t)sizeof(float);
        for (int t = 0; t < count; t++)
            tile[t * lanes] = from[t * step];
        return;
    }
    for (int t = 0; t < count; t++)
        tile[t * lanes] = smp_frame_at(in, y + t, channel);
}
