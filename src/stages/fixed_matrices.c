/* Banded matrices of weights: see fixed_matrices.h. */
#include "stages/fixed_matrices.h"

#include <string.h>

/* The weight for samples `distance` apart in a row. */
static uint32_t across(const smp_bell *bell, int distance, int channels)
{
    const int k = distance / channels;
    return distance % channels || k > bell->radius || -k > bell->radius ? 0 : smp_fixed_weight(bell, k);
}

static uint32_t down(const smp_bell *bell, int distance)
{
    return across(bell, distance, 1);
}

/* The column of a tile that row m of the first product is: a lane then ends with four columns side by side. */
static int column_of(int m)
{
    return m < 8 ? m / 2 * 4 + m % 2 : (m - 8) / 2 * 4 + 2 + m % 2;
}

void smp_fixed_matrices(const smp_bell *bell, int channels, int steps, uint32_t *words)
{
    memset(words, 0, (size_t)smp_fixed_words(steps) * sizeof *words);
    for (int lane = 0; lane < 32; lane++)
        for (int reg = 0; reg < 4; reg++)
            for (int i = 0; i < 4; i++) {
                const int t = lane % 4, m = lane / 4 + reg % 2 * 8, half = reg / 2 * 16;
                const int slot = reg * 32 + lane, bits = 8 * i;
                for (int s = 0; s < steps; s++) {
                    const int byte = 32 * s + half + 4 * t + i;
                    const uint32_t w = across(bell, byte - smp_fixed_side(steps) - column_of(m), channels);
                    words[s * 128 + slot] |= (w >> 8) << bits;
                    words[(steps + s) * 128 + slot] |= (w & 255) << bits;
                }
                /* The first product's results are the rows 2t, 2t + 1 of two halves of 8, of the 16 rows before and of
                 * the 16 that are new. Output row m has its middle in row 8 + m. */
                const int row = half + (i < 2 ? 0 : 8) + 2 * t + i % 2;
                const uint32_t w = down(bell, row - 8 - m);
                words[2 * steps * 128 + slot] |= (w >> 8) << bits;
                words[(2 * steps + 1) * 128 + slot] |= (w & 255) << bits;
            }
}
