/* sobel and laplacian: their values, and that their variants agree. */
#include "suite.h"

#include "stencil_case.h"

#include "stencil/sobel.h"

extern const smp_stage smp_stage_sobel, smp_stage_laplacian;

typedef struct exact_context {
    int output, edge; /* smp_sobel_output */
} exact_context;

static double weighted(const picture *in, int64_t x, int64_t y, int c, int edge, const int k[9])
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += k[i] * double_at(in, x + i % 3 - 1, y + i / 3 - 1, c, edge, 0.25);
    return sum;
}

static double exact(const picture *in, int64_t x, int64_t y, int c, const void *context)
{
    static const int kx[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, ky[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1},
                     l4[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0}, l8[9] = {1, 1, 1, 1, -8, 1, 1, 1, 1};
    const exact_context *e = context;
    const int *k = e->output == SMP_LAPLACE_4   ? l4
                   : e->output == SMP_LAPLACE_8 ? l8
                   : e->output == SMP_SOBEL_Y   ? ky
                                                : kx;
    double v = weighted(in, x, y, c, e->edge, k);
    return e->output == SMP_SOBEL_MAGNITUDE ? hypot(v, weighted(in, x, y, c, e->edge, ky)) : v;
}

/* The stage and parameters that give an output. */
static const smp_stage *stage_for(int output, void *params, int edge)
{
    const bool laplace = output >= SMP_LAPLACE_4;
    const smp_stage *stage = laplace ? &smp_stage_laplacian : &smp_stage_sobel;
    params_fill(stage, params,
                (const setting[]){{"edge", edge},
                                  {"fill", 0.25},
                                  {laplace ? "neighbours" : "output", !laplace                  ? output
                                                                      : output == SMP_LAPLACE_4 ? 4
                                                                                                : 8},
                                  {NULL, 0}});
    return stage;
}

SMP_TEST(values_equal_the_matrices)
{
    for (int output = 0; output <= SMP_LAPLACE_8; output++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            _Alignas(16) unsigned char p[PARAMS_SIZE];
            const exact_context e = {output, edge};
            kernel_case c = kernel_case_in(stage_for(output, p, edge), p, case_shape(21, 11, 3, SMP_U8));
            c.out_storage = SMP_F32;
            c.seed = 5;
            stencil_check_exact(&c, exact, &e, output == SMP_SOBEL_MAGNITUDE ? 1e-4 : edge == SMP_CONSTANT ? 1e-3 : 0);
            c.in.format = c.in_storage = SMP_F32;
            stencil_check_exact(&c, exact, &e, 2e-6);
        }
}

SMP_TEST(alpha_passes_through)
{
    for (int output = 0; output <= SMP_LAPLACE_8; output++) {
        _Alignas(16) unsigned char p[PARAMS_SIZE];
        const kernel_case c = {
            .stage = stage_for(output, p, SMP_CLAMP), .params = p, .in = case_shape(9, 5, 4, SMP_U8)};
        picture in = picture_make(&c.in, SMP_U8), out;
        picture_fill(&in, 4, CASE_CODES);
        kernel_case_naive(&c, &in, NULL, &out);
        for (int i = 0; i < 45; i++)
            assert_true(picture_get(&in, i % 9, i / 9, 3) == picture_get(&out, i % 9, i / 9, 3));
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(negative_values_clamp_and_are_counted)
{
    _Alignas(16) unsigned char p[PARAMS_SIZE];
    const kernel_case c = {
        .stage = stage_for(SMP_SOBEL_X, p, SMP_CLAMP), .params = p, .in = case_shape(3, 1, 1, SMP_U8)};
    float out[3];
    uint64_t clipped;
    kernel_case_samples(&c, (const float[]){50, 20, 20}, out, &clipped);
    assert_int_equal(clipped, 2);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
}

SMP_TEST(laplacian_takes_four_or_eight_neighbours)
{
    PARAMS(p, &smp_stage_laplacian, {"neighbours", 5});
    smp_error err = {0};
    assert_int_equal(smp_stage_laplacian.check(p, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.message, "4 or 8"));
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (int output = 0; output <= SMP_LAPLACE_8; output++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            _Alignas(16) unsigned char p[PARAMS_SIZE];
            const smp_stage *stage = stage_for(output, p, edge);
            stencil_check_sizes(stage, p, edge == SMP_MIRROR && output % 2 == 0);
            if (edge == SMP_CLAMP)
                kernel_case_matrix(stage, p, 16, 4);
        }
}

SMP_TEST(bytes_in_wide_pictures_give_the_same_bytes)
{
    for (int output = 0; output <= SMP_LAPLACE_8; output++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            _Alignas(16) unsigned char p[PARAMS_SIZE];
            const smp_stage *stage = stage_for(output, p, edge);
            for (const smp_param *q = stage->params; q->name; q++)
                if (!strcmp(q->name, "fill"))
                    params_put(q, p, output % 2 ? 0.2 : 0.7); /* code values 51 and 178.5 */
            kernel_case c = kernel_case_in(stage, p, case_shape(1543, 3, 1 + 2 * (output % 2), SMP_U8));
            c.seed = 8;
            kernel_case_check(&c);
        }
}

SMP_TEST(floats_hold_integers_and_what_is_not_finite)
{
    for (int output = 0; output <= SMP_LAPLACE_8; output++) {
        _Alignas(16) unsigned char p[PARAMS_SIZE];
        stencil_check_storage(stage_for(output, p, SMP_REFLECT), p);
        stencil_check_nonfinite(stage_for(output, p, SMP_CLAMP), p);
    }
}
