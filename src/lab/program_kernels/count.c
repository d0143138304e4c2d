/* Counts a launch of the emulator's driver by the kernel's SASS. The SASS runs first; memory is then put back as it
 * was, the host-compiled kernel runs, and both must have left the same bytes: each checks the other. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "device/kernel_table.h"
#include "device/simt/simt.h"
#include "lab/program_kernels/own.h"
#include "lab/time/time.h"

static bool count_all;
static smp_warp_copy *after; /* what the SASS left, until the host's kernel has run; null: it did not run */
static bool clocked;         /* that is also of clocks, which the host's kernel does not read */

static void adopt(void *context, void *data, size_t size)
{
    bool *fits = context;
    *fits = *fits && smp_warp_memory_adopt(smp_own_memory(), data, size, NULL);
}

/* Lines of a trace's notes, each once. */
static void note(smp_trace *trace, const char *kernel, const smp_error *why)
{
    char line[256];
    const size_t used = strlen(trace->notes);
    snprintf(line, sizeof line, "%s: %.180s\n", kernel, why->message);
    if (!strstr(trace->notes, line) && used + strlen(line) < sizeof trace->notes)
        memcpy(trace->notes + used, line, strlen(line) + 1);
}

static smp_shared_op op_of(const smp_warp_row *row)
{
    switch (row->op) {
    case SMP_WARP_LOAD:
        return SMP_SHARED_LOAD;
    case SMP_WARP_STORE:
        return SMP_SHARED_STORE;
    case SMP_WARP_ATOMIC:
        return SMP_SHARED_ATOMIC;
    default:
        return SMP_SHARED_ASYNC;
    }
}

/* Instructions of which no lane takes part are left out, as SASS metrics leave them out. */
static bool add_site(smp_trace_launch *to, const smp_warp_result *result, const smp_warp_row *row)
{
    if (!smp_grow(&to->sites, &to->site_capacity, to->site_count + 1, sizeof *to->sites))
        return false;
    smp_trace_site *site = &to->sites[to->site_count++];
    *site = (smp_trace_site){.op = op_of(row), .width = (int)row->width, .conflicts = row->conflicts};
    site->count = (smp_shared_count){row->instructions, row->wavefronts, row->packed};
    if (row->line && row->file < result->file_count)
        snprintf(site->place, sizeof site->place, "%.60s:%u", smp_base_name(result->files[row->file]), row->line);
    else
        snprintf(site->place, sizeof site->place, "unknown line");
    site->example = (smp_bank_access){.op = row->worst_op, .width = (int)row->width, .active = row->worst_active};
    memcpy(site->example.offset, row->worst_offset, sizeof site->example.offset);
    site->example_conflicts = (int)(row->worst_wavefronts - row->worst_ideal);
    smp_shared_count *sum = &to->ops[site->op];
    sum->instructions += site->count.instructions;
    sum->wavefronts += site->count.wavefronts;
    sum->ideal += site->count.ideal;
    return true;
}

bool smp_own_take_result(smp_trace_launch *to, const smp_warp_result *result)
{
    bool taken = true;
    for (size_t i = 0; i < result->row_count && taken; i++)
        if (result->rows[i].space == SMP_WARP_SHARED)
            taken = add_site(to, result, &result->rows[i]);
    return taken;
}

/* A mistake that the SASS makes in memory: it reads or writes where it must not. */
static bool is_sound(const smp_warp_result *result, smp_error *err)
{
    if (!result->finding_count)
        return true;
    const smp_warp_finding *f = &result->findings[0];
    smp_fail(err, SMP_E_DIFFERENT, "its SASS %s", f->text);
    if (f->here.file < result->file_count)
        smp_at(err, "%s:%u", smp_base_name(result->files[f->here.file]), f->here.line);
    return false;
}

/* Tells whether times are wanted that the SASS can tell: of a GPU of its architecture. */
static bool is_timed(const smp_trace *trace, smp_trace_time *time)
{
    smp_time_gpu gpu;
    if (!trace->time || !smp_time_gpu_find(trace->time, &gpu))
        return false;
    if (gpu.arch != smp_own_architecture())
        snprintf(time->why, sizeof time->why, "its SASS is of sm_%d, and an %s runs that of sm_%d",
                 smp_own_architecture(), gpu.title, gpu.arch);
    return gpu.arch == smp_own_architecture();
}

static void take_time(smp_trace_time *to, const smp_warp_result *result)
{
    const smp_predicted *p = result->predictions ? result->predictions->items : NULL;
    if (!p)
        return;
    *to = (smp_trace_time){.us = p->us, .low_us = p->low_us, .high_us = p->high_us};
    snprintf(to->bound, sizeof to->bound, "%s", p->bound);
    snprintf(to->why, sizeof to->why, "%s", p->refusal);
}

/* time: the GPU; null: none. */
static smp_code execute(const smp_warp_kernel *kernel, const smp_simt_seen *seen, const char *time,
                        smp_warp_result *result, smp_error *err)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params);
    const uint32_t bytes = smp_warp_kernel_param_bytes(kernel);
    unsigned char *values = smp_alloc((size_t)bytes + 1);
    SMP_NEED(values, "parameters", bytes, err);
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)params[i].offset + params[i].size <= bytes)
            memcpy(values + params[i].offset, seen->args[i], params[i].size);
    smp_warp_launch launch = {.kernel = kernel,
                              .dynamic_shared = (uint32_t)seen->dynamic_shared,
                              .registers = smp_own_registers(seen->kernel),
                              .params = values,
                              .memory = smp_own_memory(),
                              .threads = seen->threads};
    memcpy(launch.grid, seen->grid, sizeof launch.grid);
    memcpy(launch.block, seen->block, sizeof launch.block);
    const smp_code code = smp_time_run(time, 0, &launch, kernel, result, err);
    smp_free(values);
    return code;
}

/* The SASS's counts go to `to`; memory is as before. */
static smp_code count(const smp_warp_kernel *kernel, const smp_simt_seen *seen, const char *time, smp_trace_launch *to,
                      smp_error *err)
{
    smp_warp_memory *memory = smp_own_memory();
    smp_warp_copy *before = smp_warp_copy_memory(memory);
    SMP_NEED(before, "a copy of what it reads", 0, err);
    smp_warp_result result = {.launches = 0};
    smp_code code = execute(kernel, seen, time, &result, err);
    if (!code && !is_sound(&result, err))
        code = err->code;
    if (!code && !(after = smp_warp_copy_memory(memory)))
        code = smp_fail_memory(err, "a copy of what it writes", 0);
    (void)smp_warp_copy_back(memory, before);
    if (!code && !smp_own_take_result(to, &result))
        code = smp_fail_memory(err, "sites", 0);
    take_time(&to->time, &result);
    clocked = result.clocked;
    if (code) {
        smp_warp_copy_free(after);
        after = NULL;
    }
    smp_warp_result_free(&result);
    smp_warp_copy_free(before);
    return code;
}

static bool begin(const smp_simt_seen *seen, smp_trace *trace, smp_trace_launch *to)
{
    smp_error err = {0};
    bool fits = true;
    const smp_warp_kernel *kernel = smp_own_kernel(seen->file, seen->kernel, &err);
    const smp_error *unable = kernel ? smp_warp_kernel_problem(kernel) : &err;
    if (unable) {
        if (smp_own_folder())
            note(trace, seen->kernel, unable);
        snprintf(to->time.why, sizeof to->time.why, "%.150s", unable->message);
        return false;
    }
    const bool timed = is_timed(trace, &to->time);
    if (!count_all && !timed && !smp_warp_kernel_shared(kernel) && !seen->dynamic_shared) {
        to->architecture = smp_own_architecture();
        return true;
    }
    smp_simt_each_buffer(adopt, &fits);
    const smp_code code =
        fits ? count(kernel, seen, timed ? trace->time : NULL, to, &err) : smp_fail_memory(&err, "buffers", 0);
    if (!code) {
        to->architecture = smp_own_architecture();
        return true;
    }
    smp_warp_memory_release(smp_own_memory());
    memset(to->ops, 0, sizeof to->ops);
    to->site_count = 0;
    to->time = (smp_trace_time){.us = 0};
    snprintf(to->time.why, sizeof to->time.why, "%.150s", err.message);
    if (code == SMP_E_DIFFERENT && !trace->problem.code) {
        smp_fail(&trace->problem, code, "kernel %s: %s", seen->kernel, err.message);
        smp_at(&trace->problem, "%s", err.where);
    } else
        note(trace, seen->kernel, &err);
    return false;
}

/* Whether its result depends on the order of its threads, until a later launch: kernels/README.md, "The same bytes". */
static bool is_unordered(const char *kernel)
{
    return strstr(kernel, "_unordered_") != NULL;
}

static void end(const smp_simt_seen *seen, smp_trace *trace)
{
    char place[200];
    if (!after)
        return;
    const uint64_t bytes =
        clocked || is_unordered(seen->kernel) ? 0 : smp_warp_copy_differs(smp_own_memory(), after, place, sizeof place);
    smp_warp_copy_free(after);
    after = NULL;
    smp_warp_memory_release(smp_own_memory());
    if (bytes && !trace->problem.code)
        smp_fail(&trace->problem, SMP_E_DIFFERENT,
                 "kernel %s: its SASS leaves %llu bytes other than the host's compiler's code does, first %s",
                 seen->kernel, (unsigned long long)bytes, place);
}

static bool counts_all(void)
{
    char path[PATH_MAX];
    bool has = smp_own_folder() != NULL;
    for (const smp_kernel_file *file = smp_kernel_files; has && file->name; file++) {
        snprintf(path, sizeof path, "%.3000s/%s.gz", smp_own_folder(), file->name);
        has = !access(path, R_OK);
    }
    return has;
}

void smp_own_count_launches(bool all)
{
    count_all = all;
    static const smp_simt_observer observer = {begin, end, counts_all};
    smp_simt_set_observer(&observer);
}
