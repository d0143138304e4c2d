/* Loads, stores, atomics, matrices: what they do is the PTX instructions' (ptx/memory.c, ptx/matrix.c). */
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"

static int find_memory(const sass_line *line, int from)
{
    for (int i = from; i < line->count; i++)
        if (line->operands[i].kind == SASS_MEMORY)
            return i;
    return -1;
}

static uint32_t uniform_row(sass_parser *parser, const sass_operand *o)
{
    return o->uniform == SASS_NO_UNIFORM ? WARP_NO_ROW : parser->uniforms + (uint32_t)o->uniform * SASS_WORD_ROW;
}

static uint32_t base_row(sass_parser *parser, const sass_operand *o)
{
    return o->number == SASS_RZ ? parser->zero : (uint32_t)o->number * SASS_WORD_ROW;
}

/* Returns where shared memory begins for the code: its first KB is the system's. */
static uint32_t shared_bias(const sass_parser *parser)
{
    enum { RESERVED = 0x400, FIRST = 90 };
    return parser->architecture >= FIRST ? RESERVED : 0;
}

bool sass_set_address(sass_parser *parser, const sass_line *line, int operand, warp_space space, warp_inst *inst)
{
    if (operand < 0)
        return sass_refuse(parser, line, "there is no address");
    const sass_operand *o = &line->operands[operand];
    inst->s[0] = base_row(parser, o);
    /* ATOMG.E.CAS names no .64: .E says it */
    const bool extended = sass_has(line, "E") && o->uniform == SASS_NO_UNIFORM;
    inst->address_wide = o->wide || (extended && (space == WARP_GLOBAL || space == WARP_GENERIC));
    inst->scale = o->scale;
    inst->offset = o->offset;
    inst->add = uniform_row(parser, o);
    inst->add_wide = o->uniform_wide;
    inst->space = (uint8_t)space;
    inst->bias = space == WARP_SHARED || space == WARP_GENERIC ? shared_bias(parser) : 0;
    return true;
}

static void set_width(sass_parser *parser, const sass_line *line, warp_inst *inst)
{
    const bool byte = sass_has(line, "U8") || sass_has(line, "S8");
    const bool half = sass_has(line, "U16") || sass_has(line, "S16");
    inst->width = byte ? 1 : half ? 2 : 4;
    inst->vec = sass_has(line, "128") ? 4 : sass_has(line, "64") ? 2 : 1;
    inst->type = (uint8_t)(sass_has(line, "S8") ? PTX_S8 : sass_has(line, "S16") ? PTX_S16 : PTX_U32);
    if (inst->width < parser->code->granule)
        parser->code->granule = inst->width;
}

static warp_space space_of(const char *name)
{
    const char last = name[strlen(name) - 1];
    return last == 'G' ? WARP_GLOBAL : last == 'S' ? WARP_SHARED : last == 'L' ? WARP_LOCAL : WARP_GENERIC;
}

/* LDG, LD, LDS, LDL */
static bool decode_load(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const char *name = line->words[0];
    const warp_space space = !strcmp(name, "LD") ? WARP_GENERIC : space_of(name);
    const uint32_t to = line->count ? sass_to(parser, &line->operands[0]) : WARP_NO_ROW;
    if (to == WARP_NO_ROW || find_memory(line, 1) != 1)
        return sass_refuse(parser, line, "a load of this form");
    set_width(parser, line, inst);
    inst->dests = inst->vec;
    for (uint32_t i = 0; i < inst->vec; i++)
        inst->d[i] = to + i * SASS_WORD_ROW;
    inst->sources = 1;
    inst->kind = WARP_LOADS;
    inst->execute = ptx_run_load;
    return sass_set_address(parser, line, 1, space, inst);
}

/* STG, ST, STS, STL */
static bool decode_store(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const char *name = line->words[0];
    const warp_space space = !strcmp(name, "ST") ? WARP_GENERIC : space_of(name);
    const uint32_t from = line->count == 2 ? sass_row(parser, &line->operands[1], 1, false) : WARP_NO_ROW;
    if (from == WARP_NO_ROW || find_memory(line, 0) != 0)
        return sass_refuse(parser, line, "a store of this form");
    set_width(parser, line, inst);
    for (uint32_t i = 0; i < inst->vec; i++)
        inst->s[1 + i] = from + i * SASS_WORD_ROW;
    inst->sources = (uint8_t)(1 + inst->vec);
    inst->kind = WARP_STORES;
    inst->execute = ptx_run_store;
    return sass_set_address(parser, line, 0, space, inst);
}

/* The order is that of apply() in ptx/memory.c. */
static const char *const operations[] = {"ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS", "INC", "DEC", "CAST"};

/* ATOMG.E.ADD PT, to, address, value; ATOMS.CAS to, address, is, becomes; REDG.E.ADD address, value;
 * ATOMS.CAST.SPIN p, address, is, becomes: whether it was so; ATOMS.POPC.INC.32 to, address: adds the number of lanes
 */
static bool decode_atomic(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    enum { ADD = 0, COMPARE_AND_SWAP = 7 };
    const char *name = line->words[0];
    const bool is_shared = !strcmp(name, "ATOMS"), is_global = name[strlen(name) - 1] == 'G';
    const bool counts = sass_has(line, "POPC"), wide = sass_has(line, "64") || sass_has(line, "F64");
    const int at = find_memory(line, 0);
    int mode = -1;
    for (int i = 0; i <= PTX_ATOM_SWAPPED; i++)
        if (sass_has(line, operations[i]))
            mode = i;
    mode = counts ? ADD : mode;
    const int values = counts ? 0 : mode == PTX_ATOM_SWAP || mode == PTX_ATOM_SWAPPED ? 2 : 1;
    if (mode < 0 || at < 0 || line->count != at + 1 + values || at > 2)
        return sass_refuse(parser, line, "an atomic of this form");
    const bool asks = at == 2 && line->operands[0].number != SASS_PT;
    if (asks && (is_shared || is_global))
        return sass_refuse(parser, line, "an atomic with a predicate");
    inst->mode = (uint8_t)mode;
    inst->type = (uint8_t)(sass_has(line, "F64")     ? PTX_F64
                           : sass_has(line, "F32")   ? PTX_F32
                           : sass_has(line, "F16x2") ? PTX_F16X2
                           : sass_has(line, "S32")   ? PTX_S32
                           : sass_has(line, "S64")   ? PTX_S64
                           : wide                    ? PTX_U64
                                                     : PTX_U32);
    inst->width = wide || sass_has(line, "S64") ? 8 : 4;
    inst->vec = 1;
    inst->d[0] = inst->d[1] = parser->sink;
    const bool tells = at == 1 && mode == PTX_ATOM_SWAPPED && sass_is_predicate(&line->operands[0]);
    if (tells) {
        op->pred_to[0] = sass_predicate_to(parser, &line->operands[0]);
        op->source[0] = parser->sink;
    } else if (at > 0) {
        inst->d[0] = sass_to(parser, &line->operands[at - 1]);
        if (inst->d[0] == WARP_NO_ROW)
            return sass_refuse(parser, line, "the result is not a register");
        inst->d[1] = inst->d[0] + SASS_WORD_ROW;
    }
    inst->dests = 1;
    inst->s[1] = inst->s[2] = counts ? sass_constant(parser, 1, 0) : parser->zero;
    for (int i = 0; i < values; i++) {
        const sass_operand *o = &line->operands[at + 1 + i];
        inst->s[1 + i] = sass_row(parser, o, 1, false);
        if (inst->s[1 + i] == WARP_NO_ROW || o->negate || o->invert)
            return sass_refuse(parser, line, "a value of this form");
    }
    inst->sources = 3;
    inst->result_unused = counts;
    inst->spins = sass_has(line, "SPIN");
    inst->kind = WARP_UPDATES_MEMORY;
    inst->execute = tells ? sass_run_swap : asks ? sass_run_global_atomic : ptx_run_atomic;
    op->pred_to[0] = asks ? sass_predicate_to(parser, &line->operands[0]) : op->pred_to[0];
    return sass_set_address(parser, line, at, is_shared ? WARP_SHARED : is_global ? WARP_GLOBAL : WARP_GENERIC, inst);
}

/* QSPC.E.S p, RZ, address: whether it is of shared memory */
static bool decode_query(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (line->count != 3 || !sass_is_predicate(&line->operands[0]) || line->operands[1].number != SASS_RZ ||
        !sass_has(line, "S"))
        return sass_refuse(parser, line, "this form");
    op->pred_to[0] = sass_predicate_to(parser, &line->operands[0]);
    inst->execute = sass_run_query;
    return sass_set_address(parser, line, 2, WARP_GENERIC, inst);
}

/* LDC, ULDC, LDCU: of a fixed place a copy, of one that registers tell a look-up */
static bool decode_bank(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const sass_operand *o = &line->operands[1];
    op->to = line->count ? sass_to(parser, &line->operands[0]) : WARP_NO_ROW;
    op->wide = sass_has(line, "64");
    op->lut = sass_has(line, "U8") || sass_has(line, "S8") ? 1 : sass_has(line, "U16") || sass_has(line, "S16") ? 2 : 4;
    op->is_signed = sass_has(line, "S8") || sass_has(line, "S16");
    op->mode = (uint8_t)o->bank;
    op->submode = sass_has(line, "128");
    if (line->count != 2 || o->kind != SASS_BANK || op->to == WARP_NO_ROW)
        return sass_refuse(parser, line, "this form");
    if (op->lut == 4 && !op->submode && o->number == SASS_RZ && o->uniform == SASS_NO_UNIFORM) {
        inst->execute = sass_function_of(SASS_COPY);
        return sass_source(parser, line, op, 0, 1, 2, false);
    }
    op->source[0] = base_row(parser, o);
    op->source[1] = uniform_row(parser, o);
    op->source[1] = op->source[1] == WARP_NO_ROW ? parser->zero : op->source[1];
    inst->offset = o->offset;
    inst->execute = sass_run_bank;
    return true;
}

/* LDGSTS.E.BYPASS.128 [shared], desc[][global] {, p}: where p does not hold, zeros */
static bool decode_copy(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const sass_operand *present = line->count == 3 ? &line->operands[2] : NULL;
    if (find_memory(line, 0) != 0 || find_memory(line, 1) != 1 || line->count > 3 ||
        (present && !sass_is_predicate(present)))
        return sass_refuse(parser, line, "a copy of this form");
    const sass_operand *from = &line->operands[1];
    inst->width = sass_has(line, "128") ? 16 : sass_has(line, "64") ? 8 : 4;
    inst->vec = 1;
    inst->mode = sass_has(line, "BYPASS");
    inst->kind = WARP_COPIES;
    inst->execute = ptx_run_copy;
    inst->sources = 2;
    if (!sass_set_address(parser, line, 0, WARP_SHARED, inst))
        return false;
    if (present && (present->number != SASS_PT || present->invert)) {
        inst->s[2] = sass_predicate(parser, present);
        inst->negate_source = present->invert;
        inst->sources = 3;
    }
    inst->s[1] = base_row(parser, from);
    inst->s[3] = uniform_row(parser, from);
    inst->add_wide = from->uniform_wide;
    inst->offset2 = from->offset;
    return from->wide || sass_refuse(parser, line, "an address of 32 bits");
}

/* LDSM.16.M88.4 to, [address]; MT88: transposed; STSM the other way */
static bool decode_matrices(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const bool load = line->words[0][0] == 'L';
    const int count = sass_has(line, "4") ? 4 : sass_has(line, "2") ? 2 : 1, at = load ? 1 : 0;
    if (line->count != 2 || find_memory(line, 0) != at || line->operands[!at].kind != SASS_REGISTER)
        return sass_refuse(parser, line, "matrices of this form");
    const uint32_t row =
        load ? sass_to(parser, &line->operands[!at]) : sass_row(parser, &line->operands[!at], 1, false);
    inst->dests = (uint8_t)count;
    for (uint32_t i = 0; i < (uint32_t)count; i++)
        inst->d[i] = row + i * SASS_WORD_ROW;
    inst->columns = sass_has(line, "MT88");
    inst->width = 16;
    inst->vec = 1;
    inst->sources = 1;
    inst->kind = load ? WARP_LOADS : WARP_STORES;
    inst->execute = load ? ptx_run_ldmatrix : ptx_run_stmatrix;
    parser->code->granule = parser->code->granule < 2 ? parser->code->granule : 2;
    return sass_set_address(parser, line, at, WARP_SHARED, inst);
}

/* HMMA.16816.F32{.BF16} d, a, b, c; IMMA.16832.S8.U8{.SAT} d, a.ROW, b.COL, c */
static bool decode_product(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const bool bytes = line->words[0][0] == 'I';
    static const char *const depths[] = {"1684", "1688", "16816", "16832"};
    static const uint8_t depth_of[] = {4, 8, 16, 32};
    uint32_t rows[4];
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
        inst->width = sass_has(line, depths[i]) ? depth_of[i] : inst->width;
    if (bytes && line->word_count >= 4) {
        inst->type = strcmp(line->words[2], "S8") != 0 ? PTX_MMA_U8 : PTX_MMA_S8;
        inst->from_type = strcmp(line->words[3], "S8") != 0 ? PTX_MMA_U8 : PTX_MMA_S8;
    } else
        inst->type = inst->from_type = sass_has(line, "BF16")   ? PTX_MMA_BF16
                                       : sass_has(line, "TF32") ? PTX_MMA_TF32
                                                                : PTX_MMA_F16;
    inst->mode = bytes ? PTX_MMA_INTEGERS : sass_has(line, "F32") ? PTX_MMA_FLOATS : PTX_MMA_HALF_SUMS;
    inst->saturate = sass_has(line, "SAT");
    if (line->count < 4 || (bytes && line->word_count < 4) ||
        !ptx_mma_fits(inst->type, inst->from_type, inst->mode, inst->width))
        return sass_refuse(parser, line, "a product of this form");
    for (int i = 0; i < 4; i++) {
        const sass_operand *o = &line->operands[i];
        rows[i] = i ? sass_row(parser, o, 1, false) : sass_to(parser, o);
        if (o->kind != SASS_REGISTER || o->negate)
            return sass_refuse(parser, line, "a product of this form");
    }
    for (uint32_t i = 0; i < 4; i++) {
        inst->d[i] = rows[0] + i * SASS_WORD_ROW;
        inst->s[i] = rows[1] + i * SASS_WORD_ROW;
        inst->s[8 + i] = rows[2] + i * SASS_WORD_ROW;
        inst->s[16 + i] = rows[3] + i * SASS_WORD_ROW;
    }
    inst->dests = inst->mode == PTX_MMA_HALF_SUMS ? 2 : 4;
    inst->sources = 20;
    inst->execute = ptx_run_mma;
    return true;
}

/* MOVM.16.MT88 d, a: the transpose of a matrix of 8 x 8 */
static bool decode_transpose(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    inst->d[0] = line->count == 2 ? sass_to(parser, &line->operands[0]) : WARP_NO_ROW;
    inst->s[0] = line->count == 2 ? sass_row(parser, &line->operands[1], 1, false) : WARP_NO_ROW;
    inst->execute = ptx_run_movmatrix;
    return (sass_has(line, "MT88") && inst->d[0] != WARP_NO_ROW && inst->s[0] != WARP_NO_ROW) ||
           sass_refuse(parser, line, "this form");
}

/* DMMA.8x8x4 d, a, b, c */
static bool decode_double_product(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (line->count != 4)
        return sass_refuse(parser, line, "a product of this form");
    op->to = sass_to(parser, &line->operands[0]);
    for (int i = 0; i < 3; i++) {
        const sass_operand *o = &line->operands[1 + i];
        op->source[i] = sass_row(parser, o, 1, false);
        if (o->kind != SASS_REGISTER || o->negate)
            return sass_refuse(parser, line, "a product of this form");
    }
    inst->execute = sass_run_double_product;
    return op->to != WARP_NO_ROW || sass_refuse(parser, line, "a product of this form");
}

#define CACHES "E CONSTANT STRONG WEAK GPU SM SYS CTA NA EF EL LU LTC64B LTC128B LTC256B PRIVATE"
#define WIDTHS "U8 S8 U16 S16 64 128"
const sass_decoder_row sass_memory_decoders[] = {
    {"LDG LD", decode_load, CACHES " " WIDTHS},
    {"LDS", decode_load, WIDTHS " U"},
    {"LDL", decode_load, WIDTHS " LU"},
    {"STG ST", decode_store, CACHES " " WIDTHS},
    {"STS STL", decode_store, WIDTHS},
    {"ATOMG ATOM", decode_atomic, CACHES " ADD MIN MAX AND OR XOR EXCH CAS INC DEC F32 F64 F16x2 S32 S64 64 RN FTZ"},
    {"RED REDG", decode_atomic, CACHES " ADD MIN MAX AND OR XOR INC DEC F32 F64 F16x2 S32 S64 64 RN FTZ"},
    {"ATOMS", decode_atomic, "ADD MIN MAX AND OR XOR EXCH CAS INC DEC POPC 32 CAST SPIN S32 64"},
    {"QSPC", decode_query, "E S"},
    {"LDC ULDC", decode_bank, "64 U8 S8 U16 S16"},
    {"LDCU", decode_bank, "64 128 U8 S8 U16 S16"},
    {"LDGSTS", decode_copy, CACHES " BYPASS 64 128"},
    {"LDSM STSM", decode_matrices, "16 M88 MT88 2 4"},
    {"MOVM", decode_transpose, "16 MT88"},
    {"HMMA", decode_product, "16816 1688 1684 F32 F16 BF16 TF32"},
    {"DMMA", decode_double_product, "8x8x4"},
    {"IMMA", decode_product, "16816 16832 U8 S8 SAT"},
    {"LDGDEPBAR ERRBAR CGAERRBAR", sass_decode_nothing, ""},
    {"DEPBAR", sass_decode_nothing, "LE"},
    {"MEMBAR", sass_decode_nothing, "SC ALL GPU CTA SYS VC"},
    {"CCTL", sass_decode_nothing, "E IVALL PF1 PF2"},
    {"FENCE", sass_decode_nothing, "VIEW ASYNC S"},
    {NULL, NULL, NULL},
};
