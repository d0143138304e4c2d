/* The ends of a plan: pictures as files hold them, and steps that code them on a device (see planner.h). */
#include "pipe/plan/planner.h"

#include "base/alloc.h"

/* Light for a file of integers, as sRGB encodes it. */
static int light_encoded(smp_planner *p, int step)
{
    if (!smp_step_is_light(p->plan, &p->request->input, step))
        return step;
    p->to_srgb = true;
    step = smp_planner_insert(p, SMP_ROLE_ENCODED, step, 0);
    p->to_srgb = false;
    if (step >= 0) {
        p->plan->steps[step].out.curve = p->plan->steps[step].work.out.curve = SMP_CURVE_SRGB;
        p->plan->steps[step].work.change.makes_srgb = true;
    }
    return step;
}

smp_code smp_planner_add_sink(smp_planner *p, int node, int save, const char *path)
{
    int step = smp_planner_in_state(p, smp_planner_picture_of(p, node), false, false);
    if (step < 0)
        return p->err->code;
    smp_shape shape = p->plan->steps[step].out;
    double was_rate = 0;
    if (p->request->accepts) {
        smp_code code =
            p->request->accepts(p->request->accepts_context, path, &p->plan->steps[step].out, &shape, p->err);
        const double rate = p->plan->steps[step].out.rate;
        if (!code && shape.kind == SMP_AUDIO && shape.rate != rate) {
            if ((step = smp_planner_insert(p, SMP_ROLE_RATE, step, (int64_t)shape.rate)) < 0)
                return p->err->code;
            was_rate = rate;
            code = p->request->accepts(p->request->accepts_context, path, &p->plan->steps[step].out, &shape, p->err);
        }
        if (code)
            return code;
    }
    if (shape.format != SMP_F32 && (step = light_encoded(p, step)) < 0)
        return p->err->code;
    if (shape.format == SMP_F32 && shape.curve == 1 && !p->plan->steps[step].work.values.no_light &&
        (step = smp_planner_in_state(p, step, false, true)) < 0)
        return p->err->code;
    const smp_step *last = &p->plan->steps[step];
    const bool narrows = shape.format == SMP_U8 && last->out.format == SMP_U16;
    const bool drops_bits = narrows && p->request->input.format == SMP_U16;
    const bool drops_numbers = narrows && last->work.values.no_light && last->in.format != SMP_U16;
    bool drops_alpha = p->plan->steps[step].out.alpha && !shape.alpha;
    if (drops_alpha && (step = smp_planner_in_state(p, step, true, false)) < 0)
        return p->err->code;
    if (drops_alpha || shape.format != p->plan->steps[step].out.format) {
        step = smp_planner_insert(p, SMP_ROLE_CONVERT, step, shape.format);
        if (step < 0)
            return p->err->code;
        smp_step *convert = &p->plan->steps[step];
        convert->out.channels = shape.channels;
        convert->out.alpha = shape.alpha;
        convert->work.out = convert->out;
    }
    SMP_NEED(smp_grow(&p->plan->sinks, &p->plan->sink_capacity, p->plan->sink_count + 1, sizeof *p->plan->sinks),
             "the plan", sizeof *p->plan->sinks, p->err);
    smp_sink sink = {.step = step, .save = save, .path = path, .shape = shape, .was_rate = was_rate};
    const double dpi = smp_planner_dpi_of(p, node);
    sink.dpi = dpi < p->request->dpi || dpi > p->request->dpi ? dpi : 0;
    sink.drops_alpha = drops_alpha;
    sink.drops_bits = drops_bits && !drops_numbers;
    sink.drops_numbers = drops_numbers;
    p->plan->sinks[p->plan->sink_count++] = sink;
    return SMP_OK;
}

smp_code smp_planner_store_sinks(smp_planner *p)
{
    smp_plan *plan = p->plan;
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_sink *sink = &plan->sinks[i];
        if (plan->steps[sink->step].storage == sink->shape.format)
            continue;
        int step = smp_planner_insert(p, SMP_ROLE_CONVERT, sink->step, sink->shape.format);
        if (step < 0)
            return p->err->code;
        plan->steps[step].storage = sink->shape.format;
        sink->step = step;
    }
    return SMP_OK;
}

smp_code smp_planner_code_sinks(smp_planner *p)
{
    smp_plan *plan = p->plan;
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_sink *sink = &plan->sinks[i];
        smp_jpeg_params coding;
        sink->rows = sink->shape;
        if (!p->request->codes || !p->request->codes(p->request->codes_context, sink->path, &sink->shape, &coding))
            continue;
        p->coding = &coding;
        int step = smp_plan_coded_before(plan, i, &coding);
        if (step < 0)
            step = smp_planner_insert(p, SMP_ROLE_JPEG_ENCODE, sink->step, 0);
        if (step < 0)
            return p->err->code;
        plan->steps[step].storage = SMP_U8;
        sink->step = step;
        sink->rows = plan->steps[step].out;
        sink->coded = true;
    }
    return SMP_OK;
}
