/* Instructions: opcode, guard and operands. What computes lane by lane is a row of the tables lanes_*.c; a modifier
 * that no row has makes the kernel one that cannot run. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/lanes.h"
#include "lab/ptx/ptx.h"

bool ptx_has(const ptx_statement *s, const char *word)
{
    for (int i = 1; i < s->word_count; i++)
        if (!strcmp(s->words[i], word))
            return true;
    return false;
}

bool ptx_in_list(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; size && (at = strstr(at, word)); at += size)
        if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
    return false;
}

bool ptx_unsupported(ptx_parser *parser, const ptx_statement *s, const char *what)
{
    ptx_refuse(parser, s->opcode.at, "%s '%.*s' is not supported", what,
               (int)(s->opcode.size < 80 ? s->opcode.size : 80), s->opcode.at);
    return false;
}

bool ptx_wrong_form(ptx_parser *parser, const ptx_statement *s)
{
    return ptx_unsupported(parser, s, "this form of");
}

bool ptx_only(ptx_parser *parser, const ptx_statement *s, const char *known)
{
    for (int i = 1; i < s->word_count; i++)
        if (ptx_type_of(s->words[i]) == PTX_NONE && !ptx_in_list(known, s->words[i])) {
            char what[48];
            snprintf(what, sizeof what, "the modifier '.%s' of", s->words[i]);
            return ptx_unsupported(parser, s, what);
        }
    return true;
}

/* ------------------------------------------------------------------------------------------------ arithmetic */

/* The name of a row: modifiers that say what the machine does anyway are left out, .ftz and .sat are flags. */
static void row_name(const ptx_statement *s, warp_inst *inst, char *name, size_t size)
{
    const char *type = s->words[s->word_count - 1], *op = s->words[0];
    const bool single = !strcmp(type, "f32"), is_float = ptx_is_float(ptx_type_of(type));
    const bool rounds = is_float && ptx_in_list("add sub mul fma mad div rcp sqrt", op);
    const bool near = ptx_in_list("div rcp sqrt rsqrt sin cos ex2 lg2 tanh", op);
    size_t used = (size_t)snprintf(name, size, "%s", op);
    for (int i = 1; i < s->word_count && used < size; i++) {
        const char *word = s->words[i];
        if (!strcmp(word, "ftz") && (single || !strcmp(op, "ex2"))) {
            inst->flush = single;
            continue;
        }
        if (!strcmp(word, "sat") && single && rounds) {
            inst->saturate = true;
            continue;
        }
        const bool reciprocal = single && !strcmp(op, "div") && !strcmp(word, "approx");
        if ((!strcmp(word, "rn") && rounds) || (near && !reciprocal && ptx_in_list("approx full", word)))
            continue;
        used += (size_t)snprintf(name + used, size - used, ".%s", word);
    }
}

static bool find_row(ptx_parser *parser, const ptx_statement *s, const char *name, warp_inst *inst)
{
    const warp_lane_row *row = warp_lane_row_find(name);
    const size_t most = sizeof inst->s_class / sizeof inst->s_class[0], classes = row ? strlen(row->operands) : 0;
    if (!row || classes == 0 || classes - 1 > most)
        return ptx_unsupported(parser, s, "the instruction");
    inst->alu = row->alu;
    inst->d_class = (uint8_t)row->operands[0];
    inst->sources = (uint8_t)(classes - 1);
    for (size_t i = 0; i < most && i + 1 < classes; i++)
        inst->s_class[i] = (uint8_t)row->operands[i + 1];
    return true;
}

static bool wrong_operands(ptx_parser *parser, const ptx_statement *s)
{
    ptx_refuse(parser, s->opcode.at, "'%.*s' has %d operands here, which is wrong",
               (int)(s->opcode.size < 80 ? s->opcode.size : 80), s->opcode.at, s->operand_count);
    return false;
}

void ptx_predicate(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot)
{
    if (operand.size && operand.at[0] == '!') {
        inst->negate_source = true;
        operand = ptx_trim((ptx_text){operand.at + 1, operand.size - 1});
    }
    inst->s[slot] = ptx_row(parser, operand, 'p');
}

/* setp.lt.and.f32 p|q, a, b, !c and set */
static bool decode_test(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    char name[64];
    const bool is_set = !strcmp(s->words[0], "set");
    ptx_text dests[2];
    const char *type = s->words[s->word_count - 1];
    static const char *const combines[] = {"and", "or", "xor"};
    const bool pair = !strcmp(type, "f16x2") || !strcmp(type, "bf16x2");
    snprintf(name, sizeof name, "setp.%s.%s", s->words[1], !pair ? type : type[0] == 'f' ? "f16" : "bf16");
    inst->vec = pair ? 2 : 1;
    for (int i = 2; i < s->word_count - 1 - is_set; i++) {
        const char *word = s->words[i];
        bool known = false;
        for (int k = 0; k < 3; k++)
            if (!strcmp(word, combines[k])) {
                inst->combine = (uint8_t)(k + 1);
                known = true;
            }
        if (!strcmp(word, "ftz")) {
            inst->flush = !strcmp(type, "f32");
            known = true; /* of halves it changes no comparison but with the smallest: they are compared as they are */
        }
        if (!known)
            return ptx_only(parser, s, "") && wrong_operands(parser, s);
    }
    if (!find_row(parser, s, name, inst))
        return false;
    if (s->operand_count != 3 + (inst->combine != 0))
        return wrong_operands(parser, s);
    const int count = ptx_split(s->operands[0], '|', dests, 2);
    inst->dests = (uint8_t)(count < 1 ? 1 : count);
    for (int i = 0; i < count; i++)
        inst->d[i] = ptx_is(dests[i], "_") ? WARP_NO_ROW : ptx_row(parser, dests[i], is_set ? 'w' : 'p');
    for (int i = 0; i < 2; i++)
        inst->s[i] = ptx_row(parser, s->operands[1 + i], (char)inst->s_class[i]);
    if (inst->combine)
        ptx_predicate(parser, s->operands[3], inst, 2);
    if (is_set) {
        const ptx_type to = ptx_type_of(s->words[s->word_count - 2]);
        const bool of_halves = to == PTX_F16 || to == PTX_BF16, pairs = to == PTX_F16X2 || to == PTX_BF16X2;
        if (to != PTX_U32 && to != PTX_S32 && to != PTX_F32 && !of_halves && !(pairs && pair))
            return ptx_refuse(parser, s->opcode.at, "set to '.%s' is not supported", s->words[s->word_count - 2]),
                   false;
        inst->type = (uint8_t)to;
    }
    inst->execute = is_set ? ptx_run_set : ptx_run_test;
    return true;
}

/* mov of a vector: {a, b} to one register or back. */
static bool decode_pack(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const ptx_type type = ptx_type_of(s->words[s->word_count - 1]);
    const bool pack = s->operands[1].size && s->operands[1].at[0] == '{';
    if (s->word_count != 2 || (type != PTX_B32 && type != PTX_B64 && type != PTX_U32 && type != PTX_U64))
        return ptx_refuse(parser, s->opcode.at, "a vector move of this type is not supported"), false;
    const char whole = ptx_size_of(type) == 8 ? 'd' : 'w';
    inst->d_class = (uint8_t)whole;
    if (pack) {
        inst->d[0] = ptx_row(parser, s->operands[0], whole);
        inst->sources = (uint8_t)ptx_rows(parser, s->operands[1], 'w', inst->s, 4);
    } else {
        inst->s[0] = ptx_row(parser, s->operands[1], whole);
        inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 4);
    }
    const int parts = pack ? inst->sources : inst->dests;
    if (parts != 2 && parts != 4)
        return wrong_operands(parser, s);
    inst->width = (uint8_t)(ptx_size_of(type) / (uint32_t)parts);
    inst->execute = pack ? ptx_run_pack : ptx_run_unpack;
    return true;
}

static bool decode_move(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (s->operand_count != 2)
        return wrong_operands(parser, s);
    if (s->operands[0].at[0] == '{' || s->operands[1].at[0] == '{')
        return decode_pack(parser, s, inst);
    if (ptx_is(s->operands[1], "%clock") || ptx_is(s->operands[1], "%clock64") ||
        ptx_is(s->operands[1], "%globaltimer") || ptx_is(s->operands[1], "%globaltimer_lo")) {
        inst->d_class = (uint8_t)ptx_class(parser, s->operands[0]);
        inst->d[0] = ptx_row(parser, s->operands[0], (char)inst->d_class);
        inst->execute = ptx_run_clock;
        return true;
    }
    return ptx_decode_alu(parser, s, inst);
}

/* bfi and lop3 have four sources. */
static bool decode_four(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool insert = !strcmp(s->words[0], "bfi");
    const bool wide = insert && !strcmp(s->words[1], "b64");
    if (s->word_count != 2 || (strcmp(s->words[1], "b32") != 0 && !wide))
        return ptx_only(parser, s, "") && wrong_operands(parser, s);
    if (s->operand_count != 5)
        return wrong_operands(parser, s);
    inst->d_class = wide ? 'd' : 'w';
    inst->d[0] = ptx_row(parser, s->operands[0], (char)inst->d_class);
    for (int i = 0; i < 4; i++)
        inst->s[i] = ptx_row(parser, s->operands[1 + i], wide && i < 2 ? 'd' : 'w');
    inst->execute = insert ? ptx_run_insert : ptx_run_lop3;
    return true;
}

bool ptx_decode_alu(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    char name[96];
    row_name(s, inst, name, sizeof name);
    if (!find_row(parser, s, name, inst))
        return false;
    if (s->operand_count != 1 + inst->sources)
        return wrong_operands(parser, s);
    inst->d[0] = ptx_row(parser, s->operands[0], (char)inst->d_class);
    for (int i = 0; i < inst->sources; i++)
        inst->s[i] = ptx_row(parser, s->operands[1 + i], (char)inst->s_class[i]);
    inst->execute = inst->flush || inst->saturate ? ptx_run_flushed : ptx_run_alu;
    return true;
}

/* ------------------------------------------------------------------------------------------------ flow */

static bool decode_jump(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (!ptx_only(parser, s, "uni"))
        return false;
    if (s->operand_count != 1 ||
        !smp_grow(&parser->jumps, &parser->jump_capacity, parser->jump_count + 1, sizeof *parser->jumps))
        return wrong_operands(parser, s);
    parser->jumps[parser->jump_count++] = (ptx_jump){s->operands[0], (uint32_t)parser->code->count, parser->depth};
    inst->flow = WARP_JUMP;
    return true;
}

static bool decode_end(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    inst->flow = !strcmp(s->words[0], "ret") ? WARP_RETURN : WARP_EXIT;
    return ptx_only(parser, s, "uni");
}

static bool decode_trap(ptx_parser *, const ptx_statement *, warp_inst *inst)
{
    inst->execute = ptx_run_trap;
    return true;
}

/* add, sub and mad, which may give a carry on */
static bool decode_sum(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    return ptx_has(s, "cc") ? ptx_decode_carry(parser, s, inst) : ptx_decode_alu(parser, s, inst);
}

static bool decode_nothing(ptx_parser *, const ptx_statement *, warp_inst *inst)
{
    inst->execute = ptx_run_nothing;
    return true;
}

/* Decodes a fence; fences of a proxy order no threads. */
static bool decode_fence(ptx_parser *, const ptx_statement *s, warp_inst *inst)
{
    inst->execute = ptx_has(s, "proxy") ? ptx_run_nothing : ptx_run_fence;
    inst->mode = !ptx_has(s, "cta"); /* of more than the block */
    return true;
}

static const struct {
    const char *names; /* of operations, with blanks between */
    ptx_decoder *decode;
} families[] = {
    {"setp set", decode_test},
    {"mov", decode_move},
    {"add sub mad", decode_sum},
    {"addc subc madc", ptx_decode_carry},
    {"bfi lop3", decode_four},
    {"cvt", ptx_decode_convert},
    {"bra", decode_jump},
    {"ret exit", decode_end},
    {"trap brkpt", decode_trap},
    {"call", ptx_decode_call},
    {"ld ldu st", ptx_decode_access},
    {"atom red", ptx_decode_atomic},
    {"cvta", ptx_decode_window},
    {"cp", ptx_decode_copy},
    {"isspacep", ptx_decode_is_space},
    {"mapa getctarank", ptx_decode_rank},
    {"mbarrier", ptx_decode_mbarrier},
    {"tex", ptx_decode_texture},
    {"suld sust", ptx_decode_surface},
    {"bar barrier", ptx_decode_barrier},
    {"shfl", ptx_decode_shuffle},
    {"vote", ptx_decode_vote},
    {"match", ptx_decode_match},
    {"redux", ptx_decode_reduce},
    {"activemask", ptx_decode_active},
    {"elect", ptx_decode_elect},
    {"wmma", ptx_decode_wmma},
    {"mma", ptx_decode_mma},
    {"wgmma", ptx_decode_wgmma},
    {"ldmatrix", ptx_decode_ldmatrix},
    {"stmatrix", ptx_decode_stmatrix},
    {"movmatrix", ptx_decode_movmatrix},
    {"membar fence", decode_fence},
    /* of launches, which run one after another, of caches and of time */
    {"setmaxnreg griddepcontrol prefetch prefetchu nanosleep pmevent discard applypriority", decode_nothing},
};

static bool read_guard(ptx_parser *parser, ptx_text *statement, warp_inst *inst)
{
    inst->guard = WARP_NO_ROW;
    if (statement->at[0] != '@')
        return true;
    size_t size = 1;
    while (size < statement->size && !isspace((unsigned char)statement->at[size]))
        size++;
    ptx_text guard = {statement->at + 1, size - 1};
    if (guard.size && guard.at[0] == '!') {
        inst->guard_not = true;
        guard.at++;
        guard.size--;
    }
    *statement = ptx_trim((ptx_text){statement->at + size, statement->size - size});
    inst->guard = ptx_row(parser, guard, 'p');
    return statement->size != 0;
}

/* Whether all numbers of an instruction have 16 bits. Addresses have more, and so has what mad.wide adds. */
static bool is_narrow(const ptx_statement *s)
{
    const ptx_type type = ptx_type_of(s->words[s->word_count - 1]);
    for (int i = 0; i < s->operand_count; i++)
        if (memchr(s->operands[i].at, '[', s->operands[i].size))
            return false;
    return ptx_size_of(type) == 2 && !ptx_is_float(type) && (strcmp(s->words[0], "mad") != 0 || !ptx_has(s, "wide"));
}

/* Whether all that is read has a row; and all that is written, of matrices, which have no '_' among their registers. */
static bool has_rows(const ptx_statement *s, const warp_inst *inst)
{
    const bool matrix = !strcmp(s->words[0], "wmma") || !strcmp(s->words[0], "mma");
    bool has = true;
    for (int i = 0; i < WARP_SOURCES; i++)
        has = has && inst->s[i] != WARP_NO_ROW;
    for (int i = 0; matrix && i < inst->dests && i < WARP_DESTS; i++)
        has = has && inst->d[i] != WARP_NO_ROW;
    return has;
}

void ptx_decode(ptx_parser *parser, ptx_text statement)
{
    warp_code *code = parser->code;
    ptx_statement s = {0};
    const char *begin = statement.at;
    if (!statement.size)
        return;
    if (!smp_grow(&code->insts, &code->capacity, code->count + 1, sizeof *code->insts)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "instructions", sizeof *code->insts);
        return;
    }
    warp_inst *inst = &code->insts[code->count];
    memset(inst, 0, sizeof *inst);
    inst->file = parser->file;
    inst->line = parser->source_line;
    inst->text_line = ptx_line(parser, begin);
    inst->text = begin;
    inst->text_size = (uint32_t)statement.size;
    inst->dests = 1;
    if (!read_guard(parser, &statement, inst))
        return;
    while (s.opcode.size < statement.size && !isspace((unsigned char)statement.at[s.opcode.size]))
        s.opcode.size++;
    s.opcode.at = statement.at;
    ptx_text words[PTX_WORDS];
    s.word_count = ptx_split(s.opcode, '.', words, PTX_WORDS);
    for (int i = 0; i < s.word_count; i++)
        snprintf(s.words[i], sizeof s.words[i], "%.*s", (int)(words[i].size < 23 ? words[i].size : 23), words[i].at);
    const ptx_text operands = {statement.at + s.opcode.size, statement.size - s.opcode.size};
    s.operand_count = ptx_split(operands, ',', s.operands, PTX_OPERANDS);
    if (s.word_count < 1 || s.operand_count < 0) {
        ptx_unsupported(parser, &s, "the instruction");
        return;
    }
    parser->narrow = is_narrow(&s);
    ptx_decoder *decode = ptx_decode_alu;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (ptx_in_list(families[i].names, s.words[0]))
            decode = families[i].decode;
    if (!decode(parser, &s, inst)) {
        ptx_unsupported(parser, &s, "the instruction"); /* unless a reason was given */
        inst->execute = ptx_run_trap;
    }
    inst->meets =
        (inst->space != WARP_SHARED && (inst->orderly || inst->is_volatile || inst->acquires || inst->releases)) ||
        (inst->execute == ptx_run_fence && inst->mode) || inst->execute == ptx_run_clock ||
        inst->execute == ptx_run_bulk || inst->execute == ptx_run_tensor || inst->execute == ptx_run_fetch ||
        inst->execute == ptx_run_surface_load || inst->execute == ptx_run_surface_store ||
        inst->execute == ptx_run_call;
    if (!has_rows(&s, inst))
        ptx_refuse(parser, begin, "'_' stands for a register that '%s' needs", s.words[0]);
    parser->narrow = false;
    code->count++;
}
