/* threshold: the level, Otsu's method as OpenCV finds it, and that variants and storages agree. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_threshold;

typedef struct params { /* as the stage declares them */
    double value;
    int method;
} params;

static const params half = {.value = 0.5}, otsu = {.value = 0.5, .method = 1};

static void run(const params *p, smp_shape shape, smp_format storage, const float *values, float *out)
{
    const kernel_case c = {
        .stage = &smp_stage_threshold, .params = p, .in = shape, .in_storage = storage, .out_storage = storage};
    kernel_case_samples(&c, values, out, NULL);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    kernel_case_matrix(&smp_stage_threshold, &half, 9, 4);
    kernel_case_matrix(&smp_stage_threshold, &otsu, 3, 2);
    kernel_case c = kernel_case_in(&smp_stage_threshold, &otsu, case_shape(257, 12, 3, SMP_F32));
    c.values = CASE_ANY;
    kernel_case_check(&c);
}

SMP_TEST(from_the_level_on_it_is_white)
{
    float got[4];
    run(&half, case_shape(4, 1, 1, SMP_U8), SMP_U8, (const float[]){127, 128, 0, 255}, got);
    assert_true(got[0] == 0 && got[1] == 255 && got[2] == 0 && got[3] == 255);
    run(&half, case_shape(4, 1, 1, SMP_U8), SMP_F32, (const float[]){127.4f, 127.5f, NAN, INFINITY}, got);
    assert_true(got[0] == 0 && got[1] == 255 && got[2] == 0 && got[3] == 255);
    run(&half, case_shape(4, 1, 1, SMP_F32), SMP_F32, (const float[]){0.4999f, 0.5f, -1, 3}, got);
    assert_true(got[0] == 0 && got[1] == 1 && got[2] == 0 && got[3] == 1);
    run(&(params){.value = 0}, case_shape(2, 1, 2, SMP_U8), SMP_U8, (const float[]){0, 3, 9, 200}, got);
    assert_true(got[0] == 255 && got[1] == 3 && got[2] == 255 && got[3] == 200); /* alpha stays */
}

SMP_TEST(otsu_as_opencv_finds_it)
{
    /* cv2.threshold(values, 0, 255, THRESH_OTSU): 60; white is what lies above */
    static const float values[] = {10, 20, 20, 30, 60, 180, 190, 200, 201, 210, 58, 140};
    float got[12];
    run(&otsu, case_shape(12, 1, 1, SMP_U8), SMP_U8, values, got);
    for (int i = 0; i < 12; i++)
        assert_true(got[i] == (values[i] > 60 ? 255 : 0));
    run(&otsu, case_shape(12, 1, 1, SMP_U8), SMP_F32, values, got);
    for (int i = 0; i < 12; i++)
        assert_true(got[i] == (values[i] > 60 ? 255 : 0));
    float wide[12];
    for (int i = 0; i < 12; i++)
        wide[i] = values[i] * 257;
    run(&otsu, case_shape(12, 1, 1, SMP_U16), SMP_U16, wide, got);
    for (int i = 0; i < 12; i++)
        assert_true(got[i] == (values[i] > 60 ? 65535 : 0));
    for (int i = 0; i < 12; i++)
        wide[i] = values[i] / 255;
    run(&otsu, case_shape(12, 1, 1, SMP_F32), SMP_F32, wide, got);
    for (int i = 0; i < 12; i++)
        assert_true(got[i] == (values[i] > 60 ? 1 : 0));
}

SMP_TEST(channels_have_levels_of_their_own)
{
    float got[12];
    run(&otsu, case_shape(4, 1, 3, SMP_U8), SMP_U8, (const float[]){1, 100, 0, 2, 200, 0, 1, 100, 0, 2, 200, 0}, got);
    for (int i = 0; i < 4; i++) {
        assert_true(got[3 * i] == (i % 2 ? 255 : 0));
        assert_true(got[3 * i + 1] == (i % 2 ? 255 : 0));
        assert_true(got[3 * i + 2] == 0); /* black alone stays black */
    }
}

SMP_TEST(a_level_beside_otsu_is_refused)
{
    const smp_shape shape = case_shape(2, 2, 1, SMP_U8);
    smp_node_plan plan = {.out = shape, .access = SMP_ADJUST};
    smp_error err = {0};
    assert_int_equal(smp_stage_threshold.check(&(params){.value = 0.3, .method = 1}, &err), SMP_E_PIPE);
    assert_int_equal(smp_stage_threshold.plan(&half, &shape, NULL, &plan, &err), SMP_OK);
    assert_int_equal(plan.access, SMP_POINT);
}
