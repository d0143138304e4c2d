/* stack: the same place of several pictures, whose rows come in turn: each output row is made of `count` input rows,
 * the last of as many as are left. Floats are ordered as by IEEE totalOrder, every NaN last. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_STACK_MEAN, SMP_STACK_MEDIAN, SMP_STACK_LEAST, SMP_STACK_MOST, SMP_STACK_SUM };
enum { SMP_STACK_BLOCK = 256 /* samples that a CPU takes at a time, */, SMP_STACK_NARROW = 32 /* but not of so few */ };

typedef struct smp_stack {
    int64_t count;
    int32_t how, unused;
} smp_stack;

/* A sample as an unsigned integer of the same order; and back. */
SMP_FORMULA uint32_t smp_stack_key(float v)
{
    const uint32_t bits = smp_bits(smp_one_nan(v));
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}
SMP_FORMULA float smp_stack_value(uint32_t key)
{
    return smp_from_bits(key ^ ((uint32_t)((int32_t)~key >> 31) | 0x80000000u));
}

SMP_FORMULA float smp_stack_mean(double sum, int64_t n, int32_t how)
{
    return smp_one_nan((float)(how == SMP_STACK_SUM ? sum : sum / (double)n));
}

/* Of an even number the mean of the two in the middle. */
SMP_FORMULA float smp_stack_middle(uint32_t low, uint32_t high)
{
    const float a = smp_stack_value(low), b = smp_stack_value(high);
    return low == high ? a : smp_one_nan((float)(((double)a + (double)b) / 2));
}

/* Input rows of output row y. */
SMP_HOST_DEVICE int64_t smp_stack_rows(const smp_io *io, const smp_stack *p, int64_t y)
{
    const int64_t left = io->in.height - y * p->count;
    return p->count < left ? p->count : left;
}

/* The key that `rank` others stand before, of n rows from `first` on: bit by bit, whatever n is. */
SMP_HOST_DEVICE uint32_t smp_stack_ranked(const smp_io *io, int64_t first, int64_t n, int64_t rank, int64_t i,
                                          int format)
{
    uint32_t key = 0;
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        int64_t below = 0;
        for (int64_t j = first; j < first + n; j++)
            below += smp_stack_key(smp_load(smp_row(&io->in, j), i, format)) < (key | bit);
        key |= below <= rank ? bit : 0;
    }
    return key;
}

/* Sample i of output row y. */
SMP_HOST_DEVICE float smp_stack_sample(const smp_io *io, const smp_stack *p, int64_t y, int64_t i, int format)
{
    const int64_t first = y * p->count, n = smp_stack_rows(io, p, y);
    if (p->how == SMP_STACK_MEDIAN)
        return smp_stack_middle(smp_stack_ranked(io, first, n, (n - 1) / 2, i, format),
                                smp_stack_ranked(io, first, n, n / 2, i, format));
    const uint32_t turn = p->how == SMP_STACK_MOST ? UINT32_MAX : 0;
    uint32_t least = UINT32_MAX;
    double sum = 0;
    for (int64_t j = first; j < first + n; j++) {
        const float v = smp_load(smp_row(&io->in, j), i, format);
        const uint32_t key = smp_stack_key(v) ^ turn;
        sum += (double)v;
        least = key < least ? key : least;
    }
    return p->how == SMP_STACK_LEAST || p->how == SMP_STACK_MOST ? smp_stack_value(least ^ turn)
                                                                 : smp_stack_mean(sum, n, p->how);
}

SMP_CPU_DECLARE(stack_naive);
SMP_CPU_DECLARE(stack_tiled);
