/* A stage's GPU kernels on the emulator against the definition, `naive` on the CPU in one strip: same bytes, same
 * findings, same counts of clipped samples, guard bands whole, and, traced in five thread orders, no mistakes.
 *
 *     gpu_matrix("gaussian 1.5px edge=mirror");        every variant, format, 1, 3 and 4 channels, awkward sizes,
 *                                                      strips of 7 rows and all
 *     const gpu_case c = {.lines = {"transpose"}, .in = case_shape(61, 45, 3, SMP_F32)};
 *     gpu_case_check(&c);                              every variant on one input
 *     smp_trace trace = {0};
 *     gpu_case_trace(&c, "padded", 0, &trace);         five orders, no faults; what shared accesses cost
 *     assert_int_equal(gpu_conflicts(&trace, "transpose_padded", SMP_SHARED_LOAD), 0);
 *     smp_trace_free(&trace);
 *     gpu_views_check(&kernel_case);                   launches on views of any alignment, stride and window
 *
 * A failed check prints the case, so that it can be repeated by itself. */
#ifndef SMP_TESTS_GPU_CASE_H
#define SMP_TESTS_GPU_CASE_H

#include "kernel_case.h"

#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "pipe/plan.h"
#include "pipe/program.h"
#include "run/run.h"
#include "stages/launch.h"

enum { GPU_LINES = 6, GPU_NAMES = 8 };

typedef struct gpu_case {
    const char *lines[GPU_LINES]; /* statements, as with -e; the rest null */
    smp_shape in;
    case_values values; /* of f32 input */
    uint64_t seed;
    bool plain; /* f32 between all stages */
} gpu_case;

/* ---------------------------------------------------------------------------------------------- devices, orders */

/* Both stay open to the end of the program, but for gpu_simt_reset(). */
static smp_device *gpu_simt_device;
CASE_FN smp_device *gpu_simt(void)
{
    smp_error err = {0};
    if (!gpu_simt_device && smp_cuda_open(smp_driver_simt(), 0, &gpu_simt_device, &err))
        fail_msg("the emulator: %s", err.message);
    return gpu_simt_device;
}

/* Gives back the memory that the device keeps for later: every traced access is compared with the guards of all of it.
 */
CASE_FN void gpu_simt_reset(void)
{
    smp_device_close(gpu_simt_device);
    gpu_simt_device = NULL;
}

CASE_FN smp_device *gpu_reference(void)
{
    static smp_device *device;
    smp_error err = {0};
    smp_device_request ask = {.spec = "cpu", .threads = 1, .isa = "base"};
    if (!device && smp_device_open(&ask, &device, NULL, 0, &err))
        fail_msg("the CPU: %s", err.message);
    return device;
}

enum { GPU_ORDERS = 5 }; /* 0: forward, 1: reversed, 2 to 4: shuffled */

CASE_FN void gpu_set_order(int which)
{
    smp_simt_set_order(which == 0   ? SMP_SIMT_FORWARD
                       : which == 1 ? SMP_SIMT_REVERSED
                                    : SMP_SIMT_SHUFFLED,
                       (uint64_t)which);
}

/* ---------------------------------------------------------------------------------------------- running */

CASE_FN void gpu_print(const gpu_case *c, const char *variant, int64_t strip_rows)
{
    for (int i = 0; i < GPU_LINES && c->lines[i]; i++)
        print_error("%s%s", i ? "; " : "", c->lines[i]);
    print_error("\non %lldx%lldx%d%s %s, values %d, seed %llu, variant %s, strips of %lld rows%s\n",
                (long long)c->in.width, (long long)c->in.height, c->in.channels, c->in.alpha ? " (alpha)" : "",
                smp_format_name(c->in.format), (int)c->values, (unsigned long long)c->seed, variant,
                (long long)strip_rows, c->plain ? ", f32 between stages" : "");
}

/* A planned case with its input and what the definition makes of it. */
typedef struct gpu_job {
    const gpu_case *c;
    smp_program *program;
    smp_plan *plan;
    picture in;
    smp_shape shape; /* of the output; width 0 when the plan has none */
    picture want;
    smp_run_report report;
} gpu_job;

CASE_FN smp_code gpu_accepts(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    (void)context, (void)path, (void)err;
    *out = *shape;
    return SMP_OK;
}

CASE_FN void gpu_run(const gpu_job *job, smp_device *device, const char *variant, int64_t strip_rows, picture *out,
                     smp_run_report *report)
{
    smp_error err = {0};
    *out = picture_make(&job->shape, job->shape.format);
    if (smp_run_memory(job->plan, device, variant, strip_rows, &job->in.view, &out->view, report, &err)) {
        gpu_print(job->c, variant, strip_rows);
        fail_msg("%s", err.message);
    }
}

CASE_FN gpu_job gpu_job_make(const gpu_case *c)
{
    gpu_job job = {.c = c};
    smp_diags diags = {0};
    smp_error err = {0};
    size_t count = 0;
    while (count < GPU_LINES && c->lines[count])
        count++;
    smp_code code = smp_program_parse_lines(c->lines, count, NULL, 0, NULL, NULL, &diags, &job.program, &err);
    smp_plan_request ask = {.program = job.program,
                            .input = c->in,
                            .orientation = 1,
                            .output = "memory",
                            .accepts = gpu_accepts,
                            .plain_storage = c->plain};
    if (!code)
        code = smp_plan_make(&ask, &diags, &job.plan, &err);
    if (code) {
        gpu_print(c, "-", 0);
        fail_msg("%s", diags.count ? diags.items[0].message : err.message);
    }
    smp_diags_free(&diags);
    assert_int_equal(job.plan->sink_count, 1);
    job.shape = job.plan->sinks[0].shape;
    job.in = picture_make(&c->in, c->in.format);
    picture_fill(&job.in, c->seed, c->in.format == SMP_F32 ? c->values : CASE_CODES);
    gpu_run(&job, gpu_reference(), "naive", 0, &job.want, &job.report);
    return job;
}

CASE_FN void gpu_job_free(gpu_job *job)
{
    picture_free(&job->in);
    picture_free(&job->want);
    smp_run_report_free(&job->report);
    smp_plan_free(job->plan);
    smp_program_free(job->program);
}

CASE_FN bool gpu_same_findings(const smp_findings *a, const smp_findings *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const smp_finding *x = &a->items[i], *y = &b->items[i];
        same = !strcmp(x->name, y->name) && x->channel == y->channel && x->list_len == y->list_len;
        same = same && (x->list ? !memcmp(x->list, y->list, x->list_len * sizeof *x->list)
                                : !memcmp(&x->value, &y->value, sizeof x->value));
    }
    return same;
}

CASE_FN void gpu_fail(const gpu_job *job, const char *variant, int64_t strip_rows, const char *what)
{
    gpu_print(job->c, variant, strip_rows);
    fail_msg("%s", what);
}

/* Where two pictures of one shape first differ. */
CASE_FN void gpu_print_difference(const picture *got, const picture *want)
{
    const smp_view *v = &want->view;
    size_t size = (size_t)smp_sample_size(v->format);
    for (int64_t y = 0; y < v->rows; y++)
        for (int64_t i = 0; i < v->width * v->channels; i++) {
            const char *a = (const char *)smp_row(&got->view, v->y0 + y) + (size_t)i * size;
            const char *b = (const char *)smp_row(v, v->y0 + y) + (size_t)i * size;
            if (memcmp(a, b, size)) {
                print_error("row %lld, pixel %lld, channel %lld: %.9g, not %.9g\n", (long long)(v->y0 + y),
                            (long long)(i / v->channels), (long long)(i % v->channels),
                            (double)smp_load(a, 0, v->format), (double)smp_load(b, 0, v->format));
                return;
            }
        }
}

CASE_FN void gpu_compare(const gpu_job *job, const char *variant, int64_t strip_rows, const picture *out,
                         const smp_run_report *report)
{
    if (!picture_guards_hold(out))
        gpu_fail(job, variant, strip_rows, "wrote outside the output");
    if (!picture_equal(out, &job->want)) {
        gpu_print_difference(out, &job->want);
        gpu_fail(job, variant, strip_rows, "other bytes than the definition");
    }
    assert_int_equal(report->step_count, job->report.step_count);
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *a = &report->steps[i], *b = &job->report.steps[i];
        if (!gpu_same_findings(&a->findings, &b->findings))
            gpu_fail(job, variant, strip_rows, "other findings than the definition");
        if (a->clipped != b->clipped) {
            print_error("%s: %llu samples clipped, not %llu\n", a->label, (unsigned long long)a->clipped,
                        (unsigned long long)b->clipped);
            gpu_fail(job, variant, strip_rows, "other counts of clipped samples than the definition");
        }
    }
}

/* One run on the emulator, compared. */
CASE_FN void gpu_job_check(const gpu_job *job, const char *variant, int64_t strip_rows)
{
    picture out;
    smp_run_report report = {0};
    gpu_run(job, gpu_simt(), variant, strip_rows, &out, &report);
    gpu_compare(job, variant, strip_rows, &out, &report);
    picture_free(&out);
    smp_run_report_free(&report);
}

/* The names of all variants that stages of the plan have; how many. */
CASE_FN int gpu_variants(const smp_plan *plan, const char *names[GPU_NAMES])
{
    int count = 0;
    for (size_t i = 0; i < plan->step_count; i++)
        for (int list = 0; list < 2 && plan->steps[i].stage; list++) {
            const smp_variant *v = list ? plan->steps[i].stage->reducers : plan->steps[i].stage->variants;
            for (; v && v->name; v++) {
                int known = 0;
                while (known < count && strcmp(names[known], v->name))
                    known++;
                if (known == count && count < GPU_NAMES)
                    names[count++] = v->name;
            }
        }
    return count;
}

/* ---------------------------------------------------------------------------------------------- checks */

/* Every variant, in strips of 7 rows and all at once; thread orders in turn. */
CASE_FN void gpu_case_check(const gpu_case *c)
{
    static int order;
    gpu_job job = gpu_job_make(c);
    const char *names[GPU_NAMES];
    int count = gpu_variants(job.plan, names);
    for (int i = 0; i < count; i++)
        for (int64_t strip_rows = 0; strip_rows <= 7 && strip_rows < job.shape.height; strip_rows += 7) {
            if (case_left_out())
                continue;
            gpu_set_order(order++ % GPU_ORDERS);
            gpu_job_check(&job, names[i], strip_rows);
        }
    gpu_set_order(0);
    gpu_job_free(&job);
}

/* True when kernels made mistakes; says where. */
CASE_FN bool gpu_print_faults(const smp_trace *trace, int order)
{
    smp_trace_faults faults = smp_trace_all_faults(trace);
    if (!smp_trace_fault_count(&faults))
        return false;
    print_error("order %d: %llu races, %llu uninitialised reads, %llu accesses outside, %llu divergent\n", order,
                (unsigned long long)faults.races, (unsigned long long)faults.uninitialised,
                (unsigned long long)faults.outside, (unsigned long long)faults.divergent);
    for (size_t l = 0; l < trace->count; l++)
        for (size_t s = 0; s < trace->launches[l].site_count; s++)
            if (smp_trace_fault_count(&trace->launches[l].sites[s].faults)) {
                char where[128];
                smp_trace_where(&trace->launches[l].sites[s], where, sizeof where);
                print_error("  %s: %s\n", trace->launches[l].kernel, where);
            }
    return true;
}

/* Traced in five orders: the same results each time, no faults, and the same shared accesses. *trace (zeroed by the
 * caller, who frees it) gets the launches of the first order. */
CASE_FN void gpu_case_trace(const gpu_case *c, const char *variant, int64_t strip_rows, smp_trace *trace)
{
    gpu_simt_reset();
    gpu_job job = gpu_job_make(c);
    for (int order = 0; order < GPU_ORDERS; order++) {
        if (order > 0 && case_left_out())
            continue;
        smp_trace again = {0}, *to = order ? &again : trace;
        picture out;
        smp_run_report report = {0};
        gpu_set_order(order);
        smp_simt_set_trace(to);
        gpu_run(&job, gpu_simt(), variant, strip_rows, &out, &report);
        smp_simt_set_trace(NULL);
        gpu_compare(&job, variant, strip_rows, &out, &report);
        if (gpu_print_faults(to, order))
            gpu_fail(&job, variant, strip_rows, "the kernel makes mistakes");
        assert_true(to->count > 0);
        assert_int_equal(to->count, trace->count);
        picture_free(&out);
        smp_run_report_free(&report);
        smp_trace_free(&again);
    }
    gpu_set_order(0);
    gpu_job_free(&job);
}

/* Traces every variant of a pipeline on a few sizes, in f32 and in bytes, for mistakes alone. */
CASE_FN void gpu_trace_all(const char *line)
{
    static const int64_t sizes[][2] = {{1, 1}, {33, 31}, {70, 9}};
    for (int s = 0; s < 3; s++)
        for (int f = 0; f < 2; f++) {
            gpu_case c = {.lines = {line}, .in = case_shape(sizes[s][0], sizes[s][1], f ? 3 : 4, f ? SMP_F32 : SMP_U8)};
            c.seed = (uint64_t)(s + 1);
            gpu_job job = gpu_job_make(&c);
            const char *names[GPU_NAMES];
            int count = gpu_variants(job.plan, names);
            gpu_job_free(&job);
            for (int i = 0; i < count; i++) {
                smp_trace trace = {0};
                gpu_case_trace(&c, names[i], s == 1 ? 7 : 0, &trace);
                smp_trace_free(&trace);
            }
        }
}

/* Conflicts (wavefronts beyond those that the width needs) and warp instructions of one operation, summed over the
 * launches of kernels whose names begin so. */
/* Walking kernels load only the part of a 16-byte pack that their taps reach, as nvcc would: lanes still lie 16 bytes
 * apart, so that this conflicts, and takes no more wavefronts than the whole pack. So do the zeros for the halo of
 * several rows at once, at a picture's sides: rows begin at the same bank. Nothing else may conflict, but asynchronous
 * copies, which depend on where rows lie in global memory. */
CASE_FN void gpu_packs_check(const smp_trace_launch *launch)
{
    enum { PACK = 16, PACK_WAVEFRONTS = 4 };
    for (size_t i = 0; i < launch->site_count; i++) {
        const smp_trace_site *site = &launch->sites[i];
        if (!site->conflicts || site->op == SMP_SHARED_ASYNC)
            continue;
        const bool zeros = site->op == SMP_SHARED_STORE && site->width == PACK;
        assert_true(zeros || (site->op == SMP_SHARED_LOAD && site->width < PACK));
        assert_true(zeros || site->count.wavefronts <= PACK_WAVEFRONTS * site->count.instructions);
    }
}

CASE_FN uint64_t gpu_conflicts(const smp_trace *trace, const char *kernel, smp_shared_op op)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < trace->count; i++)
        for (size_t k = 0; k < trace->launches[i].site_count; k++)
            if (!strncmp(trace->launches[i].kernel, kernel, strlen(kernel)) && trace->launches[i].sites[k].op == op)
                sum += trace->launches[i].sites[k].conflicts;
    return sum;
}
CASE_FN uint64_t gpu_instructions(const smp_trace *trace, const char *kernel, smp_shared_op op)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (!strncmp(trace->launches[i].kernel, kernel, strlen(kernel)))
            sum += trace->launches[i].ops[op].instructions;
    return sum;
}

/* One statement, or several: every variant, u8, u16 and f32, 1, 3 and 4 channels (4: alpha), sizes from 1x1 to 130x67,
 * strips of 7 rows and all; now and then f32 between stages. f32 pictures hold values as `values` says. */
CASE_FN void gpu_matrix_lines(const char *const *lines, case_values values)
{
    static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {33, 31}, {61, 45}, {130, 67}};
    static const int channels[] = {1, 3, 4};
    uint64_t seed = 1;
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int k = 0; k < 3; k++)
            for (int s = 0; s < 6; s++, seed++) {
                gpu_case c = {.in = case_shape(sizes[s][0], sizes[s][1], channels[k], (smp_format)f),
                              .values = values,
                              .seed = seed,
                              .plain = seed % 5 == 0};
                for (int i = 0; i < GPU_LINES && lines[i]; i++)
                    c.lines[i] = lines[i];
                gpu_case_check(&c);
            }
}
CASE_FN void gpu_matrix(const char *line)
{
    const char *lines[] = {line, NULL};
    gpu_matrix_lines(lines, CASE_REALS);
}

/* ---------------------------------------------------------------------------------------------- views */

CASE_FN void gpu_copy_rows(smp_device *device, const smp_view *to, const smp_view *from)
{
    smp_error err;
    const int64_t row = from->width * from->channels * smp_sample_size(from->format);
    assert_int_equal(
        device->ops->copy_in(device, to->data, to->stride, from->data, from->stride, row, from->rows, &err), SMP_OK);
}

enum { GPU_ALIGNED = -1, GPU_GAP = SMP_ROW_PADDING, GPU_POISON = 0xff /* as f32: NaN */ };

/* Bytes of a row that kernels may read and write: aligned rows own their padding (lib/view.h). */
CASE_FN int64_t gpu_row_bytes(const smp_view *v)
{
    const int64_t row = v->width * v->channels * smp_sample_size(v->format);
    return smp_view_aligned(v) ? (row + SMP_ROW_PADDING - 1) / SMP_ROW_PADDING * SMP_ROW_PADDING : row;
}

/* The same rows in memory of their own: `shift` samples from an aligned address, `padding` samples between them, or
 * GPU_ALIGNED: padded as runs pad them, and GPU_GAP bytes between them. Padding and gaps are poisoned. A view without
 * rows stays as it is. The caller frees *memory. */
CASE_FN smp_view gpu_view(smp_device *device, const smp_view *from, int shift, int padding, void **memory)
{
    smp_view v = *from;
    smp_error err;
    const int64_t sample = smp_sample_size(v.format);
    *memory = NULL;
    if (!v.data || v.rows <= 0)
        return v;
    v.stride = v.width * v.channels * sample + (padding > 0 ? padding : 0) * sample;
    if (padding < 0)
        v.stride = (v.stride + SMP_ROW_PADDING - 1) / SMP_ROW_PADDING * SMP_ROW_PADDING + GPU_GAP;
    const int64_t size = v.stride * v.rows + shift * sample;
    void *poison = malloc((size_t)size);
    assert_non_null(poison);
    memset(poison, GPU_POISON, (size_t)size);
    assert_int_equal(device->ops->alloc(device, (size_t)size, memory, &err), SMP_OK);
    assert_int_equal(device->ops->copy_in(device, *memory, size, poison, size, size, 1, &err), SMP_OK);
    free(poison);
    v.data = (char *)*memory + shift * sample;
    gpu_copy_rows(device, &v, from);
    return v;
}

/* True when what lies between the rows of a view of gpu_view() is still poisoned. */
CASE_FN bool gpu_gaps_hold(smp_device *device, const smp_view *v)
{
    smp_error err;
    const int64_t size = v->stride * v->rows;
    unsigned char *memory = malloc((size_t)size);
    bool hold = true;
    assert_non_null(memory);
    assert_int_equal(device->ops->copy_out(device, memory, size, v->data, size, size, 1, &err), SMP_OK);
    assert_int_equal(device->ops->sync(device, &err), SMP_OK);
    for (int64_t y = 0; y < v->rows; y++)
        for (int64_t i = gpu_row_bytes(v); i < v->stride; i++)
            hold = hold && memory[y * v->stride + i] == GPU_POISON;
    free(memory);
    return hold;
}

CASE_FN void *gpu_bytes(const void *from, size_t size)
{
    smp_device *device = gpu_simt();
    void *memory = NULL;
    smp_error err;
    int64_t n = (int64_t)size;
    if (!size)
        return NULL;
    assert_int_equal(device->ops->alloc(device, size, &memory, &err), SMP_OK);
    assert_int_equal(device->ops->copy_in(device, memory, n, from, n, n, 1, &err), SMP_OK);
    return memory;
}

/* One variant over output rows y0 .. y1-1 into `out` (which holds just these), clipped samples counted. */
CASE_FN uint64_t gpu_views_run(const kernel_case *c, const smp_node_plan *plan, const smp_variant *variant,
                               const picture *in, const picture *by, picture *out, int shift, int padding)
{
    smp_device *device = gpu_simt();
    smp_error err = {0};
    smp_cost cost = {0};
    uint64_t clipped = 0;
    void *memory[4] = {NULL};
    int64_t y0 = out->view.y0, y1 = y0 + out->view.rows;
    bool whole = plan->access == SMP_WHOLE || plan->whole;
    int64_t top = whole || y0 < plan->reach_up ? 0 : y0 - plan->reach_up;
    int64_t bottom = whole || y1 + plan->reach_down > c->in.height ? c->in.height : y1 + plan->reach_down;
    picture window = case_rows(in, top, bottom), second = {0};
    smp_shape middle = c->in;
    middle.channels = plan->out.channels;
    picture scratch = picture_window(&middle, SMP_F32, top, bottom - top, 1);
    smp_io io = {.table = gpu_bytes(plan->table, plan->table_size), .clipped = gpu_bytes(&clipped, sizeof clipped)};
    smp_view views[] = {[SMP_IN] = gpu_view(device, &window.view, shift, padding, &memory[0]),
                        [SMP_OUT] = gpu_view(device, &out->view, 3 * shift % 4, 2 * padding, &memory[1]),
                        [SMP_SCRATCH] = gpu_view(device, &scratch.view, 0, padding < 0 ? padding : 1, &memory[2])};
    if (by && by->memory) {
        second = case_rows(by, top, plan->access == SMP_WHOLE || plan->whole ? c->by->height : bottom);
        io.second = gpu_view(device, &second.view, shift, 3 * padding, &memory[3]);
    }
    const smp_view by_view = io.second;
    const smp_io between = {.in = views[SMP_IN], .out = views[SMP_OUT], .second = by_view};
    const smp_grid known = {.shared_most = (unsigned)device->info.shared_per_block};
    variant = smp_variant_serving(variant, &between, plan->kernel, &known);
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
        if (!smp_launch_runs(&variant->launches[i], true))
            continue;
        io.in = views[variant->launches[i].from];
        io.out = views[variant->launches[i].to];
        io.second = by_view;
        if (!second.memory && variant->launches[i].from == SMP_SCRATCH)
            io.second = views[SMP_IN];
        else if (!second.memory && variant->launches[i].to == SMP_SCRATCH)
            io.second = views[SMP_OUT];
        if (device->ops->launch(device, variant, &variant->launches[i], &io, plan, &cost, &err))
            fail_msg("%s %s: %s", c->stage->name, variant->name, err.message);
    }
    const smp_view *v = &out->view, *w = &views[SMP_OUT];
    assert_int_equal(device->ops->copy_out(device, smp_row(v, y0), v->stride, w->data, w->stride,
                                           v->width * v->channels * smp_sample_size(v->format), v->rows, &err),
                     SMP_OK);
    assert_int_equal(
        device->ops->copy_out(device, &clipped, sizeof clipped, io.clipped, sizeof clipped, sizeof clipped, 1, &err),
        SMP_OK);
    if (device->ops->sync(device, &err))
        fail_msg("%s %s: %s", c->stage->name, variant->name, err.message);
    const smp_view *const used[] = {&views[SMP_IN], &views[SMP_OUT], &views[SMP_SCRATCH], &by_view};
    for (int i = 0; i < 4; i++)
        if (memory[i] && !gpu_gaps_hold(device, used[i]))
            fail_msg("%s %s wrote between the rows of a view", c->stage->name, variant->name);
    for (int i = 0; i < 4; i++)
        if (memory[i])
            device->ops->free(device, memory[i]);
    if (io.table)
        device->ops->free(device, (void *)(uintptr_t)io.table);
    device->ops->free(device, io.clipped);
    picture_free(&window);
    picture_free(&second);
    picture_free(&scratch);
    return clipped;
}

/* Rows in memory: samples from an aligned address, and between rows (GPU_ALIGNED: see gpu_view()). */
typedef struct gpu_layout {
    int shift, padding;
} gpu_layout;

/* Stages with an output: variants in two windows of rows of `cut` and the others, in each layout; same samples and
 * count of clipped samples as the definition. fast: the last variant alone. */
CASE_FN void gpu_layouts_check(const kernel_case *c, const gpu_layout *layouts, int layout_count, int64_t cut,
                               bool fast)
{
    picture in = picture_make(&c->in, c->in_storage), by = case_by(c), want;
    picture_fill(&in, c->seed, c->values);
    smp_node_plan plan = case_plan(c);
    if (plan.access == SMP_ADJUST)
        case_adjust(c, &plan, &c->stage->reducers[0], &in);
    want = picture_make(&plan.out, c->out_storage);
    uint64_t clips = case_run(c, &plan, &c->stage->variants[0], SMP_ISA_BASE, &in, &by, &want, NULL, 0, 1);
    int64_t height = plan.out.height;
    for (const smp_variant *variant = c->stage->variants; variant->name; variant++)
        for (int i = 0; i < layout_count; i++) {
            if (case_left_out() || (fast && variant[1].name))
                continue;
            picture parts[2] = {picture_window(&plan.out, c->out_storage, 0, cut, 2),
                                picture_window(&plan.out, c->out_storage, cut, height - cut, 0)};
            uint64_t count = 0;
            bool same = true;
            for (int k = 0; k < 2; k++) {
                if (parts[k].view.rows)
                    count +=
                        gpu_views_run(c, &plan, variant, &in, &by, &parts[k], layouts[i].shift, layouts[i].padding);
                same = same && picture_equal(&parts[k], &want);
                picture_free(&parts[k]);
            }
            if (same && count == clips)
                continue;
            case_print(c, variant->name);
            print_error("start %d samples, stride padded by %d; %llu clipped, naive %llu\n", layouts[i].shift,
                        layouts[i].padding, (unsigned long long)count, (unsigned long long)clips);
            fail_msg("other %s than the definition", same ? "counts" : "samples");
        }
    gpu_simt_reset();
    case_plan_free(&plan);
    picture_free(&want);
    picture_free(&in);
    picture_free(&by);
}

/* Every variant on aligned rows, packed rows, rows of odd stride and start. What lies between rows, beyond the padding
 * that belongs to them, keeps its bytes, and what padding holds changes no sample and no count. */
CASE_FN void gpu_views_check(const kernel_case *c)
{
    static const gpu_layout layouts[] = {{0, GPU_ALIGNED}, {0, 0}, {0, 5}, {1, 0}, {3, 16}};
    smp_node_plan plan = case_plan(c);
    const int64_t height = plan.out.height;
    case_plan_free(&plan);
    gpu_layouts_check(c, layouts, 5, height > 9 ? 7 : height / 2, false);
}

#endif
