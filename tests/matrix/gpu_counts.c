/* What shared-memory accesses cost, every stage and variant: the model against a GPU. With SMP_TEST_DEVICE=cuda (or
 * cuda:N) the GPU's own counts (sass) must be the emulator's, wavefront for wavefront; skipped where the GPU cannot be
 * asked. Without, the emulator is its own judge: counts must not depend on the order of threads.
 *
 * SMP_COUNTS_SECONDS bounds the time: stages come first, then formats and channels. SMP_COUNTS_SITES=N shows the sites
 * of the first N runs that use shared memory. */
#include "suite.h"

#include "gpu_matrix.h"

#include "base/clock.h"
#include "counters/source.h"

enum { DETAILS = 40 };
static const int64_t real_size[2] = {200, 131}, small_size[2] = {67, 35};

static const struct {
    smp_format format;
    int channels, mode;
} kinds[] = {
    {SMP_F32, 1, AS_PLANNED}, {SMP_U8, 3, AS_PLANNED}, {SMP_U8, 1, PLAIN},       {SMP_U16, 4, AS_PLANNED},
    {SMP_U8, 4, AS_PLANNED},  {SMP_F32, 3, PLAIN},     {SMP_U16, 1, AS_PLANNED}, {SMP_F32, 4, AS_PLANNED},
    {SMP_U8, 1, AS_PLANNED},  {SMP_U16, 3, PLAIN},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct state {
    smp_device *gpu, *emulator;
    smp_count_source *measured, *model;
    bool real, loading;
    long runs, differ, none, shown;
    double until, measured_seconds, model_seconds;
} state;

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

static void count_work(smp_count_source *source, smp_device *device, const work *like, bool sites, smp_counts *counts)
{
    smp_error err = {0};
    work own = *like;
    own.device = device;
    smp_count_want_sites(source, sites);
    if (smp_count_measure(source, run_work, &own, counts, &err))
        fail_msg("%s: %s", like->variant, err.message);
}

static void print_sites(const smp_counts *counts)
{
    for (size_t i = 0; i < counts->site_count; i++) {
        const smp_count_site *site = &counts->sites[i];
        print_message("    %-5s %s %s %s: %llu instructions, %llu wavefronts, %llu ideal\n",
                      smp_count_kind_name(counts->kind), site->kernel, site->where, smp_shared_op_name(site->op),
                      (unsigned long long)site->count.instructions, (unsigned long long)site->count.wavefronts,
                      (unsigned long long)site->count.ideal);
    }
}

/* The first differences at length: each source's sites. */
static void explain(const input *c, const work *w, const char *what)
{
    smp_counts sites;
    print_message("%s%s%s %s %dx%d %s: %s\n", c->text[0], c->count > 1 ? "; " : "", c->count > 1 ? c->text[1] : "",
                  smp_format_name(c->shape.format), c->shape.channels, c->mode, w->variant, what);
    const char *more = getenv("SMP_COUNTS_SITES");
    if (state.differ > (more && atol(more) > DETAILS ? atol(more) : DETAILS))
        return;
    state.shown++;
    count_work(state.model, state.emulator, w, true, &sites);
    print_sites(&sites);
    smp_counts_free(&sites);
    count_work(state.measured, state.gpu, w, true, &sites);
    print_sites(&sites);
    smp_counts_free(&sites);
}

static void check_variant(const input *c, const smp_plan *plan, const picture *in, const char *variant)
{
    work w = {plan, in, variant, NULL};
    smp_counts model, measured;
    char text[200];
    if (state.loading) {
        smp_error err;
        w.device = state.gpu;
        if (run_work(&w, &err))
            fail_msg("%s: %s", variant, err.message);
        return;
    }
    double start = smp_now();
    gpu_set_order(0);
    count_work(state.model, state.emulator, &w, false, &model);
    double middle = smp_now();
    if (!state.real)
        gpu_set_order(2);
    count_work(state.measured, state.gpu, &w, false, &measured);
    state.model_seconds += middle - start;
    state.measured_seconds += smp_now() - middle;
    state.runs++;
    state.none += !model.total.instructions;
    if (!smp_counts_agree(&model, &measured, text, sizeof text)) {
        state.differ++;
        explain(c, &w, text);
    } else if (model.total.instructions && getenv("SMP_COUNTS_SITES") && state.shown < atol(getenv("SMP_COUNTS_SITES")))
        explain(c, &w, "agree");
    smp_counts_free(&model);
    smp_counts_free(&measured);
}

static void see_kernel(void *all, const planned_kernel *kernel)
{
    *(bool *)all = *(bool *)all && kernel->file;
}

static void check_input(const input *c)
{
    smp_program *program = input_parse(c);
    smp_plan *plan = NULL;
    if (program && plan_lines(program, &c->shape, mode_is_plain(c->mode), &plan)) {
        const char *names[MAX_NAMES];
        int count = variant_names(c->subject->stage, names);
        picture in = input_picture(c);
        for (int i = 0; i < count && smp_now() < state.until; i++) {
            bool all = true;
            each_kernel(plan, names[i], NULL, see_kernel, &all);
            if (all)
                check_variant(c, plan, &in, names[i]);
        }
        picture_free(&in);
    }
    smp_plan_free(plan);
    smp_program_free(program);
}

static void check_kind(int kind)
{
    static unsigned round;
    for (size_t n = 0; n < smp_stage_count() && smp_now() < state.until; n++) {
        subject subjects[MAX_SUBJECTS];
        const smp_stage *stage = smp_stage_at(n);
        int count = subjects_of(stage, subjects), levels[MAX_WORDS];
        if (stage->internal || stage->foreign)
            continue;
        const subject *s = &subjects[kind % count];
        for (int i = 0; i < s->word_count; i++)
            levels[i] = kind % word_levels(s->words[i]);
        const int64_t *size = state.real ? real_size : small_size;
        smp_shape shape =
            subject_shape(stage, size[0], size[1], kinds[kind].channels, kinds[kind].channels == 4, kinds[kind].format);
        input c = input_make(s, levels, &shape, kinds[kind].mode, 2 * ++round); /* even: code values */
        check_input(&c);
    }
    if (!state.real)
        gpu_simt_reset();
}

static void the_model_is_right_for_every_variant(void **given)
{
    (void)given;
    int done = 0;
    if (state.real && !state.measured)
        skip();
    for (; done < (state.real ? KINDS : 2) && smp_now() < state.until; done++) {
        if (!state.real) {
            state.gpu = state.emulator = gpu_simt();
            smp_error err;
            assert_int_equal(smp_count_open(SMP_COUNT_MODEL, state.gpu, &state.measured, &err), SMP_OK);
            assert_int_equal(smp_count_open(SMP_COUNT_MODEL, state.gpu, &state.model, &err), SMP_OK);
        }
        check_kind(done);
        if (!state.real) {
            smp_count_close(state.measured);
            smp_count_close(state.model);
        }
    }
    print_message(
        "counts on %s: %ld runs of %d of %d kinds, %ld differ, %ld use no shared memory; %.1f s counted, %.1f s "
        "modelled\n",
        state.real ? state.gpu->info.name : "the emulator", state.runs, done, (int)KINDS, state.differ, state.none,
        state.measured_seconds, state.model_seconds);
    assert_true(state.runs > state.none);
    assert_int_equal(state.differ, 0);
}

/* SASS metrics count kernels that were loaded before: everything runs once. */
static void load_kernels(void **given)
{
    (void)given;
    state.loading = true;
    for (int kind = 0; state.real && kind < KINDS; kind++)
        check_kind(kind);
    state.loading = false;
}

static int open_source(void **given)
{
    smp_error err = {0};
    (void)given;
    if (!state.real)
        return 0;
    if (smp_count_open(SMP_COUNT_SASS, state.gpu, &state.measured, &err))
        print_message("skipped: %s (%s)\n", err.message, err.hint);
    return 0;
}

/* 77: there is no GPU. */
static int open_gpu(const char *spec)
{
    smp_error err = {0};
    smp_device_request ask = {.spec = spec};
    if (smp_device_open(&ask, &state.gpu, NULL, 0, &err)) {
        print_message("skipped: %s (%s)\n", err.message, err.hint);
        return 77;
    }
    state.emulator = gpu_simt();
    state.emulator->info.units = state.gpu->info.units; /* grids are asked for by these */
    state.emulator->info.shared_per_block = state.gpu->info.shared_per_block;
    if (smp_count_open(SMP_COUNT_MODEL, state.emulator, &state.model, &err)) {
        print_error("%s\n", err.message);
        return 1;
    }
    return 0;
}

SMP_SUITE(gpu_counts)
{
    const char *spec = getenv("SMP_TEST_DEVICE"), *seconds = getenv("SMP_COUNTS_SECONDS");
    state.real = spec && !strncmp(spec, "cuda", 4);
    state.until = smp_now() + (seconds ? atof(seconds) : 600);
    int status = state.real ? open_gpu(spec) : 0;
    if (status)
        return status;
    const struct CMUnitTest tests[] = {
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
