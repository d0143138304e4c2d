/* Banded matrices of weights: see banded_matrices.h. */
#include "stages/shared/stencil/gaussian_plan.h"

#include <string.h>

/* The weight for samples `distance` apart in a row. */
static uint32_t weight(const smp_gaussian *gaussian, int distance, int channels)
{
    const int k = distance / channels;
    return distance % channels || k > gaussian->radius || -k > gaussian->radius ? 0 : smp_banded_weight(gaussian, k);
}

/* The column of a tile that row m of the product is: a lane then ends with four columns side by side. */
static int column_of(int m)
{
    return m < 8 ? m / 2 * 4 + m % 2 : (m - 8) / 2 * 4 + 2 + m % 2;
}

/* Finds the place of a lane's register of smp_mma_u8's left operand in the matrix: its row, and its first column. */
static void place(int lane, int reg, int *row, int *column)
{
    *row = lane / 4 + reg % 2 * 8;
    *column = reg / 2 * 16 + 4 * (lane % 4);
}

void smp_banded_matrices(const smp_gaussian *gaussian, int channels, int steps, uint32_t *words)
{
    memset(words, 0, (size_t)smp_banded_words(steps) * sizeof *words);
    for (int slot = 0; slot < 128; slot++)
        for (int i = 0; i < 4; i++)
            for (int s = 0; s < steps; s++) {
                int m, byte;
                place(slot % 32, slot / 32, &m, &byte);
                byte = byte % 16 * 2 + byte / 16 * 4; /* a lane's two registers are 8 bytes side by side */
                const uint32_t w =
                    weight(gaussian, 32 * s + byte + i - smp_banded_side(steps) - column_of(m), channels);
                words[s * 128 + slot] |= (w >> 8) << 8 * i;
                words[(steps + s) * 128 + slot] |= (w & 255) << 8 * i;
            }
}
