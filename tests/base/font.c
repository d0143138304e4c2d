/* The font of labels: base/text/font.h. */
#include <string.h>

#include "suite.h"

#include "base/text/font.h"

enum { WIDE = 14, HIGH = 12 };

/* The picture as text, a character a pixel: '#' where `ink` was drawn. */
static void check(const uint8_t *samples, int channels, const char *const *rows)
{
    for (int y = 0; rows[y]; y++)
        for (int x = 0; x < WIDE; x++)
            for (int c = 0; c < channels; c++)
                assert_int_equal(samples[(y * WIDE + x) * channels + c], rows[y][x] == '#' ? 10 * c + 200 : 7);
}

SMP_TEST(letters_are_drawn_dot_by_dot)
{
    static const char *const rows[] = {"..............",
                                       ".........#.#..",
                                       "...#..........",
                                       "..#.#....###..",
                                       ".#...#..#...#.",
                                       ".#...#..#...#.",
                                       ".#####..#####.",
                                       ".#...#..#...#.",
                                       ".#...#..#...#.",
                                       "..............",
                                       NULL};
    static const uint8_t colour[] = {200, 210, 220};
    uint8_t samples[WIDE * HIGH * 3];
    for (int channels = 1; channels <= 3; channels += 2) {
        const smp_font_canvas canvas = {samples, WIDE * channels, WIDE, HIGH, channels};
        memset(samples, 7, sizeof samples);
        smp_font_draw(&canvas, 1, 1, 1, "A", 9, colour);
        smp_font_draw(&canvas, 8, 1, 1, "\xc3\x84tsch", 1, colour); /* A with diaeresis, and no more than one */
        check(samples, channels, rows);
    }
}

SMP_TEST(what_lies_outside_is_left_out)
{
    static const uint8_t ink = 200;
    uint8_t guarded[WIDE * HIGH + 2 * WIDE];
    const smp_font_canvas canvas = {guarded + WIDE, WIDE, WIDE, HIGH, 1};
    for (int scale = 1; scale <= 3; scale++)
        for (int x = -20; x < WIDE + 3; x += 3)
            for (int y = -20; y < HIGH + 3; y += 3) {
                memset(guarded, 7, sizeof guarded);
                smp_font_draw(&canvas, x, y, scale, "Mg", 2, &ink);
                for (int i = 0; i < WIDE; i++) {
                    assert_int_equal(guarded[i], 7);
                    assert_int_equal(guarded[WIDE * (HIGH + 1) + i], 7);
                }
            }
    memset(guarded, 7, sizeof guarded);
    smp_font_draw(&canvas, 0, -8, 2, "|", 1, &ink); /* dots of 2 x 2: rows 4 and on of the glyph are inside */
    assert_int_equal(guarded[WIDE + 4], 200);
    assert_int_equal(guarded[WIDE + 5], 200);
    assert_int_equal(guarded[WIDE + 6], 7);
}

SMP_TEST(every_character_has_a_glyph_of_its_own)
{
    const uint8_t *missing = smp_font_glyph(0x4e00);
    for (uint32_t code = 0; code < 0x120; code++) {
        const int printable = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x100);
        const uint8_t *glyph = smp_font_glyph(code);
        assert_int_equal(glyph != missing, printable);
        for (int row = 0; row < SMP_FONT_HEIGHT; row++)
            assert_int_equal(glyph[row] & 3, 0); /* six columns */
        for (uint32_t other = 0x21; printable && other < code; other++)
            if (memcmp(smp_font_glyph(other), glyph, SMP_FONT_HEIGHT) == 0)
                assert_true((code == 0xc5 && other == 0xc2) ||
                            (code == 0xd7 && other == 'x')); /* a ring and a roof; times */
    }
}

SMP_TEST(characters_are_counted_and_not_bytes)
{
    assert_int_equal(smp_font_length(""), 0);
    assert_int_equal(smp_font_length("abc"), 3);
    assert_int_equal(smp_font_length("\xc3\xa9t\xc3\xa9"), 3);
    assert_int_equal(smp_font_length("\xe6\x97\xa5\xff\xc3"), 3); /* one of three bytes, two that are no UTF-8 */
}
