/* median: its values, the order of floats, the value outside, and the sizes that there are. test_stage_matrix and
 * test_gpu_matrix hold its variants against each other, tests/oracle/test_stencil.py against scipy and OpenCV. */
#include "suite.h"

#include "stencil_case.h"

extern const smp_stage smp_stage_median, smp_stage_dilate, smp_stage_erode;

/* U(w, h) and V(w, h): pictures of known samples. */
static picture sampled(int width, int height, smp_format format)
{
    const smp_shape shape = case_shape(width, height, 1, format);
    picture p = picture_make(&shape, format);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int u = (7 * x * x + 13 * y * y + 5 * x * y + 11 * x + 3) % 256;
            picture_set(&p, x, y, 0, (float)(format == SMP_U8 ? u : (257 * u + 37 * x + 101 * y) % 65536));
        }
    return p;
}

static void check_values(const picture *in, const setting *settings, const float *want)
{
    _Alignas(16) unsigned char p[PARAMS_SIZE];
    params_fill(&smp_stage_median, p, settings);
    const smp_format format = (smp_format)in->view.format;
    const kernel_case c = kernel_case_in(&smp_stage_median, p, case_shape(in->view.width, in->view.height, 1, format));
    picture out;
    kernel_case_naive(&c, in, NULL, &out);
    for (int64_t y = 0; y < in->view.height; y++)
        for (int64_t x = 0; x < in->view.width; x++)
            assert_float_equal(picture_get(&out, x, y, 0), *want++, 0);
    picture_free(&out);
}

SMP_TEST(values_are_those_of_opencv_and_scipy)
{
    static const float three[] = {16,  21,  53, 99,  159, 192, 21,  53,  83, 127, 159, 159, 55,  83,  125,
                                  127, 127, 80, 120, 125, 125, 125, 111, 80, 211, 200, 111, 111, 111, 80};
    static const float five[] = {10161, 13695, 19707, 25554, 32401, 41011, 13695, 14337, 21570, 25554, 32851, 41011,
                                 21570, 21570, 25554, 32401, 32851, 41011, 21570, 31143, 31143, 32401, 32401, 32851};
    picture u = sampled(6, 5, SMP_U8), v = sampled(6, 4, SMP_U16);
    check_values(&u, (const setting[]){{"size", 3}, {NULL, 0}}, three);
    check_values(&v, (const setting[]){{"size", 5}, {"edge", SMP_REFLECT}, {NULL, 0}}, five);
    picture_free(&u);
    picture_free(&v);
}

SMP_TEST(float_bits_are_moved_in_total_order)
{
    /* In order: -inf, -2, -1e-42, -0, 0, 1e-42, inf, NaN, NaN. */
    float samples[9] = {NAN, -0.f, INFINITY, 0.f, -INFINITY, -1e-42f, 1e-42f, -NAN, -2.f}, out[9];
    PARAMS(p, &smp_stage_median, {"size", 3});
    const kernel_case c = kernel_case_in(&smp_stage_median, p, case_shape(3, 3, 1, SMP_F32));
    kernel_case_samples(&c, samples, out, NULL);
    assert_true(out[4] == 0.f && !signbit(out[4]));
    samples[3] = samples[4] = -0.f; /* -2, -1e-42, -0, -0, -0, 1e-42, inf, NaN, NaN */
    kernel_case_samples(&c, samples, out, NULL);
    assert_true(out[4] == 0.f && signbit(out[4]));
    for (int i = 0; i < 5; i++)
        samples[i] = NAN;
    kernel_case_samples(&c, samples, out, NULL);
    assert_true(isnan(out[4]));
}

SMP_TEST(every_variant_orders_any_floats_alike)
{
    for (int size = 3; size <= 5; size += 2)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            PARAMS(p, &smp_stage_median, {"size", size}, {"edge", edge}, {"fill", 0.3});
            kernel_case c = kernel_case_in(&smp_stage_median, p, case_shape(203, 37, 1 + edge, SMP_F32));
            c.values = CASE_ANY;
            c.seed = 7;
            kernel_case_check(&c);
            stencil_check_sizes(&smp_stage_median, p, edge == SMP_WRAP);
        }
}

/* A CPU makes these straight from the picture's rows (kernels/stencil/nine.h). */
SMP_TEST(squares_of_three_integers_are_alike_at_every_border)
{
    static const smp_stage *const stages[] = {&smp_stage_median, &smp_stage_dilate, &smp_stage_erode};
    for (int stage = 0; stage < 3; stage++)
        for (int edge = 0; edge < SMP_EDGES; edge++)
            for (int narrow = 0; narrow < 2; narrow++) {
                PARAMS(p, stages[stage], {"size", 3}, {"edge", edge}, {"fill", 0.3});
                const smp_format format = edge % 2 ? SMP_U8 : SMP_U16;
                kernel_case c = kernel_case_in(
                    stages[stage], p, case_shape(narrow ? 2 + edge % 2 : 67, narrow ? 5 : 14, 1 + edge % 4, format));
                c.seed = (unsigned)(7 + edge);
                kernel_case_check(&c);
            }
}

SMP_TEST(the_value_outside_is_a_code_value)
{
    PARAMS(p, &smp_stage_median, {"size", 5}, {"edge", SMP_CONSTANT}, {"fill", 0.5});
    kernel_case c = kernel_case_in(&smp_stage_median, p, case_shape(1, 1, 1, SMP_U8));
    c.out_storage = SMP_F32;
    float out;
    kernel_case_samples(&c, (const float[]){7}, &out, NULL);
    assert_float_equal(out, 128, 0); /* and not 127.5 */
    stencil_check_storage(&smp_stage_median, p);
}
