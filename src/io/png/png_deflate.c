/* Deflates blocks of a PNG's filtered rows: see png_deflate.h. */
#include "io/png/png_deflate.h"

#include <string.h>
#include <zlib.h>
#ifdef SMP_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "base/alloc.h"

enum {
    STORED_MOST = 65535, /* bytes of a stored deflate block */
    SPARE_ROOM = 64,     /* bytes that a stream takes besides its data */
    GUESSING = 1,        /* the level that does not try all methods */
    FAST_MOST = 3,       /* the levels above use zlib */
    DRAWING = 10         /* compression ratio of drawings: they have repeats, and are searched fast */
};

/* Methods of compression, each slower than the one before. */
typedef enum packing { RUNS, REPEATS, THOROUGH, ZLIB } packing;

struct smp_png_deflate {
    int level;
    uint8_t *other; /* the output of another method */
    z_stream zlib;
    bool has_zlib;
#ifdef SMP_HAVE_ISAL
    struct isal_zstream isal;
    uint8_t *level_buffer;
#endif
};

static size_t zlib_to(smp_png_deflate *d, int level, int strategy, uint8_t *to, size_t room, const uint8_t *from,
                      size_t size)
{
    z_stream *z = &d->zlib;
    deflateReset(z);
    z->next_out = to;
    z->avail_out = (uInt)room;
    z->avail_in = 0;
    if (deflateParams(z, level, strategy) != Z_OK)
        return 0;
    z->next_in = (Bytef *)(uintptr_t)from;
    z->avail_in = (uInt)size;
    const bool done = deflate(z, Z_FULL_FLUSH) == Z_OK && z->avail_in == 0 && z->avail_out > 0;
    return done ? room - z->avail_out : 0;
}

#ifdef SMP_HAVE_ISAL
/* A level of igzip: a buffer whose beginning (counts and the hash table) is zeroed for each stream. The tokens behind
 * it are written before they are read. */
typedef struct igzip_level {
    uint32_t level, buffer, clear;
} igzip_level;
enum { BESIDE_TABLE = 8 << 10 };
static const igzip_level fast = {1, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL1_REQ + BESIDE_TABLE},
                         thorough = {3, ISAL_DEF_LVL3_DEFAULT, ISAL_DEF_LVL3_REQ + BESIDE_TABLE};

/* igzip's assembly for the first byte of a stream uses the stream's own address as data (2.30, write_first_byte of
 * igzip_icf_body_h1_gr_bt.asm: the hash of position 1). So its matches, and the file's bytes, depend on addresses: one
 * block in fifty differs. This function therefore writes the first byte as a stored block of one byte, and igzip
 * continues a stream that seems to have one byte already. With masks of zero igzip finds only repeats at distance 1,
 * which are runs; IGZIP_DICT_HASH_SET makes it use the masks. */
static size_t igzip_to(smp_png_deflate *d, const igzip_level *level, bool repeats, uint8_t *to, size_t room,
                       const uint8_t *from, size_t size)
{
    static const uint8_t stored_one[] = {0, 1, 0, 0xfe, 0xff};
    enum { FIRST = sizeof stored_one + 1 };
    struct isal_zstream *z = &d->isal;
    if (size < 2 || room < 2 * FIRST)
        return 0;
    memcpy(to, stored_one, sizeof stored_one);
    to[sizeof stored_one] = from[0];
    isal_deflate_init(z);
    z->level = level->level;
    z->level_buf = d->level_buffer;
    z->level_buf_size = level->buffer;
    memset(d->level_buffer, 0, level->clear);
    z->internal_state.has_hist = repeats ? IGZIP_DICT_HASH_SET : IGZIP_HIST;
    z->internal_state.hash_mask = z->internal_state.dist_mask = 0;
    z->total_in = 1;
    z->flush = FULL_FLUSH;
    z->next_in = (uint8_t *)(uintptr_t)(from + 1);
    z->avail_in = (uint32_t)(size - 1);
    z->next_out = to + FIRST;
    z->avail_out = (uint32_t)(room - FIRST);
    const bool done = isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->avail_out > 0;
    return done ? room - z->avail_out : 0;
}
#endif

/* Compresses `from` with one method, to a byte boundary. 0: it does not fit into room. */
static size_t pack(smp_png_deflate *d, packing way, uint8_t *to, size_t room, const uint8_t *from, size_t size,
                   bool filtered)
{
    if (way == ZLIB)
        return zlib_to(d, d->level, filtered ? Z_FILTERED : Z_DEFAULT_STRATEGY, to, room, from, size);
#ifdef SMP_HAVE_ISAL
    return igzip_to(d, way == THOROUGH ? &thorough : &fast, way != RUNS, to, room, from, size);
#else
    return zlib_to(d, way == THOROUGH ? 3 : 1, way == RUNS ? Z_RLE : Z_DEFAULT_STRATEGY, to, room, from, size);
#endif
}

/* The same as stored blocks, for data that does not compress. */
static size_t store(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *at = to;
    while (size) {
        const size_t n = size < STORED_MOST ? size : STORED_MOST;
        *at++ = 0;
        *at++ = (uint8_t)n, *at++ = (uint8_t)(n >> 8);
        *at++ = (uint8_t)~n, *at++ = (uint8_t)(~n >> 8);
        memcpy(at, from, n);
        at += n, from += n, size -= n;
    }
    return (size_t)(at - to);
}

static size_t stored_size(size_t size)
{
    return size + (size + STORED_MOST - 1) / STORED_MOST * 5;
}

size_t smp_png_deflate_room(size_t size)
{
    return stored_size(size) + SPARE_ROOM;
}

smp_png_deflate *smp_png_deflate_open(int level, size_t most, size_t sample)
{
    smp_png_deflate *d = smp_alloc(sizeof *d);
    if (!d)
        return NULL;
    d->level = level;
    /* If not all methods are tried, the second one's output must fit the room that makes it worth trying. */
    const size_t room = level > GUESSING ? most : most / DRAWING + sample;
    d->other = smp_alloc_raw(smp_png_deflate_room(room));
    bool done = d->other;
#ifdef SMP_HAVE_ISAL
    d->level_buffer = smp_alloc_raw((level < FAST_MOST ? fast : thorough).buffer);
    done = done && d->level_buffer;
    const bool wants_zlib = level > FAST_MOST;
#else
    const bool wants_zlib = true;
#endif
    if (done && wants_zlib)
        done = d->has_zlib =
            deflateInit2(&d->zlib, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    if (done)
        return d;
    smp_png_deflate_close(d);
    return NULL;
}

void smp_png_deflate_close(smp_png_deflate *d)
{
    if (!d)
        return;
    if (d->has_zlib)
        deflateEnd(&d->zlib);
#ifdef SMP_HAVE_ISAL
    smp_free(d->level_buffer);
#endif
    smp_free_all(d->other, d);
}

size_t smp_png_deflate_sample(smp_png_deflate *d, const uint8_t *from, size_t size)
{
    const size_t room = smp_png_deflate_room(size);
    const size_t packed = pack(d, RUNS, d->other, room, from, size, true);
    const size_t by_zlib = d->level > FAST_MOST ? pack(d, ZLIB, d->other, room, from, size, true) : 0;
    return by_zlib && (!packed || by_zlib < packed) ? by_zlib : packed ? packed : SIZE_MAX;
}

bool smp_png_deflate_repeats(smp_png_deflate *d, const uint8_t *from, size_t size, size_t by_runs)
{
    const size_t packed =
        d->level == GUESSING ? pack(d, REPEATS, d->other, smp_png_deflate_room(size), from, size, true) : 0;
    return packed && packed < by_runs;
}

size_t smp_png_deflate_block(smp_png_deflate *d, uint8_t *to, const uint8_t *from, size_t size, bool repeats,
                             bool filtered)
{
    static const packing last[] = {RUNS, REPEATS, REPEATS, THOROUGH}; /* of each level */
    const bool guessing = d->level == GUESSING;
    const packing first = guessing && repeats ? REPEATS : RUNS, end = d->level > FAST_MOST ? ZLIB : last[d->level];
    size_t best = stored_size(size);
    bool stored = true;
    for (packing way = first; way <= end; way++) {
        if (guessing && way > first && best > size / DRAWING)
            break;
        const size_t room = way == first ? smp_png_deflate_room(size) : best;
        const size_t packed = pack(d, way, way == first ? to : d->other, room, from, size, filtered);
        if (!packed || packed >= best)
            continue;
        if (way > first)
            memcpy(to, d->other, packed);
        best = packed;
        stored = false;
    }
    return stored ? store(to, from, size) : best;
}
