/* levels: the curve, automatic points, and that variants and storages agree. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_levels;

typedef struct params { /* as the stage declares them */
    int mode, per;
    double black, white, gamma, clip;
} params;

enum { MANUAL, AUTO };
enum { PICTURE, CHANNEL };

static const params plain = {.white = 1, .gamma = 1, .clip = 0.005};

static void run(const params *p, smp_shape shape, smp_format storage, const float *values, float *out)
{
    const kernel_case c = {
        .stage = &smp_stage_levels, .params = p, .in = shape, .in_storage = storage, .out_storage = SMP_F32};
    kernel_case_samples(&c, values, out, NULL);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    params p = plain;
    p.black = 0.1;
    p.white = 0.8;
    kernel_case_matrix(&smp_stage_levels, &p, 9, 4);
    p.gamma = 2.2;
    kernel_case_matrix(&smp_stage_levels, &p, 3, 2);
    p = plain;
    p.mode = AUTO;
    p.clip = 0.03;
    kernel_case_matrix(&smp_stage_levels, &p, 3, 2);
    p.per = CHANNEL;
    p.gamma = 0.7;
    for (int k = 0; k < 8; k++) {
        kernel_case c = {.stage = &smp_stage_levels, .params = &p, .in = case_shape(61, 45, 3 + k % 2, SMP_U8)};
        case_formats(k, &c.in.format, &c.in_storage, &c.out_storage);
        kernel_case_check(&c);
    }
}

SMP_TEST(nan_stays_and_infinity_is_clamped)
{
    params p = plain;
    float got[3];
    for (int k = 0; k < 2; k++) {
        p.gamma = k ? 2 : 1;
        run(&p, case_shape(3, 1, 1, SMP_F32), SMP_F32, (const float[]){NAN, INFINITY, -INFINITY}, got);
        assert_true(isnan(got[0]) && got[1] == 1 && got[2] == 0);
        kernel_case c = kernel_case_in(&smp_stage_levels, &p, case_shape(257, 5, 4, SMP_F32));
        c.values = CASE_ANY;
        kernel_case_check(&c);
    }
}

SMP_TEST(points_and_gamma_follow_the_formula)
{
    params p = plain;
    p.black = 0.2;
    p.white = 0.6;
    float got[256], values[256];
    for (int i = 0; i < 256; i++)
        values[i] = (float)i;
    for (double gamma = 0.5; gamma < 3; gamma += 0.5) {
        p.gamma = gamma;
        run(&p, case_shape(256, 1, 1, SMP_U8), SMP_U8, values, got);
        for (int i = 0; i < 256; i++) {
            double t = fmin(fmax((i / 255. - 0.2) / 0.4, 0), 1), want = 255 * pow(t, 1 / gamma);
            assert_true(fabs((double)got[i] - want) < 1e-4 * 255);
        }
        assert_true(got[51] == 0 && got[0] == 0 && got[153] == 255 && got[255] == 255);
    }
    p = (params){.black = 1, .white = 0, .gamma = 1, .clip = 0.005}; /* a negative */
    run(&p, case_shape(256, 1, 1, SMP_U8), SMP_U8, values, got);
    assert_true(got[0] == 255 && got[255] == 0 && got[55] == 200);
}

/* 200 samples: 10 of value 20, 180 spread over 60..99, 10 of value 250. */
static void fill(float *values, int channels)
{
    for (int i = 0; i < 200; i++)
        for (int c = 0; c < channels; c++)
            values[i * channels + c] = i < 10 ? 20 : i < 190 ? (float)(60 + i % 40) : 250;
}

SMP_TEST(automatic_points_leave_out_the_clipped_share)
{
    params p = plain;
    float values[600], got[600];
    fill(values, 1);
    p.mode = AUTO;
    p.clip = 0.049; /* 9.8 samples: the tails of 10 are more */
    run(&p, case_shape(200, 1, 1, SMP_U8), SMP_U8, values, got);
    assert_true(got[0] == 0 && got[199] == 255 && fabsf(got[10] - (values[10] - 20) * 255 / 230) < 1e-3f);
    p.clip = 0.05; /* just the tails */
    run(&p, case_shape(200, 1, 1, SMP_U8), SMP_U8, values, got);
    for (int i = 0; i < 200; i++) {
        float want = (values[i] - 60) * 255 / 39;
        want = want < 0 ? 0 : want > 255 ? 255 : want;
        assert_true(fabsf(got[i] - want) < 1e-3f);
    }
    float same[200];
    run(&p, case_shape(200, 1, 1, SMP_U8), SMP_F32, values, same);
    assert_memory_equal(got, same, sizeof same); /* storage does not matter */
}

SMP_TEST(channels_together_keep_colours_and_apart_remove_a_cast)
{
    params p = plain;
    p.mode = AUTO;
    p.clip = 0;
    static const float values[] = {20, 50, 20, 0, 120, 100, 60, 90, 70, 90, 40, 7}; /* alpha last */
    float got[12];
    run(&p, case_shape(3, 1, 4, SMP_U8), SMP_U8, values, got); /* 20 to 120 */
    for (int i = 0; i < 12; i++)
        assert_true(fabsf(got[i] - (i % 4 == 3 ? values[i] : (values[i] - 20) * 2.55f)) < 1e-3f);
    p.per = CHANNEL;
    run(&p, case_shape(3, 1, 4, SMP_U8), SMP_U8, values, got); /* 20 to 120, 50 to 100, 20 to 60 */
    static const float want[] = {0, 0, 0, 0, 255, 255, 255, 90, 127.5f, 204, 127.5f, 7};
    for (int i = 0; i < 12; i++)
        assert_true(fabsf(got[i] - want[i]) < 1e-3f);
}

SMP_TEST(a_picture_of_one_value_stays)
{
    params p = plain;
    p.mode = AUTO;
    float got[3];
    run(&p, case_shape(3, 1, 1, SMP_U8), SMP_U8, (const float[]){77, 77, 77}, got);
    assert_true(got[0] == 77 && got[2] == 77);
}

SMP_TEST(contradictions_are_refused)
{
    const smp_shape shape = case_shape(2, 2, 1, SMP_U8);
    smp_node_plan plan = {.out = shape};
    smp_error err = {0};
    params p = plain;
    p.mode = AUTO;
    p.black = 0.1;
    assert_int_equal(smp_stage_levels.check(&p, &err), SMP_E_PIPE);
    p.mode = MANUAL;
    p.white = 0.1;
    assert_int_equal(smp_stage_levels.check(&p, &err), SMP_E_PIPE);
    p.white = p.black + 1e-12; /* an infinite scale, nearly */
    assert_int_equal(smp_stage_levels.check(&p, &err), SMP_E_PIPE);
    p.white = 0.2;
    plan.access = SMP_ADJUST;
    assert_int_equal(smp_stage_levels.plan(&p, &shape, NULL, &plan, &err), SMP_OK);
    assert_int_equal(plan.access, SMP_POINT);
    assert_int_equal(plan.reduction.kind, SMP_RESULT_NONE);
}
