/* warp on CPUs.
 *   naive  sample by sample.
 *   tiled  blocks of 64 x 16 output pixels, whose input lines stay in the first-level cache at any angle. A row of a
 *          block first gets its 64 places; where all that the filter reads lies inside the picture, pixels go without
 *          the border rule. With AVX2 the channels of a pixel are lanes, and the upper and lower row the two halves of
 * a vector; of one channel, eight pixels are lanes. */
#include "geometry/warp.h"
#include "lib/pixel_size.h"

#include <string.h>

#include "lib/elementwise.h"

enum { ACROSS = 64, DOWN = 16 };

SMP_CPU_KERNEL(warp_naive)
{
    const smp_warp *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++) {
            const smp_warp_place at = smp_warp_place_of(p, x, y);
            for (int c = 0; c < channels; c++)
                smp_put(io, smp_row(&io->out, y), x * channels + c, smp_warp_sample(io, p, &at, c, io->in.format));
        }
}

/* Places of the pixels of a block's row. */
typedef struct warp_line {
    int64_t at_x[ACROSS], at_y[ACROSS]; /* 2^-32 pixels */
    int32_t x[ACROSS], y[ACROSS];       /* whole pixels */
    int32_t there[ACROSS];
    int32_t inside[ACROSS];                   /* all that is read lies in the picture */
    float fx[4][ACROSS], fy[4][ACROSS];       /* [0]: fractions; bicubic: the four weights */
    int64_t steps_x[ACROSS], steps_y[ACROSS]; /* affine: from the first pixel of a block's row to each */
} warp_line;

/* Pixels to the right of those that the filter reads, which loads of four samples touch. */
SMP_INLINE int warp_spare(int channels, int format)
{
    return channels == 3 ? 1 : channels == 1 && format == SMP_U8 ? 2 : 0;
}

static void warp_steps(const smp_warp *p, warp_line *line)
{
    for (int64_t i = 0; i < ACROSS; i++) {
        line->steps_x[i] = p->affine[0] * i;
        line->steps_y[i] = p->affine[3] * i;
        line->there[i] = 1;
    }
}

/* Bicubic: the weights of n pixels, of their fractions. */
static void warp_weights(const smp_warp *p, int n, warp_line *line)
{
    if (p->filter == SMP_WARP_BICUBIC)
        for (int k = 3; k >= 0; k--)
            for (int i = 0; i < n; i++) {
                line->fx[k][i] = smp_warp_weight(k, line->fx[0][i]);
                line->fy[k][i] = smp_warp_weight(k, line->fy[0][i]);
            }
}

/* The nearest whole number, ties to even, of |v| < 2^51. */
SMP_INLINE double warp_nearest(double v)
{
    const double magic = 6755399441055744.; /* 1.5 * 2^52 */
    return (v + magic) - magic;
}

/* llrint(v * 2^32) of |v| < 2^30 by instructions that vectors have: v without its nearest whole number is exact, and
 * its 33 bits are two numbers of 17. */
SMP_INLINE int64_t warp_fixed(double v)
{
    const double whole = warp_nearest(v), rest = warp_nearest((v - whole) * 4294967296.);
    const double high = warp_nearest(rest * (1. / 65536.)), low = rest - high * 65536.;
    return (int64_t)(int32_t)whole * 4294967296 + (int64_t)(int32_t)high * 65536 + (int32_t)low;
}

/* smp_warp_place_of in perspective, of n pixels side by side. */
static void warp_perspective(const smp_warp *p, int64_t x0, int64_t y, int n, warp_line *line)
{
    const double far = 1073741824., *m = p->inverse, row = (double)y, first = (double)x0;
    const int64_t half = p->filter == SMP_WARP_NEAREST ? INT64_C(1) << (SMP_WARP_BITS - 1) : 0;
    double us[ACROSS], vs[ACROSS];
    for (int i = 0; i < n; i++) {
        const double column = first + i, d = m[6] * column + m[7] * row + 1.;
        const double u = (m[0] * column + m[1] * row + m[2]) / d, v = (m[3] * column + m[4] * row + m[5]) / d;
        const int there = (d > 0.) & (u > -far) & (u < far) & (v > -far) & (v < far);
        us[i] = there ? u : 0.;
        vs[i] = there ? v : 0.;
        line->there[i] = there;
    }
    for (int i = 0; i < n; i++) {
        line->at_x[i] = warp_fixed(us[i]) + half;
        line->at_y[i] = warp_fixed(vs[i]) + half;
    }
}

/* Whether all that the filter reads for a place lies in the picture. */
static int warp_within(int64_t at_x, int64_t at_y, int before, int32_t x_end, int32_t y_end)
{
    const int64_t x = smp_warp_whole(at_x), y = smp_warp_whole(at_y);
    return x >= before && x < x_end && y >= before && y < y_end;
}

/* The places of a row of a block, all ACROSS of them, those behind the picture's right side too. Returns whether all
 * that the first n read lies in the picture. */
static int warp_places(const smp_io *io, const smp_warp *p, int64_t x0, int64_t y, int n, warp_line *line)
{
    const int before = smp_warp_before(p->filter), after = smp_warp_after(p->filter);
    const int64_t right = io->in.width - after - warp_spare(io->in.channels, io->in.format),
                  below = io->in.height - after;
    const int32_t x_end = (int32_t)(right < INT32_MAX ? right : INT32_MAX),
                  y_end = (int32_t)(below < INT32_MAX ? below : INT32_MAX);
    const smp_warp_place first = smp_warp_place_of(p, x0, y);
    int all = !p->perspective && warp_within(first.x, first.y, before, x_end, y_end) &&
              warp_within(first.x + line->steps_x[n - 1], first.y + line->steps_y[n - 1], before, x_end, y_end);
    if (all) { /* both ends of a straight line lie in the picture: all of it does */
        for (int i = 0; i < n; i++) {
            const int64_t at_x = first.x + line->steps_x[i], at_y = first.y + line->steps_y[i];
            line->x[i] = (int32_t)smp_warp_whole(at_x);
            line->y[i] = (int32_t)smp_warp_whole(at_y);
            line->fx[0][i] = smp_warp_fraction(at_x);
            line->fy[0][i] = smp_warp_fraction(at_y);
        }
        line->inside[0] = 1;
        warp_weights(p, n, line);
        return 1;
    }
    all = 1;
    if (!p->perspective)
        for (int i = 0; i < ACROSS; i++) {
            line->at_x[i] = first.x + line->steps_x[i];
            line->at_y[i] = first.y + line->steps_y[i];
        }
    else if (p->perspective == SMP_WARP_PERSPECTIVE)
        warp_perspective(p, x0, y, n, line);
    else
        for (int i = 0; i < n; i++) {
            const smp_warp_place at = smp_warp_place_of(p, x0 + i, y);
            line->at_x[i] = at.x;
            line->at_y[i] = at.y;
            line->there[i] = at.there;
        }
    for (int i = 0; i < n; i++) {
        line->x[i] = (int32_t)smp_warp_whole(line->at_x[i]);
        line->y[i] = (int32_t)smp_warp_whole(line->at_y[i]);
    }
    if (p->filter != SMP_WARP_NEAREST)
        for (int i = 0; i < n; i++) {
            line->fx[0][i] = smp_warp_fraction(line->at_x[i]);
            line->fy[0][i] = smp_warp_fraction(line->at_y[i]);
        }
    for (int i = 0; i < n; i++) {
        line->inside[i] = line->there[i] & (line->x[i] >= before) & (line->x[i] < x_end) & (line->y[i] >= before) &
                          (line->y[i] < y_end);
        all &= line->inside[i];
    }
    warp_weights(p, n, line);
    return all;
}

/* A pixel all of whose taps are the fill: the weights add up to about 1 only, so that bicubic adds them up, too. */
SMP_INLINE float warp_filled(const smp_warp *p, const warp_line *line, int i, float fill)
{
    float v = 0.f, sum = 0.f;
    if (p->filter != SMP_WARP_BICUBIC)
        return fill;
    for (int k = 0; k < 4; k++)
        v = fmaf(line->fx[k][i], fill, v);
    for (int k = 0; k < 4; k++)
        sum = fmaf(line->fy[k][i], v, sum);
    return sum;
}

/* Pixels by the border rule. */
static void warp_outer(const smp_io *io, const smp_warp *p, const warp_line *line, int from, int end, float *to)
{
    const int channels = io->in.channels, before = smp_warp_before(p->filter), after = smp_warp_after(p->filter);
    const int filled = p->edge == SMP_CONSTANT || p->edge == SMP_ZERO;
    for (int i = from; i < end; i++) {
        const smp_warp_place at = {line->at_x[i], line->at_y[i], line->there[i]};
        const int outside = line->x[i] < -after || line->x[i] >= io->in.width + before || line->y[i] < -after ||
                            line->y[i] >= io->in.height + before;
        for (int c = 0; c < channels; c++)
            to[i * channels + c] = !at.there           ? p->fill[c]
                                   : filled && outside ? warp_filled(p, line, i, p->fill[c])
                                                       : smp_warp_sample(io, p, &at, c, io->in.format);
    }
}

SMP_INLINE const char *warp_pixel(const smp_io *io, const warp_line *line, int i, int64_t size)
{
    return (const char *)smp_row(&io->in, line->y[i]) + line->x[i] * size;
}

/* ---------------------------------------------------------------------------------------------- inside */

#ifdef __AVX2__
/* Four samples of a row, and four of the row below. */
SMP_INLINE __m256 warp_pair(const char *top, const char *low, int format)
{
    if (format == SMP_U8) {
        int32_t a, b;
        memcpy(&a, top, sizeof a);
        memcpy(&b, low, sizeof b);
        return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1)));
    }
    if (format == SMP_U16)
        return _mm256_cvtepi32_ps(
            _mm256_cvtepu16_epi32(_mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i_u *)(const void *)top),
                                                     _mm_loadl_epi64((const __m128i_u *)(const void *)low))));
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)(const void *)top)),
                                _mm_loadu_ps((const float *)(const void *)low), 1);
}

/* Three or four channels; writes four samples a pixel. */
SMP_INLINE void warp_linear_wide(const smp_io *io, const warp_line *line, int from, int end, float *to, int channels,
                                 int format)
{
    const int64_t size = channels * smp_sample_size(format), stride = io->in.stride;
    for (int i = from; i < end; i++) {
        const char *at = warp_pixel(io, line, i, size);
        const __m256 left = warp_pair(at, at + stride, format),
                     right = warp_pair(at + size, at + stride + size, format);
        const __m256 rows = _mm256_fmadd_ps(_mm256_set1_ps(line->fx[0][i]), _mm256_sub_ps(right, left), left);
        const __m128 top = _mm256_castps256_ps128(rows), low = _mm256_extractf128_ps(rows, 1);
        _mm_storeu_ps(to + i * channels, _mm_fmadd_ps(_mm_set1_ps(line->fy[0][i]), _mm_sub_ps(low, top), top));
    }
}

SMP_INLINE void warp_cubic_wide(const smp_io *io, const warp_line *line, int from, int end, float *to, int channels,
                                int format)
{
    const int64_t size = channels * smp_sample_size(format), stride = io->in.stride;
    for (int i = from; i < end; i++) {
        const char *at = warp_pixel(io, line, i, size) - stride - size;
        __m256 upper = _mm256_setzero_ps(), lower = upper;
        for (int k = 0; k < 4; k++, at += size) {
            const __m256 w = _mm256_set1_ps(line->fx[k][i]);
            upper = _mm256_fmadd_ps(w, warp_pair(at, at + stride, format), upper);
            lower = _mm256_fmadd_ps(w, warp_pair(at + 2 * stride, at + 3 * stride, format), lower);
        }
        __m128 sum = _mm_fmadd_ps(_mm_set1_ps(line->fy[0][i]), _mm256_castps256_ps128(upper), _mm_setzero_ps());
        sum = _mm_fmadd_ps(_mm_set1_ps(line->fy[1][i]), _mm256_extractf128_ps(upper, 1), sum);
        sum = _mm_fmadd_ps(_mm_set1_ps(line->fy[2][i]), _mm256_castps256_ps128(lower), sum);
        sum = _mm_fmadd_ps(_mm_set1_ps(line->fy[3][i]), _mm256_extractf128_ps(lower, 1), sum);
        _mm_storeu_ps(to + i * channels, sum);
    }
}

SMP_INLINE __m128i warp_four(const char *const *at, int64_t further)
{
    int32_t words[4];
    for (int k = 0; k < 4; k++)
        memcpy(&words[k], at[k] + further, sizeof words[k]);
    return _mm_insert_epi32(_mm_insert_epi32(_mm_insert_epi32(_mm_cvtsi32_si128(words[0]), words[1], 1), words[2], 2),
                            words[3], 3);
}

/* Words of 32 bits at eight places, through registers: a vector load of words just stored waits for all the stores. */
SMP_INLINE __m256i warp_eight(const char *const *at, int64_t further)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(warp_four(at, further)), warp_four(at + 4, further), 1);
}

/* One channel of 8 or 16 bits: a load of 32 bits has the left sample and the right one. */
SMP_INLINE void warp_linear_gray(const smp_io *io, const warp_line *line, int from, int end, float *to, int format)
{
    const int64_t size = smp_sample_size(format), stride = io->in.stride;
    const int bits = 8 * (int)size;
    const __m256i mask = _mm256_set1_epi32((1 << bits) - 1);
    for (int i = from; i < end; i += 8) {
        const char *at[8];
        const int last = end - 1 - i; /* past the end: the last pixel again */
        for (int k = 0; k < 8; k++)
            at[k] = warp_pixel(io, line, i + (k < last ? k : last), size);
        const __m256i upper = warp_eight(at, 0), lower = warp_eight(at, stride);
        const __m256 p00 = _mm256_cvtepi32_ps(_mm256_and_si256(upper, mask)),
                     p10 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(upper, bits), mask)),
                     p01 = _mm256_cvtepi32_ps(_mm256_and_si256(lower, mask)),
                     p11 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(lower, bits), mask));
        const __m256 fx = _mm256_loadu_ps(line->fx[0] + i), fy = _mm256_loadu_ps(line->fy[0] + i);
        const __m256 t = _mm256_fmadd_ps(fx, _mm256_sub_ps(p10, p00), p00),
                     s = _mm256_fmadd_ps(fx, _mm256_sub_ps(p11, p01), p01);
        _mm256_storeu_ps(to + i, _mm256_fmadd_ps(fy, _mm256_sub_ps(s, t), t));
    }
}
#endif

/* Any number of channels. */
SMP_INLINE void warp_inner_as(const smp_io *io, const smp_warp *p, const warp_line *line, int from, int end, float *to,
                              int format)
{
    const int channels = io->in.channels;
    const int64_t size = channels * smp_sample_size(format), stride = io->in.stride;
    for (int i = from; i < end; i++) {
        const char *at = warp_pixel(io, line, i, size);
        for (int c = 0; c < channels; c++) {
            if (p->filter == SMP_WARP_NEAREST) {
                to[i * channels + c] = smp_load(at, c, format);
            } else if (p->filter == SMP_WARP_BILINEAR) {
                to[i * channels + c] = smp_warp_between(
                    smp_load(at, c, format), smp_load(at, channels + c, format), smp_load(at + stride, c, format),
                    smp_load(at + stride, channels + c, format), line->fx[0][i], line->fy[0][i]);
            } else {
                float sum = 0.f;
                for (int j = 0; j < 4; j++) {
                    const char *row = at + (j - 1) * stride - size;
                    float v = 0.f;
                    for (int k = 0; k < 4; k++)
                        v = fmaf(line->fx[k][i], smp_load(row, k * channels + c, format), v);
                    sum = fmaf(line->fy[j][i], v, sum);
                }
                to[i * channels + c] = sum;
            }
        }
    }
}

#ifdef __AVX2__
#define WARP_WIDE(N, FORMAT)                                                                                           \
    if (io->in.channels == (N) && io->in.format == (FORMAT)) {                                                         \
        if (p->filter == SMP_WARP_BILINEAR)                                                                            \
            warp_linear_wide(io, line, from, end, to, N, FORMAT);                                                      \
        else                                                                                                           \
            warp_cubic_wide(io, line, from, end, to, N, FORMAT);                                                       \
        return;                                                                                                        \
    }
#endif

static void warp_inner(const smp_io *io, const smp_warp *p, const warp_line *line, int from, int end, float *to)
{
#ifdef __AVX2__
    if (p->filter != SMP_WARP_NEAREST) {
        WARP_WIDE(3, SMP_U8)
        WARP_WIDE(3, SMP_U16)
        WARP_WIDE(3, SMP_F32)
        WARP_WIDE(4, SMP_U8)
        WARP_WIDE(4, SMP_U16)
        WARP_WIDE(4, SMP_F32)
        if (io->in.channels == 1 && p->filter == SMP_WARP_BILINEAR && io->in.format != SMP_F32) {
            if (io->in.format == SMP_U8)
                warp_linear_gray(io, line, from, end, to, SMP_U8);
            else
                warp_linear_gray(io, line, from, end, to, SMP_U16);
            return;
        }
    }
#endif
    if (io->in.format == SMP_U8)
        warp_inner_as(io, p, line, from, end, to, SMP_U8);
    else if (io->in.format == SMP_U16)
        warp_inner_as(io, p, line, from, end, to, SMP_U16);
    else
        warp_inner_as(io, p, line, from, end, to, SMP_F32);
}

/* nearest, whose format does not change: pixels are copied. Those of three bytes as four, of which the next pixel
 * writes the last; warp_spare has room for it where it is read. */
SMP_INLINE void warp_copies(const smp_io *io, const warp_line *line, int from, int end, char *to, size_t size)
{
    int i = from;
    if (size == 3 && io->in.channels == 3)
        for (; i < end - 1; i++)
            memcpy(to + (size_t)i * size, warp_pixel(io, line, i, (int64_t)size), size + 1);
    for (; i < end; i++)
        memcpy(to + (size_t)i * size, warp_pixel(io, line, i, (int64_t)size), size);
}

static void warp_copy(const smp_io *io, const warp_line *line, int from, int end, char *to)
{
    const size_t size = (size_t)(io->in.channels * smp_sample_size(io->in.format));
    SMP_BY_PIXEL_SIZE(size, warp_copies(io, line, from, end, to, N))
}

/* Pixels from .. end-1 of a row of a block, to the row `to`. */
static void warp_store(const smp_io *io, const smp_warp *p, float *made, int from, int end, char *to)
{
    const int channels = io->out.channels, n = (end - from) * channels;
    float *first = made + from * channels;
    if (io->in.format == SMP_F32 && p->filter != SMP_WARP_NEAREST)
        for (int i = 0; i < n; i++)
            first[i] = smp_one_nan(first[i]);
    smp_store_row(to + from * channels * smp_sample_size(io->out.format), io->out.format, first, n, io->clipped);
}

/* Lines of the input are short in a block, so that a processor does not foresee them: asks for what the block to the
 * right will read in the same row. */
SMP_INLINE void warp_ahead(const smp_io *io, const smp_warp *p, const warp_line *line, int n)
{
    enum { EACH = 16 };
    const int64_t size = io->in.channels * smp_sample_size(io->in.format);
    const int64_t ahead =
        smp_warp_whole(p->affine[3] * ACROSS) * io->in.stride + smp_warp_whole(p->affine[0] * ACROSS) * size;
    const uintptr_t base = (uintptr_t)io->in.data;
    for (int i = 0; i < n; i += EACH) {
        const int64_t at = (line->y[i] - io->in.y0) * io->in.stride + line->x[i] * size + ahead;
        __builtin_prefetch((const void *)(base + (uintptr_t)at));
    }
}

static void warp_row(const smp_io *io, const smp_warp *p, int64_t x0, int64_t y, int n, warp_line *line)
{
    float made[ACROSS * SMP_MAX_CHANNELS + 8] __attribute__((aligned(64)));
    const int copies = p->filter == SMP_WARP_NEAREST && io->in.format == io->out.format;
    char *to = (char *)smp_row(&io->out, y) + x0 * io->out.channels * smp_sample_size(io->out.format);
    const int all = warp_places(io, p, x0, y, n, line);
    if (!p->perspective)
        warp_ahead(io, p, line, n);
    for (int i = 0, end; i < n; i = end) {
        for (end = all ? n : i + 1; end < n && line->inside[end] == line->inside[i];)
            end++;
        if (line->inside[i] && copies) {
            warp_copy(io, line, i, end, to);
            continue;
        }
        if (line->inside[i])
            warp_inner(io, p, line, i, end, made);
        else
            warp_outer(io, p, line, i, end, made);
        warp_store(io, p, made, i, end, to);
    }
}

SMP_CPU_KERNEL(warp_tiled)
{
    const smp_warp *p = params;
    warp_line line;
    warp_steps(p, &line);
    for (int64_t top = y0; top < y1; top += DOWN)
        for (int64_t x = 0; x < io->out.width; x += ACROSS)
            for (int64_t y = top; y < y1 && y < top + DOWN; y++)
                warp_row(io, p, x, y, (int)(io->out.width - x < ACROSS ? io->out.width - x : ACROSS), &line);
}
