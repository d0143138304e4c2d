/* Decides what part of a step to count: see crop.h. */
#include "compare/internal.h"

#include "base/alloc.h"
#include "base/checked.h"

enum { LEAST_SIDE = 64, MOST_SIDE = 1 << 14, LEAST_OPS = 8 }; /* pixels; pixels; a sample, to load and store it */
static const double traced_rate = 50e6;                       /* operations a second of traced kernels on two cores */
static const double worth_it = 1.5; /* seconds that are always allowed, so that small pictures are counted whole */

/* A rough estimate of the seconds to trace `rows` rows of the step for all variants. */
static double effort(const smp_step *step, const smp_node_plan *work, int64_t rows, size_t variants)
{
    double samples = (double)rows * (double)step->out.width * step->out.channels;
    return samples * (work->ops > LEAST_OPS ? work->ops : LEAST_OPS) * (double)variants / traced_rate;
}

/* The upper left corner of a picture. Sound, which is one pixel wide, keeps as many samples. */
static void cut(smp_shape *shape, int64_t side)
{
    shape->height = smp_min_i64(shape->height, shape->width == 1 ? side * side : side);
    shape->width = smp_min_i64(shape->width, side);
}

static smp_view corner(const smp_view *whole, const smp_shape *shape)
{
    smp_view view = *whole;
    if (view.data) {
        view.width = shape->width;
        view.height = view.rows = shape->height;
    }
    return view;
}

static void close_plan(smp_counted *counted)
{
    if (counted->planned)
        smp_free(counted->step.work.table.data);
    counted->planned = false;
}

/* The step on the upper left side x side pixels of its inputs. The result of an earlier reduction stays as it is. */
static smp_code plan_corner(const smp_trial *trial, int64_t side, smp_counted *counted, smp_error *err)
{
    const smp_plan *plan = trial->c->plan;
    smp_step *step = &counted->step;
    close_plan(counted);
    *step = *trial->step;
    smp_shape second = step->second >= 0 ? plan->steps[step->second].out : (smp_shape){0};
    cut(&step->in, side);
    cut(&second, side);
    if (step->reduced_by >= 0 || !step->stage->plan || step->part_count) { /* a joined step's plan is not its stage's */
        cut(&step->out, side);
        counted->work = &trial->run->work;
    } else {
        step->work = (smp_node_plan){
            .out = step->in, .access = step->stage->access, .reduction.reducers = smp_stage_reducers(step->stage)};
        counted->planned = true;
        counted->work = &step->work;
        SMP_TRY(step->stage->plan(step->params, &step->in, step->second >= 0 ? &second : NULL, &step->work, err));
        step->work.values.clips = trial->step->work.values.clips;
        step->out = step->job == SMP_JOB_REDUCE ? step->in : step->work.out;
        step->out.channels = trial->step->out.channels; /* a conversion at the end may drop alpha */
        step->out.alpha = trial->step->out.alpha;
    }
    counted->in = corner(&trial->in, &step->in);
    counted->second = corner(&trial->second, &second);
    if (step->job == SMP_JOB_STAGE)
        counted->out =
            smp_view_of(&step->out, step->storage, trial->result.data, trial->result.stride, 0, 0, step->out.height);
    else
        counted->out = counted->in;
    return SMP_OK;
}

/* Whether a corner of the input makes a corner of the output: not where a stage gives the picture another size, which
 * may depend on the size of its input, and not where nothing is known of the kernel. */
static bool has_corners(const smp_step *step)
{
    if (step->stage->examine)
        return false;
    return step->in.kind != step->out.kind || step->work.change.swaps_axes ||
           (step->in.width == step->out.width && step->in.height == step->out.height);
}

static smp_code choose_corner(const smp_trial *trial, size_t variants, double seconds, smp_counted *counted,
                              smp_error *err)
{
    int64_t side = MOST_SIDE, largest = smp_max_i64(trial->in.width, trial->in.height);
    while (side > LEAST_SIDE && side / 2 >= largest)
        side /= 2;
    smp_code code = SMP_OK;
    do {
        side /= 2;
        code = plan_corner(trial, side, counted, err);
    } while (!code && side > LEAST_SIDE &&
             effort(&counted->step, counted->work, counted->step.out.height, variants) > seconds);
    return code;
}

smp_code smp_counted_open(smp_trial *trial, const smp_variant *const *variants, size_t count, double seconds,
                          smp_counted *counted, smp_error *err)
{
    const smp_comparison *c = trial->c;
    smp_compare_step *report = trial->report;
    *counted = (smp_counted){.step = *trial->step,
                             .work = &trial->run->work,
                             .in = trial->in,
                             .second = trial->second,
                             .out = trial->result};
    int64_t height = counted->step.out.height;
    double granted = seconds > worth_it ? seconds : worth_it;
    int64_t unit = smp_model_unit(&counted->step, c->plan->row_multiple);
    if (has_corners(trial->step) &&
        effort(&counted->step, counted->work, smp_min_i64(unit, height), count) > granted / 2 &&
        effort(&counted->step, counted->work, height, count) > granted)
        SMP_TRY(choose_corner(trial, count, granted, counted, err));
    SMP_TRY(smp_model_load(c->model, &counted->step, counted->work, c->device, &counted->in, &counted->second, err));
    counted->rows = counted->step.out.height;
    if (effort(&counted->step, counted->work, counted->rows, count) > granted)
        SMP_TRY(smp_model_rows(c->model, variants, count, c->plan->row_multiple, seconds, &counted->from,
                               &counted->rows, err));
    report->count_from = counted->from;
    report->count_rows = counted->rows;
    report->count_columns = counted->step.out.width;
    return SMP_OK;
}

void smp_counted_close(smp_counted *counted)
{
    close_plan(counted);
}
