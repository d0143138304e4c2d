/* gaussian arithmetic=fixed: its weights, its values against sums of our own, how far it is from the float definition,
 * that its variants agree, and which pictures it refuses. */
#include "stencil_case.h"

#include "matrix_case.h"

#include "bell_fixed.h"
#include "stages/bell_weights.h"

extern const smp_stage smp_stage_gaussian;

enum { FLOAT, FIXED };

#define FIXED_PARAMS(name, ...) PARAMS(name, &smp_stage_gaussian, {"arithmetic", FIXED}, __VA_ARGS__)

static smp_shape plain_shape(int64_t width, int64_t height, int channels)
{
    smp_shape shape = case_shape(width, height, channels, SMP_U8);
    shape.alpha = false;
    return shape;
}

static kernel_case fixed_case(const void *params, smp_shape in, smp_format from, smp_format to, uint64_t seed)
{
    return (kernel_case){.stage = &smp_stage_gaussian,
                         .params = params,
                         .in = in,
                         .in_storage = from,
                         .out_storage = to,
                         .values = from == SMP_F32 ? CASE_ANY : CASE_CODES,
                         .seed = seed};
}

static void weights_are_whole_and_add_up(void **state)
{
    (void)state;
    static const double truncates[] = {2, 2.5, 4, 10};
    int bells = 0;
    for (size_t t = 0; t < sizeof truncates / sizeof truncates[0]; t++)
        for (double sigma = 0.01; sigma < 32; sigma = sigma * 1.2 + 0.01) {
            smp_bell bell;
            smp_node_plan work = {.out = plain_shape(9, 9, 1)};
            smp_error err = {0};
            double w[400];
            if (smp_bell_plan_fixed(sigma, truncates[t], SMP_CLAMP, 0, &bell, &work, &err)) {
                assert_true(truncates[t] * sigma > SMP_FIXED_RADIUS);
                continue;
            }
            smp_bell_fill(w, (int)ceil(truncates[t] * sigma), sigma);
            int32_t sum = 0;
            assert_true(bell.fixed && bell.radius <= SMP_FIXED_RADIUS);
            assert_true(work.nothing == (bell.radius == 0));
            assert_int_equal(work.reach_up, bell.radius);
            for (int k = 0; k <= bell.radius; k++) {
                const double exact = w[k] * SMP_FIXED_ONE;
                assert_true(bell.w[k] == floorf(bell.w[k]) && bell.w[k] >= 1);
                assert_true(fabs(bell.w[k] - exact) <= (k ? 0.5 : bell.radius + 1));
                assert_int_equal(smp_fixed_weight(&bell, -k), smp_fixed_weight(&bell, k));
                sum += (k ? 2 : 1) * (int32_t)bell.w[k];
            }
            assert_int_equal(sum, SMP_FIXED_ONE);
            bells++;
        }
    assert_true(bells > 60);
}

/* The definition in 64 bits and in one place: the picture continued by the border rule in both directions. */
static int64_t sum_of(const picture *in, const smp_bell *bell, int64_t x, int64_t y, int c)
{
    const int r = bell->radius;
    const float fill = bell->edge == SMP_CONSTANT ? rintf(bell->fill * 255.f) : 0;
    int64_t sum = 0;
    for (int j = -r; j <= r; j++) {
        int64_t row = 0;
        for (int i = -r; i <= r; i++)
            row += (int64_t)bell->w[abs(i)] * (int64_t)smp_at_border(&in->view, x + i, y + j, c, bell->edge, fill);
        sum += (int64_t)bell->w[abs(j)] * ((row + 128) / 256);
    }
    return (sum + (1 << 23)) / (1 << 24);
}

static void values_equal_sums_of_integers(void **state)
{
    (void)state;
    static const double sigmas[] = {0.2, 0.5, 1.3, 4};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
        for (int edge = 0; edge < SMP_EDGES; edge++) {
            FIXED_PARAMS(p, {"sigma", sigmas[s]}, {"edge", edge}, {"fill", 0.3});
            const kernel_case c = fixed_case(p, plain_shape(21, 11, 1 + edge % 4), SMP_U8, SMP_U8, s);
            smp_node_plan plan = case_plan(&c);
            smp_bell bell;
            memcpy(&bell, plan.kernel, sizeof bell);
            picture in = picture_make(&c.in, SMP_U8), got;
            picture_fill(&in, c.seed, CASE_CODES);
            kernel_case_naive(&c, &in, NULL, &got);
            for (int64_t y = 0; y < 11; y++)
                for (int64_t x = 0; x < 21; x++)
                    for (int k = 0; k < c.in.channels; k++)
                        assert_int_equal((int)picture_get(&got, x, y, k), sum_of(&in, &bell, x, y, k));
            case_plan_free(&plan);
            picture_free(&in);
            picture_free(&got);
        }
}

/* What the stage's help says: at most 1, and few of them. */
static void at_most_one_from_the_float_definition(void **state)
{
    (void)state;
    static const struct {
        double sigma, truncate;
    } bells[] = {{0.3, 4}, {0.5, 4}, {1, 2}, {1.75, 4}, {2, 4}, {5, 4}, {15.7, 4}, {31, 2}};
    for (size_t i = 0; i < sizeof bells / sizeof *bells; i++)
        for (int sharp = 0; sharp < 2; sharp++) { /* noise, and black beside white */
            picture out[2], in = {0};
            long other = 0, all = 0;
            for (int arithmetic = FLOAT; arithmetic <= FIXED; arithmetic++) {
                PARAMS(p, &smp_stage_gaussian, {"arithmetic", arithmetic}, {"sigma", bells[i].sigma},
                       {"truncate", bells[i].truncate});
                kernel_case c = fixed_case(p, plain_shape(150, 150, 3), SMP_U8, SMP_U8, 7);
                if (!in.memory) {
                    in = picture_make(&c.in, SMP_U8);
                    picture_fill(&in, 7 + i, CASE_CODES);
                    for (int64_t y = 0; y < 150 && sharp; y++)
                        for (int64_t x = 0; x < 450; x++)
                            picture_set(&in, x / 3, y, (int)(x % 3), (x / 3 > y) ? 255.f : 0.f);
                }
                out[arithmetic] = picture_make(&c.in, SMP_U8);
                smp_node_plan plan = case_plan(&c);
                const smp_variant *tiled = smp_variant_find(smp_stage_gaussian.variants, "tiled");
                case_run(&c, &plan, tiled, case_has_isa(SMP_ISA_V3) ? SMP_ISA_V3 : SMP_ISA_BASE, &in, NULL,
                         &out[arithmetic], NULL, 0, 1);
                case_plan_free(&plan);
            }
            for (int64_t y = 0; y < 150; y++)
                for (int64_t x = 0; x < 450; x++, all++) {
                    const float d = picture_get(&out[FLOAT], x / 3, y, (int)(x % 3)) -
                                    picture_get(&out[FIXED], x / 3, y, (int)(x % 3));
                    assert_true(fabsf(d) <= 1);
                    other += d != 0;
                }
            if (!sharp)
                print_message("sigma %g truncate %g: %.3f %% of samples differ by one\n", bells[i].sigma,
                              bells[i].truncate, 100. * (double)other / (double)all);
            assert_true(sharp || other < (bells[i].sigma <= 2 ? all / 400 : all / 50));
            picture_free(&in);
            picture_free(&out[FLOAT]);
            picture_free(&out[FIXED]);
        }
}

static void every_variant_gives_the_same_bytes(void **state)
{
    (void)state;
    static const double sigmas[] = {0.25, 0.3, 0.5, 1, 1.2, 2, 4.3, 12};
    static const int widths[] = {1, 61, 5, 130, 400, 9, 33, 200}, heights[] = {19, 45, 1, 30, 6, 9, 64, 7};
    for (int s = 0; s < 8; s++)
        for (int k = 0; k < 4; k++) {
            FIXED_PARAMS(p, {"sigma", sigmas[s]}, {"edge", (s + k) % SMP_EDGES}, {"fill", 0.7});
            const kernel_case c = fixed_case(p, plain_shape(widths[s], heights[(s + k) % 8], 1 + (s + 3 * k) % 5),
                                             k % 2 ? SMP_F32 : SMP_U8, k / 2 ? SMP_F32 : SMP_U8, (uint64_t)s);
            kernel_case_check(&c);
        }
}

static void many_channels_do(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 8; channels++) {
        FIXED_PARAMS(p, {"sigma", 15.7}, {"edge", SMP_WRAP});
        const kernel_case c = fixed_case(p, plain_shape(70, 11, channels), SMP_U8, SMP_U8, 3);
        kernel_case_check(&c);
    }
}

/* ---------------------------------------------------------------------------------------------- planning */

static smp_code plan_of(const char *const *lines, size_t count, const smp_shape *in, bool plain, smp_plan **plan,
                        smp_error *err)
{
    smp_program *program = parse_lines(lines, count);
    assert_non_null(program);
    smp_plan_request ask = {.program = program,
                            .input = *in,
                            .orientation = 1,
                            .output = "memory",
                            .accepts = accepts_all,
                            .plain_storage = plain};
    smp_diags diags = {0};
    smp_code code = smp_plan_make(&ask, &diags, plan, err);
    smp_diags_free(&diags);
    smp_program_free(program);
    return code;
}

static void other_pictures_are_refused(void **state)
{
    (void)state;
    const char *const blur = "gaussian 1px arithmetic=fixed", *const linear[] = {"light linear", blur};
    const struct {
        smp_shape in;
        const char *const *lines;
        size_t count;
        const char *says, *hint;
    } rows[] = {
        {case_shape(9, 9, 1, SMP_U16), &blur, 1, "8 bits", "depth 8bit"},
        {case_shape(9, 9, 3, SMP_F32), &blur, 1, "8 bits", "depth 8bit"},
        {case_shape(9, 9, 4, SMP_U8), &blur, 1, "alpha", "leave out arithmetic=fixed"},
        {case_shape(9, 9, 3, SMP_U8), linear, 2, "linear light", "light encoded"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        smp_plan *plan = NULL;
        smp_error err = {0};
        assert_int_equal(plan_of(rows[i].lines, rows[i].count, &rows[i].in, false, &plan, &err), SMP_E_PIPE);
        assert_non_null(strstr(err.message, rows[i].says));
        assert_non_null(strstr(err.hint, rows[i].hint));
    }
}

static void wide_bells_are_refused(void **state)
{
    (void)state;
    const char *const wide = "gaussian 16px arithmetic=fixed", *const most = "gaussian 15.75px arithmetic=fixed";
    const smp_shape in = case_shape(99, 99, 1, SMP_U8);
    smp_plan *plan = NULL;
    smp_error err = {0};
    assert_int_equal(plan_of(&wide, 1, &in, false, &plan, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.message, "63"));
    assert_int_equal(plan_of(&most, 1, &in, false, &plan, &err), SMP_OK);
    smp_plan_free(plan);
}

static void a_bell_of_one_weight_is_left_out(void **state)
{
    (void)state;
    FIXED_PARAMS(p, {"sigma", 0.002});
    const kernel_case c = fixed_case(p, plain_shape(9, 9, 3), SMP_U8, SMP_U8, 1);
    smp_node_plan plan = case_plan(&c);
    assert_true(plan.nothing);
    case_plan_free(&plan);
}

/* Bytes before and after it, whatever computed what comes in; with f32 between all stages the same samples come out. */
static void computed_samples_are_rounded_first(void **state)
{
    (void)state;
    static const char *const lines[] = {"gray", "multiply 130%", "gaussian 1.2px arithmetic=fixed", "multiply 90%"};
    const smp_shape in = case_shape(70, 40, 3, SMP_U8);
    picture from = picture_make(&in, SMP_U8);
    picture_fill(&from, 4, CASE_CODES);
    smp_device_request ask = {.spec = "cpu", .threads = 1};
    smp_device *device = NULL;
    smp_error err = {0};
    assert_int_equal(smp_device_open(&ask, &device, NULL, 0, &err), SMP_OK);
    outcome out[2] = {{{{0}}}};
    for (int plain = 0; plain < 2; plain++) {
        smp_plan *plan = NULL;
        assert_int_equal(plan_of(lines, 4, &in, plain, &plan, &err), SMP_OK);
        for (size_t i = 0; i < plan->step_count; i++)
            if (plan->steps[i].work.codes) {
                assert_int_equal(plan->steps[i].storage, plain ? SMP_F32 : SMP_U8);
                assert_int_equal(plan->steps[plan->steps[i].input].storage, plain ? SMP_F32 : SMP_U8);
            }
        run_plan(plan, &from, NULL, 0, device, &out[plain]);
        smp_plan_free(plan);
    }
    assert_true(picture_equal(&out[0].out, &out[1].out));
    outcome_free(&out[0]);
    outcome_free(&out[1]);
    picture_free(&from);
    smp_device_close(device);
}

static void out_of_memory_is_an_error_without_a_leak(void **state)
{
    (void)state;
    FIXED_PARAMS(p, {"sigma", 2});
    const smp_shape in = plain_shape(9, 9, 3);
    const uint64_t live = smp_alloc_live();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        smp_node_plan plan = {.out = in};
        smp_error err = {0};
        smp_alloc_fail_at(nth);
        assert_int_equal(smp_stage_gaussian.plan(p, &in, NULL, &plan, &err), SMP_E_MEMORY);
        smp_alloc_fail_at(0);
        smp_free(plan.table);
        assert_true(smp_alloc_live() == live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_whole_and_add_up),
        cmocka_unit_test(values_equal_sums_of_integers),
        cmocka_unit_test(at_most_one_from_the_float_definition),
        cmocka_unit_test(every_variant_gives_the_same_bytes),
        cmocka_unit_test(many_channels_do),
        cmocka_unit_test(other_pictures_are_refused),
        cmocka_unit_test(wide_bells_are_refused),
        cmocka_unit_test(a_bell_of_one_weight_is_left_out),
        cmocka_unit_test(computed_samples_are_rounded_first),
        cmocka_unit_test(out_of_memory_is_an_error_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
