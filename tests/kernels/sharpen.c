/* sharpen: its values, and that its variants agree. */
#include "suite.h"

#include "stencil_case.h"

#include "gaussian/sharpen.h"
#include "stages/shared/stencil/gaussian_plan.h"

extern const smp_stage smp_stage_sharpen;

typedef struct exact_context {
    const double *w;
    int radius, edge;
    double amount, threshold;
} exact_context;

static double exact(const picture *in, int64_t x, int64_t y, int c, const void *context)
{
    const exact_context *e = context;
    double blurred = 0, v = picture_get(in, x, y, c);
    for (int j = -e->radius; j <= e->radius; j++)
        for (int i = -e->radius; i <= e->radius; i++)
            blurred += e->w[abs(i)] * e->w[abs(j)] * double_at(in, x + i, y + j, c, e->edge, 0.25);
    return fabs(v - blurred) > e->threshold * in->view.white ? v + e->amount * (v - blurred) : v;
}

SMP_TEST(values_equal_a_direct_sum_in_double)
{
    for (int edge = 0; edge < SMP_EDGES; edge++)
        for (int channels = 1; channels <= 4; channels++) {
            PARAMS(p, &smp_stage_sharpen, {"amount", 1.75}, {"sigma", 1.2}, {"threshold", 0.05}, {"edge", edge},
                   {"fill", 0.25});
            double w[6];
            smp_gaussian_fill(w, 5, 1.2);
            const exact_context e = {w, 5, edge, 1.75, 0.05};
            kernel_case c = kernel_case_in(&smp_stage_sharpen, p, case_shape(21, 11, channels, SMP_F32));
            c.seed = 5;
            stencil_check_exact(&c, exact, &e, 4e-6);
        }
}

SMP_TEST(an_amount_of_zero_is_left_out)
{
    PARAMS(p, &smp_stage_sharpen, {"amount", 0});
    const kernel_case c = {.stage = &smp_stage_sharpen, .params = p, .in = case_shape(9, 9, 3, SMP_U8)};
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.effect.none);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const double sigmas[] = {0.2, 1, 2.6};
    for (int edge = 0; edge < SMP_EDGES; edge++) {
        PARAMS(p, &smp_stage_sharpen, {"amount", 1.5}, {"sigma", sigmas[edge % 3]}, {"threshold", edge % 2 ? 0.1 : 0},
               {"edge", edge}, {"fill", 0.7});
        stencil_check_sizes(&smp_stage_sharpen, p, edge == SMP_MIRROR);
    }
}

SMP_TEST(a_radius_larger_than_the_picture_works)
{
    for (int edge = 0; edge < SMP_EDGES; edge++) {
        PARAMS(p, &smp_stage_sharpen, {"sigma", 17}, {"edge", edge}, {"fill", 1});
        const kernel_case c = {.stage = &smp_stage_sharpen, .params = p, .in = case_shape(7, 5, 3, SMP_U8), .seed = 2};
        kernel_case_check(&c);
    }
}

SMP_TEST(floats_hold_integers_and_what_is_not_finite)
{
    PARAMS(p, &smp_stage_sharpen, {"threshold", 0.02});
    stencil_check_storage(&smp_stage_sharpen, p);
    PARAMS(n, &smp_stage_sharpen, {"sigma", 1.2});
    stencil_check_nonfinite(&smp_stage_sharpen, n);
}
