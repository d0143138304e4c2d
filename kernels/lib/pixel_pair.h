/* Stages that make each pixel of one of the picture and one of a second picture, where there is one. A stage gives a
 * formula, in NAME.h:
 *     SMP_HOST_DEVICE float smp_NAME_pair(smp_pixel from, smp_pixel by, int channel, const smp_io *io,
 *                                         const smp_NAME *p)
 * Its parameters begin with an smp_place_at, which says where the second picture lies on the first. Pixels on which it
 * does not lie pass. Without a second picture every pixel goes through the formula, with by.v null. NAME.c makes both
 * CPU kernels of it with SMP_PAIR_CPU(NAME, ...), NAME.cu the GPU kernels with SMP_PAIR_GPU (pixel_pair.cuh). The
 * formula takes care of alpha. */
#pragma once

#include "lib/per_pixel.h"

/* The pixel of the first picture on which the first of the second lies. */
typedef struct smp_place_at {
    int64_t x, y;
} smp_place_at;

/* Columns from .. to-1 of row y of the first picture on which the second lies: all, without one. */
typedef struct smp_pair_span {
    int64_t from, to;
} smp_pair_span;
SMP_HOST_DEVICE smp_pair_span smp_pair_span_of(const smp_io *io, const smp_place_at *at, int64_t y)
{
    const int64_t width = io->in.width, end = at->x + io->second.width;
    smp_pair_span span = {0, width};
    if (!io->second.data)
        return span;
    span.from = at->x < 0 ? 0 : at->x < width ? at->x : width;
    span.to = end < span.from ? span.from : end < width ? end : width;
    if (y < at->y || y >= at->y + io->second.height)
        span.from = span.to = width;
    return span;
}

/* The channel that channel c of the result passes on: of a gray picture that gets colours, its one. (Its alpha stays
 * the last.) */
SMP_HOST_DEVICE int32_t smp_pair_channel(const smp_io *io, int32_t c)
{
    if (io->in.channels >= io->out.channels)
        return c;
    return io->in.alpha && c == io->out.channels - 1 ? io->in.channels - 1 : 0;
}

/* Every colour of a gray picture is its one. */
SMP_HOST_DEVICE int smp_pair_gray(const smp_io *io)
{
    return io->in.channels - (io->in.alpha != 0) == 1;
}

#ifdef SMP_ISA

#include <string.h>

typedef float smp_pair_fn(smp_pixel from, smp_pixel by, int channel, const smp_io *io, const void *params);

SMP_INLINE void smp_pair_naive(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_pair_fn *fn)
{
    const smp_place_at *at = params;
    const smp_view *second = &io->second;
    const int channels = io->in.channels, others = second->data ? second->channels : 0;
    for (int64_t y = y0; y < y1; y++) {
        const smp_pair_span span = smp_pair_span_of(io, at, y);
        for (int64_t x = 0; x < io->in.width; x++) {
            const int meet = x >= span.from && x < span.to;
            float v[SMP_MAX_CHANNELS], w[SMP_MAX_CHANNELS] = {0};
            for (int c = 0; c < channels; c++)
                v[c] = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
            for (int c = 0; c < others && meet; c++)
                w[c] = smp_load(smp_row(second, y - at->y), (x - at->x) * others + c, second->format);
            const smp_pixel from = {v, smp_pair_gray(io) ? 0 : 1, channels, channels, v[channels - 1]};
            const smp_pixel by = {others ? w : NULL, 1, others, others, others ? w[others - 1] : 0.f};
            for (int c = 0; c < io->out.channels; c++)
                smp_put(io, smp_row(&io->out, y), x * io->out.channels + c,
                        meet ? fn(from, by, c, io, params) : v[smp_pair_channel(io, c)]);
        }
    }
}

/* Pixels x .. end-1 of row y of a gray picture, which pass and get colours. */
static __attribute__((noinline, unused)) void smp_pair_color(const smp_io *io, int64_t y, int64_t x, int64_t end)
{
    for (; x < end; x++)
        for (int c = 0; c < io->out.channels; c++)
            smp_put(io, smp_row(&io->out, y), x * io->out.channels + c,
                    smp_load(smp_row(&io->in, y), x * io->in.channels + smp_pair_channel(io, c), io->in.format));
}

/* Pixels x .. end-1 of row y, which pass. */
static __attribute__((noinline, unused)) void smp_pair_copy(const smp_io *io, int64_t y, int64_t x, int64_t end)
{
    const int64_t channels = io->in.channels, n = (end - x) * channels;
    const int64_t in = smp_sample_size(io->in.format), out = smp_sample_size(io->out.format);
    const char *from = (const char *)smp_row(&io->in, y) + x * channels * in;
    char *to = (char *)smp_row(&io->out, y) + x * channels * out;
    float block[SMP_BLOCK] __attribute__((aligned(64)));
    if (channels != io->out.channels) {
        smp_pair_color(io, y, x, end);
        return;
    }
    if (n > 0 && io->in.format == io->out.format) {
        memcpy(to, from, (size_t)(n * in));
        return;
    }
    for (int64_t i = 0; i < n; i += SMP_BLOCK) {
        const int64_t some = n - i < SMP_BLOCK ? n - i : SMP_BLOCK;
        smp_load_row(block, from + i * in, io->in.format, some);
        smp_store_row(to + i * out, io->out.format, block, some, io->clipped);
    }
}

/* tiled: blocks of both pictures as one plane a channel. */
SMP_INLINE void smp_pair_tiled(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_pair_fn *fn)
{
    float row[SMP_BLOCK] __attribute__((aligned(64))), planes[SMP_BLOCK] __attribute__((aligned(64)));
    float others[SMP_BLOCK] __attribute__((aligned(64))), plane[SMP_BLOCK] __attribute__((aligned(64)));
    const smp_place_at *at = params;
    const smp_view *second = &io->second;
    const int gray = smp_pair_gray(io), ins = io->in.channels, outs = io->out.channels,
              bys = second->data ? second->channels : 0;
    const int most = ins > outs ? (ins > bys ? ins : bys) : outs > bys ? outs : bys;
    const int64_t block = SMP_BLOCK / most / 16 * 16;
    for (int64_t y = y0; y < y1; y++) {
        const smp_pair_span span = smp_pair_span_of(io, at, y);
        smp_pair_copy(io, y, 0, span.from);
        for (int64_t x = span.from; x < span.to; x += block) {
            const int64_t n = span.to - x < block ? span.to - x : block, step = gray ? 0 : n;
            const char *in = smp_row(&io->in, y);
            smp_load_row(row, in + x * ins * smp_sample_size(io->in.format), io->in.format, n * ins);
            smp_pixel_part(planes, row, n, ins);
            if (bys) {
                const char *by = smp_row(second, y - at->y);
                smp_load_row(row, by + (x - at->x) * bys * smp_sample_size(second->format), second->format, n * bys);
                smp_pixel_part(others, row, n, bys);
            }
            const float *last = planes + (ins - 1) * n, *other = bys ? others + (bys - 1) * n : planes;
            for (int c = 0; c < outs; c++) {
                if (bys)
                    for (int64_t i = 0; i < n; i++)
                        plane[i] = fn((smp_pixel){planes + i, step, ins, ins, last[i]},
                                      (smp_pixel){others + i, n, bys, bys, other[i]}, c, io, params);
                else
                    for (int64_t i = 0; i < n; i++)
                        plane[i] = fn((smp_pixel){planes + i, step, ins, ins, last[i]}, (smp_pixel){NULL, 0, 0, 0, 0.f},
                                      c, io, params);
                smp_pixel_join(row + c, plane, n, outs);
            }
            char *to = smp_row(&io->out, y);
            smp_store_row(to + x * outs * smp_sample_size(io->out.format), io->out.format, row, n * outs, io->clipped);
        }
        smp_pair_copy(io, y, span.to > span.from ? span.to : span.from, io->in.width);
    }
}

/* Both kernels of a formula. KINDS as in lib/elementwise.h. */
#define SMP_PAIR_CPU(NAME, KINDS)                                                                                      \
    SMP_INLINE float NAME##_of(smp_pixel from, smp_pixel by, int channel, const smp_io *io, const void *params)        \
    {                                                                                                                  \
        return smp_##NAME##_pair(from, by, channel, io, params);                                                       \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_naive)                                                                                       \
    {                                                                                                                  \
        smp_pair_naive(io, params, y0, y1, NAME##_of);                                                                 \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_tiled)                                                                                       \
    {                                                                                                                  \
        smp_##NAME own = *(const smp_##NAME *)params;                                                                  \
        const smp_io views = *io;                                                                                      \
        SMP_KINDS_##KINDS(own, smp_pair_tiled(&views, &own, y0, y1, NAME##_of));                                       \
    }

#endif
