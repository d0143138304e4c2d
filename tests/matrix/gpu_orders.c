/* Every GPU kernel of every variant of every stage, traced by the emulator in five orders of its threads, strips in
 * three: the definition's bytes and findings each time, and no races, no reads of what nobody wrote, no accesses
 * outside, no barrier that some threads miss. Made from the descriptors alone: of all inputs (formats, channels,
 * storage on both sides, words, sizes of numbers) those are run that reach a kernel which has not had its share yet:
 * one picture as a whole on a device whose grids are small, so that blocks take turns as on huge pictures, and one in
 * strips; and, where a stage takes numbers, one with a large number.
 *
 * tests/mutants.py says SMP_TEST_KERNELS=NAME, which takes only what runs kernels of kernels/NAME.cu;
 * SMP_TEST_MUTANT=FILE, a library with other traced kernels to take for these; SMP_TEST_COUNTS=FILE, to be told what
 * their shared accesses cost; SMP_TEST_ORDERS=1, since no other order is counted. */
#include "suite.h"

#include "gpu_matrix.h"

#include <dlfcn.h>

static const int64_t sizes[][2] = {{33, 35}, {131, 9}, {5, 70}};
static const int64_t first_size[2] = {20, 130}; /* times itself turned: more than a tile of 128 x 128 */
static const struct {
    int channels;
    bool alpha;
} pixels[] = {{1, false}, {2, true},  {2, false}, {3, false}, {4, true},
              {4, false}, {5, false}, {6, false}, {7, false}, {8, false}};
enum { SIZES = sizeof sizes / sizeof sizes[0], PIXELS = sizeof pixels / sizeof pixels[0] };
/* Files whose kernels no pipeline runs. */
static const struct {
    const char *file, *why;
} apart[] = {{"bench", "measures ceilings (peaks.c); its warps write the same bytes on purpose"},
             {"denoise_count", "looks at a sound before its plan is made (tests/oracle/test_mel.py)"},
             {"brightness", "runs before the plan is complete (tests/oracle/test_found.py)"},
             {"content", "runs before the plan is complete (tests/oracle/test_found.py)"}};
enum { APART = sizeof apart / sizeof apart[0] };
/* Kernels that the search gives up before: 17,553 inputs lie in front of median's, and spectrogram has more words than
 * are combined. gpu_matrix runs them. */
static const char *const late[] = {"median_tiled5_", "spectrogram_"};
enum { SEEN = 4096, FILES = 32 /* of a subject */, SHARE = 2 /* inputs of each kernel */, STRIP_ORDERS = 3 };
enum { SHAPES = SMP_FORMATS * PIXELS * ALL_MODES, STRIDE = 37 /* no divisor of it */ };

static struct state {
    const smp_kernel_file *only; /* SMP_TEST_KERNELS */
    FILE *counts;                /* SMP_TEST_COUNTS */
    bool failed;
    int orders;  /* at most */
    int share;   /* inputs for each kernel at present */
    int wanting; /* kernels that have not had their share */
    long planned, inputs, runs;
    struct {
        const smp_simt_kernel *kernel;
        int planned, launched; /* inputs */
        smp_shared_count cost;
    } seen[SEEN];
    int seen_count;
    const smp_kernel_file *files[FILES]; /* which the present subject's kernels are of */
    int file_count;
} state;

/* ------------------------------------------------------------------------------------------------ kernels */

/* Index into state.seen; -1 when there is no such kernel. */
static int find_kernel(const char *name)
{
    const smp_kernel_file *file = smp_kernel_file_of(name);
    const smp_simt_kernel *kernel = file ? smp_simt_kernel_find(file->plain, name) : NULL;
    int i = 0;
    if (!kernel)
        return -1;
    while (i < state.seen_count && state.seen[i].kernel != kernel)
        i++;
    assert_true(i < SEEN);
    if (i == state.seen_count)
        state.seen[state.seen_count++].kernel = kernel;
    return i;
}

/* Why a file's kernels are not run here; null: they are. */
static const char *apart_since(const smp_kernel_file *file)
{
    for (int i = 0; i < APART; i++)
        if (!strcmp(apart[i].file, file->name))
            return apart[i].why;
    return NULL;
}

static bool is_late(const char *kernel)
{
    bool is = false;
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        is = is || !strncmp(kernel, late[i], strlen(late[i]));
    return is;
}

/* least: inputs that the kernel had that had fewest. */
static void see_kernel(void *least, const planned_kernel *kernel)
{
    if (!kernel->file)
        fail_msg("%s has no kernel %s", kernel->step->stage->name, kernel->name);
    int file = 0;
    while (file < state.file_count && state.files[file] != kernel->file)
        file++;
    assert_true(file < FILES);
    if (file == state.file_count)
        state.files[state.file_count++] = kernel->file;
    int *had = least, planned = state.seen[find_kernel(kernel->name)].planned;
    if ((!state.only || kernel->file == state.only) && planned < *had)
        *had = planned;
}

static void count_planned(void *context, const planned_kernel *kernel)
{
    (void)context;
    int planned = ++state.seen[find_kernel(kernel->name)].planned;
    state.wanting -= planned == SHARE && (!state.only || kernel->file == state.only);
}

/* Whether the present subject can bring nothing new: all kernels of its files have had their share. */
static bool files_are_done(void)
{
    for (int i = 0; i < state.file_count; i++) {
        if (state.only && state.files[i] != state.only)
            continue;
        for (const smp_simt_kernel *kernel = **state.files[i]->plain; kernel; kernel = kernel->next)
            if (state.seen[find_kernel(kernel->name)].planned < SHARE)
                return false;
    }
    return true;
}

static void count_launches(const smp_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        int kernel = find_kernel(trace->launches[i].kernel);
        smp_shared_count *cost = &state.seen[kernel].cost;
        state.seen[kernel].launched++;
        for (int op = 0; op < SMP_SHARED_OPS; op++) {
            cost->instructions += trace->launches[i].ops[op].instructions;
            cost->wavefronts += trace->launches[i].ops[op].wavefronts;
            cost->ideal += trace->launches[i].ops[op].ideal;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ runs */

static smp_device *device_of(bool one_block)
{
    static smp_device *devices[2]; /* to the end of the program */
    smp_error err = {0};
    smp_simt_set_blocks(one_block);
    if (!devices[one_block] && smp_cuda_open(smp_driver_simt(), 0, &devices[one_block], &err))
        fail_msg("the emulator: %s", err.message);
    return devices[one_block];
}

static void check_order(const input *c, const smp_plan *plan, const picture *in, const char *variant,
                        int64_t strip_rows, int order, const outcome *want)
{
    smp_device *device = device_of(!strip_rows);
    smp_trace trace = {0};
    outcome got = {0};
    gpu_set_order(order);
    smp_simt_set_trace(&trace);
    run_plan(plan, in, variant, strip_rows, device, &got);
    smp_simt_set_trace(NULL);
    state.runs++;
    if (order == 0)
        count_launches(&trace);
    const char *device_name = "simt";
    if (gpu_print_faults(&trace, order))
        input_fail(c, device_name, variant, strip_rows, "the kernel makes mistakes");
    if (!picture_guards_hold(&got.out))
        input_fail(c, device_name, variant, strip_rows, "wrote outside the output");
    if (!picture_equal(&got.out, &want->out)) {
        print_error("order %d: ", order);
        gpu_print_difference(&got.out, &want->out);
        input_fail(c, device_name, variant, strip_rows, "other bytes than the definition");
    }
    if (!same_findings(&got.report, &want->report))
        input_fail(c, device_name, variant, strip_rows, "other findings than the definition");
    outcome_free(&got);
    smp_trace_free(&trace);
}

static void each_launched(const smp_plan *plan, const char *variant, kernel_seen *see, void *context)
{
    const smp_device_info *info = &device_of(false)->info;
    const smp_grid known = {.units = (unsigned)info->units, .shared_most = (unsigned)info->shared_per_block};
    each_kernel(plan, variant, &known, see, context);
}

/* Three strips, or some of 7 rows. */
static int64_t strip_rows_of(const smp_plan *plan)
{
    const int64_t third = plan->sinks[0].shape.height / 3 + 1;
    return third < 7 ? 7 : third;
}

/* in, want: made when the first variant needs them. */
static void check_variant(const input *c, const smp_plan *plan, const char *variant, picture *in, outcome *want)
{
    int least = state.share;
    each_launched(plan, variant, see_kernel, &least);
    if (least == state.share)
        return;
    if (!in->memory)
        *in = input_picture(c);
    if (!want->out.memory) {
        run_plan(plan, in, "naive", 0, gpu_reference(), want);
        state.inputs++;
    }
    each_launched(plan, variant, count_planned, NULL);
    const int64_t strip_rows = least == 1 ? strip_rows_of(plan) : 0;
    for (int order = 0; order < (strip_rows ? STRIP_ORDERS : GPU_ORDERS) && order < state.orders; order++)
        check_order(c, plan, in, variant, strip_rows, order, want);
}

/* Plans it. A sound may be made longer: to more than twice the frames that the stage takes at a time, which its reach
 * shows as well; false when that does not suffice. */
static bool plan_input(smp_program *program, input *c, bool longer, smp_plan **plan)
{
    enum { MORE = 100 };
    if (!plan_lines(program, &c->shape, mode_is_plain(c->mode), plan))
        return false;
    if (!longer)
        return true;
    c->shape.height = 2 * (*plan)->row_multiple + MORE;
    smp_plan_free(*plan);
    *plan = NULL;
    if (!plan_lines(program, &c->shape, mode_is_plain(c->mode), plan))
        return false;
    for (size_t i = 0; i < (*plan)->step_count; i++)
        if ((*plan)->steps[i].reads.up >= c->shape.height - MORE)
            return false;
    return true;
}

/* False when the stage refuses it. */
static bool check_input(input *c, bool longer)
{
    smp_program *program = input_parse(c);
    smp_plan *plan = NULL;
    const bool makes_sense = program && plan_input(program, c, longer, &plan);
    if (makes_sense) {
        const char *names[MAX_NAMES];
        int count = variant_names(c->subject->stage, names);
        picture in = {0};
        outcome want = {0};
        state.planned++;
        for (int i = 0; i < count; i++)
            check_variant(c, plan, names[i], &in, &want);
        outcome_free(&want);
        picture_free(&in);
    }
    smp_plan_free(plan);
    smp_program_free(program);
    return makes_sense;
}

/* ------------------------------------------------------------------------------------------------ inputs */

/* Every format, channel count and mode; with each, the levels of all words meet as far as TURNS allow, the last word's
 * fastest. The size goes round. f32 of one channel comes first: what is special for matrices is there. */
static void check_subject(const subject *s)
{
    enum { TURNS = 420 }; /* all levels of a size, with all edges and shapes */
    /* Inputs in a row that bring nothing new: 302 at most before one that does, but for `late`. Parsing thousands more
     * of them took most of this test's time. */
    enum { PATIENCE = 1000 };
    static unsigned round;
    int turns = 1;
    for (int k = 0; k < s->word_count; k++)
        turns *= word_levels(s->words[k]);
    turns = turns < TURNS ? turns : TURNS;
    state.file_count = 0;
    long runs = state.runs;
    for (int i = 0, idle = 0; i < turns * SHAPES && state.wanting && idle < PATIENCE; i++, idle++, round++) {
        if (i && i % SHAPES == 0 && files_are_done())
            break;
        int levels[MAX_WORDS], at = (SMP_F32 + i * STRIDE) % SHAPES, pixel = at / SMP_FORMATS % PIXELS;
        for (int k = s->word_count - 1, turn = i / SHAPES; k >= 0; turn /= word_levels(s->words[k--]))
            levels[k] = (turn + i % SHAPES * (k + 1)) % word_levels(s->words[k]);
        const int64_t *size = i ? sizes[round % SIZES] : first_size;
        smp_shape shape = subject_shape(s->stage, size[0], size[1], pixels[pixel].channels, pixels[pixel].alpha,
                                        (smp_format)(at % SMP_FORMATS));
        input c = input_make(s, levels, &shape, at / SMP_FORMATS / PIXELS, round + 1);
        check_input(&c, false);
        if (state.runs != runs)
            idle = 0;
        runs = state.runs;
    }
}

/* The last word is a number: as large as the stage takes it. Of lists all: filters have kernels for short and for long
 * ones. */
static void check_largest(const subject *s)
{
    smp_shape shape = subject_shape(s->stage, first_size[0], first_size[1], 1, false, SMP_F32);
    bool done = false;
    state.share = SHARE + 1;
    const bool matrix = s->words[s->word_count - 1]->type == SMP_T_MATRIX;
    const int last = matrix ? SIDES - 1 : NUMBERS - 1;
    for (int level = last; level >= last - 1 && (matrix || !done); level--) {
        int levels[MAX_WORDS] = {0};
        levels[s->word_count - 1] = level;
        input c = input_make(s, levels, &shape, AS_PLANNED, 1);
        done = check_input(&c, false);
    }
    state.share = SHARE;
}

/* The last word is a count of a stage of sound, larger than any of its blocks: filters add up parts then. */
static void check_parts(const subject *s)
{
    enum { COUNT = SOUND_FRAMES + 1, LEVEL = NUMBERS - 2 + COUNT }; /* number_text() */
    smp_shape shape = subject_shape(s->stage, first_size[0], first_size[1], 1, false, SMP_F32);
    const int last = s->word_count - 1;
    int levels[MAX_WORDS] = {0};
    if (shape.kind != SMP_AUDIO || s->words[last]->type != SMP_T_INT)
        return;
    levels[last] = LEVEL;
    input c = input_make(s, levels, &shape, AS_PLANNED, 1);
    state.share = SHARE + 2; /* one for check_largest() */
    check_input(&c, false);
    state.share = SHARE;
}

/* A sound that a block's lanes share out by more frames than the others have; with the largest words whose reach is
 * short enough. */
static void check_long(const subject *s)
{
    smp_shape shape = subject_shape(s->stage, first_size[0], first_size[1], 1, false, SMP_F32);
    bool done = shape.kind != SMP_AUDIO;
    state.share = SHARE + 2; /* one for check_largest() */
    for (int level = NUMBERS - 1; level >= 0 && !done; level--) {
        int levels[MAX_WORDS];
        for (int k = 0; k < s->word_count; k++)
            levels[k] = level % word_levels(s->words[k]);
        input c = input_make(s, levels, &shape, AS_PLANNED, 1);
        done = check_input(&c, true);
    }
    state.share = SHARE;
}

/* Whether kernels may depend on the parameter beyond the words. */
static bool is_size(const smp_param *p)
{
    bool number = p->type == SMP_T_INT || p->type == SMP_T_FLOAT;
    return p->type == SMP_T_MATRIX || (number && (p->unit == SMP_UNIT_NONE || p->unit == SMP_UNIT_PX));
}

static void check_stage(void **given)
{
    const smp_stage *stage = *given;
    subject subjects[MAX_SUBJECTS];
    if (state.failed && state.only)
        skip(); /* the mutant is found */
    state.failed = true;
    int count = subjects_of(stage, subjects);
    for (int i = 0; i < count; i++)
        check_subject(&subjects[i]);
    for (const smp_param *p = stage->params; p && p->name; p++) {
        subject s = subjects[0], fewer = s;
        if (!is_size(p))
            continue;
        fewer.words[CHOICES - 1] = p;
        if (s.word_count == CHOICES) /* fewer combinations, so that every size comes up in each format */
            check_subject(&fewer);
        s.words[s.word_count++] = p;
        check_subject(&s);
        check_largest(&s);
        check_parts(&s);
    }
    check_long(&subjects[0]);
    gpu_set_order(0);
    state.failed = false;
}

/* ------------------------------------------------------------------------------------------------ the program */

static void every_kernel_was_launched(void **given)
{
    (void)given;
    int missed = 0, all = 0;
    for (const smp_kernel_file *file = smp_kernel_files; file->name && !state.only; file++)
        for (const smp_simt_kernel *kernel = apart_since(file) ? NULL : **file->plain; kernel; kernel = kernel->next) {
            bool seen = false;
            for (int i = 0; i < state.seen_count; i++)
                seen = seen || (state.seen[i].kernel == kernel && state.seen[i].launched > 0);
            if (!seen && is_late(kernel->name))
                continue;
            all++;
            missed += !seen;
            if (!seen)
                print_error("never launched: %s (%s.cu)\n", kernel->name, file->name);
        }
    print_message("%d kernels of %d in %ld runs of %ld inputs, chosen among %ld\n", all - missed, all, state.runs,
                  state.inputs, state.planned);
    assert_true(state.runs > 0);
    assert_int_equal(missed, 0);
    for (int i = 0; i < state.seen_count && state.counts; i++)
        fprintf(state.counts, "%s %llu %llu %llu\n", state.seen[i].kernel->name,
                (unsigned long long)state.seen[i].cost.instructions, (unsigned long long)state.seen[i].cost.wavefronts,
                (unsigned long long)state.seen[i].cost.ideal);
}

/* Takes the kernels that the environment names. Not 0: the exit status. */
static int take_kernels(void)
{
    static smp_kernel_file mutant[2];
    const char *name = getenv("SMP_TEST_KERNELS"), *library = getenv("SMP_TEST_MUTANT");
    const char *counts = getenv("SMP_TEST_COUNTS"), *orders = getenv("SMP_TEST_ORDERS");
    state.orders = orders ? atoi(orders) : GPU_ORDERS;
    for (const smp_kernel_file *file = smp_kernel_files; name && file->name; file++)
        if (!strcmp(file->name, name))
            state.only = file;
    if (name && !state.only)
        return print_error("there is no kernels/%s.cu\n", name), 2;
    if (state.only && apart_since(state.only))
        return print_message("%s.cu: %s\n", name, apart_since(state.only)), 77;
    if (counts && !(state.counts = fopen(counts, "w")))
        return print_error("cannot write %s\n", counts), 2;
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        for (const smp_simt_kernel *kernel = **file->plain; kernel; kernel = kernel->next)
            state.wanting += state.only ? file == state.only : !apart_since(file);
    smp_simt_set_threads(state.only ? 1 : 2); /* a device's size, so always the same; mutants are tried side by side */
    if (!library || !state.only)
        return 0;
    char symbol[128];
    void *handle = dlopen(library, RTLD_NOW);
    snprintf(symbol, sizeof symbol, "smp_kernel_files_traced_%s", name);
    mutant[0] = *state.only;
    mutant[0].traced = handle ? dlsym(handle, symbol) : NULL;
    if (!mutant[0].traced)
        return print_error("%s\n", dlerror()), 2;
    smp_kernel_files_extra(mutant);
    state.only = mutant;
    return 0;
}

SMP_SUITE(gpu_orders)
{
    size_t count = 0;
    struct CMUnitTest *tests = calloc(smp_stage_count() + 1, sizeof *tests);
    int status = tests ? take_kernels() : 2;
    state.share = SHARE;
    if (status)
        return status;
    for (size_t i = 0, at = 0; at < smp_stage_count(); at++) {
        const smp_stage *stage = smp_stage_at(at);
        if (stage->foreign) /* tests/warp/stage.c */
            continue;
        tests[i] = (struct CMUnitTest){stage->name, check_stage, NULL, NULL, (void *)(uintptr_t)stage};
        if (state.only && !strncmp(state.only->name, stage->name, strlen(stage->name))) { /* most probably its own */
            const struct CMUnitTest own = tests[i];
            tests[i] = tests[0];
            tests[0] = own;
        }
        count = ++i;
    }
    tests[count] = (struct CMUnitTest)cmocka_unit_test(every_kernel_was_launched);
    int failed = _cmocka_run_group_tests("GPU orders", tests, count + 1, NULL, NULL);
    if (state.counts && fclose(state.counts))
        failed = 1;
    free(tests);
    return failed;
}
