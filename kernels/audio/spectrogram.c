/* spectrogram on the CPU.
 *   naive  bin by bin: the definition.
 *   tiled  the blocks of matmul: frames, taken directly from the sound (they overlap), are rows of L, the table is R;
 *          then the levels of a row of sums at once. A sample costs 2 fmaf a bin; fmaf is the limit. */
#include "audio/spectrogram.h"

#include "lib/elementwise.h"
#include "matmul/matmul_cpu.h"

SMP_INLINE float sample_at(const smp_view *in, int64_t i, int channel)
{
    return i >= 0 && i < in->height ? smp_load(smp_row(in, i), channel, in->format) : 0.f;
}

/* Pixel x of a row of the picture between. */
SMP_INLINE void put_level(const smp_io *io, void *row, int64_t x, float level)
{
    if (io->out.format == SMP_F32)
        ((float *)row)[x] = level;
    else
        ((uint8_t *)row)[x] = smp_spectrogram_color(level);
}

SMP_CPU_KERNEL(spectrogram_naive)
{
    const smp_spectrogram_params *p = params;
    const float *waves = smp_spectrogram_waves(io);
    for (int64_t y = y0; y < y1; y++) {
        const int c = (int)(y / p->f.bins);
        const int64_t bin = p->f.bins - 1 - y % p->f.bins;
        for (int64_t x = 0; x < io->out.width; x++) {
            float re = 0.f, im = 0.f;
            for (int64_t n = 0; n < p->f.size; n++) {
                const float sample = sample_at(&io->in, smp_spectrogram_at(p, x, n), c);
                re = fmaf(sample, waves[n * p->pitch + 2 * bin], re);
                im = fmaf(sample, waves[n * p->pitch + 2 * bin + 1], im);
            }
            put_level(io, smp_row(&io->out, y), x, smp_spectrogram_level(re, im, p));
        }
    }
}

typedef struct sound { /* L: a row a frame */
    const smp_view *in;
    const smp_spectrogram_params *p;
    int channel;
} sound;

static void pack_frames(const void *operand, float *restrict to, int64_t x, int64_t frames, int64_t n, int64_t depth)
{
    const sound *s = operand;
    const smp_view *in = s->in;
    const int64_t all = (frames + MR - 1) / MR * MR;
    for (int64_t i = 0; i < all; i++, to += PITCH) {
        const int64_t at = smp_spectrogram_at(s->p, x + i, n);
        const int inside = i < frames && at >= 0 && at + depth <= in->height;
        if (inside && in->format == SMP_F32) {
            const char *from = (const char *)smp_row(in, at) + s->channel * (int)sizeof(float);
            for (int64_t k = 0; k < depth; k++)
                memcpy(&to[k], from + k * in->stride, sizeof(float));
        } else {
            for (int64_t k = 0; k < depth; k++)
                to[k] = i < frames ? sample_at(in, at + k, s->channel) : 0.f;
        }
    }
}

typedef struct waves { /* R: the table from a column on */
    const float *at;
    int64_t pitch;
} waves;

/* Zeros extend the table's rows beyond any tile. */
static void pack_waves(const void *operand, float *restrict to, int64_t x, int64_t columns, int64_t n, int64_t depth)
{
    const waves *w = operand;
    for (int64_t k = 0; k < depth; k++) {
        const float *row = w->at + (n + k) * w->pitch + x;
        for (int64_t tile = 0; tile < columns; tile += NR)
            for (int64_t i = 0; i < NR; i++)
                to[tile * depth + k * NR + i] = tile + i < columns ? row[tile + i] : 0.f;
    }
}

/* Pixels x .. x+frames-1 of bins low .. low+bins-1 from their sums. */
static void put_block(const smp_io *io, const smp_spectrogram_params *p, const matmul_blocks *b, int channel, int64_t x,
                      int64_t frames, int64_t low, int64_t bins)
{
    float levels[COLUMNS / 2];
    for (int64_t i = 0; i < frames; i++) {
        const float *sums = b->sums + i * COLUMNS;
        for (int64_t j = 0; j < bins; j++)
            levels[j] = smp_spectrogram_level(sums[2 * j], sums[2 * j + 1], p);
        for (int64_t j = 0; j < bins; j++)
            put_level(io, smp_row(&io->out, smp_spectrogram_row(p, channel, low + j)), x + i, levels[j]);
    }
}

SMP_CPU_KERNEL(spectrogram_tiled)
{
    const smp_spectrogram_params *p = params;
    matmul_blocks *b = scratch;
    for (int c = 0; c < io->in.channels; c++) {
        const sound l = {&io->in, p, c};
        const waves r = {smp_spectrogram_waves(io), p->pitch};
        int64_t low, high;
        smp_spectrogram_bins(p, c, y0, y1, &low, &high);
        for (; low < high; low += COLUMNS / 2) {
            const int64_t bins = high - low < COLUMNS / 2 ? high - low : COLUMNS / 2;
            for (int64_t x = 0; x < io->out.width; x += ROWS) {
                const int64_t frames = io->out.width - x < ROWS ? io->out.width - x : ROWS;
                matmul_sums(b, pack_frames, &l, pack_waves, &r, p->f.size, x, frames, 2 * low, 2 * bins);
                put_block(io, p, b, c, x, frames, low, bins);
            }
        }
    }
}
