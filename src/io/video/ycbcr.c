/* Luma and chroma: see ycbcr.h. */
#include "io/video/ycbcr.h"

#include <math.h>

#include "base/checked.h"

/* Bits behind the point of the factors. Those of 8 bits fit 16-bit multiplications. */
enum { DECODE_8 = 13, ENCODE_8 = 15, DECODE_DEEP = 32, ENCODE_DEEP = 40 };

/* Loops over 8 bits are compiled twice: compilers make three times as quick code of them with AVX2, which can take
 * samples of three channels apart. */
#if defined(__x86_64__) && defined(__GNUC__)
#define WITH_AVX2 __attribute__((target("avx2")))
#endif
#define INLINED static inline __attribute__((always_inline))
enum { BLOCK = 64 /* pixels, so many that loops over them need no rest */ };

/* From this size on a video is HD, and of BT.709; below, of BT.601. */
enum { HD_WIDTH = 1280, SD_HEIGHT = 576 };

static int64_t scaled(double factor, int bits)
{
    return (int64_t)llround(ldexp(factor, bits));
}

void smp_ycbcr_open(smp_ycbcr *to, const smp_video *video, int64_t width, int64_t height)
{
    const bool hd = width >= HD_WIDTH || height > SD_HEIGHT, deep = video->bits > 8;
    const double red = hd ? 0.2126 : 0.299, blue = hd ? 0.0722 : 0.114, green = 1 - red - blue;
    const double white = deep ? 65535 : 255, step = ldexp(1, video->bits - 8);
    const int most = (1 << video->bits) - 1, decode = deep ? DECODE_DEEP : DECODE_8;
    const int encode = deep ? ENCODE_DEEP : ENCODE_8;
    const double luma = video->full ? most : 219 * step, chroma = video->full ? most : 224 * step;
    *to = (smp_ycbcr){.width = width,
                      .chroma = video->gray ? 0 : (width + (1 << video->across) - 1) >> video->across,
                      .bits = video->bits,
                      .across = video->across,
                      .black = video->full ? 0 : (int)(16 * step),
                      .middle = (int)(128 * step),
                      .most = most,
                      .luma = scaled(white / luma, decode),
                      .red_cr = scaled(2 * (1 - red) * white / chroma, decode),
                      .green_cb = scaled(-2 * blue * (1 - blue) / green * white / chroma, decode),
                      .green_cr = scaled(-2 * red * (1 - red) / green * white / chroma, decode),
                      .blue_cb = scaled(2 * (1 - blue) * white / chroma, decode)};
    const double weights[3] = {red, green, blue};
    for (int i = 0; i < 3; i++) {
        to->y[i] = scaled(weights[i] * luma / white, encode);
        to->cb[i] = scaled(((i == 2) - weights[i]) / (2 * (1 - blue)) * chroma / white, encode);
        to->cr[i] = scaled(((i == 0) - weights[i]) / (2 * (1 - red)) * chroma / white, encode);
    }
    to->y[1] = scaled(luma / white, encode) - to->y[0] - to->y[2]; /* white stays white, gray has no chroma */
    to->cb[1] = -to->cb[0] - to->cb[2];
    to->cr[1] = -to->cr[0] - to->cr[2];
#ifdef WITH_AVX2
    to->avx2 = __builtin_cpu_supports("avx2");
#endif
}

static int get(const uint8_t *at, int64_t index)
{
    return at[2 * index] | at[2 * index + 1] << 8;
}

static void put(uint8_t *at, int64_t index, int64_t code)
{
    at[2 * index] = (uint8_t)code;
    at[2 * index + 1] = (uint8_t)(code >> 8);
}

/* ------------------------------------------------------------------------------------------------ decoding */

static uint8_t byte_of(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Up to BLOCK pixels. */
INLINED void decode_block(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to,
                          int n)
{
    const int16_t luma = (int16_t)of->luma, red = (int16_t)of->red_cr, green_b = (int16_t)of->green_cb;
    const int16_t green_r = (int16_t)of->green_cr, blue = (int16_t)of->blue_cb;
    const int32_t half = 1 << (DECODE_8 - 1);
    int16_t u[BLOCK], v[BLOCK];
    uint8_t rgb[3][BLOCK];
    if (of->across == 1 && n == BLOCK)
        for (int i = 0; i < BLOCK / 2; i++) {
            u[2 * i] = u[2 * i + 1] = (int16_t)(cb[i] - of->middle);
            v[2 * i] = v[2 * i + 1] = (int16_t)(cr[i] - of->middle);
        }
    else
        for (int i = 0; i < n; i++) {
            u[i] = (int16_t)(cb[i >> of->across] - of->middle);
            v[i] = (int16_t)(cr[i >> of->across] - of->middle);
        }
    for (int i = 0; i < n; i++) {
        const int32_t light = (int16_t)(y[i] - of->black) * luma + half;
        rgb[0][i] = byte_of((light + v[i] * red) >> DECODE_8);
        rgb[1][i] = byte_of((light + u[i] * green_b + v[i] * green_r) >> DECODE_8);
        rgb[2][i] = byte_of((light + u[i] * blue) >> DECODE_8);
    }
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            to[3 * i + c] = rgb[c][i];
}

INLINED void decode_row(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to)
{
    int64_t x = 0;
    for (; x + BLOCK <= of->width; x += BLOCK)
        decode_block(of, y + x, cb + (x >> of->across), cr + (x >> of->across), to + 3 * x, BLOCK);
    decode_block(of, y + x, cb + (x >> of->across), cr + (x >> of->across), to + 3 * x, (int)(of->width - x));
}

static void decode_plain(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to)
{
    decode_row(of, y, cb, cr, to);
}

#ifdef WITH_AVX2
WITH_AVX2 static void decode_avx2(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr,
                                  uint8_t *to)
{
    decode_row(of, y, cb, cr, to);
}
#else
#define decode_avx2 decode_plain
#endif

static uint16_t word_of(int64_t v)
{
    return (uint16_t)(v < 0 ? 0 : v > 65535 ? 65535 : v);
}

static void decode_deep(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint16_t *to)
{
    const int64_t half = INT64_C(1) << (DECODE_DEEP - 1);
    for (int64_t x = 0; x < of->width; x++) {
        const int64_t light = (smp_min_i64(get(y, x), of->most) - of->black) * of->luma + half;
        if (!of->chroma) {
            to[x] = word_of(light >> DECODE_DEEP);
            continue;
        }
        const int64_t u = smp_min_i64(get(cb, x >> of->across), of->most) - of->middle;
        const int64_t v = smp_min_i64(get(cr, x >> of->across), of->most) - of->middle;
        to[3 * x] = word_of((light + v * of->red_cr) >> DECODE_DEEP);
        to[3 * x + 1] = word_of((light + u * of->green_cb + v * of->green_cr) >> DECODE_DEEP);
        to[3 * x + 2] = word_of((light + u * of->blue_cb) >> DECODE_DEEP);
    }
}

void smp_ycbcr_decode(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, void *to)
{
    uint8_t *bytes = to;
    if (of->bits > 8)
        decode_deep(of, y, cb, cr, to);
    else if (of->chroma)
        (of->avx2 ? decode_avx2 : decode_plain)(of, y, cb, cr, to);
    else
        for (int64_t x = 0; x < of->width; x++)
            bytes[x] = byte_of((int32_t)((y[x] - of->black) * of->luma + (1 << (DECODE_8 - 1))) >> DECODE_8);
}

/* ------------------------------------------------------------------------------------------------ encoding */

static int64_t code_of(const smp_ycbcr *of, int64_t v)
{
    return smp_clamp_i64(v, 0, of->most);
}

/* Takes pixels apart. */
INLINED void split(const uint8_t *from, uint8_t (*rgb)[BLOCK], int n)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            rgb[c][i] = from[3 * i + c];
}

INLINED void luma_block(const smp_ycbcr *of, const uint8_t *from, uint8_t *y, int n)
{
    const int16_t red = (int16_t)of->y[0], green = (int16_t)of->y[1], blue = (int16_t)of->y[2];
    const int32_t add = of->black * (1 << ENCODE_8) + (1 << (ENCODE_8 - 1));
    uint8_t rgb[3][BLOCK];
    split(from, rgb, n);
    for (int i = 0; i < n; i++)
        y[i] = byte_of((rgb[0][i] * red + rgb[1][i] * green + rgb[2][i] * blue + add) >> ENCODE_8);
}

INLINED void luma_row(const smp_ycbcr *of, const uint8_t *from, uint8_t *y)
{
    int64_t x = 0;
    for (; x + BLOCK <= of->width; x += BLOCK)
        luma_block(of, from + 3 * x, y + x, BLOCK);
    luma_block(of, from + 3 * x, y + x, (int)(of->width - x));
}

/* Adds the pixels of whole blocks to the sums of pairs; returns how many pixels that were. */
INLINED int64_t add_pairs(const smp_ycbcr *of, const uint8_t *from, int32_t *sums)
{
    int64_t x = 0;
    for (; x + BLOCK <= of->width; x += BLOCK) {
        uint8_t rgb[3][BLOCK];
        split(from + 3 * x, rgb, BLOCK);
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < BLOCK / 2; i++)
                sums[c * of->chroma + x / 2 + i] += rgb[c][2 * i] + rgb[c][2 * i + 1];
    }
    return x;
}

static void luma_plain(const smp_ycbcr *of, const uint8_t *from, uint8_t *y)
{
    luma_row(of, from, y);
}

static int64_t pairs_plain(const smp_ycbcr *of, const uint8_t *from, int32_t *sums)
{
    return add_pairs(of, from, sums);
}

#ifdef WITH_AVX2
WITH_AVX2 static void luma_avx2(const smp_ycbcr *of, const uint8_t *from, uint8_t *y)
{
    luma_row(of, from, y);
}

WITH_AVX2 static int64_t pairs_avx2(const smp_ycbcr *of, const uint8_t *from, int32_t *sums)
{
    return add_pairs(of, from, sums);
}
#else
#define luma_avx2  luma_plain
#define pairs_avx2 pairs_plain
#endif

static void luma_deep(const smp_ycbcr *of, const uint16_t *from, uint8_t *y)
{
    const int64_t half = INT64_C(1) << (ENCODE_DEEP - 1);
    for (int64_t x = 0; x < of->width; x++) {
        const uint16_t *rgb = from + 3 * x;
        const int64_t light = of->chroma ? rgb[0] * of->y[0] + rgb[1] * of->y[1] + rgb[2] * of->y[2]
                                         : from[x] * (of->y[0] + of->y[1] + of->y[2]);
        put(y, x, code_of(of, ((light + half) >> ENCODE_DEEP) + of->black));
    }
}

void smp_ycbcr_encode_luma(const smp_ycbcr *of, const void *from, uint8_t *y)
{
    const uint8_t *bytes = from;
    const int32_t add = of->black * (1 << ENCODE_8) + (1 << (ENCODE_8 - 1));
    if (of->bits > 8)
        luma_deep(of, from, y);
    else if (of->chroma)
        (of->avx2 ? luma_avx2 : luma_plain)(of, from, y);
    else
        for (int64_t x = 0; x < of->width; x++)
            y[x] = byte_of((int32_t)(bytes[x] * (of->y[0] + of->y[1] + of->y[2]) + add) >> ENCODE_8);
}

void smp_ycbcr_add(const smp_ycbcr *of, const void *from, int32_t *sums)
{
    const uint8_t *bytes = from;
    const uint16_t *words = from;
    const bool pairs = of->bits == 8 && of->across == 1;
    int64_t x = pairs ? (of->avx2 ? pairs_avx2 : pairs_plain)(of, from, sums) : 0;
    for (; x < of->chroma << of->across; x++) /* the last column stands for those beyond it */
        for (int c = 0; c < 3; c++) {
            const int64_t at = 3 * smp_min_i64(x, of->width - 1) + c;
            sums[c * of->chroma + (x >> of->across)] += of->bits > 8 ? words[at] : bytes[at];
        }
}

static void chroma_deep(const smp_ycbcr *of, const int32_t *sums, int shift, uint8_t *cb, uint8_t *cr)
{
    const int32_t *red = sums, *green = red + of->chroma, *blue = green + of->chroma;
    const int64_t half = INT64_C(1) << (shift - 1);
    for (int64_t x = 0; x < of->chroma; x++) {
        const int64_t u = red[x] * of->cb[0] + green[x] * of->cb[1] + blue[x] * of->cb[2];
        const int64_t v = red[x] * of->cr[0] + green[x] * of->cr[1] + blue[x] * of->cr[2];
        put(cb, x, code_of(of, ((u + half) >> shift) + of->middle));
        put(cr, x, code_of(of, ((v + half) >> shift) + of->middle));
    }
}

void smp_ycbcr_encode_chroma(const smp_ycbcr *of, const int32_t *sums, int down, uint8_t *cb, uint8_t *cr)
{
    const int shift = (of->bits > 8 ? ENCODE_DEEP : ENCODE_8) + of->across + down;
    const int32_t *red = sums, *green = red + of->chroma, *blue = green + of->chroma;
    if (of->bits > 8) {
        chroma_deep(of, sums, shift, cb, cr);
        return;
    }
    int32_t u[3], v[3]; /* four pixels of 8 bits times factors below 2^14 */
    for (int c = 0; c < 3; c++) {
        u[c] = (int32_t)of->cb[c];
        v[c] = (int32_t)of->cr[c];
    }
    const int32_t half = (1 << (shift - 1)) + of->middle * (1 << shift);
    for (int64_t x = 0; x < of->chroma; x++) {
        cb[x] = byte_of((red[x] * u[0] + green[x] * u[1] + blue[x] * u[2] + half) >> shift);
        cr[x] = byte_of((red[x] * v[0] + green[x] * v[1] + blue[x] * v[2] + half) >> shift);
    }
}
