/* gray and matrix: what they compute, how they treat alpha, what they refuse, and that variants agree. */
#include "suite.h"

#include "kernel_case.h"

#include "elementwise/channel_mix.h"

extern const smp_stage smp_stage_gray, smp_stage_matrix;

#define MATRIX(rows, cols, ...)                                                                                        \
    &(const smp_matrix)                                                                                                \
    {                                                                                                                  \
        rows, cols, (const double[])                                                                                   \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const smp_matrix *const rec709 = MATRIX(1, 3, 0.2126, 0.7152, 0.0722);
static const smp_matrix *const sepia = MATRIX(3, 3, 0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131);
static const smp_matrix *const swap = MATRIX(3, 3, 0, 0, 1, 0, 1, 0, 1, 0, 0);

/* One u8 pixel through a stage, as f32; the number of channels that come out. */
static int pixel(const smp_stage *stage, const smp_matrix *m, int channels, const float *in, float *out)
{
    const kernel_case c = {
        .stage = stage, .params = m, .in = case_shape(1, 1, channels, SMP_U8), .out_storage = SMP_F32};
    return kernel_case_samples(&c, in, out, NULL);
}

#define NEAR(a, b) assert_true(fabs((double)(a) - (b)) <= 255 * 1e-6)

SMP_TEST(gray_weighs_colours_and_keeps_alpha)
{
    float out[SMP_MAX_CHANNELS];
    assert_int_equal(pixel(&smp_stage_gray, rec709, 3, (float[]){200, 100, 50}, out), 1);
    NEAR(out[0], 0.2126 * 200 + 0.7152 * 100 + 0.0722 * 50);
    assert_int_equal(pixel(&smp_stage_gray, rec709, 4, (float[]){200, 100, 50, 7}, out), 2);
    NEAR(out[0], 0.2126 * 200 + 0.7152 * 100 + 0.0722 * 50);
    assert_true(out[1] == 7.f);
    for (int v = 0; v < 256; v++) { /* neutral colours keep their value */
        pixel(&smp_stage_gray, rec709, 3, (float[]){(float)v, (float)v, (float)v}, out);
        assert_int_equal(smp_to_u8(out[0]), v);
    }
}

SMP_TEST(matrix_mixes_and_adds_a_constant)
{
    float out[SMP_MAX_CHANNELS];
    assert_int_equal(pixel(&smp_stage_matrix, sepia, 3, (float[]){10, 20, 30}, out), 3);
    NEAR(out[2], 0.272 * 10 + 0.534 * 20 + 0.131 * 30);
    /* two rows, with a constant column: a tenth of full scale is 25.5 */
    assert_int_equal(pixel(&smp_stage_matrix, MATRIX(2, 4, 1, 0, 0, 0.1, 0, -1, 0, 1), 3, (float[]){10, 20, 30}, out),
                     2);
    NEAR(out[0], 35.5);
    NEAR(out[1], 235);
}

SMP_TEST(alpha_stays_unless_the_matrix_names_it)
{
    float out[SMP_MAX_CHANNELS];
    const float in[] = {10, 20, 30, 40};
    assert_int_equal(pixel(&smp_stage_matrix, swap, 4, in, out), 4);
    assert_true(out[0] == 30.f && out[1] == 20.f && out[2] == 10.f && out[3] == 40.f);
    assert_int_equal(pixel(&smp_stage_matrix, MATRIX(1, 4, 0, 0, 0, 1), 4, in, out), 1);
    assert_true(out[0] == 40.f);
    assert_int_equal(pixel(&smp_stage_matrix, MATRIX(1, 5, 0, 0, 0, 1, 1), 4, in, out), 1);
    assert_true(out[0] == 295.f);
    const kernel_case names_it = {.stage = &smp_stage_matrix,
                                  .params = MATRIX(4, 4, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5),
                                  .in = case_shape(1, 1, 4, SMP_U8)},
                      extracts = {.stage = &smp_stage_matrix,
                                  .params = MATRIX(1, 4, 0, 0, 0, 1),
                                  .in = case_shape(1, 1, 4, SMP_U8)};
    assert_true(case_plan(&names_it).out.alpha);
    assert_false(case_plan(&extracts).out.alpha);
}

SMP_TEST(plans_know_what_is_exact_and_what_clips)
{
    const smp_shape in = case_shape(1, 1, 3, SMP_U8);
    const kernel_case picks = {.stage = &smp_stage_matrix, .params = swap, .in = in},
                      mixes = {.stage = &smp_stage_matrix, .params = sepia, .in = in},
                      falls = {.stage = &smp_stage_matrix, .params = MATRIX(1, 3, 1, -0.1, 0), .in = in},
                      luma = {.stage = &smp_stage_gray, .params = rec709, .in = in},
                      gray = {.stage = &smp_stage_gray, .params = rec709, .in = case_shape(1, 1, 2, SMP_U8)};
    assert_int_equal(case_plan(&picks).values.exactness, SMP_INTEGER);
    assert_false(case_plan(&picks).values.clips);
    assert_int_equal(case_plan(&mixes).values.exactness, SMP_REAL);
    assert_true(case_plan(&mixes).values.clips);
    assert_true(case_plan(&falls).values.clips);
    assert_false(case_plan(&luma).values.clips);
    assert_true(case_plan(&gray).effect.none);
}

SMP_TEST(what_does_not_fit_is_refused_with_a_hint)
{
    const smp_shape rgba = case_shape(4, 4, 4, SMP_U8), five = case_shape(4, 4, 5, SMP_U8);
    smp_node_plan plan = {.out = rgba};
    smp_error err = {0};
    assert_int_equal(smp_stage_matrix.plan(MATRIX(1, 2, 1, 1), &rgba, NULL, &plan, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "a 1 x 2 matrix does not fit 4 channels with alpha");
    assert_string_equal(err.hint,
                        "use 3 columns (colour), 4 (colour and alpha) or 5 (and a constant), and at most 8 rows");
    assert_int_equal(smp_stage_matrix.plan(MATRIX(9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), &five, NULL, &plan, &err),
                     SMP_E_PIPE);
    assert_int_equal(smp_stage_gray.plan(rec709, &five, NULL, &plan, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "3 weights for a picture of 5 colour channels");
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const double weights[] = {0.5,  -0.25, 0.125, 0.3, 0.7,  -1.5,  0.2,   0.1, 0.33, 0.9, 0.4, -0.6,
                                     0.15, 0.05,  1,     0,   0.77, 0.011, -0.35, 2,   0.6,  0.8, 0.2, 0.1,
                                     0.5,  -0.25, 0.125, 0.3, 0.7,  -1.5,  0.2,   0.1, 0.33, 0.9, 0.4, -0.6,
                                     0.15, 0.05,  1,     0,   0.77, 0.011, -0.35, 2,   0.6,  0.8, 0.2, 0.1,
                                     0.5,  -0.25, 0.125, 0.3, 0.7,  -1.5,  0.2,   0.1, 0.33, 0.9, 0.4, -0.6};
    smp_format nominal, in, out;
    for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
        for (int channels = 1; channels <= 6; channels++)
            for (int rows = 1; rows <= 5; rows++)
                for (int more = 0; more < 2; more++) {
                    smp_matrix m = {rows, channels + more, weights};
                    kernel_case c = {.stage = &smp_stage_matrix, .params = &m, .seed = (uint64_t)rows};
                    c.in = case_shape(61, 45, channels, nominal);
                    c.in_storage = in;
                    c.out_storage = out;
                    c.values = in == SMP_F32 ? CASE_ANY : CASE_CODES;
                    kernel_case_check(&c);
                    if (!c.in.alpha || more)
                        continue;
                    m.cols = channels - 1; /* colour alone */
                    kernel_case_check(&c);
                }
}

SMP_TEST(gray_at_every_awkward_size)
{
    int64_t width, height;
    smp_format nominal, in, out;
    for (int s = 0; case_size(s, 32, &width, &height); s++)
        for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
            for (int channels = 3; channels <= 4; channels++) {
                kernel_case c = {.stage = &smp_stage_gray, .params = rec709};
                c.in = case_shape(width, height, channels, nominal);
                c.in_storage = in;
                c.out_storage = out;
                c.values = in == SMP_F32 ? CASE_REALS : CASE_CODES;
                kernel_case_check(&c);
            }
}
