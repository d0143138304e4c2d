/* Counts the shared-memory accesses of the variants: always by the model, and by the GPU's own counters where they are
 * available. All sources count the same rows. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "compare/internal.h"
#include "device/simt/simt.h"
#include "lab/program_kernels/own.h"
#include "lab/stage/provider.h"

enum { MOST_VARIANTS = 16 };

/* ------------------------------------------------------------------------------------------------ the model */

static bool same_site(const smp_compare_site *site, const smp_trace_launch *launch, const smp_trace_site *from,
                      const char *where)
{
    return site->op == from->op && site->width == from->width && !strcmp(site->where, where) &&
           !strcmp(site->kernel, launch->kernel);
}

/* Accesses with the same source line, operation and width are one site. */
static smp_code add_site(smp_compare_variant *to, const smp_trace_launch *launch, const smp_trace_site *from,
                         smp_error *err)
{
    char where[96];
    size_t i = 0;
    if (!from->count.instructions)
        return SMP_OK;
    smp_trace_where(from, where, sizeof where);
    while (i < to->site_count && !same_site(&to->sites[i], launch, from, where))
        i++;
    if (i == to->site_count) {
        SMP_NEED(smp_grow(&to->sites, &to->site_capacity, i + 1, sizeof *to->sites), "sites",
                 (i + 1) * sizeof *to->sites, err);
        smp_compare_site *site = &to->sites[to->site_count++];
        *site = (smp_compare_site){.op = from->op, .width = from->width, .example = from->example};
        snprintf(site->kernel, sizeof site->kernel, "%s", launch->kernel);
        snprintf(site->where, sizeof site->where, "%s", where);
    }
    smp_shared_count *count = &to->sites[i].count;
    bool worse = (from->count.wavefronts - from->count.ideal) > (count->wavefronts - count->ideal);
    if (worse && from->example.active)
        to->sites[i].example = from->example;
    count->instructions += from->count.instructions;
    count->wavefronts += from->count.wavefronts;
    count->ideal += from->count.ideal;
    return SMP_OK;
}

static smp_code add_launch(smp_compare_variant *to, const smp_trace_launch *launch, smp_error *err)
{
    SMP_NEED(smp_grow(&to->launches, &to->launch_capacity, to->launch_count + 1, sizeof *to->launches), "launches",
             sizeof *to->launches, err);
    smp_compare_launch *made = &to->launches[to->launch_count++];
    *made = (smp_compare_launch){.shared_bytes = launch->static_shared + launch->dynamic_shared};
    snprintf(made->kernel, sizeof made->kernel, "%s", launch->kernel);
    memcpy(made->grid, launch->grid, sizeof made->grid);
    memcpy(made->block, launch->block, sizeof made->block);
    for (size_t i = 0; i < launch->site_count; i++)
        SMP_TRY(add_site(to, launch, &launch->sites[i], err));
    return SMP_OK;
}

static smp_code take_trace(smp_compare_variant *to, const smp_trace *trace, smp_error *err)
{
    smp_compare_count *count = &to->counts[SMP_COUNT_MODEL];
    smp_trace_faults faults = smp_trace_all_faults(trace);
    count->known = true;
    count->total = smp_trace_total(trace);
    count->faults = smp_trace_fault_count(&faults);
    for (size_t i = 0; i < trace->count; i++) {
        for (int op = 0; op < SMP_SHARED_OPS; op++) {
            count->ops[op].instructions += trace->launches[i].ops[op].instructions;
            count->ops[op].wavefronts += trace->launches[i].ops[op].wavefronts;
            count->ops[op].ideal += trace->launches[i].ops[op].ideal;
        }
        to->architecture = trace->launches[i].architecture;
        SMP_TRY(add_launch(to, &trace->launches[i], err));
    }
    return SMP_OK;
}

/* Counts of the warp machine for a kernel that is not this program's. */
typedef struct lab_counts {
    smp_trace *trace;
    bool failed; /* no memory */
} lab_counts;

/* Lines of notes, each once and with the kernel's name. */
static void take_lab_notes(smp_trace *trace, const smp_warp_result *result)
{
    for (const char *line = result->notes; *line;) {
        char one[256];
        const size_t size = strcspn(line, "\n"), used = strlen(trace->notes);
        snprintf(one, sizeof one, "%.60s: %.*s\n", result->kernel, (int)(size < 180 ? size : 180), line);
        if (!strstr(trace->notes, one) && used + strlen(one) < sizeof trace->notes)
            memcpy(trace->notes + used, one, strlen(one) + 1);
        line += size + (line[size] == '\n');
    }
}

/* The sum over a variant's launches, where it is known of all. */
static void take_predictions(smp_compare_variant *to, const smp_trace *trace)
{
    smp_compare_predicted sum = {.us = 0};
    double longest = 0;
    for (size_t i = 0; i < trace->count && !sum.why[0]; i++) {
        const smp_trace_time *time = &trace->launches[i].time;
        sum.us += time->us;
        sum.low_us += time->low_us;
        sum.high_us += time->high_us;
        if (time->us > longest)
            memcpy(sum.bound, time->bound, sizeof sum.bound);
        longest = time->us > longest ? time->us : longest;
        if (!(time->us > 0)) /* of kernels of files nothing is told */
            snprintf(sum.why, sizeof sum.why, "%s", time->why[0] ? time->why : "it is not a kernel of smempipe");
    }
    to->predicted = sum;
    if (sum.why[0])
        to->predicted.us = 0;
}

static void take_lab(void *context, const smp_warp_result *result)
{
    lab_counts *lab = context;
    smp_trace *trace = lab->trace;
    if (!smp_grow(&trace->launches, &trace->capacity, trace->count + 1, sizeof *trace->launches)) {
        lab->failed = true;
        return;
    }
    smp_trace_launch *launch = &trace->launches[trace->count++];
    *launch = (smp_trace_launch){.static_shared = result->shared,
                                 .dynamic_shared = result->dynamic_shared,
                                 .architecture = result->fit.arch ? result->fit.arch : -1};
    snprintf(launch->kernel, sizeof launch->kernel, "%.90s", result->kernel);
    memcpy(launch->grid, result->grid, sizeof launch->grid);
    memcpy(launch->block, result->block, sizeof launch->block);
    lab->failed = !smp_own_take_result(launch, result) || lab->failed;
    take_lab_notes(trace, result);
}

/* Says once why there are no counts of a kind. */
static void note_missing(smp_trial *trial, smp_count_kind kind, const smp_error *why)
{
    char *note = trial->c->out->source_note[kind];
    snprintf(note, sizeof trial->c->out->source_note[kind], "%.200s%s%.200s", why->message, why->hint[0] ? "; " : "",
             why->hint);
}

/* Takes over what was counted, and lines of notes that are not told yet. */
static void take_code(smp_compare *to, const smp_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        const int architecture = trace->launches[i].architecture;
        to->architecture = architecture > 0 ? architecture : to->architecture;
        to->as_compiled = to->as_compiled || !architecture;
    }
    for (const char *line = trace->notes; *line;) {
        const size_t size = strcspn(line, "\n") + 1, used = strlen(to->model_notes);
        char one[sizeof trace->notes];
        snprintf(one, sizeof one, "%.*s", (int)size, line);
        if (!strstr(to->model_notes, one) && used + size < sizeof to->model_notes)
            memcpy(to->model_notes + used, one, size + 1);
        line += size;
    }
}

static smp_code count_model(smp_trial *trial, const smp_variant *variant, smp_compare_variant *to, smp_error *err)
{
    smp_compare_step *report = trial->report;
    const smp_compare *out = trial->c->out;
    char crop[120];
    const bool timed = out->predicted_gpu[0] && !smp_compare_crop(report, crop, sizeof crop)[0];
    smp_trace trace = {.counts_only = true, .sass = true, .time = timed ? out->predicted_gpu : NULL};
    smp_error why = {.code = SMP_OK};
    if (smp_simt_open_traced(&why)) {
        note_missing(trial, SMP_COUNT_MODEL, &why);
        return SMP_OK;
    }
    lab_counts lab = {.trace = &trace};
    smp_warp_observe_stage(take_lab, &lab);
    smp_code code = smp_model_count(trial->c->model, variant, report->count_from, report->count_rows, &trace, &why);
    smp_warp_observe_stage(NULL, NULL);
    if (!code && lab.failed)
        code = smp_fail_memory(&why, "sites", sizeof *to->sites);
    code = code ? code : take_trace(to, &trace, &why);
    if (!code && timed)
        take_predictions(to, &trace);
    else if (!timed && out->predicted_gpu[0])
        snprintf(to->predicted.why, sizeof to->predicted.why, "counts are of a crop, and times of whole pictures");
    take_code(trial->c->out, &trace);
    smp_trace_free(&trace);
    if (code == SMP_E_DEVICE) {
        snprintf(to->counts[SMP_COUNT_MODEL].why, sizeof to->counts[SMP_COUNT_MODEL].why, "%.180s", why.message);
        return SMP_OK;
    }
    if (code && err)
        *err = why;
    return code;
}

/* ------------------------------------------------------------------------------------------------ the GPU's own */

typedef struct counted_work { /* the work that a source runs, perhaps several times */
    smp_step_run run;
    smp_view in, second, out;
} counted_work;

static smp_code launch_counted(void *context, smp_error *err)
{
    counted_work *work = context;
    return smp_step_launch(&work->run, &work->in, &work->out, &work->second, err);
}

static smp_code measure(smp_device *device, const smp_counted *counted, smp_count_source *source,
                        const smp_variant *variant, smp_compare_count *to, smp_error *err)
{
    const smp_step *step = &counted->step;
    int64_t from = counted->from, rows = counted->rows, first, count;
    counted_work work = {.out = smp_view_rows(step->job == SMP_JOB_STAGE ? &counted->out : &counted->in, from, rows)};
    smp_counts counts = {.kind = SMP_COUNT_MODEL};
    smp_step_reads(step, counted->in.height, from, from + rows, &first, &count);
    work.in = smp_view_rows(&counted->in, first, count);
    if (counted->second.data) {
        smp_step_reads_second(step, counted->second.height, from, from + rows, &first, &count);
        work.second = smp_view_rows(&counted->second, first, count);
    }
    smp_code code = smp_step_open(&work.run, device, step, counted->work, variant, err);
    code = code ? code : smp_step_scratch(&work.run, (smp_format)work.in.format, work.in.rows, err);
    if (!code)
        code = launch_counted(&work, err); /* loads the modules, so that the profiler does not see it */
    code = code ? code : device->ops->sync(device, err);
    code = code ? code : smp_count_measure(source, launch_counted, &work, &counts, err);
    if (!code) {
        to->known = true;
        to->total = counts.total;
        memcpy(to->ops, counts.ops, sizeof to->ops);
    }
    smp_step_close(&work.run);
    return code;
}

/* Whether the model's counts are of this GPU: for kernels of files it counts the SASS of one architecture, or PTX. */
static bool is_of_this_gpu(const smp_trial *trial, const smp_variant *variant, const smp_compare_variant *counted)
{
    const smp_device_info *gpu = &trial->c->device->info;
    return !variant->launches[0].foreign || counted->architecture == gpu->compute_major * 10 + gpu->compute_minor;
}

/* The model must equal sass exactly, for each operation. */
static void compare_with_model(smp_compare_variant *variant)
{
    const smp_compare_count *model = &variant->counts[SMP_COUNT_MODEL];
    smp_compare_count *sass = &variant->counts[SMP_COUNT_SASS];
    smp_counts a = {.kind = SMP_COUNT_MODEL}, b = {.kind = SMP_COUNT_SASS};
    if (!model->known || !sass->known)
        return;
    memcpy(a.ops, model->ops, sizeof a.ops);
    memcpy(b.ops, sass->ops, sizeof b.ops);
    a.total = model->total;
    b.total = sass->total;
    smp_counts_agree(&a, &b, sass->why, sizeof sass->why);
}

static smp_code count_measured(smp_trial *trial, const smp_counted *counted, smp_count_kind kind, smp_error *err)
{
    smp_compare_step *report = trial->report;
    const smp_variant *list = smp_step_variants(trial->step);
    const bool kept = trial->c->request->default_only && kind == SMP_COUNT_SASS;
    smp_count_source *source = kept ? trial->c->sass : NULL;
    smp_error why = {.code = SMP_OK};
    if (!source && smp_count_open(kind, trial->c->device, &source, &why)) { /* without this source the model remains */
        note_missing(trial, kind, &why);
        return SMP_OK;
    }
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < report->variant_count; i++) {
        const smp_variant *variant = smp_variant_find(list, report->variants[i].name);
        smp_compare_count *to = &report->variants[i].counts[kind];
        if (!smp_variant_runs(variant, true))
            continue;
        code = measure(trial->c->device, counted, source, variant, to, err);
        if (code == SMP_E_DEVICE && !to->known) {
            snprintf(to->why, sizeof to->why, "%.190s", err ? err->message : "cannot be counted");
            code = SMP_OK;
        }
        if (!code && kind == SMP_COUNT_SASS && is_of_this_gpu(trial, variant, &report->variants[i]))
            compare_with_model(&report->variants[i]);
    }
    if (kept)
        trial->c->sass = source;
    else
        smp_count_close(source);
    return code;
}

/* Whether the GPU's exact counts are there. A run shows one source, and profilers that take turns are slow: each counts
 * what is known first, after the other had the counters. */
static bool has_exact_counts(const smp_compare_step *report)
{
    bool exact = true;
    for (size_t i = 0; i < report->variant_count; i++)
        exact = exact && report->variants[i].counts[SMP_COUNT_SASS].known;
    return exact;
}

smp_code smp_trial_count(smp_trial *trial, smp_error *err)
{
    smp_comparison *c = trial->c;
    smp_compare_step *report = trial->report;
    const smp_variant *list = smp_step_variants(trial->step), *gpu[MOST_VARIANTS];
    size_t count = 0;
    for (size_t i = 0; i < report->variant_count && count < MOST_VARIANTS; i++) {
        const smp_variant *variant = smp_variant_find(list, report->variants[i].name);
        if (smp_variant_runs(variant, true))
            gpu[count++] = variant;
    }
    smp_counted counted;
    smp_code code = smp_counted_open(trial, gpu, count, c->count_seconds, &counted, err);
    for (size_t i = 0; !code && i < report->variant_count; i++) {
        smp_compare_variant *to = &report->variants[i];
        const smp_variant *variant = smp_variant_find(list, to->name);
        if (smp_variant_runs(variant, true))
            code = count_model(trial, variant, to, err);
        else
            snprintf(to->counts[SMP_COUNT_MODEL].why, sizeof to->counts[SMP_COUNT_MODEL].why, "it has no GPU kernel");
    }
    bool measured = !strcmp(c->device->info.kind, "cuda") && c->request->measured;
    if (!code && measured)
        code = count_measured(trial, &counted, SMP_COUNT_SASS, err);
    if (!code && measured && !(c->request->default_only && has_exact_counts(report))) {
        smp_count_close(c->sass);
        trial->c->sass = NULL;
        code = count_measured(trial, &counted, SMP_COUNT_HW, err);
    }
    smp_counted_close(&counted);
    return code;
}
