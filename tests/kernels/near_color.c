/* key, replace, modulate and tint: what is no number, what is infinite, and values beyond the range. */
#include "suite.h"

#include "kernel_case.h"

#include "stages/shared/samples/near_color.h"

extern const smp_stage smp_stage_key, smp_stage_replace, smp_stage_modulate, smp_stage_tint;

typedef struct replace_params { /* as in src/stages/replace.c, and key.c its first */
    smp_near_params near;
    smp_matrix to;
} replace_params;

static const double color[] = {0.5, 0.25, 0}, other[] = {1, 0, 0.5};
static const replace_params replace = {.near = {.color = {1, 3, color}, .tolerance = 0.1, .soft = 0.2},
                                       .to = {1, 3, other}};

/* A float pixel through a stage, into out; the number of channels that come out. */
static int pixel(const smp_stage *stage, const void *params, const float in[3], float *out)
{
    const kernel_case c = kernel_case_in(stage, params, case_shape(1, 1, 3, SMP_F32));
    return kernel_case_samples(&c, in, out, NULL);
}

SMP_TEST(what_is_no_number_is_far_from_every_colour)
{
    static const float strange[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        float in[3] = {0.5f, 0.25f, 0.f}, out[4];
        in[k] = strange[k];
        assert_int_equal(pixel(&smp_stage_key, &replace, in, out), 4);
        assert_true(out[3] == 1.f);
        assert_int_equal(pixel(&smp_stage_replace, &replace, in, out), 3);
        for (int c = 0; c < 3; c++)
            assert_true(out[c] == in[c] || (isnan(out[c]) && isnan(in[c])));
    }
}

SMP_TEST(the_distance_is_a_root_of_a_mean)
{
    static const float off[] = {0.f, 0.17f, 0.18f, 0.52f, 0.6f}; /* of one channel: sqrt(3) times the distance */
    for (int k = 0; k < 5; k++) {
        const float in[3] = {0.5f, 0.25f + off[k], 0.f};
        const double distance = (double)off[k] / sqrt(3), beyond = (0.3 - distance) / 0.2,
                     near = distance <= 0.1 ? 1
                            : beyond > 0    ? beyond
                                            : 0;
        float out[4];
        pixel(&smp_stage_key, &replace, in, out);
        assert_true(fabs((double)out[3] - (1 - near)) < 1e-6);
        pixel(&smp_stage_replace, &replace, in, out);
        for (int c = 0; c < 3; c++)
            assert_true(fabs((double)out[c] - ((double)in[c] + near * (other[c] - (double)in[c]))) < 1e-6);
    }
}

SMP_TEST(a_colour_that_is_replaced_is_exact)
{
    float out[4];
    pixel(&smp_stage_replace, &replace, (float[]){0.5f, 0.25f, 0.f}, out);
    assert_true(out[0] == 1.f && out[1] == 0.f && out[2] == 0.5f);
}

SMP_TEST(modulate_and_tint_beyond_the_range)
{
    static const struct {
        double brightness, saturation, hue;
    } same = {1, 1, 180}, gray = {1, 0, 0};
    static const struct {
        smp_matrix color;
        double amount;
    } tint = {{1, 3, color}, 1};
    float out[3];
    pixel(&smp_stage_modulate, &same, (float[]){1.5f, 1.25f, 1.f}, out); /* a hue turned by half: 1, 1.25, 1.5 */
    for (int c = 0; c < 3; c++)
        assert_true(fabs((double)out[c] - (1 + c * 0.25)) < 1e-6);
    pixel(&smp_stage_modulate, &gray, (float[]){-0.5f, 0.5f, 1.f}, out);
    assert_true(out[0] == 0.25f && out[1] == 0.25f && out[2] == 0.25f);
    pixel(&smp_stage_modulate, &gray, (float[]){NAN, 0.5f, 1.f}, out);
    pixel(&smp_stage_tint, &tint, (float[]){1.f, -INFINITY, NAN}, out);
    assert_true(out[0] == 1.f && isnan(out[2]));
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (int alpha = 0; alpha < 2; alpha++)
        for (int f = 0; f < SMP_FORMATS; f++) {
            kernel_case c = kernel_case_in(alpha ? &smp_stage_key : &smp_stage_replace, &replace,
                                           case_shape(61, 45, 3 + alpha, (smp_format)f));
            c.out_storage = SMP_F32;
            c.values = f == SMP_F32 ? CASE_ANY : CASE_CODES;
            kernel_case_check(&c);
        }
}
