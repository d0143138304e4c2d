/* Loads, stores, atomics, asynchronous copies and address windows. */
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"

static const char hints[] = "volatile weak relaxed acquire release acq_rel cta gpu sys cluster nc ca cg cs lu cv wb wt "
                            "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
                            "L2::64B L2::128B L2::256B v2 v4 v8 global shared shared::cta shared::cluster local "
                            "const param param::entry param::func unified";

static warp_space space_of(const ptx_statement *s)
{
    static const struct {
        const char *word;
        warp_space space;
    } spaces[] = {{"global", WARP_GLOBAL},      {"shared", WARP_SHARED},
                  {"shared::cta", WARP_SHARED}, {"shared::cluster", WARP_SHARED},
                  {"local", WARP_LOCAL},        {"const", WARP_CONST},
                  {"param", WARP_PARAM},        {"param::entry", WARP_PARAM},
                  {"param::func", WARP_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ptx_has(s, spaces[i].word))
            return spaces[i].space;
    return WARP_GENERIC;
}

/* Shadows of shared memory are as fine as the narrowest element. */
static void note_width(ptx_parser *parser, const warp_inst *inst)
{
    if ((inst->space == WARP_SHARED || inst->space == WARP_GENERIC) && inst->width < parser->code->granule)
        parser->code->granule = inst->width;
}

static bool set_type(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    inst->width = (uint8_t)ptx_size_of((ptx_type)inst->type);
    if (inst->type == PTX_NONE || inst->type == PTX_PRED || inst->type == PTX_B128)
        return ptx_unsupported(parser, s, "this type in");
    return true;
}

void ptx_memory_address(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot, int64_t *offset)
{
    ptx_text inner = ptx_trim(operand), base = inner;
    if (inner.size > 2) {
        base = (ptx_text){inner.at + 1, inner.size - 2};
        for (size_t i = 1; i < base.size; i++)
            if (base.at[i] == '+' || base.at[i] == '-')
                base.size = i;
        base = ptx_trim(base);
    }
    inst->address_wide = ptx_class(parser, base) == 'd';
    ptx_address(parser, operand, inst, slot, offset);
}

bool ptx_decode_access(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool load = s->words[0][0] == 'l';
    if (!ptx_only(parser, s, hints) || !set_type(parser, s, inst))
        return false;
    if (s->operand_count != 2)
        return ptx_unsupported(parser, s, "this number of operands in");
    inst->space = (uint8_t)space_of(s);
    inst->acquires = ptx_has(s, "acquire");
    inst->releases = ptx_has(s, "release") && !ptx_has(s, "cta");
    inst->is_volatile = ptx_has(s, "volatile") || ptx_has(s, "cv");
    inst->of_block = ptx_has(s, "cta");
    inst->orderly = ptx_has(s, "relaxed") || ptx_has(s, "acquire") || ptx_has(s, "release");
    inst->vec = ptx_has(s, "v2") ? 2 : ptx_has(s, "v4") ? 4 : ptx_has(s, "v8") ? 8 : 1;
    ptx_memory_address(parser, s->operands[load], inst, 0, &inst->offset);
    const ptx_text values = s->operands[load ? 0 : 1];
    uint32_t *rows = load ? inst->d : inst->s + 1;
    ptx_text parts[8];
    int count = 1;
    char wide = '\0'; /* as all registers are */
    if (values.size > 2 && values.at[0] == '{')
        count = ptx_split((ptx_text){values.at + 1, values.size - 2}, ',', parts, 8);
    else
        parts[0] = values;
    if (count != inst->vec)
        return ptx_unsupported(parser, s, "this number of registers in");
    for (int i = 0; i < count; i++) {
        const bool immediate = ptx_find(parser, parts[i]) == NULL;
        const char row_class =
            immediate && !ptx_is(parts[i], "_") ? inst->width == 8 ? 'd' : 'w' : ptx_class(parser, parts[i]);
        rows[i] = ptx_is(parts[i], "_") ? WARP_NO_ROW : ptx_row(parser, parts[i], row_class);
        if (rows[i] == WARP_NO_ROW)
            continue;
        if (row_class == 'p' || (inst->width == 8 && row_class != 'd') || (wide && wide != row_class))
            return ptx_unsupported(parser, s, "a register of this width in");
        wide = row_class;
        inst->source_wide = row_class == 'd';
    }
    inst->dests = load ? (uint8_t)count : 0;
    inst->sources = (uint8_t)(load ? 1 : 1 + count);
    if (inst->space == WARP_PARAM) {
        inst->execute = ptx_run_param;
        inst->mode = load;
        return true;
    }
    inst->execute = load ? ptx_run_load : ptx_run_store;
    inst->kind = load ? WARP_LOADS : WARP_STORES;
    note_width(parser, inst);
    return true;
}

/* The order is that of apply() in memory.c. */
static const char *const operations[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};

bool ptx_decode_atomic(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    enum { CAS = 7, ADD = 0 };
    const bool result = s->words[0][0] == 'a';
    char known[256];
    int operation = -1;
    for (int i = 0; i < 10; i++)
        if (ptx_has(s, operations[i]))
            operation = i;
    snprintf(
        known, sizeof known,
        "add min max and or xor exch cas inc dec global shared shared::cta shared::cluster relaxed acquire release "
        "acq_rel cta gpu sys cluster noftz");
    if (!ptx_only(parser, s, known) || !set_type(parser, s, inst))
        return false;
    if (operation < 0)
        return ptx_unsupported(parser, s, "this operation in");
    const ptx_type type = (ptx_type)inst->type;
    if (ptx_is_float(type) && operation != ADD)
        return ptx_unsupported(parser, s, "this operation on floats in");
    if (inst->width < 2 || (inst->width == 2 && operation != CAS && type != PTX_F16 && type != PTX_BF16))
        return ptx_unsupported(parser, s, "an atomic of this width in");
    const int need = 2 + (operation == CAS) + result;
    if (s->operand_count != need)
        return ptx_unsupported(parser, s, "this number of operands in");
    const char row_class = inst->width == 8 ? 'd' : 'w';
    inst->mode = (uint8_t)operation;
    inst->acquires = ptx_has(s, "acquire") || ptx_has(s, "acq_rel");
    inst->releases = (ptx_has(s, "release") || ptx_has(s, "acq_rel")) && !ptx_has(s, "cta");
    inst->of_block = ptx_has(s, "cta");
    inst->space = (uint8_t)space_of(s);
    inst->d[0] = WARP_NO_ROW;
    if (result && !ptx_is(s->operands[0], "_"))
        inst->d[0] = ptx_row(parser, s->operands[0], row_class);
    inst->dests = inst->d[0] != WARP_NO_ROW;
    ptx_memory_address(parser, s->operands[result], inst, 0, &inst->offset);
    inst->s[1] = ptx_row(parser, s->operands[result + 1], row_class);
    inst->s[2] = operation == CAS ? ptx_row(parser, s->operands[result + 2], row_class) : inst->s[1];
    inst->sources = 3;
    inst->vec = 1;
    inst->execute = ptx_run_atomic;
    inst->kind = WARP_UPDATES_MEMORY;
    note_width(parser, inst);
    return true;
}

/* cp.async.ca.shared.global [to], [from], bytes{, source bytes} */
bool ptx_decode_copy(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    uint64_t bytes;
    if (ptx_has(s, "mbarrier"))
        return ptx_decode_mbarrier(parser, s, inst);
    if (ptx_has(s, "bulk"))
        return ptx_decode_bulk(parser, s, inst);
    if (ptx_has(s, "commit_group") || ptx_has(s, "wait_group") || ptx_has(s, "wait_all")) {
        uint64_t left = 0;
        inst->execute = ptx_run_copy_group;
        inst->mode = ptx_has(s, "wait_group") ? PTX_GROUP_WAIT
                     : ptx_has(s, "wait_all") ? PTX_GROUP_ALL
                                              : PTX_GROUP_ENDS;
        if (inst->mode == PTX_GROUP_WAIT && (s->operand_count != 1 || !ptx_number(s->operands[0], 4, &left)))
            return ptx_wrong_form(parser, s);
        inst->offset = (int64_t)(left & INT32_MAX);
        return ptx_only(parser, s, "async commit_group wait_group wait_all");
    }
    if (!ptx_only(parser, s, "async ca cg shared shared::cta global L2::64B L2::128B L2::256B"))
        return false;
    if (s->operand_count < 3 || s->operand_count > 4 || !ptx_number(s->operands[2], 4, &bytes) ||
        (bytes != 4 && bytes != 8 && bytes != 16))
        return ptx_wrong_form(parser, s);
    inst->width = (uint8_t)bytes;
    inst->vec = 1;
    inst->space = WARP_SHARED;
    inst->mode = ptx_has(s, "cg");
    ptx_address(parser, s->operands[0], inst, 0, &inst->offset);
    inst->address_wide = ptx_class(parser, (ptx_text){s->operands[0].at + 1, s->operands[0].size - 2}) == 'd';
    const char *plus = memchr(s->operands[0].at, '+', s->operands[0].size);
    if (plus)
        inst->address_wide =
            ptx_class(parser, (ptx_text){s->operands[0].at + 1, (size_t)(plus - s->operands[0].at) - 1}) == 'd';
    ptx_address(parser, s->operands[1], inst, 1, &inst->offset2);
    inst->sources = 2;
    if (s->operand_count == 4) {
        inst->s[2] = ptx_row(parser, s->operands[3], 'w');
        inst->sources = 3;
    }
    inst->execute = ptx_run_copy;
    inst->kind = WARP_COPIES;
    return true;
}

/* cvta.shared.u64 d, a and cvta.to.shared.u64 d, a */
bool ptx_decode_window(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const ptx_type type = ptx_type_of(s->words[s->word_count - 1]);
    if (!ptx_only(parser, s, "to global shared shared::cta local const param param::entry") || s->operand_count != 2)
        return ptx_wrong_form(parser, s);
    if (type != PTX_U64)
        return ptx_unsupported(parser, s, "an address of 32 bits in");
    inst->space = (uint8_t)space_of(s);
    inst->mode = ptx_has(s, "to");
    inst->d[0] = ptx_row(parser, s->operands[0], 'd');
    inst->s[0] = ptx_row(parser, s->operands[1], 'd');
    inst->sources = 1;
    inst->execute = ptx_run_to_window;
    return true;
}

bool ptx_decode_is_space(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (!ptx_only(parser, s, "global shared shared::cta shared::cluster local const param") || s->operand_count != 2)
        return ptx_wrong_form(parser, s);
    inst->mode = ptx_has(s, "shared") || ptx_has(s, "shared::cta");
    inst->space = (uint8_t)space_of(s);
    inst->d[0] = ptx_row(parser, s->operands[0], 'p');
    inst->s[0] = ptx_row(parser, s->operands[1], 'd');
    inst->execute = ptx_run_is_space;
    return true;
}

/* mapa.u64 d, a, rank: generic addresses; mapa.shared::cluster.u32. getctarank.u64 d, a */
bool ptx_decode_rank(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool maps = s->words[0][0] == 'm';
    if (!ptx_only(parser, s, "shared::cluster") || s->operand_count != 2 + maps)
        return ptx_wrong_form(parser, s);
    inst->address_wide = ptx_size_of(ptx_type_of(s->words[s->word_count - 1])) == 8;
    const char of_address = inst->address_wide ? 'd' : 'w';
    inst->d[0] = ptx_row(parser, s->operands[0], maps ? of_address : 'w');
    inst->s[0] = ptx_row(parser, s->operands[1], of_address);
    inst->s[1] = maps ? ptx_row(parser, s->operands[2], 'w') : 0;
    inst->sources = (uint8_t)(1 + maps);
    inst->execute = maps ? ptx_run_map_rank : ptx_run_rank_of;
    parser->code->in_clusters = true;
    return true;
}

/* old = *p, before a loop of atomicCAS(p, old, ...): a swap tells whether it was changed meanwhile. In global memory a
 * test before any atomic of that place, if (*p < x) atomicMax(p, x), is taken as a volatile read. */
void ptx_mark_tried(warp_code *code)
{
    enum { MOST = 4096 }; /* more are no lock of a programmer */
    size_t count = 0, *atomics = smp_alloc_array(MOST, sizeof *atomics);
    for (size_t i = 0; atomics && i < code->count && count < MOST; i++)
        if (code->insts[i].execute == ptx_run_atomic)
            atomics[count++] = i;
    for (size_t i = 0; atomics && i < code->count; i++) {
        warp_inst *load = &code->insts[i];
        for (size_t k = 0; k < count && load->execute == ptx_run_load && !load->orderly; k++) {
            const warp_inst *atomic = &code->insts[atomics[k]];
            const bool same = atomic->s[0] == load->s[0] && atomic->offset == load->offset &&
                              atomic->space == load->space && atomic->width == load->width;
            if (atomic->mode == PTX_ATOM_SWAP)
                load->orderly =
                    atomic->width == load->width && (same || (load->vec == 1 && atomic->s[1] == load->d[0]));
            else
                load->is_volatile = load->is_volatile || (same && i < atomics[k]);
        }
    }
    smp_free(atomics);
}

/* Results of atomics that nothing reads: a counter's equal addresses merge (bank.h). Loads whose results are stored and
 * no more. Registers of other kernels do not come in between: a row belongs to one. */
void ptx_mark_unused(warp_code *code)
{
    enum { MASK = 4 /* the narrowest row */, EXCHANGE = 6, STORED = 1, USED = 2 };
    unsigned char *read = smp_alloc(code->register_bytes / MASK + 1);
    for (size_t k = 0; read && k < code->count; k++) {
        const warp_inst *other = &code->insts[k];
        const bool stores = other->execute == ptx_run_store && other->space != WARP_LOCAL;
        for (int n = 0; n < WARP_SOURCES && n < 8 + other->sources; n++)
            if (other->s[n] && other->s[n] < code->register_bytes)
                read[other->s[n] / MASK] |= stores && n ? STORED : USED;
    }
    for (size_t i = 0; read && i < code->count; i++) {
        warp_inst *inst = &code->insts[i];
        if (inst->execute == ptx_run_atomic)
            inst->result_unused = !inst->dests || inst->d[0] >= code->register_bytes || !read[inst->d[0] / MASK];
        inst->replaces = inst->execute == ptx_run_atomic && inst->result_unused && inst->mode == EXCHANGE;
        inst->copies = inst->execute == ptx_run_load;
        for (int n = 0; n < inst->dests && inst->copies; n++)
            inst->copies = inst->d[n] >= code->register_bytes || !(read[inst->d[n] / MASK] & USED);
    }
    smp_free(read);
}
