/* invert: the negative, and that its variants agree. */
#include "suite.h"

#include "kernel_case.h"

#include "elementwise/invert.h"

extern const smp_stage smp_stage_invert;

SMP_TEST(every_variant_gives_the_same_bytes)
{
    kernel_case_matrix(&smp_stage_invert, NULL, 16, 4);
}

SMP_TEST(full_scale_minus_the_sample_and_alpha_stays)
{
    const kernel_case c = {.stage = &smp_stage_invert, .in = case_shape(3, 2, 4, SMP_U8)};
    picture in = picture_make(&c.in, SMP_U8), out;
    picture_fill(&in, 5, CASE_CODES);
    kernel_case_naive(&c, &in, NULL, &out);
    for (int64_t y = 0; y < 2; y++)
        for (int64_t x = 0; x < 3; x++)
            for (int k = 0; k < 4; k++) {
                float v = picture_get(&in, x, y, k), want = k == 3 ? v : 255.f - v;
                assert_true(picture_get(&out, x, y, k) == want);
            }
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(samples_outside_the_range_are_counted)
{
    const kernel_case c = {
        .stage = &smp_stage_invert, .in = case_shape(3, 2, 1, SMP_U8), .in_storage = SMP_F32, .out_storage = SMP_U8};
    picture in = picture_make(&c.in, SMP_F32), out;
    picture_fill(&in, 5, CASE_CODES);
    picture_set(&in, 1, 0, 0, -1.f);
    picture_set(&in, 2, 1, 0, 300.f);
    picture_set(&in, 0, 1, 0, NAN);
    assert_int_equal(kernel_case_naive(&c, &in, NULL, &out), 3);
    assert_true(picture_get(&out, 1, 0, 0) == 255.f && picture_get(&out, 2, 1, 0) == 0.f);
    picture_free(&in);
    picture_free(&out);
}
