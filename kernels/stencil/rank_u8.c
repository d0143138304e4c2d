/* Order statistics of squares of bytes, for any size at one price (Perreault and Hebert, 2007): a histogram for each
 * column of a tile moves down with the rows, and that of the window moves right by adding one column's and subtracting
 * another's. Counts of sixteen groups of values move with every step; those of the values of a group when the rank
 * falls into it. */
#include "stencil/rank.h"

enum { RANK_SMALL = 7 }; /* up to this side bit by bit is as quick */

/* The histograms of columns: counts of 256 values, in sixteen groups of sixteen, and of each group. Apart, since those
 * of the groups fit the first-level cache. */
typedef struct histograms {
    uint16_t (*value)[16][16], (*group)[16];
} histograms;

/* In which of sixteen counts the rank lies. *rank: then in that one. Without branches, which nothing could predict. */
SMP_INLINE int place_of(const uint16_t *counts, int32_t *rank)
{
#ifdef __AVX2__
    uint16_t sums[17] = {0}; /* sums[k]: of the first k counts, at most 255^2 */
    __m256i v = _mm256_loadu_si256((const __m256i_u *)(const void *)counts);
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2)); /* within the halves, */
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
    const __m256i low = _mm256_permute2x128_si256(v, v, 0x08); /* and the sum of the lower for the upper */
    v = _mm256_add_epi16(v, _mm256_shuffle_epi8(low, _mm256_set1_epi16(0x0f0e)));
    const __m256i above = _mm256_subs_epu16(v, _mm256_set1_epi16((int16_t)*rank)); /* 0 up to the rank */
    const __m256i up_to = _mm256_cmpeq_epi16(above, _mm256_setzero_si256());
    const int found = __builtin_ctz(~(unsigned)_mm256_movemask_epi8(up_to)) / 2;
    _mm256_storeu_si256((__m256i_u *)(void *)(sums + 1), v);
    *rank -= sums[found];
    return found;
#else
    int32_t sum = 0, below = 0, place = 0;
    for (int k = 0; k < 16; k++) {
        sum += counts[k];
        place += sum <= *rank;
        below = sum <= *rank ? sum : below;
    }
    *rank -= below;
    return place;
#endif
}

/* Sixteen counts at once, whatever the compiler makes of loops. */
typedef uint16_t sixteen __attribute__((vector_size(32)));

SMP_INLINE void add(uint16_t *restrict to, const uint16_t *restrict more)
{
    sixteen sum, entering;
    memcpy(&sum, to, sizeof sum);
    memcpy(&entering, more, sizeof entering);
    sum += entering;
    memcpy(to, &sum, sizeof sum);
}
SMP_INLINE void slide(uint16_t *restrict to, const uint16_t *restrict more, const uint16_t *restrict less)
{
    sixteen sum, entering, leaving;
    memcpy(&sum, to, sizeof sum);
    memcpy(&entering, more, sizeof entering);
    memcpy(&leaving, less, sizeof leaving);
    sum += entering - leaving;
    memcpy(to, &sum, sizeof sum);
}

/* A group of the window that begins at column x; *at: for which column it was made last. */
SMP_INLINE void follow(uint16_t *restrict to, const histograms *columns, int group, int64_t *at, int64_t x,
                       int64_t side)
{
    if (x - *at >= side / 2 || *at < 0) {
        memset(to, 0, 16 * sizeof *to);
        for (int64_t k = x; k < x + side; k++)
            add(to, columns->value[k][group]);
    } else
        for (int64_t k = *at; k < x; k++)
            slide(to, columns->value[k + side][group], columns->value[k][group]);
    *at = x;
}

/* Adds `by` to the count of the samples of picture row y, one a column. from .. to: pixels, which may lie outside. */
static void count_row(const smp_io *io, const smp_rank *r, const histograms *columns, int64_t from, int64_t to, int c,
                      int64_t y, int by, uint8_t outside)
{
    const smp_view *in = &io->in;
    const int64_t inside = smp_border(y, in->height, r->shape.edge);
    const uint8_t *row = inside < 0 ? NULL : smp_row(in, inside);
    for (int64_t x = from; x < to; x++) {
        const int64_t at = x >= 0 && x < in->width ? x : smp_border(x, in->width, r->shape.edge);
        const uint8_t v = row && at >= 0 ? row[at * in->channels + c] : outside;
        uint16_t *value = &columns->value[x - from][v / 16][v % 16], *group = &columns->group[x - from][v / 16];
        *value = (uint16_t)(*value + by);
        *group = (uint16_t)(*group + by);
    }
}

int SMP_PASTE(rank_bytes, SMP_ISA)(const smp_io *io, const smp_rank *r, void *scratch, int64_t y0, int64_t y1)
{
    const int64_t channels = io->in.channels, reach = r->shape.rx, side = r->window.size, width = io->in.width;
    if (io->in.format != SMP_U8 || r->shape.shape != SMP_SHAPE_SQUARE || side <= RANK_SMALL)
        return 0;
    uint16_t(*values)[16][16] = scratch;
    const histograms all = {values, (uint16_t(*)[16])(values + SMP_RANK_COLUMNS + side)}, *columns = &all;
    uint16_t window[16][16], groups[16];
    const uint8_t outside = smp_to_u8(smp_morph_outside(&r->shape, io->in.white));
    for (int64_t x0 = 0; x0 < width; x0 += SMP_RANK_COLUMNS)
        for (int c = 0; c < channels; c++) {
            const int64_t end = width - x0 < SMP_RANK_COLUMNS ? width : x0 + SMP_RANK_COLUMNS;
            const int64_t from = x0 - reach, to = end + reach;
            memset(all.value, 0, (size_t)(to - from) * sizeof *all.value);
            memset(all.group, 0, (size_t)(to - from) * sizeof *all.group);
            for (int64_t y = y0 - reach; y < y0 + reach; y++)
                count_row(io, r, columns, from, to, c, y, 1, outside);
            for (int64_t y = y0; y < y1; y++) {
                if (y > y0)
                    count_row(io, r, columns, from, to, c, y - reach - 1, -1, outside);
                count_row(io, r, columns, from, to, c, y + reach, 1, outside);
                int64_t at[16];
                memset(groups, 0, sizeof groups);
                for (int64_t k = 0; k < side; k++)
                    add(groups, all.group[k]);
                for (int group = 0; group < 16; group++)
                    at[group] = -1;
                for (int64_t x = x0; x < end; x++) {
                    int32_t left = r->rank;
                    if (x > x0)
                        slide(groups, all.group[x - x0 + side - 1], all.group[x - x0 - 1]);
                    const int group = place_of(groups, &left);
                    follow(window[group], columns, group, &at[group], x - x0, side);
                    const int low = place_of(window[group], &left);
                    const uint8_t v = (uint8_t)(16 * group + low);
                    if (io->out.format == SMP_U8)
                        ((uint8_t *)smp_row(&io->out, y))[x * channels + c] = v;
                    else
                        smp_store(smp_row(&io->out, y), x * channels + c, io->out.format, (float)v);
                }
            }
        }
    return 1;
}
