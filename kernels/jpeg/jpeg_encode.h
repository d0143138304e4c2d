/* jpeg_encode: a picture of bytes to the entropy-coded scan of a baseline JPEG, byte for byte what libjpeg-turbo writes
 * (ITU-T T.81; JFIF's colours; the islow DCT of Loeffler, Ligtenberg and Moschytz 1989). All arithmetic is of integers.
 *
 * Blocks of 8 x 8 samples are numbered as the scan has them: MCU by MCU, in an MCU the luma blocks and then one of each
 * chroma. An MCU that reaches over the picture has dummy blocks: no AC, and the DC of the block before. Between the
 * launches lies an arena of bytes, whose parts begin where smp_jpeg_encode says:
 *   coefficients  int16_t [blocks][64] in zigzag order; not of dummies
 *   masks         uint64_t [blocks], bit k: AC coefficient k is not 0
 *   lengths       uint16_t [blocks], bits of the AC codes with the end of block
 *   spans         smp_jpeg_span [chunks], of SMP_JPEG_CHUNK blocks each; after the scan, `before` is where a chunk
 * begins words         the scan's bits, big-endian in words of 32 bits, before stuffing; on a CPU stuffed already marks
 * a bit a byte of these: it is part of a restart marker, and not stuffed pieces        int64_t [pieces]: bytes FF in
 * SMP_JPEG_PIECE of them; after the scan, where they go state         smp_jpeg_state The output is a picture of bytes:
 * an smp_jpeg_coded, the scan, zeros. */
#pragma once

#include "lib/cpu_kernel.h"

enum {
    SMP_JPEG_SIDE = 8, /* samples of a block, both ways */
    SMP_JPEG_BLOCK = SMP_JPEG_SIDE * SMP_JPEG_SIDE,
    SMP_JPEG_CHUNK = 256,                               /* blocks whose codes a thread block places, one a thread */
    SMP_JPEG_TOGETHER = SMP_JPEG_CHUNK / SMP_JPEG_SIDE, /* blocks that a thread block transforms, a row a thread */
    SMP_JPEG_SCAN = 1024,                               /* threads of the one block that adds up */
    SMP_JPEG_EACH = 16,                                 /* bytes a thread stuffs */
    SMP_JPEG_PIECE = SMP_JPEG_CHUNK * SMP_JPEG_EACH,    /* and a block of them */
    SMP_JPEG_ZRL = 0xf0,                                /* the symbol of sixteen zeros */
    SMP_JPEG_RST = 0xd0,                                /* the first restart marker */
    SMP_JPEG_HEAD = 64                                  /* bytes of smp_jpeg_coded */
};

#define SMP_JPEG_MAGIC UINT64_C(0x4e414353504d53) /* "SMPSCAN" */

/* Begins the output. */
typedef struct smp_jpeg_coded {
    uint64_t magic;
    uint64_t length; /* bytes of the scan behind this, without EOI */
    uint32_t fails;  /* not 0: it does not fit, and there is none */
    uint32_t unused[11];
} smp_jpeg_coded;

/* The plan's table. */
typedef struct smp_jpeg_tables {
    uint32_t divide[3][SMP_JPEG_BLOCK]; /* of each component, in natural order: see smp_jpeg_quantise */
    uint32_t dc[2][16], ac[2][256];     /* Huffman codes of luma and chroma by symbol: code | length << 16 */
    uint8_t place[SMP_JPEG_BLOCK];      /* in zigzag order, of a coefficient in natural order */
} smp_jpeg_tables;

typedef struct smp_jpeg_encode {
    int32_t width, height, colours; /* colours: 1 gray, 3 RGB */
    int32_t across, down;           /* samples of luma for one of chroma, 1 or 2 each way */
    int32_t restart;                /* MCUs between restart markers; 0: none */
    int32_t mcus_across, in_mcu;    /* in_mcu: blocks */
    int32_t luma_across, luma_down; /* blocks of luma that the picture reaches */
    int32_t row_bits;               /* a row of the output has 2^row_bits bytes */
    int64_t blocks, chunks, pieces;
    int64_t room;                                                            /* bytes that the scan may have */
    int64_t coefficients, masks, lengths, spans, words, marks, parts, state; /* where they begin, bytes */
} smp_jpeg_encode;

typedef struct smp_jpeg_state {
    int64_t bytes;  /* before stuffing */
    int64_t length; /* after it */
    int32_t fails;
} smp_jpeg_state;

/* Bits of several blocks, where bytes may have to be filled up in between: `before` bits up to there and `after` bits
 * from there on; after is -1 where nothing is filled up. Joining is associative. */
typedef struct smp_jpeg_span {
    int64_t before, after;
} smp_jpeg_span;

SMP_HOST_DEVICE int64_t smp_jpeg_filled(int64_t bits)
{
    return (bits + 7) & ~(int64_t)7;
}
/* Returns the end of a span that begins at a bit. */
SMP_HOST_DEVICE int64_t smp_jpeg_end(int64_t at, smp_jpeg_span s)
{
    return s.after < 0 ? at + s.before : smp_jpeg_filled(at + s.before) + s.after;
}
SMP_HOST_DEVICE smp_jpeg_span smp_jpeg_join(smp_jpeg_span a, smp_jpeg_span b)
{
    smp_jpeg_span both = a;
    if (a.after >= 0)
        both.after = smp_jpeg_end(a.after, b);
    else {
        both.before = a.before + b.before;
        both.after = b.after;
    }
    return both;
}

/* ------------------------------------------------------------------------------------------------ blocks */

typedef struct smp_jpeg_spot {
    int32_t component, x, y; /* in blocks of the component */
    int32_t first;           /* the component's first block in its MCU */
    int64_t mcu;
} smp_jpeg_spot;

SMP_HOST_DEVICE smp_jpeg_spot smp_jpeg_spot_of(const smp_jpeg_encode *p, int64_t block)
{
    const uint32_t n = (uint32_t)block, mcu = n / (uint32_t)p->in_mcu; /* 65500 x 65500 have fewer than 2^32 */
    const int32_t k = (int32_t)(n - mcu * (uint32_t)p->in_mcu), luma = p->across * p->down;
    const int32_t y = (int32_t)(mcu / (uint32_t)p->mcus_across), x = (int32_t)(mcu % (uint32_t)p->mcus_across);
    smp_jpeg_spot s = {k < luma ? 0 : k - luma + 1, x, y, k == 0 || k >= luma, mcu};
    if (k < luma) {
        s.x = x * p->across + k % p->across;
        s.y = y * p->down + k / p->across;
    }
    return s;
}

/* 1 where the picture does not reach a block. */
SMP_HOST_DEVICE int smp_jpeg_is_dummy(const smp_jpeg_encode *p, const smp_jpeg_spot *s)
{
    return s->component == 0 && (s->x >= p->luma_across || s->y >= p->luma_down);
}

/* The DC of a block; of a dummy, that of the last block before it that is none. */
SMP_HOST_DEVICE int smp_jpeg_dc(const smp_jpeg_encode *p, const void *arena, int64_t block)
{
    const int16_t *coefficients = (const int16_t *)(const void *)((const char *)arena + p->coefficients);
    for (;;) {
        const smp_jpeg_spot s = smp_jpeg_spot_of(p, block);
        if (!smp_jpeg_is_dummy(p, &s))
            return coefficients[block * SMP_JPEG_BLOCK];
        block--;
    }
}

/* 1 where an MCU begins behind a restart marker. */
SMP_HOST_DEVICE int smp_jpeg_restarts(const smp_jpeg_encode *p, int64_t mcu)
{
    return p->restart > 0 && mcu > 0 && mcu % p->restart == 0;
}

/* The DC's difference from the block before of its component. */
SMP_HOST_DEVICE int smp_jpeg_step(const smp_jpeg_encode *p, const void *arena, int64_t block)
{
    const smp_jpeg_spot s = smp_jpeg_spot_of(p, block);
    const int luma = p->across * p->down;
    if (smp_jpeg_is_dummy(p, &s))
        return 0;
    const int dc = smp_jpeg_dc(p, arena, block);
    if (s.first && (s.mcu == 0 || smp_jpeg_restarts(p, s.mcu)))
        return dc;
    const int64_t before = !s.first ? block - 1 : s.component ? block - p->in_mcu : block - p->in_mcu + luma - 1;
    return dc - smp_jpeg_dc(p, arena, before);
}

/* ------------------------------------------------------------------------------------------------ samples */

/* JFIF's Y, Cb, Cr of a pixel in libjpeg's fixed point of 16 bits. */
SMP_HOST_DEVICE int smp_jpeg_tone(int component, int r, int g, int b)
{
    const int half = 1 << 15, middle = (128 << 16) + half - 1;
    switch (component) {
    case 0:
        return (19595 * r + 38470 * g + 7471 * b + half) >> 16;
    case 1:
        return (-11059 * r - 21709 * g + 32768 * b + middle) >> 16;
    default:
        return (32768 * r - 27439 * g - 5329 * b + middle) >> 16;
    }
}

SMP_HOST_DEVICE int smp_jpeg_load(const void *row, int64_t i, int format)
{
    return format == SMP_U8 ? ((const uint8_t *)row)[i] : smp_to_u8(((const float *)row)[i]);
}

/* A component of a pixel inside the picture. */
SMP_HOST_DEVICE int smp_jpeg_pixel(const smp_jpeg_encode *p, const smp_view *in, int format, int component, int64_t x,
                                   int64_t y)
{
    const void *row = smp_row(in, y);
    if (p->colours == 1)
        return smp_jpeg_load(row, x, format);
    return smp_jpeg_tone(component, smp_jpeg_load(row, 3 * x, format), smp_jpeg_load(row, 3 * x + 1, format),
                         smp_jpeg_load(row, 3 * x + 2, format));
}

/* Returns the bias of a sum of chroma before it is halved or quartered: libjpeg rounds halves up and down in turn,
 * except where columns are whole. */
SMP_HOST_DEVICE int smp_jpeg_bias(const smp_jpeg_encode *p, int64_t x)
{
    return p->across == 1 ? 1 : p->down == 1 ? (int)(x & 1) : 1 + (int)(x & 1);
}

/* Sample (x, y) of a component, less 128. Outside it is that of the edge: pixels to the right, and below the
 * component's own last row, which is not the same where two rows are one. */
SMP_HOST_DEVICE int smp_jpeg_sample(const smp_jpeg_encode *p, const smp_view *in, int format, int component, int64_t x,
                                    int64_t y)
{
    const int64_t right = p->width - 1, bottom = p->height - 1;
    if (component == 0 || p->across * p->down == 1)
        return smp_jpeg_pixel(p, in, format, component, x < right ? x : right, y < bottom ? y : bottom) - 128;
    const int64_t low = bottom / p->down, top = (y < low ? y : low) * p->down;
    int sum = smp_jpeg_bias(p, x);
    for (int64_t j = top; j < top + p->down; j++)
        for (int64_t i = x * p->across; i < (x + 1) * p->across; i++)
            sum += smp_jpeg_pixel(p, in, format, component, i < right ? i : right, j < bottom ? j : bottom);
    return (sum >> (p->across * p->down == 4 ? 2 : 1)) - 128;
}

/* ------------------------------------------------------------------------------------------------ transform */

SMP_HOST_DEVICE int32_t smp_jpeg_descale(int32_t v, int bits)
{
    return (v + (1 << (bits - 1))) >> bits;
}

/* Eight samples or, the second time, eight sums of a column: scaled by sqrt(8) each time, and by 4 in between. */
SMP_HOST_DEVICE void smp_jpeg_dct(int32_t d[SMP_JPEG_SIDE], int second)
{
    enum { CONSTANT = 13, BETWEEN = 2 }; /* bits behind the point */
    const int bits = second ? CONSTANT + BETWEEN : CONSTANT - BETWEEN;
    const int32_t s0 = d[0] + d[7], s1 = d[1] + d[6], s2 = d[2] + d[5], s3 = d[3] + d[4];
    const int32_t d0 = d[0] - d[7], d1 = d[1] - d[6], d2 = d[2] - d[5], d3 = d[3] - d[4];
    const int32_t e0 = s0 + s3, e3 = s0 - s3, e1 = s1 + s2, e2 = s1 - s2;
    d[0] = second ? smp_jpeg_descale(e0 + e1, BETWEEN) : (e0 + e1) * (1 << BETWEEN);
    d[4] = second ? smp_jpeg_descale(e0 - e1, BETWEEN) : (e0 - e1) * (1 << BETWEEN);
    const int32_t even = (e2 + e3) * 4433;               /* 0.541196100 */
    d[2] = smp_jpeg_descale(even + e3 * 6270, bits);     /* 0.765366865 */
    d[6] = smp_jpeg_descale(even - e2 * 15137, bits);    /* 1.847759065 */
    const int32_t odd = (d3 + d1 + d2 + d0) * 9633;      /* 1.175875602 */
    const int32_t z1 = (d3 + d0) * -7373;                /* 0.899976223 */
    const int32_t z2 = (d2 + d1) * -20995;               /* 2.562915447 */
    const int32_t z3 = (d3 + d1) * -16069 + odd;         /* 1.961570560 */
    const int32_t z4 = (d2 + d0) * -3196 + odd;          /* 0.390180644 */
    d[7] = smp_jpeg_descale(d3 * 2446 + z1 + z3, bits);  /* 0.298631336 */
    d[5] = smp_jpeg_descale(d2 * 16819 + z2 + z4, bits); /* 2.053119869 */
    d[3] = smp_jpeg_descale(d1 * 25172 + z2 + z3, bits); /* 3.072711026 */
    d[1] = smp_jpeg_descale(d0 * 12299 + z1 + z4, bits); /* 1.501321110 */
}

/* libjpeg-turbo divides by a reciprocal of 16 bits: reciprocal | correction << 16 | (shift - 16) << 28. */
SMP_HOST_DEVICE int smp_jpeg_quantise(int32_t v, uint32_t divide)
{
    const uint32_t magnitude = (uint32_t)(v < 0 ? -v : v) + (divide >> 16 & 0xfff);
    const int32_t q = (int32_t)(magnitude * (divide & 0xffff) >> (16 + (divide >> 28)));
    return v < 0 ? -q : q;
}

/* ------------------------------------------------------------------------------------------------ codes */

/* Returns the number of bits of a number. */
SMP_HOST_DEVICE int smp_jpeg_category(int v)
{
    const unsigned magnitude = (unsigned)(v < 0 ? -v : v);
#ifdef __CUDA_ARCH__
    return 32 - __clz((int)magnitude);
#else
    return magnitude ? 32 - __builtin_clz(magnitude) : 0;
#endif
}
/* The place of the highest bit that is set, -1 where none is; and of the lowest of a number that is not 0. */
SMP_HOST_DEVICE int smp_jpeg_highest(uint64_t v)
{
#ifdef __CUDA_ARCH__
    return 63 - __clzll((long long)v);
#else
    return v ? 63 - __builtin_clzll(v) : -1;
#endif
}
SMP_HOST_DEVICE int smp_jpeg_lowest(uint64_t v)
{
#ifdef __CUDA_ARCH__
    return __ffsll((long long)v) - 1;
#else
    return __builtin_ctzll(v);
#endif
}

/* Bits that follow a code: the number itself, less one where it is negative. */
SMP_HOST_DEVICE uint32_t smp_jpeg_extra(int v, int category)
{
    return (uint32_t)(v < 0 ? v - 1 : v) & ((1u << category) - 1);
}

/* Bits of AC coefficient k, v, where the one before it that is not 0 is at `before` (0: none). */
SMP_HOST_DEVICE int smp_jpeg_ac_bits(const uint32_t *ac, int v, int k, int before)
{
    const int zeros = k - 1 - before, category = smp_jpeg_category(v);
    return (zeros >> 4) * (int)(ac[SMP_JPEG_ZRL] >> 16) + (int)(ac[(zeros & 15) << 4 | category] >> 16) + category;
}

/* The span of a block: its marker, its DC and `length` bits of AC. */
SMP_HOST_DEVICE smp_jpeg_span smp_jpeg_span_of(const smp_jpeg_encode *p, const smp_jpeg_tables *tables,
                                               const void *arena, int64_t block)
{
    const smp_jpeg_spot s = smp_jpeg_spot_of(p, block);
    const int category = smp_jpeg_category(smp_jpeg_step(p, arena, block));
    const uint16_t *lengths = (const uint16_t *)(const void *)((const char *)arena + p->lengths);
    const int64_t bits = (int)(tables->dc[s.component > 0][category] >> 16) + category + lengths[block];
    smp_jpeg_span span = {bits, -1};
    if (s.component == 0 && s.first && smp_jpeg_restarts(p, s.mcu)) {
        span.before = 0;
        span.after = 16 + bits;
    }
    return span;
}

/* Stores a byte of the output where its row is present. */
SMP_HOST_DEVICE void smp_jpeg_store(const smp_view *out, int format, int row_bits, int64_t at, int byte)
{
    const int64_t y = at >> row_bits, x = at - (y << row_bits);
    if (y < out->y0 || y >= out->y0 + out->rows)
        return;
    if (format == SMP_U8)
        ((uint8_t *)smp_row(out, y))[x] = (uint8_t)byte;
    else
        ((float *)smp_row(out, y))[x] = (float)byte;
}

SMP_CPU_DECLARE(jpeg_encode_blocks); /* things are rows of MCUs */
SMP_CPU_DECLARE(jpeg_encode_codes);  /* one thing: the scan, stuffed */
SMP_CPU_DECLARE(jpeg_encode_stuff);  /* rows of the output */
