/* A search for what is fastest chooses only what is right, and says what it tried. */
#include "tune_fixture.h"

#include "base/clock.h"
#include "exec/step.h"
#include "exec/tune_work.h"

static smp_tune_report search(const char *const *lines, smp_device *device, const char *path, double limit,
                              smp_tuned *tuned)
{
    smp_tune_report report;
    smp_error err = {0};
    size_t count = 0;
    while (lines[count])
        count++;
    smp_program *program = parse_lines(lines, count);
    smp_run_request run = {.program = program, .input = path, .limits = smp_limits_default(), .device = device};
    const smp_tune_request request = {.run = &run, .time_limit = limit, .repeat = 5, .threads = 1};
    if (smp_tune_file(&request, tuned, &report, &err))
        fail_msg("%s", err.message);
    smp_program_free(program);
    return report;
}

static const char *picture_file(int rows)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/in.pgm", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P5\n90 %d\n255\n", rows);
    for (int i = 0; i < 90 * rows; i++)
        fputc(i * i >> 5 & 255, file);
    fclose(file);
    return path;
}

static const smp_tune_try *try_of(const smp_tune_row *row, const char *text)
{
    for (size_t i = 0; i < row->try_count; i++)
        if (!strcmp(row->tries[i].text, text))
            return &row->tries[i];
    return NULL;
}

static void a_search_goes_over_variants_threads_and_strips(void **state)
{
    (void)state;
    static const char *const lines[] = {"gaussian 1px", "gaussian 1px", "histogram", NULL};
    smp_tuned tuned = {.entries = NULL};
    smp_tune_report report = search(lines, three_threads(), picture_file(300), 0.5, &tuned);
    assert_int_equal(report.count, 4 + 1); /* a rounding to bytes, and the whole */
    assert_non_null(try_of(&report.rows[0], "naive"));
    assert_true(report.rows[0].before.median > 0);
    assert_int_equal(report.rows[1].number, 2);
    assert_non_null(try_of(&report.rows[4], "strips of 40 rows"));
    for (size_t i = 0; i < report.count; i++)
        for (size_t k = 0; k < report.rows[i].try_count; k++)
            assert_null(strstr(report.rows[i].tries[k].why, "WRONG"));
    FILE *null = fopen("/dev/null", "w");
    smp_tune_table(null, &report, true, false);
    fclose(null);
    smp_tune_report_free(&report);
    smp_tuned_free(&tuned);
}

/* ------------------------------------------------------------------------------------------------ what is chosen */

static smp_cpu_fn *real_kernel;

static void takes_its_time(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    double until = smp_now() + 1e-3;
    real_kernel(io, params, scratch, y0, y1);
    while (smp_now() < until)
        continue;
}

static void is_quick(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    real_kernel(io, params, scratch, y0, y1);
}

static void is_quick_and_wrong(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    real_kernel(io, params, scratch, y0, y1);
    if (y0 <= 7 && y1 > 7)
        ((unsigned char *)smp_row(&io->out, 7))[5]++;
}

static void set_kernel(smp_variant *variant, const char *name, smp_cpu_fn *fn)
{
    variant->name = name;
    for (int i = 0; i < SMP_ISAS; i++)
        variant->launches[0].cpu.fn[i] = fn;
}

/* Searches the first step of the job, then the whole; how it ends. */
static void search_job(const gpu_job *job, smp_device *device, int64_t rows, smp_tune_report *report,
                       smp_tuning *choice, int64_t *strip_rows)
{
    smp_tuning choices[4] = {{.variant = NULL}};
    smp_error err = {0};
    smp_compare found;
    assert_true(job->plan->step_count <= 4);
    *report = (smp_tune_report){.rows = smp_alloc_array(5, sizeof *report->rows)};
    smp_run_request run = {.limits = smp_limits_default()};
    const smp_tune_request request = {.run = &run, .time_limit = 1, .repeat = 10, .threads = 1};
    smp_tuner tuner = {.request = &request,
                       .device = device,
                       .plan = job->plan,
                       .choices = choices,
                       .report = report,
                       .strip_rows = rows,
                       .step_budget = 1,
                       .steps_left = (int)job->plan->step_count - 1};
    const smp_compare_request compare = {.plan = job->plan,
                                         .device = device,
                                         .repeat = 10,
                                         .hot = true,
                                         .times = true,
                                         .contest = smp_tune_step,
                                         .contest_context = &tuner};
    if (smp_compare_plan(&compare, &job->in.view, &found, &err) ||
        smp_tune_whole(&tuner, &job->in.view, strip_rows, &err))
        fail_msg("%s", err.message);
    smp_compare_free(&found);
    *choice = choices[1];
}

/* A stage whose naive and default variants take a millisecond, and another between them. */
static void search_injected(smp_cpu_fn *fn, smp_tune_report *report, smp_tuning *choice, int64_t *strip_rows)
{
    static smp_variant variants[4];
    static smp_stage stage;
    static const gpu_case c = {.lines = {"invert"},
                               .in = {.kind = SMP_IMAGE, .width = 33, .height = 20, .channels = 1}};
    gpu_job job = gpu_job_make(&c);
    stage = *job.plan->steps[1].stage;
    real_kernel = stage.variants[0].launches[0].cpu.fn[SMP_ISA_BASE];
    memset(variants, 0, sizeof variants);
    for (int i = 0; i < 3; i++)
        variants[i] = stage.variants[0];
    set_kernel(&variants[0], "naive", takes_its_time);
    set_kernel(&variants[1], "other", fn);
    set_kernel(&variants[2], "default", takes_its_time);
    stage.variants = variants;
    job.plan->steps[1].stage = &stage;
    search_job(&job, gpu_reference(), 8, report, choice, strip_rows);
    gpu_job_free(&job);
}

/* Of a stage with one variant nothing is left to choose but its launch shapes. */
static void on_a_gpu_launch_shapes_are_tried(void **state)
{
    (void)state;
    static const gpu_case c = {.lines = {"sobel"}, .in = {.kind = SMP_IMAGE, .width = 90, .height = 40, .channels = 1}};
    gpu_job job = gpu_job_make(&c);
    smp_stage stage = *job.plan->steps[1].stage;
    stage.variants += smp_variant_count(stage.variants) - 1;
    job.plan->steps[1].stage = &stage;
    smp_tune_report report;
    smp_tuning choice;
    int64_t strip_rows;
    search_job(&job, gpu_simt(), 64, &report, &choice, &strip_rows);
    bool some = false;
    for (size_t k = 0; k < report.rows[0].try_count; k++)
        some = some || strstr(report.rows[0].tries[k].text, ", band ");
    assert_true(some);
    smp_tune_report_free(&report);
    gpu_job_free(&job);
}

static void what_is_faster_is_chosen(void **state)
{
    (void)state;
    smp_tune_report report;
    smp_tuning choice;
    int64_t strip_rows;
    search_injected(is_quick, &report, &choice, &strip_rows);
    assert_string_equal(report.rows[0].chosen, "other");
    assert_string_equal(choice.variant->name, "other");
    assert_true(report.rows[0].changed && report.rows[0].after.median < report.rows[0].before.median);
    assert_int_equal(try_of(&report.rows[0], "other")->verdict, SMP_VERDICT_FASTER);
    assert_null(try_of(&report.rows[0], "naive")); /* the default's launches */
    assert_true(report.rows[1].changed && report.rows[1].after.median < report.rows[1].before.median);
    assert_false(report.discarded);
    smp_tune_report_free(&report);
}

static void what_is_faster_and_wrong_is_not(void **state)
{
    (void)state;
    smp_tune_report report;
    smp_tuning choice;
    int64_t strip_rows;
    search_injected(is_quick_and_wrong, &report, &choice, &strip_rows);
    assert_null(choice.variant);
    assert_false(report.rows[0].changed);
    assert_string_equal(report.rows[0].chosen, "as it is");
    assert_non_null(strstr(try_of(&report.rows[0], "other")->why, "WRONG: at x 5, y 7"));
    smp_tune_report_free(&report);
}

/* Any of the allocations of a search, more and more of them apart. */
static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    static const char *const lines[] = {"gaussian 1px", "equalize"};
    smp_program *program = parse_lines(lines, 2);
    smp_run_request run = {.program = program, .input = picture_file(40), .limits = smp_limits_default()};
    const smp_tune_request request = {.run = &run, .time_limit = 0.01, .repeat = 5, .threads = 1};
    const smp_device_request ask = {.spec = "cpu", .threads = 3};
    smp_code code = SMP_E_MEMORY;
    const uint64_t live = smp_alloc_live();
    for (uint64_t nth = 1; code; nth += 1 + nth / 10) {
        smp_tuned tuned = {.entries = NULL};
        smp_tune_report report;
        smp_error err = {0};
        assert_int_equal(smp_device_open(&ask, &run.device, NULL, 0, &err), SMP_OK); /* threads keep memory with it */
        smp_alloc_fail_at(nth);
        code = smp_tune_file(&request, &tuned, &report, &err);
        smp_alloc_fail_at(0);
        smp_tune_report_free(&report);
        smp_tuned_free(&tuned);
        smp_device_close(run.device);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_int_equal(smp_alloc_live(), live);
    }
    smp_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_goes_over_variants_threads_and_strips),
        cmocka_unit_test(on_a_gpu_launch_shapes_are_tried),
        cmocka_unit_test(what_is_faster_is_chosen),
        cmocka_unit_test(what_is_faster_and_wrong_is_not),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
