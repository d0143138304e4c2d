/* spectrogram by Fourier transforms on the CPU (spectrogram.h has the definition). Threads share out groups of frames,
 * whose levels go to a picture between the launches; `paint` makes rows of the output of it.
 *   one    frame by frame, as the definition says.
 *   lanes  consecutive frames, one in each lane of a vector. */
#include "audio/frames_cpu.h"
#include "audio/spectrogram.h"
#include "lib/elementwise.h"

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
    float *a = scratch, *b = a + p->f.size + 2, *spectrum = b + p->f.size + 2;
    const int64_t end = y1 * SMP_SPECTROGRAM_GROUP < io->out.width ? y1 * SMP_SPECTROGRAM_GROUP : io->out.width;
    for (int64_t x = y0 * SMP_SPECTROGRAM_GROUP; x < end; x++)
        for (int c = 0; c < io->in.channels; c++) {
            smp_frames_load(&p->f, a, &io->in, c, smp_frames_first(&p->f, x), p->f.size);
            smp_frames_one(&p->f, smp_spectrogram_waves(io), a, b, spectrum);
            for (int k = 0; k < p->f.bins; k++) {
                const float half = smp_spectrogram_half(k);
                const float level = smp_spectrogram_level(spectrum[2 * k] * half, spectrum[2 * k + 1] * half, p);
                put_levels(&io->out, smp_spectrogram_row(p, c, k), x, 1, &level);
            }
        }
}

SMP_CPU_KERNEL(spectrogram_lanes)
{
    const smp_spectrogram_params *p = params, own = *p;
    const int64_t size = p->f.size;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + SMP_SPECTROGRAM_GROUP * size), *b = a + size + 2;
    smp_fft_vec *spectrum = b + size + 2;
    const int64_t end = y1 * SMP_SPECTROGRAM_GROUP < io->out.width ? y1 * SMP_SPECTROGRAM_GROUP : io->out.width;
    for (int c = 0; c < io->in.channels; c++)
        for (int64_t x = y0 * SMP_SPECTROGRAM_GROUP; x < end; x += LANES) {
            smp_frames_lanes(&p->f, smp_spectrogram_waves(io), &io->in, c, x, plane, a, b, spectrum);
            for (int k = 0; k < p->f.bins; k++) {
                const float *re = (const float *)(spectrum + 2 * k), *im = re + LANES, half = smp_spectrogram_half(k);
                float levels[LANES];
                for (int i = 0; i < LANES; i++)
                    levels[i] = smp_spectrogram_level(re[i] * half, im[i] * half, &own);
                put_levels(&io->out, smp_spectrogram_row(p, c, k), x, end - x < LANES ? end - x : LANES, levels);
            }
        }
}

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
