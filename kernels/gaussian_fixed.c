/* gaussian arithmetic=fixed on the CPU (bell_fixed.h has the definition).
 *   naive  two launches, sample by sample; the picture between holds S, which f32 holds exactly.
 *   tiled  the walk of gaussian_tiled with rows of 16-bit integers: S - 32768 is a signed one. Two taps a
 * multiply-add (pmaddwd): along rows over a line in which each sample lies beside its neighbour, down columns over two
 * rows interleaved, each such pair serving four output rows. A weight above 32767 is taken as that less 65536, and the
 * samples' own 65536ths are added at the end. */
#include "bell_fixed.h"
#include "gaussian.h"

#if defined(__SSE2__)
#include <immintrin.h>
#define FIXED_VECTORS /* else plain C */
#endif

/* ---------------------------------------------------------------------------------------------- naive */

void SMP_PASTE(gaussian_fixed_rows, SMP_ISA)(const smp_io *io, const smp_bell *g, int64_t y0, int64_t y1)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++)
                stencil_put(io, y, x * channels + c, (float)smp_fixed_row_at(&io->in, g, x, y, c));
}

void SMP_PASTE(gaussian_fixed_columns, SMP_ISA)(const smp_io *io, const smp_bell *g, int64_t y0, int64_t y1)
{
    const float outside = 256.f * (float)smp_fixed_outside(g);
    const int channels = io->in.channels, r = g->radius;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                uint32_t sum = 0;
                for (int i = -r; i <= r; i++)
                    sum += smp_fixed_weight(g, i) *
                           (uint32_t)smp_at_border(&io->in, x, y + i, c, g->edge, outside);
                stencil_put(io, y, x * channels + c, (float)smp_fixed_result(sum));
            }
}

/* ---------------------------------------------------------------------------------------------- tiled */

/* As many 16-bit lanes as a vector has, with what the passes do to them. `sum` are two vectors of 32-bit lanes: of the
 * first and the second half of the samples where they come from `wide`, and in the order that `narrow` wants else. */
#if defined(__AVX512BW__)
typedef __m512i lanes16;
#define LANES         32
#define OP(name)      _mm512_##name
#define LOAD(from)    _mm512_loadu_si512(from)
#define STORE(to, v)  _mm512_storeu_si512(to, v)
#define IN_ORDER(v)   _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v)
#define STORE_BYTES(to, v) _mm256_storeu_si256((__m256i *)(void *)(to), _mm512_cvtepi16_epi8(v))
#define ZERO()        _mm512_setzero_si512()
#elif defined(__AVX2__)
typedef __m256i lanes16;
#define LANES         16
#define OP(name)      _mm256_##name
#define LOAD(from)    _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define STORE(to, v)  _mm256_storeu_si256((__m256i *)(void *)(to), v)
#define IN_ORDER(v)   _mm256_permute4x64_epi64(v, 0xd8)
#define STORE_BYTES(to, v)                                                                                             \
    _mm_storeu_si128((__m128i *)(void *)(to),                                                                          \
                     _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0xd8)))
#define ZERO()        _mm256_setzero_si256()
#elif defined(__SSE2__)
typedef __m128i lanes16;
#define LANES         8
#define OP(name)      _mm_##name
#define LOAD(from)    _mm_loadu_si128((const __m128i *)(const void *)(from))
#define STORE(to, v)  _mm_storeu_si128((__m128i *)(void *)(to), v)
#define IN_ORDER(v)   (v)
#define STORE_BYTES(to, v) _mm_storel_epi64((__m128i *)(void *)(to), _mm_packus_epi16(v, v))
#define ZERO()        _mm_setzero_si128()
#else
#define LANES 16
#endif

enum {
    FIXED_LANES = 64,                /* loops run over a multiple of this many samples */
    FIXED_PITCH = STENCIL_PITCH,     /* 16-bit values: window rows start in different cache sets */
    FIXED_PAIRS = SMP_FIXED_RADIUS + 2
};
_Static_assert(STENCIL_TILE % FIXED_LANES == 0 && FIXED_LANES % LANES == 0, "whole vectors");

typedef struct fixed_walk {
    const smp_bell *g;
    uint8_t outside;
    int heavy;                    /* the middle weight is above 32767 */
    uint32_t across[FIXED_PAIRS]; /* weights of taps 2p and 2p+1 of the row pass, .. */
    uint32_t down[FIXED_PAIRS][4]; /* and of rows 2p and 2p+1 for each of four output rows; zero past the taps */
    uint8_t *bytes;               /* a line with its halo, .. */
    uint32_t *pairs;              /* each of its samples with the same channel's of the next pixel, .. */
    uint8_t *rows;                /* and four output rows of STENCIL_TILE samples */
} fixed_walk;

/* Elements of a line. */
SMP_INLINE size_t fixed_line(const smp_bell *g, int channels)
{
    return ((size_t)(STENCIL_TILE + (2 * g->radius + 2) * channels) + FIXED_LANES - 1) / FIXED_LANES * FIXED_LANES;
}

/* The weights of taps `tap` and `tap` + 1, counted from the first. */
static uint32_t fixed_pair(const smp_bell *g, int tap)
{
    uint32_t pair = 0;
    for (int i = 0; i < 2; i++)
        if (tap + i >= 0 && tap + i <= 2 * g->radius)
            pair |= (smp_fixed_weight(g, tap + i - g->radius) & 0xffff) << 16 * i;
    return pair;
}

/* Pixels xa .. xb-1 of a row, by the border rule where they lie outside. */
SMP_INLINE void fixed_bytes(uint8_t *to, const smp_view *in, const void *row, int64_t xa, int64_t xb, int edge,
                            uint8_t outside)
{
    for (int64_t x = xa; x < xb; x++) {
        const int64_t from = smp_border(x, in->width, edge);
        for (int c = 0; c < in->channels; c++)
            *to++ = from < 0 ? outside : (uint8_t)smp_fixed_code(smp_load(row, from * in->channels + c, in->format));
    }
}

/* A tile's picture row with the halo of its sides; `row` exists. */
SMP_INLINE void fixed_load(uint8_t *to, const smp_view *in, const char *row, const stencil_tile *tile, int64_t r,
                           int edge, uint8_t outside)
{
    const int64_t xa = tile->x0 - r, xb = tile->x0 + tile->pixels + r; /* wanted */
    const int64_t a = xa < 0 ? 0 : xa, b = xb > in->width ? in->width : xb;
    const int64_t n = (b - a) * in->channels;
    uint8_t *middle = to + (a - xa) * in->channels;
    fixed_bytes(to, in, row, xa, a, edge, outside);
    if (in->format == SMP_U8)
        memcpy(middle, row + a * in->channels, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++)
            middle[i] = (uint8_t)smp_fixed_code(smp_load(row, a * in->channels + i, in->format));
    fixed_bytes(middle + n, in, row, b, xb, edge, outside);
}

/* The row pass: S - 32768 of n samples, a multiple of FIXED_LANES. */
SMP_INLINE void fixed_across(int16_t *restrict to, const fixed_walk *f, int64_t channels, int64_t n)
{
    const int r = f->g->radius;
#ifdef FIXED_VECTORS
    const lanes16 half = OP(set1_epi32)(128), shift = OP(set1_epi32)(32768);
    for (int64_t x = 0; x < n; x += 2 * LANES) {
        const uint32_t *from = f->pairs + x;
        lanes16 sum[4] = {half, half, half, half};
        for (int p = 0; p <= r; p++, from += 2 * channels) {
            const lanes16 weights = OP(set1_epi32)((int)f->across[p]);
            for (int i = 0; i < 4; i++)
                sum[i] = OP(add_epi32)(sum[i], OP(madd_epi16)(LOAD(from + i * LANES / 2), weights));
        }
        from = f->pairs + x + r * channels;
        for (int i = 0; i < 4; i++) {
            if (f->heavy)
                sum[i] = OP(add_epi32)(sum[i], OP(slli_epi32)(LOAD(from + i * LANES / 2), 16));
            sum[i] = OP(sub_epi32)(OP(srli_epi32)(sum[i], 8), shift);
        }
        STORE(to + x, IN_ORDER(OP(packs_epi32)(sum[0], sum[1])));
        STORE(to + x + LANES, IN_ORDER(OP(packs_epi32)(sum[2], sum[3])));
    }
#else
    for (int64_t x = 0; x < n; x++) {
        uint32_t sum = 0;
        for (int k = -r; k <= r; k++)
            sum += smp_fixed_weight(f->g, k) * f->bytes[x + (k + r) * channels];
        to[x] = (int16_t)((int)smp_fixed_row(sum) - 32768);
    }
#endif
}

/* The column pass: four rows of n samples; m: the window row of the first top tap. */
SMP_INLINE void fixed_down(const fixed_walk *f, const int16_t *m, int64_t n)
{
    const int r = f->g->radius;
#ifdef FIXED_VECTORS
    const lanes16 half = OP(set1_epi32)((int)(0x80000000u + (1u << 23))); /* 65536 * 32768, and for the rounding */
    for (int64_t x = 0; x < n; x += LANES) {
        lanes16 low[4] = {half, half, half, half}, high[4] = {half, half, half, half};
        const int16_t *from = m + x;
        for (int p = 0; p <= r + 1; p++, from += 2 * FIXED_PITCH) {
            const lanes16 one = LOAD(from), other = LOAD(from + FIXED_PITCH);
            const lanes16 a = OP(unpacklo_epi16)(one, other), b = OP(unpackhi_epi16)(one, other);
            for (int o = 0; o < 4; o++) {
                const lanes16 weights = OP(set1_epi32)((int)f->down[p][o]);
                low[o] = OP(add_epi32)(low[o], OP(madd_epi16)(a, weights));
                high[o] = OP(add_epi32)(high[o], OP(madd_epi16)(b, weights));
            }
        }
        for (int o = 0; o < 4; o++) {
            if (f->heavy) {
                const lanes16 middle = LOAD(m + x + (r + o) * FIXED_PITCH);
                low[o] = OP(add_epi32)(low[o], OP(unpacklo_epi16)(ZERO(), middle));
                high[o] = OP(add_epi32)(high[o], OP(unpackhi_epi16)(ZERO(), middle));
            }
            STORE_BYTES(f->rows + o * STENCIL_TILE + x,
                        OP(packs_epi32)(OP(srli_epi32)(low[o], 24), OP(srli_epi32)(high[o], 24)));
        }
    }
#else
    for (int o = 0; o < 4; o++)
        for (int64_t x = 0; x < n; x++) {
            uint32_t sum = 0;
            for (int i = -r; i <= r; i++)
                sum += smp_fixed_weight(f->g, i) * (uint32_t)(m[(r + i + o) * FIXED_PITCH + x] + 32768);
            f->rows[o * STENCIL_TILE + x] = (uint8_t)smp_fixed_result(sum);
        }
#endif
}

static void make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const fixed_walk *f = walk->context;
    const smp_view *in = &walk->io->in;
    const int64_t inside = smp_border(y, in->height, f->g->edge), channels = in->channels;
    const int64_t n = (tile->samples + FIXED_LANES - 1) / FIXED_LANES * FIXED_LANES;
    int16_t *to = (int16_t *)(void *)row;
    stencil_prefetch_in(in, tile, y + 8);
    if (inside < 0) {
        for (int64_t x = 0; x < n; x++)
            to[x] = (int16_t)(256 * f->outside - 32768);
        return;
    }
    fixed_load(f->bytes, in, smp_row(in, inside), tile, f->g->radius, f->g->edge, f->outside);
    const uint8_t *restrict bytes = f->bytes;
    uint32_t *restrict pairs = f->pairs;
    const int64_t wanted = n + (2 * f->g->radius + 1) * channels;
    for (int64_t x = 0; x < wanted; x++)
        pairs[x] = bytes[x] | (uint32_t)bytes[x + channels] << 16;
    fixed_across(to, f, channels, n);
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const fixed_walk *f = walk->context;
    const smp_view *out = &walk->io->out;
    const int64_t n = (tile->samples + FIXED_LANES - 1) / FIXED_LANES * FIXED_LANES, first = tile->x0 * out->channels;
    for (int64_t i = 0; i < rows; i += 4) {
        fixed_down(f, (const int16_t *)(const void *)(walk->window + i * walk->pitch), n);
        for (int64_t j = 0; j < 4 && i + j < rows; j++) {
            const uint8_t *from = f->rows + j * STENCIL_TILE;
            void *to = smp_row(out, y + i + j);
            stencil_prefetch_out(out, tile, y + i + j + 8);
            if (out->format == SMP_U8)
                memcpy((uint8_t *)to + first, from, (size_t)tile->samples);
            else
                for (int64_t x = 0; x < tile->samples; x++)
                    smp_store(to, first + x, out->format, (float)from[x]);
        }
    }
}

void SMP_PASTE(gaussian_fixed_tiled, SMP_ISA)(const smp_io *io, const smp_bell *g, void *scratch, int64_t y0,
                                              int64_t y1)
{
    const int64_t reach = 2 * (int64_t)g->radius, step = smp_stencil_step(reach), pitch = FIXED_PITCH / 2;
    const size_t line = fixed_line(g, io->in.channels) + FIXED_LANES;
    float *window = scratch;
    fixed_walk f = {.g = g, .outside = (uint8_t)smp_fixed_outside(g), .heavy = smp_fixed_weight(g, 0) > 32767};
    f.pairs = (uint32_t *)(void *)(window + smp_stencil_window(reach, step, pitch));
    f.bytes = (uint8_t *)(f.pairs + line);
    f.rows = f.bytes + line;
    for (int p = 0; p <= g->radius; p++)
        f.across[p] = fixed_pair(g, 2 * p);
    for (int p = 0; p <= g->radius + 1; p++)
        for (int o = 0; o < 4; o++)
            f.down[p][o] = fixed_pair(g, 2 * p - o);
    memset(f.bytes, 0, line); /* lanes past the samples read what is there */
    stencil_walk walk = {.io = io,
                         .up = g->radius,
                         .down = g->radius,
                         .step = step,
                         .pitch = pitch,
                         .window = window,
                         .context = &f,
                         .make = make,
                         .emit = emit};
    stencil_run(&walk, y0, y1);
}
