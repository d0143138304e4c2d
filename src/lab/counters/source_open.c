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

static void add(smp_shared_count *to, const smp_shared_count *count)
{
    to->instructions += count->instructions;
    to->wavefronts += count->wavefronts;
    to->ideal += count->ideal;
}

void smp_counts_add(smp_counts *counts, smp_shared_op op, const smp_shared_count *count)
{
    add(&counts->ops[op], count);
    add(&counts->total, count);
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
    for (size_t i = 0; i < trace.count; i++)
        for (int op = 0; op < SMP_SHARED_OPS; op++)
            smp_counts_add(counts, (smp_shared_op)op, &trace.launches[i].ops[op]);
    const smp_trace_faults faults = smp_trace_all_faults(&trace);
    counts->faults = smp_trace_fault_count(&faults);
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

smp_code smp_count_measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                           smp_error *err)
{
    *counts = (smp_counts){.kind = source->kind};
    const smp_code code = source->measure(source, work, context, counts, err);
    if (code)
        *counts = (smp_counts){.kind = source->kind};
    return code;
}

void smp_count_close(smp_count_source *source)
{
    if (source)
        source->close(source);
}
