/* Comparing variants that a test makes: a wrong one is found and not timed, a slow one is called slower, and samples
 * are taken when and as long as they should. */
#include "suite.h"

#include "compare_case.h"

#include "base/clock.h"

static smp_cpu_fn *real_kernel; /* the stage's naive one */

static void leaves_the_last_pixel(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    unsigned char last = 0, *end = (unsigned char *)smp_row(&io->out, io->out.y0 + io->out.rows - 1) +
                                   io->out.width * io->out.channels - 1;
    bool mine = y1 == io->out.y0 + io->out.rows;
    if (mine)
        last = *end;
    real_kernel(io, params, scratch, y0, y1);
    if (mine)
        *end = last;
}

static void is_off_by_one(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    real_kernel(io, params, scratch, y0, y1);
    if (y0 <= 7 && y1 > 7)
        ((unsigned char *)smp_row(&io->out, 7))[5]++;
}

static void takes_its_time(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    double until = smp_now() + 3e-3;
    real_kernel(io, params, scratch, y0, y1);
    while (smp_now() < until)
        continue;
}

/* Its runs differ so much that the median is never known well. */
static void is_fast_in_turns(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    static _Atomic int runs;
    if (y0 == io->out.y0 && runs++ % 4 >= 2)
        takes_its_time(io, params, scratch, y0, y1);
    else
        real_kernel(io, params, scratch, y0, y1);
}

static _Atomic bool cold; /* the other variant has run since */

static void cools_the_caches(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    real_kernel(io, params, scratch, y0, y1);
    cold = true;
}

static void is_slow_when_cold(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    if (cold)
        for (double until = smp_now() + 20e-3; smp_now() < until;)
            continue;
    real_kernel(io, params, scratch, y0, y1);
    if (y1 == io->out.y0 + io->out.rows)
        cold = false;
}

static void forgets_a_count(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    real_kernel(io, params, scratch, y0, y1);
    if (y0 == 0)
        ((uint64_t *)io->result)[smp_load(smp_row(&io->in, 0), 0, io->in.format) > 0]++;
}

static void takes_5_ms_a_row(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    for (double until = smp_now() + 5e-3 * (double)(y1 - y0); smp_now() < until;)
        continue;
    real_kernel(io, params, scratch, y0, y1);
}

/* Step 1 of the plan gets two variants with its naive kernel: as `naive` wraps it and, under the name "other", `fn`. */
static smp_compare compare_two(const char *line, smp_shape in, smp_cpu_fn *naive, smp_cpu_fn *fn, int64_t repeat,
                               double time_limit)
{
    static smp_variant variants[3];
    static smp_stage stage;
    const gpu_case c = {.lines = {line}, .in = in};
    gpu_job job = gpu_job_make(&c);
    stage = *job.plan->steps[1].stage;
    memset(variants, 0, sizeof variants);
    variants[0] = variants[1] = stage.variants[0];
    const int launch = stage.variants[0].launches[1].counts; /* a count's first launch is for floats */
    real_kernel = variants[0].launches[launch].cpu.fn[SMP_ISA_BASE];
    for (int i = 0; i < SMP_ISAS; i++) {
        variants[0].launches[launch].cpu.fn[i] = naive;
        variants[1].launches[launch].cpu.fn[i] = fn;
    }
    variants[1].name = "other";
    stage.variants = variants;
    job.plan->steps[1].stage = &stage;
    smp_compare found =
        compare_on(&job, gpu_reference(),
                   (smp_compare_request){.repeat = repeat, .time_limit = time_limit, .times = true, .hot = true});
    gpu_job_free(&job);
    return found;
}

static smp_compare compare_injected(const char *line, smp_cpu_fn *fn, int64_t repeat, double time_limit)
{
    return compare_two(line, case_shape(33, 20, 1, SMP_U8), cools_the_caches, fn, repeat, time_limit);
}

SMP_TEST(a_wrong_variant_is_reported_and_not_timed)
{
    smp_compare found = compare_injected("invert", is_off_by_one, 3, 0);
    const smp_compare_variant *other = &found.steps[0].variants[1];
    assert_int_equal(other->check, SMP_CHECK_WRONG);
    assert_int_equal(other->sample_count, 0);
    assert_int_equal(other->verdict, SMP_VERDICT_NONE);
    assert_non_null(strstr(other->wrong, "x 5, y 7, channel 0"));
    assert_true(smp_compare_any_wrong(&found));
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    smp_compare_table(to, &found, true, false);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(text, "WRONG"));
    assert_non_null(strstr(text, "x 5, y 7"));
    free(text);
    smp_compare_free(&found);
}

SMP_TEST(a_device_that_differs_from_the_cpu_is_wrong)
{
    const gpu_case c = {.lines = {"invert"}, .in = case_shape(33, 20, 1, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    smp_stage stage = *job.plan->steps[1].stage;
    smp_variant variants[2] = {stage.variants[0]};
    real_kernel = variants[0].launches[0].cpu.fn[SMP_ISA_BASE];
    for (int i = 0; i < SMP_ISAS; i++)
        variants[0].launches[0].cpu.fn[i] = is_off_by_one;
    stage.variants = variants;
    job.plan->steps[1].stage = &stage;
    smp_compare found = compare_on(&job, gpu_simt(), (smp_compare_request){.repeat = 1, .times = true});
    assert_int_equal(found.steps[0].variants[0].check, SMP_CHECK_WRONG);
    assert_string_equal(found.steps[0].variants[0].wrong, "row 7 is not what the CPU makes of it");
    smp_compare_free(&found);
    gpu_job_free(&job);
    gpu_simt_reset();
}

SMP_TEST(what_is_not_written_is_wrong_whatever_was_there)
{
    smp_compare found = compare_injected("invert", leaves_the_last_pixel, 3, 0);
    assert_int_equal(found.steps[0].variants[1].check, SMP_CHECK_WRONG);
    assert_non_null(strstr(found.steps[0].variants[1].wrong, "x 32, y 19"));
    smp_compare_free(&found);
}

SMP_TEST(a_wrong_reduction_is_found)
{
    smp_compare found = compare_injected("histogram", forgets_a_count, 3, 0);
    assert_int_equal(found.steps[0].variants[0].check, SMP_CHECK_RIGHT);
    assert_int_equal(found.steps[0].variants[1].check, SMP_CHECK_WRONG);
    smp_compare_free(&found);
}

SMP_TEST(hot_samples_follow_a_run_of_the_same_variant)
{
    smp_compare found = compare_injected("invert", is_slow_when_cold, 12, 0);
    assert_int_equal(found.steps[0].variants[1].sample_count, 12);
    assert_true(found.steps[0].variants[1].time.median < 20e-3);
    smp_compare_free(&found);
}

SMP_TEST(a_slow_variant_is_slower)
{
    smp_compare found = compare_injected("invert", takes_its_time, 12, 0);
    const smp_compare_variant *other = &found.steps[0].variants[1];
    assert_int_equal(other->check, SMP_CHECK_RIGHT);
    assert_int_equal(other->sample_count, 12);
    assert_true(other->time.median >= 3e-3);
    assert_int_equal(other->verdict, SMP_VERDICT_SLOWER);
    assert_true(smp_compare_any_slower(&found));
    assert_true(smp_compare_speedup(&found.steps[0], other) < 1);
    smp_compare_free(&found);
}

SMP_TEST(sampling_goes_on_within_the_time_limit)
{
    smp_compare found = compare_injected("invert", is_fast_in_turns, 3, 1);
    assert_true(found.steps[0].variants[1].sample_count > 3);
    assert_int_equal(found.steps[0].variants[0].sample_count, found.steps[0].variants[1].sample_count);
    assert_true(found.wall_seconds < 20);
    smp_compare_free(&found);
}

SMP_TEST(a_variant_for_which_there_is_no_time_is_left_out_and_told)
{
    smp_compare found =
        compare_two("invert", case_shape(1100, 2000, 1, SMP_U8), takes_5_ms_a_row, cools_the_caches, 3, 0);
    const smp_compare_step *step = &found.steps[0];
    assert_true(step->variants[0].left_out);
    assert_int_equal(step->variants[0].check, SMP_CHECK_NONE);
    assert_int_equal(step->variants[0].sample_count, 0);
    assert_non_null(strstr(step->variants[0].why, "--time-limit"));
    assert_string_equal(step->base, "other");
    assert_int_equal(step->variants[1].check, SMP_CHECK_RIGHT);
    assert_int_equal(step->variants[1].sample_count, 3);
    assert_int_equal(step->variants[1].verdict, SMP_VERDICT_NONE);
    smp_compare_free(&found);
}
