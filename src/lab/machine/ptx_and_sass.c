/* A kernel through PTX and through SASS: mistakes are PTX's to tell, counts are SASS's, and both must leave the same
 * bytes in memory. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "lab/machine/apart.h"

void smp_warp_note(smp_warp_result *result, const char *format, ...)
{
    const size_t used = strlen(result->notes), room = sizeof result->notes - used;
    va_list arguments;
    if (room < 2)
        return;
    va_start(arguments, format);
    vsnprintf(result->notes + used, room, format, arguments);
    va_end(arguments);
    const size_t length = strlen(result->notes);
    if (length + 1 < sizeof result->notes)
        memcpy(result->notes + length, "\n", 2);
    else /* a note that has no room is left out whole */
        result->notes[used] = 0;
}

/* ------------------------------------------------------------------------------------------------ what ptxas made */

typedef struct kind {
    const char *file;
    uint32_t line;
    smp_warp_space space;
    smp_warp_op op;
} kind;

static const char *file_of(const smp_warp_result *r, uint32_t file)
{
    return file < r->file_count && r->files[file] ? r->files[file] : "";
}

static bool is_kind(const smp_warp_result *r, const smp_warp_row *row, const kind *k)
{
    return row->line == k->line && row->space == k->space && row->op == k->op &&
           !strcmp(file_of(r, row->file), k->file);
}

/* The rows of a kind, of all widths: instructions, bytes that lanes asked for, the widest access. */
typedef struct total {
    uint64_t instructions, bytes, of[32]; /* of 2^n bytes */
    uint32_t widest;
} total;

static total total_of(const smp_warp_result *r, const kind *k)
{
    total t = {.widest = 0};
    for (size_t i = 0; i < r->row_count; i++) {
        const smp_warp_row *row = &r->rows[i];
        if (!is_kind(r, row, k))
            continue;
        t.instructions += row->instructions;
        t.bytes += row->lanes * row->width;
        t.widest = row->width > t.widest ? row->width : t.widest;
        t.of[row->width ? __builtin_ctz(row->width) : 0] += row->instructions;
    }
    return t;
}

/* The widest accesses of which there are more than on the other side, where the line may have others besides. */
static uint32_t more_of(const total *here, const total *there)
{
    uint32_t width = 0;
    for (uint32_t n = 0; n < 32; n++)
        width = here->of[n] > there->of[n] ? UINT32_C(1) << n : width;
    return width ? width : here->widest;
}

static void note_line(smp_warp_result *result, const kind *k, const total *ptx, const total *sass)
{
    static const char *const ops[] = {"load", "store", "atomic", "copy"};
    const char *space = k->space == SMP_WARP_SHARED ? "shared" : "global";
    char where[120];
    snprintf(where, sizeof where, "%.90s:%u", smp_base_name(k->file), k->line);
    if (sass->widest > ptx->widest && ptx->widest)
        smp_warp_note(result, "%s: ptxas joined %s %ss of %u bytes into some of %u", where, space, ops[k->op],
                      more_of(ptx, sass), sass->widest);
    else if (ptx->widest > sass->widest && sass->widest)
        smp_warp_note(result, "%s: ptxas split %s %ss of %u bytes into some of %u", where, space, ops[k->op],
                      ptx->widest, more_of(sass, ptx));
    else if (!sass->instructions)
        smp_warp_note(result, "%s: ptxas made no %s %s of it", where, space, ops[k->op]);
    else if (!ptx->instructions)
        smp_warp_note(result, "%s: ptxas made a %s %s of it that the PTX does not have", where, space, ops[k->op]);
    else if (sass->instructions == ptx->instructions)
        smp_warp_note(result, "%s: ptxas has other lanes take part in the %s %s", where, space, ops[k->op]);
    else
        smp_warp_note(result, "%s: the PTX has %llu warp instructions (%s %s), the SASS %llu", where,
                      (unsigned long long)ptx->instructions, space, ops[k->op], (unsigned long long)sass->instructions);
}

static void note_lines(smp_warp_result *result, const smp_warp_result *ptx)
{
    const smp_warp_result *const both[] = {ptx, result};
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < both[which]->row_count; i++) {
            const smp_warp_row *row = &both[which]->rows[i];
            const kind k = {file_of(both[which], row->file), row->line, row->space, row->op};
            bool had = false;
            for (size_t n = 0; n < i && !had; n++)
                had = is_kind(both[which], &both[which]->rows[n], &k);
            const total a = total_of(ptx, &k), b = total_of(result, &k);
            if (had || !row->line || row->space == SMP_WARP_LOCAL || /* arrays become registers, and registers spill */
                (which && a.instructions) ||                         /* no line: the compiler tells none */
                (a.instructions == b.instructions && a.widest == b.widest && a.bytes == b.bytes))
                continue;
            note_line(result, &k, &a, &b);
        }
}

/* A swap that is tried until no other thread came between: on the hardware warps disturb each other, here they do not.
 */
static void note_spins(smp_warp_result *result, const smp_warp_kernel *sass)
{
    for (size_t i = 0; i < sass->code.count; i++) {
        const warp_inst *inst = &sass->code.insts[i];
        if (inst->spins && inst->file < sass->code.file_count)
            smp_warp_note(result, "%s:%u: a loop that repeats until its swap succeeds: a GPU may repeat it more often",
                          smp_base_name(sass->code.files[inst->file]), inst->line);
    }
}

/* ------------------------------------------------------------------------------------------------ results */

/* The findings of `ptx` become those of the result, whose files are extended by theirs. */
static bool take_findings(smp_warp_result *result, smp_warp_result *ptx)
{
    const size_t files = result->file_count + ptx->file_count;
    char **all = smp_alloc_array(files + 1, sizeof *all);
    if (!all)
        return false;
    memcpy(all, result->files, result->file_count * sizeof *all);
    memcpy(all + result->file_count, ptx->files, ptx->file_count * sizeof *all);
    for (size_t i = 0; i < ptx->finding_count; i++) {
        ptx->findings[i].here.file += (uint32_t)result->file_count;
        ptx->findings[i].other.file += (uint32_t)result->file_count;
    }
    smp_free_all(result->files, result->findings, ptx->files);
    result->files = all;
    result->file_count = files;
    result->findings = ptx->findings;
    result->finding_count = ptx->finding_count;
    result->illegal = ptx->illegal;
    result->refused = ptx->refused;
    result->unchecked = ptx->unchecked;
    ptx->files = NULL;
    ptx->file_count = 0;
    ptx->findings = NULL;
    ptx->finding_count = 0;
    return true;
}

/* Places that the SASS accesses and the PTX does not: ptxas lays shared memory out in its own way. */
static void note_faults(smp_warp_result *result, const smp_warp_result *ptx)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const smp_warp_finding *f = &result->findings[i];
        bool known = f->fault != SMP_WARP_BOUNDS && f->fault != SMP_WARP_MISALIGNED;
        for (size_t k = 0; k < ptx->finding_count; k++)
            known = known || ptx->findings[k].fault == f->fault;
        if (known)
            continue;
        smp_warp_note(result, "%s:%u: the SASS alone %s", smp_base_name(file_of(result, f->here.file)), f->here.line,
                      f->text);
        return;
    }
}

static void note_problem(smp_warp_result *result, const smp_error *err)
{
    smp_warp_note(result, "counted from PTX: %s%s%s%s", err->message, err->where[0] ? " (" : "", err->where,
                  err->where[0] ? ")" : "");
}

/* Takes over how wide the accesses are that the PTX makes, and of what their addresses are made. */
static void take_accesses(smp_warp_result *result, const smp_warp_result *ptx)
{
    for (size_t i = 0; i < ptx->row_count; i++) {
        const smp_warp_row *row = &ptx->rows[i];
        const kind k = {file_of(ptx, row->file), row->line, row->space, row->op};
        for (size_t n = 0; n < result->row_count && row->by_data; n++)
            result->rows[n].by_data = result->rows[n].by_data || is_kind(result, &result->rows[n], &k);
    }
    for (size_t i = 0; i < result->array_count; i++)
        for (size_t k = 0; k < ptx->array_count; k++)
            if (!strcmp(result->arrays[i].name, ptx->arrays[k].name))
                smp_warp_widen(&result->arrays[i], ptx->arrays[k].whole);
}

/* Whether no instruction is there for other blocks to see, as STRONG ones are, atomics of global memory among them, or
 * tells time. */
static bool shows_nothing(const smp_warp_kernel *sass)
{
    static const char *const words[] = {"STRONG", "MEMBAR", "CLOCK", "TIMER"};
    bool nothing = true;
    for (size_t i = 0; i < sass->inst_count; i++)
        for (size_t k = 0; sass->insts[i]->text && k < sizeof words / sizeof words[0]; k++)
            nothing = nothing && !memmem(sass->insts[i]->text, sass->insts[i]->text_size, words[k], strlen(words[k]));
    return nothing;
}

/* Runs it, with the deadline that follows from its time; apart: blocks run side by side while none accesses what one of
 * another thread writes. The launch is watched to that end, and where one does it is done again from `before`, in one
 * thread and with all of its time: whether it ends is not a matter of the processors. */
static smp_code run_apart(smp_warp_launch *launch, bool apart, const smp_warp_copy *before, smp_warp_result *result,
                          smp_error *err)
{
    _Atomic bool met = false;
    launch->met = apart ? &met : NULL;
    launch->deadline = launch->seconds > 0 ? smp_now() + launch->seconds : 0;
    smp_code code = smp_warp_run(launch, result, err);
    launch->met = NULL;
    if (met && !smp_warp_copy_back(launch->memory, before))
        return smp_fail(err, SMP_E_PROCESS, "other buffers are there than before the launch, which has to run again");
    if (met) {
        launch->threads = 1;
        launch->deadline = launch->seconds > 0 ? smp_now() + launch->seconds : 0;
        smp_warp_result_free(result);
        code = smp_warp_run(launch, result, err);
    }
    return code;
}

/* Takes over of what addresses are made, from PTX that does not run. */
static void take_by_data(smp_warp_result *result, const warp_code *ptx)
{
    for (size_t i = 0; i < ptx->count; i++) {
        const warp_inst *inst = &ptx->insts[i];
        const char *file = inst->by_data && inst->file < ptx->file_count ? ptx->files[inst->file] : NULL;
        for (size_t n = 0; n < result->row_count && file; n++)
            result->rows[n].by_data = result->rows[n].by_data || (result->rows[n].line == inst->line &&
                                                                  !strcmp(file_of(result, result->rows[n].file), file));
    }
}

/* Counts alone, where the lab cannot execute the PTX, or need not. */
static smp_code run_sass(const smp_warp_launch *launch, const smp_warp_kernel *sass, const char *why,
                         smp_warp_result *result, smp_error *err)
{
    smp_warp_launch alone = *launch;
    alone.kernel = sass;
    smp_warp_copy *before = launch->watch && launch->threads > 1 && shows_nothing(sass) && warp_worth_apart(launch)
                                ? smp_warp_copy_memory(launch->memory)
                                : NULL;
    alone.threads = before ? launch->threads : 1;
    const smp_code code = run_apart(&alone, before, before, result, err);
    if (before)
        smp_warp_copy_keep(launch->memory, before);
    take_by_data(result, &launch->kernel->code);
    smp_warp_note(result, "mistakes are not looked for: %s", why);
    return code;
}

/* Compares what both have left, and takes over what only PTX tells. after: the memory as PTX left it. */
static smp_code join_results(smp_warp_memory *memory, const smp_warp_copy *after, const smp_warp_kernel *sass,
                             smp_warp_result *result, smp_warp_result *ptx, smp_error *err)
{
    char place[200];
    const uint64_t bytes = result->clocked ? 0 : smp_warp_copy_differs(memory, after, place, sizeof place);
    if (bytes)
        smp_warp_note(result, "SASS and PTX leave %llu bytes of memory that differ, first %s",
                      (unsigned long long)bytes, place);
    result->differing_bytes = bytes;
    if (ptx->notes[0])
        smp_warp_note(result, "%.*s", (int)strcspn(ptx->notes, "\n"), ptx->notes);
    take_accesses(result, ptx);
    note_faults(result, ptx);
    note_lines(result, ptx);
    note_spins(result, sass);
    result->steps[SMP_WARP_PTX_LISTING] = ptx->steps[SMP_WARP_LISTING];
    ptx->steps[SMP_WARP_LISTING] = (smp_warp_steps){.count = 0};
    return take_findings(result, ptx) ? SMP_OK : smp_fail_memory(err, "findings", 0);
}

/* Whether blocks of the SASS may run side by side, by what its PTX did: no block reads what another writes, and
 * nothing is there for others to see. Few instructions are not worth a thread. */
static bool blocks_share_nothing(const smp_warp_kernel *sass, const smp_warp_result *ptx)
{
    enum { WORTH = 100000 };
    bool nothing = ptx->watched && ptx->instructions > WORTH;
    for (size_t i = 0; i < ptx->finding_count; i++)
        nothing = nothing && ptx->findings[i].fault != SMP_WARP_RACE;
    return nothing && shows_nothing(sass);
}

/* Runs the SASS as the PTX ran in `first`, on the same memory. */
static smp_code run_again(const smp_warp_launch *launch, const smp_warp_launch *first, const smp_warp_kernel *sass,
                          const smp_warp_result *ptx, smp_warp_result *result, smp_error *err)
{
    smp_warp_tasks same = {.depth = launch->tasks ? launch->tasks->depth : 0}; /* what PTX has launched is done */
    smp_warp_launch second = *first;
    second.kernel = sass;
    second.print = NULL;
    second.threads = !launch->watch || blocks_share_nothing(sass, ptx) ? launch->threads : 1;
    second.again = true;
    second.observer = launch->observer;
    second.tasks = launch->tasks ? &same : NULL;
    const smp_code code = smp_warp_run(&second, result, err);
    smp_warp_tasks_free(&same, launch->memory);
    return code;
}

smp_code smp_warp_run_both(const smp_warp_launch *launch, const smp_warp_kernel *sass, smp_warp_result *result,
                           smp_error *err)
{
    smp_warp_result ptx;
    smp_error problem = {0};
    const smp_error *known = sass ? smp_warp_kernel_problem(sass) : NULL;
    const smp_error *unable = smp_warp_kernel_problem(launch->kernel);
    if (sass && !known && (unable || launch->counts_alone))
        return run_sass(launch, sass, unable ? unable->message : "--no-findings", result, err);
    smp_warp_launch first = *launch; /* both runs have the time of one */
    first.observer = NULL;
    smp_warp_copy *before = sass && !known ? smp_warp_copy_memory(launch->memory) : NULL;
    const bool apart = launch->watch && before && warp_worth_apart(launch);
    first.threads = launch->watch && !apart ? 1 : launch->threads; /* findings between blocks are of one order */
    smp_code code = run_apart(&first, apart, before, before ? &ptx : result, err);
    if (!before || code) {
        if (before)
            *result = ptx;
        if (known)
            note_problem(result, known);
        smp_warp_copy_free(before);
        return code;
    }
    smp_warp_copy *after = smp_warp_copy_memory(launch->memory);
    if (!after || !smp_warp_copy_back(launch->memory, before)) {
        smp_warp_copy_free(before);
        smp_warp_copy_free(after);
        *result = ptx;
        smp_warp_note(result, "counted from PTX: there is no memory for a second run, or the kernel allocates some");
        return SMP_OK;
    }
    code = run_again(launch, &first, sass, &ptx, result, &problem);
    if (code) { /* the PTX's results stand */
        (void)smp_warp_copy_back(launch->memory, after);
        smp_warp_result_free(result);
        *result = ptx;
        note_problem(result, &problem);
        memset(&ptx, 0, sizeof ptx);
        code = SMP_OK;
    } else
        code = join_results(launch->memory, after, sass, result, &ptx, err);
    smp_warp_result_free(&ptx);
    smp_warp_copy_keep(launch->memory, before);
    smp_warp_copy_keep(launch->memory, after);
    return code;
}
