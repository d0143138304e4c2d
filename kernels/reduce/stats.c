/* stats on the CPU.
 *   naive  sample by sample, every lane's sums in memory: the definition.
 *   tiled  integers: exact sums in integer accumulators, one for each position of a block, so that no channel needs a
 *          shuffle; the pivot is applied to the totals. Floats: a block of 32 pixels is one vector operation a lane.
 *          Only chunks with values that are not finite take a second, masked pass.
 * Every byte is read once. The limit is memory bandwidth for 8 bits, conversion to double for floats. */
#include <float.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <string.h>

#include "lib/constants.h"
#include "reduce/stats.h"

/* Adds the lanes in pairs at distance 16, 8, 4, 2, 1. */
SMP_INLINE double fold_lanes(double *lane)
{
    for (int distance = SMP_LANES / 2; distance > 0; distance /= 2)
        for (int i = 0; i < distance; i++)
            lane[i] += lane[i + distance];
    return lane[0];
}

SMP_CPU_KERNEL(stats_naive)
{
    const smp_view *in = &io->in;
    const int64_t chunk_rows = smp_chunk_rows(in->width), across = smp_chunks_across(in->width);
    smp_stats_chunk *chunks = io->result;
    for (int64_t y = y0; y < y1; y += chunk_rows)
        for (int64_t part = 0; part < across; part++)
            for (int c = 0; c < in->channels; c++) {
                double sum[SMP_LANES] = {0}, squares[SMP_LANES] = {0};
                float min = FLT_MAX, max = -FLT_MAX;
                int64_t count = 0, pixel = 0, x0 = part * SMP_CHUNK;
                int64_t x1 = x0 + SMP_CHUNK < in->width ? x0 + SMP_CHUNK : in->width;
                float pivot = smp_stats_pivot(smp_load(smp_row(in, y), x0 * in->channels + c, in->format));
                for (int64_t row = y; row < y + chunk_rows && row < y1; row++)
                    for (int64_t x = x0; x < x1; x++, pixel++) {
                        float v = smp_load(smp_row(in, row), x * in->channels + c, in->format);
                        if (!smp_stats_finite(v))
                            continue;
                        double d = (double)v - (double)pivot;
                        sum[pixel % SMP_LANES] += d;
                        squares[pixel % SMP_LANES] += d * d;
                        min = v < min ? v : min;
                        max = v > max ? v : max;
                        count++;
                    }
                chunks[(y / chunk_rows * across + part) * in->channels + c] =
                    smp_stats_close(count, pivot, fold_lanes(sum), fold_lanes(squares), min, max);
            }
}

/* ---------------------------------------------------------------------------------------------- integers */

/* Exact totals of one channel of a chunk. */
typedef struct totals {
    int64_t sum, squares;
    int32_t min, max;
} totals;

/* Adds n samples (whole pixels, from channel 0 on) to the totals of each channel. Accumulators: one for each of SPAN
 * positions in a block of SPAN * channels samples; a chunk has at most SMP_CHUNK / SPAN blocks, so that SUM and SQUARE
 * cannot overflow. PRODUCT holds the square of any sample. */
#define INTEGER_TOTALS(NAME, SAMPLE, SUM, PRODUCT, SQUARE, SPAN)                                                       \
    SMP_INLINE void NAME(totals *restrict t, const SAMPLE *restrict p, int64_t n, const int channels)                  \
    {                                                                                                                  \
        const int span = SPAN * channels;                                                                              \
        const int64_t blocks = n / span;                                                                               \
        SUM sum[SPAN * SMP_MAX_CHANNELS];                                                                              \
        SQUARE squares[SPAN * SMP_MAX_CHANNELS];                                                                       \
        SAMPLE min[SPAN * SMP_MAX_CHANNELS], max[SPAN * SMP_MAX_CHANNELS];                                             \
        for (int k = 0; k < span; k++) {                                                                               \
            sum[k] = 0;                                                                                                \
            squares[k] = 0;                                                                                            \
            min[k] = (SAMPLE)-1;                                                                                       \
            max[k] = 0;                                                                                                \
        }                                                                                                              \
        for (int64_t b = 0; b < blocks; b++) {                                                                         \
            const SAMPLE *restrict s = p + b * span;                                                                   \
            for (int k = 0; k < span; k++)                                                                             \
                sum[k] = (SUM)(sum[k] + s[k]);                                                                         \
            for (int k = 0; k < span; k++)                                                                             \
                squares[k] += (PRODUCT)((PRODUCT)s[k] * (PRODUCT)s[k]);                                                \
            for (int k = 0; k < span; k++)                                                                             \
                min[k] = s[k] < min[k] ? s[k] : min[k];                                                                \
            for (int k = 0; k < span; k++)                                                                             \
                max[k] = s[k] > max[k] ? s[k] : max[k];                                                                \
        }                                                                                                              \
        for (int c = 0; c < channels; c++) {                                                                           \
            totals own = t[c];                                                                                         \
            for (int k = c; k < span && blocks > 0; k += channels) {                                                   \
                own.sum += (int64_t)sum[k];                                                                            \
                own.squares += (int64_t)squares[k];                                                                    \
                own.min = min[k] < own.min ? min[k] : own.min;                                                         \
                own.max = max[k] > own.max ? max[k] : own.max;                                                         \
            }                                                                                                          \
            t[c] = own;                                                                                                \
        }                                                                                                              \
        int c = 0;                                                                                                     \
        for (int64_t i = blocks * span; i < n; i++, c = c + 1 < channels ? c + 1 : 0) {                                \
            int32_t v = p[i];                                                                                          \
            t[c].sum += v;                                                                                             \
            t[c].squares += (int64_t)v * v;                                                                            \
            t[c].min = v < t[c].min ? v : t[c].min;                                                                    \
            t[c].max = v > t[c].max ? v : t[c].max;                                                                    \
        }                                                                                                              \
    }
INTEGER_TOTALS(byte_totals, uint8_t, uint16_t, uint16_t, uint32_t, 64)
INTEGER_TOTALS(word_totals, uint16_t, uint32_t, uint32_t, uint64_t, 32)

#ifdef __AVX2__
/* byte_totals() of one channel, whose positions need not be separate: bytes are summed eight at a time and squares two
 * at a time. A chunk adds at most SMP_CHUNK / 8 squares to a 32-bit lane. */
SMP_INLINE void grey_totals(totals *restrict t, const uint8_t *restrict p, int64_t n)
{
    enum { WIDE = sizeof(__m256i) };
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum = zero, squares = zero, min = _mm256_set1_epi8(-1), max = zero;
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        const __m256i v = _mm256_loadu_si256((const __m256i_u *)(const void *)(p + i));
        const __m256i low = _mm256_unpacklo_epi8(v, zero), high = _mm256_unpackhi_epi8(v, zero);
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(v, zero));
        squares = _mm256_add_epi32(squares, _mm256_madd_epi16(low, low));
        squares = _mm256_add_epi32(squares, _mm256_madd_epi16(high, high));
        min = _mm256_min_epu8(min, v);
        max = _mm256_max_epu8(max, v);
    }
    uint64_t sums[WIDE / 8];
    uint32_t square[WIDE / 4];
    uint8_t least[WIDE], most[WIDE];
    memcpy(sums, &sum, WIDE);
    memcpy(square, &squares, WIDE);
    memcpy(least, &min, WIDE);
    memcpy(most, &max, WIDE);
    for (int k = 0; k < WIDE / 8; k++)
        t->sum += (int64_t)sums[k];
    for (int k = 0; k < WIDE / 4; k++)
        t->squares += square[k];
    uint8_t low = 255, high = 0;
    for (int k = 0; k < WIDE; k++) {
        low = least[k] < low ? least[k] : low;
        high = most[k] > high ? most[k] : high;
    }
    for (; i < n; i++) {
        t->sum += p[i];
        t->squares += p[i] * p[i];
        low = p[i] < low ? p[i] : low;
        high = p[i] > high ? p[i] : high;
    }
    t->min = low < t->min ? low : t->min;
    t->max = high > t->max ? high : t->max;
}
#endif

/* Totals of a row of bytes. */
SMP_INLINE void byte_row(totals *restrict t, const uint8_t *restrict p, int64_t n, const int channels)
{
#ifdef __AVX2__
    if (channels == 1) {
        grey_totals(t, p, n);
        return;
    }
#endif
    byte_totals(t, p, n, channels);
}

/* The chunk of `rows` rows of n samples each. */
SMP_INLINE void integer_chunk(smp_stats_chunk *chunk, const smp_view *in, const char *from, int64_t rows, int64_t n,
                              const int channels)
{
    totals t[SMP_MAX_CHANNELS];
    float pivot[SMP_MAX_CHANNELS];
    for (int c = 0; c < channels; c++) {
        t[c] = (totals){0, 0, INT32_MAX, 0};
        pivot[c] = smp_load(from, c, in->format);
    }
    for (int64_t row = 0; row < rows; row++)
        if (in->format == SMP_U8)
            byte_row(t, (const uint8_t *)(from + row * in->stride), n, channels);
        else
            word_totals(t, (const uint16_t *)(const void *)(from + row * in->stride), n, channels);
    const int64_t count = rows * n / channels;
    for (int c = 0; c < channels; c++) {
        int64_t k = (int64_t)pivot[c], sum = t[c].sum - count * k;
        int64_t squares = t[c].squares - 2 * k * t[c].sum + count * k * k;
        chunk[c] = smp_stats_close(count, pivot[c], (double)sum, (double)squares, (float)t[c].min, (float)t[c].max);
    }
}

/* ---------------------------------------------------------------------------------------------- floats */

enum { SPAN = SMP_LANES };

/* The chunk of n pixels in a row at p. masked: leaves out values that are not finite. Otherwise it returns 0 when it
 * meets one. */
SMP_INLINE int float_chunk(smp_stats_chunk *chunk, const float *restrict p, int64_t n, const int channels,
                           const int masked)
{
    enum { MOST = SPAN * SMP_MAX_CHANNELS };
    double sum[MOST], squares[MOST], pivot[MOST];
    float min[MOST], max[MOST], trouble[MOST];
    int32_t counts[MOST];
    const int span = SPAN * channels;
    const int64_t blocks = n / SPAN;
    for (int k = 0; k < span; k++) {
        pivot[k] = (double)smp_stats_pivot(p[k % channels]);
        sum[k] = squares[k] = 0.;
        min[k] = FLT_MAX;
        max[k] = -FLT_MAX;
        trouble[k] = 0.f;
        counts[k] = 0;
    }
    for (int64_t b = 0; b < blocks; b++) {
        const float *restrict s = p + b * span;
        for (int k = 0; k < span; k++) {
            double d = !masked || smp_stats_finite(s[k]) ? (double)s[k] - pivot[k] : 0.;
            sum[k] += d;
            squares[k] += d * d;
        }
        for (int k = 0; k < span; k++)
            min[k] = (!masked || smp_stats_finite(s[k])) && s[k] < min[k] ? s[k] : min[k];
        for (int k = 0; k < span; k++)
            max[k] = (!masked || smp_stats_finite(s[k])) && s[k] > max[k] ? s[k] : max[k];
        for (int k = 0; k < span; k++)
            if (masked)
                counts[k] += smp_stats_finite(s[k]);
            else
                trouble[k] += s[k] * 0.f;
    }
    for (int k = 0; k < (n - blocks * SPAN) * channels; k++) { /* the lanes that have one pixel more */
        float v = p[blocks * span + k];
        int ok = smp_stats_finite(v);
        trouble[k] += v * 0.f;
        double d = ok ? (double)v - pivot[k] : 0.;
        sum[k] += d;
        squares[k] += d * d;
        min[k] = ok && v < min[k] ? v : min[k];
        max[k] = ok && v > max[k] ? v : max[k];
        counts[k] += ok;
    }
    float any = 0.f;
    for (int k = 0; k < span; k++)
        any += trouble[k];
    if (!masked && any != 0.f) /* 0 times infinity or NaN is NaN */
        return 0;
    for (int c = 0; c < channels; c++) {
        double lane_sum[SMP_LANES], lane_squares[SMP_LANES];
        float least = FLT_MAX, most = -FLT_MAX;
        int64_t count = 0;
        for (int i = 0; i < SMP_LANES; i++) {
            const int k = i * channels + c;
            lane_sum[i] = sum[k];
            lane_squares[i] = squares[k];
            least = min[k] < least ? min[k] : least;
            most = max[k] > most ? max[k] : most;
            count += counts[k];
        }
        chunk[c] = smp_stats_close(masked ? count : n, (float)pivot[c], fold_lanes(lane_sum), fold_lanes(lane_squares),
                                   least, most);
    }
    return 1;
}

/* Rare, so compiled once: any number of channels. */
static __attribute__((noinline)) void masked_chunk(smp_stats_chunk *chunk, const float *p, int64_t n, int channels)
{
    (void)float_chunk(chunk, p, n, channels, 1);
}

/* ---------------------------------------------------------------------------------------------- chunks */

/* rows of n pixels each, the first at `from`; channels is a constant in the common cases. */
SMP_INLINE void one_chunk(smp_stats_chunk *chunk, const smp_view *in, const char *from, int64_t rows, int64_t n,
                          float *restrict gathered, const int channels)
{
    if (in->stride == n * channels * smp_sample_size(in->format)) {
        n *= rows;
        rows = 1;
    }
    if (in->format != SMP_F32) {
        integer_chunk(chunk, in, from, rows, n * channels, channels);
        return;
    }
    const float *p = (const float *)(const void *)from;
    if (rows > 1) {
        for (int64_t row = 0; row < rows; row++)
            memcpy(gathered + row * n * channels, from + row * in->stride, (size_t)(n * channels) * sizeof(float));
        p = gathered;
    }
    if (!float_chunk(chunk, p, rows * n, channels, 0))
        masked_chunk(chunk, p, rows * n, in->channels);
}

SMP_CPU_KERNEL(stats_tiled)
{
    const smp_view *in = &io->in;
    const int64_t chunk_rows = smp_chunk_rows(in->width), across = smp_chunks_across(in->width);
    const int64_t pixel_bytes = in->channels * smp_sample_size(in->format);
    for (int64_t y = y0; y < y1; y += chunk_rows)
        for (int64_t part = 0; part < across; part++) {
            const int64_t x0 = part * SMP_CHUNK, rows = y1 - y < chunk_rows ? y1 - y : chunk_rows;
            const int64_t n = in->width - x0 < SMP_CHUNK ? in->width - x0 : SMP_CHUNK;
            const char *from = (const char *)smp_row(in, y) + x0 * pixel_bytes;
            smp_stats_chunk *chunk = (smp_stats_chunk *)io->result + (y / chunk_rows * across + part) * in->channels;
            SMP_BY_CHANNELS(in->channels, one_chunk(chunk, in, from, rows, n, scratch, N))
        }
}
