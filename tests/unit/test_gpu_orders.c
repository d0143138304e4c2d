/* Every GPU kernel of every variant of every stage, traced by the emulator in five orders of its threads: the
 * definition's bytes and findings each time, and no races, no reads of what nobody wrote, no accesses outside, no
 * barrier that some threads miss. Made from the descriptors alone.
 *
 * SMP_TEST_KERNELS=NAME takes only what runs kernels of kernels/NAME.cu (tests/mutants.py). Kernels that no input
 * reaches are listed and fail the test, except then. */
#include "gpu_matrix.h"

static const int64_t sizes[][2] = {{33, 35}, {70, 9}, {5, 67}};
static const int channel_counts[] = {1, 3, 4};
/* Every pair of formats that kernels are made for occurs. */
static const struct {
    smp_format format;
    int mode;
} storages[] = {{SMP_U8, AS_PLANNED}, {SMP_U16, AS_PLANNED},   {SMP_F32, AS_PLANNED},   {SMP_U8, PLAIN},
                {SMP_U16, PLAIN},     {SMP_U8, AFTER_ANOTHER}, {SMP_U16, AFTER_ANOTHER}};
enum { STORAGES = sizeof storages / sizeof storages[0], SEEN = 4096 };

static struct state {
    const smp_kernel_file *only; /* SMP_TEST_KERNELS */
    int enough;                  /* inputs for each kernel */
    long inputs, runs, left_out;
    struct {
        const smp_simt_kernel *kernel;
        int inputs;
    } seen[SEEN];
    int seen_count;
} state;

/* ------------------------------------------------------------------------------------------------ kernels */

/* In how many inputs the kernel was traced; null when there is no such kernel. */
static int *inputs_of(const char *name)
{
    const smp_kernel_file *file = smp_kernel_file_of(name);
    const smp_simt_kernel *kernel = file ? smp_simt_kernel_find(file->plain, name) : NULL;
    int i = 0;
    if (!kernel)
        return NULL;
    while (i < state.seen_count && state.seen[i].kernel != kernel)
        i++;
    assert_true(i < SEEN);
    if (i == state.seen_count)
        state.seen[state.seen_count++].kernel = kernel;
    return &state.seen[i].inputs;
}

typedef struct needs {
    bool all, more; /* every kernel is there; one of them, of the file that is asked for, has not had enough inputs */
} needs;

static void see_kernel(void *context, const planned_kernel *kernel)
{
    needs *n = context;
    n->all = n->all && kernel->file;
    if (kernel->file && (!state.only || kernel->file == state.only))
        n->more = n->more || *inputs_of(kernel->name) < state.enough;
}

/* ------------------------------------------------------------------------------------------------ runs */

static void check_order(const input *c, const smp_plan *plan, const picture *in, const char *variant,
                        int64_t strip_rows, int order, const outcome *want)
{
    smp_trace trace = {0};
    outcome got = {0};
    gpu_set_order(order);
    smp_simt_set_trace(&trace);
    run_plan(plan, in, variant, strip_rows, gpu_simt(), &got);
    smp_simt_set_trace(NULL);
    state.runs++;
    for (size_t i = 0; i < trace.count && order == 0; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || !strcmp(trace.launches[k].kernel, trace.launches[i].kernel);
        *inputs_of(trace.launches[i].kernel) += !again;
    }
    if (gpu_print_faults(&trace, order))
        input_fail(c, "simt", variant, strip_rows, "the kernel makes mistakes");
    if (!picture_guards_hold(&got.out))
        input_fail(c, "simt", variant, strip_rows, "wrote outside the output");
    if (!picture_equal(&got.out, &want->out)) {
        print_error("order %d: ", order);
        gpu_print_difference(&got.out, &want->out);
        input_fail(c, "simt", variant, strip_rows, "other bytes than the definition");
    }
    if (!same_findings(&got.report, &want->report))
        input_fail(c, "simt", variant, strip_rows, "other findings than the definition");
    outcome_free(&got);
    smp_trace_free(&trace);
}

static void check_input(const input *c)
{
    smp_program *program = input_parse(c);
    smp_plan *plan = NULL;
    if (program && plan_lines(program, &c->shape, c->mode == PLAIN, &plan)) {
        const char *names[MAX_NAMES];
        int count = variant_names(c->subject->stage, names);
        picture in = input_picture(c);
        outcome want = {0};
        run_plan(plan, &in, "naive", 0, gpu_reference(), &want);
        state.inputs++;
        for (int i = 0; i < count; i++) {
            needs n = {.all = true};
            each_kernel(plan, names[i], see_kernel, &n);
            state.left_out += !n.all;
            for (int order = 0; n.all && n.more && order < GPU_ORDERS; order++)
                check_order(c, plan, &in, names[i], c->seed % 2 ? 7 : 0, order, &want);
        }
        outcome_free(&want);
        picture_free(&in);
    }
    smp_plan_free(plan);
    smp_program_free(program);
}

static void check_stage(void **given)
{
    static unsigned round;
    subject subjects[MAX_SUBJECTS];
    int count = subjects_of(*given, subjects);
    for (int i = 0; i < count; i++) {
        const subject *s = &subjects[i];
        int turns = STORAGES;
        for (int k = 0; k < s->word_count; k++)
            turns = turns > word_levels(s->words[k]) ? turns : word_levels(s->words[k]);
        for (int turn = 0; turn < turns; turn++, round++) {
            int levels[MAX_WORDS], channels = channel_counts[(round + round / 3) % 3];
            for (int k = 0; k < s->word_count; k++)
                levels[k] = (turn + turn / 3 * k) % word_levels(s->words[k]);
            const int64_t *size = sizes[round % 3];
            smp_shape shape =
                subject_shape(s->stage, size[0], size[1], channels, channels == 4, storages[turn % STORAGES].format);
            input c = input_make(s, levels, &shape, storages[turn % STORAGES].mode, round + 1);
            check_input(&c);
        }
    }
    gpu_set_order(0);
}

static void every_kernel_was_launched(void **given)
{
    (void)given;
    int missed = 0, all = 0;
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        for (const smp_simt_kernel *kernel = **file->plain; kernel; kernel = kernel->next) {
            bool seen = false;
            for (int i = 0; i < state.seen_count; i++)
                seen = seen || (state.seen[i].kernel == kernel && state.seen[i].inputs > 0);
            all++;
            if (seen || state.only)
                continue;
            print_message("never launched: %s (%s.cu)\n", kernel->name, file->name);
            missed++;
        }
    print_message("%d kernels of %d in %ld runs of %ld inputs; %ld left out for want of kernels\n", all - missed, all,
                  state.runs, state.inputs, state.left_out);
    assert_true(state.runs > 0);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const char *only = getenv("SMP_TEST_KERNELS");
    for (const smp_kernel_file *file = smp_kernel_files; only && file->name; file++)
        if (!strcmp(file->name, only))
            state.only = file;
    if (only && !state.only) {
        print_error("there is no kernels/%s.cu\n", only);
        return 2;
    }
    state.enough = only ? 4 : 2;
    size_t count = smp_stage_count();
    struct CMUnitTest *tests = calloc(count + 1, sizeof *tests);
    for (size_t i = 0; tests && i < count; i++) {
        const smp_stage *stage = smp_stage_at(i);
        tests[i] = (struct CMUnitTest){stage->name, check_stage, NULL, NULL, (void *)(uintptr_t)stage};
    }
    if (!tests)
        return 1;
    tests[count] = (struct CMUnitTest)cmocka_unit_test(every_kernel_was_launched);
    int failed = _cmocka_run_group_tests("GPU orders", tests, count + 1, NULL, NULL);
    free(tests);
    return failed;
}
