/* Packs by LZW: see tiff_lzw.h. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

enum { CLEAR = 256, END = 257, FIRST = 258, FULL = 4094 /* codes: the table is begun anew */ };
enum { LEAST_BITS = 9 };

typedef struct bits {
    uint8_t *to;
    uint64_t held;
    int count;
} bits;

static void put(bits *out, uint32_t code, int width)
{
    out->held = out->held << width | code;
    out->count += width;
    for (; out->count >= 8; out->count -= 8)
        *out->to++ = (uint8_t)(out->held >> (out->count - 8));
}

size_t smp_lzw_room(size_t size)
{
    return size / 2 * 3 + 64; /* a byte is at most a code of 12 bits */
}

static uint32_t slot_of(const smp_lzw *lzw, uint32_t string)
{
    uint32_t slot = (string * 2654435761u) >> 18; /* Knuth's multiplicative hash, to 14 bits */
    while (lzw->string[slot] && lzw->string[slot] != string + 1)
        slot = (slot + 1) % SMP_LZW_SLOTS;
    return slot;
}

typedef struct table {
    smp_lzw *lzw;
    uint32_t next; /* code */
    int width;
} table;

static void clear(table *t, bits *out)
{
    put(out, CLEAR, t->width);
    memset(t->lzw->string, 0, sizeof t->lzw->string);
    t->next = FIRST;
    t->width = LEAST_BITS;
}

/* One code more is in use. */
static void count_code(table *t, bits *out)
{
    if (++t->next == FULL)
        clear(t, out);
    else if (t->next > (1u << t->width) - 1)
        t->width++;
}

size_t smp_lzw_pack(smp_lzw *lzw, const uint8_t *from, size_t size, uint8_t *to)
{
    bits out = {.to = to};
    table t = {.lzw = lzw, .width = LEAST_BITS};
    clear(&t, &out);
    uint32_t current = size ? from[0] : 0;
    for (size_t i = 1; i < size; i++) {
        const uint32_t string = current << 8 | from[i], slot = slot_of(lzw, string);
        if (lzw->string[slot]) {
            current = lzw->code[slot];
            continue;
        }
        put(&out, current, t.width);
        lzw->string[slot] = string + 1;
        lzw->code[slot] = (uint16_t)t.next;
        current = from[i];
        count_code(&t, &out);
    }
    if (size) {
        put(&out, current, t.width);
        count_code(&t, &out);
    }
    put(&out, END, t.width);
    if (out.count)
        put(&out, 0, 8 - out.count);
    return (size_t)(out.to - to);
}
