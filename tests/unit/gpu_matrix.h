/* Inputs for tests of every stage's GPU kernels, made from descriptors (matrix_case.h): a pipeline of one stage with
 * its words, in each way of keeping samples on both sides of it, and which kernels that needs. */
#ifndef SMP_TESTS_GPU_MATRIX_H
#define SMP_TESTS_GPU_MATRIX_H

#include "gpu_case.h"
#include "matrix_case.h"

#include "device/kernel_table.h"
#include "stages/launch.h"

/* How samples are kept on both sides of the stage: as planned for it alone; f32 after it; f32 before it as well, since
 * another stage that computes comes first. And f32 before one that only moves samples too, since what comes first is
 * counted; few kernels are for that. */
enum { AS_PLANNED, PLAIN, AFTER_ANOTHER, MODES, AFTER_COUNTING = MODES, ALL_MODES };

enum { MOST_LINES = 5 };

typedef struct input {
    const subject *subject;
    smp_shape shape;
    int mode;
    uint64_t seed;
    char text[MOST_LINES][TEXT];
    size_t count; /* lines */
} input;

CASE_FN input input_make(const subject *s, const int *levels, const smp_shape *shape, int mode, uint64_t seed)
{
    input c = {.subject = s, .shape = *shape, .mode = mode, .seed = seed};
    const bool after = mode == AFTER_ANOTHER || mode == AFTER_COUNTING;
    if (after)
        snprintf(c.text[c.count++], TEXT, "multiply 90%%%s", s->operand ? " -> @before" : "");
    if (mode == AFTER_COUNTING)
        snprintf(c.text[c.count++], TEXT, "stats");
    c.count += write_lines(s, levels, &c.text[c.count]);
    for (size_t i = 0; i < c.count && after; i++)
        if (!strcmp(c.text[i], "from @input"))
            snprintf(c.text[i], TEXT, "from @before");
    return c;
}

CASE_FN smp_program *input_parse(const input *c)
{
    const char *lines[MOST_LINES];
    for (size_t i = 0; i < c->count; i++)
        lines[i] = c->text[i];
    return parse_lines(lines, c->count);
}

CASE_FN picture input_picture(const input *c)
{
    picture in = picture_make(&c->shape, c->shape.format);
    picture_fill(&in, c->seed, c->shape.format == SMP_F32 && c->seed % 2 ? CASE_REALS : CASE_CODES);
    return in;
}

CASE_FN void input_fail(const input *c, const char *device, const char *variant, int64_t strip_rows, const char *what)
{
    for (size_t i = 0; i < c->count; i++)
        print_error("%s%s", i ? "; " : "", c->text[i]);
    print_error("\non %lldx%lldx%d%s %s, seed %llu, %s, device %s, variant %s, strips of %lld rows\n",
                (long long)c->shape.width, (long long)c->shape.height, c->shape.channels,
                c->shape.alpha ? " with alpha" : "", smp_format_name(c->shape.format), (unsigned long long)c->seed,
                c->mode == PLAIN ? "f32 between stages" : "storage as planned", device, variant, (long long)strip_rows);
    fail_msg("%s", what);
}

/* ------------------------------------------------------------------------------------------------ kernels */

CASE_FN const smp_variant *variant_of(const smp_step *step, const char *wanted)
{
    bool reducer = step->job == SMP_JOB_REDUCE && step->stage->reducers;
    const smp_variant *list = reducer ? step->stage->reducers : step->stage->variants;
    const smp_variant *found = smp_variant_find(list, wanted);
    return found ? found : &list[smp_variant_count(list) - 1];
}

/* As it would lie in device memory. */
CASE_FN smp_view planned_view(const smp_shape *shape, smp_format storage)
{
    enum { NOWHERE = 1 << 16 };
    int64_t row = shape->width * shape->channels * smp_sample_size((int)storage);
    return (smp_view){.data = (void *)(uintptr_t)NOWHERE,
                      .stride = (row + SMP_ALIGN - 1) / SMP_ALIGN * SMP_ALIGN,
                      .width = shape->width,
                      .height = shape->height,
                      .rows = shape->height,
                      .channels = shape->channels,
                      .format = (int32_t)storage,
                      .white = smp_white(shape->format),
                      .alpha = shape->alpha};
}

/* One launch that a plan makes of a variant, over a whole picture: name with formats; file null when no file has the
 * kernel. A step whose variant has no launch for GPUs counts as one without a name. */
typedef struct planned_kernel {
    const smp_step *step;
    const smp_variant *variant;
    const smp_kernel_file *file;
    char name[96];
} planned_kernel;

typedef void kernel_seen(void *context, const planned_kernel *kernel);

CASE_FN void each_kernel(const smp_plan *plan, const char *variant, kernel_seen *see, void *context)
{
    static const char *const names[SMP_FORMATS] = {"u8", "u16", "f32"};
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE)
            continue;
        planned_kernel k = {.step = step, .variant = variant_of(step, variant)};
        bool some = false;
        const smp_io views = {.in = planned_view(&step->in, plan->steps[step->input].storage),
                              .out = planned_view(&step->out, step->storage)};
        const smp_grid known = {.units = 0}; /* no device: none lacks shared memory */
        const smp_variant *serving = smp_variant_serving(k.variant, &views, step->work.kernel, &known);
        for (int n = 0; n < SMP_MAX_LAUNCHES; n++) {
            const smp_launch *launch = &serving->launches[n];
            bool runs = smp_launch_runs(launch, true);
            smp_grid grid = known;
            smp_format in = launch->from == SMP_SCRATCH ? SMP_F32 : plan->steps[step->input].storage;
            smp_format out = launch->to == SMP_SCRATCH ? SMP_F32 : step->storage;
            smp_io io = {.in = planned_view(&step->in, in), .out = planned_view(&step->out, out)};
            if (launch->from == SMP_SCRATCH)
                io.second = planned_view(&step->in, plan->steps[step->input].storage);
            else if (launch->to == SMP_SCRATCH)
                io.second = planned_view(&step->out, step->storage);
            const char *kernel = runs ? smp_launch_decide(launch, &io, step->work.kernel, &grid) : NULL;
            some = some || runs;
            if (!kernel)
                continue;
            snprintf(k.name, sizeof k.name, "%s_%s_%s", kernel, names[in], names[out]);
            k.file = smp_kernel_file_of(k.name);
            see(context, &k);
        }
        k.name[0] = '\0';
        k.file = NULL;
        if (!some)
            see(context, &k);
    }
}

#endif
