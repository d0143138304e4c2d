/* bilateral on the CPU.
 *   naive  pixel by pixel: the definition.
 *   tiled  a tile of columns, whose rows stay in cache as planes of floats; sixteen or more pixels side by side, the
 *          table's entries gathered. The weight of two pixels is the same for both: of a small radius it is made once,
 *          with the pixel below or to the right, and kept until that one's turn comes. */
#include "stencil/bilateral.h"

SMP_CPU_KERNEL(bilateral_naive)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            float out[SMP_MAX_CHANNELS];
            smp_bilateral_pixel(params, io, x, y, out);
            for (int c = 0; c < channels; c++)
                stencil_put(io, y, x * channels + c, out[c]);
        }
}

typedef struct bilateral_walk {
    const smp_io *io;
    const smp_bilateral *p;
    float *lines; /* [rows % side][channel][line] */
    float *row;   /* results of a tile */
    int64_t x0, pixels, line;
    int side;
} bilateral_walk;

static float *line_at(const bilateral_walk *w, int64_t y, int c)
{
    const int64_t slot = (y % w->side + w->side) % w->side;
    return w->lines + (slot * w->io->in.channels + c) * w->line;
}

static int64_t fewer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Samples from .. end - 1 of a line, which lie inside the row; null: outside. Returns end - 1. */
static int64_t load_inside(const bilateral_walk *w, float *restrict to, const void *row, int c, int64_t from,
                           int64_t end, float outside)
{
    const smp_view *in = &w->io->in;
    const int64_t channels = in->channels, first = w->x0 - w->p->radius;
    if (row && channels == 1)
        smp_load_row(to + from, (const char *)row + (first + from) * smp_sample_size(in->format), in->format,
                     end - from);
    else
        for (int64_t i = from; i < end; i++)
            to[i] = row ? smp_load(row, (first + i) * channels + c, in->format) : outside;
    return end - 1;
}

/* Row y, which may lie outside the picture, of the tile and what is beside it. */
static void load_lines(const bilateral_walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const int channels = in->channels, r = w->p->radius;
    const float outside = smp_outside(w->p->edge, w->p->fill, in->white);
    const int64_t inside = smp_border(y, in->height, w->p->edge);
    const void *row = inside < 0 ? NULL : smp_row(in, inside);
    const int64_t from = w->x0 < r ? r - w->x0 : 0; /* samples from .. end - 1 of the line are of the row itself */
    const int64_t end = fewer(in->width - w->x0 + r, w->pixels + 2 * r);
    for (int c = 0; c < channels; c++) {
        float *restrict to = line_at(w, y, c);
        for (int64_t i = 0; i < w->pixels + 2 * r; i++) {
            const int64_t at = w->x0 - r + i, x = smp_border(at, in->width, w->p->edge);
            if (i == from)
                i = load_inside(w, to, row, c, from, end, outside);
            else
                to[i] = x < 0 || !row ? outside : smp_load(row, x * channels + c, in->format);
        }
        for (int64_t i = w->pixels + 2 * r; i < w->line; i++)
            to[i] = 0.f;
    }
}

/* Sixteen pixels from tile column x on. colours, bytes: constants. */
SMP_INLINE void lanes_of(const bilateral_walk *w, int64_t y, int64_t x, const int colours, const int bytes)
{
    enum { N = SMP_BILATERAL_LANES };
    const smp_bilateral *p = w->p;
    const int r = p->radius, side = w->side;
    const float *space = w->io->table, *restrict likeness = smp_bilateral_likeness_table(p, w->io->table);
    const float most = bytes ? 255.f * (float)colours : 0.f, factor = p->factor, unit = p->unit;
    float middle[SMP_MAX_CHANNELS][N], num[SMP_MAX_CHANNELS][N], den[N];
    for (int i = 0; i < N; i++)
        den[i] = 0.f;
    for (int c = 0; c < colours; c++)
        for (int i = 0; i < N; i++) {
            middle[c][i] = line_at(w, y, c)[x + r + i];
            num[c][i] = 0.f;
        }
    for (int dy = -r; dy <= r; dy++) {
        const float *lines = line_at(w, y + dy, 0) + x;
        for (int dx = 0; dx < side; dx++) {
            const float weight = space[(dy + r) * side + dx];
            float difference[N], k[N];
            if (weight == 0.f)
                continue;
            for (int i = 0; i < N; i++)
                difference[i] = 0.f;
            for (int c = 0; c < colours; c++)
                for (int i = 0; i < N; i++)
                    difference[i] = difference[i] + smp_abs(lines[c * w->line + dx + i] - middle[c][i]);
            for (int i = 0; i < N; i++)
                k[i] = weight * smp_bilateral_likeness(difference[i], likeness, most, 1, factor, unit);
            for (int c = 0; c < colours; c++)
                for (int i = 0; i < N; i++)
                    num[c][i] = fmaf(k[i], lines[c * w->line + dx + i], num[c][i]);
            for (int i = 0; i < N; i++)
                den[i] = den[i] + k[i];
        }
    }
    const int channels = w->io->in.channels;
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < N && x + i < w->pixels; i++)
            w->row[(x + i) * channels + c] = c < colours ? num[c][i] / den[i] : line_at(w, y, c)[x + r + i];
}

#ifdef __AVX2__
/* The same of 8 bits, in two vectors: the table's entries are gathered. max and min take NaN to 0, as smp_round_to().
 */
SMP_INLINE void bytes_of(const bilateral_walk *w, int64_t y, int64_t x, const int colours)
{
    enum { HALF = 8, HALVES = SMP_BILATERAL_LANES / HALF };
    const int r = w->p->radius, side = w->side, channels = w->io->in.channels;
    const float *space = w->io->table, *likeness = smp_bilateral_likeness_table(w->p, w->io->table);
    const __m256 most = _mm256_set1_ps(255.f * (float)colours), none = _mm256_setzero_ps();
    const __m256 sign = _mm256_set1_ps(-0.f);
    __m256 middle[3][HALVES], num[3][HALVES], den[HALVES];
    for (int h = 0; h < HALVES; h++) {
        den[h] = none;
        for (int c = 0; c < colours; c++) {
            middle[c][h] = _mm256_loadu_ps(line_at(w, y, c) + x + r + h * HALF);
            num[c][h] = none;
        }
    }
    for (int dy = -r; dy <= r; dy++) {
        const float *lines = line_at(w, y + dy, 0) + x;
        for (int dx = 0; dx < side; dx++) {
            const float weight = space[(dy + r) * side + dx];
            if (weight == 0.f)
                continue;
            for (int h = 0; h < HALVES; h++) {
                __m256 q[3], difference = none;
                for (int c = 0; c < colours; c++) {
                    q[c] = _mm256_loadu_ps(lines + c * w->line + dx + h * HALF);
                    difference = _mm256_add_ps(difference, _mm256_andnot_ps(sign, _mm256_sub_ps(q[c], middle[c][h])));
                }
                difference = _mm256_min_ps(_mm256_max_ps(difference, none), most);
                const __m256i entry = _mm256_cvtps_epi32(difference);
                const __m256 k = _mm256_mul_ps(_mm256_set1_ps(weight), _mm256_i32gather_ps(likeness, entry, 4));
                for (int c = 0; c < colours; c++)
                    num[c][h] = _mm256_fmadd_ps(k, q[c], num[c][h]);
                den[h] = _mm256_add_ps(den[h], k);
            }
        }
    }
    float results[SMP_BILATERAL_LANES];
    for (int c = 0; c < channels; c++) {
        for (int h = 0; h < HALVES && c < colours; h++)
            _mm256_storeu_ps(results + h * HALF, _mm256_div_ps(num[c][h], den[h]));
        for (int i = 0; i < SMP_BILATERAL_LANES && x + i < w->pixels; i++)
            w->row[(x + i) * channels + c] = c < colours ? results[i] : line_at(w, y, c)[x + r + i];
    }
}
#else
SMP_INLINE void bytes_of(const bilateral_walk *w, int64_t y, int64_t x, const int colours)
{
    lanes_of(w, y, x, colours, 1);
}
#endif

/* ------------------------------------------------------------------------------------------------ pairs */

enum { PAIRS_MOST = (2 * SMP_BILATERAL_PAIRS + 1) * (SMP_BILATERAL_PAIRS + 1) };

/* A neighbour below or to the right, or the pixel itself. Of source row y the weights with (x + dx, y + dy) lie in line
 * y mod (dy + 1), at x + radius. */
typedef struct bilateral_pair {
    int dx, dy;
    float weight, *lines;
} bilateral_pair;

typedef struct bilateral_pairs {
    bilateral_pair list[PAIRS_MOST];
    int count, places[SMP_BILATERAL_PAIRS + 1][2 * SMP_BILATERAL_PAIRS + 1]; /* [dy][dx + radius]: which; -1: none */
} bilateral_pairs;

static void find_pairs(const bilateral_walk *w, float *lines, bilateral_pairs *pairs)
{
    const int r = w->p->radius;
    const float *space = w->io->table;
    pairs->count = 0;
    for (int dy = 0; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            const float weight = space[(dy + r) * w->side + dx + r];
            pairs->places[dy][dx + r] = -1;
            if (weight == 0.f || (dy == 0 && dx < 0))
                continue;
            pairs->places[dy][dx + r] = pairs->count;
            pairs->list[pairs->count++] = (bilateral_pair){dx, dy, weight, lines};
            lines += (dy + 1) * w->line;
        }
}

static float *pair_line(const bilateral_walk *w, const bilateral_pair *pair, int64_t y)
{
    const int64_t rows = pair->dy + 1;
    return pair->lines + (y % rows + rows) % rows * w->line;
}

/* Weights of `n` pairs from lines p and q of the first colour. */
SMP_INLINE void weigh(const bilateral_walk *w, float *restrict to, const float *restrict p, const float *restrict q,
                      float weight, int64_t n, const int colours, const int bytes)
{
    const float *restrict likeness = smp_bilateral_likeness_table(w->p, w->io->table);
    const float last = bytes ? 255.f * (float)colours : 0.f;
    int64_t i = 0;
#ifdef __AVX2__
    const __m256 most = _mm256_set1_ps(last), none = _mm256_setzero_ps(), sign = _mm256_set1_ps(-0.f);
    for (; bytes && i < n; i += 8) { /* max and min take NaN to 0, as smp_round_to() */
        __m256 difference = none;
        for (int c = 0; c < colours; c++)
            difference =
                _mm256_add_ps(difference, _mm256_andnot_ps(sign, _mm256_sub_ps(_mm256_loadu_ps(q + c * w->line + i),
                                                                               _mm256_loadu_ps(p + c * w->line + i))));
        const __m256i entry = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(difference, none), most));
        _mm256_storeu_ps(to + i, _mm256_mul_ps(_mm256_set1_ps(weight), _mm256_i32gather_ps(likeness, entry, 4)));
    }
#endif
    for (; i < n; i++) {
        float difference = 0.f;
        for (int c = 0; c < colours; c++)
            difference = difference + smp_abs(q[c * w->line + i] - p[c * w->line + i]);
        to[i] = weight * smp_bilateral_likeness(difference, likeness, last, 1, w->p->factor, w->p->unit);
    }
}

/* Weights of row y that rows from `first` on need. Of pairs to the right also those of pixels left of the tile, and of
 * pairs to the left those right of it. */
SMP_INLINE void weigh_row(const bilateral_walk *w, const bilateral_pairs *pairs, int64_t y, int64_t first,
                          const int colours, const int bytes)
{
    const int r = w->p->radius;
    for (int i = 0; i < pairs->count; i++) {
        const bilateral_pair *pair = &pairs->list[i];
        const int dx = pair->dx, from = r - (dx > 0 ? dx : 0);
        if (y + pair->dy >= first)
            weigh(w, pair_line(w, pair, y) + from, line_at(w, y, 0) + from, line_at(w, y + pair->dy, 0) + from + dx,
                  pair->weight, w->pixels + (dx < 0 ? -dx : dx), colours, bytes);
    }
}

typedef struct bilateral_term { /* lines at the tile's first pixel */
    const float *weights, *values;
} bilateral_term;

/* Pixels from tile column x on: the terms in order. */
SMP_INLINE void add_terms(const bilateral_walk *w, const bilateral_term *terms, int count, int64_t y, int64_t x,
                          const int colours, const int lanes)
{
    const int channels = w->io->in.channels;
    float num[SMP_MAX_CHANNELS][SMP_BILATERAL_BESIDE], den[SMP_BILATERAL_BESIDE];
    for (int i = 0; i < lanes; i++)
        den[i] = 0.f;
    for (int c = 0; c < colours; c++)
        for (int i = 0; i < lanes; i++)
            num[c][i] = 0.f;
    for (int k = 0; k < count; k++) {
        const float *weights = terms[k].weights + x, *values = terms[k].values + x;
        for (int c = 0; c < colours; c++)
            for (int i = 0; i < lanes; i++)
                num[c][i] = fmaf(weights[i], values[c * w->line + i], num[c][i]);
        for (int i = 0; i < lanes; i++)
            den[i] = den[i] + weights[i];
    }
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < lanes && x + i < w->pixels; i++)
            w->row[(x + i) * channels + c] = c < colours ? num[c][i] / den[i] : line_at(w, y, c)[x + w->p->radius + i];
}

static void pairs_row(const bilateral_walk *w, const bilateral_pairs *pairs, int64_t y)
{
    bilateral_term terms[2 * PAIRS_MOST];
    const int r = w->p->radius, colours = smp_bilateral_colours(&w->io->in);
    int count = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            const int back = dy < 0 || (dy == 0 && dx < 0);
            const int which = pairs->places[back ? -dy : dy][back ? r - dx : r + dx];
            if (which < 0)
                continue;
            const float *weights = pair_line(w, &pairs->list[which], back ? y + dy : y);
            terms[count++] = (bilateral_term){weights + r + (back ? dx : 0), line_at(w, y + dy, 0) + r + dx};
        }
    if (colours == 1)
        for (int64_t x = 0; x < w->pixels; x += SMP_BILATERAL_BESIDE)
            add_terms(w, terms, count, y, x, 1, SMP_BILATERAL_BESIDE);
    else if (colours == 3)
        for (int64_t x = 0; x < w->pixels; x += SMP_BILATERAL_LANES)
            add_terms(w, terms, count, y, x, 3, SMP_BILATERAL_LANES);
    else
        for (int64_t x = 0; x < w->pixels; x += SMP_BILATERAL_LANES)
            add_terms(w, terms, count, y, x, colours, SMP_BILATERAL_LANES);
}

static void weigh_pairs(const bilateral_walk *w, const bilateral_pairs *pairs, int64_t y, int64_t first)
{
    const int colours = smp_bilateral_colours(&w->io->in), bytes = w->io->in.white == 255.f;
    if (colours == 1 && bytes)
        weigh_row(w, pairs, y, first, 1, 1);
    else if (colours == 3 && bytes)
        weigh_row(w, pairs, y, first, 3, 1);
    else if (colours == 1)
        weigh_row(w, pairs, y, first, 1, 0);
    else
        weigh_row(w, pairs, y, first, colours, bytes);
}

/* ------------------------------------------------------------------------------------------------ tiles */

static void store_row(const bilateral_walk *w, int64_t y)
{
    const stencil_tile tile = {.x0 = w->x0, .pixels = w->pixels, .samples = w->pixels * w->io->in.channels};
    stencil_store(w->io, &tile, y, w->row, 0);
}

static void tile_row(const bilateral_walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const int colours = smp_bilateral_colours(in), bytes = in->white == 255.f;
    for (int64_t x = 0; x < w->pixels; x += SMP_BILATERAL_LANES)
        if (colours == 1 && bytes)
            bytes_of(w, y, x, 1);
        else if (colours == 3 && bytes)
            bytes_of(w, y, x, 3);
        else if (colours == 1)
            lanes_of(w, y, x, 1, 0);
        else if (bytes)
            lanes_of(w, y, x, colours, 1);
        else
            lanes_of(w, y, x, colours, 0);
    store_row(w, y);
}

SMP_CPU_KERNEL(bilateral_tiled)
{
    bilateral_walk w = {.io = io, .p = params, .lines = scratch};
    const int r = w.p->radius;
    w.side = 2 * r + 1;
    w.line = smp_bilateral_line(w.p);
    w.row = w.lines + w.side * io->in.channels * w.line;
    bilateral_pairs pairs;
    const int paired = r <= SMP_BILATERAL_PAIRS;
    if (paired)
        find_pairs(&w, w.row + SMP_BILATERAL_TILE * SMP_MAX_CHANNELS, &pairs);
    for (w.x0 = 0; w.x0 < io->in.width; w.x0 += SMP_BILATERAL_TILE) {
        w.pixels = io->in.width - w.x0 < SMP_BILATERAL_TILE ? io->in.width - w.x0 : SMP_BILATERAL_TILE;
        for (int64_t y = y0 - r; y < y0 + r; y++) {
            load_lines(&w, y);
            if (paired && y >= y0) /* rows y - r to y are there */
                weigh_pairs(&w, &pairs, y - r, y0);
        }
        for (int64_t y = y0; y < y1; y++) {
            load_lines(&w, y + r);
            if (paired) {
                weigh_pairs(&w, &pairs, y, y0);
                pairs_row(&w, &pairs, y);
                store_row(&w, y);
            } else {
                tile_row(&w, y);
            }
        }
    }
}
