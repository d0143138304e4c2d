/* eq on GPUs: a thread has a segment and a channel, since a recursion is serial. A sound of ten minutes has some
 * thousand of them: the latency of double arithmetic is the limit, and memory must not add to it.
 *   naive   every thread reads its own frames: lanes of a warp are a segment apart, so each access takes 32 sectors.
 *   tiled   a warp brings 32 frames of each of its segments into shared memory, row by row, and filters them in place.
 *           Its lanes then walk down a column: with rows of 32 frames, the segments' frames lie in one bank.
 *   padded  a frame more in each row spreads a column over all banks. */
#include "audio/eq.h"

#include "lib/gpu_kernel.h"

SMP_DEVICE int64_t eq_segments(const smp_io &io, const smp_eq &p, int64_t *first)
{
    *first = io.out.y0 / p.segments.length;
    return (io.out.y0 + io.out.rows - 1) / p.segments.length - *first + 1;
}

/* Geometry: a thread a segment and channel. */
SMP_KERNEL(eq_naive_f32_f32, smp_eq, io, p)
{
    int64_t first;
    const int channels = io.in.channels;
    const int64_t count = eq_segments(io, p, &first) * channels, end = io.out.y0 + io.out.rows;
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count)
        return;
    const int channel = (int)(q % channels);
    const int64_t start = (first + q / channels) * p.segments.length, to = min(start + p.segments.length, end);
    double z1 = 0, z2 = 0, o;
    for (int64_t y = start - p.segments.warm; y < to; y++) {
        const double x = y < 0 ? 0. : (double)smp_in<float>(io.in, y)[channel];
        SMP_BIQUAD_STEP(&p.filter, x, z1, z2, o);
        if (y >= start && y >= io.out.y0)
            smp_out<float>(io.out, y)[channel] = smp_one_nan((float)o);
    }
}

/* Geometry: a block of one warp takes 32 / channels segments. */
template <int PAD> SMP_DEVICE void eq_blocks(const smp_io &io, const smp_eq &p)
{
    enum { ROW = SMP_EQ_FRAMES + PAD };
    struct tile {
        float v[32 * ROW];
    };
    SMP_SHARED(tile, s);
    int64_t first;
    const int channels = io.in.channels, side = 32 / channels, me = (int)threadIdx.x,
              samples = SMP_EQ_FRAMES * channels;
    const int64_t count = eq_segments(io, p, &first), end = io.out.y0 + io.out.rows;
    const int mine = me / channels, channel = me % channels;
    const int64_t before = (int64_t)blockIdx.x * side, start = (first + before) * p.segments.length;
    const int segments = (int)min((int64_t)side, count - before);
    double z1 = 0, z2 = 0, o;
    for (int64_t at = -p.segments.warm; at < p.segments.length; at += SMP_EQ_FRAMES) {
        for (int k = 0; k < segments; k++)
            for (int i = me; i < samples; i += 32) {
                const int64_t y = start + k * p.segments.length + at + i / channels;
                const bool there = y >= io.in.y0 && y < io.in.y0 + io.in.rows;
                s.v[k * ROW * channels + i] = there ? smp_in<float>(io.in, y)[i % channels] : 0.f;
            }
        __syncwarp();
        if (mine < segments)
            for (int i = 0; i < SMP_EQ_FRAMES; i++) {
                float *const v = &s.v[(mine * ROW + i) * channels + channel];
                SMP_BIQUAD_STEP(&p.filter, (double)*v, z1, z2, o);
                *v = smp_one_nan((float)o);
            }
        __syncwarp();
        for (int k = 0; k < segments && at >= 0; k++) /* each lane reads what it alone writes above */
            for (int i = me; i < samples; i += 32) {
                const int64_t y = start + k * p.segments.length + at + i / channels;
                if (y >= io.out.y0 && y < end)
                    smp_out<float>(io.out, y)[i % channels] = s.v[k * ROW * channels + i];
            }
    }
}

SMP_KERNEL(eq_tiled_f32_f32, smp_eq, io, p)
{
    eq_blocks<0>(io, p);
}
SMP_KERNEL(eq_padded_f32_f32, smp_eq, io, p)
{
    eq_blocks<1>(io, p);
}
