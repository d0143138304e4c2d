/* posterise: the values that it leaves, ties, what is outside of the range, and that variants agree. */
#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_posterise;

typedef struct params { /* as in src/stages/posterise.c */
    int64_t levels;
    int dither;
} params;

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (params p = {.levels = 2}; p.levels <= 256; p.levels += 127)
        kernel_case_matrix(&smp_stage_posterise, &p, 8, 4);
}

SMP_TEST(every_byte_becomes_the_nearest_of_the_values)
{
    for (int64_t levels = 2; levels <= 256; levels++) {
        const params p = {.levels = levels};
        const kernel_case c = {.stage = &smp_stage_posterise, .params = &p, .in = case_shape(256, 1, 1, SMP_U8)};
        const double steps = (double)(levels - 1);
        float in[256], out[256];
        for (int v = 0; v < 256; v++)
            in[v] = (float)v;
        kernel_case_samples(&c, in, out, NULL);
        for (int v = 0; v < 256; v++)
            assert_int_equal((int)out[v], (int)rint(rint(v * steps / 255) * 255 / steps));
    }
}

SMP_TEST(ties_go_to_even_and_all_ends_in_the_range)
{
    static const float values[] = {0.5f, 0.25f, 0.75f, -3.f, 7.f, INFINITY, -INFINITY, NAN},
                       two[] = {0.f, 0.f, 1.f, 0.f, 1.f, 1.f, 0.f}, three[] = {0.5f, 0.f, 1.f, 0.f, 1.f, 1.f, 0.f};
    for (int64_t levels = 2; levels <= 3; levels++) {
        const params p = {.levels = levels};
        const kernel_case c = kernel_case_in(&smp_stage_posterise, &p, case_shape(8, 1, 1, SMP_F32));
        float out[8];
        kernel_case_samples(&c, values, out, NULL);
        assert_memory_equal(out, levels == 2 ? two : three, sizeof two);
        assert_true(isnan(out[7]));
    }
}
