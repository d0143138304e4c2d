/* The two passes of a Gaussian over a CPU tile, for the stages that blur. Loops over taps are unrolled for constant
 * counts, so that the compiler keeps sums in registers and vectorises over samples. Wider filters run several such
 * groups of taps, in the definition's order. */
#include "gaussian/gaussian_cpu.h"

/* Row pass, taps 0..r; r and (mostly) step are constants after inlining. in: the middle sample of the first output. */
SMP_INLINE void gaussian_row_first(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s = smp_gaussian_first(w[0], in[x]);
#pragma GCC unroll 8
        for (int k = 1; k <= r; k++)
            s = smp_gaussian_pair(s, w[k], in[x - k * step], in[x + k * step]);
        m[x] = s;
    }
}

#ifdef __AVX512F__
/* Lanes by .. by+15 of two neighbouring vectors; `by` is a constant after inlining. */
SMP_INLINE __m512 gaussian_between(__m512 low, __m512 high, int by)
{
    const __m512i a = _mm512_castps_si512(low), b = _mm512_castps_si512(high);
    switch (by) {
#define BETWEEN(N)                                                                                                     \
    case N:                                                                                                            \
        return _mm512_castsi512_ps(_mm512_alignr_epi32(b, a, N))
        BETWEEN(1);
        BETWEEN(2);
        BETWEEN(3);
        BETWEEN(4);
        BETWEEN(5);
        BETWEEN(6);
        BETWEEN(7);
        BETWEEN(8);
        BETWEEN(9);
        BETWEEN(10);
        BETWEEN(11);
        BETWEEN(12);
        BETWEEN(13);
        BETWEEN(14);
        BETWEEN(15);
#undef BETWEEN
    default:
        return low;
    }
}

/* gaussian_row_first() where `in` begins a cache line and `step` is a constant up to 4. A load that crosses cache lines
 * takes as long as three that do not, and a row pass does little else: half of the taps come from aligned vectors in
 * registers. */
SMP_INLINE void gaussian_row_aligned(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
    enum { WIDE = 16, MOST = 4 * GAUSSIAN_GROUP / WIDE };
    const int sides = (r * (int)step + WIDE - 1) / WIDE;
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x += WIDE) {
        __m512 v[2 * MOST + 1];
#pragma GCC unroll 5
        for (int i = 0; i <= 2 * sides; i++)
            v[i] = _mm512_loadu_ps(in + x + (i - sides) * WIDE);
        __m512 s = _mm512_mul_ps(_mm512_set1_ps(w[0]), v[sides]);
#pragma GCC unroll 8
        for (int k = 1; k <= r; k++) {
            const int at = sides * WIDE - k * (int)step;
            const __m512 left = gaussian_between(v[at / WIDE], v[at / WIDE + 1], at % WIDE);
            const __m512 right = _mm512_loadu_ps(in + x + k * step);
            s = _mm512_fmadd_ps(_mm512_set1_ps(w[k]), _mm512_add_ps(left, right), s);
        }
        _mm512_storeu_ps(m + x, s);
    }
}
#elif defined(__AVX2__)
/* Lanes by .. by+7 of two neighbouring vectors; `by` is a constant after inlining. */
SMP_INLINE __m256 gaussian_between(__m256 low, __m256 high, int by)
{
    const __m256i a = _mm256_castps_si256(low), b = _mm256_castps_si256(high),
                  middle = _mm256_permute2x128_si256(a, b, 0x21);
    switch (by) {
    case 1:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, a, 4));
    case 2:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, a, 8));
    case 3:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, a, 12));
    case 4:
        return _mm256_castsi256_ps(middle);
    case 5:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(b, middle, 4));
    case 6:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(b, middle, 8));
    case 7:
        return _mm256_castsi256_ps(_mm256_alignr_epi8(b, middle, 12));
    default:
        return low;
    }
}

/* The eight samples at a constant distance from p, which begins half a cache line. If shuffles made every tap, they
 * would be the limit: they make some of those that lie between the same two vectors, which they share. */
SMP_INLINE __m256 gaussian_tap_at(const float *p, int distance, int step)
{
    enum { WIDE = 8, BIAS = 4 * GAUSSIAN_GROUP };
    const int vector = (distance + BIAS) / WIDE - BIAS / WIDE, by = (distance + BIAS) % WIDE;
    const int between = step == 3 ? vector == -2 || vector == -1 : step == 1 ? by >= 3 && by <= 5 : by == 4;
    return between && by
               ? gaussian_between(_mm256_loadu_ps(p + vector * WIDE), _mm256_loadu_ps(p + (vector + 1) * WIDE), by)
               : _mm256_loadu_ps(p + distance);
}

/* gaussian_row_first() where `in` begins a cache line and `step` is a constant, for vectors of eight. */
SMP_INLINE void gaussian_row_aligned(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x += 8) {
        __m256 s = _mm256_mul_ps(_mm256_set1_ps(w[0]), _mm256_loadu_ps(in + x));
#pragma GCC unroll 8
        for (int k = 1; k <= r; k++) {
            const __m256 left = gaussian_tap_at(in + x, -k * (int)step, (int)step),
                         right = gaussian_tap_at(in + x, k * (int)step, (int)step);
            s = _mm256_fmadd_ps(_mm256_set1_ps(w[k]), _mm256_add_ps(left, right), s);
        }
        _mm256_storeu_ps(m + x, s);
    }
}
#endif

#ifdef __AVX2__
#define GAUSSIAN_ROW(m, in, step, w, n, R)                                                                             \
    (__builtin_constant_p(step) ? gaussian_row_aligned(m, in, step, w, n, R) : gaussian_row_first(m, in, step, w, n, R))
#else
#define GAUSSIAN_ROW gaussian_row_first
#endif

/* Row pass, `count` more pairs of taps; the nearest is `from` samples from the middle. */
SMP_INLINE void gaussian_row_more(float *restrict m, const float *in, int64_t from, int64_t step, const float *w,
                                  int64_t n, int count)
{
    const float *left = in - from, *right = in + from;
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s = m[x];
#pragma GCC unroll 8
        for (int k = 0; k < count; k++)
            s = smp_gaussian_pair(s, w[k], left[x - k * step], right[x + k * step]);
        m[x] = s;
    }
}

/* The row pass: n samples (a multiple of STENCIL_LANES) from a line with r * step samples before and after. */
SMP_INLINE void gaussian_row_step(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
    SMP_BY_COUNT(r < GAUSSIAN_GROUP ? r : GAUSSIAN_GROUP, GAUSSIAN_ROW(m, in, step, w, n, N))
    for (int k = GAUSSIAN_GROUP + 1; k <= r; k += GAUSSIAN_GROUP) {
        int count = r - k + 1 < GAUSSIAN_GROUP ? r - k + 1 : GAUSSIAN_GROUP;
        SMP_BY_COUNT(count, gaussian_row_more(m, in, k * step, step, w + k, n, N))
    }
}

/* Column pass for SMP_GAUSSIAN_AT_ONCE output rows, so that each loaded row serves as many sums, and as many
 * multiply-adds are in flight. m: the top tap of the first output row; o: the rows. All 2r+1 taps; r is a constant
 * after inlining. */
SMP_INLINE void gaussian_column_all(float *restrict o, const float *m, const float *w, int64_t n, int r)
{
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s[SMP_GAUSSIAN_AT_ONCE] = {0};
#pragma GCC unroll 32
        for (int j = 0; j < 2 * r + SMP_GAUSSIAN_AT_ONCE; j++) {
            const float v = m[x + j * STENCIL_PITCH];
#pragma GCC unroll 8
            for (int k = 0; k < SMP_GAUSSIAN_AT_ONCE; k++) {
                const int i = j - k;
                if (i == 0)
                    s[k] = smp_gaussian_first(w[r], v);
                else if (i > 0 && i <= 2 * r)
                    s[k] = smp_gaussian_tap(s[k], w[i < r ? r - i : i - r], v);
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < SMP_GAUSSIAN_AT_ONCE; k++)
            o[x + k * STENCIL_PITCH] = s[k];
    }
}

/* Column pass for four output rows, 2 * half more taps (a constant) with weights w[0], w[1], ... */
SMP_INLINE void gaussian_column_more(float *restrict o, const float *m, const float *w, int64_t n, int half)
{
    const int count = 2 * half;
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s0 = o[x], s1 = o[x + STENCIL_PITCH], s2 = o[x + 2 * STENCIL_PITCH], s3 = o[x + 3 * STENCIL_PITCH];
#pragma GCC unroll 20
        for (int j = 0; j < count + 3; j++) {
            const float v = m[x + j * STENCIL_PITCH];
            if (j < count)
                s0 = smp_gaussian_tap(s0, w[j], v);
            if (j >= 1 && j < count + 1)
                s1 = smp_gaussian_tap(s1, w[j - 1], v);
            if (j >= 2 && j < count + 2)
                s2 = smp_gaussian_tap(s2, w[j - 2], v);
            if (j >= 3)
                s3 = smp_gaussian_tap(s3, w[j - 3], v);
        }
        o[x] = s0;
        o[x + STENCIL_PITCH] = s1;
        o[x + 2 * STENCIL_PITCH] = s2;
        o[x + 3 * STENCIL_PITCH] = s3;
    }
}

void SMP_PASTE(gaussian_down, SMP_ISA)(float *restrict o, const float *m, const float *w, int64_t n, int r)
{
    if (r <= GAUSSIAN_GROUP) {
        SMP_BY_COUNT(r, gaussian_column_all(o, m, w, n, N))
        return;
    }
    for (int row = 0; row < 4; row++)
        for (int64_t x = 0; x < n; x++)
            o[x + row * STENCIL_PITCH] = smp_gaussian_first(w[r], m[x + row * STENCIL_PITCH]);
    for (int i = 1; i <= 2 * r; i += 2 * GAUSSIAN_GROUP) {
        int half = r - i / 2 < GAUSSIAN_GROUP ? r - i / 2 : GAUSSIAN_GROUP;
        float taps[2 * GAUSSIAN_GROUP];
        for (int k = 0; k < 2 * half; k++)
            taps[k] = w[i + k < r ? r - i - k : i + k - r];
        SMP_BY_COUNT(half, gaussian_column_more(o, m + i * STENCIL_PITCH, taps, n, N))
    }
}

void SMP_PASTE(gaussian_make, SMP_ISA)(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const gaussian_walk *g = walk->context;
    const smp_view *in = &walk->io->in;
    const int r = g->g->radius;
    stencil_prefetch_in(in, tile, y + 16);
    if (stencil_load(g->line, in, y, tile, r, r, g->g->edge, g->outside))
        SMP_BY_CHANNELS(in->channels, gaussian_row_step(row, g->line + r * N, N, g->a, tile->lanes, r))
    else
        stencil_fill(row, smp_gaussian_outside(g->g, g->outside), tile->lanes);
}
