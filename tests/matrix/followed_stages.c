/* Every stage, followed by one that wants some of its rows only, or rows beyond those of the strip: the same bytes as
 * when its whole result is kept, and the other stage has that as its input. Stages may compute rows in units, and keep
 * sums of whole units; what follows decides where their launches begin.
 *
 * On the CPU, with several strip heights and threads; on the emulator too, where rows come in units. Made from the
 * descriptors alone, so that a stage cannot be forgotten. */
#include "suite.h"

#include "matrix_case.h"

enum { WIDTH = 43, HEIGHT = 117, LINES = 5, FOLLOWERS = 5, TURNS = 3, WAYS = 3 };

static struct state {
    smp_device *reference, *cpu, *gpu;
    long inputs, runs, on_gpu;
    /* State of a stage: some plan has it; it computes rows in units; it did on the emulator, followed. */
    bool planned, in_units, units_on_gpu;
} state;

static const int64_t strips[WAYS] = {0, 5, 24};

/* The line that follows a result of this shape; null: none does. */
static const char *follower(const smp_shape *shape, int index)
{
    static char text[128];
    const bool sound = shape->kind == SMP_AUDIO;
    if (index == 0 && shape->height > 2) {
        const long long start = (long long)shape->height * 2 / 3 - 1;
        if (sound)
            snprintf(text, sizeof text, "trim first=%lld", start);
        else
            snprintf(text, sizeof text, "crop top=%lld", start);
        return text;
    }
    static const char *const pictures[] = {NULL, "gaussian 1px", "resize 40%", "resize 230%", "pad top=3 left=1"};
    static const char *const sounds[] = {NULL, "lowpass 3kHz", "eq highpass freq=1kHz", "resample 16kHz",
                                         "limit -6dB lookahead=0.1ms"};
    return sound ? sounds[index] : pictures[index];
}

/* Whether the planner keeps values between these stages in another state than a file does, or none. */
static bool keeps_a_state(const smp_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].premultiplied || plan->steps[i].linear || plan->steps[i].out.alpha)
            return true;
    return plan->sinks[0].shape.format != SMP_F32;
}

static bool has_units(const smp_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].work.rows.unit > 1)
            return true;
    return false;
}

/* The same of a stage in the first `nodes` nodes of the program. */
static bool stage_has_units(const smp_plan *plan, const smp_stage *stage, size_t nodes)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].work.rows.unit > 1 && plan->steps[i].stage == stage && plan->steps[i].node < (int)nodes)
            return true;
    return false;
}

/* Else the planner has left it out, since it changes nothing. */
static bool has_stage(const smp_plan *plan, const smp_stage *stage)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        bool has = step->stage == stage;
        for (size_t k = 0; k < step->part_count; k++)
            has |= step->parts[k].stage == stage;
        if (has)
            return true;
    }
    return false;
}

static void check_way(const smp_plan *plan, const picture *in, const char *variant, int64_t strip_rows,
                      smp_device *device, const picture *want, const char *text)
{
    outcome got = {0};
    run_plan(plan, in, variant, strip_rows, device, &got);
    state.runs++;
    state.on_gpu += device == state.gpu;
    if (!picture_equal(&got.out, want) || !picture_guards_hold(&got.out))
        fail_msg("%s\non %s, variant %s, strips of %lld rows: other bytes than one after the other", text,
                 device->info.kind, variant, (long long)strip_rows);
    outcome_free(&got);
}

/* `lines` and what follows them, whose input is `whole`. */
static void check_follower(const smp_stage *stage, const char **lines, size_t count, int turn, const smp_shape *shape,
                           const picture *in, const smp_shape *between, const picture *whole)
{
    smp_program *program = parse_lines(lines, count), *alone = parse_lines(&lines[count - 1], 1);
    smp_plan *plan = NULL, *after = NULL;
    if (program && alone && plan_lines(program, shape, false, &plan) && plan_lines(alone, between, false, &after)) {
        char text[3 * TEXT];
        size_t used = 0;
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.900s", i ? "; " : "", lines[i]);
        outcome want = {0};
        const char *names[MAX_NAMES];
        const int variants = variant_names(stage, names);
        run_plan(after, whole, "naive", 0, state.reference, &want);
        for (int way = 0; way < WAYS; way++)
            check_way(plan, in, names[(turn + way) % variants], strips[way], state.cpu, &want.out, text);
        if (has_units(plan))
            check_way(plan, in, names[variants - 1], strips[WAYS - 1], state.gpu, &want.out, text);
        state.units_on_gpu |= stage_has_units(plan, stage, program->node_count - 1);
        outcome_free(&want);
    }
    smp_plan_free(plan);
    smp_plan_free(after);
    smp_program_free(program);
    smp_program_free(alone);
}

static void check_turn(const subject *s, int turn)
{
    static const smp_format formats[TURNS] = {SMP_U8, SMP_F32, SMP_U16};
    static const int channels[TURNS] = {1, 3, 1};
    char words[3][TEXT];
    int levels[MAX_WORDS];
    const char *lines[LINES];
    for (int i = 0; i < s->word_count; i++)
        levels[i] = turn % word_levels(s->words[i]);
    size_t count = write_lines(s, levels, words);
    for (size_t i = 0; i < count; i++)
        lines[i] = words[i];
    if (s->stage->domain & SMP_IMAGE)
        lines[count++] = "depth float"; /* no sample is rounded between the two */
    const smp_shape shape =
        subject_shape(s->stage, WIDTH, HEIGHT, channels[turn % TURNS], false, formats[turn % TURNS]);
    smp_program *program = parse_lines(lines, count);
    smp_plan *plan = NULL;
    const bool planned = program && plan_lines(program, &shape, false, &plan);
    state.planned |= planned && has_stage(plan, s->stage);
    state.in_units |= planned && stage_has_units(plan, s->stage, program->node_count);
    if (planned && !keeps_a_state(plan)) {
        const smp_shape *between = &plan->sinks[0].shape;
        picture in = picture_make(&shape, shape.format);
        picture_fill(&in, (uint64_t)turn, CASE_CODES);
        outcome whole = {0};
        run_plan(plan, &in, "naive", 0, state.reference, &whole);
        state.inputs++;
        for (int i = 0; i < FOLLOWERS; i++) {
            lines[count] = follower(between, i);
            if (lines[count])
                check_follower(s->stage, lines, count + 1, turn, &shape, &in, between, &whole.out);
        }
        outcome_free(&whole);
        picture_free(&in);
    }
    smp_plan_free(plan);
    smp_program_free(program);
}

static int turns(void)
{
    const char *matrix = getenv("SMP_MATRIX");
    return matrix && !strcmp(matrix, "reduced") ? 1 : TURNS; /* sanitizers */
}

/* More turns where the planner leaves the stage out in all of them, as it does an equaliser without gain. */
static void check_stage(void **given)
{
    subject subjects[MAX_SUBJECTS];
    const int count = subjects_of(*given, subjects);
    enum { MOST = 8 };
    state.planned = state.in_units = state.units_on_gpu = false;
    for (int i = 0; i < count; i++)
        for (int turn = 0; turn < turns() || (!state.planned && turn < MOST); turn++)
            check_turn(&subjects[i], turn);
    assert_int_equal(state.in_units, state.units_on_gpu);
}

/* Counts all stages, after them. */
static void many_are_followed(void **given)
{
    enum { INPUTS = 100, RUNS = 1500, ON_GPU = 80 }; /* a turn */
    (void)given;
    assert_true(state.inputs >= INPUTS * turns());
    assert_true(state.runs >= RUNS * turns());
    assert_true(state.on_gpu >= ON_GPU * turns());
}

static int open_devices(void **given)
{
    (void)given;
    smp_device_request gpu = {.spec = "simt"}, cpu = {.spec = "cpu", .threads = 3},
                       reference = {.spec = "cpu", .threads = 1, .isa = "base"};
    smp_error err = {0};
    if (smp_device_open(&gpu, &state.gpu, NULL, 0, &err) || smp_device_open(&cpu, &state.cpu, NULL, 0, &err) ||
        smp_device_open(&reference, &state.reference, NULL, 0, &err)) {
        print_error("%s\n", err.message);
        return 1;
    }
    return 0;
}

static int close_devices(void **given)
{
    (void)given;
    print_message("%ld inputs, %ld runs, %ld of them on the emulator\n", state.inputs, state.runs, state.on_gpu);
    smp_device_close(state.gpu);
    smp_device_close(state.cpu);
    smp_device_close(state.reference);
    return 0;
}

SMP_SUITE(followed_stages)
{
    size_t count = 0;
    struct CMUnitTest *tests = calloc(smp_stage_count() + 1, sizeof *tests);
    for (size_t i = 0; tests && i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (stage->examine || stage->role != SMP_ROLE_NONE) /* tests/warp/stage.c; the planner's own */
            continue;
        tests[count++] = (struct CMUnitTest){stage->name, check_stage, NULL, NULL, (void *)(uintptr_t)stage};
    }
    if (tests)
        tests[count++] = (struct CMUnitTest){"many_are_followed", many_are_followed, NULL, NULL, NULL};
    int failed = tests ? _cmocka_run_group_tests("followed stages", tests, count, open_devices, close_devices) : 1;
    free(tests);
    return failed;
}
