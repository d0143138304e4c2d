/* Blocks of a PNG's picture data: see png_blocks.h. Deflate by ISA-L for the levels that it has (it is several times as
 * fast as zlib for the same size), by zlib for the smaller files and where ISA-L is absent. */
#include "io/png_blocks.h"

#include <string.h>
#include <zlib.h>
#ifdef SMP_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "io/png_filter.h"

enum {
    BLOCK_BYTES = 512 << 10, /* of rows: loses less than 1 % to the window's new start, and a core stays in its cache */
    STORED_MOST = 65535,     /* bytes of a stored deflate block */
    STREAM_HEAD = 2,         /* the zlib header in front of the first block */
    STREAM_TAIL = 6          /* an empty last block and the Adler-32 sum behind the last */
};

typedef struct block {
    uint8_t *raw;      /* the row before, then the block's rows */
    uint8_t *filtered; /* a filter byte and a row, each */
    uint8_t *packed;
    size_t filtered_size, packed_size;
    uint32_t adler;
    int64_t rows;
    uint8_t *trial; /* what a filter's sample packs to */
    void *stream;   /* of the compressor; reused */
    void *level_buffer;
} block;

struct smp_png_blocks {
    smp_png_blocks_setup setup;
    int64_t block_rows, taken; /* rows of a block; rows of the picture so far */
    size_t packed_room;
    block *block; /* setup.threads of them */
    int count;    /* with rows in them */
    uint8_t *last; /* the newest row, for the next batch's first */
    uint32_t adler;
    bool packed;  /* what is in the blocks; the next put starts afresh */
    bool started; /* the first batch has been given out */
    smp_pool *pool;
};

/* ---------------------------------------------------------------------------------------------- deflate */

#ifdef SMP_HAVE_ISAL
enum { ISAL_MOST = 3 }; /* levels above are zlib's */
static const uint32_t level_buffer_size[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                             ISAL_DEF_LVL3_DEFAULT};
/* What of it begins a stream with zeros: counts and the hash table; tokens follow, written before they are read. */
enum { BESIDE_TABLE = 8 << 10 };
static const uint32_t level_buffer_clear[] = {0, ISAL_DEF_LVL1_REQ + BESIDE_TABLE, ISAL_DEF_LVL2_REQ + BESIDE_TABLE,
                                              ISAL_DEF_LVL3_REQ + BESIDE_TABLE};
#else
enum { ISAL_MOST = -1 };
#endif

static bool open_stream(block *b, int level)
{
#ifdef SMP_HAVE_ISAL
    if (level <= ISAL_MOST) {
        b->stream = smp_alloc(sizeof(struct isal_zstream));
        b->level_buffer = smp_alloc(level_buffer_size[level] + 1);
        return b->stream && b->level_buffer;
    }
#endif
    z_stream *z = b->stream = smp_alloc(sizeof *z);
    return z && deflateInit2(z, level > 0 ? level : 1, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void close_stream(block *b, int level)
{
    if (b->stream && level > ISAL_MOST)
        deflateEnd(b->stream);
    smp_free(b->stream);
    smp_free(b->level_buffer);
}

#ifdef SMP_HAVE_ISAL
/* igzip's assembly for the first byte of a stream takes the stream's own address for data (2.30, write_first_byte of
 * igzip_icf_body_h1_gr_bt.asm: the hash of position 1), so that matches, and with them the file's bytes, depend on where
 * memory lies: one block in fifty came out differently. So the first byte is written here, as a stored block of one byte,
 * and igzip goes on with what it believes to be a stream of which it has done a byte. */
static size_t isal_deflate_to(block *b, int level, uint8_t *to, size_t room, const uint8_t *from, size_t size)
{
    static const uint8_t stored_one[] = {0, 1, 0, 0xfe, 0xff};
    enum { FIRST = sizeof stored_one + 1 };
    struct isal_zstream *z = b->stream;
    if (size < 2 || room < 2 * FIRST)
        return 0;
    memcpy(to, stored_one, sizeof stored_one);
    to[sizeof stored_one] = from[0];
    isal_deflate_init(z);
    z->level = (uint32_t)level;
    z->level_buf = level ? b->level_buffer : NULL;
    z->level_buf_size = level ? level_buffer_size[level] : 0;
    if (level)
        memset(b->level_buffer, 0, level_buffer_clear[level]);
    memset(z->internal_state.head, 0, sizeof z->internal_state.head);
    z->internal_state.has_hist = IGZIP_HIST;
    z->total_in = 1;
    z->flush = FULL_FLUSH;
    z->next_in = (uint8_t *)(uintptr_t)(from + 1);
    z->avail_in = (uint32_t)(size - 1);
    z->next_out = to + FIRST;
    z->avail_out = (uint32_t)(room - FIRST);
    bool done = isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->avail_out > 0;
    return done ? room - z->avail_out : 0;
}
#endif

/* Deflates size bytes into to, ending on a byte boundary; 0 when they do not fit into room. */
static size_t deflate_to(block *b, int level, uint8_t *to, size_t room, const uint8_t *from, size_t size)
{
#ifdef SMP_HAVE_ISAL
    if (level <= ISAL_MOST)
        return isal_deflate_to(b, level, to, room, from, size);
#endif
    z_stream *z = b->stream;
    (void)level;
    deflateReset(z);
    z->next_in = (Bytef *)(uintptr_t)from;
    z->avail_in = (uInt)size;
    z->next_out = to;
    z->avail_out = (uInt)room;
    bool done = deflate(z, Z_FULL_FLUSH) == Z_OK && z->avail_in == 0 && z->avail_out > 0;
    return done ? room - z->avail_out : 0;
}

/* The same as stored blocks: what does not compress. room was made to hold this. */
static size_t store_to(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *at = to;
    while (size) {
        size_t n = size < STORED_MOST ? size : STORED_MOST;
        *at++ = 0;
        *at++ = (uint8_t)n, *at++ = (uint8_t)(n >> 8);
        *at++ = (uint8_t)~n, *at++ = (uint8_t)(~n >> 8);
        memcpy(at, from, n);
        at += n, from += n, size -= n;
    }
    return (size_t)(at - to);
}

/* ---------------------------------------------------------------------------------------------- filters */

/* Filters `rows` rows of the block from row `first` on into to. */
static void filter_rows(const smp_png_blocks *p, const block *b, int64_t first, int64_t rows, int filter, uint8_t *to)
{
    const int64_t n = p->setup.row_bytes;
    for (int64_t y = first; y < first + rows; y++, to += n + 1) {
        to[0] = (uint8_t)filter;
        smp_png_filter(to + 1, b->raw + (y + 1) * n, b->raw + y * n, n, p->setup.pixel_bytes, filter);
    }
}

/* The filter for a block: the one whose sample of rows from its middle packs smallest. What compresses best cannot be
 * told from sums of differences: on photographs they choose Paeth, and `up` packs smaller. */
static int choose_filter(const smp_png_blocks *p, block *b)
{
    enum { SAMPLE = 16 << 10 };
    int64_t rows = smp_clamp_i64(SAMPLE / (p->setup.row_bytes + 1), 2, b->rows);
    if (b->rows < 2 * rows)
        rows = smp_max_i64(1, b->rows / 2);
    size_t best_size = SIZE_MAX;
    int best = 0;
    for (int filter = 0; filter < SMP_PNG_FILTERS; filter++) {
        filter_rows(p, b, (b->rows - rows) / 2, rows, filter, b->filtered);
        size_t size = deflate_to(b, p->setup.level, b->trial, p->packed_room, b->filtered, (size_t)(rows * (p->setup.row_bytes + 1)));
        if (size && size < best_size) {
            best_size = size;
            best = filter;
        }
    }
    return best;
}

static void swap_samples(uint8_t *row, int64_t n)
{
    for (int64_t i = 0; i + 1 < n; i += 2) {
        uint8_t low = row[i];
        row[i] = row[i + 1];
        row[i + 1] = low;
    }
}

static uint32_t adler_of(const uint8_t *data, size_t size)
{
#ifdef SMP_HAVE_ISAL
    return isal_adler32(1, data, size);
#else
    return (uint32_t)adler32(1, data, (uInt)size);
#endif
}

static void pack_block(void *context, int part)
{
    smp_png_blocks *p = context;
    block *b = &p->block[part];
    filter_rows(p, b, 0, b->rows, choose_filter(p, b), b->filtered);
    b->filtered_size = (size_t)(b->rows * (p->setup.row_bytes + 1));
    uint8_t *to = b->packed + STREAM_HEAD;
    b->packed_size = deflate_to(b, p->setup.level, to, p->packed_room - STREAM_HEAD - STREAM_TAIL, b->filtered, b->filtered_size);
    if (!b->packed_size)
        b->packed_size = store_to(to, b->filtered, b->filtered_size);
    b->adler = adler_of(b->filtered, b->filtered_size);
}

/* ---------------------------------------------------------------------------------------------- batches */

smp_code smp_png_blocks_open(const smp_png_blocks_setup *setup, smp_png_blocks **out, smp_error *err)
{
    *out = NULL;
    smp_png_blocks *p = smp_alloc(sizeof *p);
    if (!p)
        return smp_fail_memory(err, "PNG", sizeof *p);
    p->setup = *setup;
    p->adler = 1;
    int64_t line = setup->row_bytes + 1;
    p->block_rows = smp_clamp_i64(BLOCK_BYTES / line, 1, setup->rows);
    int64_t blocks = (setup->rows - 1) / p->block_rows + 1;
    p->setup.threads = (int)smp_clamp_i64(setup->threads, 1, blocks);
    size_t bytes = (size_t)(p->block_rows * line);
    p->packed_room = bytes + bytes / STORED_MOST * 5 + 64;
    smp_code code = line < INT32_MAX / 2 ? SMP_OK : smp_fail(err, SMP_E_WRITE, "rows of %lld bytes are too long for a PNG", (long long)line);
    if (!code)
        code = smp_pool_open(p->setup.threads, &p->pool, err);
    p->block = code ? NULL : smp_alloc_array((size_t)p->setup.threads, sizeof *p->block);
    p->last = code ? NULL : smp_alloc((size_t)setup->row_bytes);
    bool done = p->block && p->last;
    for (int i = 0; done && i < p->setup.threads; i++) {
        block *b = &p->block[i];
        b->raw = smp_alloc((size_t)((p->block_rows + 1) * setup->row_bytes));
        b->filtered = smp_alloc_raw(bytes);
        b->packed = smp_alloc_raw(p->packed_room);
        b->trial = smp_alloc_raw(p->packed_room);
        done = b->raw && b->filtered && b->packed && b->trial && open_stream(b, setup->level);
    }
    if (!code && !done)
        code = smp_fail_memory(err, "PNG", (uint64_t)bytes * 4 * (uint64_t)p->setup.threads);
    if (code)
        smp_png_blocks_close(p);
    else
        *out = p;
    return code;
}

void smp_png_blocks_close(smp_png_blocks *p)
{
    if (!p)
        return;
    for (int i = 0; p->block && i < p->setup.threads; i++) {
        block *b = &p->block[i];
        close_stream(b, p->setup.level);
        smp_free(b->raw);
        smp_free(b->filtered);
        smp_free(b->packed);
        smp_free(b->trial);
    }
    smp_free(p->block);
    smp_free(p->last);
    smp_pool_close(p->pool);
    smp_free(p);
}

int64_t smp_png_blocks_put(smp_png_blocks *p, const void *from, int64_t stride, int64_t rows)
{
    const int64_t n = p->setup.row_bytes;
    int64_t put = 0;
    if (p->packed) {
        p->packed = false;
        p->started = true;
        p->count = 0;
    }
    for (; put < rows && !smp_png_blocks_ready(p); put++) {
        if (p->count == 0 || p->block[p->count - 1].rows == p->block_rows) {
            block *fresh = &p->block[p->count++];
            fresh->rows = 0;
            memcpy(fresh->raw, p->last, (size_t)n);
        }
        block *b = &p->block[p->count - 1];
        uint8_t *row = b->raw + (b->rows + 1) * n;
        memcpy(row, (const char *)from + put * stride, (size_t)n);
        if (p->setup.swap)
            swap_samples(row, n);
        b->rows++;
        p->taken++;
        if (b->rows == p->block_rows || p->taken == p->setup.rows)
            memcpy(p->last, row, (size_t)n);
    }
    return put;
}

bool smp_png_blocks_ready(const smp_png_blocks *p)
{
    bool full = p->count == p->setup.threads && p->block[p->count - 1].rows == p->block_rows;
    return p->count > 0 && (full || p->taken == p->setup.rows);
}

void smp_png_blocks_pack(smp_png_blocks *p)
{
    smp_pool_run(p->pool, p->count, pack_block, p);
    for (int i = 0; i < p->count; i++) {
        block *b = &p->block[i];
        p->adler = (uint32_t)adler32_combine(p->adler, b->adler, (z_off_t)b->filtered_size);
    }
    if (!p->started) { /* deflate with a window of 32 KB; the second byte makes a multiple of 31 */
        p->block[0].packed[0] = 0x78;
        p->block[0].packed[1] = 0x01;
    }
    if (p->taken == p->setup.rows) {
        block *b = &p->block[p->count - 1];
        uint8_t *tail = b->packed + STREAM_HEAD + b->packed_size;
        const uint8_t end[STREAM_TAIL] = {3, 0, (uint8_t)(p->adler >> 24), (uint8_t)(p->adler >> 16), (uint8_t)(p->adler >> 8), (uint8_t)p->adler};
        memcpy(tail, end, STREAM_TAIL);
        b->packed_size += STREAM_TAIL;
    }
    p->packed = true;
}

const uint8_t *smp_png_blocks_packed(const smp_png_blocks *p, int index, size_t *size)
{
    if (index >= p->count)
        return NULL;
    const block *b = &p->block[index];
    bool first = !p->started && index == 0;
    *size = b->packed_size + (first ? STREAM_HEAD : 0);
    return first ? b->packed : b->packed + STREAM_HEAD;
}
