/* Walks the blocks of a GIF: see gif_walk.h. */
#include "io/gif/gif_walk.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "io/bytes.h"

enum { HEADER = 13, PICTURE = 9, CONTROL = 0xF9, APPLICATION = 0xFF, HAS_PALETTE = 0x80, INTERLACED = 0x40 };
enum { COMMENT = 0xFE, NAME = 11 /* bytes of an application's */ };
enum { BLOCK_EXTENSION = 0x21, BLOCK_PICTURE = 0x2C, BLOCK_END = 0x3B };

static uint64_t palette_bytes(uint8_t flags)
{
    return flags & HAS_PALETTE ? 3u << ((flags & 7) + 1) : 0;
}

/* Reads bytes and goes on behind them. */
static bool take(const smp_source *source, uint64_t *at, void *to, size_t size)
{
    if (!smp_source_look(source, *at, to, size))
        return false;
    *at += size;
    return true;
}

/* Skips blocks of up to 255 bytes up to the empty one. */
static bool skip_blocks(const smp_source *source, uint64_t *at)
{
    for (uint8_t size = 1; size; *at += size)
        if (!take(source, at, &size, 1))
            return false;
    return *at <= source->size;
}

size_t smp_gif_join(uint8_t *blocks, size_t size)
{
    size_t joined = 0;
    for (size_t at = 0, n; at < size && (n = blocks[at++]) && n < size - at; at += n, joined += n)
        memmove(blocks + joined, blocks + at, n);
    return joined;
}

static bool read_extension(const smp_source *source, uint64_t *at, smp_gif *gif)
{
    uint8_t head[6];
    if (!take(source, at, head, 1))
        return false;
    const uint8_t kind = head[0];
    uint8_t loop[16]; /* a block of 11 bytes, one of 3, of which the last two are the number */
    const bool named = kind == APPLICATION && smp_source_look(source, *at, loop, sizeof loop) && loop[0] == NAME;
    const uint64_t from = *at + (named ? 1 + NAME : 0);
    smp_gif_blocks *part = kind == COMMENT ? &gif->comment : NULL;
    if (named && !memcmp(loop + 1, "ICCRGBG1012", NAME))
        part = &gif->profile;
    if (named && !memcmp(loop + 1, "XMP DataXMP", NAME))
        part = &gif->xmp;
    const bool loops = named && (!memcmp(loop + 1, "NETSCAPE2.0", NAME) || !memcmp(loop + 1, "ANIMEXTS1.0", NAME));
    if (named && !part && !loops) {
        char name[NAME + 1];
        snprintf(name, sizeof name, "%.*s", NAME, (const char *)loop + 1);
        smp_names_add(&gif->left, name);
    }
    if (named && !memcmp(loop + 1, "NETSCAPE2.0", NAME) && loop[12] == 3 && loop[13] == 1) {
        const uint32_t repeats = smp_get_le(loop + 14, 2);
        gif->plays = repeats ? repeats + 1 : 0;
    }
    if (kind == CONTROL && smp_source_look(source, *at, head, 6) && head[0] >= 4) {
        const int delay = (int)smp_get_le(head + 2, 2);
        const int disposal = smp_gif_disposal(head[1]);
        gif->clears |= disposal == SMP_GIF_CLEAR || (disposal == SMP_GIF_TAKE_BACK && !gif->pictures);
        gif->uneven |= gif->pictures && delay != gif->delay;
        if (!gif->pictures) {
            gif->transparent = head[1] & 1 ? head[4] : -1;
            gif->delay = delay;
        }
    }
    const bool whole = skip_blocks(source, at);
    gif->more_comments |= part == &gif->comment && part->at;
    if (whole && part && !part->at)
        *part = (smp_gif_blocks){from, *at - from};
    return whole;
}

static bool read_picture(const smp_source *source, uint64_t *at, smp_gif *gif)
{
    uint8_t head[PICTURE], bits;
    if (!take(source, at, head, PICTURE))
        return false;
    if (!gif->pictures++) {
        gif->x = smp_get_le(head, 2);
        gif->y = smp_get_le(head + 2, 2);
        gif->inner_width = smp_get_le(head + 4, 2);
        gif->inner_height = smp_get_le(head + 6, 2);
        gif->interlaced = head[8] & INTERLACED;
    }
    *at += palette_bytes(head[8]);
    const bool whole = take(source, at, &bits, 1) && skip_blocks(source, at);
    gif->pictures -= whole ? 0 : 1;
    return whole;
}

static smp_code fail_end(const smp_source *source, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the GIF ends too early, after %llu bytes: it is truncated",
             (unsigned long long)source->size);
    return smp_hint_damaged(err);
}

smp_code smp_gif_walk(const smp_source *source, smp_gif *gif, smp_error *err)
{
    uint8_t head[HEADER], block = 0;
    uint64_t at = 0;
    *gif = (smp_gif){.transparent = -1, .plays = 1};
    if (!take(source, &at, head, HEADER))
        return fail_end(source, err);
    gif->width = smp_get_le(head + 6, 2);
    gif->height = smp_get_le(head + 8, 2);
    for (at += palette_bytes(head[10]); block != BLOCK_END && !gif->broken;) {
        const bool ends = !take(source, &at, &block, 1) ||
                          (block == BLOCK_EXTENSION ? !read_extension(source, &at, gif)
                                                    : block == BLOCK_PICTURE && !read_picture(source, &at, gif));
        const bool known = block == BLOCK_EXTENSION || block == BLOCK_PICTURE || block == BLOCK_END;
        gif->broken = ends || !known;
        if (ends && !gif->pictures)
            return fail_end(source, err);
        if (!known && !gif->pictures)
            return smp_fail(err, SMP_E_DECODE, "the GIF is damaged: a block is of an unknown kind (%d)", block);
    }
    if (!gif->pictures)
        return smp_fail(err, SMP_E_DECODE, "the GIF has no picture");
    uint8_t behind[SMP_BEHIND];
    gif->goes_on =
        !gif->broken && smp_source_look(source, at, behind, sizeof behind) && smp_behind_counts(behind, sizeof behind);
    if (!gif->width || !gif->height) { /* some programs leave the canvas out */
        gif->width = gif->x + gif->inner_width;
        gif->height = gif->y + gif->inner_height;
    }
    if (!gif->inner_width || !gif->inner_height)
        return smp_fail(err, SMP_E_DECODE, "the GIF is damaged: its first picture has no pixels");
    gif->grown = gif->x + gif->inner_width > gif->width || gif->y + gif->inner_height > gif->height;
    gif->width = smp_max_i64(gif->width, gif->x + gif->inner_width);
    gif->height = smp_max_i64(gif->height, gif->y + gif->inner_height);
    return SMP_OK;
}
