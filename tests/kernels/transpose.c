/* transpose, transverse, rotate, flip, orient: where every pixel goes, and that variants agree. */
#include "suite.h"

#include "kernel_case.h"

#include "geometry/transpose.h"

extern const smp_stage smp_stage_transpose, smp_stage_transverse, smp_stage_rotate, smp_stage_flip, smp_stage_orient;

/* As the parameter tables lay them out. */
static const struct {
    int quarters;
} by_90 = {1}, by_180 = {2}, by_270 = {3};
static const struct {
    int direction;
} horizontal = {0}, vertical = {1};
static const smp_orient_params orientations[] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};

static kernel_case case_of(const smp_stage *stage, const void *params, int64_t width, int64_t height, int channels,
                           smp_format format)
{
    kernel_case c = kernel_case_in(stage, params, case_shape(width, height, channels, format));
    c.values = format == SMP_F32 ? CASE_ANY : CASE_CODES;
    c.seed = 3;
    return c;
}

/* An 8 x 3 picture of numbers 0..23 in reading order; `first` and `last` rows and the size are what must come out. */
static void expect(const smp_stage *stage, const void *params, int64_t width, int64_t height, const int *corners)
{
    kernel_case c = case_of(stage, params, 8, 3, 1, SMP_U8);
    picture in = picture_make(&c.in, SMP_U8), out;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 8; x++)
            picture_set(&in, x, y, 0, (float)(8 * y + x));
    kernel_case_naive(&c, &in, NULL, &out);
    assert_int_equal(out.view.width, width);
    assert_int_equal(out.view.height, height);
    assert_int_equal((int)picture_get(&out, 0, 0, 0), corners[0]);
    assert_int_equal((int)picture_get(&out, width - 1, 0, 0), corners[1]);
    assert_int_equal((int)picture_get(&out, 0, height - 1, 0), corners[2]);
    assert_int_equal((int)picture_get(&out, width - 1, height - 1, 0), corners[3]);
    assert_int_equal((int)picture_get(&out, 1, 0, 0), corners[4]); /* right of the first */
    picture_free(&in);
    picture_free(&out);
}

/*  0  1 ..  7
 *  8  9 .. 15
 * 16 17 .. 23 */
SMP_TEST(corners_go_where_the_definition_says)
{
    expect(&smp_stage_transpose, NULL, 3, 8, (int[]){0, 16, 7, 23, 8});
    expect(&smp_stage_transverse, NULL, 3, 8, (int[]){23, 7, 16, 0, 15});
    expect(&smp_stage_rotate, &by_90, 3, 8, (int[]){16, 0, 23, 7, 8});
    expect(&smp_stage_rotate, &by_180, 8, 3, (int[]){23, 16, 7, 0, 22});
    expect(&smp_stage_rotate, &by_270, 3, 8, (int[]){7, 23, 0, 16, 15});
    expect(&smp_stage_flip, &horizontal, 8, 3, (int[]){7, 0, 23, 16, 6});
    expect(&smp_stage_flip, &vertical, 8, 3, (int[]){16, 23, 0, 7, 17});
    expect(&smp_stage_orient, &orientations[0], 8, 3, (int[]){0, 7, 16, 23, 1});
    expect(&smp_stage_orient, &orientations[1], 8, 3, (int[]){7, 0, 23, 16, 6});
    expect(&smp_stage_orient, &orientations[2], 8, 3, (int[]){23, 16, 7, 0, 22});
    expect(&smp_stage_orient, &orientations[3], 8, 3, (int[]){16, 23, 0, 7, 17});
    expect(&smp_stage_orient, &orientations[4], 3, 8, (int[]){0, 16, 7, 23, 8});
    expect(&smp_stage_orient, &orientations[5], 3, 8, (int[]){16, 0, 23, 7, 8});
    expect(&smp_stage_orient, &orientations[6], 3, 8, (int[]){23, 7, 16, 0, 15});
    expect(&smp_stage_orient, &orientations[7], 3, 8, (int[]){7, 23, 0, 16, 15});
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (int i = 0; i < 8; i++)
        kernel_case_matrix(&smp_stage_orient, &orientations[i], SMP_TRANSPOSE_TILE, 4);
}

/* Pixels of 5 to 32 bytes, whose tiles are smaller. */
SMP_TEST(many_channels_move_too)
{
    smp_format nominal, in, out;
    for (int i = 1; i < 8; i++)
        for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
            for (int channels = 5; channels <= 8; channels++) {
                kernel_case c = case_of(&smp_stage_orient, &orientations[i], 61, 45, channels, nominal);
                c.in_storage = in;
                c.out_storage = out;
                c.values = in == SMP_F32 ? CASE_REALS : CASE_CODES;
                kernel_case_check(&c);
            }
}

SMP_TEST(float_samples_keep_every_bit)
{
    for (int i = 0; i < 8; i++) {
        kernel_case c = case_of(&smp_stage_orient, &orientations[i], 33, 17, 3, SMP_F32);
        kernel_case_check(&c);
    }
}

/* Results of 32 MB and more are written past the caches; rows that do not begin with a cache line, too. */
SMP_TEST(large_pictures_move_too)
{
    const smp_stage *stages[] = {&smp_stage_transpose, &smp_stage_flip, &smp_stage_rotate};
    const void *params[] = {NULL, &horizontal, &by_270};
    for (int s = 0; s < 3; s++) {
        const kernel_case c = case_of(stages[s], params[s], 2903, 2901, 1, SMP_F32);
        picture in = picture_make(&c.in, SMP_F32), want, got;
        picture_fill(&in, 3, CASE_CODES);
        kernel_case_naive(&c, &in, NULL, &want);
        smp_node_plan plan = case_plan(&c);
        for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS; isa++) {
            if (!case_has_isa(isa))
                continue;
            got = picture_make(&plan.out, SMP_F32);
            case_run(&c, &plan, &c.stage->variants[1], isa, &in, NULL, &got, NULL, 0, 1);
            assert_true(picture_equal(&want, &got) && picture_guards_hold(&got));
            picture_free(&got);
        }
        case_plan_free(&plan);
        picture_free(&want);
        picture_free(&in);
    }
}

SMP_TEST(four_quarter_turns_are_the_identity)
{
    for (smp_format format = SMP_U8; format < SMP_FORMATS; format++)
        for (int channels = 1; channels <= 4; channels++) {
            kernel_case c = case_of(&smp_stage_rotate, &by_90, 61, 45, channels, format);
            picture first = picture_make(&c.in, format), turned[5];
            picture_fill(&first, 9, c.values);
            turned[0] = first;
            for (int i = 0; i < 4; i++) {
                kernel_case_naive(&c, &turned[i], NULL, &turned[i + 1]);
                c.in.width = turned[i + 1].view.width;
                c.in.height = turned[i + 1].view.height;
            }
            assert_true(picture_equal(&turned[4], &first));
            assert_false(picture_equal(&turned[2], &first));
            for (int i = 0; i < 5; i++)
                picture_free(&turned[i]);
        }
}

SMP_TEST(plans_say_what_needs_the_whole_picture)
{
    const kernel_case sideways = case_of(&smp_stage_flip, &horizontal, 4, 4, 3, SMP_U8),
                      upside_down = case_of(&smp_stage_flip, &vertical, 4, 4, 3, SMP_U8),
                      upright = case_of(&smp_stage_orient, &orientations[0], 4, 4, 3, SMP_U8);
    assert_false(case_plan(&sideways).rows.whole);
    assert_true(case_plan(&upside_down).rows.whole);
    assert_true(case_plan(&upright).effect.none);
    assert_int_equal(case_plan(&upside_down).values.exactness, SMP_MOVE);
}
