/* label: connected components. Two launches surround what the host does: label_bits, which pixels are foreground, as a
 * bit plane (bits.h); and the picture, of io->table: a bit plane of what was kept, or the pixels' numbers, uint16_t
 * [height][width]. */
#ifndef SMP_KERNELS_REDUCE_LABEL_H
#define SMP_KERNELS_REDUCE_LABEL_H

#include "reduce/bits.h"

typedef struct smp_label {
    float level;     /* code value from which on a pixel is foreground */
    int32_t least;   /* the same of whole code values: the smallest that is */
    int32_t numbers; /* the table has numbers */
} smp_label;

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
