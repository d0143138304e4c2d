/* jpeg_encode on GPUs, in seven launches: blocks, spans, their scan, codes, pieces, their scan, stuffing. Codes have no
 * place of their own in a scan, but lengths add up: a thread a block counts bits, one thread block adds up the sums of
 * 256, and each thread writes its codes from its own bit on. Words that a block has to itself are stored, the first and
 * the last are joined by atomicOr. Bytes FF are placed in the same way: counted, added up, written.
 *
 * What varies is how blocks are transformed, and how their coefficients are read for coding:
 *   naive   a thread a block, its 64 numbers in local memory; coefficients from global memory, 32 lines a load.
 *   tiled   eight threads a block, one a row and then one a column; rows become columns in shared memory. Rows of a
 *           block lie 8 words apart, so that a row's numbers are written to four banks and columns are read from eight:
 *           8-way and 4-way conflicts. Coefficients of 256 blocks are staged in shared memory, 32 words apart: threads
 *           that are as far as each other meet at one bank.
 *   padded  the same with an unused word a row: rows lie 9 apart, blocks 72, and all lanes meet different banks; staged
 *           blocks lie 33 words apart. */
#include "jpeg/jpeg_encode.h"

#include "jpeg/block_sums.cuh"

template <typename T> SMP_DEVICE T *jpeg_part(const smp_view &arena, int64_t at)
{
    return reinterpret_cast<T *>(static_cast<char *>(arena.data) + at);
}
SMP_DEVICE const smp_jpeg_tables *jpeg_tables(const smp_io &io)
{
    return static_cast<const smp_jpeg_tables *>(io.table);
}

template <typename IN> SMP_DEVICE void jpeg_count_clipped(const smp_io &io, unsigned clipped)
{
    if (smp_sample<IN>::format == SMP_F32)
        smp_count_clipped<uint8_t>(io, clipped);
}

/* ---------------------------------------------------------------------------------------------- blocks, naive */

template <typename IN, typename> SMP_DEVICE void jpeg_encode_blocks_naive(const smp_io &io, const smp_jpeg_encode &p)
{
    const int format = smp_sample<IN>::format;
    const smp_jpeg_tables *const tables = jpeg_tables(io);
    const int64_t block = (int64_t)blockIdx.x * SMP_JPEG_CHUNK + threadIdx.x;
    unsigned clipped = 0;
    if (block < p.blocks) {
        const smp_jpeg_spot s = smp_jpeg_spot_of(&p, block);
        const uint32_t *const ac = tables->ac[s.component > 0];
        int16_t *const to = jpeg_part<int16_t>(io.out, p.coefficients) + block * SMP_JPEG_BLOCK;
        const int64_t x0 = (int64_t)s.x * SMP_JPEG_SIDE, y0 = (int64_t)s.y * SMP_JPEG_SIDE;
        const int end_of_block = (int)(ac[0] >> 16);
        uint64_t mask = 0;
        int bits = 0, before = 0;
        if (!smp_jpeg_is_dummy(&p, &s)) {
            int32_t d[SMP_JPEG_BLOCK], line[SMP_JPEG_SIDE];
            for (int y = 0; y < SMP_JPEG_SIDE; y++) {
                for (int x = 0; x < SMP_JPEG_SIDE; x++) {
                    line[x] = smp_jpeg_sample(&p, &io.in, format, s.component, x0 + x, y0 + y);
                    for (int c = 0; format == SMP_F32 && s.component == 0 && c < p.colours; c++)
                        if (x0 + x < p.width && y0 + y < p.height)
                            clipped += smp_clipped<uint8_t>((float)smp_in<IN>(io.in, y0 + y)[(x0 + x) * p.colours + c]);
                }
                smp_jpeg_dct(line, 0);
                for (int x = 0; x < SMP_JPEG_SIDE; x++)
                    d[y * SMP_JPEG_SIDE + x] = line[x];
            }
            for (int x = 0; x < SMP_JPEG_SIDE; x++) {
                for (int y = 0; y < SMP_JPEG_SIDE; y++)
                    line[y] = d[y * SMP_JPEG_SIDE + x];
                smp_jpeg_dct(line, 1);
                for (int y = 0; y < SMP_JPEG_SIDE; y++) {
                    const int natural = y * SMP_JPEG_SIDE + x;
                    to[tables->place[natural]] =
                        (int16_t)smp_jpeg_quantise(line[y], tables->divide[s.component][natural]);
                }
            }
            for (int k = 1; k < SMP_JPEG_BLOCK; k++)
                if (to[k]) {
                    bits += smp_jpeg_ac_bits(ac, to[k], k, before);
                    before = k;
                    mask |= (uint64_t)1 << k;
                }
        }
        jpeg_part<uint64_t>(io.out, p.masks)[block] = mask;
        jpeg_part<uint16_t>(io.out, p.lengths)[block] =
            (uint16_t)(bits + (before == SMP_JPEG_BLOCK - 1 ? 0 : end_of_block));
    }
    jpeg_count_clipped<IN>(io, clipped);
}
SMP_KERNEL_PAIR_(jpeg_encode_blocks_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_encode)
SMP_KERNEL_PAIR_(jpeg_encode_blocks_naive, f32, float, u8, uint8_t, smp_jpeg_encode)

/* ---------------------------------------------------------------------------------------------- blocks, shared memory
 */

enum {
    JPEG_ZIGZAG_GAP = 16 /* coefficients between blocks: of multiples of 16 bytes, the one with fewest conflicts */
};

template <int PAD> struct jpeg_tile {
    int32_t d[SMP_JPEG_TOGETHER][SMP_JPEG_SIDE][SMP_JPEG_SIDE + PAD];
};
struct jpeg_zigzag {
    alignas(16) int16_t v[SMP_JPEG_TOGETHER][SMP_JPEG_BLOCK + JPEG_ZIGZAG_GAP];
};

/* A component of eight pixels of a row, x a multiple of 8; outside the picture those of its edge. Where a row has all
 * of their bytes they are loaded as words of 64 bits. */
template <typename IN>
SMP_DEVICE void jpeg_eight(const smp_io &io, const smp_jpeg_encode &p, int component, int64_t x, int64_t y,
                           int32_t tones[SMP_JPEG_SIDE])
{
    const int64_t right = p.width - 1, inside = y < p.height ? y : p.height - 1;
    if (sizeof(IN) == 1 && x + SMP_JPEG_SIDE <= p.width &&
        ((uintptr_t)io.in.data | (uintptr_t)io.in.stride) % sizeof(uint64_t) == 0) {
        const uint64_t *const words =
            static_cast<const uint64_t *>(smp_row(&io.in, inside)) + x * p.colours / SMP_JPEG_SIDE;
        uint64_t w[3];
#pragma unroll
        for (int i = 0; i < 3; i++)
            w[i] = i < p.colours ? words[i] : 0;
#pragma unroll
        for (int i = 0; i < SMP_JPEG_SIDE; i++) {
            int v[3];
#pragma unroll
            for (int c = 0; c < 3; c++)
                v[c] = (int)(w[(3 * i + c) / 8] >> (3 * i + c) % 8 * 8 & 0xff);
            tones[i] = p.colours == 1 ? (int)(w[0] >> 8 * i & 0xff) : smp_jpeg_tone(component, v[0], v[1], v[2]);
        }
        return;
    }
    uint64_t packed = 0;
#pragma unroll 1
    for (int i = 0; i < SMP_JPEG_SIDE; i++)
        packed |= (uint64_t)smp_jpeg_pixel(&p, &io.in, smp_sample<IN>::format, component, x + i < right ? x + i : right,
                                           inside)
                  << 8 * i;
#pragma unroll
    for (int i = 0; i < SMP_JPEG_SIDE; i++)
        tones[i] = (int)(packed >> 8 * i & 0xff);
}

/* Eight samples of row y of a component, as smp_jpeg_sample has them. */
template <typename IN>
SMP_DEVICE void jpeg_row(const smp_io &io, const smp_jpeg_encode &p, int component, int64_t x, int64_t y,
                         int32_t line[SMP_JPEG_SIDE])
{
    const bool whole = component == 0 || p.across * p.down == 1;
    const int across = whole ? 1 : p.across, down = whole ? 1 : p.down;
    const int64_t low = (p.height - 1) / down, top = (y < low ? y : low) * down;
    int32_t tones[SMP_JPEG_SIDE];
    for (int j = 0; j < down; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            if (half == across)
                break;
            jpeg_eight<IN>(io, p, component, x * across + half * SMP_JPEG_SIDE, top + j, tones);
#pragma unroll
            for (int i = 0; i < SMP_JPEG_SIDE; i++)
                if (across == 1)
                    line[i] += tones[i];
                else
                    line[half * SMP_JPEG_SIDE / 2 + i / 2] += tones[i];
        }
#pragma unroll
    for (int i = 0; i < SMP_JPEG_SIDE; i++)
        line[i] = (whole ? line[i] : (line[i] + smp_jpeg_bias(&p, i)) >> (across * down == 4 ? 2 : 1)) - 128;
}

/* Geometry: blocks of SMP_JPEG_CHUNK threads, eight for each of SMP_JPEG_TOGETHER blocks of samples. What they exchange
 * stays in a warp, which has four blocks. */
template <typename IN, int PAD> SMP_DEVICE void jpeg_encode_blocks(const smp_io &io, const smp_jpeg_encode &p)
{
    typedef jpeg_tile<PAD> tile_type;
    SMP_SHARED(tile_type, tile);
    SMP_SHARED(jpeg_zigzag, zigzag);
    const smp_jpeg_tables *const tables = jpeg_tables(io);
    const int own = (int)threadIdx.x / SMP_JPEG_SIDE, t = (int)threadIdx.x % SMP_JPEG_SIDE;
    const int64_t block = (int64_t)blockIdx.x * SMP_JPEG_TOGETHER + own;
    const bool inside = block < p.blocks;
    const smp_jpeg_spot s = smp_jpeg_spot_of(&p, inside ? block : 0);
    const bool some = inside && !smp_jpeg_is_dummy(&p, &s);
    const uint32_t *const ac = tables->ac[s.component > 0];
    const int64_t x0 = (int64_t)s.x * SMP_JPEG_SIDE, y = (int64_t)s.y * SMP_JPEG_SIDE + t;
    int32_t line[SMP_JPEG_SIDE] = {0, 0, 0, 0, 0, 0, 0, 0};
    unsigned clipped = 0;
    if (some) {
        jpeg_row<IN>(io, p, s.component, x0, y, line);
        for (int i = 0; sizeof(IN) > 1 && s.component == 0 && y < p.height && i < SMP_JPEG_SIDE * p.colours; i++)
            if (x0 * p.colours + i < (int64_t)p.width * p.colours)
                clipped += smp_clipped<uint8_t>((float)smp_in<IN>(io.in, y)[x0 * p.colours + i]);
    }
    jpeg_count_clipped<IN>(io, clipped);
    smp_jpeg_dct(line, 0);
    for (int i = 0; i < SMP_JPEG_SIDE; i++)
        tile.d[own][t][i] = line[i];
    __syncwarp();
    for (int i = 0; i < SMP_JPEG_SIDE; i++)
        line[i] = tile.d[own][i][t];
    smp_jpeg_dct(line, 1);
    for (int i = 0; i < SMP_JPEG_SIDE; i++) {
        const int natural = i * SMP_JPEG_SIDE + t;
        zigzag.v[own][tables->place[natural]] =
            (int16_t)smp_jpeg_quantise(line[i], tables->divide[s.component][natural]);
    }
    __syncwarp();

    /* Eight coefficients in zigzag order, and from all lanes' which of the block's are not 0. */
    const uint4 eight = *reinterpret_cast<const uint4 *>(&zigzag.v[own][t * SMP_JPEG_SIDE]);
    const uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
    int v[SMP_JPEG_SIDE];
    uint64_t mask = 0;
    for (int i = 0; i < SMP_JPEG_SIDE; i++) {
        v[i] = (int16_t)(words[i / 2] >> i % 2 * 16 & 0xffff);
        const int k = t * SMP_JPEG_SIDE + i;
        mask |= (uint64_t)(v[i] != 0 && k > 0) << k;
    }
    for (int distance = 1; distance < SMP_JPEG_SIDE; distance *= 2)
        mask |= __shfl_xor_sync(0xffffffffu, (unsigned long long)mask, distance);
    int bits = t == 0 && !(mask >> (SMP_JPEG_BLOCK - 1)) ? (int)(ac[0] >> 16) : 0;
    for (int i = 0; i < SMP_JPEG_SIDE; i++) {
        const int k = t * SMP_JPEG_SIDE + i;
        const uint64_t lower = mask & (((uint64_t)1 << k) - 1);
        if (mask >> k & 1)
            bits += smp_jpeg_ac_bits(ac, v[i], k, lower ? smp_jpeg_highest(lower) : 0);
    }
    for (int distance = 1; distance < SMP_JPEG_SIDE; distance *= 2)
        bits += __shfl_xor_sync(0xffffffffu, bits, distance);
    if (some)
        *reinterpret_cast<uint4 *>(jpeg_part<int16_t>(io.out, p.coefficients) + block * SMP_JPEG_BLOCK +
                                   t * SMP_JPEG_SIDE) = eight;
    if (inside && t == 0) {
        jpeg_part<uint64_t>(io.out, p.masks)[block] = mask;
        jpeg_part<uint16_t>(io.out, p.lengths)[block] = (uint16_t)bits;
    }
}

template <typename IN, typename> SMP_DEVICE void jpeg_encode_blocks_tiled(const smp_io &io, const smp_jpeg_encode &p)
{
    jpeg_encode_blocks<IN, 0>(io, p);
}
SMP_KERNEL_PAIR_(jpeg_encode_blocks_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_encode)
SMP_KERNEL_PAIR_(jpeg_encode_blocks_tiled, f32, float, u8, uint8_t, smp_jpeg_encode)

template <typename IN, typename> SMP_DEVICE void jpeg_encode_blocks_padded(const smp_io &io, const smp_jpeg_encode &p)
{
    jpeg_encode_blocks<IN, 1>(io, p);
}
SMP_KERNEL_PAIR_(jpeg_encode_blocks_padded, u8, uint8_t, u8, uint8_t, smp_jpeg_encode)
SMP_KERNEL_PAIR_(jpeg_encode_blocks_padded, f32, float, u8, uint8_t, smp_jpeg_encode)

/* ---------------------------------------------------------------------------------------------- spans */

SMP_DEVICE smp_jpeg_span jpeg_nothing()
{
    const smp_jpeg_span nothing = {0, -1};
    return nothing;
}

/* Geometry: a block of SMP_JPEG_CHUNK threads a chunk. Zeroes what codes are joined to. */
SMP_KERNEL(jpeg_encode_spans_u8_u8, smp_jpeg_encode, io, p)
{
    const int64_t block = (int64_t)blockIdx.x * SMP_JPEG_CHUNK + threadIdx.x;
    const smp_jpeg_span own =
        block < p.blocks ? smp_jpeg_span_of(&p, jpeg_tables(io), io.in.data, block) : jpeg_nothing();
    smp_jpeg_span all;
    jpeg_join_before(own, jpeg_nothing(), &all);
    if (threadIdx.x == 0)
        jpeg_part<smp_jpeg_span>(io.out, p.spans)[blockIdx.x] = all;
    /* words, and marks behind them */
    const int64_t units = (p.parts - p.words) / (int64_t)sizeof(uint4), step = (int64_t)gridDim.x * SMP_JPEG_CHUNK;
    uint4 *const words = jpeg_part<uint4>(io.out, p.words);
    for (int64_t i = block; i < units; i += step)
        words[i] = make_uint4(0, 0, 0, 0);
}

/* Geometry: one block of SMP_JPEG_SCAN threads. */
SMP_KERNEL(jpeg_encode_scan_u8_u8, smp_jpeg_encode, io, p)
{
    smp_jpeg_span *const spans = jpeg_part<smp_jpeg_span>(io.out, p.spans), all;
    const int64_t each = (p.chunks + SMP_JPEG_SCAN - 1) / SMP_JPEG_SCAN, first = (int64_t)threadIdx.x * each;
    const int64_t end = first + each < p.chunks ? first + each : p.chunks;
    smp_jpeg_span own = jpeg_nothing();
    for (int64_t i = first; i < end; i++) {
        const smp_jpeg_span next = spans[i];
        own = smp_jpeg_join(own, next);
    }
    int64_t at = smp_jpeg_end(0, jpeg_join_before(own, jpeg_nothing(), &all));
    for (int64_t i = first; i < end; i++) {
        const smp_jpeg_span here = spans[i];
        spans[i].before = at;
        at = smp_jpeg_end(at, here);
    }
    if (threadIdx.x == 0) {
        const int64_t bytes = smp_jpeg_filled(smp_jpeg_end(0, all)) / 8;
        const smp_jpeg_state state = {bytes, 0, bytes > p.room};
        *jpeg_part<smp_jpeg_state>(io.out, p.state) = state;
    }
}

/* ---------------------------------------------------------------------------------------------- codes */

/* Writes bits from any bit on. */
struct jpeg_pen {
    uint32_t *word;
    uint64_t held;
    int count;   /* bits held */
    bool shared; /* the word's first bits are another's */
};

SMP_DEVICE void jpeg_pen_word(jpeg_pen &pen, uint32_t bits, bool shared)
{
    const unsigned bytes = __byte_perm(bits, 0, 0x0123);
    if (shared)
        atomicOr(pen.word, bytes);
    else
        *pen.word = bytes;
    pen.word++;
}
SMP_DEVICE jpeg_pen jpeg_pen_at(uint32_t *words, int64_t bit)
{
    const int count = (int)(bit % 32);
    const jpeg_pen pen = {words + bit / 32, 0, count, count > 0};
    return pen;
}
SMP_DEVICE void jpeg_put(jpeg_pen &pen, uint32_t code, int bits)
{
    pen.held = pen.held << bits | code;
    pen.count += bits;
    if (pen.count >= 32) {
        pen.count -= 32;
        jpeg_pen_word(pen, (uint32_t)(pen.held >> pen.count), pen.shared);
        pen.shared = false;
    }
}
SMP_DEVICE void jpeg_put_coded(jpeg_pen &pen, uint32_t code, int v, int category)
{
    jpeg_put(pen, (code & 0xffff) << category | smp_jpeg_extra(v, category), (int)(code >> 16) + category);
}
SMP_DEVICE void jpeg_pen_end(jpeg_pen &pen)
{
    if (pen.count)
        jpeg_pen_word(pen, (uint32_t)(pen.held << (32 - pen.count)), true);
}
/* Ones up to a whole byte; `at` is the bit that is next. */
SMP_DEVICE void jpeg_fill(jpeg_pen &pen, int64_t at)
{
    const int rest = (int)(smp_jpeg_filled(at) - at);
    jpeg_put(pen, (1u << rest) - 1, rest);
}

/* Writes a block from bit `at` on: what comes before it, DC, AC; behind the last one ones up to a whole byte. */
SMP_DEVICE void jpeg_write(const smp_io &io, const smp_jpeg_encode &p, int64_t block, smp_jpeg_span own, int64_t at,
                           const int16_t *from, const uint32_t *dc, const uint32_t *ac)
{
    uint64_t mask = jpeg_part<uint64_t>(io.in, p.masks)[block];
    jpeg_pen pen = jpeg_pen_at(jpeg_part<uint32_t>(io.out, p.words), at);
    if (own.after >= 0) {
        const int64_t marker = smp_jpeg_filled(at) / 8, mcu = block / p.in_mcu;
        jpeg_fill(pen, at);
        jpeg_put(pen, (uint32_t)(0xff00 | SMP_JPEG_RST | ((mcu / p.restart - 1) & 7)), 16);
        atomicOr(jpeg_part<uint32_t>(io.out, p.marks) + marker / 32, 1u << marker % 32);
    }
    const int step = smp_jpeg_step(&p, io.in.data, block), category = smp_jpeg_category(step);
    jpeg_put_coded(pen, dc[category], step, category);
    int last = 0;
    for (; mask; mask &= mask - 1) {
        smp_converge();
        const int k = smp_jpeg_lowest(mask), v = from[k], size = smp_jpeg_category(v);
        int zeros = k - 1 - last;
        for (; zeros > 15; zeros -= 16)
            jpeg_put_coded(pen, ac[SMP_JPEG_ZRL], 0, 0);
        jpeg_put_coded(pen, ac[zeros << 4 | size], v, size);
        last = k;
    }
    if (last != SMP_JPEG_BLOCK - 1)
        jpeg_put_coded(pen, ac[0], 0, 0);
    if (block == p.blocks - 1)
        jpeg_fill(pen, smp_jpeg_end(at, own));
    jpeg_pen_end(pen);
}

/* Returns where this thread's block begins; -1: there is none, or no scan. */
SMP_DEVICE int64_t jpeg_place(const smp_io &io, const smp_jpeg_encode &p, int64_t block, smp_jpeg_span own)
{
    smp_jpeg_span all;
    const smp_jpeg_span before = jpeg_join_before(own, jpeg_nothing(), &all);
    if (block >= p.blocks || jpeg_part<smp_jpeg_state>(io.in, p.state)->fails)
        return -1;
    return smp_jpeg_end(jpeg_part<smp_jpeg_span>(io.in, p.spans)[blockIdx.x].before, before);
}

/* Geometry: as spans. */
SMP_KERNEL(jpeg_encode_codes_naive_u8_u8, smp_jpeg_encode, io, p)
{
    const smp_jpeg_tables *const tables = jpeg_tables(io);
    const int64_t block = (int64_t)blockIdx.x * SMP_JPEG_CHUNK + threadIdx.x;
    const smp_jpeg_span own = block < p.blocks ? smp_jpeg_span_of(&p, tables, io.in.data, block) : jpeg_nothing();
    const int64_t at = jpeg_place(io, p, block, own);
    const int chroma = at >= 0 && smp_jpeg_spot_of(&p, block).component > 0;
    if (at >= 0)
        jpeg_write(io, p, block, own, at, jpeg_part<int16_t>(io.in, p.coefficients) + block * SMP_JPEG_BLOCK,
                   tables->dc[chroma], tables->ac[chroma]);
}

enum { JPEG_ROW = SMP_JPEG_BLOCK / 2 /* words of a block's coefficients */ };

template <int PAD> struct jpeg_rows {
    uint32_t v[SMP_JPEG_CHUNK][JPEG_ROW + PAD]; /* a thread walks along its row */
};
struct jpeg_codes {
    uint32_t v[(sizeof(smp_jpeg_tables::dc) + sizeof(smp_jpeg_tables::ac)) / sizeof(uint32_t)];
};

/* Geometry: as spans. */
template <int PAD> SMP_DEVICE void jpeg_encode_codes(const smp_io &io, const smp_jpeg_encode &p)
{
    typedef jpeg_rows<PAD> rows_type;
    SMP_SHARED(rows_type, rows);
    SMP_SHARED(jpeg_codes, codes);
    enum { EACH = sizeof(uint4) / sizeof(uint32_t), ACROSS = JPEG_ROW / EACH, CODES = sizeof codes / sizeof(uint32_t) };
    const smp_jpeg_tables *const tables = jpeg_tables(io);
    const int64_t first = (int64_t)blockIdx.x * SMP_JPEG_CHUNK, block = first + threadIdx.x;
    const int64_t left = p.blocks - first, all = SMP_JPEG_CHUNK;
    const int here = (int)(left < all ? left : all);
    /* those of AC lie behind those of DC */
    const uint32_t *const table =
        reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(tables) + offsetof(smp_jpeg_tables, dc));
    const uint4 *const from =
        reinterpret_cast<const uint4 *>(jpeg_part<int16_t>(io.in, p.coefficients) + first * SMP_JPEG_BLOCK);
    for (int i = (int)threadIdx.x; i < here * ACROSS; i += SMP_JPEG_CHUNK) {
        smp_converge();
        const uint4 eight = from[i];
        uint32_t *const to = &rows.v[i / ACROSS][i % ACROSS * EACH];
        to[0] = eight.x;
        to[1] = eight.y;
        to[2] = eight.z;
        to[3] = eight.w;
    }
    for (int i = (int)threadIdx.x; i < CODES; i += SMP_JPEG_CHUNK) {
        smp_converge();
        codes.v[i] = table[i];
    }
    const smp_jpeg_span own = block < p.blocks ? smp_jpeg_span_of(&p, tables, io.in.data, block) : jpeg_nothing();
    const int64_t at = jpeg_place(io, p, block, own); /* its barrier is for what is loaded here too */
    const int chroma = at >= 0 && smp_jpeg_spot_of(&p, block).component > 0;
    if (at >= 0)
        jpeg_write(io, p, block, own, at, reinterpret_cast<const int16_t *>(rows.v[threadIdx.x]), codes.v + 16 * chroma,
                   codes.v + 32 + 256 * chroma);
}
SMP_KERNEL(jpeg_encode_codes_tiled_u8_u8, smp_jpeg_encode, io, p)
{
    jpeg_encode_codes<0>(io, p);
}
SMP_KERNEL(jpeg_encode_codes_padded_u8_u8, smp_jpeg_encode, io, p)
{
    jpeg_encode_codes<1>(io, p);
}

/* ---------------------------------------------------------------------------------------------- stuffing */

/* A bit a byte of 16, from the lowest: it is FF, and not of a marker. */
SMP_DEVICE unsigned jpeg_stuffed(const smp_view &arena, const smp_jpeg_encode &p, int64_t at, const uint4 &bytes)
{
    const uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    unsigned found = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t high = ((words[i] & 0x7f7f7f7fu) + 0x01010101u) & words[i] & 0x80808080u;
        found |= ((high >> 7 & 1) | (high >> 14 & 2) | (high >> 21 & 4) | (high >> 28 & 8)) << 4 * i;
    }
    if (p.restart)
        found &= ~(jpeg_part<uint32_t>(arena, p.marks)[at / 32] >> at % 32);
    return found & 0xffff;
}

/* Geometry: a block of SMP_JPEG_CHUNK threads a piece. */
SMP_KERNEL(jpeg_encode_pieces_u8_u8, smp_jpeg_encode, io, p)
{
    const smp_jpeg_state state = *jpeg_part<smp_jpeg_state>(io.in, p.state);
    const int64_t at = (int64_t)blockIdx.x * SMP_JPEG_PIECE + (int64_t)threadIdx.x * SMP_JPEG_EACH;
    if (state.fails || (int64_t)blockIdx.x * SMP_JPEG_PIECE >= state.bytes)
        return; /* all threads of a block */
    const uint4 bytes = jpeg_part<uint4>(io.in, p.words)[at / SMP_JPEG_EACH];
    int64_t all;
    jpeg_join_before((int64_t)__popc(jpeg_stuffed(io.in, p, at, bytes)), (int64_t)0, &all);
    if (threadIdx.x == 0)
        jpeg_part<int64_t>(io.out, p.parts)[blockIdx.x] = all;
}

/* Geometry: one block of SMP_JPEG_SCAN threads. */
SMP_KERNEL(jpeg_encode_places_u8_u8, smp_jpeg_encode, io, p)
{
    smp_jpeg_state *const state = jpeg_part<smp_jpeg_state>(io.out, p.state);
    int64_t *const parts = jpeg_part<int64_t>(io.out, p.parts), all;
    const int64_t bytes = state->bytes, count = state->fails ? 0 : (bytes + SMP_JPEG_PIECE - 1) / SMP_JPEG_PIECE;
    const int64_t each = (count + SMP_JPEG_SCAN - 1) / SMP_JPEG_SCAN, first = (int64_t)threadIdx.x * each;
    const int64_t end = first + each < count ? first + each : count;
    int64_t own = 0;
    for (int64_t i = first; i < end; i++)
        own += parts[i];
    int64_t at = jpeg_join_before(own, (int64_t)0, &all);
    for (int64_t i = first; i < end; i++) {
        const int64_t here = parts[i];
        parts[i] = i * SMP_JPEG_PIECE + at;
        at += here;
    }
    if (threadIdx.x == 0) {
        if (bytes + all > p.room)
            state->fails = 1;
        state->length = state->fails ? 0 : bytes + all;
    }
}

/* Geometry: a block of SMP_JPEG_CHUNK threads a piece; all of them together write zeros behind the end. */
template <typename, typename OUT> SMP_DEVICE void jpeg_encode_stuff(const smp_io &io, const smp_jpeg_encode &p)
{
    const smp_jpeg_state state = *jpeg_part<smp_jpeg_state>(io.in, p.state);
    const int format = smp_sample<OUT>::format;
    const int64_t piece = (int64_t)blockIdx.x * SMP_JPEG_PIECE, thread = (int64_t)threadIdx.x * SMP_JPEG_EACH;
    const int64_t bytes = state.fails ? 0 : state.bytes;
    const bool some = piece < bytes;
    const uint4 none = make_uint4(0, 0, 0, 0);
    const uint4 own = some ? jpeg_part<uint4>(io.in, p.words)[(piece + thread) / SMP_JPEG_EACH] : none;
    const unsigned stuffed = some ? jpeg_stuffed(io.in, p, piece + thread, own) : 0;
    int64_t all, at = jpeg_join_before((int64_t)__popc(stuffed), (int64_t)0, &all);
    if (some) {
        const uint32_t words[4] = {own.x, own.y, own.z, own.w};
        at += SMP_JPEG_HEAD + jpeg_part<int64_t>(io.in, p.parts)[blockIdx.x] + thread;
        for (int i = 0; i < SMP_JPEG_EACH && piece + thread + i < bytes; i++) {
            smp_jpeg_store(&io.out, format, p.row_bits, at++, (int)(words[i / 4] >> i % 4 * 8 & 0xff));
            if (stuffed >> i & 1)
                smp_jpeg_store(&io.out, format, p.row_bits, at++, 0);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < SMP_JPEG_HEAD / 8) {
        const unsigned t = threadIdx.x;
        const uint64_t word = t == 0   ? SMP_JPEG_MAGIC
                              : t == 1 ? (uint64_t)state.length
                              : t == 2 ? (uint64_t)state.fails
                                       : 0;
        for (int i = 0; i < 8; i++)
            smp_jpeg_store(&io.out, format, p.row_bits, (int64_t)t * 8 + i, (int)(word >> 8 * i & 0xff));
    }
    const int64_t end = SMP_JPEG_HEAD + state.length, row = (int64_t)1 << p.row_bits;
    const int64_t top = io.out.y0 * row, bottom = (io.out.y0 + io.out.rows) * row;
    const int64_t from = end / SMP_JPEG_EACH * SMP_JPEG_EACH > top ? end / SMP_JPEG_EACH * SMP_JPEG_EACH : top;
    for (int64_t unit = from + ((int64_t)blockIdx.x * SMP_JPEG_CHUNK + threadIdx.x) * SMP_JPEG_EACH; unit < bottom;
         unit += (int64_t)gridDim.x * SMP_JPEG_PIECE) {
        char *const to =
            static_cast<char *>(smp_row(&io.out, unit >> p.row_bits)) + (unit & (row - 1)) * (int64_t)sizeof(OUT);
        if (unit >= end && (uintptr_t)to % sizeof(uint4) == 0)
            for (int i = 0; i < (int)sizeof(OUT); i++)
                reinterpret_cast<uint4 *>(to)[i] = none;
        else
            for (int i = 0; i < SMP_JPEG_EACH; i++)
                if (unit + i >= end)
                    smp_jpeg_store(&io.out, format, p.row_bits, unit + i, 0);
    }
}
SMP_KERNEL_PAIR_(jpeg_encode_stuff, u8, uint8_t, u8, uint8_t, smp_jpeg_encode)
SMP_KERNEL_PAIR_(jpeg_encode_stuff, u8, uint8_t, f32, float, smp_jpeg_encode)
