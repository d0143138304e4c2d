/* spectrogram: a chirp's line, levels, silence and edges; and that variants, instruction sets, strips and GPU kernels
 * give the same bits. */
#include <math.h>

#include "suite.h"

#include "gpu_case.h"
#include "matrix_case.h"

#include "audio/spectrogram.h"
#include "base/text/font.h"

extern const smp_stage smp_stage_spectrogram;

enum { RATE = 8000 };
static const double pi = 3.14159265358979323846;

/* The picture that a statement makes of a sound, on the CPU. */
static picture shown(const char *statement, const picture *in, const smp_shape *shape)
{
    smp_device *device = gpu_reference();
    smp_program *program = parse_lines(&statement, 1);
    smp_plan *plan = NULL;
    outcome o = {0};
    assert_non_null(program);
    assert_true(plan_lines(program, shape, false, &plan));
    run_plan(plan, in, "register", 0, device, &o);
    smp_run_report_free(&o.report);
    smp_plan_free(plan);
    smp_program_free(program);
    return o.out;
}

static int64_t brightest_row(const picture *p, int64_t x, int64_t first, int64_t rows)
{
    int64_t best = first;
    for (int64_t y = first; y < first + rows; y++)
        if (picture_get(p, x, y, 0) > picture_get(p, x, best, 0))
            best = y;
    return best;
}

/* ------------------------------------------------------------------------------------------------ what it shows */

SMP_TEST(a_chirp_is_a_line_from_its_first_frequency_to_its_last)
{
    const smp_shape shape = case_sound(RATE, 2, RATE); /* the second channel falls where the first one rises */
    picture in = picture_make(&shape, SMP_F32);
    for (int i = 0; i < RATE; i++) {
        const double t = (double)i / RATE;
        picture_set(&in, 0, i, 0, (float)(0.5 * sin(2 * pi * (500 * t + 1250 * t * t)))); /* 500 to 3000 Hz */
        picture_set(&in, 0, i, 1, (float)(0.5 * sin(2 * pi * (3000 * t - 1250 * t * t))));
    }
    picture out = shown("spectrogram size=256 hop=100 colors=none", &in, &shape);
    assert_int_equal(out.view.width, 80);
    assert_int_equal(out.view.height, 256);
    for (int x = 2; x < 78; x++) {
        const double rising = 500 + 2500 * x * 100. / RATE, falling = 3500 - rising;
        assert_true(fabs((double)(127 - brightest_row(&out, x, 0, 128)) - rising * 256 / RATE) <= 1);
        assert_true(fabs((double)(255 - brightest_row(&out, x, 128, 128)) - falling * 256 / RATE) <= 1);
    }
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(levels_are_those_of_sine_waves)
{
    static const char *const statements[] = {
        "spectrogram size=64 hop=64 colors=none range=80dB", "spectrogram size=64 hop=64 colors=none levels=linear",
        "spectrogram size=64 hop=64 colors=none range=80dB window=blackman",
        "spectrogram size=62 hop=64 colors=none range=40dB top=-20dB window=rectangular"};
    static const double levels[] = {60. / 80, 0.1, 60. / 80, 1};
    const smp_shape shape = case_sound(640, 1, RATE);
    for (int s = 0; s < 4; s++) {
        const double size = s == 3 ? 62 : 64;
        picture in = picture_make(&shape, SMP_F32);
        for (int i = 0; i < 640; i++) /* bin 8, -20 dB */
            picture_set(&in, 0, i, 0, (float)(0.1 * sin(2 * pi * 8 * i / size + 1)));
        picture out = shown(statements[s], &in, &shape);
        assert_int_equal(out.view.height, (int64_t)size / 2);
        assert_float_equal(picture_get(&out, 5, out.view.height - 1 - 8, 0), levels[s], 1e-4);
        assert_true(picture_get(&out, 5, 2, 0) < 0.05f);
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(a_constant_is_the_lowest_row_and_silence_is_black)
{
    const smp_shape shape = case_sound(300, 1, RATE);
    picture in = picture_make(&shape, SMP_F32);
    for (int i = 0; i < 300; i++)
        picture_set(&in, 0, i, 0, i < 150 ? 1.f : 0.f);
    picture out = shown("spectrogram size=32 hop=50 colors=none", &in, &shape);
    assert_int_equal(out.view.width, 6);
    assert_float_equal(picture_get(&out, 1, 15, 0), 1.f, 1e-4);
    for (int y = 0; y < 16; y++)
        assert_float_equal(picture_get(&out, 5, y, 0), 0.f, 0);
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(colors_grow_lighter_and_gray_is_the_level)
{
    const smp_shape shape = case_sound(256, 1, RATE);
    picture in = picture_make(&shape, SMP_F32);
    for (int i = 0; i < 256; i++)
        picture_set(&in, 0, i, 0, (float)(sin(2 * pi * i / 8) * exp(-i / 20.)));
    picture level = shown("spectrogram size=32 hop=8 colors=none", &in, &shape);
    picture gray = shown("spectrogram size=32 hop=8 colors=gray axes=no", &in, &shape);
    picture fire = shown("spectrogram size=32 hop=8 axes=no", &in, &shape);
    assert_int_equal(fire.view.channels, 3);
    float lights[256]; /* of each level that occurs */
    for (int i = 0; i < 256; i++)
        lights[i] = -1;
    for (int64_t y = 0; y < level.view.height; y++)
        for (int64_t x = 0; x < level.view.width; x++) {
            const float here = picture_get(&level, x, y, 0);
            assert_float_equal(picture_get(&gray, x, y, 0), rintf(here * 255), 0);
            float light = picture_get(&fire, x, y, 0) + picture_get(&fire, x, y, 1) + picture_get(&fire, x, y, 2);
            lights[(int)rintf(here * 255)] = light;
        }
    float before = -1;
    for (int i = 0; i < 256; i++)
        if (lights[i] >= 0) {
            assert_true(lights[i] >= before - 1); /* each of the three is rounded */
            before = lights[i];
        }
    assert_float_equal(lights[0], 0, 0);
    picture_free(&in);
    picture_free(&level);
    picture_free(&gray);
    picture_free(&fire);
}

SMP_TEST(an_odd_size_is_refused)
{
    const char *odd = "spectrogram size=33", *even = "spectrogram size=34";
    smp_program *program = parse_lines(&even, 1);
    assert_non_null(program);
    smp_program_free(program);
    assert_null(parse_lines(&odd, 1));
}

/* How many pixels of a picture have the ink's colour where a text is, and lack it where it has none. */
static int64_t agrees(const picture *p, int64_t x, int64_t y, const char *text)
{
    int64_t count = 0;
    for (; *text; text++, x += SMP_FONT_WIDTH)
        for (int row = 0; row < SMP_FONT_HEIGHT; row++)
            for (int column = 0; column < SMP_FONT_WIDTH; column++)
                count += (smp_font_glyph((uint8_t)*text)[row] >> (7 - column) & 1) ==
                         (picture_get(p, x + column, y + row, 0) > 254);
    return count;
}

static bool says(const picture *p, const char *text)
{
    const int64_t all = (int64_t)strlen(text) * SMP_FONT_WIDTH * SMP_FONT_HEIGHT;
    for (int64_t y = 0; y + SMP_FONT_HEIGHT <= p->view.height; y++)
        for (int64_t x = 0; x + (int64_t)strlen(text) * SMP_FONT_WIDTH <= p->view.width; x++)
            if (agrees(p, x, y, text) == all)
                return true;
    return false;
}

SMP_TEST(axes_lie_round_the_same_picture)
{
    const smp_shape shape = case_sound(3 * RATE, 2, RATE);
    picture in = picture_make(&shape, SMP_F32);
    for (int i = 0; i < 3 * RATE; i++)
        picture_set(&in, 0, i, 0, (float)(0.5 * sin(2 * pi * i / 8)));
    picture plain = shown("spectrogram size=256 hop=100 axes=no", &in, &shape);
    picture framed = shown("spectrogram size=256 hop=100", &in, &shape);
    const int64_t left = 46, top = 16; /* of a picture with small letters */
    assert_int_equal(framed.view.width - plain.view.width, 46 + 56);
    assert_int_equal(framed.view.height - plain.view.height, 16 + 20);
    for (int64_t y = 0; y < plain.view.height; y++)
        for (int64_t x = 0; x < plain.view.width; x++)
            for (int c = 0; c < 3; c++)
                assert_float_equal(picture_get(&framed, left + x, top + y, c), picture_get(&plain, x, y, c), 0);
    static const char *const labels[] = {"Hz", "dB", "s", "1", "2", "1k", "3k", "-80", "-40"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (!says(&framed, labels[i]))
            fail_msg("no label %s", labels[i]);
    assert_false(says(&framed, "4k")); /* half the rate is above the highest row */
    const int64_t bar = left + plain.view.width + 4, bottom = top + plain.view.height - 1;
    assert_float_equal(picture_get(&framed, bar, top, 1), 255, 0);
    assert_float_equal(picture_get(&framed, bar, bottom, 1), 0, 0);
    for (int64_t y = top; y < bottom; y++) /* the bar grows lighter upwards */
        assert_true(picture_get(&framed, bar, y, 0) >= picture_get(&framed, bar, y + 1, 0));
    picture_free(&in);
    picture_free(&plain);
    picture_free(&framed);
}

SMP_TEST(a_clock_is_below_a_long_sound)
{
    const smp_shape shape = case_sound(100 * 200, 1, RATE);
    picture in = picture_make(&shape, SMP_F32);
    picture slow =
        shown("spectrogram size=16 hop=100", &in,
              &(smp_shape){
                  .kind = SMP_AUDIO, .width = 1, .height = 100 * 200, .channels = 1, .format = SMP_F32, .rate = 100});
    assert_true(says(&slow, "0:00") && says(&slow, "3:00") && says(&slow, "min:s"));
    picture_free(&in);
    picture_free(&slow);
}

/* ------------------------------------------------------------------------------------------------ the same bits */

SMP_TEST(every_variant_gives_the_same_bits)
{
    static const char *const lines[] = {"spectrogram size=64 hop=16",
                                        "spectrogram size=18 hop=7 colors=none",
                                        "spectrogram size=130 hop=40 colors=gray levels=linear height=30",
                                        "spectrogram size=42 hop=30 scale=mel height=18 axes=no",
                                        "spectrogram size=258 hop=300 window=hamming",
                                        "spectrogram size=16 hop=1 scale=log axes=no"};
    static const int64_t frames[] = {1, 15, 700, 400, 2400, 150};
    for (int i = 0; i < 6; i++)
        for (int channels = 1; channels <= 2; channels++)
            gpu_line_check(lines[i], case_sound(frames[i], channels, RATE), i == 1 ? CASE_ANY : CASE_REALS,
                           (uint64_t)(i + 6 * channels));
}

SMP_TEST(every_instruction_set_gives_the_same_bits)
{
    struct { /* as the stage declares them */
        int64_t size, hop;
        int window, levels, colors;
        double range, top;
        bool smooth, axes;
        int64_t width, height;
        int scale;
    } p = {.size = 64, .hop = 5, .range = 80};
    for (int i = 0; i < 6; i++) {
        p.colors = i % 3;
        p.levels = i / 3;
        p.scale = (i + 2) % 3;
        p.axes = i % 2;
        p.height = i > 1 ? 25 : 0;
        kernel_case c = kernel_case_in(&smp_stage_spectrogram, &p, case_sound(i < 3 ? 1100 : 33, 1 + i % 3, RATE));
        c.in_storage = SMP_F32, c.out_storage = i % 3 == 2 || i == 4 ? SMP_F32 : SMP_U8;
        c.values = CASE_ANY;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
    }
}

SMP_TEST(tiles_have_no_conflicts)
{
    const gpu_case c = {.lines = {"spectrogram size=64 hop=16"}, .in = case_sound(500, 1, RATE)};
    gpu_no_conflicts(&c, "register", "spectrogram_tiled");
}
