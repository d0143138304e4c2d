/* Products of bytes are made by two or by four, as the processor has instructions: both ways are tested on it. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "kernel_case.h"

#include "reduce/template.h"

typedef struct looked_for {
    int64_t width, height, small_width, small_height;
    int channels, noisy; /* not noisy: white, the largest sums */
    bool alpha;
} looked_for;

static uint8_t *samples_of(int64_t count, int noisy, uint32_t state)
{
    uint8_t *samples = malloc((size_t)count);
    assert_non_null(samples);
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        samples[i] = noisy || i == count / 2 ? (uint8_t)(state >> 24) : 255;
    }
    return samples;
}

static smp_view view_of(uint8_t *samples, int64_t width, int64_t height, int channels, bool alpha)
{
    return (smp_view){.data = samples,
                      .stride = width * channels,
                      .width = width,
                      .height = height,
                      .rows = height,
                      .channels = channels,
                      .format = SMP_U8,
                      .white = 255,
                      .alpha = alpha};
}

static void check(const looked_for *c)
{
    static const smp_cpu_kernel naive = SMP_CPU(template_scores_naive), tiled = SMP_CPU(template_scores_tiled);
    uint8_t *large = samples_of(c->width * c->height * c->channels, c->noisy, 1);
    uint8_t *small = samples_of(c->small_width * c->small_height * c->channels, c->noisy, 2);
    smp_template p = {.width = c->small_width,
                      .height = c->small_height,
                      .across = c->width - c->small_width + 1,
                      .down = c->height - c->small_height + 1,
                      .colours = c->channels - c->alpha};
    const size_t size = (size_t)(p.across * p.down) * sizeof(float);
    float *wanted = malloc(size), *scores = malloc(size);
    smp_io io = {.in = view_of(large, c->width, c->height, c->channels, c->alpha),
                 .second = view_of(small, c->small_width, c->small_height, c->channels, c->alpha),
                 .result = wanted};
    void *scratch = aligned_alloc(64, (smp_template_scratch(&io, &p) + 63) / 64 * 64);
    assert_true(wanted && scores && scratch);
    naive.fn[SMP_ISA_BASE](&io, &p, scratch, 0, p.down);
    io.result = scores;
    for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS && case_has_isa(isa); isa++)
        for (p.in_pairs = 0; p.in_pairs < 2; p.in_pairs++) {
            memset(scores, 0xa5, size);
            tiled.fn[isa](&io, &p, scratch, 0, p.down / 2); /* two threads, the first with no whole band */
            tiled.fn[isa](&io, &p, scratch, p.down / 2, p.down);
            assert_memory_equal(scores, wanted, size);
        }
    free(scratch);
    free(scores);
    free(wanted);
    free(small);
    free(large);
}

SMP_TEST(both_ways_give_the_scores_of_naive)
{
    static const looked_for cases[] = {
        {1, 1, 1, 1, 1, 1, false},     {70, 30, 1, 1, 1, 1, false},   {101, 43, 7, 5, 1, 1, false},
        {101, 43, 34, 9, 1, 1, false}, {60, 40, 16, 16, 3, 1, false}, {60, 30, 9, 6, 4, 1, true},
        {40, 50, 33, 43, 2, 1, true},  {90, 42, 5, 40, 1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

SMP_TEST(sums_beyond_32_bits_are_exact)
{
    check(&(looked_for){363, 203, 360, 200, 1, 0, false});
}
