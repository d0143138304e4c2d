/* Order statistics: the r-th smallest of the samples under a shape. Samples are compared as unsigned keys: integers as
 * they are, floats by the bits that order like IEEE totalOrder, every NaN last. No sample is computed, so that every
 * method gives the same sample. Squares of 3 and 5 have networks: median.h. */
#pragma once

#include "stencil/median.h"
#include "stencil/morph.h"

enum { SMP_RANK_MOST = 255 }; /* pixels on a side: the samples of a square are counted in 16 bits */

typedef struct smp_rank {
    smp_window window; /* of the square that holds the shape; all that the networks read */
    int32_t rank;      /* from 0 */
    int32_t count;     /* samples under the shape */
    smp_morph shape;   /* its chords, and the edge */
} smp_rank;

/* Whether a network of median.h selects it. */
SMP_HOST_DEVICE int smp_rank_network(const smp_rank *r)
{
    return r->window.size <= 5 && r->shape.shape == SMP_SHAPE_SQUARE && r->rank == r->count / 2;
}

SMP_HOST_DEVICE uint32_t smp_rank_key(float v)
{
    const uint32_t bits = smp_bits(smp_one_nan(v));
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}
SMP_HOST_DEVICE float smp_rank_value(uint32_t key)
{
    return smp_from_bits(key ^ (key & 0x80000000u ? 0x80000000u : 0xffffffffu));
}

/* The definition, eight bits at a time: which of 256 classes of keys holds the rank, and the rank in that class. */
SMP_HOST_DEVICE float smp_rank_window(const smp_io *io, const smp_rank *r, int64_t y, int64_t i)
{
    const int64_t x = i / io->in.channels;
    const int c = (int)(i - x * io->in.channels), ry = r->shape.ry;
    const float outside = smp_morph_outside(&r->shape, io->in.white);
    uint32_t prefix = 0;
    int32_t left = r->rank;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int32_t counts[256] = {0}, digit = 0;
        for (int dy = -ry; dy <= ry; dy++) {
            const int chord = smp_morph_chord(&r->shape, dy);
            for (int dx = -chord; dx <= chord; dx++) {
                const uint32_t key = smp_rank_key(smp_at_border(&io->in, x + dx, y + dy, c, r->shape.edge, outside));
                if (shift == 24 || key >> (shift + 8) == prefix)
                    counts[key >> shift & 255]++;
            }
        }
        while (left >= counts[digit])
            left -= counts[digit++];
        prefix = prefix << 8 | (uint32_t)digit;
    }
    return smp_rank_value(prefix);
}

/* CPU scratch, bytes a thread: rows of keys of a tile with its halo, each 32 bits, counts and candidates of a row; or
 * the histograms of a tile's columns and one of a window. */
enum { SMP_RANK_TILE = 256, SMP_RANK_COLUMNS = 128 };
SMP_HOST_DEVICE int64_t smp_rank_pitch(const smp_rank *r, int channels)
{
    return (SMP_RANK_TILE + 2 * (int64_t)r->shape.rx * channels + 31) / 16 * 16;
}
SMP_HOST_DEVICE size_t smp_rank_scratch(const smp_rank *r, int channels)
{
    const size_t rows = (size_t)(smp_rank_pitch(r, channels) * (r->window.size + 2) * 4);
    const size_t columns = (size_t)(SMP_RANK_COLUMNS + r->window.size) * (256 + 16) * sizeof(uint16_t);
    const size_t network = smp_window_scratch(&r->window, channels);
    const size_t most = rows > columns ? rows : columns;
    return most > network ? most : network;
}

/* GPU: the largest side whose tile lies in shared memory, 32 samples by 16 rows with the halo, as keys. */
enum { SMP_RANK_TILED = 15, SMP_RANK_ACROSS = 32, SMP_RANK_DOWN = 16 };
SMP_HOST_DEVICE uint32_t smp_rank_shared(const smp_rank *r, int channels)
{
    const int64_t halo = 2 * (int64_t)r->shape.rx;
    const int64_t bytes = (SMP_RANK_ACROSS + halo * channels) * (SMP_RANK_DOWN + halo) * 4;
    return r->window.size <= SMP_RANK_TILED && bytes <= SMP_MORPH_SHARED ? (uint32_t)bytes : 0;
}

/* GPU, bytes: a block is a warp, a lane a column of samples, so many rows down; its histogram has its own bank. */
enum { SMP_RANK_LANES = 32, SMP_RANK_ROWS = 64 };

/* GPU, median_warp.cu: rows of a band with its halo. Instructions bind, and rows of halo are sorted twice. */
enum { SMP_MEDIAN_BAND = 64 };

/* GPU: whether the kernels of median_warp.cu, one warp a strip, take this launch: a side of 3, and 5 of bytes of
 * up to three channels. The border value must be zero; offsets in a row have 32 bits. */
SMP_HOST_DEVICE int smp_rank_warp(const smp_rank *r, const smp_io *io)
{
    const int channels = io->in.channels, format = io->in.format;
    return smp_rank_network(r) && smp_rows_aligned(io) && format == io->out.format &&
           (format == SMP_U8 || (format == SMP_U16 && r->window.size == 3)) &&
           (channels == 1 || channels == 3 || (channels == 4 && r->window.size == 3)) &&
           (r->window.edge != SMP_CONSTANT || r->window.fill == 0.f) && io->in.width * channels <= 1 << 30;
}

SMP_CPU_DECLARE(rank_naive);
SMP_CPU_DECLARE(rank_tiled);
#ifdef SMP_ISA
int SMP_PASTE(rank_bytes, SMP_ISA)(const smp_io *io, const smp_rank *r, void *scratch, int64_t y0, int64_t y1);
#endif
