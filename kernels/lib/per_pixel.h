/* Stages in which the channels of a pixel meet, and nothing else does. A stage gives a formula, in NAME.h:
 *     SMP_HOST_DEVICE float smp_NAME_pixel(smp_pixel from, int channel, const smp_io *io, const smp_NAME *p)
 * It makes one channel of the result. NAME.c makes both CPU kernels of it with SMP_PIXEL_CPU(NAME, ...), NAME.cu the
 * GPU kernels with SMP_PIXEL_GPU (per_pixel.cuh). The formula takes care of alpha. */
#pragma once

#include "lib/tuning.h"
#include "lib/view.h"

/* Channel c of a pixel is v[c * step]. A formula loops over c < most, a constant, and leaves out c >= channels: GPUs
 * unroll such a loop and keep the pixel in registers. On CPUs both numbers are equal. */
typedef struct smp_pixel {
    const float *v;
    int64_t step;
    int32_t channels; /* that the formula reads */
    int32_t most;
    float last; /* the last channel of the input: alpha, where there is one */
} smp_pixel;

/* Pixels of a tile: as many as fit on the wider side, a multiple of 16, so that each tile of a row starts on 16 bytes
 * when the row does. At least 256. */
SMP_HOST_DEVICE int64_t smp_pixel_tile(const smp_io *io)
{
    int64_t in = io->in.channels * smp_sample_size(io->in.format);
    int64_t out = io->out.channels * smp_sample_size(io->out.format);
    return SMP_PIXEL_TILE / (in > out ? in : out) / 16 * 16;
}

#ifdef SMP_ISA

#include "lib/constants.h"
#include "lib/elementwise.h"

typedef float smp_pixel_fn(smp_pixel from, int channel, const smp_io *io, const void *params);

SMP_INLINE void smp_pixel_naive(const smp_io *io, const void *params, int64_t y0, int64_t y1, int reads,
                                smp_pixel_fn *fn)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            float v[SMP_MAX_CHANNELS];
            for (int c = 0; c < channels; c++)
                v[c] = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
            const smp_pixel from = {v, 1, reads, reads, v[channels - 1]};
            for (int c = 0; c < io->out.channels; c++)
                smp_put(io, smp_row(&io->out, y), x * io->out.channels + c, fn(from, c, io, params));
        }
}

SMP_INLINE void smp_pixel_part_by(float *restrict planes, const float *restrict from, int64_t pixels,
                                  const int channels)
{
    for (int64_t i = 0; i < pixels; i++)
        for (int c = 0; c < channels; c++)
            planes[c * pixels + i] = from[i * channels + c];
}

/* Pixels into one plane a channel. */
SMP_APART void smp_pixel_part(float *restrict planes, const float *restrict from, int64_t pixels,
                              int channels){SMP_BY_CHANNELS(channels, smp_pixel_part_by(planes, from, pixels, N))}

SMP_INLINE void smp_pixel_join_by(float *restrict to, const float *restrict plane, int64_t pixels, const int channels)
{
    for (int64_t i = 0; i < pixels; i++)
        to[i * channels] = plane[i];
}

/* A plane into one channel of pixels. */
SMP_APART void smp_pixel_join(float *restrict to, const float *restrict plane, int64_t pixels,
                              int channels){SMP_BY_CHANNELS(channels, smp_pixel_join_by(to, plane, pixels, N))}

SMP_INLINE void smp_pixel_plane(float *restrict plane, const float *restrict planes, int64_t pixels, int channel,
                                const int reads, const smp_io *io, const void *params, smp_pixel_fn *fn)
{
    const float *last = planes + (io->in.channels - 1) * pixels;
    for (int64_t i = 0; i < pixels; i++)
        plane[i] = fn((smp_pixel){planes + i, pixels, reads, reads, last[i]}, channel, io, params);
}

/* tiled: the channels of a block lie in planes of their own, so that loops vectorise whatever their number. */
SMP_INLINE void smp_pixel_planes(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                                 int64_t pixels, int reads, smp_pixel_fn *fn)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), plane[SMP_BLOCK] __attribute__((aligned(64)));
    smp_pixel_part(planes, from, pixels, io->in.channels);
    for (int c = 0; c < io->out.channels; c++) {
        SMP_BY_CHANNELS(reads, smp_pixel_plane(plane, planes, pixels, c, N, io, params, fn))
        smp_pixel_join(to + c, plane, pixels, io->out.channels);
    }
}

/* READS: how many channels the formula reads: `io->in.channels`, or an expression of the parameters `params`. */
#define SMP_PIXEL_CPU_NAIVE(NAME, READS)                                                                               \
    SMP_INLINE float NAME##_of(smp_pixel from, int channel, const smp_io *io, const void *params)                      \
    {                                                                                                                  \
        return smp_##NAME##_pixel(from, channel, io, params);                                                          \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_naive)                                                                                       \
    {                                                                                                                  \
        smp_pixel_naive(io, params, y0, y1, READS, NAME##_of);                                                         \
    }

/* Both kernels of a formula. */
#define SMP_PIXEL_CPU(NAME, READS)                                                                                     \
    SMP_PIXEL_CPU_NAIVE(NAME, READS)                                                                                   \
    static void NAME##_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,     \
                             int64_t pixels)                                                                           \
    {                                                                                                                  \
        smp_pixel_planes(io, params, to, from, pixels, READS, NAME##_of);                                              \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_tiled)                                                                                       \
    {                                                                                                                  \
        smp_point_rows(io, params, y0, y1, NAME##_block);                                                              \
    }

#endif
