/* spectrogram by Fourier transforms on the CPU (spectrogram.h has the definition). Threads share out groups of frames,
 * whose levels go to a picture between the launches; `paint` makes rows of the output of it.
 *   one    frame by frame, as the definition says.
 *   lanes  consecutive frames, one in each lane of a vector. */
#include "lib/elementwise.h"
#include "lib/fft_cpu.h"
#include "lib/planes.h"
#include "matmul/spectrogram.h"

enum { LANES = SMP_FFT_LANES };

/* Levels of frames x .. x+count-1 of a bin. */
SMP_INLINE void put_levels(const smp_view *out, int64_t row, int64_t x, int64_t count, const float *levels)
{
    if (out->format == SMP_F32)
        memcpy((float *)smp_row(out, row) + x, levels, (size_t)count * sizeof *levels);
    else
        for (int64_t i = 0; i < count; i++)
            ((uint8_t *)smp_row(out, row))[x + i] = (uint8_t)(smp_spectrogram_color(levels[i]) / 3);
}

SMP_CPU_KERNEL(spectrogram_one)
{
    const smp_spectrogram_params *p = params;
    const float *window = smp_spectrogram_waves(io), *w = window + p->size, *roots = w + smp_fft_twiddles(&p->fft);
    float *a = scratch, *b = a + p->size;
    const int64_t end = y1 * SMP_SPECTROGRAM_GROUP < io->out.width ? y1 * SMP_SPECTROGRAM_GROUP : io->out.width;
    for (int64_t x = y0 * SMP_SPECTROGRAM_GROUP; x < end; x++)
        for (int c = 0; c < io->in.channels; c++) {
            smp_plane_load(a, &io->in, c, smp_spectrogram_at(p, x, 0), p->size);
            for (int i = 0; i < p->size; i++)
                a[i] = a[i] * window[i];
            const float *z = smp_fft_one(&p->fft, w, a, b);
            for (int k = 0, l = p->bins; k <= l; k++, l--) {
                const int m = l % p->bins;
                float kr = z[2 * k], ki = z[2 * k + 1], lr = z[2 * m], li = z[2 * m + 1];
                smp_fft1_split(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);
                const float half = smp_spectrogram_half(k), low = smp_spectrogram_level(kr * half, ki * half, p);
                const float high = smp_spectrogram_level(lr, li, p);
                put_levels(&io->out, smp_spectrogram_row(p, c, k), x, 1, &low);
                if (k && k != l)
                    put_levels(&io->out, smp_spectrogram_row(p, c, l), x, 1, &high);
            }
        }
}

/* ---------------------------------------------------------------------------------------------- lanes */

/* Real parts of all bins and lanes, then imaginary parts, of the transforms z. */
SMP_INLINE void split_lanes(smp_fft_vec *re, smp_fft_vec *im, const smp_fft_vec *z, const float *roots, int bins)
{
    for (int k = 0, l = bins; k <= l; k++, l--) {
        const int m = l % bins;
        smp_fft_vec kr = z[2 * k], ki = z[2 * k + 1], lr = z[2 * m], li = z[2 * m + 1];
        smp_fftv_split(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);
        if (k)
            re[m] = lr, im[m] = li;
        re[k] = kr * smp_spectrogram_half(k), im[k] = ki * smp_spectrogram_half(k);
    }
}

SMP_INLINE void levels_of(float *restrict re, const float *restrict im, int64_t n, const smp_spectrogram_params *p)
{
    const smp_spectrogram_params own = *p;
    for (int64_t i = 0; i < n; i++)
        re[i] = smp_spectrogram_level(re[i], im[i], &own);
}

SMP_CPU_KERNEL(spectrogram_lanes)
{
    const smp_spectrogram_params *p = params;
    const float *window = smp_spectrogram_waves(io), *w = window + p->size, *roots = w + smp_fft_twiddles(&p->fft);
    const int64_t size = p->size, pitch = p->hop < size ? p->hop : size;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + SMP_SPECTROGRAM_GROUP * size), *b = a + size;
    const int64_t end = y1 * SMP_SPECTROGRAM_GROUP < io->out.width ? y1 * SMP_SPECTROGRAM_GROUP : io->out.width;
    for (int c = 0; c < io->in.channels; c++)
        for (int64_t x = y0 * SMP_SPECTROGRAM_GROUP; x < end; x += LANES) {
            const int64_t frames = end - x < LANES ? end - x : LANES;
            if (p->hop < size)
                smp_plane_load(plane, &io->in, c, smp_spectrogram_at(p, x, 0), (LANES - 1) * pitch + size);
            else
                for (int lane = 0; lane < LANES; lane++)
                    smp_plane_load(plane + lane * pitch, &io->in, c, smp_spectrogram_at(p, x + lane, 0), size);
            smp_fft_gather((float *)a, plane, pitch, size, window);
            const smp_fft_vec *z = smp_fft_lanes(&p->fft, w, a, b);
            smp_fft_vec *re = z == a ? b : a, *im = re + p->bins;
            split_lanes(re, im, z, roots, p->bins);
            levels_of((float *)re, (const float *)im, (int64_t)p->bins * LANES, p);
            for (int bin = 0; bin < p->bins; bin++)
                put_levels(&io->out, smp_spectrogram_row(p, c, bin), x, frames, (const float *)(re + bin));
        }
}

/* ---------------------------------------------------------------------------------------------- paint */

SMP_CPU_KERNEL(spectrogram_paint)
{
    (void)scratch;
    const smp_spectrogram_params *p = params;
    const float *map = smp_spectrogram_map(io);
    for (int64_t y = y0; y < y1; y++) {
        const void *from = smp_row(&io->in, y);
        void *row = smp_row(&io->out, y);
        for (int64_t x = 0; x < io->out.width; x++) {
            if (!p->colored) {
                smp_put(io, row, x, ((const float *)from)[x] * io->out.white);
                continue;
            }
            const float *color = map + 3 * ((const uint8_t *)from)[x];
            if (io->out.format == SMP_U8) {
                for (int c = 0; c < 3; c++) /* whole numbers */
                    ((uint8_t *)row)[3 * x + c] = (uint8_t)color[c];
                continue;
            }
            for (int c = 0; c < 3; c++)
                smp_store(row, 3 * x + c, io->out.format, color[c]);
        }
    }
}
