/* gaussian: its weights, its values, and that its variants agree. */
#include "suite.h"

#include "stencil_case.h"

#include "stages/shared/stencil/gaussian_plan.h"

extern const smp_stage smp_stage_gaussian;

SMP_TEST(weights_are_the_sampled_gaussian)
{
    static const double truncates[] = {2, 2.5, 3, 4, 6};
    for (size_t t = 0; t < sizeof truncates / sizeof truncates[0]; t++)
        for (double sigma = 0.01; sigma < 1001; sigma = sigma * 1.3 + 0.01) {
            int radius = (int)(truncates[t] * sigma + 0.5);
            double *w = calloc((size_t)radius + 1, sizeof *w), sum = 0, all = 0;
            smp_gaussian_fill(w, radius, sigma);
            for (int k = -radius; k <= radius; k++)
                all += exp(-k * k / (2 * sigma * sigma));
            for (int k = 0; k <= radius; k++) {
                assert_true(fabs(w[k] - exp(-k * k / (2 * sigma * sigma)) / all) < 1e-15);
                sum += k ? 2 * w[k] : w[k];
            }
            assert_true(fabs(sum - 1) < 1e-12);
            free(w);
        }
    double w[2]; /* a sigma whose square is no number but 0 */
    smp_gaussian_fill(w, 1, 1e-200);
    assert_true(w[0] == 1 && w[1] == 0);
}

/* Row weights of 8-bit pictures: whole, no sum of which leaves 24 bits, and so near the gaussian that no result moves
 * by more than a hundredth. */
SMP_TEST(whole_weights_move_no_result_by_more_than_a_hundredth)
{
    static const double truncates[] = {2, 2.5, 3, 4, 6};
    for (size_t t = 0; t < sizeof truncates / sizeof truncates[0]; t++)
        for (int step = 1; truncates[t] * step / 64 <= SMP_GAUSSIAN_INTEGER_ROWS; step++) {
            const double sigma = step / 64.;
            const int radius = (int)(truncates[t] * sigma + 0.5);
            double w[SMP_GAUSSIAN_INTEGER_ROWS + 1], off = 0, moved;
            int32_t whole[SMP_GAUSSIAN_INTEGER_ROWS + 1], all = 0;
            smp_gaussian_fill(w, radius, sigma);
            const int sum = smp_gaussian_integer_rows(w, radius, whole, &moved);
            for (int k = radius; k >= 0; k--) {
                assert_in_range(whole[k], 0, 65535);
                all += k ? 2 * whole[k] : whole[k];
                off += (k ? 2 : 1) * fabs((double)whole[k] / sum - w[k]);
            }
            assert_int_equal(all, sum);
            assert_in_range(sum, 61000, SMP_GAUSSIAN_ONE);
            assert_true(fabs(moved - 127.5 * off) < 1e-12);
            assert_true(moved < 0.01);
        }
}

SMP_TEST(an_impulse_spreads_with_deviation_sigma)
{
    static const double sigmas[] = {0.8, 1, 2.5, 7}; /* below, samples of the gaussian are narrower */
    for (size_t s = 0; s < sizeof sigmas / sizeof sigmas[0]; s++) {
        PARAMS(p, &smp_stage_gaussian, {"sigma", sigmas[s]});
        const kernel_case c = kernel_case_in(&smp_stage_gaussian, p, case_shape(63, 63, 1, SMP_F32));
        picture in = picture_make(&c.in, SMP_F32), out;
        for (int i = 0; i < 63 * 63; i++)
            picture_set(&in, i % 63, i / 63, 0, i == 31 * 63 + 31);
        kernel_case_naive(&c, &in, NULL, &out);
        double sum = 0, across = 0, down = 0;
        for (int y = 0; y < 63; y++)
            for (int x = 0; x < 63; x++) {
                double v = picture_get(&out, x, y, 0);
                sum += v;
                across += v * (x - 31) * (x - 31);
                down += v * (y - 31) * (y - 31);
            }
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(fabs(sqrt(across / sum) / sigmas[s] - 1) < 1e-3);
        assert_true(fabs(sqrt(down / sum) / sigmas[s] - 1) < 1e-3);
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(sigma_zero_is_left_out)
{
    PARAMS(p, &smp_stage_gaussian, {"sigma", 0});
    const kernel_case c = {.stage = &smp_stage_gaussian, .params = p, .in = case_shape(9, 9, 3, SMP_U8)};
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.effect.none);
    case_plan_free(&plan);
}

SMP_TEST(a_wrapping_border_needs_the_whole_picture)
{
    PARAMS(p, &smp_stage_gaussian, {"sigma", 2}, {"edge", SMP_WRAP});
    const kernel_case c = {.stage = &smp_stage_gaussian, .params = p, .in = case_shape(9, 9, 3, SMP_U8)};
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.rows.whole);
    assert_int_equal(plan.rows.up, 8);
    assert_int_equal(plan.rows.down, 8);
    case_plan_free(&plan);
}

SMP_TEST(out_of_memory_is_an_error_without_a_leak)
{
    PARAMS(p, &smp_stage_gaussian, {"sigma", 40});
    const smp_shape in = case_shape(9, 9, 3, SMP_U8);
    uint64_t live = smp_alloc_live();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        smp_node_plan plan = {.out = in};
        smp_error err = {0};
        smp_alloc_fail_at(nth);
        assert_int_equal(smp_stage_gaussian.plan(p, &in, NULL, &plan, &err), SMP_E_MEMORY);
        smp_alloc_fail_at(0);
        smp_free(plan.table.data);
        assert_true(smp_alloc_live() == live);
    }
}

typedef struct exact_context {
    int edge;
    double fill;
    const double *w;
    int radius;
} exact_context;

/* The same weights, summed in double over the whole square. */
static double exact(const picture *in, int64_t x, int64_t y, int c, const void *context)
{
    const exact_context *e = context;
    double sum = 0;
    for (int j = -e->radius; j <= e->radius; j++)
        for (int i = -e->radius; i <= e->radius; i++)
            sum += e->w[abs(i)] * e->w[abs(j)] * double_at(in, x + i, y + j, c, e->edge, e->fill);
    return sum;
}

SMP_TEST(values_equal_a_direct_sum_in_double)
{
    static const double sigmas[] = {0.4, 1.3, 4};
    for (size_t s = 0; s < 3; s++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            PARAMS(p, &smp_stage_gaussian, {"sigma", sigmas[s]}, {"edge", edge}, {"fill", 0.25});
            double w[32];
            exact_context e = {edge, 0.25, w, (int)(4 * sigmas[s] + 0.5)};
            smp_gaussian_fill(w, e.radius, sigmas[s]);
            kernel_case c = kernel_case_in(&smp_stage_gaussian, p, case_shape(21, 11, 2, SMP_U16));
            c.out_storage = SMP_F32;
            c.seed = 5;
            stencil_check_exact(&c, exact, &e, 1e-6 * 65535);
            c.in.format = c.in_storage = SMP_F32;
            stencil_check_exact(&c, exact, &e, 1e-6);
        }
}

/* The last rounding, and what whole row weights move: at most 0.51. Stripes as wide as a weight are where those tell.
 */
SMP_TEST(bytes_are_within_0_51_of_a_direct_sum)
{
    for (int radius = 1; radius <= 16; radius++)
        for (int stripes = 0; stripes < 2; stripes++) {
            const double sigma = radius / 4. - 0.01;
            PARAMS(p, &smp_stage_gaussian, {"sigma", sigma}, {"edge", SMP_WRAP});
            double w[32];
            exact_context e = {SMP_WRAP, 0, w, radius};
            smp_gaussian_fill(w, radius, sigma);
            const kernel_case c = kernel_case_in(&smp_stage_gaussian, p, case_shape(46, 9, 1, SMP_U8));
            picture in = picture_make(&c.in, SMP_U8), got;
            picture_fill(&in, (uint64_t)radius, CASE_CODES);
            for (int i = 0; stripes && i < 46 * 9; i++)
                picture_set(&in, i % 46, i / 46, 0, (float)(255 * (i % 46 * 31 >> 3 & 1)));
            kernel_case_naive(&c, &in, NULL, &got);
            for (int i = 0; i < 46 * 9; i++) {
                const double want = exact(&in, i % 46, i / 46, 0, &e), is = picture_get(&got, i % 46, i / 46, 0);
                if (fabs(is - want) > 0.51)
                    fail_msg("radius %d at %d: %g, exact %.9g", radius, i, is, want);
            }
            picture_free(&in);
            picture_free(&got);
        }
}

/* Rows of bytes sum up exactly, so that f32 in any order, integers and tensor cores agree. */
SMP_TEST(the_row_pass_of_bytes_is_exact)
{
    for (int radius = 1; radius <= SMP_GAUSSIAN_INTEGER_ROWS; radius++) {
        PARAMS(p, &smp_stage_gaussian, {"sigma", radius / 4.}, {"edge", SMP_CLAMP});
        const kernel_case c = kernel_case_in(&smp_stage_gaussian, p, case_shape(40, 1, 3, SMP_U8));
        picture in = picture_make(&c.in, SMP_U8);
        picture_fill(&in, (uint64_t)radius, CASE_CODES);
        smp_node_plan plan = case_plan(&c);
        const smp_gaussian *gaussian = (const smp_gaussian *)(const void *)plan.kernel.bytes;
        assert_true(gaussian->whole > 0);
        for (int x = 0; x < 40; x++) {
            int64_t sum = 0;
            for (int k = -radius; k <= radius; k++)
                sum += (int64_t)(gaussian->a[k < 0 ? -k : k] * (float)SMP_GAUSSIAN_ONE) *
                       (int64_t)double_at(&in, x + k, 0, 1, SMP_CLAMP, 0);
            assert_true((double)smp_gaussian_row(&in.view, gaussian, gaussian->a, x, 0, 1) ==
                        (double)sum / SMP_GAUSSIAN_ONE);
        }
        case_plan_free(&plan);
        picture_free(&in);
    }
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const double sigmas[] = {0.2, 0.5, 0.7, 1, 1.2, 1.5, 1.7, 2, 3.1, 4.3};
    int edge = 0;
    for (size_t s = 0; s < sizeof sigmas / sizeof sigmas[0]; s++) {
        PARAMS(p, &smp_stage_gaussian, {"sigma", sigmas[s]}, {"edge", edge++ % SMP_EDGES}, {"fill", 0.7});
        stencil_check_sizes(&smp_stage_gaussian, p, sigmas[s] == 1.5);
    }
}

SMP_TEST(every_border_gives_the_same_bytes)
{
    for (int edge = 0; edge < SMP_EDGES; edge++) {
        PARAMS(p, &smp_stage_gaussian, {"sigma", 0.9}, {"edge", edge}, {"fill", 0.7});
        stencil_check_sizes(&smp_stage_gaussian, p, false);
    }
}

SMP_TEST(a_radius_larger_than_the_picture_works)
{
    for (int edge = 0; edge < SMP_EDGES; edge++) {
        PARAMS(p, &smp_stage_gaussian, {"sigma", 17}, {"edge", edge}, {"fill", 1});
        kernel_case c = kernel_case_in(&smp_stage_gaussian, p, case_shape(7, 5, 3, SMP_U8));
        c.seed = 2;
        kernel_case_check(&c);
    }
}

SMP_TEST(floats_hold_integers_and_what_is_not_finite)
{
    PARAMS(p, &smp_stage_gaussian, {"sigma", 1.5}, {"edge", SMP_MIRROR});
    stencil_check_storage(&smp_stage_gaussian, p);
    PARAMS(n, &smp_stage_gaussian, {"sigma", 1.2});
    stencil_check_nonfinite(&smp_stage_gaussian, n);
}
