/* eq on the CPU.
 *   naive  segment after segment, channel after channel: the definition. Each operation waits for the one before: some
 *          16 cycles a sample.
 *   tiled  16 segments or channels side by side in vectors of doubles. Turning samples into lanes and back costs as
 *          much as the recursion. */
#include "audio/eq.h"

#include "audio/lanes.h"

SMP_CPU_KERNEL(eq_naive)
{
    const smp_eq *p = params;
    smp_lane lane;
    for (int64_t q = 0; smp_lane_of(&lane, &p->segments, y0, y1, io->in.channels, q); q++) {
        double z1 = 0, z2 = 0, o;
        for (int64_t y = lane.from; y < lane.to; y++) {
            const double x = y < 0 ? 0 : (double)((const float *)smp_row(&io->in, y))[lane.channel];
            SMP_BIQUAD_STEP(&p->filter, x, z1, z2, o);
            if (y >= y0 && y >= lane.from + p->segments.warm)
                ((float *)smp_row(&io->out, y))[lane.channel] = smp_one_nan((float)o);
        }
    }
}

/* Filters a tile in place. */
SMP_INLINE void filter(float *tile, const smp_biquad *f, smp_lanes *z)
{
    enum { VECTORS = SMP_EQ_LANES / SMP_LANE_VECTOR };
    for (int t = 0; t < SMP_EQ_TILE; t++, tile += SMP_EQ_LANES)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) {
            smp_lanes_f32 *at = (smp_lanes_f32 *)(void *)(tile + v * SMP_LANE_VECTOR);
            const smp_lanes x = __builtin_convertvector(*at, smp_lanes);
            smp_lanes o;
            SMP_BIQUAD_STEP(f, x, z[2 * v], z[2 * v + 1], o);
            *at = __builtin_convertvector(o, smp_lanes_f32);
        }
}

/* Stores the frames of a lane that are results: y >= first, y < to. */
SMP_INLINE void put(const smp_view *out, const float *tile, int64_t y, int64_t first, int64_t to, int channel)
{
    const int64_t a = first > y ? first - y : 0, b = to - y < SMP_EQ_TILE ? to - y : SMP_EQ_TILE;
    if (a >= b)
        return;
    float *at = (float *)smp_row(out, y + a) + channel;
    const int64_t step = out->stride / (int64_t)sizeof(float);
    for (int64_t t = a; t < b; t++, at += step)
        *at = smp_one_nan(tile[t * SMP_EQ_LANES]);
}

SMP_CPU_KERNEL(eq_tiled)
{
    const smp_eq *p = params;
    float *tile = scratch;
    smp_lane lanes[SMP_EQ_LANES];
    for (int64_t q = 0;; q += SMP_EQ_LANES) {
        int count = 0;
        int64_t longest = 0;
        smp_lanes z[2 * SMP_EQ_LANES / SMP_LANE_VECTOR] = {{0}};
        while (count < SMP_EQ_LANES && smp_lane_of(&lanes[count], &p->segments, y0, y1, io->in.channels, q + count)) {
            const int64_t length = lanes[count].to - lanes[count].from;
            longest = length > longest ? length : longest;
            count++;
        }
        if (!count)
            return;
        for (int i = 0; i < SMP_EQ_TILE * SMP_EQ_LANES && count < SMP_EQ_LANES; i++)
            tile[i] = 0.f;
        for (int64_t t = 0; t < longest; t += SMP_EQ_TILE) {
            for (int k = 0; k < count; k++)
                smp_lane_load(tile + k, &io->in, lanes[k].from + t, lanes[k].channel, SMP_EQ_TILE, SMP_EQ_LANES);
            filter(tile, &p->filter, z);
            for (int k = 0; k < count; k++) {
                const int64_t segment = lanes[k].from + p->segments.warm;
                put(&io->out, tile + k, lanes[k].from + t, segment > y0 ? segment : y0, lanes[k].to, lanes[k].channel);
            }
        }
    }
}
