/* template of bytes on a CPU: sums of the picture from sums of columns, which move down with the rows; products in
 * whole numbers, of neighbouring samples with one instruction: two, or four where the processor has VNNI (for one of
 * the factors has a sign there, the template's are 128 less, and 128 S_I is added).
 *
 * A word for each sample of the picture holds it and those to its right, so that places side by side are words side by
 * side. Four rows of places are made together: words are read once for all of them. */
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

/* Takes a row in, or out where it leaves. */
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

/* Adds to w->products, of four rows of places from y on and two vectors of each from sample i on, the products of rows
 * y + from .. y + to - 1 of the picture. A function for each way, with attribute HOW: two or four samples of a word,
 * WIDE. Row y + k of places meets the template's row r - k, where rows before the first and behind the last are empty.
 * Sums have names, so that they stay in registers. */
#define PRODUCTS(HOW, NAME, VECTOR, WIDE, ZERO, SAME, ADD)                                                             \
    HOW static void NAME(const walk *w, int64_t y, int64_t from, int64_t to, int64_t i)                                \
    {                                                                                                                  \
        enum { PLACES = sizeof(VECTOR) / sizeof(int32_t) };                                                            \
        VECTOR a0 = ZERO, a1 = ZERO, a2 = ZERO, a3 = ZERO, b0 = ZERO, b1 = ZERO, b2 = ZERO, b3 = ZERO;                 \
        const int64_t couples = w->couples;                                                                            \
        const uint32_t *const end = w->words + w->ring * w->line, *words = words_of(w, y + from) + i;                  \
        for (int64_t r = from; r < to; r++) {                                                                          \
            const uint32_t *taps = w->taps + (r + BAND) * couples;                                                     \
            for (int64_t t = 0; t < couples; t++) {                                                                    \
                const VECTOR tap0 = SAME((int)taps[t]), tap1 = SAME((int)taps[t - couples]);                           \
                const VECTOR tap2 = SAME((int)taps[t - 2 * couples]), tap3 = SAME((int)taps[t - 3 * couples]);         \
                VECTOR a, b;                                                                                           \
                memcpy(&a, words + WIDE * t, sizeof a);                                                                \
                memcpy(&b, words + WIDE * t + PLACES, sizeof b);                                                       \
                a0 = ADD(a0, a, tap0), b0 = ADD(b0, b, tap0), a1 = ADD(a1, a, tap1), b1 = ADD(b1, b, tap1);            \
                a2 = ADD(a2, a, tap2), b2 = ADD(b2, b, tap2), a3 = ADD(a3, a, tap3), b3 = ADD(b3, b, tap3);            \
            }                                                                                                          \
            words += w->line;                                                                                          \
            words -= words < end ? 0 : w->ring * w->line;                                                              \
        }                                                                                                              \
        const VECTOR sums[BAND][2] = {{a0, b0}, {a1, b1}, {a2, b2}, {a3, b3}};                                         \
        int32_t lanes[BAND][2 * PLACES];                                                                               \
        memcpy(lanes, sums, sizeof lanes);                                                                             \
        for (int k = 0; k < BAND; k++)                                                                                 \
            for (int x = 0; x < 2 * PLACES; x++)                                                                       \
                w->products[k * w->line + i + x] += (double)lanes[k][x];                                               \
    }

#if defined(__AVX512BW__)
enum { STEP = 32 }; /* places */
#define PAIR(sum, v, t) _mm512_add_epi32(sum, _mm512_madd_epi16(v, t))
PRODUCTS(, pairs_of, __m512i, 2, _mm512_setzero_si512(), _mm512_set1_epi32, PAIR)
PRODUCTS(DOTS, dots_of, __m512i, 4, _mm512_setzero_si512(), _mm512_set1_epi32, _mm512_dpbusd_epi32)
#elif defined(__AVX2__)
enum { STEP = 16 };
#define PAIR(sum, v, t) _mm256_add_epi32(sum, _mm256_madd_epi16(v, t))
PRODUCTS(, pairs_of, __m256i, 2, _mm256_setzero_si256(), _mm256_set1_epi32, PAIR)
PRODUCTS(DOTS, dots_of, __m256i, 4, _mm256_setzero_si256(), _mm256_set1_epi32, _mm256_dpbusd_avx_epi32)
#else
enum { STEP = 8 };
typedef int32_t four_words __attribute__((vector_size(16)));
SMP_INLINE four_words word_of_all(int word)
{
    return (four_words){word, word, word, word};
}
SMP_INLINE four_words pair(four_words sum, four_words v, four_words t)
{
    return sum + (v & 0xffff) * (t & 0xffff) + (v >> 16) * (t >> 16); /* bytes: no sign */
}
PRODUCTS(, pairs_of, four_words, 2, word_of_all(0), word_of_all, pair)
#endif

#ifdef DOTS
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

/* Makes the products of `rows` rows of places from y on. */
static void make_products(const walk *w, int64_t y, int64_t rows, int64_t ends)
{
    const int64_t last = w->p->height + rows - 1, some = CHUNK / w->row;
    memset(w->products, 0, (size_t)(BAND * w->line) * sizeof *w->products);
    for (int64_t from = 0; from < last; from += some)
        for (int64_t i = 0; i < ends; i += STEP) {
            const int64_t to = last - from < some ? last : from + some;
#ifdef DOTS
            if (w->wide == 4)
                dots_of(w, y, from, to, i);
            else
#endif
                pairs_of(w, y, from, to, i);
        }
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
