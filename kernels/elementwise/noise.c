/* noise on CPUs.
 *   naive  sample by sample.
 *   tiled  blocks of pixels, a channel at a time: eight or sixteen counters are lanes. */
#include "elementwise/noise.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(noise_naive)
{
    const smp_noise *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                const float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                const int passes = io->in.alpha && c == channels - 1;
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        passes ? v
                               : smp_noise_sample(v, (uint64_t)(y * io->in.width + x), c, p, (const float *)io->table));
            }
}

/* n pixels from number `index` on. For gaussian noise the table's entries are fetched by themselves, which leaves loops
 * that vectorise before and after. */
SMP_INLINE void noise_gaussian(float *restrict to, const float *restrict from, int64_t n, int64_t index, int c,
                               const smp_noise *p, const float *restrict sines)
{
    float u[SMP_BLOCK] __attribute__((aligned(64))), part[SMP_BLOCK] __attribute__((aligned(64)));
    float low[SMP_BLOCK] __attribute__((aligned(64))), high[SMP_BLOCK] __attribute__((aligned(64)));
    int32_t entry[SMP_BLOCK] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i++) {
        const smp_philox r = smp_philox_of((uint64_t)(index + i), (uint32_t)c, 0, p->seed);
        u[i] = smp_philox_uniform(r.v[0]);
        part[i] = smp_noise_part(r.v[1] >> 8);
        entry[i] = (int32_t)(r.v[1] >> 20);
    }
    for (int64_t i = 0; i < n; i++) {
        low[i] = sines[entry[i]];
        high[i] = sines[entry[i] + 1];
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_noise_gaussian(from[i], u[i], part[i], low[i], high[i], p);
}

SMP_INLINE void noise_plane(float *restrict to, const float *restrict from, int64_t n, int64_t index, int c,
                            const smp_noise *p, const float *sines)
{
    if (p->kind == SMP_NOISE_GAUSSIAN) {
        noise_gaussian(to, from, n, index, c, p, sines);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_noise_sample(from[i], (uint64_t)(index + i), c, p, sines);
}

SMP_INLINE void noise_rows(const smp_io *io, const smp_noise *p, int64_t y0, int64_t y1)
{
    float block[SMP_BLOCK] __attribute__((aligned(64))), plane[SMP_BLOCK] __attribute__((aligned(64)));
    float made[SMP_BLOCK] __attribute__((aligned(64)));
    const int channels = io->in.channels, touched = channels - (io->in.alpha != 0);
    const int64_t in = channels * smp_sample_size(io->in.format), out = channels * smp_sample_size(io->out.format);
    const int64_t most = SMP_BLOCK / channels, rows = smp_joined_rows(io, y0, y1), pixels = io->in.width * rows;
    for (int64_t y = y0; y < y1; y += rows)
        for (int64_t x = 0; x < pixels; x += most) {
            const int64_t n = pixels - x < most ? pixels - x : most, index = y * io->in.width + x;
            smp_load_row(block, (const char *)smp_row(&io->in, y) + x * in, io->in.format, n * channels);
            for (int c = 0; c < touched; c++) {
                for (int64_t i = 0; i < n; i++)
                    plane[i] = block[i * channels + c];
                noise_plane(made, plane, n, index, c, p, (const float *)io->table);
                for (int64_t i = 0; i < n; i++)
                    block[i * channels + c] = made[i];
            }
            smp_store_row((char *)smp_row(&io->out, y) + x * out, io->out.format, block, n * channels, io->clipped);
        }
}

SMP_CPU_KERNEL(noise_tiled)
{
    smp_noise own = *(const smp_noise *)params;
    SMP_KINDS_3(own, noise_rows(io, &own, y0, y1))
}
