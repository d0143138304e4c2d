/* GIF: files of another program, blocks made by hand, damage. */
#include "suite.h"

#include "media_fixture.h"

#ifdef SMP_TEST_GIF

#define DATA        SMP_SOURCE_DIR "/tests/data/formats/"
#define CONTROL     "!\xF9\4\1\0\0\0\0" /* the first colour is not painted */
#define COLOURS     "\1\2\3\4\5\6"
#define DATA_OF_TWO "\2\2\x44\x0A\0" /* a pixel of each colour */

/* Colours of the files: the palette's entry i is i, 3 i, 255 - i. */
static void assert_pixel(const picture *p, int64_t x, int64_t y)
{
    const uint32_t i = pattern_of_files(x, y, 0);
    const uint8_t *at = p->data + (y * p->shape.width + x) * p->shape.channels;
    const uint8_t want[] = {(uint8_t)i, (uint8_t)(3 * i), (uint8_t)(255 - i), 255};
    if (p->shape.alpha && i == 3)
        assert_memory_equal(at, "\0\0\0\0", 4);
    else
        assert_memory_equal(at, want, (size_t)p->shape.channels);
}

SMP_TEST(files_of_another_program_give_their_samples)
{
    static const struct {
        const char *name;
        bool alpha;
        const char *note;
    } files[] = {{DATA "interlaced.gif", false, NULL},
                 {DATA "plain.gif", true, NULL},
                 {DATA "moving.gif", false, "animation of 2 pictures; only the first"}};
    for (size_t f = 0; f < 3; f++) {
        size_t size;
        char notes[300];
        picture p;
        uint8_t *file = load(files[f].name, &size);
        read_with_notes(file, size, &p, notes, sizeof notes);
        assert_int_equal(p.shape.width, 37);
        assert_int_equal(p.shape.height, 21);
        assert_int_equal(p.shape.alpha, files[f].alpha);
        for (int64_t y = 0; y < 21; y++)
            for (int64_t x = 0; x < 37; x++)
                assert_pixel(&p, x, y);
        assert_true(files[f].note ? strstr(notes, files[f].note) != NULL : !notes[0]);
        free_picture(&p);
        free(file);
    }
}

SMP_TEST(a_picture_lies_on_a_transparent_canvas)
{
    static const char whole[] = "GIF87a\2\0\1\0\x80\0\0" COLOURS ",\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";";
    expect_bytes(whole, sizeof whole - 1, COLOURS, 6, SMP_U8);
    static const char part[] = "GIF89a\4\0\2\0\x80\0\0" COLOURS ",\1\0\1\0\2\0\1\0\0" DATA_OF_TWO ";";
    static const uint8_t on_canvas[32] = {[20] = 1, 2, 3, 255, 4, 5, 6, 255};
    expect_bytes(part, sizeof part - 1, on_canvas, 32, SMP_U8);
    static const char hole[] = "GIF89a\2\0\1\0\x80\0\0" COLOURS CONTROL ",\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";";
    expect_bytes(hole, sizeof hole - 1, "\0\0\0\0\4\5\6\377", 8, SMP_U8);
    static const char local[] = "GIF89a\2\0\1\0\0\0\0,\0\0\0\0\2\0\1\0\x80" COLOURS DATA_OF_TWO ";";
    expect_bytes(local, sizeof local - 1, COLOURS, 6, SMP_U8);
    static const char none[] = "GIF89a\0\0\0\0\x80\0\0" COLOURS ",\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";"; /* no canvas */
    expect_bytes(none, sizeof none - 1, COLOURS, 6, SMP_U8);
    static const char small[] = "GIF89a\1\0\1\0\x80\0\0" COLOURS ",\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";"; /* canvas */
    expect_bytes(small, sizeof small - 1, COLOURS, 6, SMP_U8);
    expect_bytes(whole, sizeof whole - 2, COLOURS, 6, SMP_U8); /* without its end */
}

SMP_TEST(damage_is_an_error)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } cases[] = {
        {FILE_OF("GIF89a\2\0\1\0\x80\0\0" COLOURS ",\1\0\0\0\0\0\1\0\0" DATA_OF_TWO ";"), "no pixels"},
        {FILE_OF("GIF89a\2\0\1\0\x80\0\0" COLOURS "x,\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";"), "unknown kind"},
        {FILE_OF("GIF89a\2\0\1\0\x80\0\0" COLOURS ";"), "no picture"},
        {FILE_OF("GIF89a\2\0\1\0\0\0\0,\0\0\0\0\2\0\1\0\0" DATA_OF_TWO ";"), "palette"},
        {FILE_OF("GIF89a\2\0\2\0\x80\0\0" COLOURS ",\0\0\0\0\2\0\2\0\0" DATA_OF_TWO ";"), "damaged"},
        {FILE_OF("GIF89a\2\0\1\0\x80\0\0" COLOURS ",\0\0\0\0\2\0\1\0\0\2\2\x44"), "truncated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_error(cases[i].bytes, cases[i].size, SMP_E_DECODE, cases[i].says);
    assert_truncations_fail(DATA "interlaced.gif", 5);
}

SMP_TEST(changed_bytes_never_crash)
{
    static const char *const names[] = {DATA "interlaced.gif", DATA "plain.gif", DATA "moving.gif"};
    uint32_t seed = 9;
    for (size_t f = 0; f < 3; f++)
        assert_changes_never_crash(names[f], 6, 200, &seed);
}

SMP_TEST(limits_and_lack_of_memory_are_errors)
{
    smp_error err = {0};
    smp_reader *reader;
    size_t size;
    uint8_t *file = load(DATA "plain.gif", &size);
    smp_read_options how = smp_read_defaults();
    how.limits.max_pixels = 700;
    assert_int_equal(smp_reader_open_memory(file, size, &how, &reader, &err), SMP_E_LIMIT);
    free(file);
    assert_allocation_failures_are_clean(DATA "interlaced.gif");
}

#else

SMP_TEST(a_build_without_the_library_names_the_format)
{
    expect_error(FILE_OF("GIF89a.........."), SMP_E_DECODE, "is a GIF");
    expect_error(FILE_OF("GIF89a.........."), SMP_E_DECODE, "not supported");
}

#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
