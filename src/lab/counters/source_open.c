/* Chooses a source of counts, and holds what the sources share. Also the model source, which traces the work in the
 * emulator: by the kernels' SASS where the build has it (warp/own), else by kernels as the host's compiler made them.
 */
#include "lab/counters/source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/simt/simt.h"
#include "lab/counters/source_ops.h"

const char *smp_count_kind_name(smp_count_kind kind)
{
    static const char *const names[SMP_COUNT_KINDS] = {"model", "sass", "hw"};
    return names[kind];
}

void smp_counts_free(smp_counts *counts)
{
    smp_free(counts->sites);
    memset(counts, 0, sizeof *counts);
}

static void add(smp_shared_count *to, const smp_shared_count *count)
{
    to->instructions += count->instructions;
    to->wavefronts += count->wavefronts;
    to->ideal += count->ideal;
}

smp_code smp_counts_add(smp_counts *counts, const char *kernel, const char *where, smp_shared_op op,
                        const smp_shared_count *count, smp_error *err)
{
    add(&counts->ops[op], count);
    add(&counts->total, count);
    if (!where)
        return SMP_OK;
    for (size_t i = 0; i < counts->site_count; i++) {
        smp_count_site *site = &counts->sites[i];
        if (site->op == op && !strcmp(site->where, where) && !strcmp(site->kernel, kernel)) {
            add(&site->count, count);
            return SMP_OK;
        }
    }
    SMP_NEED(smp_grow(&counts->sites, &counts->site_capacity, counts->site_count + 1, sizeof *counts->sites),
             "access sites", sizeof *counts->sites, err);
    smp_count_site *site = &counts->sites[counts->site_count++];
    *site = (smp_count_site){.op = op, .count = *count};
    snprintf(site->kernel, sizeof site->kernel, "%s", kernel);
    snprintf(site->where, sizeof site->where, "%s", where);
    return SMP_OK;
}

bool smp_counts_agree(const smp_counts *a, const smp_counts *b, char *text, size_t size)
{
    if (text && size)
        text[0] = '\0';
    for (int op = 0; op < SMP_SHARED_OPS; op++) {
        const smp_shared_count *x = &a->ops[op], *y = &b->ops[op];
        if (x->wavefronts == y->wavefronts && x->ideal == y->ideal)
            continue;
        if (text)
            snprintf(text, size, "%s: %s has %llu wavefronts, %llu ideal; %s has %llu, %llu ideal",
                     smp_shared_op_name((smp_shared_op)op), smp_count_kind_name(a->kind),
                     (unsigned long long)x->wavefronts, (unsigned long long)x->ideal, smp_count_kind_name(b->kind),
                     (unsigned long long)y->wavefronts, (unsigned long long)y->ideal);
        return false;
    }
    return true;
}

static smp_code model_sites(const smp_trace *trace, smp_counts *counts, bool wanted, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < trace->count; i++) {
        const smp_trace_launch *launch = &trace->launches[i];
        for (int op = 0; !code && !wanted && op < SMP_SHARED_OPS; op++)
            code = smp_counts_add(counts, launch->kernel, NULL, (smp_shared_op)op, &launch->ops[op], err);
        for (size_t k = 0; !code && wanted && k < launch->site_count; k++) {
            const smp_trace_site *site = &launch->sites[k];
            char where[96];
            if (!site->count.instructions)
                continue;
            smp_trace_where(site, where, sizeof where);
            code = smp_counts_add(counts, launch->kernel, where, site->op, &site->count, err);
        }
    }
    smp_trace_faults faults = smp_trace_all_faults(trace);
    counts->faults = smp_trace_fault_count(&faults);
    return code;
}

static smp_code model_measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                              smp_error *err)
{
    smp_trace trace = {.sass = true};
    SMP_TRY(smp_simt_open_traced(err));
    smp_simt_set_trace(&trace);
    smp_code code = work(context, err);
    code = code ? code : source->device->ops->sync(source->device, err);
    smp_simt_set_trace(NULL);
    if (!code && trace.problem.code) {
        code = trace.problem.code;
        if (err)
            *err = trace.problem;
    }
    counts->architecture = smp_trace_architecture(&trace);
    memcpy(counts->notes, trace.notes, sizeof counts->notes);
    code = code ? code : model_sites(&trace, counts, source->want_sites, err);
    smp_trace_free(&trace);
    return code;
}

static void model_close(smp_count_source *source)
{
    smp_free(source);
}

static smp_code open_model(smp_device *device, smp_count_source **out, smp_error *err)
{
    if (strcmp(device->info.kind, "simt") != 0)
        return smp_fail(err, SMP_E_DEVICE, "counts are modelled on the emulator, not on %s", device->info.kind);
    *out = smp_alloc(sizeof **out);
    SMP_NEED(*out, "a source of counts", sizeof **out, err);
    **out = (smp_count_source){.device = device, .measure = model_measure, .close = model_close};
    return SMP_OK;
}

static smp_code open_measured(smp_count_kind kind, smp_device *device, smp_count_source **out, smp_error *err)
{
    if (strcmp(device->info.kind, "cuda") != 0)
        return smp_fail(err, SMP_E_DEVICE, "%s counts are measured on a GPU, not on %s", smp_count_kind_name(kind),
                        device->info.kind),
               smp_hint(err, "use --device cuda, or take the modelled counts");
#ifdef SMP_HAVE_CUPTI
    return kind == SMP_COUNT_SASS ? smp_count_open_sass(device, out, err) : smp_count_open_hw(device, out, err);
#else
    (void)out;
    smp_fail(err, SMP_E_DEVICE, "this build cannot measure %s counts: it was made without CUPTI's headers",
             smp_count_kind_name(kind));
    return smp_hint(err, "build where the CUDA toolkit is installed with CUPTI (12.6 or later)");
#endif
}

smp_code smp_count_open(smp_count_kind kind, smp_device *device, smp_count_source **out, smp_error *err)
{
    *out = NULL;
    SMP_TRY(kind == SMP_COUNT_MODEL ? open_model(device, out, err) : open_measured(kind, device, out, err));
    (*out)->kind = kind;
    return SMP_OK;
}

void smp_count_want_sites(smp_count_source *source, bool wanted)
{
    source->want_sites = wanted;
}

smp_code smp_count_measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                           smp_error *err)
{
    *counts = (smp_counts){.kind = source->kind};
    smp_code code = source->measure(source, work, context, counts, err);
    if (code)
        smp_counts_free(counts);
    counts->kind = source->kind;
    return code;
}

void smp_count_close(smp_count_source *source)
{
    if (source)
        source->close(source);
}
