/* Inflates strips and tiles: see tiff_inflate.h. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

#ifdef SMP_HAVE_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"

enum {
    BATCH_BYTES = 1 << 18, /* rows are inflated together: ISA-L copies its 32 KB window with every call */
    PACKED_BYTES = 1 << 16,
    DEFLATE = 8,
    DEFLATE_BEFORE = 32946, /* its number before Adobe's */
    FILL_ORDER = 266
};

typedef enum outcome { MORE, ENDED, DAMAGED, WRONG_SUM } outcome;

struct smp_tiff_inflate {
    smp_source *source;
    const smp_tiff *tiff;
    const smp_tiff_page *page;
    const smp_tiff_entry *places, *sizes;
    int predictor;
    bool verify, swap;
    uint64_t segment, at, end;    /* of the file: what is left of the segment in progress */
    bool begun;                   /* its first bytes were given to the inflater */
    int64_t left, have, given;    /* rows: of the segment not inflated yet; in raw; of these given */
    uint8_t *packed, *raw, *line; /* raw: a batch of rows or a tile, and a byte */
#ifdef SMP_HAVE_ISAL
    struct inflate_state z;
#else
    z_stream z;
    bool open;
#endif
};

/* ------------------------------------------------------------------------------------------------ the library */

#ifdef SMP_HAVE_ISAL

static bool restart(smp_tiff_inflate *in)
{
    isal_inflate_init(&in->z);
    in->z.crc_flag = ISAL_ZLIB; /* checks the zlib header and Adler-32 */
    return true;
}

static outcome go(smp_tiff_inflate *in)
{
    struct inflate_state *z = &in->z;
    /* Enforces the declared window: zlib refuses references further back, and ISA-L must not be more lenient. */
    if (!in->begun && z->avail_in)
        z->hist_bits = 8u + (uint32_t)(z->next_in[0] >> 4);
    in->begun = in->begun || z->avail_in;
    const int is = z->hist_bits > 15 ? ISAL_INVALID_WRAPPER : isal_inflate(z);
    if (is != ISAL_DECOMP_OK)
        return is == ISAL_INCORRECT_CHECKSUM ? WRONG_SUM : DAMAGED;
    return z->block_state == ISAL_BLOCK_FINISH ? ENDED : MORE;
}

static void stop(smp_tiff_inflate *) {}

#else

static bool restart(smp_tiff_inflate *in)
{
    if (in->open)
        return inflateReset(&in->z) == Z_OK;
    in->open = inflateInit(&in->z) == Z_OK;
    return in->open;
}

static outcome go(smp_tiff_inflate *in)
{
    const int is = inflate(&in->z, Z_NO_FLUSH);
    if (is == Z_DATA_ERROR && in->z.msg && strstr(in->z.msg, "data check"))
        return WRONG_SUM;
    return is == Z_STREAM_END ? ENDED : is == Z_OK || is == Z_BUF_ERROR ? MORE : DAMAGED;
}

static void stop(smp_tiff_inflate *in)
{
    if (in->open)
        inflateEnd(&in->z);
}

#endif

/* ------------------------------------------------------------------------------------------------ opening */

smp_code smp_tiff_inflate_open(smp_source *source, const smp_tiff *tiff, const smp_tiff_page *page, bool verify,
                               smp_tiff_inflate **out, smp_error *err)
{
    uint64_t predictor = TIFF_PREDICT_NOT, order = 1;
    (void)smp_tiff_value(tiff, smp_tiff_find(tiff, TIFF_PREDICTOR), 0, &predictor);
    (void)smp_tiff_value(tiff, smp_tiff_find(tiff, FILL_ORDER), 0, &order);
    *out = NULL;
    if ((page->compression != DEFLATE && page->compression != DEFLATE_BEFORE) || order != 1 ||
        predictor < TIFF_PREDICT_NOT || predictor > TIFF_PREDICT_FLOATS ||
        (predictor != TIFF_PREDICT_NOT && (page->bits % 8 || page->bits == 24)) ||
        (predictor == TIFF_PREDICT_FLOATS && !page->is_float))
        return SMP_OK;
    smp_tiff_inflate *in = smp_alloc(sizeof *in);
    SMP_NEED(in, "a TIFF", sizeof *in, err);
    in->source = source;
    in->tiff = tiff;
    in->page = page;
    in->places = smp_tiff_segments(tiff, page, false);
    in->sizes = smp_tiff_segments(tiff, page, true);
    in->predictor = (int)predictor;
    in->verify = verify;
    in->swap = tiff->big_endian == smp_little_endian();
    const size_t row = (size_t)page->row_bytes;
    const size_t unit = page->tiled ? row * (size_t)page->unit_rows : smp_max_u64(row, BATCH_BYTES);
    in->packed = smp_alloc_raw(PACKED_BYTES);
    in->raw = smp_alloc_raw(unit + 1);
    in->line = predictor == TIFF_PREDICT_FLOATS ? smp_alloc_raw(row) : NULL;
    if (!in->packed || !in->raw || (predictor == TIFF_PREDICT_FLOATS && !in->line) || !restart(in)) {
        smp_tiff_inflate_close(in);
        return smp_fail_memory(err, "a TIFF", unit);
    }
    *out = in;
    return SMP_OK;
}

void smp_tiff_inflate_close(smp_tiff_inflate *in)
{
    if (!in)
        return;
    stop(in);
    smp_free_all(in->packed, in->raw, in->line, in);
}

/* ------------------------------------------------------------------------------------------------ segments */

static smp_code fail(const smp_tiff_inflate *in, outcome why, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: %s %llu %s", in->page->tiled ? "tile" : "strip",
             (unsigned long long)in->segment,
             why == WRONG_SUM ? "has a wrong check sum"
             : why == MORE    ? "ends too early"
                              : "cannot be inflated");
    return why == WRONG_SUM ? smp_hint_no_verify(err) : smp_hint_damaged(err);
}

static smp_code begin(smp_tiff_inflate *in, uint64_t segment, int64_t rows, smp_error *err)
{
    uint64_t size = 0;
    in->segment = segment;
    in->left = rows;
    in->have = in->given = 0;
    in->begun = false;
    if (!smp_tiff_value(in->tiff, in->places, segment, &in->at) ||
        !smp_tiff_value(in->tiff, in->sizes, segment, &size) || !restart(in))
        return fail(in, DAMAGED, err);
    in->end = in->at + size; /* within the file: checked when the page was */
    in->z.avail_in = 0;
    return SMP_OK;
}

/* Gives the inflater more of the segment. False: there is no more, or it cannot be read. */
static bool feed(smp_tiff_inflate *in)
{
    const size_t n = (size_t)smp_min_u64(in->end - in->at, PACKED_BYTES);
    const double start = smp_now();
    const bool whole = n && smp_source_look(in->source, in->at, in->packed, n);
    in->source->seconds += smp_now() - start;
    in->at += whole ? n : 0;
    in->z.next_in = in->packed;
    in->z.avail_in = whole ? (uint32_t)n : 0;
    return whole;
}

/* Inflates until `size` bytes have come, or the segment ends. *got: bytes. */
static outcome inflate_bytes(smp_tiff_inflate *in, uint8_t *to, size_t size, size_t *got)
{
    enum { PORTION = 1 << 30 }; /* libraries count in 32 bits */
    outcome is = MORE;
    for (*got = 0; *got < size && is == MORE;) {
        const uint32_t room = (uint32_t)smp_min_u64(size - *got, PORTION), before = in->z.avail_in;
        in->z.next_out = to + *got;
        in->z.avail_out = room;
        is = go(in);
        const uint32_t made = room - in->z.avail_out;
        *got += made;
        if (is == MORE && !made && in->z.avail_in == before && (before || !feed(in)))
            return MORE;
    }
    return is;
}

/* Skips bytes between the rows and the check sum: some programs pad the last strip. After as much as another strip the
 * check sum is not read; libtiff never reads it. */
static outcome skip_rest(smp_tiff_inflate *in)
{
    uint8_t rest[4096];
    size_t got = 1;
    outcome is = MORE;
    for (uint64_t most = 2 * in->page->row_bytes * (uint64_t)in->page->unit_rows, all = 0; all < most; all += got) {
        is = inflate_bytes(in, rest, sizeof rest, &got);
        if (is != MORE || !got)
            return is;
    }
    return ENDED;
}

/* Inflates the next rows of the segment into raw. */
static smp_code next_rows(smp_tiff_inflate *in, int64_t rows, smp_error *err)
{
    const smp_tiff_page *page = in->page;
    const size_t row = (size_t)page->row_bytes, want = (size_t)rows * row;
    const bool last = rows == in->left;
    size_t got;
    outcome is = inflate_bytes(in, in->raw, want + (last ? 1 : 0), &got);
    if (last && is == MORE && got >= want)
        is = skip_rest(in);
    if (got < want)
        return fail(in, is == DAMAGED || is == WRONG_SUM ? DAMAGED : MORE, err);
    if (last && is != ENDED && in->verify)
        return fail(in, is, err);
    in->left -= rows;
    in->have = rows;
    in->given = 0;
    for (int64_t r = 0; r < rows; r++)
        smp_tiff_unpredict(in->predictor, page->bits, page->planar ? 1 : (size_t)page->samples, in->swap,
                           in->raw + (size_t)r * row, row, in->line);
    return SMP_OK;
}

smp_code smp_tiff_inflate_row(smp_tiff_inflate *in, int plane, int64_t y, void *to, smp_error *err)
{
    const smp_tiff_page *page = in->page;
    const size_t row = (size_t)page->row_bytes;
    const int64_t strip = y / page->unit_rows,
                  rows = smp_min_i64(page->unit_rows, page->height - strip * page->unit_rows);
    if (y % page->unit_rows == 0)
        SMP_TRY(begin(in, (uint64_t)(plane * page->down + strip), rows, err));
    if (in->given == in->have)
        SMP_TRY(next_rows(in, smp_min_i64(smp_max_i64(1, BATCH_BYTES / (int64_t)row), in->left), err));
    memcpy(to, in->raw + (size_t)in->given++ * row, row);
    return SMP_OK;
}

smp_code smp_tiff_inflate_tile(smp_tiff_inflate *in, int plane, int64_t x, int64_t y, void *to, smp_error *err)
{
    const smp_tiff_page *page = in->page;
    const int64_t tile = (y / page->unit_rows) * page->across + x / page->unit;
    SMP_TRY(begin(in, (uint64_t)(plane * page->across * page->down + tile), page->unit_rows, err));
    SMP_TRY(next_rows(in, page->unit_rows, err));
    memcpy(to, in->raw, (size_t)page->row_bytes * (size_t)page->unit_rows);
    return SMP_OK;
}
