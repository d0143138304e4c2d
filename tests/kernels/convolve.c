/* convolve and correlate: their values, and that their variants agree. */
#include "suite.h"

#include "stencil_case.h"

#include "stages/shared/stencil/kernel_matrix.h"
#include "stencil/convolve.h"

extern const smp_stage smp_stage_convolve, smp_stage_correlate;

/* Weights in -0.5..1, different everywhere. */
static void random_kernel(double *k, int count, uint64_t seed)
{
    uint64_t state = seed;
    for (int i = 0; i < count; i++)
        k[i] = (double)case_random(&state) / 4294967296. * 1.5 - 0.5;
}

static smp_convolve_params with_kernel(int rows, int cols, const double *k, double scale, int edge)
{
    return (smp_convolve_params){.kernel = {rows, cols, k}, .scale = scale, .edge = edge, .fill = 0.25};
}

typedef struct exact_context {
    const smp_convolve_params *p;
    double scale;
    bool flip;
} exact_context;

/* scipy.ndimage: the middle of n weights is n / 2; convolve turns kernel and offsets. */
static double exact(const picture *in, int64_t x, int64_t y, int c, const void *context)
{
    const exact_context *e = context;
    const smp_matrix *k = &e->p->kernel;
    double sum = e->p->offset * in->view.white;
    for (int j = 0; j < k->rows; j++)
        for (int i = 0; i < k->cols; i++) {
            int64_t dy = j - k->rows / 2, dx = i - k->cols / 2;
            double v = e->flip ? double_at(in, x - dx, y - dy, c, e->p->edge, e->p->fill)
                               : double_at(in, x + dx, y + dy, c, e->p->edge, e->p->fill);
            sum += k->values[j * k->cols + i] * e->scale * v;
        }
    return sum;
}

static const int sizes[][2] = {{1, 1}, {3, 3}, {2, 2}, {1, 5},   {5, 1},  {4, 3},
                               {3, 6}, {7, 7}, {2, 9}, {17, 16}, {1, 63}, {63, 1}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

SMP_TEST(values_equal_a_direct_sum_in_double)
{
    double k[17 * 16];
    for (int s = 0; s < SIZES; s++)
        for (int edge = 0; edge < SMP_EDGES; edge++)
            for (int flip = 0; flip < 2; flip++) {
                const int count = sizes[s][0] * sizes[s][1];
                random_kernel(k, count, 7 + (uint64_t)s);
                smp_convolve_params p = with_kernel(sizes[s][0], sizes[s][1], k, 0.5, edge);
                p.offset = 0.125;
                const exact_context e = {&p, 0.5, flip};
                kernel_case c = kernel_case_in(flip ? &smp_stage_convolve : &smp_stage_correlate, &p,
                                               case_shape(21, 11, 3, SMP_F32));
                c.seed = 5;
                stencil_check_exact(&c, exact, &e, 1e-6 * (1 + 0.3 * count));
            }
}

SMP_TEST(auto_scale_divides_by_a_sum_that_is_not_zero)
{
    static const double smooth[] = {1, 2, 1}, edges[] = {-0.1, 0.3, -0.2};
    smp_shape in = case_shape(8, 8, 1, SMP_U8);
    for (int zero = 0; zero < 2; zero++) {
        smp_convolve_params p = with_kernel(1, 3, zero ? edges : smooth, (double)NAN, SMP_CLAMP);
        const kernel_case c = {.stage = &smp_stage_correlate, .params = &p, .in = in};
        smp_node_plan plan = case_plan(&c);
        smp_convolve t;
        memcpy(&t, plan.kernel.bytes, sizeof t);
        assert_true(t.k[1] == (zero ? 0.3f : 0.5f));
        assert_int_equal(plan.values.clips, zero);
        assert_int_equal(t.keep_alpha, zero);
    }
}

SMP_TEST(a_kernel_that_is_too_large_is_refused_by_name)
{
    double *k = calloc(65 * 3, sizeof *k);
    smp_convolve_params p = with_kernel(65, 3, k, 1, SMP_CLAMP);
    smp_error err = {0};
    assert_int_equal(smp_stage_convolve.check(&p, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.message, "65 x 3"));
    k[1] = (double)INFINITY;
    p.kernel.rows = 3;
    assert_int_equal(smp_stage_convolve.check(&p, &err), SMP_E_PIPE);
    free(k);
}

SMP_TEST(alpha_passes_through_unless_the_kernel_is_an_average)
{
    static const double smooth[] = {1, 1, 2}, edges[] = {-1, 0, 1};
    for (int keep = 0; keep < 2; keep++) {
        smp_convolve_params p = with_kernel(1, 3, keep ? edges : smooth, (double)NAN, SMP_CLAMP);
        const kernel_case c = kernel_case_in(&smp_stage_correlate, &p, case_shape(9, 5, 4, SMP_U8));
        picture in = picture_make(&c.in, SMP_U8), out;
        picture_fill(&in, 4, CASE_CODES);
        kernel_case_naive(&c, &in, NULL, &out);
        bool same = true;
        for (int i = 0; i < 45; i++)
            same = same && picture_get(&in, i % 9, i / 9, 3) == picture_get(&out, i % 9, i / 9, 3);
        assert_true(same == (keep == 1));
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    double k[17 * 16];
    for (int s = 0; s < SIZES; s++) {
        random_kernel(k, sizes[s][0] * sizes[s][1], 3 + (uint64_t)s);
        smp_convolve_params p = with_kernel(sizes[s][0], sizes[s][1], k, 0.7, s % SMP_EDGES);
        p.offset = s % 2 ? 0.25 : 0;
        stencil_check_sizes(&smp_stage_correlate, &p, s == 7);
        if (s < 6)
            stencil_check_sizes(&smp_stage_convolve, &p, false);
    }
}

SMP_TEST(every_border_gives_the_same_bytes)
{
    double k[20];
    random_kernel(k, 20, 1);
    for (int edge = 0; edge < SMP_EDGES; edge++) {
        smp_convolve_params p = with_kernel(4, 5, k, 0.3, edge);
        stencil_check_sizes(&smp_stage_convolve, &p, false);
    }
}

SMP_TEST(integers_in_float_storage_give_the_same_bytes)
{
    double k[9];
    random_kernel(k, 9, 2);
    smp_convolve_params p = with_kernel(3, 3, k, 1, SMP_REFLECT);
    stencil_check_storage(&smp_stage_convolve, &p);
    stencil_check_storage(&smp_stage_correlate, &p);
}

SMP_TEST(nan_and_infinity_spread_alike)
{
    double k[20];
    random_kernel(k, 20, 1);
    smp_convolve_params p = with_kernel(4, 5, k, 0.3, SMP_CLAMP);
    stencil_check_nonfinite(&smp_stage_correlate, &p);
}

SMP_TEST(out_of_memory_is_an_error_without_a_leak)
{
    double k[17 * 16];
    random_kernel(k, 17 * 16, 1);
    smp_convolve_params p = with_kernel(17, 16, k, 1, SMP_CLAMP);
    const smp_shape in = case_shape(9, 9, 3, SMP_U8);
    smp_node_plan plan = {.out = in};
    smp_error err = {0};
    smp_alloc_fail_at(1);
    assert_int_equal(smp_stage_convolve.plan(&p, &in, NULL, &plan, &err), SMP_E_MEMORY);
    smp_alloc_fail_at(0);
    assert_null(plan.table.data);
}
