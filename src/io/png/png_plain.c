/* A plain PNG's picture data: chunks, inflate, unfilter. See png_plain.h. */
#include "io/png/png_glue.h"

#ifndef SMP_HAVE_ISAL

smp_code smp_png_plain_open(smp_source *, uint32_t, int64_t, int, int, smp_png_plain **out, smp_error *)
{
    *out = NULL;
    return SMP_OK;
}
bool smp_png_plain_rows(smp_png_plain *, void *, int64_t, int64_t)
{
    return false;
}
bool smp_png_plain_end(smp_png_plain *, uint64_t *)
{
    return false;
}
void smp_png_plain_close(smp_png_plain *) {}

#else

#include <isa-l.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/png/png_filter.h"

enum {
    BATCH_BYTES = 1 << 18,  /* rows are inflated together: ISA-L copies its 32 KB window with every call */
    BATCH_ROWS = 4,         /* or a multiple: rows that are unfiltered together */
    PORTION = 1 << 20,      /* bytes: ISA-L counts in 32 bits, and a batch of wide rows may be longer */
    GATHERED = 1 << 16,     /* bytes of chunks, often 8 KB each, gathered to save calls like BATCH_BYTES */
    MOST_CHUNK = 0x7fffffff /* bytes: PNG specification, 5.3 */
};

struct smp_png_plain {
    smp_source *source;
    uint32_t left, crc; /* of the current IDAT chunk */
    bool begun, over;   /* the zlib header was read; the chunk after the last IDAT was reached */
    uint64_t next;      /* the position of that chunk */
    int64_t row_bytes, batch;
    int pixel_bytes, sample_bytes;
    uint8_t *packed; /* GATHERED bytes from chunks */
    uint8_t *raw;    /* a batch of filtered rows, each after its filter byte */
    uint8_t *above;  /* the newest row, in the file's byte order */
    struct inflate_state inflate;
};

smp_code smp_png_plain_open(smp_source *source, uint32_t left, int64_t row_bytes, int pixel_bytes, int sample_bytes,
                            smp_png_plain **out, smp_error *err)
{
    *out = NULL;
    smp_png_plain *plain = smp_alloc(sizeof *plain);
    SMP_NEED(plain, "PNG", sizeof *plain, err);
    plain->source = source;
    plain->left = left;
    plain->crc = crc32_gzip_refl(0, (const unsigned char *)"IDAT", 4);
    plain->row_bytes = row_bytes;
    plain->pixel_bytes = pixel_bytes;
    plain->sample_bytes = sample_bytes;
    plain->batch = smp_max_i64(1, BATCH_BYTES / (row_bytes + 1) / BATCH_ROWS) * BATCH_ROWS;
    size_t raw = (size_t)(plain->batch * (row_bytes + 1));
    plain->raw = smp_alloc_raw(raw);
    plain->packed = smp_alloc_raw(GATHERED);
    plain->above = smp_alloc((size_t)row_bytes); /* above the first row are zeros */
    if (!plain->raw || !plain->packed || !plain->above) {
        smp_png_plain_close(plain);
        return smp_fail_memory(err, "rows of a PNG", raw + (size_t)row_bytes);
    }
    isal_inflate_init(&plain->inflate);
    plain->inflate.crc_flag = ISAL_ZLIB; /* checks the zlib header and Adler-32 */
    *out = plain;
    return SMP_OK;
}

/* Goes to the next chunk when this one is used up. False: wrong CRC, or the file ends. */
static bool next_chunk(smp_png_plain *plain)
{
    while (plain->left == 0 && !plain->over) {
        uint8_t frame[12]; /* the CRC; then length and type of the next chunk */
        if (smp_source_read(plain->source, frame, sizeof frame) != sizeof frame || smp_get_be(frame, 4) != plain->crc)
            return false;
        plain->next = plain->source->position - 8;
        plain->over = memcmp(frame + 8, "IDAT", 4) != 0;
        plain->left = plain->over ? 0 : smp_get_be(frame + 4, 4);
        plain->crc = crc32_gzip_refl(0, frame + 8, 4);
    }
    return plain->left <= MOST_CHUNK;
}

/* Gives inflate the data of the next chunks. False: no more chunks, or a damaged one. */
static bool more_input(smp_png_plain *plain)
{
    size_t have = 0;
    while (have < GATHERED && !plain->over) {
        if (!next_chunk(plain))
            return false;
        size_t n = GATHERED - have < plain->left ? GATHERED - have : plain->left;
        if (smp_source_read(plain->source, plain->packed + have, n) != n)
            return false;
        plain->crc = crc32_gzip_refl(plain->crc, plain->packed + have, n);
        plain->left -= (uint32_t)n;
        have += n;
    }
    plain->inflate.next_in = plain->packed;
    plain->inflate.avail_in = (uint32_t)have;
    if (!plain->begun && have > 0) {
        /* Enforces the declared window: zlib refuses references further back, and ISA-L must not be more lenient. */
        plain->inflate.hist_bits = 8u + (uint32_t)(plain->packed[0] >> 4);
        plain->begun = true;
        return plain->packed[0] >> 4 <= 7;
    }
    return have > 0;
}

static bool inflate_bytes(smp_png_plain *plain, uint8_t *to, size_t size)
{
    struct inflate_state *z = &plain->inflate;
    z->next_out = to;
    z->avail_out = 0;
    while (z->avail_out || size) {
        if (z->avail_out == 0) {
            z->avail_out = (uint32_t)(size < PORTION ? size : PORTION);
            size -= z->avail_out;
        }
        if (z->block_state == ISAL_BLOCK_FINISH)
            return false;
        const uint32_t in = z->avail_in, out = z->avail_out;
        if (isal_inflate(z) != ISAL_DECOMP_OK)
            return false;
        if (z->avail_out == out && z->avail_in == in && (in > 0 || !more_input(plain)))
            return false;
    }
    return true;
}

bool smp_png_plain_rows(smp_png_plain *plain, void *to, int64_t stride, int64_t rows)
{
    for (int64_t done = 0; done < rows;) {
        const int64_t n = smp_min_i64(rows - done, plain->batch);
        uint8_t *at = (uint8_t *)to + done * stride;
        if (!inflate_bytes(plain, plain->raw, (size_t)(n * (plain->row_bytes + 1))) ||
            !smp_png_unfilter(at, stride, plain->above, plain->raw, plain->row_bytes, n, plain->pixel_bytes))
            return false;
        memcpy(plain->above, at + (n - 1) * stride, (size_t)plain->row_bytes);
        for (int64_t y = 0; plain->sample_bytes == 2 && smp_little_endian() && y < n; y++)
            smp_png_swap(at + y * stride, plain->row_bytes);
        done += n;
    }
    return true;
}

bool smp_png_plain_end(smp_png_plain *plain, uint64_t *next)
{
    struct inflate_state *z = &plain->inflate;
    uint8_t beyond;
    z->next_out = &beyond;
    z->avail_out = 1;
    while (z->block_state != ISAL_BLOCK_FINISH) { /* the checksum may still follow */
        const uint32_t in = z->avail_in;
        if (isal_inflate(z) != ISAL_DECOMP_OK || z->avail_out == 0)
            return false;
        if (z->block_state != ISAL_BLOCK_FINISH && z->avail_in == in && (in > 0 || !more_input(plain)))
            return false;
    }
    if (z->avail_in > 0 || plain->left > 0 || !next_chunk(plain) || !plain->over)
        return false;
    *next = plain->next;
    return true;
}

void smp_png_plain_close(smp_png_plain *plain)
{
    if (!plain)
        return;
    smp_free_all(plain->raw, plain->packed, plain->above, plain);
}

#endif
