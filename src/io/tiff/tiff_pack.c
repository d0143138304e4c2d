/* Packs strips of a TIFF: see tiff_pack.h. Sources: TIFF 6.0, sections 13 and 14; Adobe Photoshop TIFF Technical Notes
 * 3 (floating-point predictor); RFC 1950. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

#include <zlib.h>
#ifdef SMP_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/png/png_deflate.h"

enum { LEVEL = 1, ZSTD_LEVEL = 3, SAMPLE = 1 << 15 /* bytes that decide how a strip is deflated */ };
enum { ZLIB_HEADER = 2, ZLIB_END = 2 + 4 /* an empty last block, Adler-32 */ };

struct smp_tiff_packer {
    smp_tiff_compression compression;
    smp_shape shape;
    smp_png_deflate *deflate;
    smp_lzw *lzw;
    uint8_t *line; /* a row of floats, by bytes */
    uint8_t *out;
#ifdef SMP_HAVE_ZSTD
    ZSTD_CCtx *zstd;
    size_t room; /* of out */
#endif
};

bool smp_tiff_packs(smp_tiff_compression compression)
{
#ifdef SMP_HAVE_ZSTD
    (void)compression;
    return true;
#else
    return compression != SMP_TIFF_ZSTD;
#endif
}

smp_tiff_packer *smp_tiff_packer_open(const smp_shape *shape, smp_tiff_compression compression, size_t most)
{
    smp_tiff_packer *packer = smp_alloc(sizeof *packer);
    if (!packer)
        return NULL;
    packer->compression = compression;
    packer->shape = *shape;
    bool done = true;
    if (compression == SMP_TIFF_DEFLATE) {
        packer->deflate = smp_png_deflate_open(LEVEL, most, SAMPLE);
        packer->out = smp_alloc_raw(ZLIB_HEADER + smp_png_deflate_room(most) + ZLIB_END);
        done = packer->deflate && packer->out;
    } else if (compression == SMP_TIFF_LZW) {
        packer->lzw = smp_alloc(sizeof *packer->lzw);
        packer->out = smp_alloc_raw(smp_lzw_room(most));
        done = packer->lzw && packer->out;
    }
#ifdef SMP_HAVE_ZSTD
    if (compression == SMP_TIFF_ZSTD) {
        packer->zstd = ZSTD_createCCtx();
        packer->room = ZSTD_compressBound(most);
        packer->out = smp_alloc_raw(packer->room);
        done = packer->zstd && packer->out;
    }
#endif
    if (compression != SMP_TIFF_NONE && shape->format == SMP_F32)
        done = (packer->line = smp_alloc_raw((size_t)smp_row_bytes(shape))) != NULL && done;
    if (done)
        return packer;
    smp_tiff_packer_close(packer);
    return NULL;
}

void smp_tiff_packer_close(smp_tiff_packer *packer)
{
    if (!packer)
        return;
    if (packer->deflate)
        smp_png_deflate_close(packer->deflate);
#ifdef SMP_HAVE_ZSTD
    ZSTD_freeCCtx(packer->zstd);
#endif
    smp_free_all(packer->lzw, packer->line, packer->out, packer);
}

static void subtract_bytes(uint8_t *row, size_t size, size_t step)
{
    for (size_t i = size; i-- > step;)
        row[i] = (uint8_t)(row[i] - row[i - step]);
}

static void subtract_words(uint16_t *row, size_t count, size_t step)
{
    for (size_t i = count; i-- > step;)
        row[i] = (uint16_t)(row[i] - row[i - step]);
}

/* The highest bytes of all floats, then the next: their neighbours are alike. */
static void split_floats(const smp_tiff_packer *packer, uint8_t *row, size_t size)
{
    const size_t count = size / sizeof(float);
    memcpy(packer->line, row, size);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, packer->line + i * sizeof bits, sizeof bits);
        for (size_t b = 0; b < sizeof bits; b++)
            row[b * count + i] = (uint8_t)(bits >> (24 - 8 * b));
    }
}

static void take_differences(const smp_tiff_packer *packer, uint8_t *row, size_t size)
{
    const size_t step = (size_t)packer->shape.channels;
    switch (packer->shape.format) {
    case SMP_U16:
        subtract_words((uint16_t *)(void *)row, size / 2, step);
        break;
    case SMP_F32:
        split_floats(packer, row, size);
        subtract_bytes(row, size, step);
        break;
    default:
        subtract_bytes(row, size, step);
        break;
    }
}

/* The file is little-endian; bytes of floats with differences have an order of their own. */
static void order_bytes(const smp_tiff_packer *packer, uint8_t *rows, size_t size)
{
    const size_t word = (size_t)smp_sample_size((int)packer->shape.format);
    if (!smp_little_endian() && word > 1 && (word != 4 || packer->compression == SMP_TIFF_NONE))
        smp_reverse_words(rows, size, word);
}

static size_t deflate_strip(const smp_tiff_packer *packer, const uint8_t *rows, size_t size)
{
    const size_t sample = size < SAMPLE ? size : SAMPLE;
    const bool repeats =
        smp_png_deflate_repeats(packer->deflate, rows, sample, smp_png_deflate_sample(packer->deflate, rows, sample));
    uint8_t *out = packer->out;
    out[0] = 0x78; /* a window of 32 KB; the second byte makes the header a multiple of 31 */
    out[1] = 0x01;
    size_t used = ZLIB_HEADER + smp_png_deflate_block(packer->deflate, out + ZLIB_HEADER, rows, size, repeats, true);
    out[used++] = 0x03; /* a last block of fixed codes that only ends */
    out[used++] = 0x00;
    smp_put_be(out + used, adler32_z(1, rows, size), 4);
    return used + 4;
}

const uint8_t *smp_tiff_packer_strip(smp_tiff_packer *packer, uint8_t *rows, size_t size, size_t *packed)
{
    const size_t row = (size_t)smp_row_bytes(&packer->shape);
    for (size_t at = 0; packer->compression != SMP_TIFF_NONE && at < size; at += row)
        take_differences(packer, rows + at, row);
    order_bytes(packer, rows, size);
    *packed = size;
    if (packer->compression == SMP_TIFF_NONE)
        return rows;
#ifdef SMP_HAVE_ZSTD
    if (packer->zstd) {
        *packed = ZSTD_compressCCtx(packer->zstd, packer->out, packer->room, rows, size, ZSTD_LEVEL);
        return ZSTD_isError(*packed) ? NULL : packer->out;
    }
#endif
    *packed = packer->deflate ? deflate_strip(packer, rows, size) : smp_lzw_pack(packer->lzw, rows, size, packer->out);
    return packer->out;
}
