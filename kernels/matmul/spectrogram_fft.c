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
            ((uint8_t *)smp_row(out, row))[x + i] = smp_spectrogram_color(levels[i]);
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

enum { PAINTED = 256 /* pixels at a time */ };

/* Pixels of a row from their levels; color: places in the map. */
SMP_INLINE void put_colors(const smp_io *io, void *row, int64_t x, int64_t count, const uint8_t *color)
{
    const float *map = smp_spectrogram_map(io);
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const float v = map[3 * color[i] + c];
            if (io->out.format == SMP_U8) /* a whole number */
                ((uint8_t *)row)[3 * (x + i) + c] = (uint8_t)v;
            else
                smp_store(row, 3 * (x + i) + c, io->out.format, v);
        }
}

SMP_INLINE void put_frame(const smp_io *io, const smp_spectrogram_params *p, int64_t y, int64_t x, int64_t end)
{
    for (; x < end; x++) {
        const uint8_t level = smp_spectrogram_frame(io, p, x, y);
        if (p->colored)
            put_colors(io, smp_row(&io->out, y), x, 1, &level);
        else
            smp_put(io, smp_row(&io->out, y), x, (float)level / (SMP_SPECTROGRAM_COLORS - 1) * io->out.white);
    }
}

/* Columns x .. x+count-1 of the bins in rows first .. end-1 of the picture between, to pixels left further right. */
SMP_INLINE void paint_levels(const smp_io *io, int64_t left, void *row, int64_t x, int64_t count, int64_t first,
                             int64_t end)
{
    float levels[PAINTED];
    memcpy(levels, (const float *)smp_row(&io->in, first) + x, (size_t)count * sizeof *levels);
    while (++first < end)
        for (int64_t i = 0; i < count; i++)
            levels[i] = smp_spectrogram_greater(levels[i], ((const float *)smp_row(&io->in, first))[x + i]);
    for (int64_t i = 0; i < count; i++)
        smp_put(io, row, left + x + i, levels[i] * io->out.white);
}

SMP_INLINE void paint_colors(const smp_io *io, int64_t left, void *row, int64_t x, int64_t count, int64_t first,
                             int64_t end)
{
    uint8_t colors[PAINTED];
    memcpy(colors, (const uint8_t *)smp_row(&io->in, first) + x, (size_t)count);
    while (++first < end) {
        const uint8_t *from = (const uint8_t *)smp_row(&io->in, first) + x;
        for (int64_t i = 0; i < count; i++)
            colors[i] = colors[i] > from[i] ? colors[i] : from[i];
    }
    put_colors(io, row, left + x, count, colors);
}

SMP_CPU_KERNEL(spectrogram_paint)
{
    (void)scratch;
    const smp_spectrogram_params *p = params;
    const int64_t width = io->out.width, columns = width - p->left - p->right;
    for (int64_t y = y0; y < y1; y++) {
        int64_t first, end;
        if (y < p->top || y >= io->out.height - p->bottom) {
            put_frame(io, p, y, 0, width);
            continue;
        }
        smp_spectrogram_span(io, p, y - p->top, &first, &end);
        put_frame(io, p, y, 0, p->left);
        for (int64_t x = 0; x < columns; x += PAINTED) {
            const int64_t count = columns - x < PAINTED ? columns - x : PAINTED;
            if (p->colored)
                paint_colors(io, p->left, smp_row(&io->out, y), x, count, first, end);
            else
                paint_levels(io, p->left, smp_row(&io->out, y), x, count, first, end);
        }
        put_frame(io, p, y, width - p->right, width);
    }
}
