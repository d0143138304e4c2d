/* Blocks of a PNG's filtered rows, deflated: io/png_deflate.h. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "suite.h"

#include "io/png/png_deflate.h"

enum { MOST = 300000, SAMPLE = 4096, LEVELS = 10 };

static uint32_t seed = 1;

static uint32_t next(uint32_t values)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * values >> 32); /* its low bits repeat soon */
}

static void fill_noise(uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)next(256);
}

/* As a filtered photograph is: small differences, none of which says what follows. */
static void fill_photo(uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(next(4) + next(4) - 3);
}

/* As a drawing is: one shape again and again, of bytes that differ, between flat parts. */
static void fill_drawing(uint8_t *to, size_t size)
{
    uint8_t shape[100];
    fill_noise(shape, sizeof shape);
    memset(to, 0, size);
    for (size_t i = 0; i + sizeof shape <= size; i += 2 * sizeof shape + next(40))
        memcpy(to + i, shape, sizeof shape);
}

static void fill_flat(uint8_t *to, size_t size)
{
    memset(to, 7, size);
}

/* Deflates a block as the PNG writer does, checks that it inflates back; says its size. */
static size_t packed_size(int level, const uint8_t *from, size_t size)
{
    static uint8_t packed[2 * MOST], back[MOST];
    smp_png_deflate *d = smp_png_deflate_open(level, MOST, SAMPLE);
    assert_non_null(d);
    const size_t n = size < SAMPLE ? size : SAMPLE;
    const bool repeats = smp_png_deflate_repeats(d, from, n, smp_png_deflate_sample(d, from, n));
    memset(packed, 0xA5, sizeof packed);
    const size_t taken = smp_png_deflate_block(d, packed, from, size, repeats, true);
    smp_png_deflate_close(d);
    assert_true(taken > 0 && taken <= smp_png_deflate_room(size));
    for (size_t i = smp_png_deflate_room(size); i < sizeof packed; i++)
        assert_int_equal(packed[i], 0xA5);
    z_stream z = {.next_in = packed, .avail_in = (uInt)taken, .next_out = back, .avail_out = MOST};
    assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), Z_OK);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, size);
    assert_int_equal(z.data_type & 7, 0); /* no bits left over: it ends on a byte boundary */
    inflateEnd(&z);
    assert_memory_equal(back, from, size);
    return taken;
}

static void (*const fills[])(uint8_t *, size_t) = {fill_noise, fill_photo, fill_drawing, fill_flat};

SMP_TEST(blocks_of_every_size_and_kind_inflate_to_what_they_were)
{
    static const size_t sizes[] = {1, 2, 3, 5, 20, 700, 65535, 65536, MOST};
    static uint8_t block[MOST];
    for (int level = 0; level < LEVELS; level++)
        for (size_t kind = 0; kind < 4; kind++)
            for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
                fills[kind](block, sizes[k]);
                packed_size(level, block, sizes[k]);
            }
}

SMP_TEST(slower_levels_pack_no_larger)
{
    static uint8_t block[MOST];
    for (size_t kind = 0; kind < 4; kind++) {
        fills[kind](block, MOST);
        size_t before = packed_size(1, block, MOST);
        for (int level = 2; level < LEVELS; level++) {
            const size_t now = packed_size(level, block, MOST);
            if (now > before + before / 1000) /* zlib's own levels may swap places by a little */
                fail_msg("kind %zu: %zu at level %d, %zu before", kind, now, level, before);
            before = now;
        }
    }
}

SMP_TEST(repeats_are_found_in_drawings_at_the_usual_level_and_left_alone_in_photographs)
{
    static uint8_t block[MOST];
    fill_drawing(block, MOST);
    assert_true(packed_size(1, block, MOST) < packed_size(0, block, MOST) / 4);
    fill_photo(block, MOST);
    assert_int_equal(packed_size(1, block, MOST), packed_size(0, block, MOST));
}

/* A packer is used for one block after another: nothing of one may be seen in the next. */
SMP_TEST(a_block_packs_alike_whatever_was_packed_before_it)
{
    static uint8_t block[MOST], first[2 * MOST], again[2 * MOST];
    for (int level = 0; level < LEVELS; level++) {
        smp_png_deflate *d = smp_png_deflate_open(level, MOST, SAMPLE);
        assert_non_null(d);
        seed = 5;
        fill_drawing(block, MOST);
        const size_t size = smp_png_deflate_block(d, first, block, MOST, true, true);
        fill_photo(block, MOST);
        smp_png_deflate_block(d, again, block, MOST, false, true);
        seed = 5;
        fill_drawing(block, MOST);
        assert_int_equal(smp_png_deflate_block(d, again, block, MOST, true, true), size);
        assert_memory_equal(first, again, size);
        smp_png_deflate_close(d);
    }
}
