/* Jumps, convergence, barriers, and what lanes of a warp do together. */
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"

static bool jump_to(sass_parser *parser, const sass_line *line, const sass_operand *o)
{
    if (!smp_grow(&parser->jumps, &parser->jump_capacity, parser->jump_count + 1, sizeof *parser->jumps))
        return sass_refuse(parser, line, "out of memory");
    parser->jumps[parser->jump_count++] = (sass_jump){o->text, (uint32_t)parser->code->count - 1};
    return true;
}

/* @!P2 BRA.DIV UR4, label after R2UR P2, URZ, R18: lanes whose mask R18 is another than the first lane's leave for a
 * slower way. Here each group has the operation that comes next for itself. */
static bool by_masks(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    for (const sass_line *at = line; at-- > parser->lines;) {
        const sass_operand *p = &at->operands[0];
        if (strcmp(at->words[0], "R2UR") != 0 || at->count != 3 || !sass_is_predicate(p) ||
            p->number != line->guard.number)
            continue;
        inst->flow = WARP_CONVERGE;
        inst->guard = WARP_NO_ROW;
        inst->s[0] = sass_row(parser, &at->operands[2], 1, false);
        inst->execute = sass_run_part;
        op->mode = false;
        return inst->s[0] != WARP_NO_ROW;
    }
    return false;
}

/* BRA {p,} label, under a guard or not. BRA.U goes where all lanes go, and passes with all where one does not: a branch
 * of each lane follows. BRA.DIV UR4, label leaves for a slower way where lanes of UR4 are elsewhere, and BRA.CONV UR4,
 * label passes that way where none are: here they are waited for. */
static bool decode_branch(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const sass_operand *last = line->count ? &line->operands[line->count - 1] : NULL;
    (void)op;
    if (!last || last->kind != SASS_LABEL)
        return sass_refuse(parser, line, "a jump to no label");
    if (sass_has(line, "DIV") && line->guard.kind != SASS_NONE && by_masks(parser, line, inst, op))
        return true;
    if (sass_has(line, "DIV") || sass_has(line, "CONV")) {
        const sass_operand *o = &line->operands[0];
        const bool all = o->kind == SASS_UNIFORM && o->number == SASS_RZ && o->invert; /* ~URZ */
        inst->flow = WARP_CONVERGE;
        inst->s[0] = all ? parser->truth : sass_row(parser, o, 1, false);
        if (line->count != 2 || inst->s[0] == WARP_NO_ROW || (!all && o->invert))
            return sass_refuse(parser, line, "this form");
        return sass_has(line, "DIV") || jump_to(parser, line, last);
    }
    if (line->count == 2 && sass_is_predicate(&line->operands[0])) {
        inst->s[0] = sass_predicate(parser, &line->operands[0]);
        inst->negate_source = line->operands[0].invert;
        inst->sources = 1;
    } else if (line->count != 1)
        return sass_refuse(parser, line, "this form");
    inst->flow = WARP_JUMP;
    inst->mode = sass_has(line, "ANY") ? WARP_ANY_SENDS : sass_has(line, "U") ? WARP_ALL_GO : WARP_EACH_GOES;
    return jump_to(parser, line, last);
}

/* EXIT {p} */
static bool decode_exit(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    inst->flow = WARP_EXIT;
    if (!line->count)
        return true;
    inst->s[0] = sass_predicate(parser, &line->operands[0]);
    inst->negate_source = line->operands[0].invert;
    inst->sources = 1;
    return (line->count == 1 && inst->s[0] != WARP_NO_ROW) || sass_refuse(parser, line, "this form");
}

/* CALL.REL.NOINC label: the return address is in a register. CALL.ABS.NOINC R2: of the runtime's functions. */
static bool decode_call(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (line->count == 1 && line->operands[0].kind == SASS_LABEL && sass_has(line, "ABS")) { /* of linked code */
        char name[128];
        const sass_text text = line->operands[0].text;
        snprintf(name, sizeof name, "%.*s", (int)(text.size < sizeof name ? text.size : 0), text.at);
        const int service = ptx_service_of(name);
        const uint64_t address = SASS_SERVICES + (uint64_t)service;
        op->source[0] = sass_constant(parser, (uint32_t)address, (uint32_t)(address >> 32));
        inst->serves = true;
        inst->execute = sass_run_call;
        return service >= 0 || sass_refuse(parser, line, "this call");
    }
    if (line->count == 1 && line->operands[0].kind == SASS_LABEL) {
        inst->flow = WARP_JUMP;
        return jump_to(parser, line, &line->operands[0]);
    }
    inst->serves = true;
    inst->execute = sass_run_call;
    if (!sass_has(line, "ABS") || line->count != 1)
        return sass_refuse(parser, line, "this call");
    return sass_source(parser, line, op, 0, 0, 2, false);
}

/* RET.REL.NODEC R2 `(function): R2 is where in the function it goes on */
static bool decode_return(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    if (line->count != 2 || line->operands[0].kind != SASS_REGISTER || line->operands[1].kind != SASS_LABEL)
        return sass_refuse(parser, line, "this return");
    inst->flow = WARP_JUMP_TO;
    inst->width = SASS_INST_BYTES;
    inst->s[0] = sass_row(parser, &line->operands[0], 1, false);
    return jump_to(parser, line, &line->operands[1]);
}

/* BRX R2 -0x1210, BRXU UR2 -0x1210: a jump by a table; the number makes the table's place in the code of what is added
 * to the next instruction's */
static bool decode_table_jump(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    char text[40], end;
    unsigned row, back;
    const sass_text all = line->count ? line->operands[0].text : (sass_text){"", 0};
    snprintf(text, sizeof text, "%.*s", (int)(all.size < sizeof text ? all.size : sizeof text - 1), all.at);
    const bool uniform = text[0] == 'U';
    if (sscanf(text + uniform, "R%u -0x%x%c", &row, &back, &end) < 2 || row >= SASS_RZ)
        return sass_refuse(parser, line, "a jump by a table of this form");
    const sass_operand o = {.kind = uniform ? SASS_UNIFORM : SASS_REGISTER, .number = (int)row};
    inst->flow = WARP_JUMP_TO;
    inst->width = SASS_INST_BYTES;
    inst->s[0] = sass_row(parser, &o, 1, false);
    inst->offset = (int64_t)parser->code->count * SASS_INST_BYTES - (int64_t)back;
    return inst->s[0] < (uniform ? parser->zero : parser->uniforms) ||
           sass_refuse(parser, line, "a register that nothing else names");
}

/* LEPC to, label: its address; LEPC to: its own */
static bool decode_place(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->to = line->count ? sass_to(parser, &line->operands[0]) : WARP_NO_ROW;
    inst->execute = sass_run_here;
    inst->target = (uint32_t)parser->code->count - 1;
    if (op->to != WARP_NO_ROW && line->count == 1)
        return true;
    if (op->to == WARP_NO_ROW || line->count != 2 || line->operands[1].kind != SASS_LABEL)
        return sass_refuse(parser, line, "this form");
    return jump_to(parser, line, &line->operands[1]);
}

static const sass_operand *barrier_of(const sass_line *line)
{
    for (int i = 0; i < line->count; i++)
        if (line->operands[i].kind == SASS_BARRIER)
            return &line->operands[i];
    return NULL;
}

/* BSSY B0, label notes the lanes that BSYNC B0 brings together; BREAK {p,} B0 takes lanes out. */
static bool decode_convergence(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const sass_operand *o = barrier_of(line);
    if (!o)
        return sass_refuse(parser, line, "there is no barrier");
    const uint32_t row = sass_barrier(parser, o->number);
    op->to = inst->s[0] = row;
    if (!strcmp(line->words[0], "BSSY"))
        inst->execute = sass_run_enter;
    else if (!strcmp(line->words[0], "BSYNC")) {
        inst->flow = WARP_CONVERGE;
        inst->execute = sass_run_join;
    } else {
        inst->execute = sass_run_break;
        if (line->count == 2 && sass_is_predicate(&line->operands[0])) {
            if (inst->guard != WARP_NO_ROW)
                return sass_refuse(parser, line, "two conditions");
            inst->guard = sass_predicate(parser, &line->operands[0]);
            inst->guard_not = line->operands[0].invert;
        }
    }
    return true;
}

/* BMOV.32{.CLEAR} R2, B0 and back: around calls */
static bool decode_barrier_move(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const sass_operand *b = barrier_of(line);
    if (line->count != 2 || !b)
        return sass_refuse(parser, line, "this form");
    const bool saves = b == &line->operands[1];
    const sass_operand *other = &line->operands[saves ? 0 : 1];
    const uint32_t row = saves ? sass_to(parser, other) : sass_row(parser, other, 1, false);
    op->to = saves ? row : sass_barrier(parser, b->number);
    op->source[0] = saves ? sass_barrier(parser, b->number) : row;
    inst->execute = sass_function_of(SASS_COPY);
    return row != WARP_NO_ROW || sass_refuse(parser, line, "this form");
}

static bool decode_warpsync(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (sass_has(line, "COLLECTIVE"))
        return true; /* of the slower way of BRA.DIV */
    inst->flow = WARP_CONVERGE;
    inst->execute = sass_has(line, "EXCLUSIVE") ? sass_run_part : ptx_run_sync;
    op->mode = true;
    inst->s[0] = sass_has(line, "ALL") || !line->count ? parser->truth : sass_row(parser, &line->operands[0], 1, false);
    return inst->s[0] != WARP_NO_ROW || sass_refuse(parser, line, "this form");
}

/* BAR.SYNC 0x0 {, threads}; BAR.ARV; BAR.RED.AND 0x0, p, whose result B2R.RESULT reads */
static bool decode_barrier(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    enum { WAIT, ARRIVE, POPC, AND, OR };
    const bool reduces = sass_has(line, "RED");
    const int count = line->count - reduces;
    if (count < 1 || count > 2)
        return sass_refuse(parser, line, "this form");
    for (int i = 0; i < count; i++) {
        inst->s[i] = sass_row(parser, &line->operands[i], 1, false);
        if (inst->s[i] == WARP_NO_ROW)
            return sass_refuse(parser, line, "this form");
    }
    inst->sources = (uint8_t)count;
    inst->flow = WARP_BARRIER;
    inst->mode = sass_has(line, "ARV") ? ARRIVE : WAIT;
    if (reduces) {
        const sass_operand *p = &line->operands[count];
        if (!sass_is_predicate(p))
            return sass_refuse(parser, line, "this form");
        inst->mode = sass_has(line, "POPC") ? POPC : sass_has(line, "AND") ? AND : OR;
        inst->s[count] = sass_predicate(parser, p);
        inst->negate_source = p->invert;
        inst->d[0] = parser->reduced + (inst->mode == POPC ? 0 : SASS_WORD_ROW);
    }
    return true;
}

static bool decode_barrier_result(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (!sass_has(line, "RESULT") || !line->count)
        return sass_refuse(parser, line, "this form");
    op->to = sass_to(parser, &line->operands[0]);
    op->source[0] = parser->reduced;
    inst->execute = sass_function_of(SASS_COPY);
    if (line->count == 2) {
        op->pred_to[0] = sass_predicate_to(parser, &line->operands[1]);
        op->pred[0] = parser->reduced + SASS_WORD_ROW;
        op->pred[1] = op->pred[2] = parser->truth;
        op->lut = 0xf0;
        inst->execute = sass_run_plop3;
    }
    return op->to != WARP_NO_ROW || sass_refuse(parser, line, "this form");
}

/* ------------------------------------------------------------------------------------------------ a warp's lanes */

static int choice(const sass_line *line, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (sass_has(line, words[i]))
            return i;
    return -1;
}

/* SHFL.DOWN p, to, value, by, clamp */
static bool decode_shuffle(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    static const char *const kinds[] = {"UP", "DOWN", "BFLY", "IDX"};
    const int kind = choice(line, kinds, 4);
    if (kind < 0 || line->count != 5)
        return sass_refuse(parser, line, "this form");
    inst->mode = (uint8_t)kind;
    inst->dests = 2;
    inst->d[0] = sass_to(parser, &line->operands[1]);
    inst->d[1] = sass_predicate_to(parser, &line->operands[0]);
    for (int i = 0; i < 3; i++) {
        inst->s[i] = sass_row(parser, &line->operands[2 + i], 1, false);
        if (inst->s[i] == WARP_NO_ROW || inst->d[0] == WARP_NO_ROW)
            return sass_refuse(parser, line, "this form");
    }
    inst->execute = ptx_run_shuffle;
    return true;
}

/* VOTE.ANY {to,} p, with */
static bool decode_vote(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    static const char *const kinds[] = {"ALL", "ANY", "EQ"};
    const int kind = choice(line, kinds, 3);
    int at = 0;
    if (kind < 0 || line->count < 2)
        return sass_refuse(parser, line, "this form");
    op->mode = (uint8_t)kind;
    if (!sass_is_predicate(&line->operands[at]))
        op->to = sass_to(parser, &line->operands[at++]);
    if (line->count != at + 2 || op->to == WARP_NO_ROW)
        return sass_refuse(parser, line, "this form");
    op->pred_to[0] = sass_predicate_to(parser, &line->operands[at]);
    sass_condition(parser, line, op, 0, at + 1, true);
    op->uniform = !strcmp(line->words[0], "VOTEU");
    inst->execute = sass_run_vote;
    return true;
}

/* MATCH.ANY to, value; MATCH.ALL p, to, value */
static bool decode_match(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const int at = line->count && sass_is_predicate(&line->operands[0]);
    if (line->count != at + 2)
        return sass_refuse(parser, line, "this form");
    op->mode = sass_has(line, "ALL");
    op->wide = sass_has(line, "U64");
    op->pred_to[0] = at ? sass_predicate_to(parser, &line->operands[0]) : WARP_NO_ROW;
    op->to = sass_to(parser, &line->operands[at]);
    inst->execute = sass_run_match;
    return sass_source(parser, line, op, 0, at + 1, op->wide ? 2 : 1, false) &&
           (op->to != WARP_NO_ROW || sass_refuse(parser, line, "this form"));
}

static bool decode_reduce(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    static const char *const kinds[] = {"SUM", "MIN", "MAX", "AND", "OR", "XOR"};
    enum { AND = 3 }; /* what REDUX without a word does */
    const int kind = choice(line, kinds, 6);
    if (line->count != 2)
        return sass_refuse(parser, line, "this form");
    op->mode = (uint8_t)(kind < 0 ? AND : kind);
    op->is_signed = sass_has(line, "S32");
    op->to = sass_to(parser, &line->operands[0]);
    inst->execute = sass_run_reduce;
    return sass_source(parser, line, op, 0, 1, 1, false) &&
           (op->to != WARP_NO_ROW || sass_refuse(parser, line, "this form"));
}

/* ELECT {p,} to, with */
static bool decode_elect(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (line->count < 2 || !sass_is_predicate(&line->operands[0]))
        return sass_refuse(parser, line, "this form");
    op->pred_to[0] = sass_predicate_to(parser, &line->operands[0]);
    op->to = sass_to(parser, &line->operands[1]);
    op->uniform = false;
    inst->execute = sass_run_elect;
    return op->to != WARP_NO_ROW || sass_refuse(parser, line, "this form");
}

/* ------------------------------------------------------------------------------------------------ special registers */

static const struct {
    const char *name;
    warp_special special;
    bool fixed;
    uint32_t value;
} specials[] = {{"SRZ", WARP_TID_X, true, 0},
                {"SR_TID.X", WARP_TID_X, false, 0},
                {"SR_TID.Y", WARP_TID_Y, false, 0},
                {"SR_TID.Z", WARP_TID_Z, false, 0},
                {"SR_CTAID.X", WARP_CTAID_X, false, 0},
                {"SR_CTAID.Y", WARP_CTAID_Y, false, 0},
                {"SR_CTAID.Z", WARP_CTAID_Z, false, 0},
                {"SR_LANEID", WARP_LANEID, false, 0},
                {"SR_VIRTUALSMID", WARP_SMID, false, 0},
                {"SR_VIRTID", WARP_WARPID, false, 0},
                {"SR_EQMASK", WARP_MASK_EQ, false, 0},
                {"SR_LTMASK", WARP_MASK_LT, false, 0},
                {"SR_LEMASK", WARP_MASK_LE, false, 0},
                {"SR_GTMASK", WARP_MASK_GT, false, 0},
                {"SR_GEMASK", WARP_MASK_GE, false, 0},
                {"SR_CgaCtaId", WARP_CLUSTER_RANK, false, 0},
                {"SR_SWINHI", WARP_TID_X, true, (uint32_t)(WARP_SHARED_WINDOW >> 32)},
                {"SR_CLOCKLO", WARP_CLOCK, false, 0},
                {"SR_GLOBALTIMERLO", WARP_CLOCK, false, 0},
                {"SR_CLOCK", WARP_CLOCK, false, 0}};

static uint32_t special_row(sass_parser *parser, warp_special special)
{
    warp_code *code = parser->code;
    for (size_t i = 0; i < code->special_count; i++)
        if (code->specials[i].special == special)
            return code->specials[i].row;
    if (!smp_grow(&code->specials, &code->special_capacity, code->special_count + 1, sizeof *code->specials))
        return parser->zero;
    const uint32_t row = code->register_bytes;
    code->register_bytes += SASS_WORD_ROW;
    code->specials[code->special_count++] = (warp_special_row){special, row, false, 0};
    return row;
}

/* UCGABAR_ARV, UCGABAR_WAIT: the cluster's barrier */
static bool decode_cluster(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    inst->flow = WARP_CLUSTER;
    inst->mode = !strcmp(line->words[0], "UCGABAR_WAIT");
    parser->code->in_clusters = true;
    if (parser->architecture != 90)
        return sass_refuse(parser, line, "clusters of this architecture");
    return !line->count || sass_refuse(parser, line, "this form");
}

/* S2R to, SR_TID.X; CS2R to, SR_CLOCKLO: of 64 bits but for .32 */
static bool decode_special(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->to = line->count == 2 ? sass_to(parser, &line->operands[0]) : WARP_NO_ROW;
    op->wide = !strcmp(line->words[0], "CS2R") && !sass_has(line, "32");
    if (op->to == WARP_NO_ROW)
        return sass_refuse(parser, line, "this form");
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (!ptx_is(line->operands[1].text, specials[i].name))
            continue;
        inst->execute = sass_function_of(SASS_COPY);
        if (specials[i].special == WARP_CLOCK)
            inst->execute = sass_run_special;
        else if (specials[i].fixed)
            op->source[0] = sass_constant(parser, specials[i].value, 0);
        else if (op->wide)
            return sass_refuse(parser, line, "64 bits of this register");
        else
            op->source[0] = special_row(parser, specials[i].special);
        return true;
    }
    return sass_refuse(parser, line, "this special register");
}

const sass_decoder_row sass_flow_decoders[] = {
    {"BRA", decode_branch, "DIV U CONV ANY"},
    {"EXIT", decode_exit, ""},
    {"CALL", decode_call, "REL ABS NOINC"},
    {"RET", decode_return, "REL NODEC"},
    {"BRX BRXU", decode_table_jump, ""},
    {"LEPC", decode_place, ""},
    {"BSSY BSYNC BREAK", decode_convergence, "RECONVERGENT RELIABLE"},
    {"BMOV", decode_barrier_move, "32 CLEAR"},
    {"WARPSYNC", decode_warpsync, "ALL COLLECTIVE EXCLUSIVE"},
    {"BAR", decode_barrier, "SYNC ARV RED POPC AND OR DEFER_BLOCKING"},
    {"B2R", decode_barrier_result, "RESULT"},
    {"SHFL", decode_shuffle, "UP DOWN BFLY IDX"},
    {"VOTE VOTEU", decode_vote, "ALL ANY EQ"},
    {"MATCH", decode_match, "ANY ALL U64"},
    {"REDUX", decode_reduce, "SUM MIN MAX AND OR XOR S32"},
    {"CREDUX", decode_reduce, "MIN MAX S32"}, /* of sm_100 */
    {"ELECT", decode_elect, ""},
    {"S2R S2UR", decode_special, ""},
    {"CS2R", decode_special, "32"},
    {"UCGABAR_ARV UCGABAR_WAIT", decode_cluster, ""},
    {"NOP YIELD NANOSLEEP ENDCOLLECTIVE ACQBULK PREEXIT", sass_decode_nothing, ""},
    {NULL, NULL, NULL},
};
