/* gamma, srgb_decode, srgb_encode: against their formulas in double, fixed points, round trips, and that variants
 * agree. */
#include "suite.h"

#include "kernel_case.h"

#include "elementwise/tone_curve.h"

extern const smp_stage smp_stage_gamma, smp_stage_srgb_decode, smp_stage_srgb_encode;

static const smp_light_params srgb = {SMP_CURVE_SRGB};
static const struct {
    double g;
} gamma_22 = {2.2}, gamma_half = {0.5}, gamma_1 = {1};

static double exact_linear(double s)
{
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}
static double exact_encoded(double s)
{
    return s <= 0.0031308 ? s * 12.92 : 1.055 * pow(s, 1 / 2.4) - 0.055;
}

SMP_TEST(transfer_functions_are_within_their_stated_error)
{
    double worst = 0;
    for (uint32_t bits = 0x20000000u; bits < 0x42000000u; bits += 331) { /* 1e-19 to 32 */
        float s = smp_from_bits(bits);
        for (int32_t kind = SMP_TONE_CURVE_LINEAR; kind <= SMP_TONE_CURVE_ENCODED; kind++) {
            double want = kind == SMP_TONE_CURVE_LINEAR ? exact_linear((double)s) : exact_encoded((double)s);
            /* Next to its corner the standard's own two branches differ by 2e-7; f32 0.04045 is not 0.04045. */
            double error = fabs((double)smp_tone_curve_value(kind, 0, s, 1.f) / want - 1);
            worst = error > worst ? error : worst;
            if (!(error <= 1e-6))
                fail_msg("curve %d of %a: %a, not %a", (int)kind, (double)s,
                         (double)smp_tone_curve_value(kind, 0, s, 1.f), want);
        }
    }
    print_message("worst relative error of the transfer functions: %.2e\n", worst);
}

SMP_TEST(black_and_white_are_exact)
{
    static const float whites[] = {255.f, 65535.f, 1.f};
    for (int32_t kind = SMP_TONE_CURVE_POWER; kind <= SMP_TONE_CURVE_ENCODED; kind++)
        for (int w = 0; w < 3; w++) {
            assert_true(smp_tone_curve_value(kind, 0.7f, 0.f, whites[w]) == 0.f);
            assert_true(smp_tone_curve_value(kind, 0.7f, whites[w], whites[w]) == whites[w]);
            assert_true(smp_tone_curve_value(kind, 0.7f, -whites[w], whites[w]) == -whites[w]);
        }
}

SMP_TEST(every_integer_survives_the_way_to_linear_light_and_back)
{
    for (int v = 0; v < 65536; v++) {
        float there = smp_tone_curve_value(SMP_TONE_CURVE_LINEAR, 0, (float)v, 65535.f);
        if (smp_to_u16(smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 0, there, 65535.f)) != v)
            fail_msg("16-bit %d", v);
        if (v > 255)
            continue;
        there = smp_tone_curve_value(SMP_TONE_CURVE_LINEAR, 0, (float)v, 255.f);
        if (smp_to_u8(smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 0, there, 255.f)) != v)
            fail_msg("8-bit %d", v);
    }
}

SMP_TEST(curves_never_fall)
{
    for (int32_t kind = SMP_TONE_CURVE_POWER; kind <= SMP_TONE_CURVE_ENCODED; kind++)
        for (int v = 1; v < 65536; v++)
            assert_true(smp_tone_curve_value(kind, 1 / 2.2f, (float)v, 65535.f) >=
                        smp_tone_curve_value(kind, 1 / 2.2f, (float)(v - 1), 65535.f));
}

SMP_TEST(gamma_above_1_brightens)
{
    const kernel_case c = {.stage = &smp_stage_gamma, .params = &gamma_22, .in = case_shape(256, 1, 1, SMP_U8)};
    float in[256], out[256];
    for (int v = 0; v < 256; v++)
        in[v] = (float)v;
    kernel_case_samples(&c, in, out, NULL);
    for (int v = 0; v < 256; v++)
        assert_int_equal((int)out[v], (int)rint(255 * pow(v / 255., 1 / 2.2)));
    assert_int_equal((int)out[128], 186);
}

SMP_TEST(storage_does_not_change_the_result)
{
    const smp_stage *const stages[] = {&smp_stage_gamma, &smp_stage_srgb_decode, &smp_stage_srgb_encode};
    for (int s = 0; s < 3; s++) {
        kernel_case c = {
            .stage = stages[s], .params = s ? (const void *)&srgb : &gamma_half, .in = case_shape(64, 20, 4, SMP_U8)};
        c.out_storage = SMP_F32;
        smp_node_plan plan = case_plan(&c);
        picture bytes = picture_make(&c.in, SMP_U8), floats = picture_make(&c.in, SMP_F32);
        picture_fill(&bytes, 4, CASE_CODES);
        picture_fill(&floats, 4, CASE_CODES);
        picture by_table = picture_make(&plan.out, SMP_F32), computed = picture_make(&plan.out, SMP_F32);
        case_run(&c, &plan, &stages[s]->variants[1], SMP_ISA_BASE, &bytes, NULL, &by_table, NULL, 0, 1);
        case_run(&c, &plan, &stages[s]->variants[1], SMP_ISA_BASE, &floats, NULL, &computed, NULL, 0, 1);
        assert_true(picture_equal(&by_table, &computed));
        picture_free(&bytes);
        picture_free(&floats);
        picture_free(&by_table);
        picture_free(&computed);
        case_plan_free(&plan);
    }
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    kernel_case_matrix(&smp_stage_gamma, &gamma_22, 32, 1);
    const smp_stage *const stages[] = {&smp_stage_gamma, &smp_stage_srgb_decode, &smp_stage_srgb_encode};
    smp_format nominal, in, out;
    for (int s = 0; s < 3; s++)
        for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
            for (int channels = 1; channels <= 4; channels++) {
                kernel_case c = {.stage = stages[s], .params = s ? (const void *)&srgb : &gamma_22};
                c.in = case_shape(61, 45, channels, nominal);
                c.in_storage = in;
                c.out_storage = out;
                c.values = in == SMP_F32 ? CASE_REALS : CASE_CODES;
                kernel_case_check(&c);
            }
}

SMP_TEST(infinities_and_nan_too)
{
    const smp_stage *const stages[] = {&smp_stage_gamma, &smp_stage_srgb_decode, &smp_stage_srgb_encode};
    for (int s = 0; s < 3; s++) {
        kernel_case c = {
            .stage = stages[s], .params = s ? (const void *)&srgb : &gamma_half, .in = case_shape(61, 45, 3, SMP_F32)};
        c.in_storage = c.out_storage = SMP_F32;
        c.values = CASE_ANY;
        kernel_case_check(&c);
    }
    for (int32_t kind = SMP_TONE_CURVE_POWER; kind <= SMP_TONE_CURVE_ENCODED; kind++) {
        assert_true(smp_tone_curve_value(kind, 2.f, INFINITY, 255.f) == INFINITY);
        assert_true(smp_tone_curve_value(kind, 2.f, -INFINITY, 1.f) == -INFINITY);
        assert_true(isnan(smp_tone_curve_value(kind, 2.f, NAN, 1.f)));
    }
}

SMP_TEST(a_gamma_of_1_does_nothing)
{
    const kernel_case c = {.stage = &smp_stage_gamma, .params = &gamma_1, .in = case_shape(4, 4, 3, SMP_U8)};
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.effect.none);
    case_plan_free(&plan);
}
