/* One step on a device: see step.h. */
#include "run/strips/step.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/stride.h"
#include "stages/launch.h"

/* ------------------------------------------------------------------------------------------------ shapes */

int64_t smp_row_bytes(const smp_shape *shape, smp_format storage)
{
    return shape->width * shape->channels * smp_sample_size((int)storage);
}

/* A row's padding is the kernels' (lib/view.h). Rows of one pixel have none, which smp_rows_aligned() sees. */
_Static_assert((int)SMP_ALIGN % (int)SMP_ROW_PADDING == 0, "strides include the padding that kernels may use");

int64_t smp_row_stride(const smp_shape *shape, smp_format storage)
{
    return smp_stride(shape->width, smp_row_bytes(shape, storage));
}

smp_view smp_view_of(const smp_shape *shape, smp_format storage, void *memory, int64_t stride, int64_t base,
                     int64_t first, int64_t count)
{
    return (smp_view){
        .data = (char *)memory + (first - base) * stride,
        .stride = stride,
        .width = shape->width,
        .height = shape->height,
        .y0 = first,
        .rows = count,
        .channels = shape->channels,
        .format = (int32_t)storage,
        .white = smp_white(shape->format),
        .alpha = shape->alpha,
    };
}

smp_view smp_probe_view(const smp_shape *shape, smp_format storage, int64_t rows)
{
    return smp_view_of(shape, storage, SMP_PROBE_ADDRESS, smp_row_stride(shape, storage), 0, 0,
                       smp_min_i64(rows, shape->height));
}

static uint64_t picture_bytes(const smp_step *step)
{
    return (uint64_t)smp_row_bytes(&step->out, step->storage) * (uint64_t)step->out.height;
}

uint64_t smp_step_bytes(const smp_plan *plan, const smp_step *step)
{
    uint64_t bytes = picture_bytes(&plan->steps[step->input]);
    const bool gathers = step->job == SMP_JOB_STAGE && step->work.values.exactness == SMP_MOVE && step->stage &&
                         !smp_stage_is(step->stage, SMP_TRAIT_NEIGHBOURHOOD);
    if (gathers) { /* reads a pixel for each that it writes */
        const smp_step *from = &plan->steps[step->input];
        const uint64_t read = (uint64_t)(step->out.width * step->out.height) * (uint64_t)from->out.channels *
                              (uint64_t)smp_sample_size((int)from->storage);
        bytes = smp_min_u64(bytes, read);
    }
    if (step->job == SMP_JOB_STAGE)
        bytes += picture_bytes(step);
    if (step->second >= 0)
        bytes += picture_bytes(&plan->steps[step->second]);
    return bytes;
}

static void rows_read(const smp_row_map *reads, bool whole, int64_t height, int64_t from, int64_t to, int64_t *first,
                      int64_t *count)
{
    int64_t end = height;
    *first = 0;
    if (!whole)
        smp_row_map_reads(reads, height, from, to, first, &end);
    *count = end - *first;
}

void smp_step_reads(const smp_step *step, int64_t height, int64_t from, int64_t to, int64_t *first, int64_t *count)
{
    rows_read(&step->reads, step->whole_input, height, from, to, first, count);
}

void smp_step_reads_second(const smp_step *step, int64_t height, int64_t from, int64_t to, int64_t *first,
                           int64_t *count)
{
    rows_read(&step->reads_second, step->whole_second, height, from, to, first, count);
}

/* ------------------------------------------------------------------------------------------------ variants */

const smp_variant *smp_step_variants(const smp_step *step)
{
    if (step->job == SMP_JOB_REDUCE && step->work.reduction.reducers)
        return step->work.reduction.reducers;
    return step->work.variants ? step->work.variants : step->stage->variants;
}

const smp_variant *smp_step_default(const smp_step *step)
{
    const smp_variant *list = smp_step_variants(step);
    return &list[smp_variant_count(list) - 1];
}

const smp_variant *smp_step_variant(const smp_step *step, const char *wanted)
{
    const smp_variant *found = wanted ? smp_variant_find(smp_step_variants(step), wanted) : NULL;
    return found ? found : smp_step_default(step);
}

bool smp_variant_runs(const smp_variant *variant, bool gpu)
{
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++)
        if (smp_launch_runs(&variant->launches[i], gpu))
            return true;
    return false;
}

/* The next launch of a CPU, from *at on; null: there is none. */
static const smp_launch *next_on_a_cpu(const smp_variant *variant, int *at)
{
    while (*at < SMP_MAX_LAUNCHES) {
        const smp_launch *launch = &variant->launches[(*at)++];
        if (smp_launch_runs(launch, false))
            return launch;
    }
    return NULL;
}

static bool same_on_a_cpu(const smp_variant *a, const smp_variant *b)
{
    for (int i = 0, k = 0;;) {
        const smp_launch *x = next_on_a_cpu(a, &i), *y = next_on_a_cpu(b, &k);
        if (!x || !y)
            return !x && !y && a->scratch == b->scratch && a->band == b->band;
        if (memcmp(&x->cpu, &y->cpu, sizeof x->cpu) != 0 || x->counts != y->counts || x->foreign != y->foreign)
            return false;
    }
}

const smp_variant *smp_step_serving(const smp_step *step, const smp_variant *variant, const smp_device *device,
                                    const smp_view *in, const smp_view *out, const smp_view *by, const void *params)
{
    const smp_io io = {.in = *in, .out = *out, .second = *by};
    const smp_grid known = {.units = (unsigned)device->info.units,
                            .shared_most = (unsigned)device->info.shared_per_block};
    if (!device->host_memory)
        return smp_variant_serving(variant, &io, params, &known);
    const smp_variant *tiled = smp_variant_find(smp_step_variants(step), "tiled");
    return tiled && same_on_a_cpu(tiled, variant) ? tiled : variant;
}

bool smp_step_uses_scratch(const smp_step *step, smp_format from, const smp_node_plan *work, const smp_variant *variant,
                           bool gpu)
{
    const smp_io io = {.in = smp_probe_view(&step->in, from, step->in.height),
                       .out = smp_probe_view(&step->out, step->storage, step->out.height)};
    if (gpu)
        variant = smp_variant_serving(variant, &io, work->kernel.bytes, &(smp_grid){.units = 0});
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++)
        if (smp_launch_runs(&variant->launches[i], gpu) && variant->launches[i].to == SMP_SCRATCH)
            return true;
    return false;
}

static smp_code check_kernels(const smp_step_run *run, smp_error *err)
{
    if (smp_variant_runs(run->variant, !run->device->host_memory))
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "variant '%s' of stage '%s' has no kernel for this device", run->variant->name,
             run->step->stage->name);
    return smp_hint(err, "use --device cpu, or another --variant");
}

/* ------------------------------------------------------------------------------------------------ memory */

static smp_code upload_table(smp_step_run *run, smp_error *err)
{
    smp_device *device = run->device;
    if (!run->work.table.data)
        return SMP_OK;
    int64_t size = (int64_t)run->work.table.size;
    SMP_TRY(run->table ? SMP_OK : device->ops->alloc(device, run->work.table.size, &run->table, err));
    return device->ops->copy_in(device, run->table, size, run->work.table.data, size, size, 1, err);
}

smp_code smp_step_open(smp_step_run *run, smp_device *device, const smp_step *step, const smp_node_plan *work,
                       const smp_variant *variant, smp_error *err)
{
    *run = (smp_step_run){.device = device, .step = step, .variant = variant, .work = work ? *work : step->work};
    const void *table = run->work.table.data;
    run->work.table.data = NULL;
    SMP_TRY(check_kernels(run, err));
    if (table) { /* a reduction fills in a copy of its own */
        run->work.table.data = smp_alloc(run->work.table.size);
        SMP_NEED(run->work.table.data, "a table", run->work.table.size, err);
        memcpy(run->work.table.data, table, run->work.table.size);
        SMP_TRY(upload_table(run, err));
    }
    if (step->job == SMP_JOB_REDUCE)
        SMP_TRY(device->ops->alloc(device, run->work.reduction.size, &run->result, err));
    if (step->job == SMP_JOB_STAGE &&
        ((run->work.values.clips && step->storage != SMP_F32) || run->work.values.undecided))
        SMP_TRY(device->ops->alloc(device, sizeof *run->clipped, (void **)&run->clipped, err));
    return smp_step_reset(run, err);
}

smp_code smp_step_scratch(smp_step_run *run, smp_format from, int64_t rows, smp_error *err)
{
    const smp_step *step = run->step;
    smp_device *device = run->device;
    size_t bytes;
    rows = smp_step_scratch_rows(step, rows);
    if (run->scratch_rows >= rows || !smp_step_uses_scratch(step, from, &run->work, run->variant, !device->host_memory))
        return SMP_OK;
    if (run->scratch)
        device->ops->free(device, run->scratch);
    run->scratch = NULL;
    run->scratch_rows = 0;
    SMP_NEED(smp_mul_size((size_t)rows, (size_t)smp_step_scratch_stride(step), &bytes), "a picture or a sound",
             UINT64_MAX, err);
    smp_code code = device->ops->alloc(device, bytes, &run->scratch, err);
    run->scratch_rows = code ? 0 : rows;
    return code == SMP_E_DEVICE_MEMORY && run->work.reduction.more_at ? SMP_OK : code;
}

smp_code smp_step_reset(smp_step_run *run, smp_error *err)
{
    smp_device *device = run->device;
    if (run->result)
        SMP_TRY(device->ops->zero(device, run->result, run->work.reduction.size, err));
    if (run->clipped)
        SMP_TRY(device->ops->zero(device, run->clipped, sizeof *run->clipped, err));
    return SMP_OK;
}

smp_code smp_step_again(smp_step_run *run, smp_error *err)
{
    void *table = run->work.table.data;
    run->cost = (smp_cost){0};
    run->result_seconds = 0;
    smp_measurements_free(&run->measurements);
    smp_free(run->partial);
    run->partial = NULL;
    run->begun = false;
    run->through = 0;
    run->work = run->step->work;
    run->work.table.data = table;
    if (table && run->step->work.table.data && run->step->reduced_by >= 0) /* the reduction to come uploads it */
        memcpy(table, run->step->work.table.data, run->work.table.size);
    return smp_step_reset(run, err);
}

void smp_step_close(smp_step_run *run)
{
    void *owned[] = {run->scratch, run->table, run->result, run->clipped};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i])
            run->device->ops->free(run->device, owned[i]);
    smp_free_all(run->work.table.data, run->partial);
    smp_measurements_free(&run->measurements);
    *run = (smp_step_run){.device = run->device};
}

/* ------------------------------------------------------------------------------------------------ launches */

int64_t smp_step_scratch_rows(const smp_step *step, int64_t rows)
{
    return step->work.between.height ? step->work.between.height : rows;
}

int64_t smp_step_scratch_stride(const smp_step *step)
{
    const smp_shape *between = &step->work.between;
    if (between->height)
        return smp_aligned_stride(smp_row_bytes(between, between->format));
    return smp_aligned_stride(step->out.width * step->out.channels * (int64_t)sizeof(float));
}

smp_io smp_step_views(const smp_step *step, const smp_launch *launch, const smp_view *in, const smp_view *out,
                      const smp_view *second, void *scratch)
{
    smp_io io = {.in = *in, .out = *out, .second = *second};
    const smp_shape *own = &step->work.between;
    smp_view between = *in;
    between.data = scratch;
    between.stride = smp_step_scratch_stride(step);
    between.width = step->out.width;
    between.channels = step->out.channels;
    between.format = SMP_F32;
    if (own->height)
        between = smp_view_of(own, own->format, scratch, between.stride, 0, 0, own->height);
    if (launch->from == SMP_SECOND)
        io.in = io.out = *second;
    if (step->second < 0 && launch->from == SMP_SCRATCH)
        io.second = *in;
    else if (step->second < 0 && launch->to == SMP_SCRATCH)
        io.second = *out;
    if (launch->from == SMP_OUT)
        io.in = *out;
    if (launch->from == SMP_SCRATCH)
        io.in = between;
    if (launch->to == SMP_SCRATCH)
        io.out = between;
    return io;
}

smp_code smp_step_launch(smp_step_run *run, const smp_view *in, const smp_view *out, const smp_view *second,
                         smp_error *err)
{
    smp_device *device = run->device;
    const int64_t unit = smp_max_i64(1, run->work.rows.unit);
    if (out->y0 % unit) /* would be computed wrongly */
        return smp_fail(err, SMP_E_PROCESS, "row %lld of '%s' is not a multiple of %lld", (long long)out->y0,
                        run->step->label, (long long)unit);
    const smp_variant *variant =
        smp_step_serving(run->step, run->variant, device, in, out, second, run->work.kernel.bytes);
    run->ran = variant;
    if (out->y0 == 0)
        run->through = 0;
    run->through = run->through == out->y0 ? out->y0 + out->rows : -1;
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
        const smp_launch *launch = &variant->launches[i];
        if (!smp_launch_runs(launch, !device->host_memory) || (launch->once && run->begun && out->y0 > 0) ||
            (launch->last && run->through != out->height))
            continue;
        smp_io io = smp_step_views(run->step, launch, in, out, second, run->scratch);
        io.table = run->table;
        io.result = run->result;
        io.clipped = run->clipped;
        SMP_TRY(device->ops->launch(device, variant, launch, &io, &run->work, &run->cost, err));
    }
    run->begun = true;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ results */

/* The table is on the device already. In pieces: devices copy rows of less than 2 GB. */
static smp_code copy_table(smp_step_run *run, const char *from, smp_error *err)
{
    enum { PIECE = 1 << 20 };
    smp_device *device = run->device;
    const int64_t size = (int64_t)run->work.table.size, whole = size / PIECE * PIECE, rest = size - whole;
    smp_code code = run->table ? SMP_OK : device->ops->alloc(device, run->work.table.size, &run->table, err);
    code = code ? code : device->ops->copy(device, run->table, PIECE, from, PIECE, PIECE, size / PIECE, err);
    return code ? code
                : device->ops->copy(device, (char *)run->table + whole, rest, from + whole, rest, rest, rest > 0, err);
}

static smp_code bring(const smp_step_run *run, void *to, const void *from, size_t size, smp_error *err)
{
    const int64_t bytes = (int64_t)size;
    return size ? run->device->ops->copy_out(run->device, to, bytes, from, bytes, bytes, 1, err) : SMP_OK;
}

smp_code smp_step_result(const smp_step_run *run, void **result, const void **table, smp_error *err)
{
    const size_t size = run->work.reduction.size, at = run->work.reduction.more_at;
    uint64_t more = 0;
    size_t whole = 0;
    *result = NULL;
    *table = NULL;
    SMP_TRY(at ? bring(run, &more, (const char *)run->result + at, sizeof more, err) : SMP_OK);
    SMP_NEED(smp_add_size(size, (size_t)more, &whole) && (*result = smp_alloc_raw(whole)), "results", size + more, err);
    if (!more)
        return bring(run, *result, run->result, size, err);
    memcpy((char *)*result + at, &more, sizeof more);
    if (run->work.reduction.table_at)
        *table = (const char *)run->scratch + run->work.reduction.table_at;
    return bring(run, (char *)*result + size, run->scratch, (size_t)more, err);
}

smp_code smp_step_finish(smp_step_run *run, smp_step_run *target, smp_error *err)
{
    enum { BESIDE_A_GPU = 4 }; /* threads: others may decode, or feed it too */
    void *result;
    const void *table;
    smp_code code = smp_step_result(run, &result, &table, err);
    const double start = smp_now();
    run->work.reduction.threads = target->work.reduction.threads =
        run->device->host_memory ? run->device->info.units : (int)smp_min_i64(BESIDE_A_GPU, smp_pool_cores());
    if (!code && target != run && !table && target->work.table.size && !target->work.table.data &&
        !(target->work.table.data = smp_alloc(target->work.table.size)))
        code = smp_fail_memory(err, "a table", target->work.table.size);
    if (!code && run->wants_partial && smp_stage_partials(run->step->stage))
        code = smp_stage_partials(run->step->stage)
                   ->make(run->step->params, &run->step->in, &run->work, result, &run->partial, err);
    if (!code && run->step->stage->reduction)
        code = run->step->stage->reduction->finish(run->step->params, &run->step->in, result, &target->work,
                                                   &run->measurements, err);
    run->result_seconds = smp_now() - start;
    smp_free(result);
    if (!code && target != run)
        code = table ? copy_table(target, table, err) : upload_table(target, err);
    return code;
}

smp_code smp_step_bring_table(smp_step_run *run, smp_error *err)
{
    const size_t size = run->work.table.size;
    if (!run->table || run->work.table.data || !size)
        return SMP_OK;
    run->work.table.data = smp_alloc(size);
    return run->work.table.data ? bring(run, run->work.table.data, run->table, size, err)
                                : smp_fail_memory(err, "a table", size);
}

smp_code smp_step_clipped(smp_step_run *run, uint64_t *clipped, smp_error *err)
{
    int64_t size = sizeof *clipped;
    *clipped = 0;
    return run->clipped ? run->device->ops->copy_out(run->device, clipped, size, run->clipped, size, size, 1, err)
                        : SMP_OK;
}
