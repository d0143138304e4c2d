/* PNG's row filters and their undoing, each against the other: io/png_filter.h, io/png_unfilter.h. */
#include <string.h>

#include "suite.h"

#include "io/png/png_filter.h"

enum { MOST = 200, ROWS = 6 };
static const int pixels[] = {1, 2, 3, 4, 6, 8};

static void fill(uint8_t *to, size_t size, uint32_t seed, uint32_t values)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        to[i] = (uint8_t)((seed >> 16) % values * (255 / (values - 1)));
    }
}

/* PNG specification, 9.4, as it is written there. */
static int paeth_predictor(int a, int b, int c)
{
    int p = a + b - c, pa = p > a ? p - a : a - p, pb = p > b ? p - b : b - p, pc = p > c ? p - c : c - p;
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

SMP_TEST(rows_are_filtered_as_the_specification_says_also_in_place)
{
    static uint8_t above[MOST], row[MOST], apart[MOST], in_place[MOST];
    for (int k = 0; k < 6; k++)
        for (int n = pixels[k]; n <= MOST; n += pixels[k])
            for (int filter = 0; filter < SMP_PNG_FILTERS; filter++) {
                const int p = pixels[k];
                const uint32_t values = n % 3 ? 256 : 2; /* 0 and 255: the largest distances */
                fill(above, MOST, (uint32_t)n, values);
                fill(row, MOST, (uint32_t)n + 1000, values);
                memcpy(in_place, row, MOST);
                smp_png_filter(apart, row, above, n, p, filter);
                smp_png_filter(in_place, in_place, above, n, p, filter);
                assert_memory_equal(apart, in_place, (size_t)n);
                for (int i = 0; i < n; i++) {
                    const int a = i < p ? 0 : row[i - p], b = above[i], c = i < p ? 0 : above[i - p];
                    const int predicted[] = {0, a, b, (a + b) / 2, paeth_predictor(a, b, c)};
                    assert_int_equal(apart[i], (uint8_t)(row[i] - predicted[filter]));
                }
            }
}

SMP_TEST(filtered_rows_come_back_and_nothing_beside_them_changes)
{
    enum { GUARD = 0xA5, PITCH = MOST + 3, MIXES = 14 };
    static uint8_t rows[ROWS + 1][PITCH], filtered[ROWS * (MOST + 1)], back[ROWS][PITCH];
    for (int k = 0; k < 6; k++)
        for (int n = pixels[k]; n <= MOST; n += pixels[k])
            for (int mixed = 0; mixed <= MIXES; mixed++) {
                fill(&rows[0][0], sizeof rows, (uint32_t)(n * 7 + mixed), 256);
                memset(back, GUARD, sizeof back);
                for (int y = 0; y < ROWS; y++) {
                    uint8_t *to = filtered + y * (n + 1);
                    to[0] = (uint8_t)(mixed < SMP_PNG_FILTERS ? mixed : (y * mixed + mixed) % SMP_PNG_FILTERS);
                    smp_png_filter(to + 1, rows[y + 1], rows[y], n, pixels[k], to[0]);
                }
                assert_true(smp_png_unfilter(back[0], PITCH, rows[0], filtered, n, ROWS, pixels[k]));
                for (int y = 0; y < ROWS; y++) {
                    assert_memory_equal(back[y], rows[y + 1], (size_t)n);
                    for (int i = n; i < PITCH; i++)
                        assert_int_equal(back[y][i], GUARD);
                }
            }
    filtered[0] = SMP_PNG_FILTERS;
    assert_false(smp_png_unfilter(back[0], PITCH, rows[0], filtered, 8, 1, 1));
}

SMP_TEST(samples_of_two_bytes_are_swapped)
{
    for (int n = 2; n <= MOST; n += 2) {
        uint8_t row[MOST + 1], was[MOST + 1];
        fill(was, sizeof was, (uint32_t)n, 256);
        memcpy(row, was, sizeof row);
        smp_png_swap(row, n);
        for (int i = 0; i < n; i++)
            assert_int_equal(row[i], was[i ^ 1]);
        assert_int_equal(row[n], was[n]);
    }
}
