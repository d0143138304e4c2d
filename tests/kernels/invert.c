/* invert: the negative, and what is counted as clipped. */
#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_invert;

SMP_TEST(full_scale_minus_the_sample_and_alpha_stays)
{
    const kernel_case c = {.stage = &smp_stage_invert, .in = case_shape(3, 2, 4, SMP_U8)};
    float in[24], out[24];
    for (int i = 0; i < 24; i++)
        in[i] = (float)(i * 11);
    kernel_case_samples(&c, in, out, NULL);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == (i % 4 == 3 ? in[i] : 255.f - in[i]));
}

SMP_TEST(samples_outside_the_range_are_counted)
{
    const kernel_case c = {
        .stage = &smp_stage_invert, .in = case_shape(3, 2, 1, SMP_U8), .in_storage = SMP_F32, .out_storage = SMP_U8};
    float out[6];
    uint64_t clipped;
    kernel_case_samples(&c, (const float[]){9, -1, 7, NAN, 0, 300}, out, &clipped);
    assert_int_equal(clipped, 3);
    assert_true(out[1] == 255.f && out[5] == 0.f);
}
