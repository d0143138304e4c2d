/* template of bytes on a CPU: sums of the picture from sums of columns, which move down with the rows; products in
 * whole numbers, of neighbouring samples with one instruction: two, or four where the processor has VNNI (for one of
 * the factors has a sign there, the template's are 128 less, and 128 S_I is added). A word for each sample of the
 * picture holds it and those to its right, so that places side by side are words side by side. Of four rows of places
 * that are made together each reads a row of words once. */
#include "reduce/template.h"

#include <string.h>

#if defined(__AVX512BW__)
#define DOTS __attribute__((target("avx512vnni")))
#elif defined(__AVX2__)
#include <cpuid.h>
#define DOTS __attribute__((target("avxvnni")))
#endif

enum {
    CHUNK = 1 << 15, /* samples whose products, of bytes, add up to less than 2^31 */
    BAND = SMP_TEMPLATE_BAND
};

typedef struct walk {
    const smp_io *io;
    const smp_template *p;
    int wide;             /* samples of a word: 2, 4 */
    uint32_t *words;      /* [ring][line]: samples i (lowest) to i + wide - 1 of a row; row y at y % ring */
    double *products;     /* [BAND][line]: of a row of places, at every sample */
    double *sums;         /* of the samples under each place of a row; of their squares, [line] */
    uint32_t *columns;    /* sums down the rows under a row of places */
    uint64_t *squares;    /* the same of squares */
    uint32_t *taps;       /* the template's words, rows of `couples`; BAND empty rows before and behind */
    int64_t n, line;      /* samples of a row; room for one */
    int64_t ring;         /* rows of words that are kept */
    int64_t row, couples; /* samples of a template's row; its words */
    smp_template_sums all;
} walk;

SMP_INLINE uint32_t *words_of(const walk *w, int64_t y)
{
    return w->words + y % w->ring * w->line;
}

/* Samples of a row without alpha. */
static void load_words(const walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const uint8_t *restrict row = smp_row(in, y);
    uint32_t *restrict to = words_of(w, y);
    const int64_t colours = w->p->colours, channels = in->channels, last = w->line - 1;
    if (colours == channels)
        for (int64_t i = 0; i < w->n; i++)
            to[i] = row[i];
    else
        for (int64_t i = 0; i < w->n; i++)
            to[i] = row[i / colours * channels + i % colours];
    memset(to + w->n, 0, (size_t)(w->line - w->n) * sizeof *to);
    if (w->wide == 2)
        for (int64_t i = 0; i < last; i++)
            to[i] |= to[i + 1] << 16;
    else
        for (int64_t i = 0; i < last - 2; i++)
            to[i] |= to[i + 1] << 8 | to[i + 2] << 16 | to[i + 3] << 24;
}

static void load_taps(walk *w)
{
    const smp_view *by = &w->io->second;
    const int bits = 32 / w->wide;
    w->all = smp_template_none();
    memset(w->taps, 0, (size_t)(w->couples * (w->p->height + 2 * BAND)) * sizeof *w->taps);
    for (int64_t dy = 0; dy < w->p->height; dy++) {
        const uint8_t *row = smp_row(by, dy);
        uint32_t *to = w->taps + (dy + BAND) * w->couples;
        for (int64_t i = 0; i < w->row; i++) {
            const uint32_t v = row[i / w->p->colours * by->channels + i % w->p->colours];
            to[i / w->wide] |= (w->wide == 4 ? v ^ 0x80 : v) << (i % w->wide * bits); /* v - 128 */
            smp_template_add(&w->all, 0., (double)v);
        }
    }
}

/* sign: whether the row enters or leaves. */
static void move_columns(const walk *w, int64_t y, int leaves)
{
    const uint32_t *restrict from = words_of(w, y);
    uint32_t *restrict columns = w->columns;
    uint64_t *restrict squares = w->squares;
    for (int64_t i = 0; i < w->n; i++) {
        const uint32_t v = from[i] & 0xff;
        columns[i] += leaves ? 0u - v : v;
        squares[i] += leaves ? (uint64_t)0 - v * v : v * v;
    }
}

/* ------------------------------------------------------------------------------------------------ products */

/* Adds sums of products at samples i + k to to[k]: of rows y + from .. y + to - 1 of the picture, of the template's
 * rows from .. to - 1. */
#ifdef __AVX512BW__
typedef __m512i pair_vector;
enum { PAIR_VECTORS = 2 }; /* of 32 places */
#define PAIRS(name) _mm512_##name

/* Eight couples of a row: what they read overlaps, and loads that cross cache lines are slower than moves of words. */
#define EIGHT(S) S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7)
#define COUPLE(t)                                                                                                      \
    tap = _mm512_set1_epi32((int)taps[t]);                                                                             \
    sum[0] = _mm512_add_epi32(sum[0], _mm512_madd_epi16(_mm512_alignr_epi32(v[1], v[0], 2 * (t)), tap));               \
    sum[1] = _mm512_add_epi32(sum[1], _mm512_madd_epi16(_mm512_alignr_epi32(v[2], v[1], 2 * (t)), tap));
SMP_INLINE void eight_couples(pair_vector sum[2], const uint32_t *from, const uint32_t *taps)
{
    pair_vector v[3], tap;
    v[0] = _mm512_loadu_si512(from);
    v[1] = _mm512_loadu_si512(from + 16);
    v[2] = _mm512_maskz_loadu_epi32(0x3fff, from + 32);
    EIGHT(COUPLE)
}
#elif defined(__AVX2__)
typedef __m256i pair_vector;
enum { PAIR_VECTORS = 4 };
#define PAIRS(name) _mm256_##name
#endif

static void pairs_of(const walk *w, double *sums, int64_t y, int64_t from, int64_t to, int64_t i)
{
#ifdef __AVX2__
    pair_vector sum[PAIR_VECTORS];
    int32_t lanes[32];
    for (int k = 0; k < PAIR_VECTORS; k++)
        sum[k] = PAIRS(set1_epi32)(0);
    for (int64_t r = from; r < to; r++) {
        const uint32_t *words = words_of(w, y + r) + i, *taps = w->taps + (r + BAND) * w->couples;
        int64_t t = 0;
#ifdef __AVX512BW__
        for (; t + 8 <= w->couples; t += 8)
            eight_couples(sum, words + 2 * t, taps + t);
#endif
        for (; t < w->couples; t++) {
            const pair_vector tap = PAIRS(set1_epi32)((int)taps[t]);
            for (int k = 0; k < PAIR_VECTORS; k++) {
                pair_vector v;
                memcpy(&v, words + 2 * t + 32 / PAIR_VECTORS * k, sizeof v);
                sum[k] = PAIRS(add_epi32)(sum[k], PAIRS(madd_epi16)(v, tap));
            }
        }
    }
    memcpy(lanes, sum, sizeof lanes);
    for (int k = 0; k < 32; k++)
        sums[k] = sums[k] + (double)lanes[k];
#else
    int32_t lanes[32] = {0};
    for (int64_t r = from; r < to; r++) {
        const uint32_t *words = words_of(w, y + r) + i, *taps = w->taps + (r + BAND) * w->couples;
        for (int64_t t = 0; t < w->couples; t++) {
            const int32_t one = (int32_t)(taps[t] & 0xffff), two = (int32_t)(taps[t] >> 16);
            for (int k = 0; k < 32; k++) {
                const uint32_t v = words[2 * t + k];
                lanes[k] += one * (int32_t)(v & 0xffff) + two * (int32_t)(v >> 16);
            }
        }
    }
    for (int k = 0; k < 32; k++)
        sums[k] = sums[k] + (double)lanes[k];
#endif
}

#ifdef DOTS
#ifdef __AVX512BW__
typedef __m512i dot_vector;
#define DOTS_(name) _mm512_##name
#define DOT         _mm512_dpbusd_epi32
#else
typedef __m256i dot_vector;
#define DOTS_(name) _mm256_##name
#define DOT         _mm256_dpbusd_avx_epi32
#endif
enum { DOT_PLACES = sizeof(dot_vector) / sizeof(int32_t) };

/* The same of four rows of places from y on, 2 DOT_PLACES of each; rows y + from .. y + to - 1 of the picture. Sums
 * have names, so that they stay in registers. */
DOTS static void dots_of(const walk *w, int64_t y, int64_t from, int64_t to, int64_t i)
{
    const dot_vector zero = DOTS_(set1_epi32)(0);
    dot_vector a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    const int64_t couples = w->couples;
    const uint32_t *const end = w->words + w->ring * w->line, *words = words_of(w, y + from) + i;
    for (int64_t r = from; r < to; r++) {
        const uint32_t *taps = w->taps + (r + BAND) * couples;
        for (int64_t t = 0; t < couples; t++) {
            dot_vector a, b, tap;
            memcpy(&a, words + 4 * t, sizeof a);
            memcpy(&b, words + 4 * t + DOT_PLACES, sizeof b);
#define MEET(k)                                                                                                        \
    tap = DOTS_(set1_epi32)((int)taps[t - k * couples]); /* row y + k of places meets the template's row r - k */      \
    a##k = DOT(a##k, a, tap);                                                                                          \
    b##k = DOT(b##k, b, tap);
            MEET(0) MEET(1) MEET(2) MEET(3)
#undef MEET
        }
        words += w->line;
        words -= words < end ? 0 : w->ring * w->line;
    }
    const dot_vector sums[BAND][2] = {{a0, b0}, {a1, b1}, {a2, b2}, {a3, b3}};
    int32_t lanes[BAND][2 * DOT_PLACES];
    memcpy(lanes, sums, sizeof lanes);
    for (int k = 0; k < BAND; k++)
        for (int x = 0; x < 2 * DOT_PLACES; x++)
            w->products[k * w->line + i + x] += (double)lanes[k][x];
}

/* Whether the processor has these instructions. */
static int has_dots(void)
{
#ifdef __AVX512BW__
    return __builtin_cpu_supports("avx512vnni");
#else
    enum { LEAF = 7, PART = 1, AVX_VNNI = 1 << 4 };
    unsigned a, b, c, d;
    return __get_cpuid_count(LEAF, PART, &a, &b, &c, &d) && a & AVX_VNNI;
#endif
}
#endif

/* Of `rows` rows of places from y on. */
static void make_products(const walk *w, int64_t y, int64_t rows, int64_t ends)
{
    const int64_t height = w->p->height, some = w->row < CHUNK ? CHUNK / w->row : 1;
    memset(w->products, 0, (size_t)(BAND * w->line) * sizeof *w->products);
#ifdef DOTS
    const int64_t last = height + rows - 1;
    for (int64_t from = 0; w->wide == 4 && from < last; from += some)
        for (int64_t i = 0; i < ends; i += 2 * DOT_PLACES)
            dots_of(w, y, from, last - from < some ? last : from + some, i);
#endif
    for (int64_t k = 0; w->wide == 2 && k < rows; k++)
        for (int64_t i = 0; i < ends; i += SMP_TEMPLATE_LANES)
            for (int64_t from = 0; from < height; from += some)
                pairs_of(w, w->products + k * w->line + i, y + k, from, height - from < some ? height : from + some, i);
}

/* Scores of a row of places. Products are there for every sample: of several colours, places use every third, say. */
static void score_row(const walk *w, int64_t y, double *restrict products)
{
    const smp_template *p = w->p;
    const int64_t colours = p->colours;
    const double lacks = w->wide == 4 ? 128. : 0.;
    double *restrict sums = w->sums, *restrict squares = w->sums + w->line;
    float *restrict to = (float *)w->io->result + y * p->across;
    uint64_t sum = 0, square = 0;
    for (int64_t i = 0; i < w->row; i++) {
        sum += w->columns[i];
        square += w->squares[i];
    }
    for (int64_t x = 0, i = 0; x < p->across; x++) {
        sums[x] = (double)(int64_t)sum;
        squares[x] = (double)(int64_t)square;
        products[x] = products[i];
        for (int64_t end = i + colours; i < end; i++) {
            sum += (uint64_t)w->columns[i + w->row] - w->columns[i];
            square += w->squares[i + w->row] - w->squares[i];
        }
    }
    const smp_template template = *p;
    const smp_template_sums small = w->all;
    for (int64_t x = 0; x < p->across; x++) {
        const smp_template_sums all = {sums[x], squares[x], products[x] + lacks * sums[x], small.t, small.tt};
        to[x] = smp_template_score(&template, &all);
    }
}

int SMP_PASTE(template_bytes, SMP_ISA)(const smp_io *io, const smp_template *p, void *scratch, int64_t y0, int64_t y1)
{
    walk w = {.io = io, .p = p, .wide = 2, .n = io->in.width * p->colours, .row = p->width * p->colours};
    const int64_t ends = (p->across - 1) * p->colours + 1;
    if (io->in.format != SMP_U8 || io->second.format != SMP_U8 || w.row > CHUNK)
        return 0;
#ifdef DOTS
    w.wide = !p->in_pairs && has_dots() ? 4 : 2;
#endif
    w.line = (int64_t)smp_template_room(io, p);
    w.ring = p->height + BAND - 1;
    w.couples = (w.row + w.wide - 1) / w.wide;
    w.products = scratch;
    w.sums = w.products + BAND * w.line;
    w.squares = (uint64_t *)(w.sums + 2 * w.line);
    w.words = (uint32_t *)(w.squares + w.line);
    w.columns = w.words + w.ring * w.line;
    w.taps = w.columns + w.line;
    memset(w.columns, 0, (size_t)w.line * sizeof *w.columns);
    memset(w.squares, 0, (size_t)w.line * sizeof *w.squares);
    load_taps(&w);
    int64_t loaded = y0;
    for (; loaded < y0 + p->height - 1; loaded++) {
        load_words(&w, loaded);
        move_columns(&w, loaded, 0);
    }
    for (int64_t y = y0; y < y1; y += BAND) {
        const int64_t rows = y1 - y < BAND ? y1 - y : BAND;
        for (; loaded < y + rows + p->height - 1; loaded++)
            load_words(&w, loaded);
        make_products(&w, y, rows, ends);
        for (int64_t k = 0; k < rows; k++) {
            move_columns(&w, y + k + p->height - 1, 0);
            score_row(&w, y + k, w.products + k * w.line);
            move_columns(&w, y + k, 1);
        }
    }
    return 1;
}
