/* All files and kernels that `smempipe kernel` is given: compiles them, runs them in their order, groups and checks
 * them for --compare, and asks each cubin what its kernels take of an SM. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/dashes.h"
#include "commands/lab/kernel.h"
#include "commands/lab/kernel_elf.h"

static bool is_cuda(const char *file)
{
    return smp_ends_with(file, ".cu") || smp_ends_with(file, ".cuh");
}

static bool is_kernel_file(const char *name)
{
    return is_cuda(name) || smp_ends_with(name, ".ptx") || smp_ends_with(name, ".cubin");
}

bool smp_kernel_is_file(const char *name)
{
    return is_kernel_file(name) || smp_kernel_is_elf(name);
}

static bool is_executable(const char *file)
{
    return !smp_ends_with(file, ".cubin") && smp_kernel_is_elf(file);
}

/* ------------------------------------------------------------------------------------------------ keeping */

static smp_code keep(smp_kernel_results *all, const smp_kernel_job *job, smp_warp_result *result, smp_kernel_left *left,
                     smp_error *err)
{
    if (!smp_grow(&all->results, &all->capacity, all->count + 1, sizeof *all->results) ||
        !smp_grow(&all->entries, &all->entry_capacity, all->count + 1, sizeof *all->entries) ||
        !smp_grow(&all->lefts, &all->left_capacity, all->count + 1, sizeof *all->lefts)) {
        smp_warp_result_free(result);
        smp_kernel_left_free(left);
        return smp_fail_memory(err, "results", sizeof *result);
    }
    all->results[all->count] = *result;
    all->entries[all->count] = (smp_lab_entry){.file = job->file, .number = job->file_number};
    all->lefts[all->count++] = *left;
    return SMP_OK;
}

void smp_kernel_results_free(smp_kernel_results *all)
{
    for (size_t i = 0; i < all->count; i++) {
        smp_warp_result_free(&all->results[i]);
        smp_kernel_left_free(&all->lefts[i]);
    }
    smp_free_all(all->results, all->entries, all->lefts, all->tips.items);
    *all = (smp_kernel_results){.count = 0};
}

/* Adds what an SM holds of the results from `from` on, which are of one file. */
static void add_fits(const smp_kernel_settings *settings, const char *code, smp_kernel_results *all, size_t from)
{
    smp_error ignored = {0};
    char *path = smp_assemble_cubin(code, settings->arch, &settings->flags.ptxas), *cubin = NULL;
    size_t size;
    if (path && !smp_kernel_read(path, &cubin, &size, &ignored))
        for (size_t i = from; i < all->count; i++) {
            smp_warp_result *r = &all->results[i];
            uint32_t registers;
            const uint64_t threads = (uint64_t)r->block[0] * r->block[1] * r->block[2];
            if (threads <= SMP_WARP_MAX_THREADS && smp_warp_registers(cubin, size, r->symbol, &registers))
                (void)smp_warp_fit_of(atoi(smp_compile_arch(settings->arch)), registers, r->shared + r->dynamic_shared,
                                      (uint32_t)threads, &r->fit);
        }
    smp_free_all(cubin, path);
}

/* ------------------------------------------------------------------------------------------------ running */

/* The kernels of --only, one after the other, with what they leave. */
static smp_code run_kernels(const smp_kernel_settings *settings, smp_kernel_job *job, smp_kernel_results *all,
                            smp_error *err)
{
    const char *at = settings->only;
    smp_code code = SMP_OK;
    for (job->number = 0; !code && (!settings->only || *at); job->number++) {
        const size_t size = at ? smp_warp_name_span(at) : 0;
        char *name = at ? smp_asprintf("%.*s", (int)size, at) : NULL;
        smp_warp_result result = {0};
        smp_kernel_left left = {0};
        if (at && !name)
            return smp_fail_memory(err, "a name", size);
        job->name = name;
        code = smp_kernel_run(settings, job, &result, &left, err);
        if (result.kernel) {
            smp_error other = {0};
            const smp_code kept = keep(all, job, &result, &left, code ? &other : err);
            code = code ? code : kept;
        } else {
            smp_warp_result_free(&result);
            smp_kernel_left_free(&left);
        }
        smp_free(name);
        if (!at)
            break;
        at += size + (at[size] == ',');
    }
    return code;
}

static smp_code run_program(const smp_kernel_settings *settings, const smp_kernel_job *job,
                            const smp_kernel_process *process, smp_kernel_results *all, smp_error *err)
{
    smp_warp_result *results = NULL;
    size_t count = 0;
    if ((settings->json || settings->csv) && !settings->common.quiet && !settings->again)
        fprintf(stderr, "smempipe: %s runs on this machine, not on a GPU, and prints:\n", job->file);
    smp_code code = smp_kernel_program(settings, process, &results, &count, err);
    for (size_t i = 0; i < count; i++) {
        smp_kernel_left left = {0};
        smp_error other = {0};
        const smp_code kept = keep(all, job, &results[i], &left, code ? &other : err);
        code = code ? code : kept;
    }
    smp_free(results);
    return code;
}

/* The first file's says what is counted. */
static void note_code(smp_kernel_results *all, bool sass, bool no_ptx, const char *why)
{
    all->sass = sass;
    all->no_ptx = no_ptx;
    snprintf(all->why, sizeof all->why, "%s", why);
}

/* file: as it was named; program: what that became. */
static smp_code run_executable(const smp_kernel_settings *settings, const char *file, const char *program,
                               size_t number, smp_kernel_results *all, smp_error *err)
{
    const smp_kernel_job job = {.file = file, .file_number = number};
    const size_t from = all->count;
    bool sass = true, no_ptx = false;
    smp_kernel_modules modules;
    if (settings->only) {
        smp_fail(err, SMP_E_USAGE, "--only runs a kernel of a .cu, .ptx or .cubin file; '%s' is a program", file);
        return smp_hint(err, "without it all that the program launches is counted");
    }
    smp_code code = smp_kernel_modules_open(settings, program, &modules, err);
    if (!code) {
        const smp_kernel_process process = {.program = program, .modules = &modules};
        code = run_program(settings, &job, &process, all, err);
    }
    if (!code && settings->device)
        code = smp_kernel_on_gpu(settings, program, &modules, all->results, all->count, &all->gpu, err);
    for (size_t i = 0; i < modules.count; i++) {
        sass = sass && modules.items[i].sass;
        no_ptx = no_ptx || !modules.items[i].is_ptx;
        const char *linked = modules.items[i].linked, *source = linked ? linked : modules.items[i].source;
        if (all->count > from && source)
            add_fits(settings, source, all, from);
    }
    for (size_t i = from; i < all->count && !modules.count; i++) { /* it loads them itself */
        static const char mark[] = "counted from PTX: ";
        const char *why = strstr(all->results[i].notes, mark);
        sass = sass && !why;
        no_ptx = no_ptx || all->results[i].unchecked;
        if (why && !modules.why[0])
            snprintf(modules.why, sizeof modules.why, "%.*s", (int)strcspn(why, "\n") - (int)strlen(mark),
                     why + strlen(mark));
    }
    if (!from)
        note_code(all, sass && (modules.count || all->count), no_ptx, modules.why);
    smp_kernel_modules_close(&modules);
    return code;
}

static smp_code run_file(const smp_kernel_settings *settings, const char *file, size_t number, smp_kernel_results *all,
                         smp_error *err)
{
    const bool cuda = is_cuda(file) || smp_kernel_is_host(file), program_runs = cuda && !settings->only,
               is_ptx = smp_ends_with(file, ".ptx");
    const size_t from = all->count;
    char *ptx = NULL, *program = NULL, *sass = NULL, why[SMP_ASSEMBLE_WHY] = "";
    smp_code code = SMP_OK;
    if (!cuda && is_executable(file))
        return run_executable(settings, file, file, number, all, err);
    if (cuda)
        code = smp_kernel_compile(settings, file, &ptx, program_runs ? &program : NULL, err);
    if (!code && program_runs && (settings->device || !ptx)) { /* its device code is taken from it */
        code = run_executable(settings, file, program, number, all, err);
        smp_free_all(ptx, program);
        return code;
    }
    const char *source = cuda ? ptx : file;
    if (!code && (!is_ptx || settings->only))
        code = smp_assemble(source, settings->arch, settings->code, &settings->flags.ptxas, NULL, &sass, why, err);
    if (code && ptx && !strcmp(err->where, ptx)) /* which lies in the cache */
        snprintf(err->where, sizeof err->where, "%s", file);
    if (!code && !cuda && !is_ptx && !sass) {
        smp_fail(err, SMP_E_USAGE, "a cubin has no PTX to count");
        smp_hint(err, "leave --code ptx out");
        code = smp_at(err, "%s", file);
    }
    if (!code) {
        smp_kernel_job job = {.file = file, .file_number = number, .ptx = cuda || is_ptx ? source : NULL, .sass = sass};
        char *cubin = program_runs && !sass ? smp_assemble_cubin(ptx, settings->arch, &settings->flags.ptxas) : NULL;
        const smp_kernel_process process = {.program = program, .ptx = ptx, .sass = sass, .cubin = cubin};
        code = program_runs ? run_program(settings, &job, &process, all, err) : run_kernels(settings, &job, all, err);
        smp_free(cubin);
    }
    if (!from)
        note_code(all, sass != NULL, !cuda && !is_ptx, why);
    if (all->count > from)
        add_fits(settings, source, all, from);
    smp_free_all(ptx, program, sass);
    return code;
}

/* ------------------------------------------------------------------------------------------------ groups */

/* The n-th result of its file with its name. */
static size_t which_of_its_name(const smp_kernel_results *all, size_t of)
{
    size_t n = 0;
    for (size_t i = 0; i < of; i++)
        n += all->entries[i].number == all->entries[of].number &&
             !strcmp(all->results[i].kernel, all->results[of].kernel);
    return n;
}

/* Results of several files are compared by name, or, where a file shares no name with the first one, by their order.
 * Those of one file are all compared. */
static void make_groups(smp_kernel_results *all)
{
    size_t groups = 0, of_first = 0;
    while (of_first < all->count && !all->entries[of_first].number)
        all->entries[of_first].group = of_first, of_first++;
    groups = of_first;
    if (of_first == all->count) {
        for (size_t i = 0; i < all->count; i++)
            all->entries[i].group = 0;
        return;
    }
    for (size_t i = of_first, begin = of_first; i < all->count; i++) {
        bool shares = false;
        size_t found = SIZE_MAX;
        if (all->entries[i].number != all->entries[begin].number)
            begin = i;
        for (size_t k = begin; k < all->count && all->entries[k].number == all->entries[i].number; k++)
            for (size_t n = 0; n < of_first; n++)
                shares = shares || !strcmp(all->results[k].kernel, all->results[n].kernel);
        for (size_t n = 0; n < of_first && shares; n++)
            if (!strcmp(all->results[i].kernel, all->results[n].kernel) &&
                which_of_its_name(all, n) == which_of_its_name(all, i))
                found = n;
        if (!shares && i - begin < of_first)
            found = i - begin;
        all->entries[i].group = found < SIZE_MAX ? found : groups++;
    }
}

/* Compares what the kernels of a group leave in the same arrays. */
static void check_results(smp_kernel_results *all)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t first = 0;
        if (!all->lefts[i].count || all->results[i].stopped || all->results[i].blocks_run < all->results[i].blocks)
            continue;
        while (first < i &&
               (all->entries[first].group != all->entries[i].group || all->entries[first].same == SMP_LAB_UNCHECKED))
            first++;
        smp_lab_entry *e = &all->entries[i];
        e->same = first == i ? SMP_LAB_FIRST
                             : smp_kernel_left_compare(&all->lefts[first], &all->lefts[i], e->difference,
                                                       sizeof e->difference);
    }
}

smp_code smp_kernel_all(const smp_kernel_settings *settings, smp_kernel_results *all, smp_error *err)
{
    smp_kernel_settings own = *settings; /* whose arguments are the program's alone */
    size_t files = 0;
    while (settings->compare && files + 1 < smp_options_before_dashes() &&
           smp_kernel_is_file(own.program_args.items[files]))
        files++;
    own.program_args.items += files;
    own.program_args.count -= files;
    bool programs = false;
    for (size_t i = 0; i <= files; i++) {
        const char *file = i ? settings->program_args.items[i - 1] : settings->file;
        programs = programs || (!own.only && (is_cuda(file) || smp_kernel_is_host(file) || is_executable(file)));
    }
    if (own.program_args.count && !programs)
        return smp_fail(err, SMP_E_USAGE, "'%s' is one argument too many: no program runs", own.program_args.items[0]),
               smp_hint(err, smp_kernel_is_file(own.program_args.items[0]) ? "--compare takes several files"
                                                                           : "the kernel's parameters go into --args");
    if (!settings->compare && own.program_args.count && smp_options_before_dashes() > 1 &&
        is_kernel_file(own.program_args.items[0]))
        return smp_fail(err, SMP_E_USAGE, "'%s' would be an argument of the program that '%s' makes",
                        own.program_args.items[0], settings->file),
               smp_hint(err, "--compare takes several files; write -- before what the program is given");
    for (size_t i = 0; i <= files; i++)
        SMP_TRY(run_file(&own, i ? settings->program_args.items[i - 1] : settings->file, i, all, err));
    if (settings->compare) {
        make_groups(all);
        check_results(all);
    }
    return smp_lab_find_tips(all->results, all->count, settings->flags.defines.items, settings->flags.defines.count,
                             &all->tips)
               ? SMP_OK
               : smp_fail_memory(err, "tips", all->count);
}
