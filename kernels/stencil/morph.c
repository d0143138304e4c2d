/* Grey morphology on the CPU.
 *   naive  every sample of every window by the border rule: the definition.
 *   tiled  lines of keys in cache, as bytes, 16 or 32 bits, a vector of results at a time: morph_lines.h. Squares of 3
 * x 3 integers straight from the picture's rows: nine.h. */
#include "stencil/morph.h"
#include "stencil/nine.h"


#define NAIVE(launch, LAUNCH)                                                                                          \
    SMP_CPU_KERNEL(morph_##launch##_naive)                                                                             \
    {                                                                                                                  \
        const smp_morph *m = params;                                                                                   \
        const smp_morph_pass pass = smp_morph_pass_of(m, LAUNCH);                                                      \
        for (int64_t y = y0; y < y1; y++)                                                                              \
            for (int64_t i = 0; i < io->in.width * io->in.channels; i++)                                               \
                stencil_put(io, y, i, smp_morph_window(io, m, &pass, y, i));                                           \
    }
NAIVE(only, SMP_MORPH_ONLY)
NAIVE(first, SMP_MORPH_FIRST)
NAIVE(last, SMP_MORPH_LAST)

typedef struct morph_walk {
    const smp_io *io;
    const smp_morph *m;
    const smp_view *from; /* the picture under the window */
    smp_morph_pass pass;
    float outside;
    int64_t rx, ry, x0, pixels; /* of the window; of the tile */
    int64_t line;               /* bytes from a line to the next */
    int levels;
    char *lines, *spare; /* spare: four lines */
} morph_walk;

/* Results of a tile's row as floats. */
static void store_values(const morph_walk *walk, float *row, int64_t y)
{
    const smp_io *io = walk->io;
    const int64_t channels = io->in.channels, first = walk->x0 * channels, n = walk->pixels * channels;
    if (walk->pass.combine)
        for (int64_t i = 0; i < n; i++)
            row[i] = smp_morph_result(io, &walk->pass, y, first + i, row[i]);
    if (io->out.format == SMP_F32)
        stencil_store_reals((float *)smp_row(&io->out, y) + first, row, n);
    else
        smp_store_row((char *)smp_row(&io->out, y) + first * smp_sample_size(io->out.format), io->out.format, row, n,
                      io->clipped);
}

/* Keys of integers are the samples, turned where the largest wins. The scratch picture has them as floats. */
#define INTEGERS(T, FORMAT)                                                                                            \
    SMP_INLINE T SMP_PASTE(morph_key_of, T)(float v, int most)                                                         \
    {                                                                                                                  \
        return (T)((T)v ^ (most ? (T)-1 : (T)0));                                                                      \
    }                                                                                                                  \
    SMP_INLINE void SMP_PASTE(morph_keys, T)(T *restrict to, const void *row, int format, int64_t first, int64_t n,    \
                                             int most)                                                                 \
    {                                                                                                                  \
        const T *restrict from = (const T *)row + first, turn = most ? (T)-1 : (T)0;                                   \
        const float *restrict values = (const float *)row + first;                                                     \
        if (format == SMP_F32)                                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                            \
                to[i] = (T)((T)(int32_t)values[i] ^ turn);                                                             \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++)                                                                            \
                to[i] = (T)(from[i] ^ turn);                                                                           \
    }                                                                                                                  \
    static void SMP_PASTE(morph_store, T)(const morph_walk *walk, const T *restrict keys, int64_t y)                   \
    {                                                                                                                  \
        const int64_t channels = walk->io->in.channels, first = walk->x0 * channels, n = walk->pixels * channels;      \
        const T turn = walk->pass.most ? (T)-1 : (T)0;                                                                 \
        float row[SMP_MORPH_TILE];                                                                                     \
        if (walk->io->out.format == FORMAT && !walk->pass.combine) {                                                   \
            T *restrict to = (T *)smp_row(&walk->io->out, y) + first;                                                  \
            for (int64_t i = 0; i < n; i++)                                                                            \
                to[i] = (T)(keys[i] ^ turn);                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                                                \
            row[i] = (float)(T)(keys[i] ^ turn);                                                                       \
        store_values(walk, row, y);                                                                                    \
    }
INTEGERS(uint8_t, SMP_U8)
INTEGERS(uint16_t, SMP_U16)

SMP_INLINE int32_t morph_key_of_int32_t(float v, int most)
{
    return smp_morph_key(v, most);
}
SMP_INLINE void morph_keys_int32_t(int32_t *restrict to, const void *row, int format, int64_t first, int64_t n,
                                   int most)
{
    (void)format;
    const float *restrict from = (const float *)row + first;
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_morph_key(from[i], most);
}
static void morph_store_int32_t(const morph_walk *walk, const int32_t *restrict keys, int64_t y)
{
    const int64_t n = walk->pixels * walk->io->in.channels;
    float row[SMP_MORPH_TILE / sizeof(float)];
    for (int64_t i = 0; i < n; i++)
        row[i] = smp_morph_value(keys[i], walk->pass.most);
    store_values(walk, row, y);
}

#define T uint8_t
#include "stencil/morph_lines.h"
#undef T
#define T uint16_t
#include "stencil/morph_lines.h"
#undef T
#define T int32_t
#include "stencil/morph_lines.h"
#undef T

static void tiled(const smp_io *io, const smp_morph *m, int launch, char *scratch, int64_t y0, int64_t y1)
{
    morph_walk walk = {
        .io = io, .m = m, .pass = smp_morph_pass_of(m, launch), .line = smp_morph_line(m, io->in.channels)};
    walk.from = walk.pass.of_second ? &io->second : &io->in;
    walk.outside = smp_morph_outside(m, walk.from->white);
    walk.rx = walk.pass.moves ? m->rx : 0;
    walk.ry = walk.pass.moves ? m->ry : 0;
    walk.levels = smp_morph_levels(m);
    walk.spare = scratch;
    walk.lines = scratch + 4 * walk.line;
    /* A first launch over a picture of integers moved whole numbers of that size. */
    const int format = launch == SMP_MORPH_LAST ? io->second.format : io->in.format;
    if (format == SMP_U8)
        morph_tiles_uint8_t(&walk, y0, y1);
    else if (format == SMP_U16)
        morph_tiles_uint16_t(&walk, y0, y1);
    else
        morph_tiles_int32_t(&walk, y0, y1);
}

/* The least and the largest of 3 x 3, two results one above the other. */
#define NINE_OF(name, T, BEFORE)                                                                                       \
    SMP_INLINE T name##_one_##T(T a, T b)                                                                              \
    {                                                                                                                  \
        return a BEFORE b ? a : b;                                                                                     \
    }                                                                                                                  \
    SMP_INLINE void name##_two_##T(const T *left, const T *middle, const T *right, T *results)                         \
    {                                                                                                                  \
        const T *const columns[] = {left, middle, right};                                                              \
        T above[3], below[3];                                                                                          \
        for (int i = 0; i < 3; i++) {                                                                                  \
            const T both = name##_one_##T(columns[i][1], columns[i][2]);                                               \
            above[i] = name##_one_##T(columns[i][0], both);                                                            \
            below[i] = name##_one_##T(both, columns[i][3]);                                                            \
        }                                                                                                              \
        results[0] = name##_one_##T(name##_one_##T(above[0], above[1]), above[2]);                                     \
        results[1] = name##_one_##T(name##_one_##T(below[0], below[1]), below[2]);                                     \
    }                                                                                                                  \
    NINE(name, T)
NINE_OF(least, uint8_t, <)
NINE_OF(least, uint16_t, <)
NINE_OF(most, uint8_t, >)
NINE_OF(most, uint16_t, >)

/* Rows y0 .. y1-1 of a square of 3 x 3. */
static void nine_rows(const smp_io *io, const smp_morph *m, int64_t y0, int64_t y1)
{
    const float outside = smp_morph_outside(m, io->in.white);
    if (io->in.format == SMP_U8)
        (m->op == SMP_MORPH_DILATE ? nine_most_uint8_t : nine_least_uint8_t)(io, m->edge, outside, y0, y1);
    else
        (m->op == SMP_MORPH_DILATE ? nine_most_uint16_t : nine_least_uint16_t)(io, m->edge, outside, y0, y1);
}

#define TILED(launch, LAUNCH)                                                                                          \
    SMP_CPU_KERNEL(morph_##launch##_tiled)                                                                             \
    {                                                                                                                  \
        tiled(io, params, LAUNCH, scratch, y0, y1);                                                                    \
    }
SMP_CPU_KERNEL(morph_only_tiled)
{
    const smp_morph *m = params;
    const int64_t from = y0 > 1 ? y0 : 1, to = y1 < io->in.height - 1 ? y1 : io->in.height - 1;
    if (m->shape != SMP_SHAPE_SQUARE || m->rx != 1 || m->ry != 1 || !nine_serves(io, from, to)) {
        tiled(io, m, SMP_MORPH_ONLY, scratch, y0, y1);
        return;
    }
    nine_rows(io, m, from, to);
    if (from > y0)
        tiled(io, m, SMP_MORPH_ONLY, scratch, y0, from);
    if (to < y1)
        tiled(io, m, SMP_MORPH_ONLY, scratch, to, y1);
}
TILED(first, SMP_MORPH_FIRST)
TILED(last, SMP_MORPH_LAST)
