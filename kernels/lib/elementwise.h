/* CPU kernels of elementwise stages, whose result for a sample depends on that sample and its channel alone. A stage
 * gives a formula and its parameters, in NAME.h:
 *     typedef struct smp_NAME { ... } smp_NAME;
 *     SMP_HOST_DEVICE float smp_NAME_sample(float v, int channel, const smp_NAME *p)
 * NAME.c makes both kernels of it with one line, SMP_ELEMENTWISE_CPU(NAME, ...). Alpha passes.
 *     naive  sample by sample: the definition.
 *     tiled  blocks of f32 code values in the first-level cache: one vectorised loop whatever the storage on either
 *            side. Bytes are looked up in a table that each call makes, where the picture is large enough to pay for
 * it. Memory bandwidth is the bound. */
#pragma once

#include "lib/cpu_kernel.h"

#ifdef SMP_ISA

#include "lib/byte_lut.h"

enum { SMP_BLOCK = 1024 }; /* samples of a block: two of 4 KiB fit every first-level cache */

/* Stores one code value, counting it when the store clamps. */
SMP_INLINE void smp_put(const smp_io *io, void *row, int64_t i, float v)
{
    if (io->clipped && io->out.format != SMP_F32)
        *io->clipped += (uint64_t)smp_clips(v, io->out.format == SMP_U8 ? 255.f : 65535.f);
    smp_store(row, i, io->out.format, v);
}

/* The number of rows that one loop takes: all, where rows lie end to end in both pictures (sound, above all); else 1.
 */
SMP_INLINE int64_t smp_joined_rows(const smp_io *io, int64_t y0, int64_t y1)
{
    int64_t in = io->in.width * io->in.channels * smp_sample_size(io->in.format);
    int64_t out = io->out.width * io->out.channels * smp_sample_size(io->out.format);
    return io->in.stride == in && io->out.stride == out ? y1 - y0 : 1;
}

/* Makes pixels of io->out.channels code values from pixels of io->in.channels. */
typedef void smp_block_fn(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                          int64_t pixels);

/* Takes rows y0 .. y1-1 through fn, block by block. fn reads and writes f32 pictures in place of blocks. */
SMP_INLINE void smp_point_rows(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_block_fn *fn)
{
    float loaded[SMP_BLOCK] __attribute__((aligned(64))), made[SMP_BLOCK] __attribute__((aligned(64)));
    const int in_channels = io->in.channels, out_channels = io->out.channels;
    const int64_t in_size = smp_sample_size(io->in.format) * in_channels;
    const int64_t out_size = smp_sample_size(io->out.format) * out_channels;
    const int64_t block = SMP_BLOCK / (in_channels > out_channels ? in_channels : out_channels);
    const int64_t rows = smp_joined_rows(io, y0, y1), pixels = io->in.width * rows;
    for (int64_t y = y0; y < y1; y += rows) {
        const char *in = (const char *)smp_row(&io->in, y);
        char *out = (char *)smp_row(&io->out, y);
        for (int64_t x = 0; x < pixels; x += block, in += block * in_size, out += block * out_size) {
            const int64_t n = pixels - x < block ? pixels - x : block;
            const float *from = io->in.format == SMP_F32 ? (const float *)(const void *)in : loaded;
            float *to = io->out.format == SMP_F32 ? (float *)(void *)out : made;
            if (io->in.format != SMP_F32)
                smp_load_row(loaded, in, io->in.format, n * in_channels);
            fn(io, params, to, from, n);
            if (io->out.format != SMP_F32)
                smp_store_row(out, io->out.format, made, n * out_channels, io->clipped);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ bytes */

/* A call looks bytes up from so many samples on for each entry of its table. */
enum { SMP_TABLE_PAYS = 4 };

/* The results for all bytes. */
typedef struct smp_byte_results {
    float v[SMP_MAX_CHANNELS][256];
    uint8_t byte[SMP_MAX_CHANNELS][256];
} smp_byte_results;

/* n bytes to floats, as smp_look_up() does to bytes. The number of channels is no constant: gcc would gather. */
static __attribute__((unused)) void smp_look_up_floats(float *restrict to, const uint8_t *restrict from, int64_t n,
                                                       float (*restrict table)[256], int channels)
{
    if (channels == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = table[0][from[i]];
    else
        for (int64_t i = 0; i < n; i += channels)
            for (int c = 0; c < channels; c++)
                to[i + c] = table[c][from[i + c]];
}

/* As smp_point_rows, through a table that fn fills. differ: channels have results of their own. costly: fn takes longer
 * than a look-up of a float. Returns 0, with nothing done, where a table does not pay, for other formats, and where
 * clipped samples are to be counted and there can be some. */
SMP_INLINE int smp_byte_rows(const smp_io *io, const void *params, int64_t y0, int64_t y1, int differ, int costly,
                             smp_block_fn *fn)
{
    const int planes = differ || io->in.alpha ? io->in.channels : 1;
    if (io->in.format != SMP_U8 || !(io->out.format == SMP_U8 || (io->out.format == SMP_F32 && costly)) ||
        io->in.width * io->in.channels * (y1 - y0) < 256 * SMP_TABLE_PAYS * planes)
        return 0;
    float every[256 * SMP_MAX_CHANNELS] = {0}, made[256 * SMP_MAX_CHANNELS];
    smp_byte_results table;
    smp_io pixels = *io;
    int clips = 0;
    pixels.in.channels = pixels.out.channels = planes;
    for (int v = 0; v < 256; v++)
        for (int c = 0; c < planes; c++)
            every[planes * v + c] = (float)v;
    fn(&pixels, params, made, every, 256);
    for (int c = 0; c < planes; c++)
        for (int v = 0; v < 256; v++) {
            table.v[c][v] = made[planes * v + c];
            table.byte[c][v] = smp_to_u8(table.v[c][v]);
            clips += smp_clips(table.v[c][v], 255.f);
        }
    if (clips && io->clipped && io->out.format == SMP_U8)
        return 0;
    const int64_t rows = smp_joined_rows(io, y0, y1), n = io->in.width * rows * io->in.channels;
    for (int64_t y = y0; y < y1; y += rows)
        if (io->out.format == SMP_U8)
            smp_look_up(smp_row(&io->out, y), smp_row(&io->in, y), n, table.byte, planes);
        else
            smp_look_up_floats(smp_row(&io->out, y), smp_row(&io->in, y), n, table.v, planes);
    return 1;
}

/* ------------------------------------------------------------------------------------------------ formulas */

typedef float smp_sample_fn(float v, int channel, const void *params);

SMP_INLINE void smp_elementwise_naive(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_sample_fn *fn)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                const float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                const int passes = io->in.alpha && c == channels - 1;
                smp_put(io, smp_row(&io->out, y), x * channels + c, passes ? v : fn(v, c, params));
            }
}

/* n samples; channels is a constant, so that the channels of a pixel become neighbours in a vector. */
SMP_INLINE void smp_elementwise_pixels(float *restrict to, const float *restrict from, int64_t n, const int channels,
                                       const void *params, smp_sample_fn *fn)
{
    for (int64_t i = 0; i < n; i += channels)
        for (int c = 0; c < channels; c++)
            to[i + c] = fn(from[i + c], c, params);
}

/* A channel at a time, which vectorises for any number of channels and for long formulas. */
SMP_INLINE void smp_elementwise_planes(float *restrict to, const float *restrict from, int64_t pixels, int channels,
                                       const void *params, smp_sample_fn *fn)
{
    float plane[SMP_BLOCK] __attribute__((aligned(64)));
    for (int c = 0; c < channels; c++) {
        for (int64_t i = 0; i < pixels; i++)
            plane[i] = from[i * channels + c];
        for (int64_t i = 0; i < pixels; i++)
            plane[i] = fn(plane[i], c, params);
        for (int64_t i = 0; i < pixels; i++)
            to[i * channels + c] = plane[i];
    }
}

/* Works alpha out like a colour, which keeps the loops plain, and puts it back afterwards. */
SMP_INLINE void smp_elementwise_block(const smp_io *io, const void *params, float *restrict to,
                                      const float *restrict from, int64_t pixels, int differ, int costly,
                                      smp_sample_fn *fn)
{
    const int channels = io->in.channels;
    const int64_t n = pixels * channels;
    if (!differ || channels == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = fn(from[i], 0, params);
    else if (costly || channels > 4)
        smp_elementwise_planes(to, from, pixels, channels, params, fn);
    else if (channels == 2)
        smp_elementwise_pixels(to, from, n, 2, params, fn);
    else if (channels == 3)
        smp_elementwise_pixels(to, from, n, 3, params, fn);
    else
        smp_elementwise_pixels(to, from, n, 4, params, fn);
    if (io->in.alpha)
        for (int64_t i = channels - 1; i < n; i += channels)
            to[i] = from[i];
}

SMP_INLINE void smp_elementwise_row(void *restrict to, const int out_format, const void *restrict from,
                                    const int in_format, int64_t n, const void *params, smp_sample_fn *fn)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(to, i, out_format, fn(smp_load(from, i, in_format), 0, params));
}

/* For formulas of a few operations, whose time goes into loads and stores: no blocks between, a loop for each pair of
 * formats. Counts no clipped samples. */
SMP_INLINE void smp_elementwise_rows(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_sample_fn *fn)
{
    const int64_t channels = io->in.channels, rows = smp_joined_rows(io, y0, y1), n = io->in.width * rows * channels;
    for (int64_t y = y0; y < y1; y += rows) {
        const void *from = smp_row(&io->in, y);
        void *to = smp_row(&io->out, y);
        SMP_BY_FORMATS(io->out.format, io->in.format, smp_elementwise_row, to, from, n, params, fn);
        if (io->in.alpha)
            for (int64_t i = channels - 1; i < n; i += channels)
                smp_store(to, i, io->out.format, smp_load(from, i, io->in.format));
    }
}

/* A formula with several kinds has the field `kind`, 0 to KINDS - 1. Each kind gets loops of its own, in which `kind`
 * is a constant. `own` is a copy of the parameters. */
#define SMP_KINDS_1(own, loop) loop
#define SMP_KIND(own, number, loop)                                                                                    \
    if ((own).kind == (number)) {                                                                                      \
        (own).kind = (number);                                                                                         \
        loop;                                                                                                          \
    }
#define SMP_KINDS_2(own, loop) SMP_KIND(own, 0, loop) else SMP_KIND(own, 1, loop)
#define SMP_KINDS_3(own, loop) SMP_KINDS_2(own, loop) else SMP_KIND(own, 2, loop)
#define SMP_KINDS_4(own, loop) SMP_KINDS_3(own, loop) else SMP_KIND(own, 3, loop)
#define SMP_KINDS_5(own, loop) SMP_KINDS_4(own, loop) else SMP_KIND(own, 4, loop)
#define SMP_KINDS_6(own, loop) SMP_KINDS_5(own, loop) else SMP_KIND(own, 5, loop)

/* Both kernels of a formula. KINDS: 1, or how many kinds it has. DIFFER, an expression of the parameters `p`: whether
 * the channel matters. COSTLY, the same: whether the formula takes longer than a look-up, some ten operations. */
#define SMP_ELEMENTWISE_CPU(NAME, KINDS, DIFFER, COSTLY)                                                               \
    SMP_INLINE float NAME##_of(float v, int channel, const void *params)                                               \
    {                                                                                                                  \
        return smp_##NAME##_sample(v, channel, params);                                                                \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_naive)                                                                                       \
    {                                                                                                                  \
        smp_elementwise_naive(io, params, y0, y1, NAME##_of);                                                          \
    }                                                                                                                  \
    static void NAME##_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,     \
                             int64_t pixels)                                                                           \
    {                                                                                                                  \
        smp_##NAME own = *(const smp_##NAME *)params, *p = &own;                                                       \
        const int differ = DIFFER, costly = COSTLY;                                                                    \
        SMP_KINDS_##KINDS(own, smp_elementwise_block(io, p, to, from, pixels, differ, costly, NAME##_of));             \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_tiled)                                                                                       \
    {                                                                                                                  \
        const smp_##NAME *p = params;                                                                                  \
        if (smp_byte_rows(io, params, y0, y1, DIFFER, COSTLY, NAME##_block))                                           \
            return;                                                                                                    \
        if ((KINDS) == 1 && !(COSTLY) && !(DIFFER) && !(io->clipped && io->out.format != SMP_F32)) {                   \
            const smp_##NAME own = *p;                                                                                 \
            smp_elementwise_rows(io, &own, y0, y1, NAME##_of);                                                         \
        } else {                                                                                                       \
            smp_point_rows(io, params, y0, y1, NAME##_block);                                                          \
        }                                                                                                              \
    }

#endif
