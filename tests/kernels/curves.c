/* curves: the points' values, what lies beyond them and is not finite, that it never swings beyond two points, and that
 * variants agree. Values between points: tests/oracle/test_tone.py. */
#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_curves;

typedef struct params { /* as in src/stages/curves.c */
    smp_matrix points;
    int shape;
} params;

static const double bent[] = {0.125, 0.25, 0.25, 0.75, 0.5, 0.5, 0.875, 1};
static const double colours[] = {0, 0, 1, 0.5, 0.5, 0.25, 0.5, 0.75, 1, 1, 0, 1};

/* The curve's values of `count` floats. */
static void curve_of(const params *p, const float *values, int count, float *out)
{
    const kernel_case c = kernel_case_in(&smp_stage_curves, p, case_shape(count, 1, 1, SMP_F32));
    kernel_case_samples(&c, values, out, NULL);
}

SMP_TEST(it_passes_its_points_and_holds_the_ends)
{
    static const float values[] = {0.125f, 0.25f, 0.5f, 0.875f, -3.f, 0.f, 2.f, INFINITY, -INFINITY, NAN},
                       want[] = {0.25f, 0.75f, 0.5f, 1.f, 0.25f, 0.25f, 1.f, 1.f, 0.25f};
    float got[10];
    for (params p = {.points = {4, 2, bent}}; p.shape < 2; p.shape++) {
        curve_of(&p, values, 10, got);
        for (int i = 0; i < 9; i++)
            assert_true(got[i] == want[i]);
        assert_true(isnan(got[9]));
    }
}

SMP_TEST(it_swings_beyond_no_two_points)
{
    enum { COUNT = 1000 };
    static const double steep[] = {0, 0, 0.5, 0.01, 0.51, 0.99, 1, 1};
    const params p = {.points = {4, 2, steep}};
    float values[COUNT], got[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i / (COUNT - 1);
    curve_of(&p, values, COUNT, got);
    for (int i = 1; i < COUNT; i++)
        assert_true(got[i] >= got[i - 1] - 1e-6f && got[i] >= 0 && got[i] <= 1);
}

SMP_TEST(each_colour_has_its_own_and_alpha_none)
{
    const params p = {.points = {3, 4, colours}};
    kernel_case c = {.stage = &smp_stage_curves, .params = &p, .in = case_shape(1, 1, 4, SMP_U8)};
    c.in.alpha = true;
    float got[4];
    kernel_case_samples(&c, (const float[]){0, 0, 0, 7}, got, NULL);
    static const float want[] = {0, 255, 128, 7};
    assert_memory_equal(got, want, sizeof want);
}
