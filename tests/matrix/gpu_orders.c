/* Every GPU kernel of every variant of every stage, traced by the emulator in five orders of its threads: the
 * definition's bytes and measurements each time, and no races, no reads of what nobody wrote, no accesses outside, no
 * barrier that some threads miss. Made from the descriptors alone: of all inputs (formats, channels, storage on both
 * sides, words, sizes of numbers) those are run that reach a kernel which has not had its share yet: one picture as a
 * whole on a device whose grids are small, so that blocks take turns as on huge pictures, and one in strips, which is
 * wide; and, where a stage takes numbers, one with a large number. A stage's inputs depend on its own descriptor alone.
 *
 * tests/mutants.py says SMP_TEST_KERNELS=NAME, which takes only what runs kernels of kernels/NAME.cu;
 * SMP_TEST_MUTANT=FILE, a library with other traced kernels to take for these; SMP_TEST_PLACE=N, the value of its
 * variable smp_mutant; SMP_TEST_COUNTS=FILE, to be told what their shared accesses cost; SMP_TEST_ORDERS=1, the
 * order that is counted. SMP_TEST_STAGE=NAME takes that stage alone, SMP_TURN=K/N those of the turn: neither asks for
 * all kernels. */
#include "suite.h"

#include "gpu_matrix.h"
#include "stencil/rank.h"

/* Whole pictures: a little more than a tile of 32; a ragged column. Strips: more than four warps in a row. */
static const int64_t sizes[][2] = {{33, 35}, {5, 70}}, wide[2] = {131, 9}, wide_product[2] = {70, 9};
static const int64_t first_size[2] = {20, 130}; /* times itself turned: more than a tile of 128 x 128 */
static const int64_t tall[2] = {3, 1040};       /* columns that are split */
static const struct {
    int channels;
    bool alpha;
} pixels[] = {{1, false}, {2, true}, {2, false}, {3, false}, {4, true}, {4, false}, {5, false}, {6, false}, {8, false}};
enum { SIZES = sizeof sizes / sizeof sizes[0], PIXELS = sizeof pixels / sizeof pixels[0] };
static const struct { /* files whose kernels no pipeline runs */
    const char *file, *why;
} apart[] = {{"bench", "measures ceilings (peaks.c); its warps write the same bytes on purpose"},
             {"resize_fused", "wants pictures of a whole ratio (tests/kernels/resize.c)"},
             {"denoise_count", "looks at a sound before its plan is made (tests/oracle/test_mel.py)"},
             {"brightness", "runs before the plan is complete (tests/oracle/test_found.py)"},
             {"tensor", "runs behind a plan (tests/python/test_feed_gpu.py)"},
             {"content", "runs before the plan is complete (tests/oracle/test_found.py)"},
             {"trace", "runs before the plan is complete (tests/oracle/test_effects.py)"}};
enum { SEEN = 4096, FILES = 32 /* of a subject */, SHARE = 2 /* inputs of each kernel */ };
enum { APART = sizeof apart / sizeof apart[0], SHAPES = SMP_FORMATS * PIXELS * ALL_MODES };
/* Orders (gpu_case.h) for whole pictures and for strips. */
enum { WHOLE_ORDERS = 3, STRIP_ORDERS = GPU_ORDERS - WHOLE_ORDERS };

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
        unsigned orders;       /* bit i: it ran in order i */
        bool met;              /* its threads did, in some launch */
        smp_shared_count cost;
    } seen[SEEN];
    int seen_count;
    const smp_stage *stage;              /* of the present subject */
    const smp_kernel_file *files[FILES]; /* which its own kernels are of */
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

/* Whether the stage probably runs kernels of the file, so that they are reached soon. */
static bool runs_first(const char *file, const char *stage)
{
    static const char *const others[][2] = {
        {"fourier", "fft"}, {"diffuse", "posterise"}, {"union_find", "label"}, {"union_find_words", "canny"}};
    bool is = !strncmp(file, stage, strlen(stage));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is = is || (!strcmp(others[i][0], file) && !strcmp(others[i][1], stage));
    return is;
}

/* Whether it is the body of another kernel, for many pictures (tests/python/test_feed_gpu.py). */
static bool is_many(const smp_simt_kernel *kernel)
{
    const char *end = strrchr(kernel->name, '_');
    return end && !strcmp(end, "_many");
}

/* Why a file's kernels are not run here; null: they are. */
static const char *apart_since(const smp_kernel_file *file)
{
    for (int i = 0; i < APART; i++)
        if (!strcmp(apart[i].file, file->name))
            return apart[i].why;
    return NULL;
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
    if (file == state.file_count && kernel->step->stage == state.stage)
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

/* Whether the present subject can bring nothing new: all kernels of its stage's files have had their share. */
static bool files_are_done(void)
{
    for (int i = 0; i < state.file_count; i++) {
        if (state.only && state.files[i] != state.only)
            continue;
        for (const smp_simt_kernel *kernel = **state.files[i]->plain; kernel; kernel = kernel->next)
            if (!is_many(kernel) && state.seen[find_kernel(kernel->name)].planned < SHARE)
                return false;
    }
    return true;
}

/* True: threads of some launch met. */
static bool note_order(const smp_trace *trace, int order)
{
    bool met = false;
    for (size_t i = 0; i < trace->count; i++) {
        const int kernel = find_kernel(trace->launches[i].kernel);
        state.seen[kernel].orders |= 1u << order;
        state.seen[kernel].met |= trace->launches[i].met;
        met |= trace->launches[i].met;
    }
    return met;
}

/* The orders that a kernel has yet to run in. Threads that never meet (no barrier, exchange, shared memory or atomic
 * operation) take two orders: of two that write the same byte, each comes first in one of them. */
static unsigned lacked_orders(int kernel)
{
    const unsigned all = state.seen[kernel].met ? (1u << GPU_ORDERS) - 1 : 3;
    return all & ~state.seen[kernel].orders;
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

/* counts: launches count, once for each input. True: threads of some launch met. */
static bool check_order(const input *c, const smp_plan *plan, const picture *in, const char *variant,
                        int64_t strip_rows, int order, bool counts, const outcome *want)
{
    smp_device *device = device_of(!strip_rows);
    smp_trace trace = {0};
    outcome got = {0};
    smp_simt_set_order(order);
    smp_simt_set_trace(&trace);
    run_plan(plan, in, variant, strip_rows, device, &got);
    smp_simt_set_trace(NULL);
    state.runs++;
    const bool met = note_order(&trace, order);
    if (counts)
        count_launches(&trace);
    if (gpu_print_faults(&trace, order))
        input_fail(c, "simt", variant, strip_rows, "the kernel makes mistakes");
    if (!picture_guards_hold(&got.out))
        input_fail(c, "simt", variant, strip_rows, "wrote outside the output");
    if (!picture_equal(&got.out, &want->out)) {
        print_error("order %d: ", order);
        gpu_print_difference(&got.out, &want->out);
        input_fail(c, "simt", variant, strip_rows, "other bytes than the definition");
    }
    if (!same_measurements(&got.report, &want->report))
        input_fail(c, "simt", variant, strip_rows, "other findings than the definition");
    outcome_free(&got);
    smp_trace_free(&trace);
    return met;
}

static void each_launched(const smp_plan *plan, const char *variant, kernel_seen *see, void *context)
{
    const smp_device_info *info = &device_of(false)->info;
    const smp_grid known = {.units = (unsigned)info->units, .shared_most = (unsigned)info->shared_per_block};
    each_kernel(plan, variant, &known, see, context);
}

/* Inputs that the variant's kernel had that had fewest; the share: it wants no more. */
static int least_had(const smp_plan *plan, const char *variant)
{
    int least = state.share;
    each_launched(plan, variant, see_kernel, &least);
    return least;
}

/* Makes what is not made yet: when the first variant needs it. */
static void define(const input *c, const smp_plan *plan, picture *in, outcome *want)
{
    if (!in->memory)
        *in = input_picture(c);
    if (!want->out.memory) {
        run_plan(plan, in, "naive", 0, gpu_reference(), want);
        state.inputs++;
    }
}

typedef struct lacked {
    int inputs; /* that a kernel has had, or more */
    unsigned orders;
} lacked;

static void see_lacked(void *lacked_, const planned_kernel *kernel)
{
    lacked *l = lacked_;
    const int i = find_kernel(kernel->name);
    if (state.seen[i].planned >= l->inputs && (!state.only || kernel->file == state.only))
        l->orders |= lacked_orders(i);
}

/* The orders that kernels lack which have had so many inputs: both were whole, or threads met in one alone. */
static void check_lacked(const input *c, const smp_plan *plan, const char *variant, int64_t strip_rows, int inputs,
                         picture *in, outcome *want)
{
    lacked l = {.inputs = inputs};
    define(c, plan, in, want);
    if (state.orders == GPU_ORDERS)
        each_launched(plan, variant, see_lacked, &l);
    for (int order = 0; order < GPU_ORDERS; order++)
        if (l.orders >> order & 1)
            check_order(c, plan, in, variant, strip_rows, order, false, want);
}

static void check_variant(const input *c, const smp_plan *plan, const char *variant, bool in_strips, picture *in,
                          outcome *want)
{
    define(c, plan, in, want);
    each_launched(plan, variant, count_planned, NULL);
    const int64_t strip_rows = in_strips ? input_strip_rows(plan) : 0;
    const int first = in_strips && state.orders > WHOLE_ORDERS ? WHOLE_ORDERS : 0;
    int count = in_strips ? STRIP_ORDERS : WHOLE_ORDERS;
    for (int k = 0; k < count && k < state.orders; k++)
        if (!check_order(c, plan, in, variant, strip_rows, first + k, k == 0, want))
            count = in_strips ? 1 : 2;
    check_lacked(c, plan, variant, strip_rows, SHARE, in, want);
}

/* Once more as a whole, wide: a warp takes its tiles of a row in turn. */
static void check_wide(const input *c, const smp_plan *plan, const char *variant, picture *in, outcome *want)
{
    define(c, plan, in, want);
    for (int order = 1; order < WHOLE_ORDERS && order < state.orders; order++)
        if (!check_order(c, plan, in, variant, 0, order, false, want))
            break;
}

/* A plan's runs: want and in are made once for its variants. */
typedef struct planned {
    input *c;
    smp_plan *plan;
    picture in;
    outcome want;
} planned;

static void planned_free(planned *p)
{
    outcome_free(&p->want);
    picture_free(&p->in);
    smp_plan_free(p->plan);
    *p = (planned){.c = p->c};
}

static bool plan_input(smp_program *program, planned *p)
{
    p->plan = NULL;
    if (!program || !plan_lines(program, &p->c->shape, mode_is_plain(p->c->mode), &p->plan))
        return false;
    state.planned++;
    return true;
}

/* Makes a sound longer: to more than twice the frames that the stage takes at a time, which its reach shows as well;
 * false when that does not suffice. */
static bool plan_longer(smp_program *program, planned *p)
{
    enum { MORE = 100 };
    p->c->shape.height = 2 * p->plan->row_multiple + MORE;
    planned_free(p);
    if (!plan_input(program, p))
        return false;
    for (size_t i = 0; i < p->plan->step_count; i++)
        if (p->plan->steps[i].reads.up >= p->c->shape.height - MORE)
            return false;
    return true;
}

/* One input by itself. False when the stage refuses it. */
static bool check_input(input *c, bool longer)
{
    planned p = {.c = c};
    smp_program *program = input_parse(c);
    const bool makes_sense = plan_input(program, &p) && (!longer || plan_longer(program, &p));
    if (makes_sense) {
        const char *names[MAX_NAMES];
        int count = variant_names(c->subject->stage, names);
        for (int i = 0; i < count; i++) {
            const int had = least_had(p.plan, names[i]);
            if (had < state.share)
                check_variant(c, p.plan, names[i], had == 1, &p.in, &p.want);
        }
    }
    planned_free(&p);
    smp_program_free(program);
    return makes_sense;
}

/* An input of a search: as a whole for variants with a kernel that had none, then so of another size; of that size in
 * strips for those with a kernel that had one before. */
static void check_candidate(input *c, smp_program *program, const smp_shape *strips)
{
    planned p = {.c = c};
    const char *names[MAX_NAMES];
    bool again[MAX_NAMES] = {false}, first[MAX_NAMES] = {false}, some = false;
    const smp_shape whole = c->shape;
    int count = variant_names(c->subject->stage, names);
    if (plan_input(program, &p))
        for (int i = 0; i < count; i++) {
            const int had = least_had(p.plan, names[i]);
            first[i] = had == 0;
            if (first[i])
                check_variant(c, p.plan, names[i], false, &p.in, &p.want);
            again[i] = had == 1;
            some = some || again[i] || (first[i] && c->shape.kind == SMP_IMAGE);
        }
    planned_free(&p);
    c->shape = *strips;
    const bool fits = some && plan_input(program, &p);
    if (!fits)
        c->shape = whole;
    if (fits || (some && plan_input(program, &p)))
        for (int i = 0; i < count; i++) {
            if (first[i] && !fits) /* no second input: the first takes what the kernels lack */
                check_lacked(c, p.plan, names[i], 0, 1, &p.in, &p.want);
            if (first[i] && fits)
                check_wide(c, p.plan, names[i], &p.in, &p.want);
            if (again[i] && fits && least_had(p.plan, names[i]) == 1)
                check_variant(c, p.plan, names[i], true, &p.in, &p.want);
        }
    planned_free(&p);
}

/* ------------------------------------------------------------------------------------------------ inputs */

/* Formats, words, modes and pixels are the digits of a number, formats the lowest, that takes all its values in leaps:
 * each format meets each word soonest; again for a kernel that one input reaches alone. f32 of one channel comes first:
 * what is special for matrices is there. */
static void check_subject(const subject *s)
{
    enum { MOST = 420 * SHAPES, PATIENCE = 4000 /* inputs in a row that bring nothing new, or half of all */ };
    int64_t all = SHAPES;
    for (int k = 0; k < s->word_count; k++)
        all *= word_levels(s->words[k]);
    const int64_t stride = input_stride(all), patience = all / 2 > PATIENCE ? all / 2 : PATIENCE;
    const bool product = s->operand && operand_of(s->stage)->flags & SMP_P_ANYSIZE; /* times itself turned */
    const int64_t *wide_size = product ? wide_product : wide;
    if (state.stage != s->stage) /* what subjects before reached of its files, this one may too */
        state.file_count = 0;
    state.stage = s->stage;
    for (int64_t i = 0, idle = 0; i < SHARE * all && i < MOST && state.wanting && idle < patience; i++) {
        if (i >= SHAPES && (idle == 0 || i % SHAPES == 0) && files_are_done())
            break;
        int levels[MAX_WORDS];
        int64_t at = i * stride % all;
        const int format = (SMP_F32 + input_digit(&at, SMP_FORMATS)) % SMP_FORMATS;
        for (int k = s->word_count - 1; k >= 0; k--)
            levels[k] = input_digit(&at, word_levels(s->words[k]));
        const int mode = input_digit(&at, ALL_MODES), pixel = input_digit(&at, PIXELS);
        const int64_t *size = i ? sizes[i % SIZES] : first_size;
        const int channels = pixels[pixel].channels;
        const bool alpha = pixels[pixel].alpha;
        smp_shape shape = subject_shape(s->stage, size[0], size[1], channels, alpha, (smp_format)format);
        smp_shape strips = subject_shape(s->stage, wide_size[0], wide_size[1], channels, alpha, (smp_format)format);
        input c = input_make(s, levels, &shape, mode, (uint64_t)i + 1);
        const long runs = state.runs;
        check_candidate(&c, input_parse_once(&c), &strips);
        idle = state.runs == runs ? idle + 1 : 0;
    }
    inputs_forget();
}

/* The last word is a number, as large as it may be; sides of windows are less. Lists are long as well. */
static void check_largest(const subject *s)
{
    smp_shape shape = subject_shape(s->stage, first_size[0], first_size[1], 1, false, SMP_F32);
    const smp_param *word = s->words[s->word_count - 1];
    const bool matrix = word->type == SMP_T_MATRIX, side = word->type == SMP_T_INT && word->max == SMP_RANK_MOST;
    const int last = matrix ? SIDES - 1 : NUMBERS - 1 - side;
    bool done = false;
    state.share = SHARE + 1;
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

/* A sound that a block's lanes share out by more frames than the others have, with the largest words whose reach is
 * short enough; a picture of long columns, with the first words that make sense, as a whole, then in strips. */
static void check_long(const subject *s)
{
    const bool sound = subject_shape(s->stage, 1, 1, 1, false, SMP_F32).kind == SMP_AUDIO;
    const int64_t *const size = sound ? first_size : tall;
    smp_shape shape = subject_shape(s->stage, size[0], size[1], 1, false, SMP_F32);
    bool done = !sound && files_are_done();
    state.share = sound ? SHARE + 2 : SHARE; /* one for check_largest() */
    for (int i = 0; i < NUMBERS && !done; i++) {
        int levels[MAX_WORDS];
        for (int k = 0; k < s->word_count; k++)
            levels[k] = (sound ? NUMBERS - 1 - i : i) % word_levels(s->words[k]);
        input c = input_make(s, levels, &shape, AS_PLANNED, 1);
        done = check_input(&c, sound) && (sound || check_input(&c, false));
    }
    state.share = SHARE;
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
    subject more = {.stage = stage};
    int words = 0;
    for (const smp_param *p = stage->params; p && p->name; p++) /* those that are not combined */
        if ((p->type == SMP_T_ENUM || p->type == SMP_T_BOOL) && words++ >= CHOICES && more.word_count < MAX_WORDS)
            more.words[more.word_count++] = p;
    if (more.word_count)
        check_subject(&more);
    for (const smp_param *p = stage->params; p && p->name; p++) {
        subject s = subjects[0], fewer = s;
        if (!input_is_size(p))
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
    smp_simt_set_order(0);
    state.failed = false;
}

/* ------------------------------------------------------------------------------------------------ the program */

static void every_kernel_was_launched_in_every_order(void **given)
{
    (void)given;
    int missed = 0, all = 0;
    const bool some_stages = getenv("SMP_TEST_STAGE") || (getenv("SMP_TURN") && !state.only);
    for (const smp_kernel_file *file = smp_kernel_files; file->name && !some_stages; file++)
        for (const smp_simt_kernel *kernel = apart_since(file) ? NULL : **file->plain; kernel; kernel = kernel->next) {
            bool seen = is_many(kernel);
            if (state.only && file != state.only)
                break;
            for (int i = 0; i < state.seen_count; i++)
                seen = seen || (state.seen[i].kernel == kernel && state.seen[i].launched > 0);
            all++;
            missed += !seen;
            if (!seen)
                print_error("never launched: %s (%s.cu)\n", kernel->name, file->name);
        }
    if (all) /* else one stage's, or a mutant's */
        print_message("%d kernels of %d in ", all - missed, all);
    print_message("%ld runs of %ld inputs, chosen among %ld\n", state.runs, state.inputs, state.planned);
    assert_true(state.runs > 0);
    for (int i = 0; i < state.seen_count && state.orders == GPU_ORDERS && !some_stages && !getenv("SMP_TEST_MUTANT");
         i++)
        if ((!state.only || smp_kernel_file_of(state.seen[i].kernel->name) == state.only) && lacked_orders(i)) {
            print_error("%s lacks the orders 0x%x\n", state.seen[i].kernel->name, lacked_orders(i));
            missed++;
        }
    assert_int_equal(missed, 0);
    for (int i = 0; i < state.seen_count && state.counts; i++)
        fprintf(state.counts, "%s %llu %llu %llu\n", state.seen[i].kernel->name,
                (unsigned long long)state.seen[i].cost.instructions, (unsigned long long)state.seen[i].cost.wavefronts,
                (unsigned long long)state.seen[i].cost.ideal);
}

/* Takes the kernels that the environment names. Not 0: the exit status. */
static int take_kernels(void)
{
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
            state.wanting += !is_many(kernel) && (state.only ? file == state.only : !apart_since(file));
    smp_simt_set_threads(state.only ? 1 : 2); /* a device's size, so always the same; mutants are tried side by side */
    if (!library || !state.only)
        return 0;
    state.only = kernel_file_mutant(state.only, library, getenv("SMP_TEST_PLACE"));
    return state.only ? 0 : 2;
}

SMP_SUITE(gpu_orders)
{
    size_t count, part = 0, parts = 1;
    if (!getenv("SMP_TEST_KERNELS"))
        stage_turn(&part, &parts);
    struct CMUnitTest *tests = stage_tests(check_stage, part, parts, &count);
    int status = tests ? take_kernels() : 2;
    state.share = SHARE;
    if (status)
        return status;
    for (size_t i = 1; i < count && state.only; i++)
        if (runs_first(state.only->name, tests[i].name)) {
            const struct CMUnitTest own = tests[i];
            tests[i] = tests[0];
            tests[0] = own;
        }
    tests[count] = (struct CMUnitTest)cmocka_unit_test(every_kernel_was_launched_in_every_order);
    int failed = _cmocka_run_group_tests("GPU orders", tests, count + 1, NULL, NULL);
    if (state.counts && fclose(state.counts))
        failed = 1;
    free(tests);
    return failed;
}
