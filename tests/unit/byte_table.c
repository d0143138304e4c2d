/* The ways of kernels/byte_table.h, compiled as kernels are for the instruction set SMP_ISA: test_byte_table takes each
 * by itself, where a processor takes the fastest that it has. */
#include "byte_table.h"

int64_t SMP_PASTE(look_up_vectors, SMP_ISA)(uint8_t *to, const uint8_t *from, int64_t n, uint8_t (*table)[256],
                                            int channels);
int64_t SMP_PASTE(look_up_vectors, SMP_ISA)(uint8_t *to, const uint8_t *from, int64_t n, uint8_t (*table)[256],
                                            int channels)
{
    (void)channels;
    return smp_look_up_vectors(to, from, n, table[0]);
}

#ifdef __AVX512BW__
int64_t look_up_permuted(uint8_t *to, const uint8_t *from, int64_t n, uint8_t (*table)[256], int channels);
int64_t look_up_permuted(uint8_t *to, const uint8_t *from, int64_t n, uint8_t (*table)[256], int channels)
{
    return smp_permute(to, from, n, table, channels);
}
#endif
