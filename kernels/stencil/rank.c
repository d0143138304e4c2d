/* Order statistics on the CPU.
 *   naive  every window anew: the definition.
 *   tiled  networks for medians of 3 and 5; histograms for squares of bytes (rank_u8.c); else bit by bit: a key's next
 *          bit is 1 when no more than `rank` samples lie below the key with it. A vector of results at a time, 8, 16 or
 *          32 passes over the window. */
#include "stencil/rank.h"

SMP_CPU_KERNEL(rank_naive)
{
    const smp_rank *r = params;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * io->in.channels; i++)
            stencil_put(io, y, i, smp_rank_window(io, r, y, i));
}

typedef struct rank_walk {
    const smp_io *io;
    const smp_rank *r;
    int64_t x0, pixels, pitch;
    float outside;
    int bits;
} rank_walk;

SMP_INLINE uint16_t key_uint16_t(float v)
{
    return (uint16_t)v;
}
SMP_INLINE uint32_t key_uint32_t(float v)
{
    return smp_rank_key(v);
}
SMP_INLINE float value_uint16_t(uint16_t key)
{
    return (float)key;
}
SMP_INLINE float value_uint32_t(uint32_t key)
{
    return smp_rank_value(key);
}

/* T: keys, and counts of samples. */
#define RANK(T)                                                                                                        \
    static void load_##T(const rank_walk *w, T *line, int64_t y)                                                       \
    {                                                                                                                  \
        const smp_view *in = &w->io->in;                                                                               \
        const int64_t channels = in->channels, rx = w->r->shape.rx;                                                    \
        const int64_t inside = smp_border(y, in->height, w->r->shape.edge), a = w->x0 - rx;                            \
        const char *row = inside < 0 ? NULL : smp_row(in, inside);                                                     \
        float block[SMP_RANK_TILE];                                                                                    \
        if (row)                                                                                                       \
            smp_load_row(block, row + w->x0 * channels * smp_sample_size(in->format), in->format,                      \
                         w->pixels * channels);                                                                        \
        for (int64_t i = 0; i < w->pixels * channels; i++)                                                             \
            line[rx * channels + i] = key_##T(row ? block[i] : w->outside);                                            \
        for (int64_t k = 0; k < 2 * rx; k++) {                                                                         \
            const int64_t x = k < rx ? k : k + w->pixels, at = smp_border(a + x, in->width, w->r->shape.edge);         \
            for (int64_t c = 0; c < channels; c++)                                                                     \
                line[x * channels + c] =                                                                               \
                    key_##T(row && at >= 0 ? smp_load(row, at * channels + c, in->format) : w->outside);               \
        }                                                                                                              \
    }                                                                                                                  \
    static void select_##T(const rank_walk *w, T *restrict found, T *restrict counts, const T *lines, int64_t y)       \
    {                                                                                                                  \
        const int64_t channels = w->io->in.channels, n = w->pixels * channels, ry = w->r->shape.ry, side = 2 * ry + 1; \
        memset(found, 0, (size_t)n * sizeof *found);                                                                   \
        for (int bit = w->bits - 1; bit >= 0; bit--) {                                                                 \
            const T one = (T)((T)1 << bit), most = (T)w->r->rank;                                                      \
            memset(counts, 0, (size_t)n * sizeof *counts);                                                             \
            for (int64_t dy = -ry; dy <= ry; dy++) {                                                                   \
                const int64_t chord = smp_morph_chord(&w->r->shape, (int32_t)dy);                                      \
                const T *line = lines + (y + dy + side * 2) % side * w->pitch + w->r->shape.rx * channels;             \
                for (int64_t dx = -chord; dx <= chord; dx++) {                                                         \
                    const T *restrict keys = line + dx * channels;                                                     \
                    for (int64_t i = 0; i < n; i++)                                                                    \
                        counts[i] = (T)(counts[i] + (keys[i] < (T)(found[i] | one)));                                  \
                }                                                                                                      \
            }                                                                                                          \
            for (int64_t i = 0; i < n; i++)                                                                            \
                found[i] = (T)(found[i] | (counts[i] <= most ? one : (T)0));                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static void rank_rows_##T(rank_walk *w, T *memory, int64_t y0, int64_t y1)                                         \
    {                                                                                                                  \
        const int64_t channels = w->io->in.channels, ry = w->r->shape.ry, side = 2 * ry + 1;                           \
        const int64_t across = SMP_RANK_TILE / channels;                                                               \
        T *lines = memory, *found = memory + side * w->pitch, *counts = found + w->pitch;                              \
        float row[SMP_RANK_TILE];                                                                                      \
        for (w->x0 = 0; w->x0 < w->io->in.width; w->x0 += across) {                                                    \
            w->pixels = w->io->in.width - w->x0 < across ? w->io->in.width - w->x0 : across;                           \
            const int64_t n = w->pixels * channels;                                                                    \
            const stencil_tile tile = {.x0 = w->x0, .pixels = w->pixels, .samples = n, .lanes = n};                    \
            for (int64_t y = y0 - ry; y < y0 + ry; y++)                                                                \
                load_##T(w, lines + (y + side * 2) % side * w->pitch, y);                                              \
            for (int64_t y = y0; y < y1; y++) {                                                                        \
                load_##T(w, lines + (y + ry + side * 2) % side * w->pitch, y + ry);                                    \
                select_##T(w, found, counts, lines, y);                                                                \
                for (int64_t i = 0; i < n; i++)                                                                        \
                    row[i] = value_##T(found[i]);                                                                      \
                stencil_store(w->io, &tile, y, row, w->bits < 32);                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
RANK(uint16_t)
RANK(uint32_t)

SMP_CPU_KERNEL(rank_tiled)
{
    const smp_rank *r = params;
    if (smp_rank_network(r)) {
        SMP_PASTE(median_tiled, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    if (SMP_PASTE(rank_bytes, SMP_ISA)(io, r, scratch, y0, y1))
        return;
    rank_walk walk = {.io = io,
                      .r = r,
                      .pitch = smp_rank_pitch(r, io->in.channels),
                      .outside = smp_morph_outside(&r->shape, io->in.white),
                      .bits = io->in.format == SMP_U8    ? 8
                              : io->in.format == SMP_U16 ? 16
                                                         : 32};
    if (walk.bits == 32)
        rank_rows_uint32_t(&walk, scratch, y0, y1);
    else
        rank_rows_uint16_t(&walk, scratch, y0, y1);
}
