/* label: connected components. A reduction finds which pixels are foreground, as a bit plane (bits.h), and on GPUs
 * joins and measures them too; then the picture is made of io->table: a bit plane of what was kept, or the pixels'
 * numbers, uint16_t [height][width].
 *
 * On GPUs the scratch picture holds, at the places that smp_label has:
 *   slots    uint32_t [height][words][SMP_LABEL_RUNS]: a slot for each run of set bits in a word, in raster order. Its
 *            number is that of the slot from the beginning. While components are joined, a slot holds the number of
 *            another of its component, smaller than its own, or its own: a root (union-find, whose representative is
 *            the smallest: any order of joining gives the same). See label_slots.cuh.
 *   counts   uint32_t [SMP_LABEL_CHUNKS]: of roots, or of components to keep, in the chunks of a launch
 *   records  smp_component [room]: by raw number, in raster order of first pixels
 *   raw      uint32_t [room]: the number of what is kept, 0 of the rest
 *   table    as io->table
 * The result is the bit plane, and at head_at how many bytes of the scratch picture the host gets: smp_label_head and
 * the records; 0 where the host joins (there is no room for so many components, or no scratch picture). */
#ifndef SMP_KERNELS_REDUCE_LABEL_H
#define SMP_KERNELS_REDUCE_LABEL_H

#include "reduce/bits.h"

typedef struct smp_label {
    float level;     /* code value from which on a pixel is foreground */
    int32_t least;   /* the same of whole code values: the smallest that is */
    int32_t numbers; /* the table has numbers */
    /* GPUs: */
    int32_t near;     /* 1: pixels that touch at corners belong together */
    int32_t joins;    /* slots have numbers of 31 bits */
    int32_t chooses;  /* some may be left out */
    int32_t tabulate; /* the table is wanted */
    int64_t least_area, most_area;
    int64_t head_at;                                                        /* in the result, bytes */
    int64_t records_at, raw_at, counts_at, table_at, slots_at, scratch_end; /* in the scratch picture, bytes */
    int64_t room;                                                           /* records */
} smp_label;

enum {
    SMP_LABEL_RUNS = 16,     /* of a word, at most */
    SMP_LABEL_ACROSS = 4,    /* words of a tile */
    SMP_LABEL_DOWN = 32,     /* rows of a tile; where strips begin */
    SMP_LABEL_THREADS = 128, /* a word each: a tile */
    SMP_LABEL_BLOCK = 256,   /* threads of launches over words or records */
    SMP_LABEL_CHUNKS = 4096  /* at most, in which these are numbered */
};

typedef struct smp_label_head {
    uint64_t count; /* of components, before any is left out */
    uint64_t unused[7];
} smp_label_head;

/* Items of a chunk, of `items` in all: whole blocks of threads. */
SMP_HOST_DEVICE int64_t smp_label_chunk(int64_t items)
{
    const int64_t unit = (int64_t)SMP_LABEL_CHUNKS * SMP_LABEL_BLOCK;
    return (items > unit ? (items + unit - 1) / unit : 1) * SMP_LABEL_BLOCK;
}

/* Whether pixel x of a row is foreground. NaN is not. */
SMP_HOST_DEVICE int smp_label_foreground(const smp_label *p, const smp_view *in, const void *row, int64_t x)
{
    return smp_load(row, x * in->channels, in->format) >= p->level;
}

/* Sample i of row y of the picture. Numbers have one channel. */
SMP_HOST_DEVICE float smp_label_sample(const smp_label *p, const smp_io *io, int64_t y, int64_t i)
{
    return p->numbers ? (float)((const uint16_t *)io->table)[y * io->out.width + i] : smp_bits_sample(io, y, i);
}

SMP_CPU_DECLARE(label_bits_naive);
SMP_CPU_DECLARE(label_bits_tiled);
SMP_CPU_DECLARE(label_naive);
SMP_CPU_DECLARE(label_tiled);

#endif
