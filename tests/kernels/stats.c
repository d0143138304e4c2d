/* stats: against sums made the plain way, and that variants, strips and storages give the same bytes. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

#include "reduce/stats.h"

extern const smp_stage smp_stage_stats;

typedef struct params { /* as the stage declares them */
    const char *name;
    smp_matrix percentiles;
} params;

static const double some_percentiles[] = {0, 25, 50, 99.5, 100};
static const params with_percentiles = {.percentiles = {1, 5, some_percentiles}}, without = {0};

/* Returns the stage's measurements of a picture, with its last variant. */
static smp_measurements measure(const kernel_case *c, const picture *in)
{
    smp_node_plan plan = case_plan(c);
    void *result = case_result(&plan);
    smp_measurements measurements = {0};
    smp_error err = {0};
    case_run(c, &plan, &smp_stage_stats.variants[1], SMP_ISA_BASE, in, NULL, NULL, result, 0, 1);
    assert_int_equal(c->stage->reduction->finish(c->params, &c->in, result, &plan, &measurements, &err), SMP_OK);
    free(result);
    case_plan_free(&plan);
    return measurements;
}

static double found(const smp_measurements *measurements, const char *name, int channel)
{
    for (size_t i = 0; i < measurements->count; i++)
        if (measurements->items[i].channel == channel && !strcmp(measurements->items[i].name, name))
            return measurements->items[i].value;
    fail_msg("no finding %s of channel %d", name, channel);
    return 0;
}

/* Measurements of one row of f32 samples of a float picture. */
static smp_measurements measure_row(const float *values, int n, smp_kind kind)
{
    kernel_case c = {.stage = &smp_stage_stats, .params = &with_percentiles};
    c.in = kind == SMP_AUDIO ? case_shape(1, n, 1, SMP_F32) : case_shape(n, 1, 1, SMP_F32);
    c.in.kind = kind;
    picture in = picture_make(&c.in, SMP_F32);
    for (int i = 0; i < n; i++)
        picture_set(&in, kind == SMP_AUDIO ? 0 : i, kind == SMP_AUDIO ? i : 0, 0, values[i]);
    smp_measurements measurements = measure(&c, &in);
    picture_free(&in);
    return measurements;
}

SMP_TEST(every_variant_gives_the_same_leaves_and_counts)
{
    kernel_case_matrix(&smp_stage_stats, &without, 32, 8);
    kernel_case_matrix(&smp_stage_stats, &with_percentiles, 5, 1);
}

SMP_TEST(leaves_that_span_rows_or_part_of_one_agree)
{
    static const int64_t sizes[][2] = {{4095, 2}, {4096, 3}, {4097, 2}, {9000, 2},
                                       {2048, 5}, {1, 9001}, {3, 2999}, {33, 260}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int k = 0; k < 8; k++) {
            smp_format nominal, in, out;
            if (!case_formats(k, &nominal, &in, &out))
                continue;
            for (int values = CASE_CODES; values <= (in == SMP_F32 ? CASE_ANY : CASE_CODES); values++) {
                kernel_case c = kernel_case_in(&smp_stage_stats, &without,
                                               case_shape(sizes[i][0], sizes[i][1], 1 + (int)i % 4, nominal));
                c.in_storage = in, c.out_storage = SMP_U8;
                c.values = (case_values)values;
                c.seed = i;
                kernel_case_check(&c);
            }
        }
}

SMP_TEST(rows_without_gaps_give_the_same_leaves)
{
    for (smp_format format = SMP_U8; format < SMP_FORMATS; format++) {
        kernel_case c = {.stage = &smp_stage_stats, .params = &without, .in = case_shape(3, 3001, 2, format)};
        smp_node_plan plan = case_plan(&c);
        picture padded = picture_make(&c.in, format), tight = picture_window(&c.in, format, 0, c.in.height, 0);
        picture_fill(&padded, 3, CASE_CODES);
        picture_fill(&tight, 3, CASE_CODES);
        void *a = case_result(&plan), *b = case_result(&plan);
        for (int v = 0; v < 2; v++) {
            smp_io io = {.in = v ? tight.view : padded.view, .out = v ? tight.view : padded.view, .result = v ? b : a};
            case_launch(&smp_stage_stats.variants[v], &smp_stage_stats.variants[v].launches[0], SMP_ISA_BASE, &io,
                        &plan, 1);
        }
        assert_memory_equal(a, b, plan.reduction.size);
        free(a);
        free(b);
        picture_free(&padded);
        picture_free(&tight);
    }
}

SMP_TEST(storage_does_not_change_the_result)
{
    for (smp_format nominal = SMP_U8; nominal <= SMP_U16; nominal++) {
        kernel_case c = {
            .stage = &smp_stage_stats, .params = &with_percentiles, .in = case_shape(257, 127, 3, nominal)};
        smp_node_plan plan = case_plan(&c);
        void *results[2];
        for (int i = 0; i < 2; i++) {
            picture in = picture_make(&c.in, i ? SMP_F32 : nominal);
            picture_fill(&in, 9, CASE_CODES);
            results[i] = case_result(&plan);
            case_run(&c, &plan, &smp_stage_stats.variants[i], SMP_ISA_BASE, &in, NULL, NULL, results[i], 16, 1);
            picture_free(&in);
        }
        assert_memory_equal(results[0], results[1], plan.reduction.size);
        free(results[0]);
        free(results[1]);
        case_plan_free(&plan);
    }
}

SMP_TEST(measurements_equal_plain_sums)
{
    kernel_case c = {.stage = &smp_stage_stats, .params = &without, .in = case_shape(257, 127, 3, SMP_U16)};
    picture in = picture_make(&c.in, SMP_U16);
    picture_fill(&in, 4, CASE_CODES);
    smp_measurements measurements = measure(&c, &in);
    for (int k = 0; k < 3; k++) {
        long double n = 257 * 127, sum = 0, squares = 0, about_mean = 0;
        float min = 65535, max = 0;
        for (int i = 0; i < 257 * 127; i++) {
            float v = picture_get(&in, i % 257, i / 257, k);
            sum += (long double)v;
            squares += (long double)v * (long double)v;
            min = fminf(min, v);
            max = fmaxf(max, v);
        }
        for (int i = 0; i < 257 * 127; i++) {
            long double d = (long double)picture_get(&in, i % 257, i / 257, k) - sum / n;
            about_mean += d * d;
        }
        assert_true(found(&measurements, "count", k) == 257 * 127);
        assert_true(found(&measurements, "min", k) == (double)min);
        assert_true(found(&measurements, "max", k) == (double)max);
        assert_true(found(&measurements, "peak", k) == (double)max);
        assert_true(found(&measurements, "sum", k) == (double)sum);
        assert_true(found(&measurements, "mean", k) == (double)sum / (double)n);
        double deviation = (double)sqrtl(about_mean / n), rms = (double)sqrtl(squares / n);
        assert_true(fabs(found(&measurements, "deviation", k) / deviation - 1) < 1e-14);
        assert_true(fabs(found(&measurements, "rms", k) / rms - 1) < 1e-14);
    }
    smp_measurements_free(&measurements);
    picture_free(&in);
}

SMP_TEST(large_offsets_do_not_cancel)
{
    kernel_case c = {.stage = &smp_stage_stats, .params = &without, .in = case_shape(500, 300, 1, SMP_F32)};
    picture in = picture_make(&c.in, SMP_F32);
    long double mean = 0, squares = 0, n = 500 * 300;
    uint64_t random = 5;
    for (int i = 0; i < 500 * 300; i++)
        picture_set(&in, i % 500, i / 500, 0, 4e6f + (float)(case_random(&random) % 8) * 0.25f);
    for (int i = 0; i < 500 * 300; i++)
        mean += (long double)picture_get(&in, i % 500, i / 500, 0) / n;
    for (int i = 0; i < 500 * 300; i++) {
        long double d = (long double)picture_get(&in, i % 500, i / 500, 0) - mean;
        squares += d * d;
    }
    smp_measurements measurements = measure(&c, &in);
    assert_true(fabs(found(&measurements, "deviation", 0) / (double)sqrtl(squares / n) - 1) < 1e-9);
    smp_measurements_free(&measurements);
    picture_free(&in);
}

SMP_TEST(samples_that_are_not_finite_are_counted_and_left_out)
{
    smp_measurements measurements = measure_row((const float[]){NAN, 3, INFINITY, 5, -INFINITY}, 5, SMP_IMAGE);
    assert_true(found(&measurements, "count", 0) == 5);
    assert_true(found(&measurements, "nonfinite", 0) == 3);
    assert_true(found(&measurements, "min", 0) == 3);
    assert_true(found(&measurements, "max", 0) == 5);
    assert_true(found(&measurements, "mean", 0) == 4);
    assert_true(found(&measurements, "deviation", 0) == 1);
    smp_measurements_free(&measurements);
    measurements = measure_row((const float[]){NAN, INFINITY}, 2, SMP_IMAGE);
    assert_true(found(&measurements, "nonfinite", 0) == 2);
    assert_true(isnan(found(&measurements, "mean", 0)));
    assert_true(found(&measurements, "sum", 0) == 0);
    smp_measurements_free(&measurements);
}

SMP_TEST(percentiles_interpolate_between_ranks)
{
    kernel_case c = {.stage = &smp_stage_stats, .params = &with_percentiles, .in = case_shape(6, 1, 1, SMP_U8)};
    picture in = picture_make(&c.in, SMP_U8);
    static const float values[] = {50, 10, 20, 20, 40, 200}; /* sorted: 10 20 20 40 50 200 */
    for (int i = 0; i < 6; i++)
        picture_set(&in, i, 0, 0, values[i]);
    smp_measurements measurements = measure(&c, &in);
    assert_true(found(&measurements, "p0", 0) == 10);
    assert_true(found(&measurements, "p25", 0) == 20);
    assert_true(found(&measurements, "p50", 0) == 30);
    assert_true(fabs(found(&measurements, "p99.5", 0) - 196.25) < 1e-9); /* numpy.percentile(values, 99.5) */
    assert_true(found(&measurements, "p100", 0) == 200);
    smp_measurements_free(&measurements);
    picture_free(&in);
}

SMP_TEST(float_percentiles_are_within_half_a_bin)
{
    static const float values[] = {0.125f, 0.5f, 0.75f};
    smp_measurements measurements = measure_row(values, 3, SMP_IMAGE);
    assert_true(found(&measurements, "p0", 0) == 0.125 || fabs(found(&measurements, "p0", 0) - 0.125) <= 0.5 / 65536);
    assert_true(fabs(found(&measurements, "p50", 0) - 0.5) <= 0.5 / 65536);
    assert_true(found(&measurements, "p100", 0) == 0.75);
    smp_measurements_free(&measurements);
    static const float wave[] = {-1.f, -0.5f, 0.f}; /* sound is binned from -1 to 1 */
    measurements = measure_row(wave, 3, SMP_AUDIO);
    assert_true(fabs(found(&measurements, "p50", 0) + 0.5) <= 1. / 65536);
    assert_true(found(&measurements, "peak", 0) == 1);
    smp_measurements_free(&measurements);
}

/* Samples beyond full scale count as full scale; the least and the most are exact. */
SMP_TEST(percentiles_of_loud_sound_end_at_full_scale)
{
    static const float loud[] = {-1.25f, -1.25f, -1.25f, 0.5f, 1.125f, 1.125f, 1.125f, 1.125f, 1.5f};
    smp_measurements measurements = measure_row(loud, 9, SMP_AUDIO);
    assert_true(found(&measurements, "p0", 0) == -1.25);
    assert_true(found(&measurements, "p25", 0) == -1);
    assert_true(found(&measurements, "p50", 0) == 1);
    assert_true(fabs(found(&measurements, "p99.5", 0) - 1.48) < 1e-12); /* between the last two ranks, 1 and 1.5 */
    assert_true(found(&measurements, "p100", 0) == 1.5);
    assert_true(found(&measurements, "peak", 0) == 1.5);
    assert_true(found(&measurements, "clipped", 0) == 8);
    smp_measurements_free(&measurements);
}

static void *partial_of(const kernel_case *c, const picture *in)
{
    smp_node_plan plan = case_plan(c);
    void *result = case_result(&plan), *partial;
    smp_error err = {0};
    case_run(c, &plan, &smp_stage_stats.variants[1], SMP_ISA_BASE, in, NULL, NULL, result, 0, 1);
    assert_int_equal(c->stage->reduction->partials->make(c->params, &c->in, &plan, result, &partial, &err), SMP_OK);
    free(result);
    case_plan_free(&plan);
    return partial;
}

static bool merged(void **total, const void *more)
{
    smp_error err = {0};
    bool alike;
    assert_int_equal(smp_stage_stats.reduction->partials->merge(total, more, &alike, &err), SMP_OK);
    return alike;
}

/* Two pictures one below the other are what their partials say together; 8 bits: to the last bit but the deviation. */
SMP_TEST(joined_tallies_are_those_of_both_pictures)
{
    kernel_case whole = {.stage = &smp_stage_stats, .params = &with_percentiles, .in = case_shape(67, 41, 3, SMP_U8)};
    kernel_case above = whole, below = whole;
    above.in.height = 10;
    below.in.height = 31;
    picture all = picture_make(&whole.in, SMP_U8), a = picture_make(&above.in, SMP_U8),
            b = picture_make(&below.in, SMP_U8);
    for (int y = 0; y < 41; y++)
        for (int x = 0; x < 67; x++)
            for (int c = 0; c < 3; c++) {
                float v = (float)((x * 7 + y * y + c * 50) % 256);
                picture_set(&all, x, y, c, v);
                picture_set(y < 10 ? &a : &b, x, y < 10 ? y : y - 10, c, v);
            }
    smp_measurements want = measure(&whole, &all), got = {0};
    smp_error err = {0};
    void *total = partial_of(&above, &a), *more = partial_of(&below, &b);
    assert_true(merged(&total, more));
    assert_int_equal(smp_stage_stats.reduction->partials->report(total, &got, &err), SMP_OK);
    assert_int_equal(got.count, want.count);
    for (size_t i = 0; i < want.count; i++) {
        bool rounded = !strcmp(want.items[i].name, "deviation") || !strcmp(want.items[i].name, "rms");
        assert_string_equal(got.items[i].name, want.items[i].name);
        assert_true(fabs(got.items[i].value - want.items[i].value) <= (rounded ? 1e-13 * want.items[i].value : 0));
    }
    smp_free(total);
    smp_free(more);
    smp_measurements_free(&want);
    smp_measurements_free(&got);
    picture_free(&all);
    picture_free(&a);
    picture_free(&b);
}

SMP_TEST(tallies_of_other_formats_do_not_join)
{
    kernel_case eight = {.stage = &smp_stage_stats, .params = &without, .in = case_shape(5, 4, 1, SMP_U8)},
                wide = eight;
    wide.in.format = SMP_U16;
    picture a = picture_make(&eight.in, SMP_U8), b = picture_make(&wide.in, SMP_U16);
    void *total = partial_of(&eight, &a), *more = partial_of(&wide, &b);
    assert_false(merged(&total, more));
    smp_free(total);
    smp_free(more);
    picture_free(&a);
    picture_free(&b);
}

/* 2^53 + 1 is no double: a plain sum over files would lose the ones. */
SMP_TEST(sums_over_many_files_stay_exact)
{
    kernel_case c = {.stage = &smp_stage_stats, .params = &without, .in = case_shape(1, 1, 1, SMP_F32)};
    picture p = picture_make(&c.in, SMP_F32);
    picture_set(&p, 0, 0, 0, 9007199254740992.f);
    void *total = partial_of(&c, &p);
    picture_set(&p, 0, 0, 0, 1.f);
    void *one = partial_of(&c, &p);
    for (int i = 0; i < 10; i++)
        assert_true(merged(&total, one));
    smp_measurements measurements = {0};
    smp_error err = {0};
    assert_int_equal(smp_stage_stats.reduction->partials->report(total, &measurements, &err), SMP_OK);
    assert_true(found(&measurements, "sum", 0) == 9007199254741002.);
    smp_measurements_free(&measurements);
    smp_free(total);
    smp_free(one);
    picture_free(&p);
}

SMP_TEST(every_failing_allocation_is_reported)
{
    const smp_shape shape = case_shape(2, 1, 1, SMP_U8);
    smp_node_plan plan = {.out = shape};
    smp_error err = {0};
    assert_int_equal(smp_stage_stats.plan(&with_percentiles, &shape, NULL, &plan, &err), SMP_OK);
    void *result = case_result(&plan);
    smp_code code = SMP_E_MEMORY;
    for (uint64_t nth = 1; code; nth++) {
        smp_measurements measurements = {0};
        smp_alloc_fail_at(nth);
        code = smp_stage_stats.reduction->finish(&with_percentiles, &shape, result, &plan, &measurements, &err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_true(nth > 1 || code);
        smp_measurements_free(&measurements);
    }
    assert_int_equal(smp_alloc_live(), 0);
    free(result);
}
