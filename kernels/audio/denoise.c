/* denoise on the CPU.
 *   one    frame by frame, as the definition says.
 *   lanes  consecutive frames, one in each lane of a vector. */
#include "audio/denoise.h"

#include "audio/frames_cpu.h"

enum { LANES = SMP_FFT_LANES };

/* The frames whose middles are rows y0 .. y1-1. */
SMP_INLINE void frames_of(const smp_denoise *p, int64_t y0, int64_t y1, int64_t *first, int64_t *end)
{
    *first = (y0 + p->f.hop - 1) / p->f.hop;
    *end = (y1 + p->f.hop - 1) / p->f.hop;
}

SMP_CPU_KERNEL(denoise_count_one)
{
    const smp_denoise *p = params;
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2;
    int64_t t, end;
    for (frames_of(p, y0, y1, &t, &end); t < end; t++)
        for (int c = 0; c < io->in.channels && smp_denoise_listens(p, t); c++) {
            smp_frames_load(&p->f, a, &io->in, c, smp_frames_first(&p->f, t), p->f.size);
            smp_frames_one(&p->f, io->table, a, b, spectrum);
            for (int k = 0; k <= p->f.bins; k++) {
                const int level =
                    smp_denoise_class(spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1]);
                if (level >= 0)
                    ((uint64_t *)io->result)[smp_denoise_counts(p, c, k) + level]++;
            }
        }
}

SMP_CPU_KERNEL(denoise_count_lanes)
{
    const smp_denoise *p = params;
    const int64_t size = p->f.size;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + LANES * size), *b = a + size + 2, *spectrum = b + size + 2;
    int64_t t, end;
    for (frames_of(p, y0, y1, &t, &end); t < end; t += LANES)
        for (int c = 0; c < io->in.channels; c++) {
            smp_frames_lanes(&p->f, io->table, &io->in, c, t, plane, a, b, spectrum);
            for (int k = 0; k <= p->f.bins; k++) {
                a[0] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
                for (int lane = 0; lane < LANES && t + lane < end; lane++) {
                    const int level = smp_denoise_class(((const float *)a)[lane]);
                    if (level >= 0 && smp_denoise_listens(p, t + lane))
                        ((uint64_t *)io->result)[smp_denoise_counts(p, c, k) + level]++;
                }
            }
        }
}

SMP_CPU_KERNEL(denoise_one)
{
    const smp_denoise *p = params;
    const int64_t most = (int64_t)p->f.size * SMP_STFT_SUMS;
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2, *sums = spectrum + p->f.size + 2;
    for (int c = 0; c < io->out.channels; c++)
        for (int64_t y = y0; y < y1; y += most) {
            const float *thresholds = smp_denoise_thresholds(p, io->table, c);
            const int64_t n = y1 - y < most ? y1 - y : most;
            int64_t t, end;
            memset(sums, 0, (size_t)n * sizeof *sums);
            smp_stft_holding(&p->f, p->frames, y, y + n, &t, &end);
            for (; t < end; t++) {
                smp_frames_load(&p->f, a, &io->in, c, smp_frames_first(&p->f, t), p->f.size);
                smp_frames_one(&p->f, io->table, a, b, spectrum);
                for (int k = 0; k <= p->f.bins; k++) {
                    const float power = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
                    b[k] = power > thresholds[k] ? 1.f : 0.f;
                }
                for (int k = 0; k <= p->f.bins; k++) {
                    float open = 0.f;
                    for (int i = -SMP_DENOISE_SIDE; i <= SMP_DENOISE_SIDE; i++)
                        open = open + b[smp_denoise_beside(p, k, i)];
                    spectrum[2 * k] = spectrum[2 * k] * smp_denoise_factor(p, b[k], open);
                    spectrum[2 * k + 1] = spectrum[2 * k + 1] * smp_denoise_factor(p, b[k], open);
                }
                const float *x = smp_frames_back_one(&p->f, io->table, spectrum, a, b);
                smp_frames_add(&p->f, io->table, sums, y, y + n, t, x, 1);
            }
            smp_stft_put(io, &p->f, p->frames, p->gain, c, sums, y, n);
        }
}

SMP_CPU_KERNEL(denoise_lanes)
{
    const smp_denoise *p = params;
    const int64_t size = p->f.size, most = size * SMP_STFT_SUMS;
    float *sums = scratch, *plane = sums + most;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + LANES * size), *b = a + size + 2, *spectrum = b + size + 2;
    for (int c = 0; c < io->out.channels; c++)
        for (int64_t y = y0; y < y1; y += most) {
            const float *thresholds = smp_denoise_thresholds(p, io->table, c);
            const int64_t n = y1 - y < most ? y1 - y : most;
            int64_t t, end;
            memset(sums, 0, (size_t)n * sizeof *sums);
            smp_stft_holding(&p->f, p->frames, y, y + n, &t, &end);
            for (; t < end; t += LANES) {
                smp_frames_lanes(&p->f, io->table, &io->in, c, t, plane, a, b, spectrum);
                for (int k = 0; k <= p->f.bins; k++) {
                    b[k] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
                    float *open = (float *)(b + k);
                    for (int lane = 0; lane < LANES; lane++)
                        open[lane] = open[lane] > thresholds[k] ? 1.f : 0.f;
                }
                for (int k = 0; k <= p->f.bins; k++) {
                    const float *states = (const float *)b;
                    float factors[LANES] = {0};
                    for (int away = -SMP_DENOISE_SIDE; away <= SMP_DENOISE_SIDE; away++)
                        for (int lane = 0; lane < LANES; lane++)
                            factors[lane] = factors[lane] + states[smp_denoise_beside(p, k, away) * LANES + lane];
                    for (int lane = 0; lane < LANES; lane++)
                        factors[lane] = smp_denoise_factor(p, states[k * LANES + lane], factors[lane]);
                    const smp_fft_vec factor = *(const smp_fft_vec *)(const void *)factors;
                    spectrum[2 * k] = spectrum[2 * k] * factor;
                    spectrum[2 * k + 1] = spectrum[2 * k + 1] * factor;
                }
                const smp_fft_vec *x = smp_frames_back_lanes(&p->f, io->table, spectrum, a, b);
                for (int64_t lane = 0; lane < LANES && t + lane < end; lane++)
                    smp_frames_add(&p->f, io->table, sums, y, y + n, t + lane, (const float *)x + lane, LANES);
            }
            smp_stft_put(io, &p->f, p->frames, p->gain, c, sums, y, n);
        }
}
