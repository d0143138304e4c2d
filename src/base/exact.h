/* Sums of doubles that do not depend on the order of their terms: every bit of every term is kept, in a fixed-point
 * number over the whole range of doubles (U. Kulisch, Computer Arithmetic and Validity, ch. 8), and is rounded once,
 * when the sum is read. Equal sums are equal bytes. 560 bytes each. */
#pragma once

#include "base/pack.h"

enum {
    SMP_EXACT_DIGITS = 70,
    SMP_EXACT_LOW = -1152 /* the power of 2 of the lowest digit; the smallest double is 2^-1074 */
};

/* Zeroed: the sum of nothing. Sums of 2^63 of the largest doubles fit. */
typedef struct smp_exact {
    int64_t digit[SMP_EXACT_DIGITS]; /* to base 2^32: 0..2^32-1 but for the highest, which has the sign */
} smp_exact;

/* Adds v; NaN and infinities add nothing. */
void smp_exact_add(smp_exact *sum, double v);
void smp_exact_join(smp_exact *sum, const smp_exact *more);

/* The sum as *high + *low: the nearest double, ties to even, and the nearest to what is left. */
void smp_exact_read(const smp_exact *sum, double *high, double *low);

/* Digits from the first to the last that is not 0. False: no sum that smp_exact_pack wrote; *sum is then 0. */
void smp_exact_pack(const smp_exact *sum, smp_packer *to);
bool smp_exact_unpack(smp_unpacker *from, smp_exact *sum);
