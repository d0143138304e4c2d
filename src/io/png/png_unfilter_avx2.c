/* Four rows at once in 256-bit registers, each with its own filter: see png_unfilter.h. Each row is LAG pixels behind
 * the row above, whose results it needs, so that the four instruction chains become one stream. A lag of two keeps the
 * move of a row's result to its neighbour's lane off the critical path. */
#include "io/png/png_filter.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline, target("avx2")))

enum { ROWS = 4, LAG = 2, BEHIND = (ROWS - 1) * LAG };

typedef enum mixture { ALL_PAETH, ALL_AVERAGE, MIXED } mixture;

typedef struct rows {
    uint8_t *line[ROWS + 1]; /* the row above, then the four */
    const uint8_t *from[ROWS];
    int filter[ROWS];
} rows;

/* Row i's pixel x, byte by byte: for the ends, where not all rows have a pixel. */
static void one_pixel(const rows *r, int i, int64_t x, int bytes)
{
    for (int64_t k = x * bytes; k < (x + 1) * bytes; k++) {
        const int a = x ? r->line[i + 1][k - bytes] : 0, b = r->line[i][k], c = x ? r->line[i][k - bytes] : 0;
        const int slope = b - c, diff = a - c, pa = slope < 0 ? -slope : slope, pb = diff < 0 ? -diff : diff;
        const int pc = slope + diff < 0 ? -(slope + diff) : slope + diff;
        const int near = pb <= pc ? b : c;
        const int predicted[SMP_PNG_FILTERS] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : near};
        r->line[i + 1][k] = (uint8_t)(r->from[i][k] + predicted[r->filter[i]]);
    }
}

static void edge(const rows *r, int64_t t, int64_t pixels, int bytes)
{
    for (int i = 0; i < ROWS; i++)
        if (t - LAG * i >= 0 && t - LAG * i < pixels)
            one_pixel(r, i, t - LAG * i, bytes);
}

/* Masks that turn Paeth's choice among three predictions into another filter, in each row's lanes. */
typedef struct ways {
    __m256i paeth, average, none; /* all bits set where the row's filter is that */
    __m256i above;                /* all bits set where a must not be chosen: none, up */
    __m256i forced;               /* replaces pa: less than any distance, or more; 0 for Paeth */
} ways;

INLINE __m256i where(const int *filter, const int lane_of[4], int wanted)
{
    return _mm256_setr_epi64x(-(filter[lane_of[0]] == wanted), -(filter[lane_of[1]] == wanted),
                              -(filter[lane_of[2]] == wanted), -(filter[lane_of[3]] == wanted));
}

/* lane_of: the row that each 64 bits belong to. */
INLINE ways ways_of(const int *filter, const int lane_of[4])
{
    ways w = {.paeth = where(filter, lane_of, SMP_PNG_PAETH),
              .average = where(filter, lane_of, SMP_PNG_AVERAGE),
              .none = where(filter, lane_of, SMP_PNG_NONE)};
    w.above = _mm256_or_si256(w.none, where(filter, lane_of, SMP_PNG_UP));
    const __m256i left = _mm256_or_si256(w.average, where(filter, lane_of, SMP_PNG_SUB));
    w.forced = _mm256_or_si256(left, _mm256_srli_epi16(w.above, 1)); /* -1, 0x7fff */
    return w;
}

/* x plus the prediction from left (a), above (b) and above left (c), modulo 256. Only a is on the critical path of
 * subtract, add, absolute, minimum, compare and blend. The sums with x are outside it. The other filters use the same
 * choice among three, with a forced distance and other values. */
INLINE __m256i undo(mixture mix, const ways *w, __m256i x, __m256i a, __m256i b, __m256i c)
{
    const __m256i byte = _mm256_set1_epi16(255);
    const __m256i mean = _mm256_and_si256(_mm256_add_epi16(x, _mm256_srli_epi16(_mm256_add_epi16(a, b), 1)), byte);
    if (mix == ALL_AVERAGE)
        return mean;
    const __m256i slope = _mm256_sub_epi16(b, c), diff = _mm256_sub_epi16(a, c);
    __m256i pa = _mm256_abs_epi16(slope), xa = _mm256_and_si256(_mm256_add_epi16(x, a), byte);
    const __m256i pb = _mm256_abs_epi16(diff), pc = _mm256_abs_epi16(_mm256_add_epi16(diff, slope));
    if (mix == MIXED) {
        pa = _mm256_or_si256(_mm256_and_si256(pa, w->paeth), w->forced);
        xa = _mm256_blendv_epi8(xa, mean, w->average);
        b = _mm256_andnot_si256(w->none, b);
        c = _mm256_blendv_epi8(c, b, w->above);
    }
    const __m256i xb = _mm256_and_si256(_mm256_add_epi16(x, b), byte),
                  xc = _mm256_and_si256(_mm256_add_epi16(x, c), byte);
    const __m256i near = _mm256_blendv_epi8(xb, xc, _mm256_cmpgt_epi16(pb, pc));
    return _mm256_blendv_epi8(xa, near, _mm256_cmpgt_epi16(pa, _mm256_min_epi16(pb, pc)));
}

INLINE int load4(const uint8_t *from)
{
    int v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store4(uint8_t *to, int v)
{
    memcpy(to, &v, sizeof v);
}

/* Pixel t of row 0 in the first quarter, t - LAG of row 1 in the second, and so on. */
INLINE __m256i four(const uint8_t *const *at, int64_t x, int64_t lag)
{
    return _mm256_cvtepu8_epi16(_mm_setr_epi32(load4(at[0] + x), load4(at[1] + x - lag), load4(at[2] + x - 2 * lag),
                                               load4(at[3] + x - 3 * lag)));
}

/* Pixels of up to 4 bytes: four rows share a register. A store's excess past a pixel is overwritten by the next pixel,
 * or by the pixels at the end. */
INLINE void narrow(const rows *r, int64_t n, const mixture mix, const int B)
{
    static const int lanes[] = {0, 1, 2, 3};
    const ways w = ways_of(r->filter, lanes);
    const int64_t pixels = n / B, whole = (n - 4) / B + 1; /* pixels with 4 bytes from their first byte on */
    int64_t t = 0;
    for (; t < BEHIND + LAG && t < pixels + BEHIND; t++) /* until all rows have a pixel LAG steps back */
        edge(r, t, pixels, B);
    if (t < whole) {
        const uint8_t *lines[ROWS + 1];
        for (int i = 0; i <= ROWS; i++)
            lines[i] = r->line[i];
        const int64_t lag = LAG * B;
        __m256i before = four(lines + 1, (t - 2) * B, lag), last = four(lines + 1, (t - 1) * B, lag);
        __m256i corner = four(lines, (t - 1) * B, lag);
        for (int64_t x = t * B; t < whole; t++, x += B) {
            const __m256i first = _mm256_castsi128_si256(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(load4(lines[0] + x))));
            const __m256i up = _mm256_blend_epi32(_mm256_permute4x64_epi64(before, 0x90), first, 3);
            before = last;
            last = undo(mix, &w, four(r->from, x, lag), last, up, corner);
            corner = up;
            const __m256i packed = _mm256_packus_epi16(last, last);
            const __m128i low = _mm256_castsi256_si128(packed), high = _mm256_extracti128_si256(packed, 1);
            store4(r->line[1] + x, _mm_cvtsi128_si32(low));
            store4(r->line[2] + x - lag, _mm_extract_epi32(low, 1));
            store4(r->line[3] + x - 2 * lag, _mm_cvtsi128_si32(high));
            store4(r->line[4] + x - 3 * lag, _mm_extract_epi32(high, 1));
        }
    }
    for (; t < pixels + BEHIND; t++)
        edge(r, t, pixels, B);
}

INLINE __m128i load8(const uint8_t *from)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)from);
}

/* A pixel of each of two rows; the second row's is LAG pixels back. */
INLINE __m256i two(const uint8_t *const *at, int64_t x, int64_t lag)
{
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(load8(at[0] + x), load8(at[1] + x - lag)));
}

INLINE void store_two(uint8_t *const *to, int64_t x, int64_t lag, __m256i v)
{
    const __m256i packed = _mm256_packus_epi16(v, v);
    _mm_storel_epi64((__m128i *)(void *)(to[0] + x), _mm256_castsi256_si128(packed));
    _mm_storel_epi64((__m128i *)(void *)(to[1] + x - lag), _mm256_extracti128_si256(packed, 1));
}

/* Pixels of 6 and 8 bytes: two registers for two rows each. */
INLINE void wide(const rows *r, int64_t n, const mixture mix, const int B)
{
    static const int lanes0[] = {0, 0, 1, 1}, lanes1[] = {2, 2, 3, 3};
    const ways w0 = ways_of(r->filter, lanes0), w1 = ways_of(r->filter, lanes1);
    const int64_t pixels = n / B, whole = (n - 8) / B + 1; /* pixels with 8 bytes from their first byte on */
    int64_t t = 0;
    for (; t < BEHIND + LAG && t < pixels + BEHIND; t++)
        edge(r, t, pixels, B);
    if (t < whole) {
        const uint8_t *lines[ROWS + 1];
        for (int i = 0; i <= ROWS; i++)
            lines[i] = r->line[i];
        const int64_t lag = LAG * B;
        int64_t x = t * B;
        __m256i before0 = two(lines + 1, x - 2 * B, lag), last0 = two(lines + 1, x - B, lag),
                corner0 = two(lines, x - B, lag);
        __m256i before1 = two(lines + 3, x - 2 * B - 2 * lag, lag), last1 = two(lines + 3, x - B - 2 * lag, lag);
        __m256i corner1 = two(lines + 2, x - B - 2 * lag, lag);
        for (; t < whole; t++, x += B) {
            const __m256i first = _mm256_castsi128_si256(_mm_cvtepu8_epi16(load8(lines[0] + x)));
            const __m256i up0 = _mm256_inserti128_si256(first, _mm256_castsi256_si128(before0), 1);
            const __m256i up1 = _mm256_permute2x128_si256(before0, before1, 0x21);
            before0 = last0;
            before1 = last1;
            last0 = undo(mix, &w0, two(r->from, x, lag), last0, up0, corner0);
            last1 = undo(mix, &w1, two(r->from + 2, x - 2 * lag, lag), last1, up1, corner1);
            corner0 = up0;
            corner1 = up1;
            store_two(r->line + 1, x, lag, last0);
            store_two(r->line + 3, x - 2 * lag, lag, last1);
        }
    }
    for (; t < pixels + BEHIND; t++)
        edge(r, t, pixels, B);
}

__attribute__((target("avx2"))) void smp_png_undo_four_avx2(uint8_t *const line[5], const uint8_t *from,
                                                            int64_t row_bytes, int pixel_bytes)
{
    rows r;
    memcpy(r.line, line, sizeof r.line);
    bool alike = true;
    for (int i = 0; i < ROWS; i++) {
        r.from[i] = from + i * (row_bytes + 1);
        r.filter[i] = r.from[i][-1];
        alike = alike && r.filter[i] == r.filter[0];
    }
#define UNDO(KIND, B) ((B) <= 4 ? narrow(&r, row_bytes, KIND, B) : wide(&r, row_bytes, KIND, B))
#define PAETH(B)      UNDO(ALL_PAETH, B)
#define AVERAGE(B)    UNDO(ALL_AVERAGE, B)
#define OTHERS(B)     UNDO(MIXED, B)
    if (alike && r.filter[0] == SMP_PNG_PAETH) {
        SMP_PNG_BY_PIXEL(pixel_bytes, PAETH)
    } else if (alike && r.filter[0] == SMP_PNG_AVERAGE) {
        SMP_PNG_BY_PIXEL(pixel_bytes, AVERAGE)
    } else {
        SMP_PNG_BY_PIXEL(pixel_bytes, OTHERS)
    }
#undef PAETH
#undef AVERAGE
#undef OTHERS
#undef UNDO
}

/* sub1() .. sub8(): prefix sums within a register. The sum of all registers before is added, and only that is on the
 * critical path. Macros, since a byte shift takes a literal number. */
#define PLUS_BEFORE(v, bytes) ((bytes) < 16 ? _mm_add_epi8(v, _mm_slli_si128(v, (bytes) < 16 ? (bytes) : 0)) : (v))
#define DEFINE_SUB(B)                                                                                                  \
    INLINE int64_t sub##B(uint8_t *to, const uint8_t *from, int64_t n)                                                 \
    {                                                                                                                  \
        enum { WIDE = 16, TAKEN = WIDE / (B) * (B) };                                                                  \
        uint8_t pick[WIDE];                                                                                            \
        for (int i = 0; i < WIDE; i++)                                                                                 \
            pick[i] = (uint8_t)(TAKEN - (B) + i % (B));                                                                \
        const __m128i last_pixel = _mm_loadu_si128((const __m128i *)(const void *)pick);                               \
        __m128i before = _mm_setzero_si128();                                                                          \
        int64_t x = 0;                                                                                                 \
        for (; x <= n - WIDE; x += TAKEN) {                                                                            \
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(from + x));                                    \
            v = PLUS_BEFORE(v, B);                                                                                     \
            v = PLUS_BEFORE(v, 2 * (B));                                                                               \
            v = PLUS_BEFORE(v, 4 * (B));                                                                               \
            v = PLUS_BEFORE(v, 8 * (B));                                                                               \
            const __m128i sum = _mm_shuffle_epi8(v, last_pixel);                                                       \
            v = _mm_add_epi8(v, before);                                                                               \
            before = _mm_add_epi8(before, sum);                                                                        \
            _mm_storeu_si128((__m128i *)(void *)(to + x), v); /* the next store overwrites the excess */               \
        }                                                                                                              \
        return x;                                                                                                      \
    }
DEFINE_SUB(1)
DEFINE_SUB(2)
DEFINE_SUB(3)
DEFINE_SUB(4)
DEFINE_SUB(6)
DEFINE_SUB(8)
#undef DEFINE_SUB
#undef PLUS_BEFORE

__attribute__((target("avx2"))) int64_t smp_png_undo_sub_avx2(uint8_t *to, const uint8_t *from, int64_t row_bytes,
                                                              int pixel_bytes)
{
    int64_t done;
#define SUB(B) done = sub##B(to, from, row_bytes)
    SMP_PNG_BY_PIXEL(pixel_bytes, SUB)
#undef SUB
    return done;
}

#else
typedef int nothing_here; /* ISO C requires a declaration */
#endif
