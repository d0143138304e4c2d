/* stft and istft on the CPU.
 *   one    frame by frame, as the definition says.
 *   lanes  consecutive frames, one in each lane of a vector. */
#include "audio/stft.h"

#include "audio/frames_cpu.h"

enum { LANES = SMP_FFT_LANES };

SMP_CPU_KERNEL(stft_one)
{
    const smp_stft *p = params;
    const int channels = io->in.channels;
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2;
    for (int64_t t = y0; t < y1; t++)
        for (int c = 0; c < channels; c++) {
            float *to = (float *)smp_row(&io->out, t) + 2 * c;
            smp_frames_load(&p->f, a, &io->in, c, smp_frames_first(&p->f, t), p->f.size);
            smp_frames_one(&p->f, io->table, a, b, spectrum);
            for (int k = 0; k <= p->f.bins; k++)
                for (int i = 0; i < 2; i++)
                    to[2 * k * channels + i] = smp_one_nan(spectrum[2 * k + i]);
        }
}

SMP_CPU_KERNEL(stft_lanes)
{
    const smp_stft *p = params;
    const int channels = io->in.channels;
    const int64_t size = p->f.size;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + LANES * size), *b = a + size + 2, *spectrum = b + size + 2;
    for (int c = 0; c < channels; c++)
        for (int64_t t = y0; t < y1; t += LANES) {
            const int64_t rows = y1 - t < LANES ? y1 - t : LANES;
            smp_frames_lanes(&p->f, io->table, &io->in, c, t, plane, a, b, spectrum);
            for (int64_t lane = 0; lane < rows; lane++) {
                float *to = (float *)smp_row(&io->out, t + lane) + 2 * c;
                const float *from = (const float *)spectrum + lane;
                for (int k = 0; k <= p->f.bins; k++) {
                    to[2 * k * channels] = smp_one_nan(from[2 * k * LANES]);
                    to[2 * k * channels + 1] = smp_one_nan(from[(2 * k + 1) * LANES]);
                }
            }
        }
}

SMP_CPU_KERNEL(istft_one)
{
    const smp_stft *p = params;
    const int channels = io->out.channels;
    const int64_t most = (int64_t)p->f.size * SMP_STFT_SUMS;
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2, *sums = spectrum + p->f.size + 2;
    for (int c = 0; c < channels; c++)
        for (int64_t y = y0; y < y1; y += most) {
            const int64_t n = y1 - y < most ? y1 - y : most;
            int64_t t, end;
            memset(sums, 0, (size_t)n * sizeof *sums);
            smp_stft_holding(&p->f, p->frames, y, y + n, &t, &end);
            for (; t < end; t++) {
                const float *from = (const float *)smp_row(&io->in, t) + 2 * c;
                for (int k = 0; k <= p->f.bins; k++)
                    for (int i = 0; i < 2; i++)
                        spectrum[2 * k + i] = from[2 * k * channels + i];
                const float *x = smp_frames_back_one(&p->f, io->table, spectrum, a, b);
                smp_frames_add(&p->f, io->table, sums, y, y + n, t, x, 1);
            }
            smp_stft_put(io, &p->f, p->frames, p->gain, c, sums, y, n);
        }
}

SMP_CPU_KERNEL(istft_lanes)
{
    const smp_stft *p = params;
    const int channels = io->out.channels;
    const int64_t size = p->f.size, most = size * SMP_STFT_SUMS;
    float *sums = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(sums + most), *b = a + size + 2, *spectrum = b + size + 2;
    for (int c = 0; c < channels; c++)
        for (int64_t y = y0; y < y1; y += most) {
            const int64_t n = y1 - y < most ? y1 - y : most;
            int64_t t, end;
            memset(sums, 0, (size_t)n * sizeof *sums);
            smp_stft_holding(&p->f, p->frames, y, y + n, &t, &end);
            for (; t < end; t += LANES) {
                const int64_t frames = end - t < LANES ? end - t : LANES;
                for (int64_t lane = 0; lane < LANES; lane++) {
                    const int64_t row = lane < frames ? t + lane : t;
                    const float *from = (const float *)smp_row(&io->in, row) + 2 * c;
                    float *to = (float *)spectrum + lane;
                    for (int k = 0; k <= p->f.bins; k++) {
                        to[2 * k * LANES] = from[2 * k * channels];
                        to[(2 * k + 1) * LANES] = from[2 * k * channels + 1];
                    }
                }
                const smp_fft_vec *x = smp_frames_back_lanes(&p->f, io->table, spectrum, a, b);
                for (int64_t lane = 0; lane < frames; lane++)
                    smp_frames_add(&p->f, io->table, sums, y, y + n, t + lane, (const float *)x + lane, LANES);
            }
            smp_stft_put(io, &p->f, p->frames, p->gain, c, sums, y, n);
        }
}
