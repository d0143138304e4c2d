/* The comparison: walks the plan, keeps every step's whole output until the last step that reads it, and has each
 * step's variants checked, timed and counted. See compare.h. */
#include "compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "compare/internal.h"
#include "device/cuda/cuda_state.h"
#include "lab/program_kernels/own.h"
#include "lab/time/gpu.h"
#include "run/file_source.h"

/* ------------------------------------------------------------------------------------------------ what is asked for */

/* A plan of the request and what the walks keep of it: the request's own, then its prepasses. */
typedef struct part {
    const smp_plan *plan;
    int before; /* steps of the plans before it */
    smp_step_run *runs;
    smp_frame *frames;
} part;

static size_t part_count(const smp_compare_request *request)
{
    return 1 + request->prepass_count;
}

static part part_of(const smp_compare_request *request, size_t which)
{
    part p = {.plan = request->plan};
    for (size_t i = 0; i < which; i++) {
        p.before += (int)p.plan->step_count;
        p.plan = request->prepasses[i];
    }
    return p;
}

/* Whether a step is compared: of a prepass only the last, since those before it are in the request's plan, too. */
static bool offers_step(const smp_plan *plan, int index)
{
    const smp_step *step = &plan->steps[index];
    return step->job != SMP_JOB_SOURCE &&
           (plan->prepass < 0 || (step->job == SMP_JOB_REDUCE && step->node == plan->prepass));
}

/* As `explain` numbers the request's plan. Of each prepass one step is offered: they follow one by one. */
static int number_of(const smp_compare_request *request, const smp_plan *plan, int index)
{
    if (plan == request->plan)
        return index;
    size_t which = 0;
    while (request->prepasses[which] != plan)
        which++;
    return (int)(request->plan->step_count + which);
}

typedef bool names_fn(const smp_compare_request *request, const char *name, const smp_plan *plan, int index);

static bool names_step(const smp_compare_request *request, const char *name, const smp_plan *plan, int index)
{
    char *end;
    long number = strtol(name, &end, 10);
    if (!offers_step(plan, index))
        return false;
    return !strcmp(name, plan->steps[index].stage->name) ||
           (end > name && !*end && number == number_of(request, plan, index));
}

static bool wanted_step(const smp_compare_request *request, const smp_plan *plan, int index)
{
    if (!offers_step(plan, index))
        return false;
    for (size_t i = 0; i < request->stage_count; i++)
        if (names_step(request, request->stages[i], plan, index))
            return true;
    return request->stage_count == 0;
}

static bool wanted_variant(const smp_compare_request *request, const smp_step *step, const smp_variant *variant)
{
    if (request->default_only)
        return variant == smp_step_variant(step, request->variant);
    if (!request->variant_count || variant == smp_step_variants(step))
        return true;
    for (size_t i = 0; i < request->variant_count; i++)
        if (!strcmp(request->variants[i], variant->name))
            return true;
    return false;
}

static void add_name(char *list, size_t size, const char *name)
{
    const size_t used = strlen(list);
    if (!strstr(list, name))
        snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static smp_code no_such(const smp_compare_request *request, const char *what, const char *name, smp_error *err)
{
    char stages[200] = "", variants[200] = "";
    for (size_t which = 0; which < part_count(request); which++) {
        const smp_plan *plan = part_of(request, which).plan;
        for (size_t i = 0; i < plan->step_count; i++) {
            const smp_step *step = &plan->steps[i];
            if (!offers_step(plan, (int)i))
                continue;
            add_name(stages, sizeof stages, step->stage->name);
            for (const smp_variant *variant = smp_step_variants(step); variant->name; variant++)
                add_name(variants, sizeof variants, variant->name);
        }
    }
    smp_fail(err, SMP_E_USAGE, "no stage of this pipeline %s '%s'", what, name);
    return smp_hint(err, "its stages are: %s; their variants: %s", stages, variants);
}

static bool names_variant(const smp_compare_request *, const char *name, const smp_plan *plan, int index)
{
    return offers_step(plan, index) && smp_variant_find(smp_step_variants(&plan->steps[index]), name);
}

/* Whether a step of any plan has what the name says. */
static bool some_step(const smp_compare_request *request, names_fn *has, const char *name)
{
    for (size_t which = 0; which < part_count(request); which++) {
        const part p = part_of(request, which);
        for (size_t i = 0; i < p.plan->step_count; i++)
            if (has(request, name, p.plan, (int)i))
                return true;
    }
    return false;
}

/* Every given name must exist: a mistyped one would silently compare nothing. */
static smp_code check_names(const smp_compare_request *request, smp_error *err)
{
    for (size_t n = 0; n < request->stage_count; n++)
        if (!some_step(request, names_step, request->stages[n]))
            return no_such(request, "is", request->stages[n], err);
    for (size_t n = 0; n < request->variant_count; n++)
        if (!some_step(request, names_variant, request->variants[n]))
            return no_such(request, "has a variant", request->variants[n], err);
    const char *gpu = request->predicted;
    smp_time_gpu known;
    if (gpu && gpu[0] && !smp_time_gpu_find(gpu, &known))
        return smp_fail(err, SMP_E_USAGE, "--time %s is not a GPU that is known", gpu),
               smp_hint(err, "%s", smp_time_gpu_names());
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ frames */

static smp_code make_frame(smp_comparison *c, int index, smp_error *err)
{
    const smp_step *step = &c->plan->steps[index];
    smp_frame *frame = &c->frames[index];
    size_t size;
    frame->stride = smp_row_stride(&step->out, step->storage);
    SMP_NEED(smp_mul_size((size_t)step->out.height, (size_t)frame->stride, &size), "a picture", UINT64_MAX, err);
    return c->device->ops->alloc(c->device, size, &frame->memory, err);
}

static void drop_frame(smp_comparison *c, int index)
{
    if (c->frames[index].memory)
        c->device->ops->free(c->device, c->frames[index].memory);
    c->frames[index].memory = NULL;
}

static smp_view frame_view(const smp_comparison *c, int index)
{
    const smp_step *step = &c->plan->steps[index];
    const smp_frame *frame = &c->frames[index];
    if (!frame->memory)
        return (smp_view){0};
    return smp_view_of(&step->out, step->storage, frame->memory, frame->stride, 0, 0, step->out.height);
}

/* Reads the rows of a file that the program names. */
static smp_code fill_from_file(smp_comparison *c, int index, smp_error *err)
{
    const smp_step *step = &c->plan->steps[index];
    smp_file_source file;
    smp_code code = smp_file_source_open(step, c->request->read, &file, err);
    if (!code)
        code = smp_stream_read(file.reader, step->out.height, smp_source_slot(&step->out, step->out.height, NULL), NULL,
                               &file.stream, err);
    for (int64_t y = 0; !code && y < step->out.height;) {
        const void *rows;
        int64_t count;
        smp_view to = frame_view(c, index);
        code = smp_stream_take(file.stream, step->out.height - y, &rows, &count, err);
        if (code)
            break;
        code = c->device->ops->copy_in(c->device, smp_row(&to, y), to.stride, rows, smp_stream_stride(file.stream),
                                       smp_row_bytes(&step->out, step->storage), count, err);
        smp_stream_took(file.stream, count);
        y += count;
    }
    smp_file_source_close(&file);
    return code;
}

static smp_code make_source(smp_comparison *c, int index, const smp_view *in, smp_error *err)
{
    const smp_step *step = &c->plan->steps[index];
    smp_code code = make_frame(c, index, err);
    if (code || step->file)
        return code ? code : fill_from_file(c, index, err);
    return c->device->ops->copy_in(c->device, c->frames[index].memory, c->frames[index].stride, in->data, in->stride,
                                   smp_row_bytes(&step->out, step->storage), in->rows, err);
}

static void find_last_uses(smp_comparison *c)
{
    for (int i = 0; i < (int)c->plan->step_count; i++) {
        const smp_step *step = &c->plan->steps[i];
        c->frames[i].last_use = i;
        if (step->input >= 0)
            c->frames[step->input].last_use = i;
        if (step->second >= 0)
            c->frames[step->second].last_use = i;
    }
}

/* ------------------------------------------------------------------------------------------------ one step */

static smp_code open_run(smp_comparison *c, int index, smp_error *err)
{
    const smp_step *step = &c->plan->steps[index];
    const smp_variant *first = smp_step_variants(step);
    if (!c->request->times)
        first = smp_step_variant(step, c->request->variant);
    if (c->runs[index].device)
        return SMP_OK;
    return smp_step_open(&c->runs[index], c->device, step, NULL, first, err);
}

/* The step that applies a reduction's table, or the reduction itself. */
static smp_code find_target(smp_comparison *c, int index, smp_step_run **target, smp_error *err)
{
    *target = &c->runs[index];
    for (int i = 0; i < (int)c->plan->step_count; i++)
        if (c->plan->steps[i].reduced_by == index) {
            *target = &c->runs[i];
            return open_run(c, i, err);
        }
    return SMP_OK;
}

const smp_variant *smp_trial_variant(const smp_trial *trial, const smp_compare_variant *row)
{
    return smp_variant_find(smp_step_variants(trial->step), row->name);
}

smp_code smp_trial_run(smp_trial *trial, const smp_variant *variant, const smp_view *out, smp_error *err)
{
    smp_step_run *run = trial->run;
    run->variant = variant;
    SMP_TRY(smp_step_scratch(run, (smp_format)trial->in.format, trial->in.rows, err));
    run->cost.seconds = 0;
    SMP_TRY(smp_step_launch(run, &trial->in, out, &trial->second, err));
    return run->device->ops->sync(run->device, err);
}

static smp_code describe(smp_trial *trial, smp_error *err)
{
    const smp_step *step = trial->step;
    smp_compare_step *to = trial->report;
    const smp_step *input = &trial->c->plan->steps[step->input];
    const smp_variant *list = smp_step_variants(step);
    snprintf(to->label, sizeof to->label, "%s", step->label);
    to->stage = step->stage->name;
    to->number = number_of(trial->c->request, trial->c->plan, trial->index);
    to->prepass = trial->c->plan->prepass >= 0;
    to->node = step->node;
    smp_shape_text(&input->out, input->storage, to->type_in, sizeof to->type_in);
    if (step->job == SMP_JOB_STAGE)
        smp_shape_text(&step->out, step->storage, to->type_out, sizeof to->type_out);
    to->bytes = smp_step_bytes(trial->c->plan, step);
    to->pixels = (uint64_t)step->out.width * (uint64_t)step->out.height;
    to->ops = trial->run->work.ops * (double)to->pixels * step->out.channels;
    to->fits_cache = trial->c->device->info.cache > 0 && to->bytes <= (uint64_t)trial->c->device->info.cache;
    to->height = step->out.height;
    to->width = step->out.width;
    size_t count = smp_variant_count(list);
    to->variants = smp_alloc_array(count, sizeof *to->variants);
    SMP_NEED(to->variants, "the comparison", count * sizeof *to->variants, err);
    for (size_t i = 0; i < count; i++)
        if (wanted_variant(trial->c->request, step, &list[i])) {
            smp_compare_variant *variant = &to->variants[to->variant_count++];
            snprintf(variant->own_name, sizeof variant->own_name, "%s", list[i].name);
            variant->name = variant->own_name;
            variant->help = list[i].help;
        }
    return SMP_OK;
}

/* Chooses the variant that makes the step's output for later steps. */
static smp_code choose_maker(smp_trial *trial, bool times, smp_error *err)
{
    const smp_variant **maker = &trial->c->frames[trial->index].maker;
    smp_code code = SMP_OK;
    trial->maker = *maker;
    if (!trial->c->request->times)
        trial->maker = smp_step_variant(trial->step, trial->c->request->variant);
    else if (times)
        code = smp_trial_fit(trial, err);
    *maker = trial->maker;
    if (trial->report)
        trial->report->base = trial->maker->name;
    return code;
}

/* Runs the step into its frame for later steps. A reduction finishes only on the first walk. */
static smp_code run_step(smp_trial *trial, bool first, smp_error *err)
{
    SMP_TRY(smp_step_reset(trial->run, err));
    SMP_TRY(smp_trial_run(trial, trial->maker, &trial->out, err));
    if (first && trial->step->job == SMP_JOB_REDUCE)
        SMP_TRY(smp_step_finish(trial->run, trial->target, err));
    if (first && trial->step->job == SMP_JOB_REDUCE && trial->target != trial->run)
        SMP_TRY(smp_step_bring_table(trial->target, err)); /* the model and the CPU need it, too */
    return SMP_OK;
}

static smp_compare_step *report_of(const smp_comparison *c, int index)
{
    const int number = number_of(c->request, c->plan, index);
    for (size_t i = 0; i < c->out->step_count; i++)
        if (c->out->steps[i].number == number)
            return &c->out->steps[i];
    return NULL;
}

static smp_code compare_step(smp_comparison *c, int index, bool times, bool first, smp_error *err)
{
    const smp_step *step = &c->plan->steps[index];
    smp_trial trial = {.c = c, .index = index, .step = step, .run = &c->runs[index]};
    bool reduces = step->job == SMP_JOB_REDUCE;
    SMP_TRY(open_run(c, index, err));
    SMP_TRY(find_target(c, index, &trial.target, err));
    if (!reduces)
        SMP_TRY(make_frame(c, index, err));
    smp_code code = SMP_OK;
    trial.in = frame_view(c, step->input);
    trial.second = step->second >= 0 ? frame_view(c, step->second) : (smp_view){0};
    trial.out = reduces ? trial.in : frame_view(c, index);
    const bool wanted = wanted_step(c->request, c->plan, index);
    if (wanted)
        trial.report = report_of(c, index);
    if (wanted && !trial.report) {
        trial.report = &c->out->steps[c->out->step_count++];
        code = describe(&trial, err);
    }
    code = code ? code : choose_maker(&trial, times, err);
    if (!code && (times || first || reduces || c->frames[index].last_use > index))
        code = run_step(&trial, first, err);
    if (code || !trial.report)
        return code;
    trial.result = trial.out;
    if (!code && !reduces)
        code = c->device->ops->alloc(c->device, (size_t)(trial.out.rows * trial.out.stride), &trial.result.data, err);
    if (!code && times)
        code = smp_trial_check(&trial, err);
    if (!code)
        code = times ? smp_trial_time(&trial, err) : smp_trial_count(&trial, err);
    c->steps_left -= times;
    if (!reduces && trial.result.data && trial.result.data != trial.out.data)
        c->device->ops->free(c->device, trial.result.data);
    return code;
}

static void choose_part(smp_comparison *c, const part *p)
{
    c->plan = p->plan;
    c->before = p->before;
    c->runs = p->runs;
    c->frames = p->frames;
}

static smp_code walk_part(smp_comparison *c, const smp_view *in, bool times, bool first, int64_t steps, smp_error *err)
{
    const smp_compare_request *request = c->request;
    int count = (int)c->plan->step_count;
    int64_t before = c->before + (first ? 0 : steps), all = request->times && request->counts ? 2 * steps : steps;
    smp_code code = SMP_OK;
    for (int i = 0; !code && i < count; i++) {
        bool source = c->plan->steps[i].job == SMP_JOB_SOURCE;
        code = source ? make_source(c, i, in, err) : compare_step(c, i, times, first, err);
        for (int k = 0; k <= i; k++)
            if (c->frames[k].last_use <= i)
                drop_frame(c, k);
        if (!code && request->progress)
            code = request->progress(request->progress_context, before + i + 1, all);
    }
    for (int k = 0; k < count; k++)
        drop_frame(c, k);
    return code;
}

/* One walk over every plan, for times or for counts. The walks are separate because a GPU that counts is slow. */
static smp_code walk(smp_comparison *c, const part *parts, const smp_view *in, bool times, bool first, smp_error *err)
{
    const size_t count = part_count(c->request);
    const part *last = &parts[count - 1];
    for (size_t i = 0; i < count; i++) {
        choose_part(c, &parts[i]);
        SMP_TRY(walk_part(c, in, times, first, last->before + (int64_t)last->plan->step_count, err));
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the whole */

/* Chooses the GPU whose times are predicted. */
static void choose_predicted(smp_comparison *c, bool is_gpu)
{
    const smp_device_info *info = &c->device->info;
    const char *name = c->request->predicted;
    smp_compare *out = c->out;
    smp_time_gpu gpu, here = {.name = NULL};
    if (!name)
        return;
    if (!smp_own_folder()) {
        snprintf(out->no_predictions, sizeof out->no_predictions,
                 "this build has no SASS of its kernels; with nvcc and nvdisasm, cmake -DSMP_CUDA_ARCHS=90 adds it");
        return;
    }
    const bool known = is_gpu && smp_time_gpu_of(info->name, info->units, &here);
    if (!smp_time_gpu_find(name[0] ? name : known ? here.name : is_gpu ? "" : "h100", &gpu)) {
        snprintf(out->no_predictions, sizeof out->no_predictions, "the model does not know this GPU");
        return;
    }
    out->predicted_here = known && !strcmp(here.name, gpu.name);
    snprintf(out->predicted_gpu, sizeof out->predicted_gpu, "%s", gpu.name);
    snprintf(out->predicted_title, sizeof out->predicted_title, "%s", gpu.title);
    out->predicted_copy_gbs = smp_time_gpu_copy_gbs(&gpu);
}

static smp_code open_model(smp_comparison *c, smp_error *err)
{
    const smp_device_info *info = &c->device->info;
    bool gpu = !strcmp(info->kind, "cuda");
    SMP_TRY(smp_model_open(gpu ? info : NULL, c->request->threads, &c->model, err));
    choose_predicted(c, gpu);
    smp_model_text(c->model, c->out->counter_device, sizeof c->out->counter_device);
    return SMP_OK;
}

/* A part's arrays, and how many of its steps are compared. */
static smp_code begin_part(smp_comparison *c, part *p, smp_error *err)
{
    const size_t count = p->plan->step_count;
    p->runs = smp_alloc_array(count, sizeof *p->runs);
    p->frames = smp_alloc_array(count, sizeof *p->frames);
    SMP_NEED(p->runs && p->frames, "the comparison", count * (sizeof *p->runs + sizeof *p->frames), err);
    choose_part(c, p);
    find_last_uses(c);
    for (int i = 0; i < (int)count; i++)
        c->steps_wanted += wanted_step(c->request, p->plan, i);
    return SMP_OK;
}

static smp_code begin(smp_comparison *c, part *parts, smp_error *err)
{
    const smp_compare_request *request = c->request;
    const size_t count = part_count(request);
    size_t steps = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i] = part_of(request, i);
        steps += parts[i].plan->step_count;
    }
    for (size_t i = 0; i < count; i++)
        SMP_TRY(begin_part(c, &parts[i], err));
    SMP_NEED(c->out->steps = smp_alloc_array(steps, sizeof *c->out->steps), "the comparison",
             steps * sizeof *c->out->steps, err);
    c->steps_left = c->steps_wanted;
    c->started = smp_now();
    c->check_seconds = request->counts ? request->time_limit : 2 * request->time_limit;
    double share = request->time_limit / (double)smp_max_i64(1, c->steps_wanted);
    c->step_seconds = request->counts ? share / 2 : share;
    c->count_seconds = request->times ? share / 2 : share;
    if (request->times && !request->hot)
        SMP_TRY(smp_flush_open(c->device, &c->flush, err));
    return SMP_OK;
}

static void end_part(smp_comparison *c, const part *p)
{
    choose_part(c, p);
    for (int i = 0; p->plan && i < (int)p->plan->step_count; i++) {
        if (c->frames)
            drop_frame(c, i);
        if (c->runs)
            smp_step_close(&c->runs[i]);
    }
    smp_free_all(c->frames, c->runs);
}

static void end(smp_comparison *c, part *parts)
{
    for (size_t i = 0; i < part_count(c->request); i++)
        end_part(c, &parts[i]);
    smp_count_close(c->sass);
    smp_model_close(c->model);
    smp_device_close(c->cpu);
    smp_flush_close(c->flush);
}

smp_code smp_compare_plan(const smp_compare_request *request, const smp_view *in, smp_compare *out, smp_error *err)
{
    *out = (smp_compare){.device = request->device->info,
                         .threads = request->device->info.units,
                         .cache_bytes = request->device->info.cache,
                         .repeat = request->repeat,
                         .time_limit = request->time_limit,
                         .hot = request->hot};
    smp_comparison c = {.request = request, .device = request->device, .out = out};
    double start = smp_now();
    smp_gpu_driver_text(request->device, out->driver, sizeof out->driver);
    if (!strcmp(request->device->info.kind, "cuda"))
        snprintf(out->toolkit, sizeof out->toolkit, "%s", smp_gpu_toolkit());
    SMP_TRY(check_names(request, err));
    part *parts = smp_alloc_array(part_count(request), sizeof *parts);
    SMP_NEED(parts, "the comparison", part_count(request) * sizeof *parts, err);
    smp_code code = begin(&c, parts, err);
    if (!code && request->times)
        code = walk(&c, parts, in, true, true, err);
    if (!code && request->counts)
        code = open_model(&c, err);
    if (!code && request->counts)
        code = walk(&c, parts, in, false, !request->times, err);
    end(&c, parts);
    smp_free(parts);
    out->wall_seconds = smp_now() - start;
    return code;
}
