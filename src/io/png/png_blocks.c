/* Blocks of a PNG's picture data: see png_blocks.h. */
#include "io/png/png_glue.h"

#include <string.h>
#include <zlib.h>
#ifdef SMP_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h> /* Adler-32 */
#endif

#include "base/alloc.h"
#include "base/checked.h"
#include "base/tasks.h"
#include "io/bytes.h"
#include "io/png/png_deflate.h"
#include "io/png/png_filter.h"

enum {
    BLOCK_BYTES = 512 << 10, /* of rows: costs less than 1 % for the window's restart, and fits a core's cache */
    SPARE_BLOCKS = 2,        /* besides those being compressed: one is filled with rows, one waits to be written */
    CHUNK_HEAD = 8,          /* length and type */
    STREAM_HEAD = 2,         /* the zlib header before the first block */
    STREAM_TAIL = 6,         /* an empty last block and the Adler-32 sum after the last */
    CHUNK_TAIL = 4,          /* CRC */
    DATA_AT = CHUNK_HEAD + STREAM_HEAD,
    SAMPLE_ROWS = 4,   /* of a block, to compare filters */
    SAMPLE_PIECES = 4, /* of a long row */
    SAMPLE_BYTES = 4 << 10
};

typedef struct block {
    int64_t rows, kept;      /* rows of the picture; the first `kept` of them are in smp_png_blocks.kept */
    const uint8_t *above;    /* the row before the first */
    const uint8_t *borrowed; /* the caller's rows, which follow the kept ones */
    int64_t stride;          /* of borrowed */
    uint8_t *packed;         /* room for a chunk's head, the compressed rows and the tail */
    size_t packed_size;
    uint32_t adler, crc; /* crc: of the chunk without the stream's tail */
} block;

typedef struct packer { /* what a thread needs */
    uint8_t *lines;     /* the filtered rows of a block, each after its filter byte */
    uint8_t *sample;    /* filtered parts of rows */
    smp_png_deflate *deflate;
} packer;

struct smp_png_blocks {
    smp_png_blocks_setup setup;
    int64_t block_rows, taken;      /* rows of a block; rows of the picture so far */
    int64_t total, filled, fetched; /* blocks: of the picture, given to the tasks, returned compressed */
    size_t packed_room;             /* for data: between the head and the tail */
    int room;                       /* number of blocks */
    block *block;
    packer *packer;       /* setup.threads of them */
    uint8_t *kept;        /* of a partial block between two calls: the row above it, and its rows so far */
    const uint8_t *above; /* the newest row, which is above the next */
    uint32_t adler;
    smp_tasks *tasks;
};

/* ---------------------------------------------------------------------------------------------- filters */

/* Row y of a block, unfiltered; -1: the row above the block. */
static const uint8_t *row_of(const smp_png_blocks *p, const block *b, int64_t y)
{
    if (y < 0)
        return b->above;
    return y < b->kept ? p->kept + (y + 1) * p->setup.row_bytes : b->borrowed + (y - b->kept) * b->stride;
}

/* Filters n bytes at x of row y. Filters work on bytes, so the byte order of samples may be swapped afterwards. */
static void filter_piece(const smp_png_blocks *p, const block *b, int64_t y, int64_t x, int64_t n, int filter,
                         uint8_t *to)
{
    smp_png_filter(to, row_of(p, b, y) + x, row_of(p, b, y - 1) + x, n, p->setup.pixel_bytes, filter);
    if (p->setup.swap)
        smp_png_swap(to, n);
}

/* Filters parts of rows in the middle of the block, as if they were rows. Returns the bytes. */
static size_t take_sample(const smp_png_blocks *p, const packer *k, const block *b, int filter)
{
    const int64_t n = p->setup.row_bytes, rows = smp_min_i64(SAMPLE_ROWS, b->rows), first = (b->rows - rows) / 2;
    const int64_t whole = SAMPLE_BYTES / SAMPLE_ROWS, pixel = p->setup.pixel_bytes;
    const int64_t pieces = n <= whole ? 1 : SAMPLE_PIECES,
                  length = n <= whole ? n : whole / SAMPLE_PIECES / pixel * pixel;
    uint8_t *to = k->sample;
    for (int64_t y = first; y < first + rows; y++) {
        *to++ = (uint8_t)filter;
        for (int64_t i = 0; i < pieces; i++, to += length) {
            const int64_t x = pieces > 1 ? (n - length) / pixel * i / (pieces - 1) * pixel : 0;
            filter_piece(p, b, y, x, length, filter, to);
        }
    }
    return (size_t)(to - k->sample);
}

/* Chooses the filter of a block: the one whose sample compresses best. Sums of differences do not predict that: on
 * photographs they choose Paeth, and `up` compresses better. (Entropy predicts it, except for repeats, and is not
 * faster.) */
static int choose_filter(const smp_png_blocks *p, packer *k, const block *b, bool *repeats)
{
    size_t best_size = SIZE_MAX;
    int best = 0;
    *repeats = false;
    if (p->setup.level == 0) /* the fastest level: no trial */
        return SMP_PNG_UP;
    for (int filter = 0; filter < SMP_PNG_FILTERS; filter++) {
        const size_t size = smp_png_deflate_sample(k->deflate, k->sample, take_sample(p, k, b, filter));
        if (size < best_size) {
            best_size = size;
            best = filter;
        }
    }
    *repeats = smp_png_deflate_repeats(k->deflate, k->sample, take_sample(p, k, b, best), best_size);
    return best;
}

/* Filters all rows of a block, each after its filter byte. Returns the bytes. */
static size_t filter_block(const smp_png_blocks *p, const block *b, int filter, uint8_t *lines)
{
    uint8_t *to = lines;
    for (int64_t y = 0; y < b->rows; y++, to += p->setup.row_bytes) {
        *to++ = (uint8_t)filter;
        filter_piece(p, b, y, 0, p->setup.row_bytes, filter, to);
    }
    return (size_t)(to - lines);
}

/* ---------------------------------------------------------------------------------------------- chunks */

static uint32_t adler_of(const uint8_t *data, size_t size)
{
#ifdef SMP_HAVE_ISAL
    return isal_adler32(1, data, size);
#else
    return (uint32_t)adler32(1, data, (uInt)size);
#endif
}

static uint32_t crc_of(uint32_t crc, const uint8_t *data, size_t size)
{
#ifdef SMP_HAVE_ISAL
    return crc32_gzip_refl(crc, data, size);
#else
    return (uint32_t)crc32(crc, data, (uInt)size);
#endif
}

/* Returns a block's chunk; the first one has room for the stream's header. */
static uint8_t *chunk_of(const block *b, int64_t number)
{
    return b->packed + (number ? STREAM_HEAD : 0);
}

static void pack_block(void *context, int thread, int64_t number)
{
    smp_png_blocks *p = context;
    packer *k = &p->packer[thread];
    block *b = &p->block[number % p->room];
    bool repeats;
    const int filter = choose_filter(p, k, b, &repeats);
    const size_t size = filter_block(p, b, filter, k->lines);
    smp_tasks_release(p->tasks);
    uint8_t *data = b->packed + DATA_AT, *chunk = chunk_of(b, number);
    b->packed_size = smp_png_deflate_block(k->deflate, data, k->lines, size, repeats, filter != SMP_PNG_NONE);
    b->adler = adler_of(k->lines, size);
    if (number == 0) { /* deflate with a window of 32 KB; the second byte makes the header a multiple of 31 */
        data[-2] = 0x78;
        data[-1] = 0x01;
    }
    memcpy(chunk + 4, "IDAT", 4);
    b->crc = crc_of(0, chunk + 4, (size_t)(data + b->packed_size - (chunk + 4)));
}

const uint8_t *smp_png_blocks_next(smp_png_blocks *p, size_t *size)
{
    smp_tasks_await(p->tasks);
    const int64_t number = p->fetched++;
    const block *b = &p->block[number % p->room];
    uint8_t *chunk = chunk_of(b, number), *tail = b->packed + DATA_AT + b->packed_size;
    uint32_t crc = b->crc;
    p->adler = (uint32_t)adler32_combine(p->adler, b->adler, (z_off_t)(b->rows * (p->setup.row_bytes + 1)));
    if (number == p->total - 1) {
        tail[0] = 3, tail[1] = 0;
        smp_put_be(tail + 2, p->adler, 4);
        crc = crc_of(crc, tail, STREAM_TAIL);
        tail += STREAM_TAIL;
    }
    smp_put_be(chunk, (uint64_t)(tail - (chunk + CHUNK_HEAD)), 4);
    smp_put_be(tail, crc, 4);
    *size = (size_t)(tail + CHUNK_TAIL - chunk);
    return chunk;
}

/* ---------------------------------------------------------------------------------------------- rows */

static bool open_memory(smp_png_blocks *p)
{
    const size_t row = (size_t)p->setup.row_bytes, lines = (size_t)p->block_rows * (row + 1);
    p->block = smp_alloc_array((size_t)p->room, sizeof *p->block);
    p->packer = smp_alloc_array((size_t)p->setup.threads, sizeof *p->packer);
    p->above = p->kept = smp_alloc((size_t)p->block_rows * row); /* above the first row are zeros */
    bool done = p->block && p->packer && p->kept;
    for (int i = 0; done && i < p->room; i++) {
        block *b = &p->block[i];
        b->packed = smp_alloc_raw(DATA_AT + p->packed_room + STREAM_TAIL + CHUNK_TAIL);
        done = b->packed;
    }
    for (int i = 0; done && i < p->setup.threads; i++) {
        packer *k = &p->packer[i];
        k->lines = smp_alloc_raw(lines);
        k->sample = smp_alloc_raw(SAMPLE_BYTES + SAMPLE_ROWS);
        k->deflate = smp_png_deflate_open(p->setup.level, lines, SAMPLE_BYTES + SAMPLE_ROWS);
        done = k->lines && k->sample && k->deflate;
    }
    return done;
}

smp_code smp_png_blocks_open(const smp_png_blocks_setup *setup, smp_png_blocks **out, smp_error *err)
{
    *out = NULL;
    smp_png_blocks *p = smp_alloc(sizeof *p);
    SMP_NEED(p, "PNG", sizeof *p, err);
    p->setup = *setup;
    p->adler = 1;
    const int64_t line = setup->row_bytes + 1;
    p->block_rows = smp_clamp_i64(BLOCK_BYTES / line, 1, setup->rows);
    p->total = (setup->rows - 1) / p->block_rows + 1;
    p->setup.threads = (int)smp_clamp_i64(setup->threads, 1, p->total);
    p->room = (int)smp_min_i64(p->setup.threads > 1 ? p->setup.threads + SPARE_BLOCKS : 1, p->total);
    const size_t bytes = (size_t)(p->block_rows * line);
    p->packed_room = smp_png_deflate_room(bytes);
    smp_code code = line < INT32_MAX / 2
                        ? SMP_OK
                        : smp_fail(err, SMP_E_WRITE, "rows of %lld bytes are too long for a PNG", (long long)line);
    if (!code && !open_memory(p))
        code = smp_fail_memory(err, "PNG", (uint64_t)bytes * ((uint64_t)p->room + (uint64_t)p->setup.threads + 1));
    code = code ? code : smp_tasks_open(p->setup.threads, p->room, pack_block, p, &p->tasks, err);
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
    smp_tasks_close(p->tasks);
    for (int i = 0; p->block && i < p->room; i++)
        smp_free(p->block[i].packed);
    for (int i = 0; p->packer && i < p->setup.threads; i++) {
        smp_png_deflate_close(p->packer[i].deflate);
        smp_free_all(p->packer[i].lines, p->packer[i].sample);
    }
    smp_free_all(p->block, p->packer, p->kept, p);
}

int64_t smp_png_blocks_put(smp_png_blocks *p, const void *from, int64_t stride, int64_t rows)
{
    int64_t put = 0;
    for (; put < rows && !smp_png_blocks_due(p); put++) {
        block *b = &p->block[p->filled % p->room];
        const int64_t at = p->taken % p->block_rows;
        const uint8_t *row = (const uint8_t *)from + put * stride;
        if (at == 0) {
            b->kept = 0;
            b->above = p->above;
        }
        if (at == b->kept) {
            b->borrowed = row;
            b->stride = stride;
        }
        b->rows = at + 1;
        p->above = row;
        p->taken++;
        if (b->rows < p->block_rows && p->taken < p->setup.rows)
            continue;
        p->filled++;
        smp_tasks_begin(p->tasks);
    }
    return put;
}

void smp_png_blocks_settle(smp_png_blocks *p)
{
    const int64_t n = p->setup.row_bytes, rows = p->taken % p->block_rows;
    smp_tasks_await_released(p->tasks); /* the block before may have rows among the kept ones */
    if (p->taken == p->setup.rows)
        return;
    block *b = &p->block[p->filled % p->room]; /* a partial block, if it has rows */
    const uint8_t *above = rows ? b->above : p->above;
    if (above != p->kept)
        memcpy(p->kept, above, (size_t)n);
    for (int64_t y = rows ? b->kept : 0; y < rows; y++)
        memcpy(p->kept + (y + 1) * n, row_of(p, b, y), (size_t)n);
    if (rows) {
        b->above = p->kept;
        b->kept = rows;
    }
    p->above = p->kept + rows * n;
}

bool smp_png_blocks_due(const smp_png_blocks *p)
{
    return p->filled - p->fetched == p->room || (p->taken == p->setup.rows && p->fetched < p->filled);
}
