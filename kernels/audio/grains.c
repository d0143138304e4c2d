/* tempo and pitch on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  a grain's frames are copied; where grains meet, or move by other steps, they are made in planes of a
 *          channel, eight taps at a time. */

#include "audio/grains.h"
#include "lib/planes.h"

SMP_CPU_KERNEL(grains_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->in.channels; c++)
            ((float *)smp_row(&io->out, y))[c] = smp_grains_sample(io, params, y, c);
}

/* Frames of the result at a time; of a pitch two octaves up, frames that these move by. */
enum { BLOCK = 256, STEP_MOST = 4, PLANE = BLOCK * STEP_MOST + 2 + 2 * SMP_GRAINS_HALF };

/* The sums of a frame; compilers do not find the vector in them. */
SMP_INLINE void sums(float *restrict sum, const float *w, const float *next, const float *x, int64_t taps, float part)
{
#if defined(__AVX2__) && defined(__FMA__)
    __m256 all = _mm256_setzero_ps();
    for (int64_t t = 0; t < taps; t += SMP_GRAINS_SUMS) {
        const __m256 a = _mm256_loadu_ps(w + t), b = _mm256_loadu_ps(next + t);
        const __m256 between = _mm256_fmadd_ps(_mm256_set1_ps(part), _mm256_sub_ps(b, a), a);
        all = _mm256_fmadd_ps(between, _mm256_loadu_ps(x + t), all);
    }
    _mm256_storeu_ps(sum, all);
#else
    for (int k = 0; k < SMP_GRAINS_SUMS; k++)
        sum[k] = 0.f;
    for (int64_t t = 0; t < taps; t += SMP_GRAINS_SUMS)
        for (int k = 0; k < SMP_GRAINS_SUMS; k++)
            sum[k] = fmaf(fmaf(part, next[t + k] - w[t + k], w[t + k]), x[t + k], sum[k]);
#endif
}

/* Frames j .. j + count - 1 of the grain that begins at `at`, of a channel. */
SMP_INLINE void make_frames(float *restrict to, const smp_io *io, const smp_grains *p, int64_t at, int64_t j,
                            int64_t count, int channel)
{
    float plane[PLANE];
    const int64_t first = smp_grain_place_of(p, at, j).frame, taps = 2 * p->half;
    const float *weights = smp_grains_weights(io, p);
    smp_plane_load(plane, &io->in, channel, first - p->half + 1, ((count * p->step) >> 32) + 2 + taps);
    for (int64_t i = 0; i < count; i++) {
        const smp_grain_place place = smp_grain_place_of(p, at, j + i);
        const uint32_t fraction = place.fraction, below = fraction << SMP_GRAINS_PHASE_BITS;
        const float part = (float)(below >> 8) * 0x1p-24f;
        const float *restrict w = weights + (int64_t)(fraction >> (32 - SMP_GRAINS_PHASE_BITS)) * taps;
        const float *restrict x = plane + (place.frame - first);
        float sum[SMP_GRAINS_SUMS];
        sums(sum, w, w + taps, x, taps, part);
        to[i] = smp_grain_sum(sum);
    }
}

SMP_INLINE void frames_of(float *restrict to, const smp_io *io, const smp_grains *p, int64_t at, int64_t j,
                          int64_t count, int channel)
{
    if (p->half)
        make_frames(to, io, p, at, j, count, channel);
    else
        smp_plane_load(to, &io->in, channel, (at >> 16) + j, count);
}

/* Frames y .. y + count - 1, of one grain; `fades`: into it. */
static void piece(const smp_io *io, const smp_grains *p, int64_t k, int64_t y, int64_t count, int fades)
{
    float now[BLOCK], before[BLOCK];
    const int64_t j = y - k * p->hop, step = io->out.stride / (int64_t)sizeof(float), at = smp_grain_at(io, p, k);
    const int64_t from = fades ? smp_grain_at(io, p, k - 1) : 0;
    for (int c = 0; c < io->in.channels; c++) {
        float *to = (float *)smp_row(&io->out, y) + c;
        frames_of(now, io, p, at, j, count, c);
        if (fades) {
            frames_of(before, io, p, from, j + p->hop, count, c);
            for (int64_t i = 0; i < count; i++) {
                const float f = smp_grain_fade(p, k, j + i);
                const float both = fmaf(f, now[i] - before[i], before[i]);
                now[i] = f == 1.f ? now[i] : both;
            }
        }
        for (int64_t i = 0; i < count; i++)
            to[i * step] = smp_one_nan(now[i]);
    }
}

SMP_CPU_KERNEL(grains_tiled)
{
    const smp_grains *p = params;
    for (int64_t y = y0, count; y < y1; y += count) {
        const int64_t k = y / p->hop, j = y - k * p->hop;
        const int fades = k > 0 && j < p->overlap;
        count = (fades ? p->overlap : p->hop) - j;
        count = count < BLOCK ? count : BLOCK;
        count = count < y1 - y ? count : y1 - y;
        piece(io, p, k, y, count, fades);
    }
}
