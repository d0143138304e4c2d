/* The histogram's kernel takes bytes by pairs or one by one, as the processor's first-level cache is large or small:
 * both ways are tested on every processor, with a cache that this file pretends. */
#include <stdlib.h>
#include <unistd.h>

static long first_cache; /* bytes; 0: unknown */

#define SMP_ISA       test
#define sysconf(name) first_cache
#include "suite.h"

#include "reduce/histogram.c"

enum { WIDTH = 1000 /* no whole number of blocks of pairs */, ROWS = SMP_HISTOGRAM_PAIRS_FROM / WIDTH + 3, BINS = 256 };

/* Noise, one value only, two in turn, noise of few values, which makes single pairs count past 255, and runs, of noise
 * and of few values. */
enum { KINDS = 6 };
static void fill(uint8_t *samples, int kind)
{
    uint32_t state = 1;
    for (int i = 0; i < WIDTH * ROWS; i++) {
        if (kind < 4 || i % (kind == 4 ? 11 : 6) == 0)
            state = state * 1664525 + 1013904223;
        const uint8_t noise = (uint8_t)(state >> 24), few = noise & 3;
        const uint8_t kinds[KINDS] = {noise, 77, (uint8_t)(i % 2 * 200), few, noise, few};
        samples[i] = kinds[kind];
    }
}

SMP_TEST(both_ways_count_what_naive_counts)
{
    uint8_t *samples = malloc(WIDTH * ROWS);
    void *scratch = aligned_alloc(64, 1 << 20);
    assert_true(samples && scratch);
    const smp_view view = {.data = samples,
                           .stride = WIDTH,
                           .width = WIDTH,
                           .height = ROWS,
                           .rows = ROWS,
                           .channels = 1,
                           .format = SMP_U8,
                           .white = 255};
    const smp_histogram_params params = {.bins = BINS};
    uint64_t wanted[BINS + 1], counts[BINS + 1];
    smp_io io = {.in = view, .out = view, .result = wanted};
    assert_in_range(smp_histogram_scratch(&io, &params), 1, 1 << 20);
    for (int kind = 0; kind < KINDS; kind++) {
        fill(samples, kind);
        memset(wanted, 0, sizeof wanted);
        io.result = wanted;
        histogram_naive_test(&io, &params, scratch, 0, ROWS);
        io.result = counts;
        for (int k = 0; k < 3; k++) {
            first_cache = (const long[]){0, 32 << 10, 48 << 10}[k];
            memset(counts, 0, sizeof counts);
            histogram_tiled_test(&io, &params, scratch, 0, ROWS);
            assert_memory_equal(counts, wanted, sizeof counts);
        }
    }
    free(scratch);
    free(samples);
}

SMP_TEST(large_caches_mean_pairs)
{
    first_cache = 32 << 10;
    assert_false(pays_in_pairs(SMP_HISTOGRAM_PAIRS_FROM));
    first_cache = 48 << 10;
    assert_true(pays_in_pairs(SMP_HISTOGRAM_PAIRS_FROM));
    assert_false(pays_in_pairs(SMP_HISTOGRAM_PAIRS_FROM - 1));
}
