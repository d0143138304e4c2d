/* premultiply and straight: inverse to each other, and their variants agree. */
#include "suite.h"

#include "kernel_case.h"

#include "elementwise/alpha.h"

extern const smp_stage smp_stage_premultiply, smp_stage_straight;

SMP_TEST(every_8_bit_colour_comes_back_where_alpha_is_above_0)
{
    for (int a = 1; a < 256; a++)
        for (int v = 0; v < 256; v++) {
            float there = smp_premultiply((float)v, (float)a, 255.f);
            if (smp_to_u8(smp_straight(there, (float)a, 255.f)) != v)
                fail_msg("colour %d with alpha %d", v, a);
        }
}

SMP_TEST(colours_come_back_within_the_stated_error)
{
    uint64_t seed = 5;
    for (int i = 0; i < 1000000; i++) {
        float v = (float)(case_random(&seed) % 65536), a = (float)(1 + case_random(&seed) % 65535);
        float back = smp_straight(smp_premultiply(v, a, 65535.f), a, 65535.f);
        if (!(fabsf(back - v) <= v * 0x1p-22f) || smp_to_u16(back) != (int)v)
            fail_msg("colour %g with alpha %g became %g", (double)v, (double)a, (double)back);
    }
}

SMP_TEST(colour_without_alpha_is_black)
{
    assert_true(smp_premultiply(200.f, 0.f, 255.f) == 0.f);
    assert_true(smp_straight(0.f, 0.f, 255.f) == 0.f);
    assert_true(smp_straight(3.f, 0.f, 255.f) == 0.f);
}

SMP_TEST(a_known_pixel)
{
    const kernel_case c = {.stage = &smp_stage_premultiply, .in = case_shape(1, 1, 4, SMP_U8), .out_storage = SMP_F32};
    float out[4];
    kernel_case_samples(&c, (const float[]){255, 100, 0, 51}, out, NULL); /* alpha one fifth */
    assert_true(out[0] == 51.f && out[1] == 20.f && out[2] == 0.f && out[3] == 51.f);
}

SMP_TEST(infinities_and_nan_too)
{
    const smp_stage *const stages[] = {&smp_stage_premultiply, &smp_stage_straight};
    for (int s = 0; s < 2; s++)
        for (int channels = 2; channels <= 8; channels += 2) {
            kernel_case c = {.stage = stages[s], .in = case_shape(61, 45, channels, SMP_F32)};
            c.in.alpha = true;
            c.in_storage = c.out_storage = SMP_F32;
            c.values = CASE_ANY;
            kernel_case_check(&c);
        }
}
