/* Stages that move pixels: each output pixel is one pixel of the input, or a fill, and the output may have another
 * size: crop, pad. From one inline function in the stage's header, which says where pixel (x, y) comes from, this file
 * makes the naive and the tiled CPU kernel, and gather.cuh the naive and the tiled GPU kernel. docs/add-a-stage.md
 * shows how. */
#pragma once

#include "lib/elementwise.h"

/* Source of an output pixel. */
typedef struct smp_source {
    int64_t x, y; /* a pixel of the input; its row is present (smp_node_plan.rows.add) */
    int64_t run;  /* this pixel and those to its right whose sources lie side by side in the input: at least 1 */
    /* y -1: this pixel, and the run, lie outside the input and are the stage's fill */
} smp_source;

/* Declares the CPU kernels of a stage. */
#define SMP_GATHER_DECLARE(name)                                                                                       \
    SMP_CPU_DECLARE(name##_naive);                                                                                     \
    SMP_CPU_DECLARE(name##_tiled)

#ifdef SMP_ISA
#include <string.h>

typedef smp_source smp_gather_fn(const smp_io *io, const void *params, int64_t x, int64_t y);
typedef float smp_gather_fill_fn(const void *params, int channel);

SMP_INLINE float gather_nothing(const void *params, int channel)
{
    (void)params;
    (void)channel;
    return 0.f;
}

/* The definition: pixel by pixel. */
SMP_INLINE void gather_naive(const smp_io *io, const void *params, smp_gather_fn *source, smp_gather_fill_fn *fill,
                             int64_t y0, int64_t y1)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++) {
            const smp_source from = source(io, params, x, y);
            for (int c = 0; c < channels; c++)
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        from.y < 0 ? fill(params, c)
                                   : smp_load(smp_row(&io->in, from.y), from.x * channels + c, io->in.format));
        }
}

/* n samples to another place, and to another format through a block of floats. */
SMP_INLINE void gather_samples(const smp_io *io, char *to, const char *from, int64_t n)
{
    const int64_t in = smp_sample_size(io->in.format), out = smp_sample_size(io->out.format);
    float block[SMP_BLOCK] __attribute__((aligned(64)));
    if (io->in.format == io->out.format) {
        memcpy(to, from, (size_t)(n * in));
        return;
    }
    for (int64_t i = 0; i < n; i += SMP_BLOCK) {
        const int64_t some = n - i < SMP_BLOCK ? n - i : SMP_BLOCK;
        smp_load_row(block, from + i * in, io->in.format, some);
        smp_store_row(to + i * out, io->out.format, block, some, io->clipped);
    }
}

/* n > 0 pixels of the fill. */
SMP_INLINE void gather_filled(const smp_io *io, const void *params, smp_gather_fill_fn *fill, char *to, int64_t n)
{
    const int64_t pixel = io->out.channels * smp_sample_size(io->out.format), all = n * pixel;
    for (int c = 0; c < io->out.channels; c++)
        smp_store(to, c, io->out.format, fill(params, c));
    for (int64_t done = pixel; done < all; done *= 2)
        memcpy(to + done, to, (size_t)(all - done < done ? all - done : done));
}

/* A run at a time. */
SMP_INLINE void gather_tiled(const smp_io *io, const void *params, smp_gather_fn *source, smp_gather_fill_fn *fill,
                             int64_t y0, int64_t y1)
{
    const int64_t channels = io->in.channels;
    const int64_t in = channels * smp_sample_size(io->in.format), out = channels * smp_sample_size(io->out.format);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0, run; x < io->out.width; x += run) {
            const smp_source from = source(io, params, x, y);
            run = from.run;
            if (from.y < 0)
                gather_filled(io, params, fill, (char *)smp_row(&io->out, y) + x * out, run);
            else
                gather_samples(io, (char *)smp_row(&io->out, y) + x * out,
                               (const char *)smp_row(&io->in, from.y) + from.x * in, run * channels);
        }
}

/* The kernels NAME_naive and NAME_tiled; with a fill, of the kernel parameters and a channel. */
#define SMP_GATHER_CPU(name, source) SMP_GATHER_FILL_CPU(name, source, gather_nothing)
#define SMP_GATHER_FILL_CPU(name, source, fill)                                                                        \
    SMP_CPU_KERNEL(name##_naive)                                                                                       \
    {                                                                                                                  \
        gather_naive(io, params, source, fill, y0, y1);                                                                \
    }                                                                                                                  \
    SMP_CPU_KERNEL(name##_tiled)                                                                                       \
    {                                                                                                                  \
        gather_tiled(io, params, source, fill, y0, y1);                                                                \
    }
#endif
