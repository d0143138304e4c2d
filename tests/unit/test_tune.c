/* Tuning: launch shapes and threads that stages offer never change a byte; what was kept comes back, and what somebody made of
 * the file breaks nothing; a search chooses only what is right, and says what it tried. */
#include "gpu_matrix.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec/step.h"
#include "exec/tune_work.h"
#include "exec/tuned.h"
#include "io/output.h"

static char folder[64]; /* the cache folder of these tests */

/* ------------------------------------------------------------------------------------------------ the descriptors */

typedef void knob_seen(const smp_stage *stage, const smp_variant *variant, int launch);

static void each_knob(knob_seen *see)
{
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        const smp_variant *lists[] = {stage->variants, stage->reducers};
        for (int k = 0; k < 2; k++)
            for (const smp_variant *v = lists[k]; v && v->name; v++)
                for (int n = 0; n < SMP_MAX_LAUNCHES; n++)
                    if (v->launches[n].knob)
                        see(stage, v, n);
    }
}

static int knobs_seen;

static void check_knob(const smp_stage *stage, const smp_variant *variant, int launch)
{
    const smp_knob *knob = variant->launches[launch].knob;
    knobs_seen++;
    if (!knob->name || !knob->help || knob->min < 1 || knob->max < knob->min || !knob->values[0] ||
        !variant->launches[launch].cuda)
        fail_msg("%s %s: launch %d has a knob that is none", stage->name, variant->name, launch);
    for (int i = 0; i < SMP_KNOB_VALUES && knob->values[i]; i++)
        if (knob->values[i] < knob->min || knob->values[i] > knob->max || (i && knob->values[i] <= knob->values[i - 1]))
            fail_msg("%s %s: %s has a value %d", stage->name, variant->name, knob->name, knob->values[i]);
    assert_int_equal(knob->values[SMP_KNOB_VALUES - 1], 0);
    for (int n = 0; n < launch; n++)
        if (variant->launches[n].knob)
            assert_string_not_equal(variant->launches[n].knob->name, knob->name);
}

static void knobs_have_ranges_and_names_of_their_own(void **state)
{
    (void)state;
    each_knob(check_knob);
    assert_true(knobs_seen > 20);
}

/* ------------------------------------------------------------------------------------------------ bytes */

static smp_device *two_threads(void)
{
    static smp_device *device;
    smp_error err = {0};
    smp_device_request ask = {.spec = "cpu", .threads = 3};
    if (!device && smp_device_open(&ask, &device, NULL, 0, &err))
        fail_msg("%s", err.message);
    return device;
}

static void same_outcome(const input *c, const smp_tuning *tuning, const smp_plan *plan, const picture *in,
                         smp_device *device, int64_t strip_rows, const outcome *want)
{
    outcome got = {0};
    char text[96];
    run_plan(plan, in, NULL, strip_rows, device, &got);
    smp_tuning_text(tuning, text, sizeof text);
    if (!picture_guards_hold(&got.out) || !picture_equal(&got.out, &want->out) ||
        !same_findings(&got.report, &want->report))
        input_fail(c, device->info.kind, text, strip_rows, "tuned, it has other bytes or findings");
    outcome_free(&got);
}

/* Every knob of the step's variants at its ends and in between, on the emulator; one and two of three threads. */
static void tune_step_every_way(const input *c, smp_plan *plan, smp_step *step, const picture *in, const outcome *want)
{
    for (const smp_variant *v = smp_step_variants(step); v->name; v++) {
        smp_tuning *tuning = &step->work.tuning;
        for (int n = 0; n < SMP_MAX_LAUNCHES; n++) {
            const smp_knob *knob = v->launches[n].knob;
            const int values[] = {knob ? knob->min : 0, knob ? knob->values[1] : 0, knob ? knob->max : 0};
            *tuning = (smp_tuning){.variant = v};
            for (int i = 0; knob && i < 3; i++) {
                tuning->knobs[n] = values[i];
                same_outcome(c, tuning, plan, in, gpu_simt(), i == 1 ? 24 : 0, want);
            }
        }
        for (int threads = 1; threads < 3 && smp_variant_runs(v, false); threads++) {
            *tuning = (smp_tuning){.variant = v, .threads = threads};
            same_outcome(c, tuning, plan, in, two_threads(), threads == 1 ? 0 : 16, want);
        }
        *tuning = (smp_tuning){.variant = NULL};
    }
}

static void check_stage_tuned(const smp_stage *stage, smp_format format, int channels)
{
    subject subjects[MAX_SUBJECTS];
    const int levels[MAX_WORDS] = {0};
    subjects_of(stage, subjects);
    smp_shape shape = subject_shape(stage, 67, 45, channels, false, format);
    input c = input_make(&subjects[0], levels, &shape, AS_PLANNED, 7);
    smp_program *program = input_parse(&c);
    smp_plan *plan = NULL;
    if (program && plan_lines(program, &c.shape, false, &plan)) {
        picture in = input_picture(&c);
        outcome want = {0};
        run_plan(plan, &in, "naive", 0, gpu_reference(), &want);
        for (size_t i = 0; i < plan->step_count; i++)
            if (plan->steps[i].job != SMP_JOB_SOURCE)
                tune_step_every_way(&c, plan, &plan->steps[i], &in, &want);
        outcome_free(&want);
        picture_free(&in);
        smp_plan_free(plan);
    }
    smp_program_free(program);
}

static void no_knob_and_no_thread_count_changes_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        check_stage_tuned(smp_stage_at(i), SMP_U8, 3);
        check_stage_tuned(smp_stage_at(i), SMP_F32, 1);
    }
}

/* ------------------------------------------------------------------------------------------------ the launch */

static smp_view rows_in(const smp_shape *shape)
{
    smp_view view = planned_view(shape, shape->format);
    view.width = shape->width;
    return view;
}

static unsigned blocks_with(const smp_launch *launch, const smp_step *step, unsigned knob)
{
    smp_io io = {.in = rows_in(&step->in), .out = rows_in(&step->out)};
    smp_cuda_launch_info info;
    smp_error err = {0};
    if (smp_cuda_launch_describe(gpu_simt(), launch, &io, step->work.kernel, knob, &info, &err))
        fail_msg("%s", err.message);
    return info.grid.grid[0] * info.grid.grid[1];
}

/* A knob that its geometry does not read would be tried in vain. */
static void knobs_reach_the_grid(void **state)
{
    (void)state;
    static const char *const lines[] = {"invert",    "gaussian 1.5px", "sobel", "histogram", "stats",
                                        "sharpen",   "threshold 50%",  "multiply 90%",
                                        "convolve kernel=[1 2 1; 2 4 2; 1 2 1]"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const gpu_case c = {.lines = {lines[i]}, .in = case_shape(3000, 2000, 1, SMP_U8)};
        const char *line[] = {lines[i]};
        smp_program *program = parse_lines(line, 1);
        smp_plan *plan = NULL;
        assert_non_null(program);
        assert_true(plan_lines(program, &c.in, false, &plan));
        int changed = 0;
        const smp_variant *v = smp_step_default(&plan->steps[1]);
        for (int n = 0; n < SMP_MAX_LAUNCHES; n++) {
            const smp_knob *knob = v->launches[n].knob;
            changed += knob && blocks_with(&v->launches[n], &plan->steps[1], (unsigned)knob->min) !=
                                   blocks_with(&v->launches[n], &plan->steps[1], (unsigned)knob->max);
        }
        if (!changed)
            fail_msg("%s: no knob changes the grid", lines[i]);
        smp_plan_free(plan);
        smp_program_free(program);
    }
}

/* ------------------------------------------------------------------------------------------------ what is kept */

static const char *tuned_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/smempipe/tuned.json", folder);
    return path;
}

static void write_file(const char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/smempipe", folder);
    mkdir(path, 0700);
    FILE *file = fopen(tuned_path(), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static smp_tuned load(char note[400])
{
    smp_tuned tuned;
    smp_error err = {0};
    if (smp_tuned_load(&tuned, note, 400, &err))
        fail_msg("%s", err.message);
    return tuned;
}

static void commit(const smp_tuned *tuned)
{
    smp_error err = {0};
    smp_output *output = NULL;
    if (smp_tuned_begin(tuned, &output, &err) || smp_tuned_commit(tuned, output, &err))
        fail_msg("%s", err.message);
}

static gpu_job blur_job(void)
{
    static const gpu_case c = {.lines = {"gaussian 1.5px", "histogram"}, .in = {.kind = SMP_IMAGE, .width = 90, .height = 61, .channels = 3}};
    return gpu_job_make(&c);
}

/* Writes what is tuned for the first step of the job and for its strips. */
static void keep_some(const gpu_job *job, const smp_device *device, const smp_tuning *tuning)
{
    char note[400];
    smp_error err = {0};
    smp_tuned tuned = load(note);
    char *own = smp_tuned_device_key(device), *work = smp_tuned_step_key(job->plan, &job->plan->steps[1]),
         *whole = smp_tuned_plan_key(job->plan);
    const smp_tuned_entry step = {.stage = job->plan->steps[1].stage, .tuning = *tuning, .before = 2, .after = 1},
                          strips = {.strip_rows = 40, .before = 4, .after = 3};
    assert_int_equal(smp_tuned_set(&tuned, own, work, &step, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, own, whole, &strips, &err), SMP_OK);
    commit(&tuned);
    smp_tuned_free(&tuned);
    smp_free(own);
    smp_free(work);
    smp_free(whole);
}

static void what_is_kept_comes_back_into_plans(void **state)
{
    (void)state;
    char note[400];
    unlink(tuned_path());
    gpu_job job = blur_job();
    const smp_variant *variant = smp_step_default(&job.plan->steps[1]);
    keep_some(&job, gpu_simt(), &(smp_tuning){.variant = variant, .knobs = {12}});
    smp_tuned tuned = load(note);
    assert_string_equal(note, "");
    assert_int_equal(tuned.count, 2);
    assert_int_equal(smp_tuned_apply(&tuned, gpu_reference(), job.plan), 0); /* another device */
    assert_null(job.plan->steps[1].work.tuning.variant);
    assert_int_equal(smp_tuned_apply(&tuned, gpu_simt(), job.plan), 2);
    assert_ptr_equal(job.plan->steps[1].work.tuning.variant, variant);
    assert_int_equal(job.plan->steps[1].work.tuning.knobs[0], 12);
    assert_null(job.plan->steps[2].work.tuning.variant);
    assert_int_equal(smp_strip_rows(job.plan, gpu_simt(), 0) / job.plan->granule, (40 + job.plan->granule - 1) / job.plan->granule);
    assert_ptr_equal(smp_step_variant(&job.plan->steps[1], "naive"), smp_step_variants(&job.plan->steps[1]));
    assert_int_equal(smp_launch_knob(&job.plan->steps[1].work.tuning, smp_step_variants(&job.plan->steps[1]),
                                     &smp_step_variants(&job.plan->steps[1])->launches[0]), 0);
    gpu_job_check(&job, NULL, 0);
    smp_tuned_free(&tuned);
    gpu_job_free(&job);
}

static void nothing_faster_takes_the_entry_away(void **state)
{
    (void)state;
    smp_tuned tuned = {.entries = NULL};
    smp_error err = {0};
    const smp_stage *stage = smp_stage_at(0);
    const smp_tuned_entry some = {.stage = stage, .tuning = {.variant = stage->variants}}, none = {.stage = stage};
    assert_int_equal(smp_tuned_set(&tuned, "d", "w", &some, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, "d", "other", &some, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, "d", "w", &none, &err), SMP_OK);
    assert_int_equal(tuned.count, 1);
    assert_string_equal(tuned.entries[0].work, "other");
    smp_tuned_free(&tuned);
}

/* The file as it was written, its size in *size. */
static char *good_file(size_t *size)
{
    gpu_job job = blur_job();
    unlink(tuned_path());
    keep_some(&job, gpu_simt(), &(smp_tuning){.variant = smp_step_default(&job.plan->steps[1]), .knobs = {12}});
    gpu_job_free(&job);
    FILE *file = fopen(tuned_path(), "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static void a_damaged_file_is_as_good_as_none(void **state)
{
    (void)state;
    size_t size;
    char *text = good_file(&size), note[400];
    while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    for (size_t cut = 0; cut < size; cut++) { /* every beginning of it */
        write_file(text, cut);
        smp_tuned tuned = load(note);
        assert_int_equal(tuned.count, 0);
        assert_non_null(strstr(note, "tuned.json"));
        smp_tuned_free(&tuned);
    }
    for (size_t at = 0; at < size; at++) /* any byte another: nothing that crashes, and no value out of its range */
        for (int turn = 0; turn < 3; turn++) {
            char old = text[at];
            text[at] = turn == 0 ? '9' : turn == 1 ? '"' : (char)0xff;
            write_file(text, size);
            smp_tuned tuned = load(note);
            for (size_t i = 0; i < tuned.count; i++)
                if (tuned.entries[i].tuning.variant)
                    assert_in_range(tuned.entries[i].tuning.knobs[0], 0, 512);
            smp_tuned_free(&tuned);
            text[at] = old;
        }
    free(text);
}

static void replace(char *text, const char *what, const char *with)
{
    char *at = strstr(text, what);
    assert_non_null(at);
    char *rest = strdup(at + strlen(what));
    strcpy(at, with);
    strcat(at, rest);
    free(rest);
}

static void what_means_nothing_here_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *what, *with;
        size_t left;
        const char *note;
    } rows[] = {
        {"\"" SMP_VERSION "\"", "\"0.0.9\"", 0, "0.0.9"},          /* of another version */
        {"smempipe tuned 1", "smempipe tuned 99", 0, "not what"}, /* of another layout */
        {"\"stage\": \"gaussian\"", "\"stage\": \"gausian\"", 1, "1 of its entries"},
        {"\"variant\": \"fused\"", "\"variant\": \"fastest\"", 1, "1 of its entries"},
        {"\"band\": 12", "\"band\": 100000000", 1, "1 of its entries"},
        {"\"band\": 12", "\"band\": 12.5", 1, "1 of its entries"},
        {"\"band\": 12", "\"width\": 12", 1, "1 of its entries"},
        {"\"threads\": 0", "\"threads\": -1", 1, "1 of its entries"},
        {"\"strip_rows\": 40", "\"strip_rows\": 0", 1, "1 of its entries"},
        {"\"strip_rows\": 40", "\"strip_rows\": 1e300", 1, "1 of its entries"},
        {"\"entries\": [", "\"entries\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, "nested too deep"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size;
        char *text = good_file(&size), note[400];
        replace(text, rows[i].what, rows[i].with);
        write_file(text, strlen(text));
        smp_tuned tuned = load(note);
        if (tuned.count != rows[i].left || !strstr(note, rows[i].note))
            fail_msg("%s: %zu entries left; \"%s\"", rows[i].with, tuned.count, note);
        smp_tuned_free(&tuned);
        free(text);
    }
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    char note[400], path[128];
    smp_error err = {0};
    smp_output *output = NULL;
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    setenv("XDG_CACHE_HOME", path, 1); /* a file where the folder should be */
    smp_tuned tuned = load(note);
    assert_string_equal(note, "");
    assert_int_equal(smp_tuned_begin(&tuned, &output, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.hint, "XDG_CACHE_HOME"));
    assert_null(output);
    smp_tuned_free(&tuned);
    setenv("XDG_CACHE_HOME", folder, 1);
}

/* ------------------------------------------------------------------------------------------------ the search */

static smp_tune_report search(const char *const *lines, smp_device *device, const char *path, double limit, smp_tuned *tuned)
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
    smp_tune_report report = search(lines, two_threads(), picture_file(300), 0.5, &tuned);
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
static void search_job(const gpu_job *job, smp_device *device, int64_t rows, smp_tune_report *report, smp_tuning *choice,
                       int64_t *strip_rows)
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
    static const gpu_case c = {.lines = {"invert"}, .in = {.kind = SMP_IMAGE, .width = 33, .height = 20, .channels = 1}};
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

/* ------------------------------------------------------------------------------------------------ memory */

static smp_code use_what_is_kept(smp_plan *plan, smp_error *err)
{
    char note[400];
    smp_tuned tuned;
    smp_output *output = NULL;
    smp_code code = smp_tuned_load(&tuned, note, sizeof note, err);
    smp_tuned_apply(&tuned, gpu_simt(), plan);
    if (!code)
        code = smp_tuned_begin(&tuned, &output, err);
    if (!code)
        code = smp_tuned_commit(&tuned, output, err);
    smp_tuned_free(&tuned);
    return code;
}

static void running_out_of_memory_over_the_file_leaks_nothing(void **state)
{
    (void)state;
    size_t size;
    free(good_file(&size));
    gpu_job job = blur_job();
    smp_error err = {0};
    uint64_t live = smp_alloc_live(), nth = 0;
    smp_code code;
    do {
        smp_alloc_fail_at(++nth);
        code = use_what_is_kept(job.plan, &err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_int_equal(smp_alloc_live(), live);
    } while (code);
    assert_true(nth > 10);
    gpu_job_free(&job);
}

/* Any of the allocations of a search, more and more of them apart. */
static void running_out_of_memory_in_a_search_leaks_nothing(void **state)
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

/* ------------------------------------------------------------------------------------------------ the folder */

static int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/smp tune XXXXXX");
    return mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1) ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    char path[128];
    static const char *const names[] = {"smempipe/tuned.json", "smempipe", "file", "in.pgm", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_have_ranges_and_names_of_their_own),
        cmocka_unit_test(no_knob_and_no_thread_count_changes_bytes),
        cmocka_unit_test(knobs_reach_the_grid),
        cmocka_unit_test(what_is_kept_comes_back_into_plans),
        cmocka_unit_test(nothing_faster_takes_the_entry_away),
        cmocka_unit_test(a_damaged_file_is_as_good_as_none),
        cmocka_unit_test(what_means_nothing_here_is_left_out),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
        cmocka_unit_test(a_search_goes_over_variants_threads_and_strips),
        cmocka_unit_test(on_a_gpu_launch_shapes_are_tried),
        cmocka_unit_test(what_is_faster_is_chosen),
        cmocka_unit_test(what_is_faster_and_wrong_is_not),
        cmocka_unit_test(running_out_of_memory_over_the_file_leaks_nothing),
        cmocka_unit_test(running_out_of_memory_in_a_search_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
