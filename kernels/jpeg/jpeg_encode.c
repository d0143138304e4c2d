/* jpeg_encode on a CPU: threads share out rows of MCUs; one of them then codes all blocks. For pictures that a CPU
 * codes by itself, libjpeg is faster: these kernels are the definition that GPUs are held against. */
#include "jpeg/jpeg_encode.h"

static const smp_jpeg_tables *tables_of(const smp_io *io)
{
    return (const smp_jpeg_tables *)io->table;
}

SMP_INLINE uint64_t clipped_in(const smp_jpeg_encode *p, const smp_view *in, const smp_jpeg_spot *s)
{
    uint64_t count = 0;
    for (int64_t y = (int64_t)s->y * SMP_JPEG_SIDE; y < (int64_t)(s->y + 1) * SMP_JPEG_SIDE && y < p->height; y++)
        for (int64_t x = (int64_t)s->x * SMP_JPEG_SIDE; x < (int64_t)(s->x + 1) * SMP_JPEG_SIDE && x < p->width; x++)
            for (int c = 0; c < p->colours; c++)
                count += (uint64_t)smp_clips(((const float *)smp_row(in, y))[x * p->colours + c], 255.f);
    return count;
}

SMP_INLINE void block_of(const smp_io *io, const smp_jpeg_encode *p, int64_t block, const int format)
{
    const smp_jpeg_tables *tables = tables_of(io);
    const smp_jpeg_spot s = smp_jpeg_spot_of(p, block);
    const uint32_t *ac = tables->ac[s.component > 0];
    char *arena = io->out.data;
    uint64_t *mask = (uint64_t *)(void *)(arena + p->masks) + block;
    uint16_t *length = (uint16_t *)(void *)(arena + p->lengths) + block;
    int16_t *to = (int16_t *)(void *)(arena + p->coefficients) + block * SMP_JPEG_BLOCK;
    *mask = 0;
    *length = (uint16_t)(ac[0] >> 16);
    if (smp_jpeg_is_dummy(p, &s))
        return;
    int32_t d[SMP_JPEG_SIDE][SMP_JPEG_SIDE], column[SMP_JPEG_SIDE];
    for (int y = 0; y < SMP_JPEG_SIDE; y++) {
        for (int x = 0; x < SMP_JPEG_SIDE; x++)
            d[y][x] = smp_jpeg_sample(p, &io->in, format, s.component, (int64_t)s.x * SMP_JPEG_SIDE + x,
                                      (int64_t)s.y * SMP_JPEG_SIDE + y);
        smp_jpeg_dct(d[y], 0);
    }
    for (int x = 0; x < SMP_JPEG_SIDE; x++) {
        for (int y = 0; y < SMP_JPEG_SIDE; y++)
            column[y] = d[y][x];
        smp_jpeg_dct(column, 1);
        for (int y = 0; y < SMP_JPEG_SIDE; y++) {
            const int natural = y * SMP_JPEG_SIDE + x;
            to[tables->place[natural]] = (int16_t)smp_jpeg_quantise(column[y], tables->divide[s.component][natural]);
        }
    }
    int before = 0, bits = 0;
    for (int k = 1; k < SMP_JPEG_BLOCK; k++)
        if (to[k]) {
            bits += smp_jpeg_ac_bits(ac, to[k], k, before);
            before = k;
            *mask |= UINT64_C(1) << k;
        }
    *length = (uint16_t)(bits + (before == SMP_JPEG_BLOCK - 1 ? 0 : (int)(ac[0] >> 16)));
    if (format == SMP_F32 && io->clipped && s.component == 0)
        *io->clipped += clipped_in(p, &io->in, &s);
}

SMP_CPU_KERNEL(jpeg_encode_blocks)
{
    const smp_jpeg_encode *p = params;
    const int64_t row = (int64_t)p->mcus_across * p->in_mcu;
    for (int64_t block = y0 * row; block < y1 * row; block++)
        if (io->in.format == SMP_U8)
            block_of(io, p, block, SMP_U8);
        else
            block_of(io, p, block, SMP_F32);
}

typedef struct pen {
    uint8_t *to, *end;
    uint64_t held;
    int count; /* bits held */
    int fails;
} pen;

SMP_INLINE void put_byte(pen *at, int byte)
{
    if (at->to == at->end)
        at->fails = 1;
    else
        *at->to++ = (uint8_t)byte;
}

SMP_INLINE void put(pen *at, uint32_t code, int bits)
{
    at->held = at->held << bits | code;
    at->count += bits;
    for (; at->count >= 8; at->count -= 8) {
        const int byte = (int)(at->held >> (at->count - 8) & 0xff);
        put_byte(at, byte);
        if (byte == 0xff)
            put_byte(at, 0);
    }
}

SMP_INLINE void fill_up(pen *at)
{
    const int rest = -at->count & 7;
    put(at, (1u << rest) - 1, rest);
}

SMP_INLINE void put_coded(pen *at, const uint32_t *codes, int symbol, int v, int category)
{
    const uint32_t code = codes[symbol];
    put(at, code & 0xffff, (int)(code >> 16));
    put(at, smp_jpeg_extra(v, category), category);
}

SMP_INLINE void put_block(pen *at, const smp_jpeg_encode *p, const smp_jpeg_tables *tables, const char *arena,
                          int64_t block)
{
    const smp_jpeg_spot s = smp_jpeg_spot_of(p, block);
    const uint32_t *ac = tables->ac[s.component > 0];
    const int step = smp_jpeg_step(p, arena, block), category = smp_jpeg_category(step);
    const int16_t *from = (const int16_t *)(const void *)(arena + p->coefficients) + block * SMP_JPEG_BLOCK;
    uint64_t mask = ((const uint64_t *)(const void *)(arena + p->masks))[block];
    int before = 0;
    if (s.component == 0 && s.first && smp_jpeg_restarts(p, s.mcu)) {
        fill_up(at);
        put_byte(at, 0xff);
        put_byte(at, SMP_JPEG_RST + (int)((s.mcu / p->restart - 1) & 7));
    }
    put_coded(at, tables->dc[s.component > 0], category, step, category);
    for (; mask; mask &= mask - 1) {
        const int k = smp_jpeg_lowest(mask), v = from[k], size = smp_jpeg_category(v);
        int zeros = k - 1 - before;
        for (; zeros > 15; zeros -= 16)
            put_coded(at, ac, SMP_JPEG_ZRL, 0, 0);
        put_coded(at, ac, zeros << 4 | size, v, size);
        before = k;
    }
    if (before != SMP_JPEG_BLOCK - 1)
        put_coded(at, ac, 0, 0, 0);
}

SMP_CPU_KERNEL(jpeg_encode_codes)
{
    const smp_jpeg_encode *p = params;
    char *arena = io->out.data;
    uint8_t *words = (uint8_t *)arena + p->words;
    smp_jpeg_state *state = (smp_jpeg_state *)(void *)(arena + p->state);
    pen at = {.to = words, .end = words + p->room};
    if (y0 == y1)
        return;
    for (int64_t block = 0; block < p->blocks && !at.fails; block++)
        put_block(&at, p, tables_of(io), arena, block);
    fill_up(&at);
    *state = (smp_jpeg_state){.length = at.fails ? 0 : at.to - words, .fails = at.fails};
}

SMP_CPU_KERNEL(jpeg_encode_stuff)
{
    const smp_jpeg_encode *p = params;
    const char *arena = io->in.data;
    const smp_jpeg_state *state = (const smp_jpeg_state *)(const void *)(arena + p->state);
    const uint8_t *words = (const uint8_t *)arena + p->words;
    const smp_jpeg_coded head = {
        .magic = SMP_JPEG_MAGIC, .length = (uint64_t)state->length, .fails = (uint32_t)state->fails};
    for (int64_t y = y0; y < y1; y++) {
        const int64_t from = y << p->row_bits;
        for (int64_t x = 0; x < (int64_t)1 << p->row_bits; x++) {
            const int64_t at = from + x - SMP_JPEG_HEAD;
            const int byte = at < 0 ? ((const uint8_t *)&head)[at + SMP_JPEG_HEAD] : at < state->length ? words[at] : 0;
            smp_jpeg_store(&io->out, io->out.format, p->row_bits, from + x, byte);
        }
    }
}
