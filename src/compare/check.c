/* Checks which variants are right. A picture must have the bytes of naive, or of the usual variant where naive was left
 * out: before each run its memory is filled with the complement of the expected bytes, so that a sample that no thread
 * writes cannot pass by chance. A reduction must give the same measurements, and the same table for the step that
 * applies it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "compare/internal.h"
#include "device/cpu.h"
#include "stages/launch.h"

/* ------------------------------------------------------------------------------------------------ pictures */

typedef struct pieces { /* some rows of the expected and of the computed picture, in host memory */
    unsigned char *want, *got;
    int64_t bytes, rows; /* of a row; of a piece */
} pieces;

static smp_code pieces_open(const smp_view *view, pieces *p, smp_error *err)
{
    enum { PIECE = 16 << 20 };
    p->bytes = view->width * view->channels * smp_sample_size(view->format);
    p->rows = smp_clamp_i64(PIECE / smp_max_i64(1, p->bytes), 1, smp_max_i64(1, view->rows));
    p->want = smp_alloc_raw((size_t)(p->rows * p->bytes));
    p->got = smp_alloc_raw((size_t)(p->rows * p->bytes));
    return p->want && p->got ? SMP_OK : smp_fail_memory(err, "rows", (uint64_t)(2 * p->rows * p->bytes));
}

static smp_code read_rows(smp_device *device, const smp_view *view, int64_t y, const pieces *p, void *to, int64_t rows,
                          smp_error *err)
{
    return device->ops->copy_out(device, to, p->bytes, (char *)view->data + y * view->stride, view->stride, p->bytes,
                                 rows, err);
}

static smp_code poison(smp_trial *trial, pieces *p, smp_error *err)
{
    smp_device *device = trial->c->device;
    smp_code code = SMP_OK;
    for (int64_t y = 0; !code && y < trial->out.rows; y += p->rows) {
        int64_t rows = smp_min_i64(p->rows, trial->out.rows - y);
        code = read_rows(device, &trial->out, y, p, p->want, rows, err);
        for (int64_t i = 0; i < rows * p->bytes; i++)
            p->want[i] = (unsigned char)~p->want[i];
        if (!code)
            code = device->ops->copy_in(device, (char *)trial->result.data + y * trial->result.stride,
                                        trial->result.stride, p->want, p->bytes, p->bytes, rows, err);
    }
    return code;
}

/* Writes to `text` where the result first differs from the expected picture; "" when it does not. */
static smp_code find_difference(smp_trial *trial, pieces *p, char *text, size_t size, smp_error *err)
{
    smp_device *device = trial->c->device;
    const smp_view *out = &trial->out;
    int64_t sample = smp_sample_size(out->format);
    text[0] = '\0';
    for (int64_t y = 0; y < out->rows; y += p->rows) {
        int64_t rows = smp_min_i64(p->rows, out->rows - y);
        SMP_TRY(read_rows(device, out, y, p, p->want, rows, err));
        SMP_TRY(read_rows(device, &trial->result, y, p, p->got, rows, err));
        if (!memcmp(p->want, p->got, (size_t)(rows * p->bytes)))
            continue;
        int64_t at = 0;
        while (p->want[at] == p->got[at])
            at++;
        int64_t row = at / p->bytes, i = at % p->bytes / sample;
        double want = (double)smp_load(p->want + row * p->bytes, i, out->format);
        double got = (double)smp_load(p->got + row * p->bytes, i, out->format);
        snprintf(text, size, "at x %lld, y %lld, channel %lld: %.9g, not %.9g", (long long)(i / out->channels),
                 (long long)(y + row), (long long)(i % out->channels), got, want);
        return SMP_OK;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reductions */

typedef struct digest { /* what a reduction gives */
    smp_measurements measurements;
    smp_node_plan work; /* of the step that applies it; owns its table */
} digest;

static void digest_free(digest *d)
{
    smp_measurements_free(&d->measurements);
    smp_free(d->work.table.data);
}

/* run: the trial's, or a run of the same step on another device. */
static smp_code make_digest(smp_trial *trial, const smp_step_run *run, digest *d, smp_error *err)
{
    const smp_step *step = trial->step;
    void *result = NULL;
    const void *table = NULL;
    const int64_t size = (int64_t)trial->target->step->work.table.size;
    d->work = trial->target->step->work;
    d->work.table.data = smp_alloc(d->work.table.size ? d->work.table.size : 1);
    smp_code code = d->work.table.data ? SMP_OK : smp_fail_memory(err, "results", d->work.table.size);
    if (!code && trial->target->step->work.table.data) /* else finish() fills it in */
        memcpy(d->work.table.data, trial->target->step->work.table.data, d->work.table.size);
    code = code ? code : smp_step_result(run, &result, &table, err);
    if (!code && step->stage->reduction)
        code = step->stage->reduction->finish(step->params, &step->in, result, &d->work, &d->measurements, err);
    if (!code && table)
        code = run->device->ops->copy_out(run->device, d->work.table.data, size, table, size, size, 1, err);
    smp_free(result);
    return code;
}

static void compare_digests(const digest *a, const digest *b, char *text, size_t size)
{
    const smp_measurements *x = &a->measurements, *y = &b->measurements;
    text[0] = '\0';
    if (x->count != y->count) {
        snprintf(text, size, "%zu findings, not %zu", y->count, x->count);
        return;
    }
    for (size_t i = 0; i < x->count; i++) {
        const smp_measurement *want = &x->items[i], *got = &y->items[i];
        bool same = !strcmp(want->name, got->name) && want->channel == got->channel && want->list_len == got->list_len;
        if (same && want->list)
            same = !memcmp(want->list, got->list, want->list_len * sizeof *want->list);
        else if (same)
            same = !memcmp(&want->value, &got->value, sizeof want->value) && !strcmp(want->text, got->text);
        if (same)
            continue;
        if (want->list)
            snprintf(text, size, "%s of channel %d is another list", want->name, want->channel);
        else
            snprintf(text, size, "%s of channel %d: %.9g, not %.9g", want->name, want->channel, got->value,
                     want->value);
        return;
    }
    if (x->found_size != y->found_size || (x->found && memcmp(x->found, y->found, x->found_size) != 0) ||
        memcmp(a->work.kernel.bytes, b->work.kernel.bytes, sizeof a->work.kernel.bytes) != 0 ||
        memcmp(a->work.table.data, b->work.table.data, a->work.table.size) != 0)
        snprintf(text, size, "leads to another table");
}

/* Zeroes the part of a result that launches add to, and fills the part that they overwrite with other bytes. */
static smp_code poison_result(smp_trial *trial, smp_error *err)
{
    smp_step_run *run = trial->run;
    const smp_node_plan *work = &run->work;
    size_t size = work->reduction.kind == SMP_RESULT_CHUNKS          ? work->reduction.size
                  : work->reduction.kind == SMP_RESULT_CHUNKS_COUNTS ? work->reduction.counts_at
                                                                     : 0;
    smp_code code = smp_step_reset(run, err);
    if (code || !size)
        return code;
    void *other = smp_alloc_raw(size);
    SMP_NEED(other, "results", size, err);
    memset(other, 0xa5, size);
    code =
        run->device->ops->copy_in(run->device, run->result, (int64_t)size, other, (int64_t)size, (int64_t)size, 1, err);
    smp_free(other);
    return code;
}

/* ------------------------------------------------------------------------------------------------ variants */

static bool same_kernel(const smp_trial *trial, const smp_launch *a, const smp_launch *b)
{
    const smp_io io = {.in = trial->in, .second = trial->second, .out = trial->out};
    const void *params = trial->run->work.kernel.bytes;
    smp_grid x = {.units = (unsigned)trial->c->device->info.units}, y = x;
    const char *first = smp_launch_decide(a, &io, params, &x), *second = smp_launch_decide(b, &io, params, &y);
    return first && second && !strcmp(first, second) && !memcmp(x.grid, y.grid, sizeof x.grid) &&
           !memcmp(x.block, y.block, sizeof x.block) && x.shared_bytes == y.shared_bytes;
}

/* Whether two variants make the same launches on the device: on a CPU that lacks what tells them apart, or on a GPU
 * where the work leaves one to a rung below. */
bool smp_trial_same(const smp_trial *trial, const smp_variant *a, const smp_variant *b)
{
    const smp_device *device = trial->c->device;
    bool gpu = !device->host_memory, some = false;
    const void *params = trial->run->work.kernel.bytes;
    int i = 0, k = 0;
    a = smp_step_serving(trial->step, a, device, &trial->in, &trial->out, &trial->second, params);
    b = smp_step_serving(trial->step, b, device, &trial->in, &trial->out, &trial->second, params);
    for (;; i++, k++) {
        const smp_launch *x = NULL, *y = NULL;
        for (int which = 0; which < 2; which++) {
            const smp_variant *variant = which ? b : a;
            int *at = which ? &k : &i;
            for (; *at < SMP_MAX_LAUNCHES; ++*at) {
                size_t from, size;
                bool counts;
                if (!smp_launch_runs(&variant->launches[*at], gpu) ||
                    (trial->step->job == SMP_JOB_REDUCE &&
                     !smp_result_part(&trial->run->work.reduction, &variant->launches[*at], &from, &size, &counts)))
                    continue;
                *(which ? &y : &x) = &variant->launches[*at];
                break;
            }
        }
        if (!x || !y)
            return some && !x && !y;
        some = true;
        if (x->from != y->from || x->to != y->to || x->counts != y->counts)
            return false;
        if (x->foreign != y->foreign)
            return false;
        if (gpu ? !same_kernel(trial, x, y) : memcmp(&x->cpu, &y->cpu, sizeof x->cpu) != 0 || a->band != b->band)
            return false;
    }
}

void smp_trial_find_same(smp_trial *trial)
{
    smp_compare_step *report = trial->report;
    for (size_t index = 1; index < report->variant_count; index++) {
        smp_compare_variant *to = &report->variants[index];
        for (size_t i = 0; i < index && !to->same_as; i++) {
            const smp_compare_variant *earlier = &report->variants[i];
            if (!earlier->same_as &&
                smp_trial_same(trial, smp_trial_variant(trial, earlier), smp_trial_variant(trial, to)))
                to->same_as = earlier->name;
        }
    }
}

static smp_code check_picture(smp_trial *trial, const smp_variant *variant, pieces *p, uint64_t clipped,
                              smp_compare_variant *to, smp_error *err)
{
    uint64_t found = 0;
    SMP_TRY(poison(trial, p, err));
    SMP_TRY(smp_step_reset(trial->run, err));
    SMP_TRY(smp_trial_run(trial, variant, &trial->result, err));
    SMP_TRY(find_difference(trial, p, to->wrong, sizeof to->wrong, err));
    SMP_TRY(smp_step_clipped(trial->run, &found, err));
    if (!to->wrong[0] && found != clipped)
        snprintf(to->wrong, sizeof to->wrong, "%llu samples clipped, not %llu", (unsigned long long)found,
                 (unsigned long long)clipped);
    return SMP_OK;
}

static smp_code check_reduction(smp_trial *trial, const smp_variant *variant, const digest *want,
                                smp_compare_variant *to, smp_error *err)
{
    digest got = {{0}};
    smp_code code = poison_result(trial, err);
    code = code ? code : smp_trial_run(trial, variant, &trial->out, err);
    code = code ? code : make_digest(trial, trial->run, &got, err);
    if (!code)
        compare_digests(want, &got, to->wrong, sizeof to->wrong);
    digest_free(&got);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the definition */

/* Copies a whole picture of the device to host memory. to->data is null when there is no picture. */
static smp_code bring_home(smp_device *device, const smp_view *from, smp_view *to, smp_error *err)
{
    *to = *from;
    if (!from->data)
        return SMP_OK;
    int64_t bytes = from->width * from->channels * smp_sample_size(from->format);
    to->data = smp_alloc_raw((size_t)(from->rows * from->stride));
    SMP_NEED(to->data, "a picture", (uint64_t)(from->rows * from->stride), err);
    return device->ops->copy_out(device, to->data, to->stride, from->data, from->stride, bytes, from->rows, err);
}

static void compare_home(const smp_view *want, const smp_view *got, char *text, size_t size)
{
    size_t bytes = (size_t)(want->width * want->channels * smp_sample_size(want->format));
    for (int64_t y = 0; y < want->rows; y++)
        if (memcmp((const char *)want->data + y * want->stride, (const char *)got->data + y * got->stride, bytes) !=
            0) {
            snprintf(text, size, "row %lld is not what the CPU makes of it", (long long)y);
            return;
        }
}

/* On a device with memory of its own the maker must have the bytes that the CPU makes. Pictures that would take the CPU
 * long are not checked. */
static smp_code check_definition(smp_trial *trial, const digest *want, smp_compare_variant *to, smp_error *err)
{
    enum { MOST_BYTES = 256 << 20 };
    const double most_seconds = smp_trial_granted(trial->c);
    const smp_step *step = trial->step;
    smp_comparison *c = trial->c;
    bool reduces = step->job == SMP_JOB_REDUCE;
    if (c->device->host_memory || trial->report->bytes > MOST_BYTES)
        return SMP_OK;
    smp_view in = {0}, second = {0}, out = {0}, got = {0};
    smp_step_run run = {0};
    digest found = {{0}};
    smp_code code = c->cpu ? SMP_OK : smp_cpu_open(c->request->threads, NULL, &c->cpu, err);
    code = code ? code : bring_home(c->device, &trial->in, &in, err);
    code = code ? code : bring_home(c->device, &trial->second, &second, err);
    if (!code && !reduces)
        code = bring_home(c->device, &trial->out, &got, err);
    if (!code && !reduces) {
        out = got;
        out.data = smp_alloc_raw((size_t)(got.rows * got.stride));
        code = out.data ? SMP_OK : smp_fail_memory(err, "a picture", (uint64_t)(got.rows * got.stride));
    }
    code = code ? code : smp_step_open(&run, c->cpu, step, &trial->run->work, smp_step_default(step), err);
    const smp_views whole = {in, second, reduces ? in : out};
    double seconds = 0;
    if (!code && !smp_work_is_small(step, &trial->run->work))
        code = smp_estimate_run(&run, run.variant, &whole, smp_max_i64(1, c->plan->row_multiple), most_seconds,
                                &seconds, err);
    const bool fits = seconds <= most_seconds;
    if (!code && fits)
        code = smp_step_reset(&run, err);
    if (!code && fits)
        code = smp_step_scratch(&run, (smp_format)in.format, in.rows, err);
    if (!code && fits)
        code = smp_step_launch(&run, &in, &whole.out, &second, err);
    if (!code && fits && reduces) {
        code = make_digest(trial, &run, &found, err);
        if (!code)
            compare_digests(&found, want, to->wrong, sizeof to->wrong);
    } else if (!code && fits) {
        compare_home(&out, &got, to->wrong, sizeof to->wrong);
    }
    digest_free(&found);
    smp_step_close(&run);
    smp_free_all(in.data, second.data, out.data, got.data);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the checker */

typedef struct checker { /* knows the right results */
    pieces pieces;       /* of pictures */
    digest want;         /* of a reduction */
    uint64_t clipped;    /* samples that the maker clipped */
} checker;

/* The maker has been run into trial->out, and nothing since. Close it also when opening failed. */
static smp_code checker_open(smp_trial *trial, checker *r, smp_error *err)
{
    SMP_TRY(smp_step_clipped(trial->run, &r->clipped, err));
    if (trial->step->job == SMP_JOB_REDUCE)
        return make_digest(trial, trial->run, &r->want, err);
    return pieces_open(&trial->out, &r->pieces, err);
}

static void checker_close(checker *r)
{
    digest_free(&r->want);
    smp_free_all(r->pieces.want, r->pieces.got);
}

/* Runs the variant once and fills in check and wrong, or why it cannot run here. */
static smp_code check_variant(checker *r, smp_trial *trial, smp_compare_variant *to, smp_error *err)
{
    const smp_variant *variant = smp_trial_variant(trial, to);
    bool gpu = !trial->c->device->host_memory, naive = variant == smp_step_variants(trial->step);
    if (!smp_variant_runs(variant, gpu)) {
        snprintf(to->why, sizeof to->why, "%s", gpu ? "it has no GPU kernel" : "GPU only");
        return SMP_OK;
    }
    smp_code code = trial->step->job == SMP_JOB_REDUCE ? check_reduction(trial, variant, &r->want, to, err)
                                                       : check_picture(trial, variant, &r->pieces, r->clipped, to, err);
    if (code == SMP_E_DEVICE && !naive) { /* no kernel for these formats, or too little shared memory: not fatal */
        snprintf(to->why, sizeof to->why, "%.150s", err ? err->message : "cannot be launched");
        return SMP_OK;
    }
    to->check = to->wrong[0] ? SMP_CHECK_WRONG : SMP_CHECK_RIGHT;
    return code;
}

smp_code smp_trial_check(smp_trial *trial, smp_error *err)
{
    smp_compare_step *report = trial->report;
    checker r = {.clipped = 0};
    smp_code code = checker_open(trial, &r, err);
    for (size_t i = 0; !code && i < report->variant_count; i++) {
        smp_compare_variant *to = &report->variants[i];
        if (to->same_as || to->left_out)
            continue;
        code = check_variant(&r, trial, to, err);
        if (!code && smp_trial_variant(trial, to) == trial->maker && to->check == SMP_CHECK_RIGHT) {
            code = check_definition(trial, &r.want, to, err);
            to->check = to->wrong[0] ? SMP_CHECK_WRONG : SMP_CHECK_RIGHT;
        }
    }
    checker_close(&r);
    return code;
}
