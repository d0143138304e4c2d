/* What kernels that work pixel by pixel share on the CPU: a row is taken in blocks that stay in the first-level cache,
 * as f32 code values, so that the arithmetic is one vectorised loop whatever the storage on either side. */
#ifndef SMP_KERNELS_POINT_H
#define SMP_KERNELS_POINT_H

#include "lib/cpu_kernel.h"

#ifdef SMP_ISA

enum { SMP_BLOCK = 1024 }; /* samples of a block: two of 4 KiB fit every first-level cache */

/* Stores one code value, counting it when the store clamps. */
SMP_INLINE void smp_put(const smp_io *io, void *row, int64_t i, float v)
{
    if (io->clipped && io->out.format != SMP_F32)
        *io->clipped += (uint64_t)smp_clips(v, io->out.format == SMP_U8 ? 255.f : 65535.f);
    smp_store(row, i, io->out.format, v);
}

/* The rows from y on that lie end to end in both pictures, and so are one long row (sound, above all); else 1. */
SMP_INLINE int64_t smp_joined_rows(const smp_io *io, int64_t y0, int64_t y1)
{
    int64_t in = io->in.width * io->in.channels * smp_sample_size(io->in.format);
    int64_t out = io->out.width * io->out.channels * smp_sample_size(io->out.format);
    return io->in.stride == in && io->out.stride == out ? y1 - y0 : 1;
}

/* pixels of io->in.channels code values to pixels of io->out.channels. */
typedef void smp_block_fn(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                          int64_t pixels);

/* Rows y0 .. y1-1 through fn, which should be always-inline. */
SMP_INLINE void smp_point_rows(const smp_io *io, const void *params, int64_t y0, int64_t y1, smp_block_fn *fn)
{
    float from[SMP_BLOCK] __attribute__((aligned(64))), to[SMP_BLOCK] __attribute__((aligned(64)));
    int in_channels = io->in.channels, out_channels = io->out.channels;
    int64_t in_size = smp_sample_size(io->in.format) * in_channels;
    int64_t out_size = smp_sample_size(io->out.format) * out_channels;
    int64_t block = SMP_BLOCK / (in_channels > out_channels ? in_channels : out_channels);
    int64_t rows = smp_joined_rows(io, y0, y1);
    for (int64_t y = y0; y < y1; y += rows) {
        const char *in = (const char *)smp_row(&io->in, y);
        char *out = (char *)smp_row(&io->out, y);
        int64_t pixels = io->in.width * rows;
        for (int64_t x = 0; x < pixels; x += block) {
            int64_t n = pixels - x < block ? pixels - x : block;
            smp_load_row(from, in + x * in_size, io->in.format, n * in_channels);
            fn(io, params, to, from, n);
            smp_store_row(out + x * out_size, io->out.format, to, n * out_channels, io->clipped);
        }
    }
}

#endif

#endif
