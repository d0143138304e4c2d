/* silence: known runs, the shortest one, both ends, and every variant and device against the definition. */
#include "suite.h"

#include "gpu_case.h"

#include "audio/silence.h"

typedef struct silence_values { /* as the stage's parameters lie */
    double threshold, min;
    const char *name;
} silence_values;

extern const smp_stage smp_stage_silence;

static smp_measurements measure(const silence_values *values, const picture *in, int64_t frames)
{
    const kernel_case c = kernel_case_in(&smp_stage_silence, values, case_sound(frames, 2, 1000));
    smp_error err = {0};
    smp_measurements measurements = {0};
    smp_node_plan plan = case_plan(&c);
    void *result = case_result(&plan);
    case_run(&c, &plan, &smp_stage_silence.variants[1], SMP_ISA_BASE, in, NULL, NULL, result, 0, 1);
    assert_int_equal(smp_stage_silence.reduction->finish(values, &c.in, result, &plan, &measurements, &err), SMP_OK);
    free(result);
    return measurements;
}

/* Both channels below -20 dBFS in 0..4, 40..139, 200..298 and 950..999; one of them is loud in 400..499. */
SMP_TEST(runs_of_the_least_length_are_told)
{
    const smp_shape shape = case_sound(1000, 2, 1000);
    picture in = picture_make(&shape, SMP_F32);
    for (int64_t y = 0; y < 1000; y++) {
        const bool quiet = y < 5 || (y >= 40 && y < 140) || (y >= 200 && y < 299) || y >= 950;
        picture_set(&in, 0, y, 0, quiet || (y >= 400 && y < 500) ? -0.0999f : 0.2f);
        picture_set(&in, 0, y, 1, quiet ? 0.f : -0.1f);
    }
    smp_measurements found = measure(&(silence_values){-20, 0.1, NULL}, &in, 1000);
    assert_int_equal(found.count, 4);
    assert_true(found.items[0].value == 1 && found.items[1].value == 0.1);
    assert_true(found.items[2].list[0] == 0.04 && found.items[3].list[0] == 0.14);
    smp_measurements_free(&found);
    found = measure(&(silence_values){-20, 0, NULL}, &in, 1000);
    assert_true(found.items[0].value == 4 && found.items[1].value == 0.254);
    assert_true(found.items[2].list[0] == 0 && found.items[3].list[3] == 1);
    assert_true(found.items[2].values && found.items[3].values);
    smp_measurements_free(&found);
    found = measure(&(silence_values){-60, 0.1, NULL}, &in, 1000);
    assert_int_equal(found.count, 2); /* no lists without silences */
    assert_true(found.items[0].value == 0 && found.items[1].value == 0);
    smp_measurements_free(&found);
    picture_set(&in, 0, 100, 1, NAN); /* is not silent */
    found = measure(&(silence_values){-20, 0.05, NULL}, &in, 1000);
    assert_true(found.items[0].value == 3 && found.items[3].list[0] == 0.1);
    smp_measurements_free(&found);
    picture_free(&in);
}

SMP_TEST(every_variant_and_device_gives_the_same)
{
    static const int64_t lengths[] = {1, 31, 32, 33, 4097, 9000};
    for (int i = 0; i < 6; i++) {
        const silence_values values = {-6, 0, NULL};
        kernel_case c = kernel_case_in(&smp_stage_silence, &values, case_sound(lengths[i], 1 + i % 3, 1000));
        c.values = CASE_ANY;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
        gpu_line_check("silence -6dBFS min=2ms", case_sound(lengths[i], 1 + i % 3, 1000), CASE_ANY, 0);
    }
}
