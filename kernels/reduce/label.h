/* label: connected components. A reduction finds which pixels are foreground, as a bit plane (bits.h), and on GPUs
 * joins and measures them too; then the picture is made of io->table: a bit plane of what was kept, or the pixels'
 * numbers, uint16_t [height][width]. How GPUs join, and what their scratch picture has for that: union_find.h. It
 * holds besides
 *   records  smp_component [room]: by raw number, in raster order of first pixels
 *   raw      uint32_t [room]: the number of what is kept, 0 of the rest
 * The host gets smp_label_head and the records. */
#pragma once

#include "lib/union_find.h"
#include "reduce/bits.h"

typedef struct smp_label {
    smp_union_find sets; /* first: kernels that only join take it alone */
    float level;     /* code value from which on a pixel is foreground */
    int32_t least;   /* the same of whole code values: the smallest that is */
    int32_t numbers; /* the table has numbers */
    /* GPUs: */
    int32_t chooses;  /* some may be left out */
    int32_t tabulate; /* the table is wanted */
    int64_t least_area, most_area;
    int64_t records_at, raw_at; /* in the scratch picture, bytes */
    int64_t room;               /* records */
} smp_label;

typedef struct smp_label_head {
    uint64_t count; /* of components, before any is left out */
    uint64_t unused[7];
} smp_label_head;

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
