/* histogram on the CPU.
 *   naive  sample by sample into the result: the definition. Equal neighbours wait for each other's store.
 *   tiled  several tables of 32-bit counters, neighbours in different ones, so that runs of one value do not serialise.
 *          Bytes are loaded eight at a time; a vectorised loop first turns other samples into bin numbers. Histograms
 *          too large for several tables in the first-level cache are counted directly. Many bytes of one plane are
 *          counted two at a time where that cache holds a table of pairs in bytes, which overflows into a table of
 *          words. The limit is one increment a cycle or less, not memory. */
#include <string.h>
#include <unistd.h>

#include "lib/constants.h"
#include "reduce/histogram.h"

SMP_CPU_KERNEL(histogram_naive)
{
    const smp_histogram_params *p = params;
    const smp_view *in = &io->in;
    uint64_t *counts = io->result;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < in->width; x++) {
            float pixel[SMP_MAX_CHANNELS];
            for (int c = 0; c < in->channels; c++)
                pixel[c] = smp_load(smp_row(in, y), x * in->channels + c, in->format);
            if (p->colours)
                pixel[0] = smp_histogram_luma(pixel, p);
            for (int plane = 0; plane < smp_histogram_planes(p, in->channels); plane++)
                counts[smp_histogram_slot(p->bins, plane, smp_histogram_bin(pixel[plane], in->white, p))]++;
        }
}

enum { CHUNK = 256 };                          /* pixels turned into bin numbers at a time */
static const int64_t ROUND = (int64_t)1 << 31; /* pixels after which 32-bit counters are emptied */

/* Tables, a multiple of planes; `bins` counters each, and one for NaN. */
typedef struct partial {
    uint32_t *tables;
    int64_t pitch;
    int32_t bins, planes;
    int32_t codes;    /* counters are by code value; emptying them sorts into bins */
    int32_t in_pairs; /* bytes are counted by pairs of neighbours */
    int64_t pending;  /* pixels */
    /* Counters of unordered pairs of bytes, a row for each larger one, and how often each wrapped around, after the
     * tables. Two pointers: deriving one from the other would cost two instructions an increment. */
    uint32_t *wraps;
    uint8_t *pairs;
} partial;

/* Moves the counts of pairs into two tables of single bytes. */
static void empty_pairs(partial *t)
{
    uint32_t *restrict wraps = t->wraps, *restrict low = t->tables, *restrict high = t->tables + t->pitch;
    uint8_t *restrict pairs = t->pairs;
    for (int32_t i = 0, row = 0; i < 256; row += ++i) {
        uint32_t sum = 0;
        for (int32_t k = 0; k <= i; k++) {
            const uint32_t count = (wraps[row + k] << 8) + pairs[row + k];
            low[k] += count;
            sum += count;
        }
        high[i] += sum;
    }
    memset(wraps, 0, SMP_HISTOGRAM_PAIRS * (sizeof *wraps + sizeof *pairs));
}

static void partial_empty(partial *t, const smp_io *io, const smp_histogram_params *p)
{
    uint64_t *counts = io->result;
    if (t->in_pairs)
        empty_pairs(t);
    for (int32_t k = 0; k < smp_histogram_tables(t->planes); k++)
        for (int32_t i = 0; i <= t->bins; i++) {
            int32_t bin = t->codes ? i < t->bins ? smp_histogram_bin((float)i, io->in.white, p) : p->bins : i;
            counts[smp_histogram_slot(p->bins, k % t->planes, bin)] += t->tables[k * t->pitch + i];
        }
    memset(t->tables, 0, (size_t)(smp_histogram_tables(t->planes) * t->pitch) * sizeof *t->tables);
    t->pending = 0;
}

static void partial_start(partial *t, void *scratch, int32_t bins, int32_t planes, int32_t codes, int32_t in_pairs)
{
    *t = (partial){.tables = scratch,
                   .pitch = bins + 1 + SMP_HISTOGRAM_PAD,
                   .bins = bins,
                   .planes = planes,
                   .codes = codes,
                   .in_pairs = in_pairs};
    t->wraps = t->tables + smp_histogram_tables(1) * t->pitch;
    t->pairs = (uint8_t *)(t->wraps + SMP_HISTOGRAM_PAIRS);
    memset(t->tables, 0, (size_t)(smp_histogram_tables(planes) * t->pitch) * sizeof *t->tables);
    if (in_pairs)
        memset(t->wraps, 0, SMP_HISTOGRAM_PAIRS * (sizeof(uint32_t) + sizeof(uint8_t)));
}

/* Counts n bytes, a multiple of `channels`, from channel 0 on. channels is a constant after inlining: blocks of
 * `channels` eight-byte words hold whole pixels, and each byte's table is known. */
SMP_INLINE void count_bytes_of(uint32_t *restrict tables, int64_t pitch, const uint8_t *restrict p, int64_t n,
                               const int channels)
{
    int64_t i = 0;
    for (; i + 8 * channels <= n; i += 8 * channels) {
#pragma GCC unroll 8
        for (int word = 0; word < channels; word++) {
            uint64_t v;
            memcpy(&v, p + i + 8 * word, sizeof v);
            if (channels == 1 && v == (v >> 8 | v << 56)) {
                tables[(uint8_t)v] += 8;
                continue;
            }
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                tables[(8 * word + k) % smp_histogram_tables(channels) * pitch + (uint8_t)(v >> (8 * k))]++;
        }
    }
    for (int k = 0; i < n; i++, k++)
        tables[k % smp_histogram_tables(channels) * pitch + p[i]]++;
}

enum {
    PAIRED = 128, /* pairs whose counters are found at a time */
    /* Prefetch distance in bytes: without it a Zen 5 waits for a quarter of the time. */
    AHEAD = 2048
};

/* Counts these pairs where many are equal to the next: a run of equal bytes, whose increments would wait for each
 * other, goes to a separate table. */
static void count_repeated(partial *t, const uint16_t *restrict at, const uint8_t *restrict p, int32_t same)
{
    uint32_t *restrict wraps = t->wraps, *restrict runs = t->tables;
    uint8_t *restrict pairs = t->pairs;
    if (same == PAIRED && p[0] == p[1]) {
        runs[p[0]] += 2 * PAIRED;
        return;
    }
    for (int32_t k = 0; k < PAIRED; k += 4) {
        uint64_t v;
        memcpy(&v, p + 2 * k, sizeof v);
        if (v == (v >> 8 | v << 56))
            runs[(uint8_t)v] += 8;
        else
#pragma GCC unroll 4
            for (int32_t i = k; i < k + 4; i++)
                if (__builtin_expect(++pairs[at[i]] == 0, 0))
                    wraps[at[i]]++;
    }
}

/* The same for one plane, by pairs of neighbours: half as many increments. Their order does not matter, so that the
 * counters of pairs fit a first-level cache as bytes. Not inlined: where the layout of the tables is known, gcc would
 * derive one pointer from the other. */
__attribute__((noinline)) static void count_pairs(partial *t, const uint8_t *restrict p, int64_t n)
{
    uint32_t *restrict wraps = t->wraps;
    uint8_t *restrict pairs = t->pairs;
    int64_t i = 0;
    for (; i + 2 * PAIRED + 2 <= n; i += 2 * PAIRED) {
        uint16_t at[PAIRED], same = 0;
        for (int32_t k = 0; k < 2 * PAIRED; k += 64)
            __builtin_prefetch(p + i + AHEAD + k);
        for (int32_t k = 0; k < PAIRED; k++) {
            uint16_t pair;
            memcpy(&pair, p + i + 2 * k, sizeof pair);
            const uint16_t a = pair & 255, b = pair >> 8, most = a > b ? a : b, least = a > b ? b : a;
            at[k] = (uint16_t)((uint16_t)(most * (most + 1)) / 2 + least); /* row `most` of a triangle */
        }
        for (int32_t k = 0; k < PAIRED; k++) { /* does not wait for `at`, which was just written */
            uint16_t pair, next;
            memcpy(&pair, p + i + 2 * k, sizeof pair);
            memcpy(&next, p + i + 2 * k + 2, sizeof next);
            same = (uint16_t)(same + (pair == next));
        }
        if (__builtin_expect(same > PAIRED / 8, 0)) {
            count_repeated(t, at, p + i, same);
            continue;
        }
#pragma GCC unroll 8
        for (int32_t k = 0; k < PAIRED; k++)
            if (__builtin_expect(++pairs[at[k]] == 0, 0))
                wraps[at[k]]++;
    }
    count_bytes_of(t->tables, t->pitch, p + i, n - i, 1);
}

static void count_bytes(partial *t, const uint8_t *p, int64_t n)
{
    enum { PITCH = 256 + 1 + SMP_HISTOGRAM_PAD };
    SMP_BY_COUNT(t->planes, count_bytes_of(t->tables, PITCH, p, n, N))
}

/* Bin numbers of n samples; the kind of picture is a constant in each loop. */
SMP_INLINE void find_bins(int32_t *restrict bin, const float *restrict v, int64_t n, float white,
                          const smp_histogram_params *p)
{
    if (white == 1.f)
        for (int64_t i = 0; i < n; i++)
            bin[i] = smp_histogram_bin(v[i], 1.f, p);
    else if (white == 255.f)
        for (int64_t i = 0; i < n; i++)
            bin[i] = smp_histogram_bin(v[i], 255.f, p);
    else
        for (int64_t i = 0; i < n; i++)
            bin[i] = smp_histogram_bin(v[i], 65535.f, p);
}

/* Counts n (at most CHUNK) pixels at `from` in tables, or directly in the result when t is null. */
static void count_pixels(partial *t, const smp_io *io, const smp_histogram_params *p, const void *from, int64_t n)
{
    float row[CHUNK * SMP_MAX_CHANNELS], luma[CHUNK], *v = p->colours ? luma : row;
    int32_t bin[CHUNK * SMP_MAX_CHANNELS];
    const int32_t channels = io->in.channels, planes = smp_histogram_planes(p, channels);
    smp_load_row(row, from, io->in.format, n * channels);
    if (p->colours == 3)
        for (int64_t i = 0; i < n; i++) {
            const float *pixel = row + i * channels;
            luma[i] = p->weights[0] * pixel[0] + p->weights[1] * pixel[1] + p->weights[2] * pixel[2];
        }
    else if (p->colours)
        for (int64_t i = 0; i < n; i++)
            luma[i] = smp_histogram_luma(row + i * channels, p);
    const int64_t samples = n * planes;
    find_bins(bin, v, samples, io->in.white, p);
    if (t) {
        const int32_t tables = smp_histogram_tables(planes);
        int64_t i = 0;
        for (; i + tables <= samples; i += tables)
            for (int32_t k = 0; k < tables; k++)
                t->tables[k * t->pitch + bin[i + k]]++;
        for (int32_t k = 0; i < samples; i++, k++)
            t->tables[k * t->pitch + bin[i]]++;
    } else {
        uint64_t *counts = io->result;
        for (int64_t i = 0; i < samples; i += planes)
            for (int32_t k = 0; k < planes; k++)
                counts[smp_histogram_slot(p->bins, k, bin[i + k])]++;
    }
}

/* Whether to count n bytes of one plane by pairs. A Zen 3, with 32 KB, increments bytes in memory at half the rate of
 * words. */
static int pays_in_pairs(int64_t n)
{
    enum { FITTING = 48 << 10 };
    if (n < SMP_HISTOGRAM_PAIRS_FROM)
        return 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const long cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    return cache <= 0 || cache >= FITTING;
#else
    return 1;
#endif
}

SMP_CPU_KERNEL(histogram_tiled)
{
    const smp_histogram_params *p = params;
    const smp_view *in = &io->in;
    const int64_t pixel_bytes = in->channels * smp_sample_size(in->format);
    const int bytes = smp_histogram_by_code(p, in->format), tables = bytes || p->bins <= SMP_HISTOGRAM_MAX_BINS;
    const int in_pairs = bytes && in->channels == 1 && pays_in_pairs(in->width * (y1 - y0));
    partial t;
    if (tables)
        partial_start(&t, scratch, bytes ? 256 : p->bins, smp_histogram_planes(p, in->channels), bytes, in_pairs);
    /* Packed rows are one long row: sound, above all. */
    const int joined = in->stride == in->width * pixel_bytes;
    const int64_t width = joined ? in->width * (y1 - y0) : in->width, step = bytes ? ROUND / SMP_MAX_CHANNELS : CHUNK;
    for (int64_t y = y0; y < y1; y += joined ? y1 - y0 : 1)
        for (int64_t x = 0; x < width; x += step) {
            const int64_t n = width - x < step ? width - x : step;
            const uint8_t *from = (const uint8_t *)smp_row(in, y) + x * pixel_bytes;
            if (tables && t.pending + n > ROUND)
                partial_empty(&t, io, p);
            if (in_pairs)
                count_pairs(&t, from, n);
            else if (bytes)
                count_bytes(&t, from, n * in->channels);
            else
                count_pixels(tables ? &t : NULL, io, p, from, n);
            if (tables)
                t.pending += n;
        }
    if (tables)
        partial_empty(&t, io, p);
}
