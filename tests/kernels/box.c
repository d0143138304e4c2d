/* box: its values, and that its variants agree. */
#include "suite.h"

#include "stencil_case.h"

#include "pipe/values/value.h"
#include "stencil/box.h"

extern const smp_stage smp_stage_box, smp_stage_levels;

typedef struct exact_context {
    int size, edge;
    double fill;
} exact_context;

static double exact(const picture *in, int64_t x, int64_t y, int c, const void *context)
{
    const exact_context *e = context;
    double sum = 0;
    for (int j = 0; j < e->size; j++)
        for (int i = 0; i < e->size; i++)
            sum += double_at(in, x + i - e->size / 2, y + j - e->size / 2, c, e->edge, e->fill);
    return sum / (e->size * e->size);
}

SMP_TEST(values_are_the_mean_of_the_square)
{
    static const int sizes[] = {2, 3, 4, 5, 7, 8, 10, 13, 32};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            PARAMS(p, &smp_stage_box, {"size", sizes[s]}, {"edge", edge}, {"fill", 0.25});
            const exact_context e = {sizes[s], edge, 0.25};
            kernel_case c = kernel_case_in(&smp_stage_box, p, case_shape(21, 11, 2, SMP_U16));
            c.out_storage = SMP_F32;
            c.seed = 5;
            stencil_check_exact(&c, exact, &e, 65535 * 3e-7);
            c.in.format = c.in_storage = SMP_F32;
            stencil_check_exact(&c, exact, &e, 3e-7);
            c.in.format = c.in_storage = SMP_U8;
            stencil_check_exact(&c, exact, &e, 255 * 6e-8); /* exact sums, one rounding */
        }
}

SMP_TEST(halves_round_to_even)
{
    PARAMS(p, &smp_stage_box, {"size", 2});
    const kernel_case c = {.stage = &smp_stage_box, .params = p, .in = case_shape(4, 1, 1, SMP_U8)};
    static const float want[] = {1, 2, 2, 4};
    float out[4];
    kernel_case_samples(&c, (const float[]){1, 2, 3, 4}, out, NULL);
    assert_memory_equal(out, want, sizeof want);
}

SMP_TEST(integer_means_round_as_float_means_do)
{
    for (int32_t size = 2; size <= SMP_BOX_NARROW; size++) {
        const smp_box_divisor by = smp_box_divide_by(size * size);
        for (int32_t sum = 0; sum <= 255 * size * size; sum++)
            assert_int_equal(smp_box_mean_u16((uint16_t)sum, by, size % 2 == 0),
                             smp_to_u8(smp_box_mean((float)sum, size)));
    }
    for (int32_t size = 3; size <= SMP_BOX_WARP_SIZE; size += 2)
        for (int32_t sum = 0; sum <= 255 * size * size; sum++)
            assert_int_equal(smp_box_top((uint32_t)sum, smp_box_factor(size)) >> 24,
                             smp_to_u8(smp_box_mean((float)sum, size)));
}

SMP_TEST(size_one_is_left_out)
{
    PARAMS(p, &smp_stage_box, {"size", 1});
    const kernel_case c = {.stage = &smp_stage_box, .params = p, .in = case_shape(9, 9, 3, SMP_U8)};
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.effect.none);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const int sizes[] = {2, 5, 6, 9, 14, 31};
    int edge = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        PARAMS(p, &smp_stage_box, {"size", sizes[s]}, {"edge", edge++ % SMP_EDGES}, {"fill", 0.7});
        stencil_check_sizes(&smp_stage_box, p, sizes[s] == 5);
    }
}

SMP_TEST(bytes_in_wide_pictures_give_the_same_bytes)
{
    static const int sizes[] = {5, 16, 45, 256};
    for (int edge = 0; edge < SMP_EDGES; edge++)
        for (int i = edge % 2; i < (edge == SMP_REFLECT ? 4 : 3); i += 2) {
            PARAMS(p, &smp_stage_box, {"size", sizes[i]}, {"edge", edge}, {"fill", edge % 2 ? 0.2 : 0.7});
            kernel_case c = kernel_case_in(&smp_stage_box, p, case_shape(i < 2 ? 1543 : 530, 3, i < 2 ? 1 : 3, SMP_U8));
            c.seed = 8;
            kernel_case_check(&c);
        }
}

SMP_TEST(every_border_gives_the_same_bytes)
{
    for (int edge = 0; edge < SMP_EDGES; edge++)
        for (int size = 4; size <= 11; size += 7) {
            PARAMS(p, &smp_stage_box, {"size", size}, {"edge", edge}, {"fill", 0.7});
            stencil_check_sizes(&smp_stage_box, p, false);
        }
}

SMP_TEST(floats_hold_integers_and_what_is_not_finite)
{
    PARAMS(p, &smp_stage_box, {"size", 7}, {"edge", SMP_MIRROR});
    stencil_check_storage(&smp_stage_box, p);
    PARAMS(n, &smp_stage_box, {"size", 12});
    stencil_check_nonfinite(&smp_stage_box, n);
    PARAMS(q, &smp_stage_box, {"size", 3});
    stencil_check_nonfinite(&smp_stage_box, q);
}

SMP_TEST(tests_have_defaults_as_pipelines_do)
{
    PARAMS(p, &smp_stage_levels, {"black", 0.25});
    for (const smp_param *param = smp_stage_levels.params; param->name; param++)
        if (!strcmp(param->name, "white"))
            assert_true(smp_field_get(param, p).number == 1); /* 100% */
}
