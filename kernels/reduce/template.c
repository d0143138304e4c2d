/* template on the CPU.
 *   naive  place by place: the definition.
 *   tiled  32 places side by side, in double. Of bytes: sums of the picture from sums of columns, which move down with
 *          the rows; products in integers, two neighbouring samples with one instruction. */
#include "reduce/template.h"

#include <string.h>

SMP_INLINE float *scores_of(const smp_io *io, const smp_template *p, int64_t y)
{
    return (float *)io->result + y * p->across;
}

SMP_CPU_KERNEL(template_scores_naive)
{
    const smp_template *p = params;
    for (int64_t y = y0; y < y1 && y < p->down; y++)
        for (int64_t x = 0; x < p->across; x++)
            scores_of(io, p, y)[x] = smp_template_at(p, io, x, y);
}

/* ------------------------------------------------------------------------------------------------ any samples */

SMP_INLINE void add_lanes(double (*restrict sums)[SMP_TEMPLATE_LANES], const float *restrict v, double t)
{
    for (int k = 0; k < SMP_TEMPLATE_LANES; k++) {
        const double i = (double)v[k];
        sums[0][k] = sums[0][k] + i;
        sums[1][k] = sums[1][k] + i * i;
        sums[2][k] = sums[2][k] + i * t;
    }
}

/* Places x .. x + n - 1 of row y. */
static void lanes_of(const smp_io *io, const smp_template *p, int64_t x, int64_t y, int64_t n)
{
    const smp_view *in = &io->in, *by = &io->second;
    double sums[3][SMP_TEMPLATE_LANES] = {{0}};
    smp_template_sums all = smp_template_none();
    for (int64_t dy = 0; dy < p->height; dy++) {
        const void *row = smp_row(in, y + dy), *small = smp_row(by, dy);
        for (int64_t dx = 0; dx < p->width; dx++)
            for (int32_t c = 0; c < p->colours; c++) {
                const double t = (double)smp_load(small, dx * by->channels + c, by->format);
                float v[SMP_TEMPLATE_LANES] = {0};
                for (int64_t k = 0; k < n; k++)
                    v[k] = smp_load(row, (x + dx + k) * in->channels + c, in->format);
                smp_template_add(&all, 0., t);
                add_lanes(sums, v, t);
            }
    }
    for (int64_t k = 0; k < n; k++) {
        all.i = sums[0][k];
        all.ii = sums[1][k];
        all.it = sums[2][k];
        scores_of(io, p, y)[x + k] = smp_template_score(p, &all);
    }
}

/* ------------------------------------------------------------------------------------------------ bytes */

typedef struct bytes_walk {
    const smp_io *io;
    const smp_template *p;
    uint32_t *pairs;      /* [height][line]: samples i (low half) and i + 1 of a row; row y at y % height */
    uint32_t *columns;    /* sums down the rows under a row of places */
    uint64_t *squares;    /* the same of squares */
    uint32_t *taps;       /* the template's pairs, rows of an even number of samples */
    int64_t n, line;      /* samples of a row; room for one */
    int64_t row, couples; /* samples of a template's row; its pairs */
    smp_template_sums all;
} bytes_walk;

/* Samples of a row without alpha, as 16 bits each beside its right neighbour. */
static void load_pairs(const bytes_walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const uint8_t *restrict row = smp_row(in, y);
    uint32_t *restrict to = w->pairs + y % w->p->height * w->line;
    const int64_t colours = w->p->colours, channels = in->channels;
    if (colours == channels)
        for (int64_t i = 0; i < w->n; i++)
            to[i] = row[i];
    else
        for (int64_t i = 0; i < w->n; i++)
            to[i] = row[i / colours * channels + i % colours];
    for (int64_t i = w->n; i < w->line; i++)
        to[i] = 0;
    for (int64_t i = 0; i + 1 < w->line; i++)
        to[i] |= to[i + 1] << 16;
}

static void load_taps(bytes_walk *w)
{
    const smp_view *by = &w->io->second;
    w->all = smp_template_none();
    for (int64_t dy = 0; dy < w->p->height; dy++) {
        const uint8_t *row = smp_row(by, dy);
        uint32_t *to = w->taps + dy * w->couples;
        memset(to, 0, (size_t)w->couples * sizeof *to);
        for (int64_t i = 0; i < w->row; i++) {
            const uint32_t v = row[i / w->p->colours * by->channels + i % w->p->colours];
            to[i / 2] |= v << (i % 2 * 16);
            smp_template_add(&w->all, 0., (double)v);
        }
    }
}

/* sign: whether the row enters or leaves. */
static void move_columns(const bytes_walk *w, int64_t y, int leaves)
{
    const uint32_t *restrict from = w->pairs + y % w->p->height * w->line;
    uint32_t *restrict columns = w->columns;
    uint64_t *restrict squares = w->squares;
    for (int64_t i = 0; i < w->n; i++) {
        const uint32_t v = from[i] & 0xffff;
        columns[i] += leaves ? 0u - v : v;
        squares[i] += leaves ? (uint64_t)0 - v * v : v * v;
    }
}

enum { CHUNK = 16384 /* pairs whose products of bytes fit 31 bits */ };

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

/* to[k] += sums of products of `rows` rows from dy on, at samples i + step k. */
SMP_INLINE void products_of(const bytes_walk *w, double *to, int64_t y, int64_t dy, int64_t rows, int64_t i)
{
#ifdef __AVX2__
    pair_vector sum[PAIR_VECTORS];
    int32_t lanes[32];
    for (int k = 0; k < PAIR_VECTORS; k++)
        sum[k] = PAIRS(set1_epi32)(0);
    for (int64_t r = dy; r < dy + rows; r++) {
        const uint32_t *from = w->pairs + (y + r) % w->p->height * w->line + i, *taps = w->taps + r * w->couples;
        int64_t t = 0;
#ifdef __AVX512BW__
        for (; t + 8 <= w->couples; t += 8)
            eight_couples(sum, from + 2 * t, taps + t);
#endif
        for (; t < w->couples; t++) {
            const pair_vector tap = PAIRS(set1_epi32)((int)taps[t]);
            for (int k = 0; k < PAIR_VECTORS; k++) {
                pair_vector v;
                memcpy(&v, from + 2 * t + 32 / PAIR_VECTORS * k, sizeof v);
                sum[k] = PAIRS(add_epi32)(sum[k], PAIRS(madd_epi16)(v, tap));
            }
        }
    }
    memcpy(lanes, sum, sizeof lanes);
    for (int k = 0; k < 32; k++)
        to[k] = to[k] + (double)lanes[k];
#else
    int32_t lanes[32] = {0};
    for (int64_t r = dy; r < dy + rows; r++) {
        const uint32_t *from = w->pairs + (y + r) % w->p->height * w->line + i, *taps = w->taps + r * w->couples;
        for (int64_t t = 0; t < w->couples; t++) {
            const int32_t one = (int32_t)(taps[t] & 0xffff), two = (int32_t)(taps[t] >> 16);
            for (int k = 0; k < 32; k++) {
                const uint32_t v = from[2 * t + k];
                lanes[k] += one * (int32_t)(v & 0xffff) + two * (int32_t)(v >> 16);
            }
        }
    }
    for (int k = 0; k < 32; k++)
        to[k] = to[k] + (double)lanes[k];
#endif
}

/* A row of places. Products are made at every sample: of several colours, places use every third, say. */
static void bytes_row(const bytes_walk *w, int64_t y)
{
    const smp_template *p = w->p;
    const int64_t colours = p->colours, ends = (p->across - 1) * colours + 1;
    const int64_t some = w->couples < CHUNK ? CHUNK / w->couples : 1;
    float *to = scores_of(w->io, p, y);
    uint64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < w->row; i++) {
        sum += w->columns[i];
        squares += w->squares[i];
    }
    for (int64_t i = 0; i < ends; i += SMP_TEMPLATE_LANES) {
        double products[SMP_TEMPLATE_LANES] = {0};
        for (int64_t dy = 0; dy < p->height; dy += some)
            products_of(w, products, y, dy, p->height - dy < some ? p->height - dy : some, i);
        for (int64_t k = i; k < ends && k < i + SMP_TEMPLATE_LANES; k++) {
            if (k % colours == 0) {
                smp_template_sums all = w->all;
                all.i = (double)(int64_t)sum;
                all.ii = (double)(int64_t)squares;
                all.it = products[k - i];
                to[k / colours] = smp_template_score(p, &all);
            }
            sum += (uint64_t)w->columns[k + w->row] - w->columns[k];
            squares += w->squares[k + w->row] - w->squares[k];
        }
    }
}

static void bytes_rows(const smp_io *io, const smp_template *p, void *scratch, int64_t y0, int64_t y1)
{
    bytes_walk w = {.io = io, .p = p, .n = io->in.width * p->colours, .row = p->width * p->colours};
    w.line = w.n + 64;
    w.couples = (w.row + 1) / 2;
    w.squares = scratch;
    w.pairs = (uint32_t *)(w.squares + w.line);
    w.columns = w.pairs + p->height * w.line;
    w.taps = w.columns + w.line;
    memset(w.columns, 0, (size_t)w.line * sizeof *w.columns);
    memset(w.squares, 0, (size_t)w.line * sizeof *w.squares);
    load_taps(&w);
    for (int64_t y = y0; y < y0 + p->height - 1; y++) {
        load_pairs(&w, y);
        move_columns(&w, y, 0);
    }
    for (int64_t y = y0; y < y1; y++) {
        load_pairs(&w, y + p->height - 1);
        move_columns(&w, y + p->height - 1, 0);
        bytes_row(&w, y);
        move_columns(&w, y, 1);
    }
}

SMP_CPU_KERNEL(template_scores_tiled)
{
    const smp_template *p = params;
    y1 = y1 < p->down ? y1 : p->down;
    if (y0 >= y1)
        return;
    if (io->in.format == SMP_U8 && io->second.format == SMP_U8 && (p->width * p->colours + 1) / 2 <= CHUNK) {
        bytes_rows(io, p, scratch, y0, y1);
        return;
    }
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < p->across; x += SMP_TEMPLATE_LANES)
            lanes_of(io, p, x, y, p->across - x < SMP_TEMPLATE_LANES ? p->across - x : SMP_TEMPLATE_LANES);
}

/* ------------------------------------------------------------------------------------------------ pictures */

SMP_CPU_KERNEL(template_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++)
            ((float *)smp_row(&io->out, y))[x] = smp_template_pixel(params, io, x, y);
}
