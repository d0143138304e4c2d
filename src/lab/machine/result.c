/* Costs of a launch by source line. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/machine.h"
#include "lab/machine/predicted.h"

/* ------------------------------------------------------------------------------------------------ making */

smp_warp_op warp_op_of(const warp_inst *inst, smp_warp_space space)
{
    if (inst->kind == WARP_COPIES)
        return space == SMP_WARP_SHARED ? SMP_WARP_COPY : SMP_WARP_LOAD;
    return inst->kind == WARP_UPDATES_MEMORY ? SMP_WARP_ATOMIC
           : inst->kind == WARP_STORES       ? SMP_WARP_STORE
                                             : SMP_WARP_LOAD;
}

static bool same_row(const smp_warp_row *a, const smp_warp_row *b)
{
    return a->place == b->place && a->file == b->file && a->line == b->line && a->space == b->space && a->op == b->op &&
           a->width == b->width && a->spill == b->spill;
}

static void add_row(smp_warp_row *to, const smp_warp_row *from)
{
    to->instructions += from->instructions;
    to->skipped += from->skipped;
    to->far = to->far || from->far;
    to->lanes += from->lanes;
    to->most_lanes = from->most_lanes > to->most_lanes ? from->most_lanes : to->most_lanes;
    to->by_data = to->by_data || from->by_data;
    to->wavefronts += from->wavefronts;
    to->ideal += from->ideal;
    to->packed += from->packed;
    to->conflicts += from->conflicts;
    to->sectors += from->sectors;
    to->sectors_ideal += from->sectors_ideal;
    to->strided += from->strided;
    if (from->stride && (!to->stride || from->stride < to->stride))
        to->stride = from->stride;
    if ((uint64_t)from->worst_wavefronts * to->worst_ideal > (uint64_t)to->worst_wavefronts * from->worst_ideal ||
        !to->worst_ideal) {
        to->worst_wavefronts = from->worst_wavefronts;
        to->worst_ideal = from->worst_ideal;
        to->worst_active = from->worst_active;
        to->worst_op = from->worst_op;
        memcpy(to->worst_offset, from->worst_offset, sizeof to->worst_offset);
        memcpy(to->array, from->array, sizeof to->array);
    }
}

uint32_t warp_array_at(const warp_block *block, uint32_t offset)
{
    for (size_t i = 0; i < block->code->array_count; i++) {
        const warp_shared_array *a = &block->code->arrays[i];
        if (a->size ? offset >= a->offset && offset - a->offset < a->size : offset >= block->dynamic_base)
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

static smp_warp_row row_of(const warp_block *block, uint32_t index, smp_warp_space space)
{
    const warp_count *c = &block->counts[index];
    const warp_sums *sums = &c->in[space];
    const warp_inst *inst = block->insts[index];
    smp_warp_row row = {.file = inst->file, .line = inst->line, .space = space};
    row.op = warp_op_of(inst, space);
    row.width = (uint32_t)inst->width * (inst->vec ? inst->vec : 1);
    row.skipped = c->skipped;
    row.far = c->far;
    if (block->launch->each_instruction) {
        row.place = (uint32_t)(inst - block->code->insts);
        row.repeats = inst->repeats;
        if (block->code->param_base && inst->text) /* SASS */
            snprintf(row.instruction, sizeof row.instruction, "%.*s", (int)inst->text_size, inst->text);
    }
    row.spill = space == SMP_WARP_LOCAL && inst->spills;
    row.instructions = sums->instructions;
    row.lanes = row.most_lanes = sums->lanes;
    row.wavefronts = sums->wavefronts;
    row.ideal = sums->ideal;
    row.packed = sums->packed;
    row.conflicts = sums->conflicts;
    row.sectors = sums->sectors;
    row.sectors_ideal = sums->sectors_ideal;
    row.by_data = inst->by_data;
    row.strided = space == SMP_WARP_GLOBAL ? c->strided : 0;
    row.stride = space == SMP_WARP_GLOBAL ? c->stride : 0;
    if (space != SMP_WARP_SHARED)
        return row;
    row.worst_wavefronts = c->worst_wavefronts;
    row.worst_ideal = c->worst_ideal;
    row.worst_active = c->worst_active;
    row.worst_op = c->worst_op;
    memcpy(row.worst_offset, c->worst_offset, sizeof row.worst_offset);
    const uint32_t array =
        c->worst_active ? warp_array_at(block, c->worst_offset[__builtin_ctz(c->worst_active)]) : UINT32_MAX;
    if (array != UINT32_MAX)
        snprintf(row.array, sizeof row.array, "%s", block->code->arrays[array].name);
    return row;
}

static int by_line(const void *a, const void *b)
{
    const smp_warp_row *x = a, *y = b;
    const uint32_t keys[][2] = {{x->place, y->place}, {x->file, y->file},   {x->line, y->line},  {x->space, y->space},
                                {x->op, y->op},       {x->width, y->width}, {x->spill, y->spill}};
    return warp_compare(keys, sizeof keys / sizeof keys[0]);
}

static void set_place(const warp_block *block, uint32_t inst, uint32_t thread, smp_warp_place *place)
{
    const uint32_t *dim = block->launch->block;
    place->file = block->insts[inst]->file;
    place->line = block->insts[inst]->line ? block->insts[inst]->line : block->insts[inst]->text_line;
    place->thread[0] = thread % dim[0];
    place->thread[1] = thread / dim[0] % dim[1];
    place->thread[2] = thread / dim[0] / dim[1];
}

static void set_block(const uint32_t grid[3], uint64_t index, uint32_t block[3])
{
    block[0] = (uint32_t)(index % grid[0]);
    block[1] = (uint32_t)(index / grid[0] % grid[1]);
    block[2] = (uint32_t)(index / grid[0] / grid[1]);
}

/* Findings of several instructions of one line are one, where they do the same. */
static void add_finding(const warp_block *block, const warp_fault_key *f, smp_warp_result *result)
{
    const uint32_t *grid = block->launch->grid;
    smp_warp_finding finding = {.fault = f->fault, .count = f->count};
    memcpy(finding.text, f->text, sizeof finding.text);
    set_place(block, f->inst, f->thread, &finding.here);
    if (f->other != UINT32_MAX)
        set_place(block, f->other, f->other_thread, &finding.other);
    for (size_t i = 0; i < result->finding_count; i++) {
        smp_warp_finding *had = &result->findings[i];
        if (smp_warp_finding_same(had, &finding) && had->here.file == finding.here.file &&
            had->other.file == finding.other.file) {
            had->count += finding.count;
            return;
        }
    }
    set_block(grid, f->block, finding.block);
    set_block(grid, f->other_block, finding.other_block);
    result->findings[result->finding_count++] = finding;
}

/* Whether an instruction of which no lane ever took part would have been counted in a space. */
static bool counts_there(const warp_block *block, size_t inst, int space)
{
    const warp_inst *i = block->insts[inst];
    if (!i->parts || !i->width || !block->launch->each_instruction || block->counts[inst].seen_space)
        return false;
    return i->space == (space == SMP_WARP_SHARED ? WARP_SHARED : space == SMP_WARP_GLOBAL ? WARP_GLOBAL : WARP_LOCAL);
}

/* What spilled registers take of the stack, and the bytes that the instructions move to and fro. */
static smp_warp_stack stack_of(const warp_code *code)
{
    smp_warp_stack stack = {.whole = code->local_bytes};
    bool *used = code->param_base ? smp_alloc_array(code->local_bytes + 1, sizeof *used) : NULL;
    for (size_t i = 0; used && i < code->count; i++) {
        const warp_inst *inst = &code->insts[i];
        const uint32_t bytes = (uint32_t)inst->width * inst->vec;
        if (!inst->spills || inst->offset < 0 || inst->offset > code->local_bytes - (int64_t)bytes)
            continue;
        memset(used + inst->offset, true, bytes);
        *(inst->kind == WARP_STORES ? &stack.stores : &stack.loads) += bytes;
    }
    for (uint32_t i = 0; used && i < code->local_bytes; i++)
        stack.spilled += used[i];
    if (!used)
        stack.whole = 0;
    smp_free(used);
    return stack;
}

smp_code warp_make_result(const warp_block *block, smp_warp_result *result, smp_error *err)
{
    const smp_warp_launch *launch = block->launch;
    const size_t all = launch->kernel->inst_count;
    result->rows = smp_alloc_array(3 * all + 1, sizeof *result->rows);
    result->findings = smp_alloc_array(block->fault_count + 1, sizeof *result->findings);
    result->files = smp_alloc_array(block->code->file_count + 1, sizeof *result->files);
    SMP_NEED(result->rows && result->findings && result->files, "the result", all * sizeof *result->rows, err);
    result->kernel = smp_strdup(block->code->name);
    result->symbol = smp_strdup(block->code->symbol);
    SMP_NEED(result->kernel && result->symbol, "the result", all, err);
    result->of = launch->kernel;
    memcpy(result->grid, launch->grid, sizeof result->grid);
    memcpy(result->block, launch->block, sizeof result->block);
    snprintf(result->code, sizeof result->code, "%s", block->code->param_base ? "sass" : "ptx");
    result->shared = block->code->shared_bytes;
    result->dynamic_shared = launch->dynamic_shared;
    result->stack = stack_of(block->code);
    result->instructions = block->instructions;
    for (size_t i = 0; i < all; i++)
        result->lane_instructions += block->tallies[i].lanes;
    result->illegal = block->illegal;
    result->refused = block->refused;
    result->unchecked = block->code->counts_only;
    result->asserted = block->asserted;
    result->clocked = block->clocks;
    for (size_t i = 0; i < block->code->file_count; i++) {
        result->files[i] = smp_strdup(block->code->files[i] ? block->code->files[i] : "");
        SMP_NEED(result->files[i], "the result", all, err);
        result->file_count = i + 1;
    }
    for (size_t i = 0; i < all; i++)
        for (int space = SMP_WARP_SHARED; space <= SMP_WARP_LOCAL; space++)
            if (block->counts[i].seen_space >> space & 1 || (block->counts[i].skipped && counts_there(block, i, space)))
                result->rows[result->row_count++] = row_of(block, (uint32_t)i, (smp_warp_space)space);
    qsort(result->rows, result->row_count, sizeof *result->rows, by_line);
    size_t kept = 0;
    for (size_t i = 0; i < result->row_count; i++)
        if (kept && same_row(&result->rows[kept - 1], &result->rows[i]))
            add_row(&result->rows[kept - 1], &result->rows[i]);
        else
            result->rows[kept++] = result->rows[i];
    result->row_count = kept;
    for (size_t i = 0; i < block->fault_count; i++)
        add_finding(block, &block->faults[i], result);
    warp_note_watch(block, result);
    return warp_make_steps(block, result) && warp_make_patterns(block, result)
               ? SMP_OK
               : smp_fail_memory(err, "the result", all);
}

void smp_warp_result_free(smp_warp_result *result)
{
    for (size_t i = 0; i < result->file_count; i++)
        smp_free(result->files[i]);
    smp_free_all(result->kernel, result->symbol, result->files, result->rows, result->findings, result->arrays);
    smp_warp_patterns_free(&result->patterns);
    smp_warp_steps_free(result);
    smp_predictions_free(result->predictions);
    memset(result, 0, sizeof *result);
}

/* Lines that the sum does not have. */
static void add_notes(smp_warp_result *sum, const char *notes)
{
    while (*notes) {
        const size_t size = strcspn(notes, "\n");
        char line[400];
        snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line - 1), notes);
        if (!strstr(sum->notes, line))
            smp_warp_note(sum, "%s", line);
        notes += size + (notes[size] == '\n');
    }
}

/* Whether both are of the same code, or of a template's that two files instantiate: the same lines of the same
 * files. */
static bool same_code(const smp_warp_result *a, const smp_warp_result *b)
{
    if (strcmp(a->symbol, b->symbol) != 0)
        return false;
    if (!a->of || !b->of || a->of == b->of)
        return true;
    bool same = a->row_count && a->row_count == b->row_count && a->finding_count == b->finding_count;
    for (size_t i = 0; i < a->row_count && same; i++) {
        const uint32_t file = a->rows[i].file;
        same = same_row(&a->rows[i], &b->rows[i]) && file < a->file_count && file < b->file_count &&
               !strcmp(a->files[file], b->files[file]);
    }
    for (size_t i = 0; i < a->finding_count && same; i++)
        same = a->findings[i].here.file == b->findings[i].here.file &&
               a->findings[i].other.file == b->findings[i].other.file;
    return same;
}

static bool add_predictions(smp_warp_result *sum, smp_warp_result *more)
{
    if (sum->predictions && more->predictions)
        return smp_predictions_add(sum->predictions, more->predictions);
    if (!sum->predictions) {
        sum->predictions = more->predictions;
        more->predictions = NULL;
    }
    return true;
}

/* A launch without conflicts has no arrays. */
static bool add_patterns(smp_warp_result *sum, smp_warp_result *more)
{
    if (!sum->array_count) {
        smp_free(sum->arrays);
        sum->arrays = more->arrays;
        sum->array_count = more->array_count;
        more->arrays = NULL;
    }
    for (size_t i = 0; i < more->array_count && more->arrays; i++) {
        sum->arrays[i].mixed = sum->arrays[i].mixed || more->arrays[i].mixed;
        smp_warp_widen(&sum->arrays[i], more->arrays[i].whole);
    }
    for (size_t i = 0; i < more->patterns.count; i++)
        if (!smp_warp_patterns_add(&sum->patterns, &more->patterns.items[i]))
            return false;
    return true;
}

bool smp_warp_result_add(smp_warp_result *sum, smp_warp_result *more)
{
    if (sum->stopped && more->stopped && same_code(sum, more)) {
        sum->launches += more->launches; /* told once */
        return true;
    }
    if (!same_code(sum, more) || memcmp(sum->grid, more->grid, sizeof sum->grid) != 0 ||
        memcmp(sum->block, more->block, sizeof sum->block) != 0 || sum->dynamic_shared != more->dynamic_shared ||
        strcmp(sum->code, more->code) != 0 || sum->stopped || more->stopped ||
        (sum->array_count && more->array_count && sum->array_count != more->array_count) ||
        !smp_warp_steps_add(sum, more) || !add_patterns(sum, more))
        return false;
    const size_t rows = sum->row_count + more->row_count, findings = sum->finding_count + more->finding_count;
    size_t row_capacity = 0, finding_capacity = 0;
    smp_warp_row *all_rows = NULL;
    smp_warp_finding *all_findings = NULL;
    if (!smp_grow(&all_rows, &row_capacity, rows + 1, sizeof *all_rows) ||
        !smp_grow(&all_findings, &finding_capacity, findings + 1, sizeof *all_findings)) {
        smp_free(all_rows);
        return false;
    }
    memcpy(all_rows, sum->rows, sum->row_count * sizeof *all_rows);
    memcpy(all_findings, sum->findings, sum->finding_count * sizeof *all_findings);
    for (size_t i = 0; i < more->row_count; i++) {
        size_t at = 0;
        while (at < sum->row_count && !same_row(&all_rows[at], &more->rows[i]))
            at++;
        if (at < sum->row_count)
            add_row(&all_rows[at], &more->rows[i]);
        else
            all_rows[sum->row_count++] = more->rows[i];
    }
    for (size_t i = 0; i < more->finding_count; i++) {
        const smp_warp_finding *f = &more->findings[i];
        size_t at = 0;
        while (at < sum->finding_count &&
               !(smp_warp_finding_same(&all_findings[at], f) && all_findings[at].here.file == f->here.file))
            at++;
        if (at < sum->finding_count)
            all_findings[at].count += f->count;
        else
            all_findings[sum->finding_count++] = *f;
    }
    qsort(all_rows, sum->row_count, sizeof *all_rows, by_line);
    smp_free_all(sum->rows, sum->findings);
    sum->rows = all_rows;
    sum->findings = all_findings;
    sum->instructions += more->instructions;
    sum->lane_instructions += more->lane_instructions;
    sum->seconds += more->seconds;
    sum->differing_bytes += more->differing_bytes;
    sum->digest = sum->digest * 31 + more->digest;
    sum->unchecked = sum->unchecked || more->unchecked;
    sum->clocked = sum->clocked || more->clocked;
    add_notes(sum, more->notes);
    sum->launches += more->launches;
    return add_predictions(sum, more);
}
