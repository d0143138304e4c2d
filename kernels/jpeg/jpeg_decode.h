/* jpeg_decode: a picture from the entropy-coded scan of a baseline JPEG (ITU-T T.81), as libjpeg-turbo decodes it with
 * its accurate integer transform and "fancy" upsampling: the same bytes. All arithmetic is on integers.
 *
 * The input is a picture of bytes that the reader makes (io/jpeg/jpeg_scan.c): an smp_jpeg_scan, the subsequences, and
 * the bits without stuffed zeros. A subsequence is SMP_JPEG_SUB_BITS bits, or what is left of a restart interval. Where
 * a Huffman code begins in it depends on all that comes before; but decoders that begin in the middle of a code soon
 * fall into step with the right one. So (Weissenberger, Schmidt: "Massively Parallel Huffman Decoding on GPUs", 2018;
 * "Accelerating JPEG Decompression on GPUs", 2021):
 *   sync   every subsequence is decoded as if a block began at its first bit, then again from where its predecessor in
 *          the same block of threads ended, until nothing changes
 *   join   the same across blocks of threads, and running sums of blocks and of DC differences
 *   coefs  every subsequence is decoded once more, from its true beginning, into coefficients
 *   idct   coefficients to samples of each component, in a plane of its own
 *   pixels planes to the picture: chroma is interpolated, colour converted
 * The place where subsequences begin is a fixed point that exists once: the result does not depend on the order in
 * which threads run.
 *
 * What a decoder would have to invent (a bad code, too few or too many blocks) or what implementations of libjpeg
 * disagree about (overflow in the transform) is counted in io->clipped as a doubt: the picture is then not to be used,
 * and the file is decoded in the usual way. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/view.h"

enum {
    SMP_SCAN_MAGIC = 0x4A504753,
    SMP_JPEG_SUB_BITS = 1024,   /* of a subsequence; a multiple of 32 */
    SMP_JPEG_SUBS = 128,        /* subsequences, and threads, of a block */
    SMP_JPEG_ROUNDS = 32,       /* of joining; files that take more are made to, and are in doubt */
    SMP_JPEG_JOINERS = 512,     /* threads of the one block that joins */
    SMP_JPEG_LOOK = 9,          /* bits that the first look-up takes */
    SMP_JPEG_ROW = 65536,       /* bytes of a row of the input, of the scratch memory; */
    SMP_JPEG_SMALL_ROW = 4096,  /* or of a small input */
    SMP_JPEG_LEAST_BYTES = 64,  /* of input for each subsequence: bounds their number */
    SMP_JPEG_MOST_INPUT = 11000 /* of a one-dimensional transform: beyond, sums of 16 or 32 bits might overflow */
};

/* A Huffman table (T.81, annex C and F.2.2.3). Codes are compared left-aligned in 16 bits. */
typedef struct smp_jpeg_table {
    uint16_t look[1 << SMP_JPEG_LOOK]; /* by the next bits: length << 8 | symbol; 0: the code is longer, or none */
    uint32_t end[17];                  /* by length: the first code that is too large for it */
    int32_t first[17];                 /* by length: the index of the first symbol, minus the first code */
    uint8_t symbols[256];
} smp_jpeg_table;

/* The head of the input. Offsets are from its first byte, multiples of 16. */
typedef struct smp_jpeg_scan {
    uint32_t magic;
    uint32_t subs, subs_at;   /* smp_jpeg_sub */
    uint32_t words, words_at; /* uint32_t, the first bit highest; one more is readable */
    uint32_t chosen;          /* bit c: the DC table of component c, bit 4 + c: its AC table */
    uint16_t steps[3][64];    /* by component: quantisation, row by row */
    uint8_t natural[64];      /* where coefficient k of the zigzag order is, row by row (T.81, figure A.6) */
    smp_jpeg_table tables[4]; /* DC, DC, AC, AC */
} smp_jpeg_scan;

/* Bits start .. end-1 of a restart interval, which has blocks block .. block_end-1 of the file. */
enum { SMP_JPEG_FIRST = 1, SMP_JPEG_LAST = 2 };
typedef struct smp_jpeg_sub {
    uint32_t start, end;
    uint32_t block, block_end;
    uint32_t place; /* in the interval: SMP_JPEG_FIRST, SMP_JPEG_LAST */
} smp_jpeg_sub;

/* A place in the file: the next bit, and 64 * (block of the MCU) + (zigzag index). */
typedef struct smp_jpeg_place {
    uint32_t bit, state;
} smp_jpeg_place;

/* Contents of a subsequence; from `join` on, of all before it. */
typedef struct smp_jpeg_run {
    smp_jpeg_place out; /* behind it */
    uint32_t blocks;
    int32_t dc[3]; /* sums of differences, by component */
} smp_jpeg_run;

typedef struct smp_jpeg_decode {
    int32_t width, height, channels; /* of the picture: 1 or 3 */
    int32_t across, down;            /* samples of luma for one of chroma: 1 or 2 */
    int32_t mcus_across, mcus_down;
    int32_t mcu_blocks; /* 1, 3, 4, 6 */
    uint32_t blocks;    /* of all MCUs */
    uint32_t most_subs;
    int64_t runs_at, entered_at, coefs_at, planes_at[3]; /* bytes in the scratch memory, multiples of 64 */
    int64_t pitch[3];                                    /* bytes of a row of a plane */
} smp_jpeg_decode;

/* The input's head, or null where it is none or lies: all offsets are then within it. */
SMP_HOST_DEVICE const smp_jpeg_scan *smp_jpeg_scan_of(const smp_view *in, const smp_jpeg_decode *p)
{
    const smp_jpeg_scan *scan = (const smp_jpeg_scan *)in->data;
    const uint64_t bytes = (uint64_t)in->height * (uint64_t)in->width;
    if (in->format != SMP_U8 || bytes < sizeof *scan || in->stride != in->width || scan->magic != SMP_SCAN_MAGIC)
        return 0;
    if (scan->subs < 1 || scan->subs > p->most_subs || scan->words < 1 || (scan->subs_at | scan->words_at) % 16 ||
        scan->subs_at + (uint64_t)scan->subs * sizeof(smp_jpeg_sub) > bytes ||
        scan->words_at + ((uint64_t)scan->words + 1) * 4 > bytes || scan->words > 0xffffffffu / 32)
        return 0;
    return scan;
}

SMP_HOST_DEVICE const uint32_t *smp_jpeg_words(const smp_jpeg_scan *scan)
{
    return (const uint32_t *)((const char *)scan + scan->words_at);
}

/* Subsequence i, with bits and blocks that exist. */
SMP_HOST_DEVICE smp_jpeg_sub smp_jpeg_sub_of(const smp_jpeg_scan *scan, const smp_jpeg_decode *p, uint32_t i)
{
    smp_jpeg_sub sub = ((const smp_jpeg_sub *)((const char *)scan + scan->subs_at))[i];
    const uint32_t most = scan->words * 32;
    sub.end = sub.end < most ? sub.end : most;
    sub.start = sub.start < sub.end ? sub.start : sub.end;
    sub.block_end = sub.block_end < p->blocks ? sub.block_end : p->blocks;
    return sub;
}

/* Whether subsequence i does not follow the one before it as it must, or is the last and ends too early. */
SMP_HOST_DEVICE int smp_jpeg_astray(const smp_jpeg_scan *scan, const smp_jpeg_decode *p, uint32_t i)
{
    const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, p, i);
    const int last = i + 1 == scan->subs;
    if (last && (sub.block_end != p->blocks || !(sub.place & SMP_JPEG_LAST)))
        return 1;
    if (i == 0)
        return sub.block != 0 || !(sub.place & SMP_JPEG_FIRST);
    const smp_jpeg_sub before = smp_jpeg_sub_of(scan, p, i - 1);
    return !(sub.place & SMP_JPEG_FIRST) != !(before.place & SMP_JPEG_LAST) || before.end > sub.start ||
           ((sub.place & SMP_JPEG_FIRST) ? sub.block != before.block_end
                                         : sub.block != before.block || sub.block_end != before.block_end);
}

/* The 32 bits from `bit` on; zeros behind the last. */
SMP_HOST_DEVICE uint32_t smp_jpeg_window(const uint32_t *words, uint32_t count, uint32_t bit)
{
    const uint32_t at = bit / 32, shift = bit % 32;
    if (at >= count)
        return 0;
    return (uint32_t)(((uint64_t)words[at] << 32 | words[at + 1]) << shift >> 32);
}

/* The code at the top of `window`: length << 8 | symbol; 0: none. */
SMP_HOST_DEVICE uint32_t smp_jpeg_code(const smp_jpeg_table *table, uint32_t window)
{
    const uint32_t quick = table->look[window >> (32 - SMP_JPEG_LOOK)];
    if (quick)
        return quick;
    const uint32_t code = window >> 16;
    for (int length = SMP_JPEG_LOOK + 1; length <= 16; length++)
        if (code < table->end[length]) {
            const int32_t index = table->first[length] + (int32_t)(code >> (16 - length));
            return (uint32_t)length << 8 | table->symbols[index & 255];
        }
    return 0;
}

/* The number that `size` bits below the top `skip` of the window stand for (T.81, F.2.2.1: EXTEND). */
SMP_HOST_DEVICE int32_t smp_jpeg_extend(uint32_t window, uint32_t skip, uint32_t size)
{
    if (!size)
        return 0;
    const int32_t v = (int32_t)(window << skip >> (32 - size));
    return v >= 1 << (size - 1) ? v : v - (1 << size) + 1;
}

SMP_HOST_DEVICE int smp_jpeg_component(const smp_jpeg_decode *p, uint32_t block_of_mcu)
{
    const uint32_t luma = (uint32_t)(p->across * p->down);
    return p->channels == 1 || block_of_mcu < luma ? 0 : block_of_mcu == luma ? 1 : 2;
}

/* One decoder. */
typedef struct smp_jpeg_reader {
    const uint32_t *words;
    uint32_t count;
    const smp_jpeg_table *tables;
    uint32_t chosen;
    uint32_t bit, block, zigzag; /* the next; the block of the MCU */
    int bad;                     /* something was no code, or no possible one */
} smp_jpeg_reader;

SMP_HOST_DEVICE smp_jpeg_reader smp_jpeg_begin(const smp_jpeg_scan *scan, const smp_jpeg_table *tables,
                                               smp_jpeg_place at)
{
    smp_jpeg_reader r;
    r.words = smp_jpeg_words(scan);
    r.count = scan->words;
    r.tables = tables;
    r.chosen = scan->chosen;
    r.bit = at.bit;
    r.block = at.state / 64;
    r.zigzag = at.state % 64;
    r.bad = 0;
    return r;
}

/* Meaning of one code: a DC difference, or a coefficient at `zigzag`, or none (zigzag 0 stands for none). */
typedef struct smp_jpeg_value {
    int32_t value;
    uint32_t zigzag;
    int component, is_dc, ends; /* ends: the block ends behind it */
} smp_jpeg_value;

SMP_HOST_DEVICE smp_jpeg_value smp_jpeg_next(smp_jpeg_reader *r, const smp_jpeg_decode *p)
{
    smp_jpeg_value v = {0, 0, smp_jpeg_component(p, r->block), r->zigzag == 0, 0};
    const uint32_t window = smp_jpeg_window(r->words, r->count, r->bit);
    const uint32_t kind = v.is_dc ? 0 : 4;
    const smp_jpeg_table *table = &r->tables[kind / 2 + (r->chosen >> (kind + (uint32_t)v.component) & 1)];
    const uint32_t code = smp_jpeg_code(table, window), length = code ? code >> 8 : 1, symbol = code & 255;
    const uint32_t run = v.is_dc ? 0 : symbol >> 4, size = v.is_dc ? symbol : symbol & 15;
    if (!code || size > (v.is_dc ? 11u : 10u)) { /* more than 8 bits a sample can give */
        r->bad = 1;
        r->bit += length;
        return v;
    }
    r->bit += length + size;
    v.value = smp_jpeg_extend(window, length, size);
    if (v.is_dc)
        r->zigzag = 1;
    else if (size) {
        v.zigzag = r->zigzag + run;
        if (v.zigzag > 63) { /* none: no two subsequences write one coefficient, whatever the bits are */
            r->bad = 1;
            v.zigzag = 0;
        }
        r->zigzag += run + 1;
    } else
        r->zigzag += run == 15 ? 16 : 64;
    if (r->zigzag > 63) {
        r->bad |= r->zigzag > 64 && run == 15 && !size; /* zeros past the end */
        r->zigzag = 0;
        r->block = r->block + 1 < (uint32_t)p->mcu_blocks ? r->block + 1 : 0;
        v.ends = 1;
    }
    return v;
}

/* Decodes subsequence `sub`, entered at `in`, without storing coefficients. */
SMP_HOST_DEVICE smp_jpeg_run smp_jpeg_skim(const smp_jpeg_scan *scan, const smp_jpeg_table *tables,
                                           const smp_jpeg_decode *p, smp_jpeg_sub sub, smp_jpeg_place in)
{
    smp_jpeg_reader r = smp_jpeg_begin(scan, tables, in);
    smp_jpeg_run run = {{0, 0}, 0, {0, 0, 0}};
    while (r.bit < sub.end) {
        const smp_jpeg_value v = smp_jpeg_next(&r, p);
        run.blocks += (uint32_t)v.ends;
        for (int c = 0; c < 3; c++) /* a sum each in a register */
            run.dc[c] = (int32_t)((uint32_t)run.dc[c] + (v.is_dc && v.component == c ? (uint32_t)v.value : 0u));
    }
    run.out.bit = r.bit;
    run.out.state = r.block * 64 + r.zigzag;
    return run;
}

SMP_HOST_DEVICE smp_jpeg_place smp_jpeg_start_of(smp_jpeg_sub sub)
{
    const smp_jpeg_place at = {sub.start, 0};
    return at;
}

/* Decodes subsequence i into coefficients. *at: where it is entered, then where the next is; *block, dc: what comes
 * before it. Returns doubts. */
SMP_HOST_DEVICE int smp_jpeg_decode_sub(const smp_jpeg_scan *scan, const smp_jpeg_table *tables, const uint8_t *natural,
                                        const smp_jpeg_decode *p, smp_jpeg_sub sub, smp_jpeg_place *at, uint32_t *block,
                                        int32_t *dc, int16_t *coefs)
{
    smp_jpeg_reader r = smp_jpeg_begin(scan, tables, *at);
    int doubt = *block > sub.block_end;
    while (r.bit < sub.end && *block < sub.block_end) {
        const smp_jpeg_value v = smp_jpeg_next(&r, p);
        int16_t *to = coefs + (int64_t)*block * 64;
        if (v.is_dc) {
            int32_t sum = 0;
            for (int c = 0; c < 3; c++) {
                dc[c] = (int32_t)((uint32_t)dc[c] + (v.component == c ? (uint32_t)v.value : 0u));
                sum = v.component == c ? dc[c] : sum;
            }
            doubt |= sum != (int16_t)sum;
            to[0] = (int16_t)sum;
        } else if (v.zigzag)
            to[natural[v.zigzag] & 63] = (int16_t)v.value;
        *block += (uint32_t)v.ends;
    }
    at->bit = r.bit;
    at->state = r.block * 64 + r.zigzag;
    if (sub.place & SMP_JPEG_LAST) /* less than a byte is left to fill it up */
        doubt |= *block != sub.block_end || at->state || at->bit > sub.end || sub.end - at->bit > 7;
    return doubt || r.bad;
}

SMP_HOST_DEVICE int smp_jpeg_same(smp_jpeg_place a, smp_jpeg_place b)
{
    return a.bit == b.bit && a.state == b.state;
}

/* ------------------------------------------------------------------------------------------------ samples */

/* Eight values of a row or column, transformed in place (Loeffler, Ligtenberg, Moschytz 1989: 11 multiplications; the
 * constants are the usual ones, times 8192). bits: how far results are scaled down, rounded. True: a doubt. */
SMP_HOST_DEVICE int smp_jpeg_idct8(int32_t *v, int bits)
{
    int doubt = 0;
    for (int i = 0; i < 8; i++)
        doubt |= v[i] > SMP_JPEG_MOST_INPUT || v[i] < -SMP_JPEG_MOST_INPUT;
    if (doubt) {
        for (int i = 0; i < 8; i++)
            v[i] = 0;
        return doubt;
    }
    const int32_t half = 1 << (bits - 1);
    const int32_t turn = (v[2] + v[6]) * 4433;
    const int32_t low = turn - v[6] * 15137, high = turn + v[2] * 6270;
    const int32_t sum = (v[0] + v[4]) * 8192, difference = (v[0] - v[4]) * 8192;
    const int32_t even[4] = {sum + high, difference + low, difference - low, sum - high};

    const int32_t both = (v[7] + v[3] + v[5] + v[1]) * 9633;
    const int32_t outer = (v[7] + v[1]) * -7373, inner = (v[5] + v[3]) * -20995;
    const int32_t left = both - (v[7] + v[3]) * 16069, right = both - (v[5] + v[1]) * 3196;
    const int32_t odd[4] = {v[1] * 12299 + outer + right, v[3] * 25172 + inner + left, v[5] * 16819 + inner + right,
                            v[7] * 2446 + outer + left};
    for (int i = 0; i < 4; i++) {
        v[i] = (even[i] + odd[i] + half) >> bits;
        v[7 - i] = (even[i] - odd[i] + half) >> bits;
    }
    return 0;
}
enum { SMP_JPEG_COLUMN_BITS = 11, SMP_JPEG_ROW_BITS = 18 };

/* A transformed value as a sample; values that not all implementations clamp alike are a doubt. */
SMP_HOST_DEVICE int32_t smp_jpeg_bounded(int32_t v, int *doubt)
{
    *doubt |= v < -512 || v > 511;
    return v < -128 ? 0 : v > 127 ? 255 : v + 128;
}

/* Returns the first sample of block `block` in its component's plane. */
SMP_HOST_DEVICE int64_t smp_jpeg_block_at(const smp_jpeg_decode *p, uint32_t block, int *component)
{
    const uint32_t mcu = block / (uint32_t)p->mcu_blocks, part = block % (uint32_t)p->mcu_blocks;
    const uint32_t x = mcu % (uint32_t)p->mcus_across, y = mcu / (uint32_t)p->mcus_across;
    const int c = smp_jpeg_component(p, part);
    const uint32_t across = c ? 1 : (uint32_t)p->across, down = c ? 1 : (uint32_t)p->down;
    *component = c;
    return p->planes_at[c] + (int64_t)((y * down + (c ? 0 : part / across)) * 8) * p->pitch[c] +
           (int64_t)((x * across + (c ? 0 : part % across)) * 8);
}

/* Chroma at pixel x, y of a plane with a sample for across x down pixels: weights 3/4 and 1/4 in either direction,
 * rounded as libjpeg does; planes narrower than three samples repeat theirs. */
SMP_HOST_DEVICE int32_t smp_jpeg_chroma(const smp_jpeg_decode *p, const uint8_t *plane, int64_t pitch, int32_t x,
                                        int32_t y)
{
    const int32_t width = (p->width + p->across - 1) / p->across, height = (p->height + p->down - 1) / p->down;
    const int32_t sx = p->across == 2 ? x / 2 : x, sy = p->down == 2 ? y / 2 : y;
    const int smooth = p->across == 1 || width > 2;
    int32_t far_x = p->across == 2 ? (x % 2 ? sx + 1 : sx - 1) : sx;
    int32_t far_y = p->down == 2 ? (y % 2 ? sy + 1 : sy - 1) : sy;
    far_x = far_x < 0 ? 0 : far_x >= width ? width - 1 : far_x;
    far_y = far_y < 0 ? 0 : far_y >= height ? height - 1 : far_y;
    const uint8_t *row = plane + sy * pitch, *far_row = plane + far_y * pitch;
    if (!smooth || (p->across == 1 && p->down == 1))
        return row[sx];
    if (p->down == 1)
        return (3 * row[sx] + row[far_x] + (x % 2 ? 2 : 1)) >> 2;
    if (p->across == 1)
        return (3 * row[sx] + far_row[sx] + (y % 2 ? 2 : 1)) >> 2;
    const int32_t here = 3 * row[sx] + far_row[sx], there = 3 * row[far_x] + far_row[far_x];
    return (3 * here + there + (x % 2 ? 7 : 8)) >> 4;
}

SMP_HOST_DEVICE uint32_t smp_jpeg_clamp(int32_t v)
{
    return (uint32_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Red, green and blue in the low bytes (JFIF 1.02; factors times 65536, each product rounded by itself as in
 * libjpeg). */
SMP_HOST_DEVICE uint32_t smp_jpeg_rgb(int32_t y, int32_t cb, int32_t cr)
{
    const int32_t b = cb - 128, r = cr - 128;
    const uint32_t red = smp_jpeg_clamp(y + ((91881 * r + 32768) >> 16));
    const uint32_t green = smp_jpeg_clamp(y + ((-22554 * b - 46802 * r + 32768) >> 16));
    const uint32_t blue = smp_jpeg_clamp(y + ((116130 * b + 32768) >> 16));
    return red | green << 8 | blue << 16;
}

/* Pixel x, y: gray, or colours in the low bytes. */
SMP_HOST_DEVICE uint32_t smp_jpeg_joined(const smp_jpeg_decode *p, const uint8_t *scratch, int32_t x, int32_t y)
{
    const int32_t luma = scratch[p->planes_at[0] + y * p->pitch[0] + x];
    if (p->channels == 1)
        return (uint32_t)luma;
    return smp_jpeg_rgb(luma, smp_jpeg_chroma(p, scratch + p->planes_at[1], p->pitch[1], x, y),
                        smp_jpeg_chroma(p, scratch + p->planes_at[2], p->pitch[2], x, y));
}

SMP_CPU_DECLARE(jpeg_planes_naive);
SMP_CPU_DECLARE(jpeg_pixels_naive);
