/* Launch shapes and threads that stages offer for tuning: declared as they should be, read by the geometries that say
 * so, and never a byte changed. */
#include "tune_fixture.h"

#include "exec/step.h"
#include "exec/tuned.h"

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
            same_outcome(c, tuning, plan, in, three_threads(), threads == 1 ? 0 : 16, want);
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
    static const char *const lines[] = {"invert",        "gaussian 1.5px", "sobel",
                                        "histogram",     "stats",          "sharpen",
                                        "threshold 50%", "multiply 90%",   "convolve kernel=[1 2 1; 2 4 2; 1 2 1]"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_have_ranges_and_names_of_their_own),
        cmocka_unit_test(no_knob_and_no_thread_count_changes_bytes),
        cmocka_unit_test(knobs_reach_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
