/* add, subtract, multiply, divide, blend: their formulas, what fits together, and that variants agree. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

#include "elementwise/arithmetic.h"

extern const smp_stage smp_stage_add, smp_stage_subtract, smp_stage_multiply, smp_stage_divide, smp_stage_blend;

typedef struct params { /* as the stages declare them; the first field serves all but blend */
    smp_operand by;
    int mode;
    double opacity;
    int fit;
} params;

static const smp_stage *const stages[] = {&smp_stage_add, &smp_stage_subtract, &smp_stage_multiply, &smp_stage_divide,
                                          &smp_stage_blend};
enum { STAGES = 5 };

static void set_row(picture *p, const float *values)
{
    const smp_view *v = &p->view;
    for (int i = 0; i < v->width * v->channels; i++)
        picture_set(p, i / v->channels, 0, i % v->channels, values[i]);
}

/* Rows of a and b, stored in their shapes' formats, through the definition, unrounded. b null: the operand of p. */
static uint64_t run(const smp_stage *stage, params p, smp_shape shape, const float *a, const smp_shape *by,
                    const float *b, smp_format out_storage, float *out)
{
    p.by.is_tap = by;
    kernel_case c = {
        .stage = stage, .params = &p, .in = shape, .in_storage = shape.format, .out_storage = out_storage, .by = by};
    picture first = picture_make(&shape, shape.format), second = {0}, result;
    set_row(&first, a);
    if (by) {
        second = picture_make(by, by->format);
        set_row(&second, b);
    }
    uint64_t clipped = kernel_case_naive(&c, &first, &second, &result);
    for (int i = 0; i < shape.width * shape.channels; i++)
        out[i] = picture_get(&result, i / shape.channels, 0, i % shape.channels);
    picture_free(&first);
    picture_free(&second);
    picture_free(&result);
    return clipped;
}

SMP_TEST(every_variant_gives_the_same_bytes_with_a_number)
{
    for (int s = 0; s < STAGES; s++)
        kernel_case_matrix(stages[s], &(params){.by = {.value = 0.7}, .mode = 1, .opacity = 0.6}, 3, s == 3 ? 4 : 2);
}

SMP_TEST(every_variant_gives_the_same_bytes_with_a_picture)
{
    uint64_t seed = 1;
    for (int s = 0; s < STAGES; s++)
        for (int f = 0; f < 8; f++)
            for (int channels = 1; channels <= 4; channels++)
                for (int shape = 0; shape < 4; shape++) {
                    kernel_case c = {.stage = stages[s], .params = &(params){.by = {.is_tap = true}, .opacity = 0.8}};
                    c.in = case_shape(61, 9, channels, SMP_U8);
                    case_formats(f, &c.in.format, &c.in_storage, &c.out_storage);
                    smp_shape by =
                        c.in; /* the same; gray; gray with alpha and other bits; the colours with or without alpha */
                    by.format = shape > 1 ? SMP_U16 : by.format;
                    by.alpha = shape == 2 || (shape == 3 ? !c.in.alpha : shape == 0 && c.in.alpha);
                    by.channels = (shape == 1 || shape == 2 ? 1 : channels - c.in.alpha) + by.alpha;
                    c.by = &by;
                    c.values = c.in_storage == SMP_F32 ? (f == 3 ? CASE_ANY : CASE_REALS) : CASE_CODES;
                    c.seed = seed++;
                    kernel_case_check(&c);
                }
}

SMP_TEST(every_mode_gives_the_same_bytes)
{
    for (int mode = 0; mode < SMP_OPERATIONS - SMP_BLEND_NORMAL; mode++)
        for (smp_format format = SMP_U8; format < SMP_FORMATS; format++) {
            smp_shape by = case_shape(257, 5, 4, format);
            kernel_case c =
                kernel_case_in(&smp_stage_blend, &(params){.by = {.is_tap = true}, .mode = mode, .opacity = 1},
                               case_shape(257, 5, mode % 2 ? 3 : 4, format));
            c.in_storage = mode % 3 ? SMP_F32 : format, c.out_storage = mode % 3 == 1 ? format : SMP_F32;
            c.values = format == SMP_F32 ? CASE_ANY : CASE_CODES;
            c.by = &by;
            kernel_case_check(&c);
        }
}

SMP_TEST(numbers_are_fractions_of_full_scale)
{
    static const float a[] = {0, 100, 200, 255};
    float got[4];
    const smp_shape shape = case_shape(4, 1, 1, SMP_U8);
    const params fifth = {.by = {.value = 0.2}}, half_more = {.by = {.value = 1.5}};
    run(&smp_stage_add, fifth, shape, a, NULL, NULL, SMP_F32, got);
    assert_true(got[0] == 51 && got[3] == 306);
    run(&smp_stage_subtract, fifth, shape, a, NULL, NULL, SMP_F32, got);
    assert_true(got[0] == -51 && got[1] == 49);
    run(&smp_stage_multiply, half_more, shape, a, NULL, NULL, SMP_F32, got);
    assert_true(got[1] == 150 && got[2] == 300);
    run(&smp_stage_divide, half_more, shape, a, NULL, NULL, SMP_F32, got);
    assert_true(got[3] == 170);
}

SMP_TEST(clamping_happens_once_and_is_counted)
{
    float got[4];
    const smp_shape shape = case_shape(4, 1, 1, SMP_U8);
    uint64_t clipped = run(&smp_stage_add, (params){.by = {.value = 0.2}}, shape, (const float[]){0, 204, 205, 255},
                           NULL, NULL, SMP_U8, got);
    assert_true(got[1] == 255 && got[2] == 255 && got[3] == 255);
    assert_int_equal(clipped, 2);
}

SMP_TEST(pictures_combine_sample_by_sample)
{
    static const float a[] = {0, 100, 200, 255, 0, 9}, b[] = {0, 50, 250, 255, 3, 0};
    float got[6];
    const smp_shape shape = case_shape(6, 1, 1, SMP_U8);
    const params p = {.opacity = 1};
    run(&smp_stage_add, p, shape, a, &shape, b, SMP_F32, got);
    assert_true(got[1] == 150 && got[2] == 450);
    run(&smp_stage_subtract, p, shape, a, &shape, b, SMP_F32, got);
    assert_true(got[1] == 50 && got[2] == -50);
    run(&smp_stage_multiply, p, shape, a, &shape, b, SMP_F32, got);
    assert_true(got[0] == 0 && got[1] == 5000.f / 255 && got[3] == 255);
    run(&smp_stage_divide, p, shape, a, &shape, b, SMP_F32, got);
    assert_true(got[0] == 0 && got[1] == 510 && got[2] == 204 && got[3] == 255 && got[4] == 0 && got[5] == 255);
    float values[2] = {-0.5f, NAN};
    const smp_shape floats = case_shape(2, 1, 1, SMP_F32);
    run(&smp_stage_divide, p, floats, values, &floats, (const float[]){0, 0}, SMP_F32, got);
    assert_true(got[0] == -1 && isnan(got[1]));
}

SMP_TEST(bits_of_the_second_picture_do_not_matter)
{
    float got[2];
    const smp_shape eight = case_shape(2, 1, 1, SMP_U8), sixteen = case_shape(2, 1, 1, SMP_U16);
    const params p = {.opacity = 1};
    run(&smp_stage_blend, p, eight, (const float[]){1, 2}, &sixteen, (const float[]){65535, 257 * 77}, SMP_F32, got);
    assert_true(got[0] == 255 && fabsf(got[1] - 77) < 1e-5f);
    run(&smp_stage_blend, p, sixteen, (const float[]){1, 2}, &eight, (const float[]){255, 77}, SMP_F32, got);
    assert_true(got[0] == 65535 && got[1] == 257 * 77);
}

SMP_TEST(one_channel_serves_all_and_alpha_stays)
{
    static const float a[] = {10, 20, 30, 99, 40, 50, 60, 98};
    float got[8];
    const smp_shape rgba = case_shape(2, 1, 4, SMP_U8), gray = case_shape(2, 1, 1, SMP_U8);
    run(&smp_stage_add, (params){0}, rgba, a, &gray, (const float[]){1, 2}, SMP_F32, got);
    static const float want[] = {11, 21, 31, 99, 42, 52, 62, 98};
    assert_memory_equal(got, want, sizeof want);
    /* Alpha of the second picture weights a blend: 0, then 51/255 of the way from 40, 50, 60 to 140. */
    const smp_shape gray_alpha = case_shape(2, 1, 2, SMP_U8);
    run(&smp_stage_blend, (params){.opacity = 1}, rgba, a, &gray_alpha, (const float[]){200, 0, 140, 51}, SMP_F32, got);
    static const float mixed[] = {10, 20, 30, 99, 60, 68, 76, 98};
    for (int i = 0; i < 8; i++)
        assert_true(fabsf(got[i] - mixed[i]) < 1e-4f);
    smp_shape two = case_shape(1, 1, 2, SMP_U8); /* two colours, no alpha, with gray and alpha */
    two.alpha = false;
    const smp_shape one = case_shape(1, 1, 2, SMP_U8);
    run(&smp_stage_add, (params){0}, two, (const float[]){1, 2}, &one, (const float[]){10, 90}, SMP_F32, got);
    assert_true(got[0] == 11 && got[1] == 12);
}

/* W3C Compositing and Blending, in double. */
static double blended(int operation, double a, double b)
{
    double d = a <= 0.25 ? ((16 * a - 12) * a + 4) * a : sqrt(a);
    switch (operation) {
    case SMP_BLEND_NORMAL:
        return b;
    case SMP_BLEND_MULTIPLY:
        return a * b;
    case SMP_BLEND_SCREEN:
        return 1 - (1 - a) * (1 - b);
    case SMP_BLEND_OVERLAY:
        return a <= 0.5 ? 2 * a * b : 1 - 2 * (1 - a) * (1 - b);
    case SMP_BLEND_HARDLIGHT:
        return b <= 0.5 ? 2 * a * b : 1 - 2 * (1 - a) * (1 - b);
    case SMP_BLEND_SOFTLIGHT:
        return b <= 0.5 ? a - (1 - 2 * b) * a * (1 - a) : a + (2 * b - 1) * (d - a);
    case SMP_BLEND_DARKEN:
        return fmin(a, b);
    case SMP_BLEND_LIGHTEN:
        return fmax(a, b);
    case SMP_BLEND_DODGE:
        return a == 0 ? 0 : b == 1 ? 1 : fmin(1, a / (1 - b));
    case SMP_BLEND_BURN:
        return a == 1 ? 1 : b == 0 ? 0 : 1 - fmin(1, (1 - a) / b);
    case SMP_BLEND_DIFFERENCE:
        return fabs(a - b);
    case SMP_BLEND_EXCLUSION:
        return a + b - 2 * a * b;
    case SMP_BLEND_AVERAGE:
        return (a + b) / 2;
    default:
        return a + b;
    }
}

SMP_TEST(blend_modes_follow_their_formulas)
{
    float a[289], b[289], got[289]; /* 0, 16, ..., 240, 255 against each other */
    for (int i = 0; i < 289; i++) {
        a[i] = fminf((float)(i / 17 * 16), 255);
        b[i] = fminf((float)(i % 17 * 16), 255);
    }
    const smp_shape shape = case_shape(289, 1, 1, SMP_U8);
    for (int mode = 0; mode < SMP_OPERATIONS - SMP_BLEND_NORMAL; mode++)
        for (int half = 0; half < 2; half++) {
            run(&smp_stage_blend, (params){.mode = mode, .opacity = half ? 0.5 : 1}, shape, a, &shape, b, SMP_F32, got);
            for (int i = 0; i < 289; i++) {
                double x = (double)a[i] / 255, y = (double)b[i] / 255, want = blended(SMP_BLEND_NORMAL + mode, x, y);
                want = half ? (x + want) / 2 : want;
                if (fabs((double)got[i] - want * 255) > 1e-4 * 255)
                    fail_msg("mode %d of %g and %g: %g, not %g", mode, x * 255, y * 255, (double)got[i], want * 255);
            }
        }
}

/* The message of plan() for shapes that do not fit, "" when they do. */
static const char *refusal(smp_shape in, smp_shape by)
{
    static smp_error err;
    smp_node_plan plan = {.out = in};
    err = (smp_error){0};
    return smp_stage_add.plan(&(params){.by = {.is_tap = true}}, &in, &by, &plan, &err) ? err.message : "";
}

SMP_TEST(what_does_not_fit_is_refused_with_both_shapes)
{
    smp_shape rgb = case_shape(40, 30, 3, SMP_U8), other = rgb;
    assert_string_equal(refusal(rgb, other), "");
    other.height = 31;
    assert_non_null(strstr(refusal(rgb, other), "40x30"));
    assert_non_null(strstr(refusal(rgb, other), "40x31"));
    other = case_shape(40, 30, 4, SMP_U16);
    assert_string_equal(refusal(rgb, other), ""); /* alpha and bits do not matter */
    other.alpha = false;
    assert_non_null(strstr(refusal(rgb, other), "channels"));
    smp_shape sound = {.kind = SMP_AUDIO, .width = 1, .height = 100, .channels = 2, .format = SMP_F32, .rate = 48000};
    smp_shape faster = sound;
    faster.rate = 96000;
    assert_non_null(strstr(refusal(sound, faster), "96000"));
    smp_error err = {0};
    assert_int_equal(smp_stage_divide.check(&(params){.by = {.value = 0}}, &err), SMP_E_PIPE);
}

SMP_TEST(integers_are_kept_only_where_they_stay_integers)
{
    const smp_shape rgb = case_shape(4, 3, 3, SMP_U8), deep = case_shape(4, 3, 3, SMP_U16);
    static const struct {
        int operation;
        double opacity;
        bool deep, exact;
    } rows[] = {{SMP_BLEND_DARKEN, 1, false, true},
                {SMP_BLEND_DIFFERENCE, 1, false, true},
                {SMP_BLEND_DARKEN, 0.5, false, false},
                {SMP_BLEND_DARKEN, 1, true, false},
                {SMP_BLEND_SCREEN, 1, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        smp_node_plan plan = {.out = rgb};
        smp_error err = {0};
        params p = {.by = {.is_tap = true}, .mode = rows[i].operation - SMP_BLEND_NORMAL, .opacity = rows[i].opacity};
        assert_int_equal(smp_stage_blend.plan(&p, &rgb, rows[i].deep ? &deep : &rgb, &plan, &err), SMP_OK);
        assert_int_equal(plan.values.exactness, rows[i].exact ? SMP_INTEGER : SMP_REAL);
    }
}
