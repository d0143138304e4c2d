/* mel on the CPU.
 *   one    frame by frame, as the definition says.
 *   lanes  consecutive frames, one in each lane of a vector.
 * whisper: `most` finds the most of all rows, and puts it behind the last one; `whisper` applies it. */
#include "audio/mel.h"

#include "audio/frames_cpu.h"

enum { LANES = SMP_FFT_LANES };

SMP_CPU_KERNEL(mel_one)
{
    const smp_mel *p = params;
    const float *table = io->table;
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2, *levels = spectrum + p->f.size + 2;
    for (int64_t t = y0; t < y1 && t < p->frames; t++) {
        float *to = (float *)smp_row(&io->out, t);
        smp_frames_load(&p->f, a, &io->in, 0, smp_frames_first(&p->f, t), p->f.size);
        smp_frames_one(&p->f, table, a, b, spectrum);
        for (int k = 0; k <= p->f.bins; k++)
            a[k] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
        for (int band = 0; band < p->bands; band++) {
            const int32_t *span = smp_mel_span(p, table, band);
            float sum = 0.f;
            for (int k = 0; k < span[1]; k++)
                sum = sum + table[p->weights + span[2] + k] * a[span[0] + k];
            levels[band] = smp_mel_level(p, sum);
        }
        for (int i = 0; i < p->outputs; i++) {
            float v = p->cepstrum ? 0.f : levels[i];
            for (int band = 0; p->cepstrum && band < p->bands; band++)
                v = v + table[p->cosines + i * p->bands + band] * levels[band];
            to[i] = smp_one_nan(v);
        }
    }
}

SMP_INLINE void levels_of(const smp_mel *p, float *v, int64_t n)
{
    const smp_mel own = *p;
    for (int64_t i = 0; i < n; i++)
        v[i] = smp_mel_level(&own, v[i]);
}

SMP_CPU_KERNEL(mel_lanes)
{
    const smp_mel *p = params;
    const float *table = io->table;
    const int64_t size = p->f.size, end = y1 < p->frames ? y1 : p->frames;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + LANES * size), *b = a + size + 2, *spectrum = b + size + 2;
    smp_fft_vec *levels = spectrum + size + 2, *sums = levels + p->bands;
    for (int64_t t = y0; t < end; t += LANES) {
        const int64_t rows = end - t < LANES ? end - t : LANES;
        smp_frames_lanes(&p->f, table, &io->in, 0, t, plane, a, b, spectrum);
        for (int k = 0; k <= p->f.bins; k++)
            a[k] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
        for (int band = 0; band < p->bands; band++) {
            const int32_t *span = smp_mel_span(p, table, band);
            smp_fft_vec sum = {0};
            for (int k = 0; k < span[1]; k++)
                sum = sum + table[p->weights + span[2] + k] * a[span[0] + k];
            levels[band] = sum;
        }
        levels_of(p, (float *)levels, (int64_t)p->bands * LANES);
        for (int i = 0; p->cepstrum && i < p->outputs; i++) {
            smp_fft_vec sum = {0};
            for (int band = 0; band < p->bands; band++)
                sum = sum + table[p->cosines + i * p->bands + band] * levels[band];
            sums[i] = sum;
        }
        const float *from = (const float *)(p->cepstrum ? sums : levels);
        for (int64_t lane = 0; lane < rows; lane++) {
            float *to = (float *)smp_row(&io->out, t + lane);
            for (int i = 0; i < p->outputs; i++)
                to[i] = smp_one_nan(from[i * LANES + lane]);
        }
    }
}

/* Rows are levels; row `frames` is for the most. */
SMP_CPU_KERNEL(mel_most)
{
    (void)y0, (void)y1;
    const smp_mel *p = params;
    float most = -INFINITY;
    for (int64_t t = 0; t < p->frames; t++) {
        const float *from = (const float *)smp_row(&io->in, t);
        for (int i = 0; i < p->outputs; i++)
            most = from[i] > most ? from[i] : most;
    }
    *(float *)smp_row(&io->out, p->frames) = most;
}

SMP_CPU_KERNEL(mel_whisper)
{
    const smp_mel *p = params;
    const float most = *(const float *)smp_row(&io->in, p->frames);
    for (int64_t t = y0; t < y1; t++) {
        const float *from = (const float *)smp_row(&io->in, t);
        float *to = (float *)smp_row(&io->out, t);
        for (int i = 0; i < p->outputs; i++)
            to[i] = smp_mel_whisper(from[i], most);
    }
}
