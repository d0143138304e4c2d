/* Finds accesses whose addresses depend on what each thread has read for itself, as h[in[i]] does, or was given by
 * malloc: no other layout mends how they lie. What all threads read alike, as a width in memory, is no such thing. */
#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/ptx.h"

enum { ROW = 4 /* bytes of the narrowest row */, VARIES = 1 /* between threads */, READ = 2 };

/* What the instruction's results are made of, by its sources. */
static unsigned char made_of(const warp_code *code, const warp_inst *inst, const unsigned char *rows)
{
    const bool loads = inst->execute == ptx_run_load;
    unsigned char made = 0;
    for (int n = 0; n < (loads ? 1 : WARP_SOURCES); n++)
        made |= inst->s[n] < code->register_bytes ? rows[inst->s[n] / ROW] : 0;
    if (inst->execute == ptx_run_param && inst > code->insts && ptx_is_malloc(inst - 1)) /* reads what it gave */
        return VARIES | READ;
    const bool reads = loads ? made && inst->space != WARP_LOCAL : inst->execute == ptx_run_atomic;
    return reads ? VARIES | READ : made;
}

void ptx_mark_by_data(warp_code *code)
{
    enum { PASSES = 8 /* as loops carry an index */ };
    unsigned char *rows = smp_alloc(code->register_bytes / ROW + 1);
    for (size_t i = 0; i < code->special_count && rows; i++)
        if (code->specials[i].special <= WARP_TID_Z || code->specials[i].special == WARP_LANEID)
            rows[code->specials[i].row / ROW] = VARIES;
    for (size_t i = 0; i < PASSES * code->count && rows; i++) {
        warp_inst *inst = &code->insts[i % code->count];
        const unsigned char made = made_of(code, inst, rows);
        for (int n = 0; n < inst->dests && n < WARP_DESTS; n++)
            if (inst->d[n] < code->register_bytes)
                rows[inst->d[n] / ROW] |= made;
        rows[0] = 0; /* also that of what an instruction does not have */
        inst->by_data = inst->s[0] < code->register_bytes && (rows[inst->s[0] / ROW] & READ);
    }
    smp_free(rows);
}
