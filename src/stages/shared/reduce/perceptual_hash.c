/* See perceptual_hash.h. */
#include "stages/shared/reduce/perceptual_hash.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

enum { LOW = 8 /* frequencies each way */ };

uint64_t smp_dhash(const uint8_t *gray)
{
    uint64_t hash = 0;
    for (int y = 0; y < SMP_DHASH_DOWN; y++)
        for (int x = 0; x + 1 < SMP_DHASH_ACROSS; x++)
            hash = hash << 1 | (uint64_t)(gray[y * SMP_DHASH_ACROSS + x + 1] > gray[y * SMP_DHASH_ACROSS + x]);
    return hash;
}

/* DCT-II, rounded, so that what cancels is 0 whatever order it is added in. */
uint64_t smp_phash(const uint8_t *gray)
{
    static const double quarter = 0.78539816339744831, grain = 1024;
    double rows[SMP_PHASH_SIDE][LOW], low[LOW * LOW], sorted[LOW * LOW];
    uint64_t hash = 0;
    for (int y = 0; y < SMP_PHASH_SIDE; y++)
        for (int k = 0; k < LOW; k++) {
            rows[y][k] = 0;
            for (int x = 0; x < SMP_PHASH_SIDE; x++)
                rows[y][k] += gray[y * SMP_PHASH_SIDE + x] * cos(quarter * 2 * k * (2 * x + 1) / SMP_PHASH_SIDE);
        }
    for (int k = 0; k < LOW * LOW; k++) {
        double sum = 0;
        for (int y = 0; y < SMP_PHASH_SIDE; y++)
            sum += rows[y][k % LOW] * cos(quarter * 2 * (k / LOW) * (2 * y + 1) / SMP_PHASH_SIDE);
        sorted[k] = low[k] = rint(sum * grain);
    }
    qsort(sorted + 1, LOW * LOW - 1, sizeof *sorted, smp_by_double);
    for (int k = 0; k < LOW * LOW; k++)
        hash = hash << 1 | (uint64_t)(low[k] > sorted[LOW * LOW / 2]);
    return hash;
}
