/* histogram: counts of small pictures worked out by hand, and that variants and storages agree. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

#include "reduce/histogram.h"

extern const smp_stage smp_stage_histogram;

typedef struct params { /* as the stage declares them */
    const char *name;
    int64_t bins;
} params;

/* The counts of `values` (one row, one channel), bins + 1 of them; the caller frees them. */
static uint64_t *count(const float *values, int n, smp_format nominal, smp_format storage, int64_t bins)
{
    params p = {.bins = bins};
    kernel_case c = {.stage = &smp_stage_histogram, .params = &p, .in = case_shape(n, 1, 1, nominal)};
    picture in = picture_make(&c.in, storage);
    for (int i = 0; i < n; i++)
        picture_set(&in, i, 0, 0, values[i]);
    smp_node_plan plan = case_plan(&c);
    uint64_t *naive = case_result(&plan), *tiled = case_result(&plan);
    case_run(&c, &plan, &smp_stage_histogram.variants[0], SMP_ISA_BASE, &in, NULL, NULL, naive, 0, 1);
    case_run(&c, &plan, &smp_stage_histogram.variants[1], SMP_ISA_BASE, &in, NULL, NULL, tiled, 0, 1);
    assert_memory_equal(naive, tiled, plan.reduction.size);
    free(tiled);
    picture_free(&in);
    case_plan_free(&plan);
    return naive;
}

SMP_TEST(every_variant_gives_the_same_counts)
{
    static const int64_t bins[] = {256, 7, 65536};
    for (int b = 0; b < 3; b++)
        kernel_case_matrix(&smp_stage_histogram, &(params){.bins = bins[b]}, b ? 5 : 32, b ? 2 : 8);
}

SMP_TEST(nan_and_infinity_do_not_disturb)
{
    for (smp_format nominal = SMP_U8; nominal < SMP_FORMATS; nominal++) {
        kernel_case c = kernel_case_in(&smp_stage_histogram, &(params){.bins = 300}, case_shape(257, 127, 3, nominal));
        c.in_storage = SMP_F32, c.out_storage = SMP_U8;
        c.values = CASE_ANY;
        kernel_case_check(&c);
    }
}

/* Enough bytes that the tiled kernel counts them by pairs: noise, one value only, and two in turn. */
SMP_TEST(large_pictures_of_bytes_are_counted_whole)
{
    kernel_case c = {
        .stage = &smp_stage_histogram, .params = &(params){.bins = 256}, .in = case_shape(1021, 700, 1, SMP_U8)};
    picture in = picture_make(&c.in, SMP_U8);
    picture_fill(&in, 1, CASE_CODES);
    for (int64_t y = 200; y < 500; y++)
        for (int64_t x = 0; x < 1021; x++)
            picture_set(&in, x, y, 0, y < 350 ? 77.f : x & 1 ? 255.f : 0.f);
    smp_node_plan plan = case_plan(&c);
    uint64_t *naive = case_result(&plan), *tiled = case_result(&plan);
    case_run(&c, &plan, &smp_stage_histogram.variants[0], SMP_ISA_BASE, &in, NULL, NULL, naive, 0, 1);
    for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS; isa++) {
        if (!case_has_isa(isa))
            continue;
        memset(tiled, 0, plan.reduction.size);
        case_run(&c, &plan, &smp_stage_histogram.variants[1], isa, &in, NULL, NULL, tiled, 0, 1);
        assert_memory_equal(naive, tiled, plan.reduction.size);
    }
    free(naive);
    free(tiled);
    picture_free(&in);
    case_plan_free(&plan);
}

SMP_TEST(bins_of_code_values_are_exact)
{
    const float v[] = {0, 1, 1, 255, 255, 255, 128};
    uint64_t *counts = count(v, 7, SMP_U8, SMP_U8, 256);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[128], 1);
    assert_int_equal(counts[255], 3);
    free(counts);
    counts = count(v, 7, SMP_U8, SMP_U8, 2); /* 0..127 and 128..255 */
    assert_int_equal(counts[0], 3);
    assert_int_equal(counts[1], 4);
    free(counts);
    counts = count((const float[]){0, 255, 256, 65535}, 4, SMP_U16, SMP_U16, 256);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[255], 1);
    free(counts);
}

SMP_TEST(fractions_count_as_the_code_value_a_file_would_hold)
{
    uint64_t *counts = count((const float[]){-3.f, 0.5f, 1.5f, 99.6f, 300.f, NAN}, 6, SMP_U8, SMP_F32, 256);
    assert_int_equal(counts[0], 2); /* ties go to even */
    assert_int_equal(counts[2], 1);
    assert_int_equal(counts[100], 1);
    assert_int_equal(counts[255], 1);
    assert_int_equal(counts[256], 1); /* NaN */
    free(counts);
}

SMP_TEST(float_pictures_are_binned_over_full_scale)
{
    const float v[] = {-1.f, 0.f, 0.2499f, 0.25f, 0.999f, 1.f, 2.f, INFINITY, -INFINITY, NAN};
    uint64_t *counts = count(v, 10, SMP_F32, SMP_F32, 4);
    assert_int_equal(counts[0], 4);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[3], 4);
    assert_int_equal(counts[4], 1);
    free(counts);
}

SMP_TEST(storage_does_not_change_the_counts)
{
    kernel_case c = {.stage = &smp_stage_histogram, .params = &(params){.bins = 100}};
    for (smp_format nominal = SMP_U8; nominal <= SMP_U16; nominal++) {
        c.in = case_shape(61, 45, 3, nominal);
        smp_node_plan plan = case_plan(&c);
        uint64_t *results[2];
        for (int i = 0; i < 2; i++) {
            picture in = picture_make(&c.in, i ? SMP_F32 : nominal);
            picture_fill(&in, 9, CASE_CODES);
            results[i] = case_result(&plan);
            case_run(&c, &plan, &smp_stage_histogram.variants[1], SMP_ISA_BASE, &in, NULL, NULL, results[i], 7, 2);
            picture_free(&in);
        }
        assert_memory_equal(results[0], results[1], plan.reduction.size);
        free(results[0]);
        free(results[1]);
        case_plan_free(&plan);
    }
}

SMP_TEST(measurements_are_a_list_a_channel)
{
    params p = {.bins = 2};
    smp_shape shape = case_shape(3, 1, 2, SMP_F32);
    smp_node_plan plan = {.out = shape};
    smp_error err = {0};
    assert_int_equal(smp_stage_histogram.plan(&p, &shape, NULL, &plan, &err), SMP_OK);
    const uint64_t counts[] = {1, 2, 0, 0, 2, 1};
    assert_int_equal(plan.reduction.size, sizeof counts);
    for (uint64_t nth = 1;; nth++) { /* every allocation failing in turn */
        smp_measurements measurements = {0};
        smp_alloc_fail_at(nth);
        smp_code code = smp_stage_histogram.reduction->finish(&p, &shape, counts, &plan, &measurements, &err);
        smp_alloc_fail_at(0);
        if (code) {
            assert_int_equal(code, SMP_E_MEMORY);
            smp_measurements_free(&measurements);
            continue;
        }
        assert_true(nth > 2);
        assert_int_equal(measurements.count, 4);
        assert_string_equal(measurements.items[2].name, "counts");
        assert_int_equal(measurements.items[2].channel, 1);
        assert_int_equal(measurements.items[2].list_len, 2);
        assert_true(measurements.items[2].list[1] == 2);
        assert_string_equal(measurements.items[3].name, "nan");
        assert_true(measurements.items[3].value == 1);
        smp_measurements_free(&measurements);
        break;
    }
    assert_int_equal(smp_alloc_live(), 0);
}
