/* How often instructions ran: those of a kernel one by one, by source line, and by operation. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/machine.h"

static bool add(smp_warp_steps *steps, const smp_warp_step *more)
{
    if (!smp_grow(&steps->items, &steps->capacity, steps->count + 1, sizeof *steps->items))
        return false;
    steps->items[steps->count++] = *more;
    return true;
}

static int in_order(const void *a, const void *b)
{
    const smp_warp_step *x = a, *y = b;
    const uint32_t keys[][2] = {{x->place, y->place}, {x->file, y->file}, {x->line, y->line}};
    const int order = warp_compare(keys, sizeof keys / sizeof keys[0]);
    return order || x->place ? order : strcmp(x->text, y->text);
}

/* Sorts, and adds up those that are the same. */
static void join(smp_warp_steps *steps)
{
    size_t kept = 0;
    if (steps->count)
        qsort(steps->items, steps->count, sizeof *steps->items, in_order);
    for (size_t i = 0; i < steps->count; i++) {
        smp_warp_step *had = kept ? &steps->items[kept - 1] : NULL;
        if (!had || in_order(had, &steps->items[i]) != 0) {
            steps->items[kept++] = steps->items[i];
            continue;
        }
        had->runs += steps->items[i].runs;
        had->lanes += steps->items[i].lanes;
        had->splits += steps->items[i].splits;
    }
    steps->count = kept;
}

/* The instruction's text, each gap a blank, without the end. */
static void put_text(const warp_inst *inst, char text[SMP_WARP_STEP_TEXT])
{
    size_t used = 0;
    for (uint32_t i = 0; i < inst->text_size && used + 1 < SMP_WARP_STEP_TEXT; i++) {
        const char c = inst->text[i];
        if (isspace((unsigned char)c) ? used && text[used - 1] != ' ' : c != ';')
            text[used++] = isspace((unsigned char)c) ? ' ' : c;
    }
    while (used && text[used - 1] == ' ')
        used--;
    text[used] = 0;
}

/* "@!P0 LDS.128 R8, [R20]" is LDS. */
static void cut_to_operation(char text[SMP_WARP_STEP_TEXT])
{
    const char *from = text;
    if (*from == '@' && strchr(from, ' '))
        from = strchr(from, ' ') + 1;
    const size_t size = strcspn(from, " .");
    memmove(text, from, size);
    text[size] = 0;
}

bool warp_make_steps(const warp_block *block, smp_warp_result *result)
{
    const warp_code *code = block->code;
    bool fits = true;
    for (size_t i = 0; i < block->launch->kernel->inst_count && fits; i++) {
        const warp_inst *inst = block->insts[i];
        const warp_tally *t = &block->tallies[i];
        smp_warp_step step = {
            .file = inst->file, .line = inst->line, .runs = t->runs, .lanes = t->lanes, .splits = t->splits};
        const bool own = inst >= code->insts && inst < code->insts + code->count;
        if (t->runs)
            fits = add(&result->steps[SMP_WARP_LINES], &step);
        put_text(inst, step.text);
        if (block->launch->listing && own) {
            step.place = (uint32_t)(inst - code->insts) + 1;
            fits = fits && add(&result->steps[SMP_WARP_LISTING], &step);
        }
        step.place = step.file = step.line = 0;
        cut_to_operation(step.text);
        if (t->runs && step.text[0])
            fits = fits && add(&result->steps[SMP_WARP_MIX], &step);
    }
    join(&result->steps[SMP_WARP_LINES]);
    join(&result->steps[SMP_WARP_MIX]);
    return fits;
}

bool smp_warp_steps_add(smp_warp_result *sum, const smp_warp_result *more)
{
    bool fits = true;
    for (int which = 0; which < SMP_WARP_STEPS; which++) {
        for (size_t i = 0; i < more->steps[which].count && fits; i++)
            fits = add(&sum->steps[which], &more->steps[which].items[i]);
        join(&sum->steps[which]);
    }
    return fits;
}

void smp_warp_steps_free(smp_warp_result *result)
{
    for (int which = 0; which < SMP_WARP_STEPS; which++)
        smp_free(result->steps[which].items);
}
