/* Planning and launching a row: see gpu_work.h. */
#include "gpu_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

/* ------------------------------------------------------------------------------------------------ the plan */

static smp_code accepts_all(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    (void)context, (void)path, (void)err;
    *out = *shape;
    return SMP_OK;
}

static smp_shape shape_of(const gpu_row *row, gpu_size size)
{
    return (smp_shape){
        .kind = row->kind,
        .width = size.width,
        .height = size.height,
        .channels = row->channels,
        .format = row->format,
        .rate = row->kind == SMP_AUDIO ? 48000 : 0,
    };
}

/* As a run plans it: neighbours are joined, but for the definition. */
static smp_code make_plan(gpu_work *work, const gpu_row *row, gpu_size size, const char *variant, smp_error *err)
{
    smp_diags diags = {0};
    size_t count = 0;
    while (count < GPU_LINES && row->lines[count])
        count++;
    smp_code code = smp_program_parse_lines(row->lines, count, NULL, 0, NULL, NULL, &diags, &work->program, err);
    const smp_plan_request ask = {.program = work->program,
                                  .input = shape_of(row, size),
                                  .orientation = 1,
                                  .output = "memory",
                                  .accepts = accepts_all,
                                  .fuse = !variant || strcmp(variant, "naive") != 0};
    if (!code)
        code = smp_plan_make(&ask, &diags, &work->plan, err);
    if (code && diags.count)
        code = smp_fail(err, code, "%s: %s", row->name, diags.items[0].message);
    smp_diags_free(&diags);
    return code;
}

size_t gpu_source_bytes(const gpu_row *row, gpu_size size)
{
    const smp_shape shape = shape_of(row, size);
    return (size_t)(smp_row_stride(&shape, row->format) * size.height);
}

/* ------------------------------------------------------------------------------------------------ memory */

/* The step that makes the result. */
static int last_stage(const smp_plan *plan)
{
    int last = 0;
    for (int i = 1; i < (int)plan->step_count; i++)
        if (plan->steps[i].job == SMP_JOB_STAGE)
            last = i;
    return last;
}

static smp_code open_step(gpu_work *work, int index, const char *variant, void *source, smp_error *err)
{
    const smp_step *step = &work->plan->steps[index];
    smp_device *device = work->device;
    smp_code code = SMP_OK;
    work->strides[index] = smp_row_stride(&step->out, step->storage);
    if (step->job == SMP_JOB_SOURCE) {
        work->frames[index] = source;
        return step->file ? smp_fail(err, SMP_E_USAGE, "benchmarks read no files") : SMP_OK;
    }
    if (step->reduced_by >= 0)
        return smp_fail(err, SMP_E_USAGE, "benchmarks run no stage that waits for a reduction");
    if (step->job == SMP_JOB_REDUCE) {
        work->frames[index] = work->frames[step->input];
        work->strides[index] = work->strides[step->input];
    } else {
        work->last = index;
        if (work->target && index == last_stage(work->plan))
            work->frames[index] = work->target;
        else
            code = device->ops->alloc(device, (size_t)(step->out.height * work->strides[index]), &work->frames[index],
                                      err);
    }
    const smp_variant *takes = smp_step_variant(step, variant);
    if (!code)
        code = smp_step_open(&work->runs[index], device, step, NULL, takes, err);
    const smp_step *input = &work->plan->steps[step->input];
    if (!code)
        code = smp_step_scratch(&work->runs[index], input->storage, input->out.height, err);
    work->ops += step->work.ops * (double)step->out.width * (double)step->out.height * step->out.channels;
    return code;
}

static double picture_bytes(const smp_step *step)
{
    return (double)smp_row_bytes(&step->out, step->storage) * (double)step->out.height;
}

smp_code gpu_work_open(gpu_work *work, smp_device *device, const gpu_row *row, gpu_size size, const char *variant,
                       void *source, void *target, smp_error *err)
{
    *work = (gpu_work){.device = device, .target = target};
    smp_code code = make_plan(work, row, size, variant, err);
    if (code)
        return code;
    size_t count = work->plan->step_count;
    work->runs = smp_alloc_array(count, sizeof *work->runs);
    work->frames = smp_alloc_array(count, sizeof *work->frames);
    work->strides = smp_alloc_array(count, sizeof *work->strides);
    if (!work->runs || !work->frames || !work->strides)
        return smp_fail_memory(err, "a plan", count * sizeof *work->runs);
    for (size_t i = 0; !code && i < count; i++)
        code = open_step(work, (int)i, variant, source, err);
    const smp_step *steps = work->plan->steps;
    work->bytes = picture_bytes(&steps[0]) + (work->last > 0 ? picture_bytes(&steps[work->last]) : 0);
    for (size_t i = 1; i < count; i++)
        if (steps[i].second >= 0)
            work->bytes += picture_bytes(&steps[steps[i].second]);
    return code;
}

void gpu_work_close(gpu_work *work)
{
    for (size_t i = 0; work->plan && work->runs && work->frames && i < work->plan->step_count; i++) {
        smp_step_close(&work->runs[i]);
        if (work->plan->steps[i].job == SMP_JOB_STAGE && work->frames[i] && work->frames[i] != work->target)
            work->device->ops->free(work->device, work->frames[i]);
    }
    smp_free(work->runs);
    smp_free(work->frames);
    smp_free(work->strides);
    smp_plan_free(work->plan);
    smp_program_free(work->program);
    *work = (gpu_work){0};
}

/* ------------------------------------------------------------------------------------------------ launches */

static smp_view picture_of(const gpu_work *work, int index)
{
    const smp_step *step = &work->plan->steps[index];
    return smp_view_of(&step->out, step->storage, work->frames[index], work->strides[index], 0, 0, step->out.height);
}

smp_code gpu_work_reset(gpu_work *work, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < work->plan->step_count; i++)
        if (work->runs[i].device)
            code = smp_step_reset(&work->runs[i], err);
    return code;
}

static smp_code launch(gpu_work *work, int index, smp_error *err)
{
    const smp_step *step = &work->plan->steps[index];
    const smp_view in = picture_of(work, step->input);
    const smp_view second = step->second >= 0 ? picture_of(work, step->second) : (smp_view){0};
    const smp_view out = step->job == SMP_JOB_REDUCE ? in : picture_of(work, index);
    return smp_step_launch(&work->runs[index], &in, &out, &second, err);
}

smp_code gpu_work_launch(gpu_work *work, smp_error *err)
{
    const int count = (int)work->plan->step_count;
    smp_code code = SMP_OK;
    for (int i = 0; i < count; i++)
        work->runs[i].cost = (smp_cost){0};
    for (int i = 0; !code && i < count; i++)
        if (work->plan->steps[i].job != SMP_JOB_SOURCE)
            code = launch(work, i, err);
    return code;
}

smp_code gpu_work_seconds(gpu_work *work, double *seconds, smp_error *err)
{
    *seconds = 0;
    smp_code code = work->device->ops->sync(work->device, err);
    for (size_t i = 0; !code && i < work->plan->step_count; i++)
        *seconds += work->runs[i].cost.seconds;
    return code;
}

/* ------------------------------------------------------------------------------------------------ results */

void gpu_work_variants(const gpu_work *work, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < work->plan->step_count && at < size; i++) {
        const smp_step_run *run = &work->runs[i];
        if (run->device)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "",
                                   (run->ran ? run->ran : run->variant)->name);
    }
}

smp_view gpu_work_result(const gpu_work *work)
{
    return picture_of(work, work->last);
}

smp_code gpu_work_poison(gpu_work *work, unsigned char byte, smp_error *err)
{
    enum { PIECE = 4 << 20 };
    smp_device *device = work->device;
    const smp_view out = gpu_work_result(work);
    const int64_t size = out.rows * out.stride;
    if (work->last == 0) /* the source */
        return SMP_OK;
    void *piece = smp_alloc_raw(PIECE);
    if (!piece)
        return smp_fail_memory(err, "a buffer", PIECE);
    memset(piece, byte, PIECE);
    const int64_t first = smp_min_i64(size, PIECE);
    smp_code code = device->ops->copy_in(device, out.data, first, piece, first, first, 1, err);
    for (int64_t at = first; !code && at < size; at *= 2)
        code =
            device->ops->copy(device, (char *)out.data + at, size, out.data, size, smp_min_i64(at, size - at), 1, err);
    smp_free(piece);
    return code;
}

/* Counts are told by their hash: tens of thousands of them. */
static uint64_t hash(const double *list, size_t length)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a over the bits */
    for (size_t i = 0; i < length; i++) {
        uint64_t bits;
        memcpy(&bits, &list[i], sizeof bits);
        h = (h ^ bits) * UINT64_C(1099511628211);
    }
    return h;
}

smp_code gpu_work_found(gpu_work *work, char **text, smp_error *err)
{
    smp_code code = SMP_OK;
    *text = NULL;
    for (size_t i = 0; !code && i < work->plan->step_count; i++) {
        smp_step_run *run = &work->runs[i];
        if (work->plan->steps[i].job != SMP_JOB_REDUCE)
            continue;
        smp_measurements_free(&run->measurements);
        code = smp_step_finish(run, run, err);
        for (size_t k = 0; !code && k < run->measurements.count; k++) {
            const smp_measurement *f = &run->measurements.items[k];
            char *more;
            if (f->list)
                more = smp_asprintf("%s%s of channel %d: list %016" PRIx64 "\n", *text ? *text : "", f->name,
                                    f->channel, hash(f->list, f->list_len));
            else
                more = smp_asprintf("%s%s of channel %d: %a\n", *text ? *text : "", f->name, f->channel, f->value);
            smp_free(*text);
            *text = more;
            if (!more)
                code = smp_fail_memory(err, "findings", run->measurements.count);
        }
    }
    return code;
}
