/* The ways of kernels/lib/byte_lut.h, compiled as kernels are for the instruction set SMP_ISA: ../byte_lut.c takes
 * each by itself, where a processor takes the fastest that it has. */
#include "lib/byte_lut.h"

typedef uint8_t table_type[256];

/* channels: 1, as the other way's argument list wants. */
int64_t SMP_PASTE(look_up_vectors, SMP_ISA)(uint8_t *to, const uint8_t *from, int64_t n, table_type *table,
                                            int channels);
int64_t SMP_PASTE(look_up_vectors, SMP_ISA)(uint8_t *to, const uint8_t *from, int64_t n, table_type *table,
                                            int channels)
{
    return channels == 1 ? smp_look_up_vectors(to, from, n, table[0]) : -1;
}

#ifdef __AVX512BW__
int64_t look_up_permuted(uint8_t *to, const uint8_t *from, int64_t n, table_type *table, int channels);
int64_t look_up_permuted(uint8_t *to, const uint8_t *from, int64_t n, table_type *table, int channels)
{
    return smp_permute(to, from, n, table, channels);
}
#endif
