/* Every stage, every variant, u8, u16 and f32, 1, 3 and 4 channels: the definition (`naive` on the CPU) = the CPU's
 * best variant = the GPU's kernels, bit for bit: samples, measurements, counts of clipped samples, and the guard bands
 * round the output. Made from the descriptors alone, so that a stage cannot be forgotten.
 *
 * The GPU is the emulator; with SMP_TEST_DEVICE=cuda (or cuda:N) a real one, and then every input comes once more at a
 * size of many blocks. What is varied beyond the full product above: sizes, the words of enumerations and switches,
 * storage between stages, strips of 7 rows or all at once (on a GPU, and with SMP_FULL=1, both). On a GPU, and with
 * SMP_FULL=1, each edge meets each format with each channel count; else each format and each channel count.
 * SMP_MATRIX=reduced takes one input for each format and channel count, and so does SMP_TURN=K/N of stages whose turn
 * it is not; SMP_MATRIX_PART=K/N takes every Nth stage from the Kth, SMP_TEST_STAGE=NAME that stage alone. Stages or
 * variants without GPU kernels are listed and fail the test; SMP_TEST_ALL_KERNELS=0 lets them pass. */
#include "suite.h"

#include "gpu_matrix.h"

enum { MISSING = 160 };

/* A point, a column, a row, less and more than a tile of 32, what no vector divides, a few tiles. */
static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {31, 33}, {35, 32}, {63, 45}, {130, 19}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static const int64_t large[2] = {1027, 771};
static const int channel_counts[] = {1, 3, 4};
static const smp_format formats[] = {SMP_U8, SMP_U16, SMP_F32};

static struct state {
    smp_device *gpu, *cpu, *reference; /* the reference has one thread and no vector instructions */
    bool real, reduced, full, lenient;
    long inputs, runs, refused;
    char missing[MISSING][64]; /* "stage variant" */
    int missing_count;
} state;

/* ------------------------------------------------------------------------------------------------ what is there */

static void note_missing(const char *stage, const char *variant)
{
    char name[sizeof state.missing[0]];
    snprintf(name, sizeof name, "%s %s", stage, variant);
    for (int i = 0; i < state.missing_count; i++)
        if (!strcmp(state.missing[i], name))
            return;
    if (state.missing_count < MISSING)
        memcpy(state.missing[state.missing_count++], name, sizeof name);
}

static void see_kernel(void *all, const planned_kernel *kernel)
{
    if (!kernel->file)
        note_missing(kernel->step->stage->name, kernel->variant->name);
    *(bool *)all = *(bool *)all && kernel->file;
}

/* False, and noted, when a step of the plan has no GPU kernel for its variant. */
static bool has_kernels(const smp_plan *plan, const char *variant)
{
    bool all = true;
    each_kernel(plan, variant, NULL, see_kernel, &all);
    return all;
}

/* ------------------------------------------------------------------------------------------------ one input */

static bool same_clipping(const smp_run_report *a, const smp_run_report *b)
{
    bool same = a->step_count == b->step_count;
    for (size_t i = 0; same && i < a->step_count; i++)
        same = a->steps[i].clipped == b->steps[i].clipped;
    return same;
}

/* clipped: null, or of the same plan. */
static void check_run(const input *c, const smp_plan *plan, const picture *in, smp_device *device, const char *variant,
                      int64_t strip_rows, const outcome *want, const outcome *clipped)
{
    outcome got = {0};
    run_plan(plan, in, variant, strip_rows, device, &got);
    state.runs++;
    if (!picture_guards_hold(&got.out))
        input_fail(c, device->info.kind, variant, strip_rows, "wrote outside the output");
    if (!picture_equal(&got.out, &want->out)) {
        gpu_print_difference(&got.out, &want->out);
        input_fail(c, device->info.kind, variant, strip_rows, "other bytes than the definition");
    }
    if (!same_measurements(&got.report, &want->report))
        input_fail(c, device->info.kind, variant, strip_rows, "other findings than the definition");
    if (clipped && !same_clipping(&got.report, &clipped->report))
        input_fail(c, device->info.kind, variant, strip_rows, "other counts of clipped samples than the CPU");
    outcome_free(&got);
}

/* False when this combination means nothing to the stage. */
static bool check_input(const input *c, bool at_large)
{
    smp_program *program = input_parse(c);
    smp_plan *definition = NULL, *plan = NULL;
    if (!program || !plan_lines(program, &c->shape, false, &definition)) {
        smp_program_free(program);
        state.refused++;
        return false;
    }
    if (!plan_lines(program, &c->shape, mode_is_plain(c->mode), &plan))
        input_fail(c, "any", "any", 0, "planned with one storage, refused with the other");
    picture in = input_picture(c);
    outcome want = {0}, other = {0};
    run_plan(definition, &in, "naive", 0, at_large ? state.cpu : state.reference, &want);
    if (!picture_guards_hold(&want.out))
        input_fail(c, "cpu", "naive", 0, "wrote outside the output");
    state.inputs++;
    const char *names[MAX_NAMES];
    int count = variant_names(c->subject->stage, names);
    const int64_t strips[] = {0, at_large ? 200 : state.reduced ? 23 : 7};
    run_plan(plan, &in, names[count - 1], strips[1], state.cpu, &other);
    check_run(c, plan, &in, state.cpu, names[count - 1], 0, &want, &other);
    const bool both = state.full, taller = c->shape.height > strips[1]; /* else strips and no strips in turn */
    for (int i = 0; i < count; i++)
        for (int s = both || !taller ? 0 : (int)(state.inputs + i) % 2; s < 2 && has_kernels(plan, names[i]);
             s += both ? 1 : 2)
            check_run(c, plan, &in, state.gpu, names[i], strips[s], &want, &other);
    outcome_free(&other);
    outcome_free(&want);
    picture_free(&in);
    smp_plan_free(plan);
    smp_plan_free(definition);
    smp_program_free(program);
    return true;
}

/* ------------------------------------------------------------------------------------------------ the matrix */

/* The turn-th input of this format and channel count: sizes, words and storage go round. */
static bool check_turn(const subject *s, smp_format format, int channels, int turn, bool at_large)
{
    static unsigned round;
    int levels[MAX_WORDS];
    const int64_t *size = at_large ? large : sizes[round % SIZES];
    for (int i = 0; i < s->word_count; i++) /* the first word's levels in turn, the others' at other paces */
        levels[i] = (turn + (int)(round / SIZES) * i) % word_levels(s->words[i]);
    smp_shape shape = subject_shape(s->stage, size[0], size[1], channels, channels == 4, format);
    input c = input_make(s, levels, &shape, (int)(round % MODES), round + 1);
    round++;
    return check_input(&c, at_large);
}

static void check_subject(const subject *s)
{
    int turns = MODES, done = 0;
    for (int i = 0; i < s->word_count; i++)
        turns = turns > word_levels(s->words[i]) ? turns : word_levels(s->words[i]);
    for (int f = 0; f < 3; f++)
        for (int k = 0; k < 3; k++) {
            const int first = state.reduced ? f + 3 * k : 0;
            int taken = 0;
            for (int turn = first; turn < first + turns && !(taken && state.reduced); turn++)
                if (state.full || state.reduced || (turn + f + k) % 3 == 0)
                    taken += check_turn(s, formats[f], channel_counts[k], turn, false);
            for (int turn = 0; turn < turns && !taken && !state.full && !state.reduced; turn++)
                if ((turn + f + k) % 3) /* the stage has refused its share */
                    taken += check_turn(s, formats[f], channel_counts[k], turn, false);
            done += taken;
            if (state.real && !state.reduced)
                done += check_turn(s, formats[f], channel_counts[k], f + 3 * k, true);
        }
    for (int turn = 0; turn < SIZES && !done; turn++) /* a stage of floats that takes few widths */
        done += check_turn(s, SMP_F32, 4, turn, false);
    if (!done)
        fail_msg("%s: no combination of its words is accepted", s->stage->name);
}

static void check_stage(void **given)
{
    subject subjects[MAX_SUBJECTS];
    int count = subjects_of(*given, subjects);
    const bool reduced = state.reduced;
    state.reduced = !state.full && (reduced || !stage_has_turn(*given));
    for (int i = 0; i < count; i++)
        check_subject(&subjects[i]);
    state.reduced = reduced;
}

static void every_variant_has_kernels_for_gpus(void **given)
{
    (void)given;
    for (int i = 0; i < state.missing_count; i++)
        print_message("no GPU kernel: %s\n", state.missing[i]);
    if (!state.lenient)
        assert_int_equal(state.missing_count, 0);
}

/* ------------------------------------------------------------------------------------------------ the program */

static int open_devices(void **given)
{
    (void)given;
    const char *spec = getenv("SMP_TEST_DEVICE"), *matrix = getenv("SMP_MATRIX");
    const char *all = getenv("SMP_TEST_ALL_KERNELS"), *full = getenv("SMP_FULL");
    smp_device_request gpu = {.spec = spec && spec[0] ? spec : "simt"}, cpu = {.spec = "cpu"},
                       reference = {.spec = "cpu", .threads = 1, .isa = "base"};
    smp_error err = {0};
    state.real = strcmp(gpu.spec, "simt") != 0;
    state.reduced = matrix && !strcmp(matrix, "reduced");
    state.full = !state.reduced && (state.real || (full && !strcmp(full, "1")));
    state.lenient = all && !strcmp(all, "0");
    if (smp_device_open(&gpu, &state.gpu, NULL, 0, &err) || smp_device_open(&cpu, &state.cpu, NULL, 0, &err) ||
        smp_device_open(&reference, &state.reference, NULL, 0, &err)) {
        print_error("%s: %s\n", gpu.spec, err.message);
        return 1;
    }
    return 0;
}

static int close_devices(void **given)
{
    (void)given;
    print_message("matrix on %s: %ld runs over %ld inputs; %ld combinations refused by their stage; %d variants "
                  "without GPU kernels\n",
                  state.gpu ? state.gpu->info.name : "none", state.runs, state.inputs, state.refused,
                  state.missing_count);
    smp_device_close(state.gpu);
    smp_device_close(state.cpu);
    smp_device_close(state.reference);
    return 0;
}

SMP_SUITE(gpu_matrix)
{
    const char *text = getenv("SMP_MATRIX_PART");
    size_t part = 0, parts = 1, count;
    if (text && (sscanf(text, "%zu/%zu", &part, &parts) != 2 || part >= parts)) {
        fprintf(stderr, "SMP_MATRIX_PART=%s: K/N is wanted, K from 0 to N-1\n", text);
        return 2;
    }
    struct CMUnitTest *tests = stage_tests(check_stage, part, parts, &count);
    if (!tests)
        return 1;
    tests[count] = (struct CMUnitTest)cmocka_unit_test(every_variant_has_kernels_for_gpus);
    int failed = _cmocka_run_group_tests("GPU matrix", tests, count + 1, open_devices, close_devices);
    free(tests);
    return failed;
}
