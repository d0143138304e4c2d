/* color on the CPU. tiled makes the three channels of a pixel at once, since most of the work is for all of them, in
 * one vectorised loop a kind; bytes become planes of bytes first, and are rounded a plane at a time. Bound by
 * arithmetic: Lab takes six powers a pixel, three where bytes become light by a table.
 * Processor ns a pixel of u8x3, AVX2, and OpenCV's: HSV 1.0, 1.1; YCbCr 0.70, 0.51; from HSV 1.25, 1.1; from YCbCr
 * 0.66, 0.5; and Lab 1.2, from Lab 1.05 times OpenCV's. The rest is the definition: f32 fractions; OpenCV has integers
 * and tables. */
#include "elementwise/color_space.h"
SMP_PIXEL_CPU_NAIVE(color_space, io->in.channels)

SMP_INLINE void planes_of(float *restrict to, const float *restrict from, int64_t n, const int32_t kind, float white)
{
    for (int64_t i = 0; i < n; i++) {
        const smp_colour made = smp_color_space_of(kind, from[i], from[n + i], from[2 * n + i], white);
        to[i] = made.v[0];
        to[n + i] = made.v[1];
        to[2 * n + i] = made.v[2];
    }
}

static void color_space_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                              int64_t pixels)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), made[SMP_BLOCK] __attribute__((aligned(64)));
    smp_color_space own = *(const smp_color_space *)params;
    const int channels = io->in.channels;
    const float white = io->in.white;
    smp_pixel_part(planes, from, pixels, channels);
    SMP_KINDS_6(own, planes_of(made, planes, pixels, own.kind, white))
    for (int c = 0; c < channels; c++)
        smp_pixel_join(to + c, (c < 3 ? made : planes) + c * pixels, pixels, channels);
}

/* Pixels of three bytes to planes of bytes, and back; n <= SMP_BLOCK. The compiler's own shuffles take several times as
 * long. */
#ifdef __SSSE3__
enum { COLOR_LANES = 16 };

/* For plane c: where byte i of it lies in the k-th 16 bytes of 16 pixels; 0x80: elsewhere. */
SMP_INLINE __m128i part_mask(int c, int k)
{
    int8_t at[COLOR_LANES];
    for (int i = 0; i < COLOR_LANES; i++) {
        const int from = 3 * i + c - COLOR_LANES * k;
        at[i] = (int8_t)(from >= 0 && from < COLOR_LANES ? from : -128);
    }
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
/* For the k-th 16 bytes of 16 pixels: which byte of plane c each gets. */
SMP_INLINE __m128i join_mask(int c, int k)
{
    int8_t at[COLOR_LANES];
    for (int i = 0; i < COLOR_LANES; i++)
        at[i] = (int8_t)((COLOR_LANES * k + i) % 3 == c ? (COLOR_LANES * k + i) / 3 : -128);
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
#endif

SMP_APART void part_bytes(uint8_t (*restrict part)[SMP_BLOCK], const uint8_t *restrict from, int64_t n)
{
    int64_t i = 0;
#ifdef __SSSE3__
    for (; i + COLOR_LANES <= n; i += COLOR_LANES) {
        const __m128i *at = (const __m128i *)(const void *)(from + 3 * i);
        const __m128i a = _mm_loadu_si128(at), b = _mm_loadu_si128(at + 1), c = _mm_loadu_si128(at + 2);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++)
            _mm_store_si128(
                (__m128i *)(void *)(part[k] + i),
                _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, part_mask(k, 0)), _mm_shuffle_epi8(b, part_mask(k, 1))),
                             _mm_shuffle_epi8(c, part_mask(k, 2))));
    }
#endif
    for (; i < n; i++)
        for (int k = 0; k < 3; k++)
            part[k][i] = from[3 * i + k];
}

SMP_APART void join_bytes(uint8_t *restrict to, uint8_t (*restrict made)[SMP_BLOCK], int64_t n)
{
    int64_t i = 0;
#ifdef __SSSE3__
    for (; i + COLOR_LANES <= n; i += COLOR_LANES) {
        __m128i *at = (__m128i *)(void *)(to + 3 * i);
        const __m128i a = _mm_load_si128((const __m128i *)(const void *)(made[0] + i)),
                      b = _mm_load_si128((const __m128i *)(const void *)(made[1] + i)),
                      c = _mm_load_si128((const __m128i *)(const void *)(made[2] + i));
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++)
            _mm_storeu_si128(at + k, _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, join_mask(0, k)),
                                                               _mm_shuffle_epi8(b, join_mask(1, k))),
                                                  _mm_shuffle_epi8(c, join_mask(2, k))));
    }
#endif
    for (; i < n; i++)
        for (int k = 0; k < 3; k++)
            to[3 * i + k] = made[k][i];
}

/* x / 255 of a byte, by its correctly rounded reciprocal and one correction (Markstein 1990): a third of a division's
 * time. */
SMP_INLINE float fraction_of(uint8_t x)
{
#ifdef __FMA__
    const float v = (float)x, reciprocal = 1.f / 255, about = v * reciprocal;
    return fmaf(fmaf(-about, 255.f, v), reciprocal, about);
#else
    return (float)x / 255.f;
#endif
}

/* Finite values below 2^22 to bytes. Gives how many are clipped, if that is wanted. */
SMP_APART int round_plane(uint8_t *restrict to, const float *restrict from, int64_t n, int counts)
{
    int clipped = 0;
    int64_t i = 0;
#ifdef __AVX2__
    const __m256 low = _mm256_set1_ps(-0.5f), high = _mm256_set1_ps(255.5f);
    for (; i + COLOR_LANES <= n; i += COLOR_LANES) {
        const __m256 a = _mm256_load_ps(from + i), b = _mm256_load_ps(from + i + 8);
        const __m256i both = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b)),
                      line = _mm256_permute4x64_epi64(both, 0xd8);
        _mm_store_si128((__m128i *)(void *)(to + i),
                        _mm_packus_epi16(_mm256_castsi256_si128(line), _mm256_extracti128_si256(line, 1)));
        if (counts) {
            const __m256 out = _mm256_or_ps(_mm256_cmp_ps(a, low, _CMP_LT_OQ), _mm256_cmp_ps(a, high, _CMP_GT_OQ)),
                         more = _mm256_or_ps(_mm256_cmp_ps(b, low, _CMP_LT_OQ), _mm256_cmp_ps(b, high, _CMP_GT_OQ));
            clipped += __builtin_popcount((unsigned)(_mm256_movemask_ps(out) | _mm256_movemask_ps(more) << 8));
        }
    }
#endif
    for (; i < n; i++) {
        to[i] = smp_to_u8(from[i]);
        clipped += counts ? smp_clips(from[i], 255.f) : 0;
    }
    return clipped;
}

#ifdef __AVX2__
enum { COLOR_WORDS = 8 };

/* v / divisor, as fraction_of(): right for 255 and 6, of all 2^23 significands of v. */
SMP_INLINE __m256 color_over(__m256 v, float divisor)
{
    const __m256 reciprocal = _mm256_set1_ps(1.f / divisor), about = _mm256_mul_ps(v, reciprocal);
    return _mm256_fmadd_ps(_mm256_fnmadd_ps(about, _mm256_set1_ps(divisor), v), reciprocal, about);
}

/* smp_to_hsv of eight pixels, from bytes to code values. */
SMP_INLINE void eight_to_hsv(const uint8_t *const part[3], __m256 to[3])
{
    const __m256 zero = _mm256_setzero_ps(), one = _mm256_set1_ps(1.f), white = _mm256_set1_ps(255.f);
    __m256 v[3];
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)part[c]);
        v[c] = color_over(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)), 255.f);
    }
    const __m256 r = v[0], g = v[1], b = v[2];
    const __m256 most = _mm256_max_ps(_mm256_max_ps(g, b), r), least = _mm256_min_ps(_mm256_min_ps(g, b), r);
    const __m256 span = _mm256_sub_ps(most, least), red = _mm256_cmp_ps(most, r, _CMP_EQ_OQ);
    const __m256 green = _mm256_cmp_ps(most, g, _CMP_EQ_OQ), gray = _mm256_cmp_ps(span, zero, _CMP_EQ_OQ);
    const __m256 others = _mm256_blendv_ps(_mm256_set1_ps(4.f), _mm256_set1_ps(2.f), green);
    const __m256 apart =
        _mm256_blendv_ps(_mm256_blendv_ps(_mm256_sub_ps(r, g), _mm256_sub_ps(b, r), green), _mm256_sub_ps(g, b), red);
    const __m256 part_of = _mm256_div_ps(apart, _mm256_blendv_ps(span, one, gray));
    const __m256 hue = color_over(_mm256_add_ps(_mm256_andnot_ps(red, others), part_of), 6.f);
    const __m256 turned = _mm256_blendv_ps(hue, _mm256_add_ps(hue, one), _mm256_cmp_ps(hue, zero, _CMP_LT_OQ));
    const __m256 black = _mm256_cmp_ps(most, zero, _CMP_EQ_OQ);
    const __m256 full = _mm256_andnot_ps(black, _mm256_div_ps(span, _mm256_blendv_ps(most, one, black)));
    to[0] = _mm256_mul_ps(_mm256_andnot_ps(gray, turned), white);
    to[1] = _mm256_mul_ps(full, white);
    to[2] = _mm256_mul_ps(most, white);
}

/* Planes of bytes to planes of bytes, without floats between in memory: 1.36 -> 0.97 ns a pixel. Whole groups of
 * COLOR_LANES pixels; how many pixels they are. */
SMP_INLINE int64_t hsv_of_planes(uint8_t (*restrict made)[SMP_BLOCK], uint8_t (*restrict part)[SMP_BLOCK], int64_t n)
{
    int64_t i = 0;
    for (; i + COLOR_LANES <= n; i += COLOR_LANES) {
        __m256 v[2][3];
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            const int64_t at = i + COLOR_WORDS * h;
            eight_to_hsv((const uint8_t *const[3]){part[0] + at, part[1] + at, part[2] + at}, v[h]);
        }
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++) {
            const __m256i both = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0][c]), _mm256_cvtps_epi32(v[1][c])),
                          line = _mm256_permute4x64_epi64(both, 0xd8);
            _mm_store_si128((__m128i *)(void *)(made[c] + i),
                            _mm_packus_epi16(_mm256_castsi256_si128(line), _mm256_extracti128_si256(line, 1)));
        }
    }
    return i;
}
#endif

/* n <= SMP_BLOCK pixels of three bytes. They are parted and joined as bytes, a quarter of the work of floats. light:
 * the values of bytes in linear light, where the kind is SMP_TO_LAB. Gives how many samples are clipped. */
SMP_INLINE int bytes_of(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, const int32_t kind,
                        const float *restrict light)
{
    uint8_t part[3][SMP_BLOCK] __attribute__((aligned(64))), made[3][SMP_BLOCK] __attribute__((aligned(64)));
    float value[3][SMP_BLOCK] __attribute__((aligned(64)));
    int clipped = 0;
    int64_t done = 0;
    if (kind == SMP_TO_LAB) {
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++)
                value[c][i] = light[from[3 * i + c]];
    } else {
        part_bytes(part, from, n);
#ifdef __AVX2__
        if (kind == SMP_TO_HSV)
            done = hsv_of_planes(made, part, n);
#endif
        for (int c = 0; c < 3; c++)
            for (int64_t i = done; i < n; i++)
                value[c][i] = fraction_of(part[c][i]);
    }
    if (kind == SMP_TO_LAB || kind == SMP_FROM_LAB)
        for (int64_t i = 0; i < n; i++) { /* to bytes at once: the compiler then takes four vectors side by side */
            const float a = value[0][i], b = value[1][i], c = value[2][i];
            const smp_colour v =
                kind == SMP_TO_LAB ? smp_light_to_lab(a, b, c) : smp_color_space_fractions(kind, a, b, c);
            const float x = v.v[0] * 255.f, y = v.v[1] * 255.f, z = v.v[2] * 255.f;
            made[0][i] = smp_to_u8(x);
            made[1][i] = smp_to_u8(y);
            made[2][i] = smp_to_u8(z);
            if (kind != SMP_TO_LAB) /* of bytes those stay in the range */
                clipped += smp_clips(x, 255.f) + smp_clips(y, 255.f) + smp_clips(z, 255.f);
        }
    else {
        for (int64_t i = done; i < n; i++) {
            const smp_colour v = smp_color_space_fractions(kind, value[0][i], value[1][i], value[2][i]);
            for (int c = 0; c < 3; c++)
                value[c][i] = v.v[c] * 255.f;
        }
        /* Results leave the range; of bytes those of the other kinds do not. */
        const int leaves = kind == SMP_FROM_HSV || kind == SMP_FROM_YCBCR;
        for (int c = 0; c < 3; c++)
            clipped += round_plane(made[c] + done, value[c] + done, n - done, leaves);
    }
    join_bytes(to, made, n);
    return clipped;
}

/* Bytes to Lab: n pixels of the row whose samples begin at `from`. */
static void lab_of_bytes(const smp_io *io, const float light[256], void *to, const uint8_t *from, int64_t n)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), made[SMP_BLOCK] __attribute__((aligned(64)));
    const int channels = io->in.channels;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < channels; c++)
            planes[c * n + i] = c < 3 ? light[from[i * channels + c]] : (float)from[i * channels + c];
    for (int64_t i = 0; i < n; i++) {
        const smp_colour lab = smp_colour_times(smp_light_to_lab(planes[i], planes[n + i], planes[2 * n + i]), 255.f);
        planes[i] = lab.v[0];
        planes[n + i] = lab.v[1];
        planes[2 * n + i] = lab.v[2];
    }
    for (int c = 0; c < channels; c++)
        smp_pixel_join(made + c, planes + c * n, n, channels);
    smp_store_row(to, io->out.format, made, n * channels, io->clipped);
}

static void bytes_row(const smp_io *io, const smp_color_space *p, const float light[256], int64_t y)
{
    smp_color_space own = *p;
    const int64_t width = io->in.width;
    for (int64_t x = 0; x < width; x += SMP_BLOCK) {
        const int64_t n = width - x < SMP_BLOCK ? width - x : SMP_BLOCK;
        const uint8_t *from = (const uint8_t *)smp_row(&io->in, y) + 3 * x;
        uint8_t *to = (uint8_t *)smp_row(&io->out, y) + 3 * x;
        int clipped = 0;
        SMP_KINDS_6(own, clipped = bytes_of(to, from, n, own.kind, light))
        if (io->clipped)
            *io->clipped += (uint64_t)clipped;
    }
}

enum { COLOR_TABLE_PAYS = 1024 }; /* pixels of a launch */

SMP_CPU_KERNEL(color_space_tiled)
{
    const smp_color_space *p = params;
    const int64_t width = io->in.width, channels = io->in.channels, block = SMP_BLOCK / channels;
    const int lab = p->kind == SMP_TO_LAB, bytes = channels == 3 && io->out.format == SMP_U8;
    if (io->in.format != SMP_U8 || width * (y1 - y0) < COLOR_TABLE_PAYS || !(lab || bytes)) {
        smp_point_rows(io, params, y0, y1, color_space_block);
        return;
    }
    float light[256];
    for (int v = 0; lab && v < 256; v++)
        light[v] = smp_lab_light((float)v / 255.f);
    for (int64_t y = y0; bytes && y < y1; y++)
        bytes_row(io, p, light, y);
    for (int64_t y = y0; !bytes && y < y1; y++)
        for (int64_t x = 0; x < width; x += block)
            lab_of_bytes(io, light, (char *)smp_row(&io->out, y) + x * channels * smp_sample_size(io->out.format),
                         (const uint8_t *)smp_row(&io->in, y) + x * channels, width - x < block ? width - x : block);
}
