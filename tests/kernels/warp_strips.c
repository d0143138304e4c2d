/* How launches of one-warp blocks share out a picture (warp_strip_grid.h, warp_strip_launch.h). */
#include <stdlib.h>

#include "suite.h"

#include "base/alloc.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stencil/warp_strip_grid.h"

static smp_io output(int64_t samples, int64_t rows)
{
    const smp_view view = {.stride = samples, .width = samples, .height = rows, .rows = rows, .channels = 1};
    return (smp_io){.in = view, .out = view};
}

static const smp_bands kinds[] = {
    {.most = 28, .halo = 4},
    {.most = 128},
    {.most = 60, .halo = 32},
    {.most = 320, .warps = 48, .uneven = true},
    {.most = 400, .warps = 28, .halo = 32, .uneven = true},
    {.most = 64, .halo = 2, .uneven = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds, ACROSS = 128 };

/* Asserts that every row of every strip is in one block, and no block without rows. */
static void assert_shared_out(const smp_io *io, const smp_grid *grid)
{
    const int64_t rows = io->out.rows, strips = (io->out.width + ACROSS - 1) / ACROSS;
    unsigned char *seen = smp_alloc((size_t)(rows * strips));
    assert_non_null(seen);
    assert_int_equal(grid->grid[1] * grid->grid[2], 1);
    for (unsigned block = 0; block < grid->grid[0]; block++) {
        const smp_strip_place place = smp_strip_place_of(&grid->strips, rows, block);
        assert_in_range(place.strip, 0, strips - 1);
        assert_in_range(place.rows, 1, rows - place.begin);
        for (int64_t y = place.begin; y < place.begin + place.rows; y++)
            seen[place.strip * rows + y]++;
    }
    for (int64_t i = 0; i < rows * strips; i++)
        assert_int_equal(seen[i], 1);
    smp_free(seen);
}

SMP_TEST(every_row_of_every_strip_is_in_one_block)
{
    for (int64_t rows = 1; rows < 3000; rows += rows < 70 ? 1 : 211)
        for (int strips = 1; strips < 9; strips++)
            for (int kind = 0; kind < KINDS; kind++)
                for (unsigned units = 0; units < 200; units += 66) {
                    const smp_io io = output(strips * ACROSS - strips % 3, rows);
                    smp_grid grid = {.units = units};
                    smp_strip_grid(&io, ACROSS, &kinds[kind], &grid);
                    assert_shared_out(&io, &grid);
                }
}

/* Bands of every height, also of heights that no kernel asks for. */
SMP_TEST(bands_of_any_height_share_out_all_rows)
{
    for (int64_t rows = 1; rows < 3000; rows += rows < 70 ? 3 : 211)
        for (int strips = 1; strips < 9; strips++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int64_t most = 57; most < 513; most += 57) {
                    const smp_io io = output(strips * ACROSS - strips % 3, rows);
                    smp_bands bands = kinds[kind];
                    bands.most = most;
                    smp_grid grid = {.units = 0};
                    smp_strip_grid(&io, ACROSS, &bands, &grid);
                    assert_shared_out(&io, &grid);
                }
}

/* Strips at a row's ends first, then the first and the last band; both lower than those between. */
SMP_TEST(what_takes_long_comes_first_and_is_low)
{
    const smp_io io = output(40 * ACROSS, 4096);
    smp_grid grid = {.units = 0}; /* bands are as tall as they may be */
    const smp_bands bands = {.most = 114, .halo = 14, .uneven = false};
    smp_strip_grid(&io, ACROSS, &bands, &grid);
    const smp_strips *s = &grid.strips;
    assert_int_equal(s->across, 38);
    assert_int_equal(s->tall, 114);
    assert_true(s->end_rows < 114 && s->low < 114 && s->top < 114);
    for (unsigned block = 0; block < s->ends; block++)
        assert_int_equal(smp_strip_place_of(s, 4096, block).strip, block % 2 ? 39 : 0);
    smp_strip_place place = smp_strip_place_of(s, 4096, s->ends);
    assert_int_equal(place.strip, 1);
    assert_int_equal(place.begin, 0);
    place = smp_strip_place_of(s, 4096, s->ends + 38);
    assert_int_equal(place.strip, 1);
    assert_int_equal(place.begin + place.rows, 4096);
    place = smp_strip_place_of(s, 4096, s->ends + 2 * 38);
    assert_int_equal(place.begin, s->top);
    assert_int_equal(place.rows, 114);
}

SMP_TEST(bands_and_their_halos_are_whole_groups_of_rows)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t rows = 300; rows < 9000; rows += 700) {
            const smp_io io = output(64 * ACROSS, rows);
            smp_grid grid = {.units = 132};
            smp_strip_grid(&io, ACROSS, &kinds[kind], &grid);
            const smp_strips *s = &grid.strips;
            if (s->low == s->tall)
                continue;
            assert_int_equal((s->low + (unsigned)kinds[kind].halo) % 8, 0);
            if (kinds[kind].uneven)
                assert_int_equal((s->tall + (unsigned)kinds[kind].halo) % 8, 0);
        }
}

/* A hundred SMs have something to do at 1000 x 1000 pixels. */
SMP_TEST(small_pictures_have_lower_bands)
{
    const smp_io small = output(8 * ACROSS, 1000), large = output(128 * ACROSS, 16384);
    for (int kind = 0; kind < KINDS; kind++) {
        smp_grid few = {.units = 100}, many = few;
        smp_strip_grid(&small, ACROSS, &kinds[kind], &few);
        smp_strip_grid(&large, ACROSS, &kinds[kind], &many);
        assert_true(few.strips.tall < many.strips.tall);
        assert_true(few.grid[0] > 500);
    }
}

/* Sounds have more rows than fit 32 bits. */
SMP_TEST(rows_beyond_32_bits_have_places)
{
    const int64_t rows = 5ll << 31;
    const smp_io io = output(2, rows);
    smp_grid grid = {.units = 132};
    smp_strip_grid(&io, ACROSS, &kinds[3], &grid);
    for (unsigned block = 0; block < grid.grid[0]; block += grid.grid[0] / 1000) {
        const smp_strip_place place = smp_strip_place_of(&grid.strips, rows, block);
        assert_in_range(place.begin, 0, rows - 1);
        assert_true(place.rows > 0 && place.begin + place.rows <= rows);
    }
    const smp_strip_place last = smp_strip_place_of(&grid.strips, rows, grid.strips.across); /* it comes second */
    assert_int_equal(last.begin + last.rows, rows);
}
