/* Cost of shared-memory accesses, every stage and variant: the model against a GPU. With SMP_TEST_DEVICE=cuda (or
 * cuda:N) the GPU's own counts (sass) must be the model's, wavefront for wavefront; skipped where the GPU cannot be
 * asked. Without, the emulator is its own judge: counts must not depend on the order of threads.
 *
 * Where the build has the kernels' SASS, the model is of that, and each kernel's SASS must leave the bytes that the
 * host's compiler's code leaves. SMP_COUNTS=formats: all formats in the emulator too; all: and sizes.
 * SMP_COUNTS_SECONDS bounds the time: on a GPU some stages of every format and size come first, whatever the time, and
 * then others of each, in as many rounds as there are formats and sizes. What there was no time for is said, also where
 * SIGTERM ends it before; every 20 seconds, what was counted so far. SMP_TRACE_COUNTERS=2 shows the GPU's counts of
 * single instructions. */
#include "suite.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_matrix.h"

#include "base/clock.h"
#include "base/pool.h"
#include "device/simt/simt.h"
#include "lab/counters/source.h"
#include "lab/program_kernels/own.h"

/* No multiples of anything that kernels divide by. */
static const int64_t real_sizes[][2] = {{451, 300}, {640, 427}, {333, 217}}, small_size[2] = {67, 35};
enum { SIZES = sizeof real_sizes / sizeof real_sizes[0] };

static const struct {
    smp_format format;
    int channels, mode;
} kinds[] = {
    {SMP_F32, 1, AS_PLANNED}, {SMP_U8, 3, AS_PLANNED}, {SMP_U8, 1, PLAIN},       {SMP_U16, 4, AS_PLANNED},
    {SMP_U8, 4, AS_PLANNED},  {SMP_F32, 3, PLAIN},     {SMP_U16, 1, AS_PLANNED}, {SMP_F32, 4, AS_PLANNED},
    {SMP_U8, 1, AS_PLANNED},  {SMP_U16, 3, PLAIN},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Modelling takes a hundred times as long as counting, and one process counts on a GPU at a time: so processes of one
 * thread, one a core, model, each the next run that nobody has taken, into memory that all see. Meanwhile this one
 * counts what they have modelled, in the same order. */
enum { MOST_RUNS = 20000, MOST_WORKERS = 64, TELL_SECONDS = 20 };
typedef struct modelled {
    smp_counts counts;
    bool ready, wrong;
} modelled;
typedef struct shared_state {
    smp_device_info gpu;
    size_t turn; /* the next run that nobody has taken */
    modelled runs[MOST_RUNS];
} shared_state;

static struct state {
    smp_device *gpu, *emulator;
    smp_count_source *measured, *model;
    shared_state *shared;
    bool real, loading, modelling, whole, formats, first; /* first: round, which is done whatever the time */
    bool only_more;                                       /* only what takes a kernel that is not loaded yet */
    size_t next, taken;          /* runs so far: the same in each process; the one that this process models */
    pid_t workers[MOST_WORKERS]; /* 0: it has ended */
    int worker_count, failed;
    long runs, differ, none, sass, instructions, wrong, late;
    double until, began, told, loading_seconds, measured_seconds, model_seconds; /* model: on a GPU, the waiting */
} state;
static volatile sig_atomic_t ended; /* no time is left */

typedef struct work {
    const smp_plan *plan;
    const picture *in;
    const char *variant;
    smp_device *device;
} work;

static smp_code run_work(void *context, smp_error *err)
{
    const work *w = context;
    outcome got = {0};
    const smp_shape *shape = &w->plan->sinks[0].shape;
    got.out = picture_make(shape, shape->format);
    smp_code code = smp_run_memory(w->plan, w->device, w->variant, 0, &w->in->view, &got.out.view, &got.report, err);
    outcome_free(&got);
    return code;
}

static void count_work(smp_count_source *source, smp_device *device, const work *like, smp_counts *counts)
{
    smp_error err = {0};
    work own = *like;
    own.device = device;
    if (!smp_count_measure(source, run_work, &own, counts, &err))
        return;
    if (err.code != SMP_E_DIFFERENT)
        fail_msg("%s: %s", like->variant, err.message);
    print_message("WRONG: %s: %s %s\n", like->variant, err.message, err.where);
    state.wrong++;
}

/* A run whose counts differ, and what the model counted. */
static void explain(const input *c, const work *w, const char *what, const smp_counts *model)
{
    print_message("%s%s%s %sx%d %lldx%lld mode %d %s: %s\n    the model counted %s\n", c->text[0],
                  c->count > 1 ? "; " : "", c->count > 1 ? c->text[1] : "", smp_format_name(c->shape.format),
                  c->shape.channels, (long long)c->shape.width, (long long)c->shape.height, c->mode, w->variant, what,
                  model->architecture ? "SASS" : "the host's compiler's code");
}

/* A process's share of the modelling. */
static void model_one(const work *w, modelled *to)
{
    const long wrong = state.wrong;
    count_work(state.model, state.emulator, w, &to->counts);
    to->wrong = state.wrong > wrong;
    __atomic_store_n(&to->ready, true, __ATOMIC_RELEASE);
}

/* Waits for the process of a worker where it is wanted; else looks whether it has ended. */
static bool workers_are_there(bool wait)
{
    bool any = false;
    for (int k = 0; k < state.worker_count; k++) {
        int status = 1;
        const pid_t pid = state.workers[k] ? waitpid(state.workers[k], &status, wait ? 0 : WNOHANG) : -1;
        if (state.workers[k] && pid) {
            state.failed += pid != state.workers[k] || status != 0;
            state.workers[k] = 0;
        }
        any = any || state.workers[k];
    }
    return any;
}

static void tell_so_far(void)
{
    if (smp_now() < state.told + TELL_SECONDS)
        return;
    state.told = smp_now();
    print_message("so far: %.0f s: %ld runs, %ld differ, %ld wrong bytes; %.1f s loaded, %.1f s counted\n",
                  state.told - state.began, state.runs, state.differ, state.wrong, state.loading_seconds,
                  state.measured_seconds);
    (void)fflush(NULL);
}

/* False: it was not modelled in time. */
static bool wait_for_model(const modelled *run)
{
    const double start = smp_now();
    bool there = true, ready;
    while (!(ready = __atomic_load_n(&run->ready, __ATOMIC_ACQUIRE)) && there && !ended) {
        there = workers_are_there(false); /* who has ended may have just made it ready */
        tell_so_far();
        if (there)
            (void)usleep(1000);
    }
    state.model_seconds += smp_now() - start;
    return ready || __atomic_load_n(&run->ready, __ATOMIC_ACQUIRE);
}

/* Counts by the model, which has done so already where `taken` is given, and on the device, and compares. */
static void compare_counts(const input *c, work *w, const modelled *taken)
{
    smp_counts model, measured;
    char text[200];
    double start = smp_now();
    if (taken) {
        model = taken->counts;
        state.wrong += taken->wrong;
    } else {
        smp_simt_set_order(0);
        count_work(state.model, state.emulator, w, &model);
        smp_simt_set_order(2);
    }
    double middle = smp_now();
    count_work(state.measured, state.gpu, w, &measured);
    if (!taken)
        state.model_seconds += middle - start;
    state.measured_seconds += smp_now() - middle;
    state.runs++;
    tell_so_far();
    state.none += !model.total.instructions;
    state.sass += model.architecture != 0;
    state.instructions += model.architecture && model.total.instructions != measured.total.instructions;
    if (model.notes[0])
        print_message("not SASS: %s", model.notes);
    if (!smp_counts_agree(&model, &measured, text, sizeof text)) {
        state.differ++;
        explain(c, w, text, &model);
    }
}

static void check_variant(const input *c, const smp_plan *plan, picture *in, const char *variant)
{
    work w = {plan, in, variant, NULL};
    const size_t run = state.loading ? 0 : state.next++;
    if (state.loading && ended)
        return;
    assert_true(!state.shared || run < MOST_RUNS);
    if (state.modelling && run != state.taken)
        return;
    if (state.real && !state.modelling && !state.loading && (ended || !wait_for_model(&state.shared->runs[run]))) {
        state.late++;
        return;
    }
    if (!in->view.data) /* few processes need it, and it takes as long as counting */
        *in = input_picture(c);
    if (state.modelling) {
        model_one(&w, &state.shared->runs[run]);
        state.taken = __atomic_fetch_add(&state.shared->turn, 1, __ATOMIC_RELAXED);
        return;
    }
    if (state.loading) {
        smp_error err;
        w.device = state.gpu;
        if (run_work(&w, &err))
            fail_msg("%s: %s", variant, err.message);
        tell_so_far();
        return;
    }
    compare_counts(c, &w, state.real ? &state.shared->runs[run] : NULL);
}

static bool has_time(void)
{
    return state.first || smp_now() < state.until;
}

enum { MOST_KERNELS = 4096 };
static char known_kernels[MOST_KERNELS][sizeof((planned_kernel *)0)->name];
static int known_kernel_count;

typedef struct kernels_seen {
    bool all, more; /* whether each is a kernel of this program; while loading: whether one was not known yet */
} kernels_seen;

static void see_kernel(void *context, const planned_kernel *kernel)
{
    kernels_seen *now = context;
    int i = 0;
    now->all = now->all && kernel->file;
    if (!state.loading)
        return;
    while (i < known_kernel_count && strcmp(known_kernels[i], kernel->name) != 0)
        i++;
    if (i < known_kernel_count)
        return;
    assert_true(known_kernel_count < MOST_KERNELS);
    memcpy(known_kernels[known_kernel_count++], kernel->name, sizeof kernel->name);
    now->more = true;
}

static void check_input(const input *c)
{
    smp_program *program = input_parse(c);
    smp_plan *plan = NULL;
    if (program && plan_lines(program, &c->shape, mode_is_plain(c->mode), &plan)) {
        const char *names[MAX_NAMES];
        int count = variant_names(c->subject->stage, names);
        picture in = {0};
        for (int i = 0; i < count && has_time(); i++) {
            kernels_seen now = {.all = true};
            each_kernel(plan, names[i], NULL, see_kernel, &now);
            if (now.all && (now.more || !state.loading || !state.only_more))
                check_variant(c, plan, &in, names[i]);
        }
        picture_free(&in);
    }
    smp_plan_free(plan);
    smp_program_free(program);
}

/* The stages of a round, of so many. */
static void check_kind(int kind, int pass, int round, int rounds)
{
    for (size_t n = 0; n < smp_stage_count() && has_time(); n++) {
        subject subjects[MAX_SUBJECTS];
        const smp_stage *stage = smp_stage_at(n);
        int count = subjects_of(stage, subjects), levels[MAX_WORDS];
        if (smp_stage_is(stage, SMP_TRAIT_INTERNAL) || stage->examine ||
            ((int)n + pass * KINDS + kind) % rounds != round)
            continue;
        const subject *s = &subjects[kind % count];
        for (int i = 0; i < s->word_count; i++)
            levels[i] = kind % word_levels(s->words[i]);
        const int64_t *size = state.whole ? real_sizes[(kind + pass) % SIZES] : small_size;
        smp_shape shape =
            subject_shape(stage, size[0], size[1], kinds[kind].channels, kinds[kind].channels == 4, kinds[kind].format);
        const size_t number = (size_t)(pass * KINDS + kind) * smp_stage_count() + n + 1;
        input c = input_make(s, levels, &shape, kinds[kind].mode, 2 * number); /* even: code values */
        check_input(&c);
    }
    if (!state.real)
        gpu_simt_reset();
}

static void the_model_is_right_for_every_variant(void **given)
{
    (void)given;
    int done = 0;
    long seen[SIZES * KINDS] = {0};
    if (state.real && !state.measured)
        skip();
    const int most = state.whole ? SIZES * KINDS : state.formats ? KINDS : 2, rounds = state.real ? most : 1;
    for (int turn = 0; turn < rounds * most && has_time(); turn++) {
        const int kind = turn % most;
        const long before = state.runs;
        if (!state.real) {
            state.gpu = state.emulator = gpu_simt();
            smp_error err;
            assert_int_equal(smp_count_open(SMP_COUNT_MODEL, state.gpu, &state.measured, &err), SMP_OK);
            assert_int_equal(smp_count_open(SMP_COUNT_MODEL, state.gpu, &state.model, &err), SMP_OK);
        }
        check_kind(kind % KINDS, kind / KINDS, turn / most, rounds);
        seen[kind] += state.runs - before;
        if (!state.real) {
            smp_count_close(state.measured);
            smp_count_close(state.model);
        }
    }
    for (int i = 0; i < most; i++)
        done += seen[i] > 0;
    print_message(
        "counts on %s: %ld runs of %d of %d kinds and sizes (%ld not modelled in time), %ld differ, %ld in "
        "instructions, %ld wrong bytes, %ld modelled by SASS, %ld use no shared memory; %.1f s loaded, %.1f s "
        "counted, %.1f s %s\n",
        state.real ? state.gpu->info.name : "the emulator", state.runs, done, most, state.late, state.differ,
        state.instructions, state.wrong, state.sass, state.none, state.loading_seconds, state.measured_seconds,
        state.model_seconds, state.real ? "waited for the model" : "modelled");
    if (ended)
        fail_msg("ended before its time was up");
    (void)workers_are_there(true);
    assert_int_equal(state.failed, 0);
    assert_true(state.runs > state.none);
    assert_true(done == most || !state.real);
    assert_int_equal(state.differ, 0);
    assert_int_equal(state.wrong, 0);
}

static void open_model(void)
{
    smp_error err = {0};
    state.emulator = gpu_simt();
    state.emulator->info.units = state.shared->gpu.units; /* grids are asked for by these */
    state.emulator->info.shared_per_block = state.shared->gpu.shared_per_block;
    if (smp_count_open(SMP_COUNT_MODEL, state.emulator, &state.model, &err))
        fail_msg("%s", err.message);
}

static void model_own_share(void **given)
{
    (void)given;
    enum { MOST = SIZES * KINDS };
    smp_simt_set_threads(1);
    open_model();
    state.taken = __atomic_fetch_add(&state.shared->turn, 1, __ATOMIC_RELAXED);
    for (int turn = 0; turn < MOST * MOST && has_time(); turn++) {
        state.first = turn < MOST;
        check_kind(turn % MOST % KINDS, turn % MOST / KINDS, turn / MOST, MOST);
    }
    state.first = false;
}

/* A child's tests, so that a failed assertion ends the child and not the parent's test within it. */
static _Noreturn void child(void)
{
    const struct CMUnitTest own[] = {cmocka_unit_test(model_own_share)};
    state.modelling = true;
    const int failed = cmocka_run_group_tests_name("models", own, NULL, NULL);
    (void)fflush(NULL);
    _exit(failed != 0);
}

static void model_in_processes(void **given)
{
    (void)given;
    if (!state.real)
        skip();
    const int cores = smp_pool_cores() - 1; /* one counts */
    const pid_t parent = getpid();
    state.worker_count = cores < 1 ? 1 : cores < MOST_WORKERS ? cores : MOST_WORKERS;
    (void)fflush(NULL);
    for (int k = 0; k < state.worker_count; k++) {
        state.workers[k] = fork();
        assert_true(state.workers[k] >= 0);
        if (!state.workers[k]) {
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
                _exit(1);
            child();
        }
    }
}

static smp_code ask_gpu(const char *spec, smp_error *err)
{
    smp_device_request ask = {.spec = spec};
    return smp_device_open(&ask, &state.gpu, NULL, 0, err);
}

/* 77: there is no GPU. A process that has opened one cannot fork any more: another looks what it is. */
static int look_at_gpu(const char *spec)
{
    smp_error err = {0};
    int status = 1;
    state.shared = mmap(NULL, sizeof *state.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state.shared == MAP_FAILED)
        return 1;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        const bool none = ask_gpu(spec, &err) != SMP_OK;
        if (none)
            print_message("skipped: %s (%s)\n", err.message, err.hint);
        else
            state.shared->gpu = state.gpu->info;
        (void)fflush(NULL);
        _exit(none ? 77 : 0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* SASS metrics count kernels that were loaded before: everything runs once. */
static void load_kernels(void **given)
{
    (void)given;
    smp_error err = {0};
    const double start = smp_now();
    if (state.real) {
        if (ask_gpu(getenv("SMP_TEST_DEVICE"), &err))
            fail_msg("%s", err.message);
        open_model();
        state.until = smp_now() + 3600; /* counting is quick: all that was modelled */
    }
    state.loading = true;
    for (int pass = 0; state.real && pass < SIZES; pass++) {
        state.only_more = pass > 0; /* of the other sizes what takes kernels that the first did not */
        for (int kind = 0; kind < KINDS; kind++)
            check_kind(kind, pass, 0, 1);
    }
    state.loading = false;
    state.loading_seconds = smp_now() - start;
}

static int open_source(void **given)
{
    smp_error err = {0};
    (void)given;
    if (!state.real)
        return 0;
    state.next = 0;
    if (smp_count_open(SMP_COUNT_SASS, state.gpu, &state.measured, &err))
        print_message("skipped: %s (%s)\n", err.message, err.hint);
    return 0;
}

static void end_early(int signal)
{
    ended = signal;
}

SMP_SUITE(gpu_counts)
{
    const char *spec = getenv("SMP_TEST_DEVICE"), *seconds = getenv("SMP_COUNTS_SECONDS");
    state.real = spec && !strncmp(spec, "cuda", 4);
    const char *all = getenv("SMP_COUNTS");
    state.whole = state.real || (all && !strcmp(all, "all"));
    state.formats = all && !strcmp(all, "formats");
    smp_own_count_launches(!state.real);
    state.began = state.told = smp_now();
    state.until = state.began + (seconds ? atof(seconds) : 600);
    int status = state.real ? look_at_gpu(spec) : 0;
    if (status)
        return status;
    if (state.real)
        (void)signal(SIGTERM, end_early);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_in_processes),
        cmocka_unit_test(load_kernels),
        cmocka_unit_test_setup(the_model_is_right_for_every_variant, open_source),
    };
    status = cmocka_run_group_tests(tests, NULL, NULL);
    if (state.real) {
        smp_count_close(state.measured);
        smp_count_close(state.model);
        smp_device_close(state.gpu);
    }
    return status;
}
